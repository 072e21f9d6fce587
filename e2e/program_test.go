// Package e2e holds tests that start the program as its users do and follow SPEC.md from the outside:
// real processes, real sockets on loopback, real databases. It keeps no code of its own.
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// bin holds the programs that the tests start.
var bin string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "freshet-e2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	bin = dir
	build := exec.Command("go", "build", "-o", dir+"/", "freshet/cmd/freshet", "freshet/bench/feedfarm")
	build.Stderr = os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		code = m.Run()
		closeChromium()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// program is a running process that ends with its test.
type program struct {
	*exec.Cmd
	name string
	out  lockedBuffer
	done chan error
}

// start starts a program of ours. Its output is shown when the test fails.
func start(t *testing.T, name string, env []string, args ...string) *program {
	t.Helper()
	p := &program{Cmd: exec.Command(filepath.Join(bin, name), args...), name: name, done: make(chan error, 1)}
	p.Env = append(cleanEnvironment(), env...)
	p.Stdout, p.Stderr = &p.out, &p.out
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- p.Wait() }()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s %s said:\n%s", name, strings.Join(args, " "), tail(p.out.String(), 4000))
		}
	})
	return p
}

// cleanEnvironment is the environment without settings of Freshet's.
func cleanEnvironment() []string {
	var env []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "FRESHET_") {
			env = append(env, pair)
		}
	}
	return env
}

// kill is kill -9, and waits for the end.
func (p *program) kill() {
	p.Process.Kill()
	p.wait()
}

func (p *program) wait() error {
	err := <-p.done
	p.done <- err
	return err
}

// stop asks the program to end and returns how it did.
func (p *program) stop(t *testing.T) error {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	return p.wait()
}

// freePort returns an address that nothing listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// farm is a running feedfarm.
type farm struct{ url string }

func startFarm(t *testing.T, args ...string) farm {
	t.Helper()
	addr := freePort(t)
	_, port, _ := net.SplitHostPort(addr)
	start(t, "feedfarm", nil, append([]string{"-port", port, "-max-life", "10m"}, args...)...)
	f := farm{"http://" + addr}
	await(t, "the farm to answer", func() (bool, error) {
		return get(f.url+"/control/stats", nil) == nil, nil
	})
	return f
}

// stats is what the farm counted.
type stats struct {
	Requests        int `json:"requests"`
	Conditional     int `json:"conditional"`
	NotModified     int `json:"not_modified"`
	HostParallelMax int `json:"host_parallel_max"`
	UniqueFeeds     int `json:"unique_feeds"`
}

func (f farm) stats(t *testing.T) (s stats) {
	t.Helper()
	must(t, get(f.url+"/control/stats", &s))
	return s
}

func (f farm) reset(t *testing.T) { t.Helper(); must(t, post(f.url+"/control/reset", "", nil, nil)) }

// server is a running freshet serve.
type server struct {
	*program
	url string
}

// serve starts freshet serve with the farm's networks allowed and waits until it answers.
func serve(t *testing.T, env ...string) server { t.Helper(); return serveAs(t, "freshet", env...) }

func serveAs(t *testing.T, name string, env ...string) server {
	t.Helper()
	addr := freePort(t)
	env = append([]string{"FRESHET_LISTEN=" + addr, "FRESHET_FETCH_ALLOW=127.0.0.0/8", "FRESHET_LOG_FORMAT=text"}, env...)
	s := server{start(t, name, env, "serve"), "http://" + addr}
	await(t, "freshet to answer", func() (bool, error) {
		select {
		case err := <-s.done:
			s.done <- err
			return false, fmt.Errorf("freshet serve ended: %v: %s", err, tail(s.out.String(), 2000))
		default:
			return get(s.url+"/readyz", nil) == nil, nil
		}
	})
	return s
}

// importFrom adds the farm's feeds and returns how many were new.
func (s server) importFrom(t *testing.T, f farm) int {
	t.Helper()
	answer, err := http.Get(f.url + "/opml")
	must(t, err)
	defer answer.Body.Close()
	var result struct{ Added, Known, Refused int }
	must(t, post(s.url+"/api/opml", "text/x-opml", answer.Body, &result))
	if result.Refused > 0 {
		t.Fatalf("%d feeds were refused", result.Refused)
	}
	return result.Added
}

