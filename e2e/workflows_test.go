package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// receiver is what webhooks are sent to. It notes each delivery by its id, and takes its time, so that kills meet
// deliveries under way.
type receiver struct {
	*httptest.Server
	begun  chan struct{} // capacity one: a delivery is under way
	mu     sync.Mutex
	bodies map[string]string   // by webhook-id
	items  map[string][]string // guid to the webhook-ids that brought it
	again  int                 // deliveries of an id that was there already
	broken []string
}

func startReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{begun: make(chan struct{}, 1), bodies: map[string]string{}, items: map[string][]string{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // whoever sent it was killed
	}
	select {
	case r.begun <- struct{}{}:
	default:
	}
	pause := time.NewTimer(time.Duration(rand.IntN(30)) * time.Millisecond)
	<-pause.C // a receiver that works on what it gets
	r.note(req.Header.Get("webhook-id"), string(body))
	w.WriteHeader(http.StatusNoContent)
}

func (r *receiver) note(id, body string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.bodies[id]; ok {
		r.again++
		if known != body {
			r.broken = append(r.broken, "the deliveries of "+id+" differ")
		}
		return
	}
	r.bodies[id] = body
	var data struct {
		Items []struct{ GUID string } `json:"items"`
	}
	if err := json.Unmarshal([]byte(body), &data); err != nil || id == "" || len(data.Items) == 0 {
		r.broken = append(r.broken, fmt.Sprintf("delivery %q is %q", id, body))
	}
	for _, item := range data.Items {
		r.items[item.GUID] = append(r.items[item.GUID], id)
	}
}

func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.items)
}

// check fails unless every item came, each under one id.
func (r *receiver) check(t *testing.T, want int) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range r.broken {
		t.Error(b)
	}
	for guid, ids := range r.items {
		if len(ids) != 1 {
			t.Errorf("item %s came under %d ids", guid, len(ids))
		}
	}
	if len(r.items) != want {
		t.Errorf("%d items came, want %d", len(r.items), want)
	}
	t.Logf("%d items, each under one id; %d deliveries were made again under the id they had", len(r.items), r.again)
}

// addWorkflow adds a workflow that sends each new entry of an address to the receiver.
func (s server) addWorkflow(t *testing.T, r *receiver, name, address string) (id string) {
	t.Helper()
	var added struct{ ID string }
	body, _ := json.Marshal(map[string]any{
		"name": name, "enabled": true, "batch": "item",
		"trigger": map[string]any{"type": "poll", "config": map[string]any{"url": address, "interval_minutes": 5, "content_type": "rss"}},
		"actions": []any{map[string]any{"type": "webhook", "url": r.URL}},
	})
	must(t, post(s.url+"/api/workflows", "application/json", bytes.NewReader(body), &added))
	return added.ID
}

// waiting is how many executions are not over.
func (s server) waiting(t *testing.T) (n int) {
	t.Helper()
	for _, state := range []string{"queued", "running", "retrying"} {
		var page struct {
			Executions []json.RawMessage `json:"executions"`
		}
		must(t, get(s.url+"/api/executions?limit=100&state="+url.QueryEscape(state), &page))
		n += len(page.Executions)
	}
	return n
}

// crashFeeds is how many feeds the farm has. Each lists more items than there are kills, and gains one with each.
const crashFeeds = 6

func startCrash(t *testing.T, env []string, kills int) (farm, *receiver, []string) {
	t.Helper()
	f := startFarm(t, "-feeds", fmt.Sprint(crashFeeds), "-hosts", "3", "-items", fmt.Sprint(kills+1), "-etag", "-latency", "lognormal:5ms")
	return f, startReceiver(t), append(env, "FRESHET_MIN_INTERVAL=200ms", "FRESHET_INTERVAL=300ms", "FRESHET_TICK=50ms", "FRESHET_DELIVER_ALLOW=127.0.0.0/8")
}

// watchAll puts the farm's feeds in the river, which polls them often, and a workflow on each. It waits until what
// they list has been delivered.
func (s server) watchAll(t *testing.T, f farm, r *receiver, items int) {
	t.Helper()
	s.importFrom(t, f)
	list, err := http.Get(f.url + "/opml")
	must(t, err)
	defer list.Body.Close()
	text, err := io.ReadAll(list.Body)
	must(t, err)
	for i, part := range strings.Split(string(text), `xmlUrl="`)[1:] {
		address, _, _ := strings.Cut(part, `"`)
		s.addWorkflow(t, r, fmt.Sprint("workflow ", i), address)
	}
	s.settle(t, r, crashFeeds*items)
}

func (f farm) tick(t *testing.T) {
	t.Helper()
	must(t, post(f.url+"/control/tick?rate=1", "", nil, nil))
}

// settle waits until all that was published has been delivered and nothing waits.
func (s server) settle(t *testing.T, r *receiver, want int) {
	t.Helper()
	await(t, "every item to be delivered", func() (bool, error) {
		n := r.count()
		return n >= want, fmt.Errorf("%d of %d", n, want)
	})
	await(t, "every execution to end", func() (bool, error) {
		n := s.waiting(t)
		return n == 0, fmt.Errorf("%d wait", n)
	})
	r.check(t, want)
}

// moment waits for a random moment, at any time or within a delivery.
func (r *receiver) moment(random *rand.Rand, any bool) {
	most := 700
	if !any {
		most = 20
		select {
		case <-r.begun: // an older one
		default:
		}
		select {
		case <-r.begun:
		case <-time.After(5 * time.Second): // another instance may have them all
		}
	}
	pause := time.NewTimer(time.Duration(random.IntN(most)) * time.Millisecond)
	<-pause.C // not a wait for something: the moment of the kill is what varies
}

// Whatever dies when, every item fires once (W6): the program is killed again and again, at random moments, every
// other time in the middle of a delivery. Of two instances that share a database one is killed again and again.
// FRESHET_TEST_KILLS is another number of kills for each of the three.
func TestKilledDuringDeliveries(t *testing.T) {
	for i, test := range []struct {
		name  string
		kills int
		two   bool
	}{{"SQLite", 50, false}, {"PostgreSQL", 15, false}, {"two instances on PostgreSQL", 15, true}} {
		if text := os.Getenv("FRESHET_TEST_KILLS"); text != "" {
			n, err := strconv.Atoi(text)
			must(t, err)
			test.kills = n
		}
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			env := []string{"FRESHET_DATA=" + t.TempDir()}
			if test.name != "SQLite" {
				env = postgres(t)
			}
			f, r, env := startCrash(t, env, test.kills)
			s := serve(t, env...)
			lasts := s
			if test.two {
				lasts = serve(t, env...)
			}
			lasts.watchAll(t, f, r, test.kills+1)
			random := rand.New(rand.NewPCG(20, uint64(27+i)))
			for n := range test.kills {
				f.tick(t)
				r.moment(random, n%2 == 0)
				s.kill()
				s = serve(t, env...)
			}
			if test.two {
				s.kill()
			} else {
				lasts = s
			}
			lasts.settle(t, r, crashFeeds*(test.kills+1+test.kills))
		})
	}
}
