package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"freshet"
	"freshet/internal/testdb"
)

// The rules of the cadence seed (001), each by runs of freshet ingest, on both databases.
func TestCadenceRules(t *testing.T) {
	for _, rule := range []struct {
		name  string
		check func(*testing.T, *pipeline)
	}{
		{"If cadence is missing: the source is always due", checkNoCadence},
		{"If cadence is present: the source is fetched only when it is due", checkOnlyWhenDue},
		{"Due if last_fetch_at is missing", checkNeverFetched},
		{"Due if now - last_fetch_at >= every_minutes", checkElapsed},
		{"now is the run's windowEnd", checkWindowEnd},
		{"last_fetch_at is updated only after a successful fetch (ok|partial)", checkOnlySuccess},
		{"A source that is skipped due to cadence does not update last_fetch_at", checkSkipped},
		{"cadence lies in the configuration, last_fetch_at in the cursor", checkWhere},
		{"Cadence is one rule for every type of source", checkTypes},
	} {
		t.Run(rule.name, func(t *testing.T) {
			t.Run("sqlite", func(t *testing.T) { rule.check(t, newPipeline(t, "")) })
			t.Run("postgres", func(t *testing.T) {
				rule.check(t, newPipeline(t, testdb.Postgres(t)))
			})
		})
	}
}

// pipeline is an instance that is polled by runs of freshet ingest, and a site that it polls.
type pipeline struct {
	*testing.T
	at       string
	status   atomic.Int32 // the site's answer
	document atomic.Value
	asked    atomic.Int32
}

func newPipeline(t *testing.T, dsn string) *pipeline {
	p := &pipeline{T: t}
	instance(t)
	if dsn != "" {
		t.Setenv("FRESHET_DATABASE", dsn)
	}
	p.status.Store(200)
	p.document.Store(feedOf("News", "one"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked.Add(1)
		w.WriteHeader(int(p.status.Load()))
		fmt.Fprint(w, p.document.Load())
	}))
	t.Cleanup(server.Close)
	p.at = server.URL + "/feed"
	return p
}

// add adds the source with a cadence of so many minutes, none for "".
func (p *pipeline) add(minutes string, more ...string) {
	p.Helper()
	if minutes != "" {
		more = append(more, "--cadence", minutes)
	}
	good(p.T, append([]string{"sources", "add", p.at, "--no-discover"}, more...)...)
}

// ingest runs the pipeline and returns what became of the source.
func (p *pipeline) ingest(args ...string) freshet.Result {
	p.Helper()
	asked := p.asked.Load()
	r := freshetRun(p.T, append([]string{"ingest"}, args...)...)
	status, _, found := strings.Cut(strings.TrimPrefix(r.out[strings.Index(r.out, "\n")+1:], "\n"), " ")
	if !found {
		p.Fatalf("exit %d: %s%s", r.code, r.out, r.talk)
	}
	result := freshet.Result(status)
	if fetched := p.asked.Load() > asked; fetched == (result == freshet.ResultSkipped) {
		p.Errorf("the source is %s, and fetched: %v", result, fetched)
	}
	return result
}

// wants runs the pipeline and compares what became of the source.
func (p *pipeline) wants(want freshet.Result, args ...string) {
	p.Helper()
	if got := p.ingest(args...); got != want {
		p.Errorf("ingest %q: %s, want %s", args, got, want)
	}
}

// lastFetch is the source's cursor.last_fetch_at, the zero time when it is missing.
func (p *pipeline) lastFetch() time.Time {
	p.Helper()
	var why sourceView
	goodJSON(p.T, &why, "why", p.at)
	if why.Cursor.LastFetchAt == nil {
		return time.Time{}
	}
	return *why.Cursor.LastFetchAt
}

// windowEnd is the option for a run whose now is so long after the last fetch.
func (p *pipeline) windowEnd(after time.Duration) string {
	p.Helper()
	return "--window-end=" + p.lastFetch().Add(after).Format(time.RFC3339Nano)
}

func checkNoCadence(t *testing.T, p *pipeline) {
	p.add("")
	for range 3 {
		p.wants(freshet.ResultOK)
	}
}

func checkOnlyWhenDue(t *testing.T, p *pipeline) {
	p.add("480")
	p.wants(freshet.ResultOK)
	for range 3 {
		p.wants(freshet.ResultSkipped)
	}
}