type refresh struct {
	ID       string `json:"id"`
	State    string `json:"state"`
	Total    int    `json:"total"`
	Done     int    `json:"done"`
	Failed   int    `json:"failed"`
	NewItems int    `json:"new_items"`
}

func (s server) refresh(t *testing.T) (r refresh) {
	t.Helper()
	must(t, post(s.url+"/api/refresh", "", nil, &r))
	return r
}

// finish waits until a refresh has ended.
func (s server) finish(t *testing.T, id string) (r refresh) {
	t.Helper()
	await(t, "refresh "+id+" to end", func() (bool, error) {
		err := get(s.url+"/api/refresh/"+id, &r)
		return r.State != "running" && err == nil, err
	})
	return r
}

type item struct {
	ID           string `json:"id"`
	GUID         string `json:"guid"`
	Title        string `json:"title"`
	URL          string `json:"url"`
	CanonicalURL string `json:"canonical_url"`
}

// items pages through the whole river.
func (s server) items(t *testing.T) []item {
	t.Helper()
	var all []item
	for cursor := ""; ; {
		var page struct {
			Items      []item  `json:"items"`
			NextCursor *string `json:"next_cursor"`
		}
		must(t, get(s.url+"/api/items?limit=1000&cursor="+url.QueryEscape(cursor), &page))
		all = append(all, page.Items...)
		if page.NextCursor == nil || *page.NextCursor == "" {
			return all
		}
		cursor = *page.NextCursor
	}
}

// checkOnce fails unless the river has exactly want items, each once.
func checkOnce(t *testing.T, items []item, want int) {
	t.Helper()
	seen := map[string]bool{}
	for _, i := range items {
		if seen[i.GUID] {
			t.Errorf("item %s is there twice", i.GUID)
		}
		seen[i.GUID] = true
	}
	if len(items) != want {
		t.Errorf("the river has %d items, want %d", len(items), want)
	}
}

var client = &http.Client{Timeout: patience}

func get(address string, into any) error { return ask(http.MethodGet, address, "", nil, into) }

func post(address, contentType string, body io.Reader, into any) error {
	return ask(http.MethodPost, address, contentType, body, into)
}

// ask makes a request; a status of 300 or more is an error with the answer's text.
func ask(method, address, contentType string, body io.Reader, into any) error {
	req, err := http.NewRequest(method, address, body)
	if err != nil {
		return err
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	answer, err := client.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, address, answer.Status, tail(string(text), 500))
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(text, into)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// patience is how long a test waits for one thing, which only a hang takes.
const patience = 2 * time.Minute

// await asks until ok is true.
func await(t *testing.T, what string, ok func() (bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		done, err := ok()
		if done {
			return
		}
		last = errors.Join(err)
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s: %v", what, last)
		case <-tick.C:
		}
	}
}

func tail(s string, n int) string {
	if len(s) > n {
		return "..." + s[len(s)-n:]
	}
	return s
}

// databases runs a test on SQLite and, where a server is at hand, on PostgreSQL, side by side; the argument names
// the database as an environment variable.
func databases(t *testing.T, test func(t *testing.T, env []string)) {
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, []string{"FRESHET_DATA=" + t.TempDir()})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, postgres(t))
	})
}

// postgres makes a database that goes with the test.
func postgres(t *testing.T) []string {
	t.Helper()
	admin := os.Getenv("FRESHET_TEST_POSTGRES")
	if admin == "" {
		t.Skip("SKIPPED: no PostgreSQL (FRESHET_TEST_POSTGRES is not set; make test starts one)")
	}
	name := fmt.Sprintf("e2e_%d_%d", os.Getpid(), time.Now().UnixNano())
	runSQL(t, admin, "create database "+name)
	t.Cleanup(func() { runSQL(t, admin, "drop database if exists "+name+" with (force)") })
	u, err := url.Parse(admin)
	must(t, err)
	u.Path = "/" + name
	return []string{"FRESHET_DATA=" + t.TempDir(), "FRESHET_DATABASE=" + u.String()}
}

// lockedBuffer collects what a process says while the test may read it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// runSQL runs one statement on the server.
func runSQL(t *testing.T, dsn, statement string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), dsn)
	must(t, err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(context.Background(), statement)
	must(t, err)
}
