package deliver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"freshet"
	"freshet/internal/store"
	"freshet/internal/testdb"
)

var _ Queue = (*store.Store)(nil)

func openStore(t testing.TB, alerts int) *store.Store {
	t.Helper()
	settings := freshet.DefaultSettings()
	settings.Alerts = alerts
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "freshet.db"), store.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

func addWorkflow(t testing.TB, st *store.Store, name string, actions ...freshet.Action) freshet.Workflow {
	t.Helper()
	d := freshet.Definition{
		Name: name, Enabled: true, Actions: actions,
		Trigger: freshet.Trigger{Type: "poll", Config: freshet.TriggerConfig{URL: "https://a.example/" + name, IntervalMinutes: 15, ContentType: freshet.ContentRSS}},
	}
	d.Complete()
	w, err := st.AddWorkflow(context.Background(), d, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

var newEntry = freshet.TriggerData{Type: "poll", ContentType: freshet.ContentRSS, Items: []freshet.Entry{{Title: "One", Link: "https://a.example/1", GUID: "1"}}}

// fire makes w's source bring one new entry, as a poll does.
func fire(t *testing.T, st *store.Store, w freshet.Workflow, guid string) {
	t.Helper()
	src, err := st.Source(t.Context(), w.Source)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	_, err = st.FinishPolls(t.Context(), []store.Poll{{Source: w.Source, Seq: src.Source.Seq, Outcome: &freshet.Outcome{
		At: now, Status: 200, BodyHash: guid, Posts: []freshet.Post{{GUID: guid, Title: "Entry " + guid, URL: "https://a.example/" + guid, Published: now}},
	}}}, now)
	if err != nil {
		t.Fatal(err)
	}
}

// From a poll to a receiver, through the real store: the action of a receiver that says 410 is switched
// off, and an alert about it goes to Discord (W6, W7, W8).
func TestThroughTheStore(t *testing.T) {
	type alertBody struct{ Content string }
	alerts := make(chan alertBody, 10)
	discord := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b alertBody
		json.NewDecoder(r.Body).Decode(&b)
		alerts <- b
		w.WriteHeader(204)
	}))
	defer discord.Close()
	good, got := receiver(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "thanks") })
	gone, _ := receiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(410) })

	o := Options{Allow: loopback.Allow, Discord: discord.URL + "/api/webhooks/1/hunter22"}
	st := openStore(t, o.Alerts())
	w := addWorkflow(t, st, "news", freshet.Action{Type: freshet.Webhook, URL: good, Secret: secret(1)}, freshet.Action{Type: freshet.Webhook, URL: gone})
	actions := New(o)
	defer actions.Close()
	ended := make(chan freshet.Execution, 100)
	r := NewRunner(st, actions, RunnerOptions{Finished: func(e freshet.Execution, _ freshet.Attempt) { ended <- e }})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	defer func() { cancel(); running.Wait() }()

	fire(t, st, w, "1")
	r.Kick()
	request := <-got
	if err := verify(t, secret(1), request); err != nil || !strings.Contains(string(request.body), `"link":"https://a.example/1"`) {
		t.Errorf("%v: %s", err, request.body)
	}
	if b := <-alerts; !strings.Contains(b.Content, "Action switched off: news") || !strings.Contains(b.Content, "410") {
		t.Errorf("%+v", b)
	}
	states := map[freshet.ExecutionKind]map[freshet.ExecutionState]int{freshet.KindTrigger: {}, freshet.KindAlert: {}}
	for range 3 {
		e := <-ended
		states[e.Kind][e.State]++
		_, attempts, err := st.Execution(t.Context(), e.ID)
		if err != nil || len(attempts) != 1 || attempts[0].StartedAt.IsZero() {
			t.Errorf("%s: attempts %+v, %v", e.ID, attempts, err)
		}
	}
	if fmt.Sprint(states) != "map[alert:map[succeeded:1] trigger:map[dead:1 succeeded:1]]" {
		t.Error(states)
	}
	after, err := st.Workflow(t.Context(), w.ID)
	if err != nil || after.Actions[1].Disabled == "" || after.Actions[0].Disabled != "" {
		t.Errorf("%+v, %v", after.Actions, err)
	}
}

// BenchmarkRunner delivers executions to a receiver on this machine, through a database on disk: claim, request,
// answer, recorded attempt. Of PostgreSQL several instances can share the work.
func BenchmarkRunner(b *testing.B) {
	for _, test := range []struct {
		name                 string
		workflows, instances int
	}{
		{"SQLite", 1, 1}, {"SQLite", 20, 1}, {"PostgreSQL", 1, 1}, {"PostgreSQL", 20, 1}, {"PostgreSQL", 20, 2},
	} {
		b.Run(fmt.Sprintf("%s/workflows=%d/instances=%d", test.name, test.workflows, test.instances), func(b *testing.B) {
			stores := []*store.Store{openStore(b, 0)}
			if test.name == "PostgreSQL" {
				stores = openPostgres(b, test.instances)
			}
			benchmarkRunner(b, stores, test.workflows)
		})
	}
}

// openPostgres opens an empty schema of the server that FRESHET_TEST_POSTGRES names, several times.
func openPostgres(b *testing.B, instances int) (stores []*store.Store) {
	dsn := testdb.Postgres(b)
	for range instances {
		st, err := store.Open(b.Context(), dsn, store.Options{Settings: freshet.DefaultSettings()})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { st.Close() })
		stores = append(stores, st)
	}
	return stores
}

func benchmarkRunner(b *testing.B, stores []*store.Store, workflows int) {
	var arrived atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		arrived.Add(1)
	}))
	defer s.Close()
	of := make([]freshet.Workflow, workflows)
	for i := range of {
		of[i] = addWorkflow(b, stores[0], fmt.Sprint(i), freshet.Action{Type: freshet.Webhook, URL: s.URL, Secret: secret(1)})
	}
	for i := range b.N {
		if _, err := stores[0].TestWorkflow(b.Context(), of[i%workflows].ID, newEntry, time.Now()); err != nil {
			b.Fatal(err)
		}
	}
	actions := New(Options{Allow: loopback.Allow})
	defer actions.Close()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ResetTimer()
	var running sync.WaitGroup
	for _, st := range stores {
		r := NewRunner(st, actions, RunnerOptions{Finished: func(e freshet.Execution, a freshet.Attempt) {
			if e.State != freshet.Succeeded {
				b.Errorf("%+v: %+v", e, a)
			}
			if left.Add(-1) == 0 {
				cancel()
			}
		}})
		running.Go(func() { r.Run(ctx) })
	}
	running.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
	if n := arrived.Load(); n != int64(b.N) {
		b.Errorf("%d of %d arrived", n, b.N)
	}
}
