package metrics

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"freshet"
)

func look(m *Metrics) string {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

func TestCounters(t *testing.T) {
	m := New("1.2.3", func(context.Context) (State, error) {
		return State{Sources: map[freshet.Health]int{freshet.Healthy: 7, freshet.Unhealthy: 2}, Lag: 90 * time.Second, HostsCooling: 3, Undelivered: time.Hour}, nil
	})
	m.Polled(freshet.RSS, &freshet.Outcome{Took: 200 * time.Millisecond})
	m.Polled(freshet.RSS, &freshet.Outcome{Unchanged: true})
	m.Polled(freshet.RSS, &freshet.Outcome{Failure: &freshet.Failure{Code: "http_404", Status: 404}})
	m.Polled(freshet.HTTP, &freshet.Outcome{Failure: &freshet.Failure{Code: "timeout"}})
	m.Stored(5, 2, 1)
	m.Stored(1, 0, 0)
	m.Delivered(freshet.Execution{State: freshet.Retrying})
	m.Delivered(freshet.Execution{State: freshet.Succeeded})
	m.Delivered(freshet.Execution{State: freshet.Succeeded})
	got := look(m)
	for _, line := range []string{
		`freshet_fetches_total{outcome="ok",type="rss"} 1`,
		`freshet_fetches_total{outcome="not_modified",type="rss"} 1`,
		`freshet_fetches_total{outcome="http_4xx",type="rss"} 1`,
		`freshet_fetches_total{outcome="timeout",type="http"} 1`,
		`freshet_fetch_duration_seconds_count 4`,
		`freshet_items_ingested_total 6`,
		`freshet_items_merged_total 2`,
		`freshet_items_edited_total 1`,
		`freshet_sources{state="healthy"} 7`,
		`freshet_sources{state="unhealthy"} 2`,
		`freshet_sources{state="pending"} 0`,
		`freshet_schedule_lag_seconds 90`,
		`freshet_hosts_cooling 3`,
		`freshet_deliveries_total{outcome="succeeded"} 2`,
		`freshet_deliveries_total{outcome="retrying"} 1`,
		`freshet_outbox_oldest_seconds 3600`,
		`freshet_build_info{version="1.2.3"} 1`,
		`go_goroutines `,
	} {
		if !strings.Contains(got, "\n"+line) {
			t.Errorf("no line %s", line)
		}
	}
}

// A database that does not answer hides what only it knows, not the counters.
func TestStateFails(t *testing.T) {
	m := New("", func(context.Context) (State, error) { return State{}, errors.New("locked") })
	m.Stored(5, 0, 0)
	got := look(m)
	if !strings.Contains(got, "freshet_items_ingested_total 5") || strings.Contains(got, "freshet_sources{") {
		t.Errorf("counters are to stay and states to go:\n%s", got)
	}
}

func TestOutcome(t *testing.T) {
	tests := []struct {
		outcome freshet.Outcome
		want    string
	}{
		{freshet.Outcome{}, "ok"},
		{freshet.Outcome{Partial: "three entries"}, "partial"},
		{freshet.Outcome{Unchanged: true, Status: 304}, "not_modified"},
		{freshet.Outcome{Failure: &freshet.Failure{Code: "http_429", Status: 429, CoolHost: true}}, "rate_limited"},
		{freshet.Outcome{Failure: &freshet.Failure{Code: "http_799", Status: 799}}, "http_5xx"},
		{freshet.Outcome{Failure: &freshet.Failure{Code: "http_418", Status: 418}}, "http_4xx"},
		{freshet.Outcome{Failure: &freshet.Failure{Code: "not_a_feed", Status: 200}}, "not_a_feed"},
	}
	for _, test := range tests {
		if got := outcome(&test.outcome); got != test.want {
			t.Errorf("%+v is %q, want %q", test.outcome, got, test.want)
		}
	}
}