func checkNeverFetched(t *testing.T, p *pipeline) {
	p.add("480")
	if !p.lastFetch().IsZero() {
		t.Fatal("a new source has a last fetch")
	}
	p.wants(freshet.ResultOK, "--window-end=2000-01-01T00:00:00Z")
}

func checkElapsed(t *testing.T, p *pipeline) {
	p.add("480")
	p.wants(freshet.ResultOK)
	p.wants(freshet.ResultSkipped, p.windowEnd(480*time.Minute-time.Millisecond))
	p.wants(freshet.ResultOK, p.windowEnd(480*time.Minute))
}

func checkWindowEnd(t *testing.T, p *pipeline) {
	p.add("480")
	p.wants(freshet.ResultOK)
	p.wants(freshet.ResultSkipped)
	p.wants(freshet.ResultOK, p.windowEnd(481*time.Minute))
	p.wants(freshet.ResultSkipped, "--window-end="+time.Now().Add(-1000*time.Hour).Format(time.RFC3339))
}

func checkOnlySuccess(t *testing.T, p *pipeline) {
	p.add("480")
	p.status.Store(500)
	p.wants(freshet.ResultError)
	if last := p.lastFetch(); !last.IsZero() {
		t.Errorf("after an error the last fetch is %v", last)
	}
	p.wants(freshet.ResultError) // so it is due still
	p.status.Store(200)
	began := time.Now()
	document := feedOf("News", "one", "two")
	p.document.Store(document[:strings.LastIndex(document, "</item>")])
	p.wants(freshet.ResultPartial)
	partial := p.lastFetch()
	if partial.Before(began.Truncate(time.Millisecond)) {
		t.Errorf("after a partial success the last fetch is %v", partial)
	}
	p.wants(freshet.ResultSkipped)
	p.wants(freshet.ResultPartial, p.windowEnd(480*time.Minute)) // nothing has changed, and it is cut still
	p.document.Store(document)
	p.wants(freshet.ResultOK, p.windowEnd(480*time.Minute))
	if ok := p.lastFetch(); !ok.After(partial) {
		t.Errorf("after a success the last fetch is %v, as before", ok)
	}
	ok := p.lastFetch()
	p.status.Store(404)
	p.wants(freshet.ResultError, p.windowEnd(480*time.Minute))
	if last := p.lastFetch(); !last.Equal(ok) {
		t.Errorf("after another error the last fetch is %v, want still %v", last, ok)
	}
}

func checkSkipped(t *testing.T, p *pipeline) {
	p.add("480")
	p.wants(freshet.ResultOK)
	last := p.lastFetch()
	p.wants(freshet.ResultSkipped)
	if got := p.lastFetch(); !got.Equal(last) {
		t.Errorf("the last fetch is %v, want still %v", got, last)
	}
}

func checkWhere(t *testing.T, p *pipeline) {
	p.add("480")
	p.wants(freshet.ResultOK)
	var source struct {
		Config struct {
			Cadence struct {
				Mode         string  `json:"mode"`
				EveryMinutes float64 `json:"every_minutes"`
			}
		}
		Cursor struct {
			LastFetchAt time.Time `json:"last_fetch_at"`
		}
	}
	goodJSON(t, &source, "why", p.at)
	if c := source.Config.Cadence; c.Mode != "interval" || c.EveryMinutes != 480 || time.Since(source.Cursor.LastFetchAt) > time.Hour {
		t.Errorf("source %+v", source)
	}
}

func checkTypes(t *testing.T, p *pipeline) {
	page := "<html><head><title>T</title></head><body><article><p>" + strings.Repeat("The pool is open all the year round. ", 20) + "</p></article></body></html>"
	for kind, document := range map[freshet.Type]string{freshet.RSS: feedOf("News", "one"), freshet.Website: page, freshet.HTTP: "a,b"} {
		p.document.Store(document)
		p.at += "/" + string(kind)
		p.add("480", "--type", string(kind))
		p.wants(freshet.ResultOK)
		p.wants(freshet.ResultSkipped)
		p.wants(freshet.ResultOK, p.windowEnd(480*time.Minute))
		good(t, "sources", "rm", p.at)
	}
}
