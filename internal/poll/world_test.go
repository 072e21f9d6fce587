package poll

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"freshet"
	"freshet/internal/fetch"
	"freshet/internal/reader"
	"freshet/internal/store"
)

// world is the network of a test: sites by address, and what they were asked.
type world struct {
	mu      sync.Mutex // guards the rest
	sites   map[string]site
	asked   []asked
	under   map[string]int // requests under way, by host
	most    map[string]int // the most of them at once
	total   int
	mostAll int
}

// site answers requests to one address.
type site func(r *http.Request) (*http.Response, error)

// asked is one request.
type asked struct {
	url         string
	host        string
	at, ended   time.Time
	status      int // 0 when no whole answer came
	conditional bool
}

func newWorld() *world {
	return &world{sites: map[string]site{}, under: map[string]int{}, most: map[string]int{}}
}

func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	address := r.URL.Host + r.URL.RequestURI()
	w.mu.Lock()
	s, known := w.sites[address]
	if !known {
		s = w.sites[r.URL.Host+r.URL.Path] // whatever is asked
	}
	i := len(w.asked)
	w.asked = append(w.asked, asked{url: r.URL.String(), host: r.URL.Host, at: time.Now(),
		conditional: r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != ""})
	w.under[r.URL.Host]++
	w.most[r.URL.Host] = max(w.most[r.URL.Host], w.under[r.URL.Host])
	w.total++
	w.mostAll = max(w.mostAll, w.total)
	w.mu.Unlock()
	var answer *http.Response
	err := error(&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: r.URL.Host, IsNotFound: true}})
	if s != nil {
		answer, err = s(r)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.under[r.URL.Host]--
	w.total--
	w.asked[i].ended = time.Now()
	if answer != nil {
		if answer.Header.Get("Cut") == "" {
			w.asked[i].status = answer.StatusCode
		}
		answer.Request = r
	}
	return answer, err
}

// of returns the requests to one address.
func (w *world) of(url string) []asked {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []asked
	for _, a := range w.asked {
		if a.url == url {
			list = append(list, a)
		}
	}
	return list
}

// all returns every request so far.
func (w *world) all() []asked {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked)
}

// underWay is how many requests wait for their answer.
func (w *world) underWay() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.total
}

// mostOfAll is how many requests there were at once at the most.
func (w *world) mostOfAll() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mostAll
}

// mostAtOnce is how many requests each host had at once at the most.
func (w *world) mostAtOnce() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.most)
}

func (w *world) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.asked)
}

func (w *world) set(address string, s site) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sites[address] = s
}

// define reads sites from sections "-- host/path --", each with a raw answer. Several sections of one
// address are its answers in turn; the last one stays.
func (w *world) define(t *testing.T, text string) {
	t.Helper()
	answers := map[string][]string{}
	address := ""
	for line := range strings.Lines(strings.TrimLeft(text, "\n")) {
		if name, ok := strings.CutPrefix(line, "-- "); ok {
			address = strings.TrimSuffix(strings.TrimSpace(name), " --")
			answers[address] = append(answers[address], "")
			continue
		}
		last := len(answers[address]) - 1
		answers[address][last] += line
	}
	for address, list := range answers {
		n := 0
		w.set(address, func(*http.Request) (*http.Response, error) {
			raw := list[min(n, len(list)-1)]
			n++
			return parseAnswer(t, raw), nil
		})
	}
}

func parseAnswer(t *testing.T, raw string) *http.Response {
	head, body, _ := strings.Cut(raw, "\n\n")
	answer, err := http.ReadResponse(bufio.NewReader(strings.NewReader(strings.ReplaceAll(head, "\n", "\r\n")+"\r\n\r\n")), nil)
	if err != nil {
		t.Errorf("answer %q: %v", head, err)
	}
	answer.Body, answer.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	return answer
}

func answer(status int, body string, header ...string) *http.Response {
	a := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}
	for i := 0; i+1 < len(header); i += 2 {
		a.Header.Set(header[i], header[i+1])
	}
	return a
}

// document is a feed with these entries, newest first.
func document(name string, ids ...int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<rss version=\"2.0\"><channel><title>%s</title>", name)
	for _, id := range ids {
		fmt.Fprintf(&b, `<item><guid isPermaLink="false">tag:%s,2000:%d</guid><link>https://%s/%d</link><title>%s %d</title><description>Text %d of %s</description></item>`,
			name, id, name, id, name, id, id, name)
	}
	b.WriteString("</channel></rss>")
	return b.String()
}

// constant answers the same document after a while, conditionally.
func constant(takes time.Duration, doc string) site {
	etag := fmt.Sprintf("%q", fmt.Sprint(len(doc)))
	return func(r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(takes):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
		if r.Header.Get("If-None-Match") == etag {
			return answer(304, "", "ETag", etag), nil
		}
		return answer(200, doc, "ETag", etag), nil
	}
}

// clientOf reads the world as the program reads the web.
func (w *world) reader() Reader {
	return reader.New(fetch.NewWith(w, fetch.Settings{}), quiet)
}

func openStore(t *testing.T, settings freshet.Settings) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), ":memory:", store.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

// watch adds a source that is due at once.
func watch(t *testing.T, st *store.Store, url string, config freshet.Config) freshet.Source {
	t.Helper()
	w, err := st.AddSource(t.Context(), store.NewSource{Type: freshet.RSS, URL: url, Config: config, AtOnce: true}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return w.Source
}

func sourceOf(t *testing.T, st *store.Store, id freshet.ID) store.Watched {
	t.Helper()
	w, err := st.Source(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// titles lists the whole river.
func titles(t *testing.T, st *store.Store) []string {
	t.Helper()
	var list []string
	q := store.RiverQuery{Limit: 1000}
	for {
		page, err := st.River(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			list = append(list, item.Title)
		}
		if !page.More {
			slices.Sort(list)
			return list
		}
		q.After = page.Next
	}
}

// running runs a scheduler until the returned function stops it.
func running(t *testing.T, s *Scheduler) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("Run = %v", err)
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

// calm options look seldom by themselves, so that hours of fake time cost little; due sources are noticed
// all the same.
func calm(settings freshet.Settings) Options {
	return Options{Settings: settings, Tick: time.Hour, LeaseTTL: 6 * time.Hour}
}

func logged(o Options, log *slog.Logger) Options {
	o.Logger = log
	return o
}

// serve starts a scheduler and waits until it holds its hosts, as a program that has been running: what is
// added from then on is due at once.
func serve(t *testing.T, s *Scheduler) (stop func()) {
	t.Helper()
	stop = running(t, s)
	time.Sleep(10 * time.Millisecond)
	return stop
}

// logbook is a log that tests read.
type logbook struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logbook) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: level}))
}
