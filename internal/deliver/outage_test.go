package deliver

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"freshet"
	"freshet/internal/store"
	"freshet/internal/testdb"
)

// Receivers that are down for a day in every way there is, in fake time and through each database: what they were to get
// is delivered in the promised rhythm when they are up again, and what never is, is dead, visible and told of.
func TestDownForADayThroughTheStore(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { dayDown(t, ":memory:") })
	})
	t.Run("postgres", func(t *testing.T) {
		dsn := testdb.Postgres(t)
		synctest.Test(t, func(t *testing.T) { dayDown(t, dsn) })
	})
}

// ladder is the table of Standard Webhooks 1.0.
var ladder = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}

func dayDown(t *testing.T, dsn string) {
	settings := freshet.DefaultSettings()
	st, err := store.Open(t.Context(), dsn, store.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	const pause = 45 * time.Minute // what the busy one asks for
	up := time.Now().Add(24 * time.Hour)
	receivers := map[string]func(ctx context.Context) freshet.Attempt{
		"fails": func(context.Context) freshet.Attempt { return freshet.Attempt{Status: 500, Error: "500"} },
		"hangs": func(ctx context.Context) freshet.Attempt { <-ctx.Done(); return failed("It hangs.") },
		"busy": func(context.Context) freshet.Attempt {
			return freshet.Attempt{Status: 429, Error: "429", RetryAfter: time.Now().Add(pause)}
		},
		"resets": func(context.Context) freshet.Attempt { time.Sleep(time.Second); return failed("It resets.") },
		"gone":   func(context.Context) freshet.Attempt { return failed("It refuses.") },
	}
	r := NewRunner(st, doing(func(ctx context.Context, d freshet.Delivery) freshet.Attempt {
		if d.WorkflowName != "gone" && time.Now().After(up) {
			return freshet.Attempt{Status: 204}
		}
		return receivers[d.WorkflowName](ctx)
	}), RunnerOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); r.Run(ctx) }()
	of := map[string]freshet.ID{}
	for name := range receivers {
		w := addWorkflow(t, st, name, freshet.Action{Type: freshet.Webhook, URL: "https://a.example/" + name})
		of[name] = w.ID
		fire(t, st, w, "1")
	}
	r.Kick()
	time.Sleep(6 * 24 * time.Hour)
	cancel()
	<-ended
	for name, id := range of {
		checkDayDown(t, st, name, id, up, map[bool]time.Duration{true: pause}[name == "busy"])
	}
	notices, err := st.Notices(t.Context(), 10)
	if err != nil || len(notices) != 1 || notices[0].Kind != freshet.ExecutionDead || notices[0].Workflow != of["gone"] {
		t.Errorf("told %+v (%v), want of the one that is dead", notices, err)
	}
}

// checkDayDown compares the attempts at a workflow's one execution with the ladder.
func checkDayDown(t *testing.T, st *store.Store, name string, workflow freshet.ID, up time.Time, pause time.Duration) {
	t.Helper()
	list, err := st.Executions(t.Context(), store.ExecutionQuery{Workflow: workflow, Limit: 10})
	if err != nil || len(list) != 1 {
		t.Fatalf("%s: %d executions (%v)", name, len(list), err)
	}
	e, attempts, err := st.Execution(t.Context(), list[0].ID)
	if err != nil || len(attempts) != e.Attempts {
		t.Fatalf("%s: %d of %d attempts are visible (%v)", name, len(attempts), e.Attempts, err)
	}
	want := freshet.Succeeded
	if name == "gone" {
		want = freshet.Dead
	}
	if last := attempts[len(attempts)-1]; e.State != want || (want == freshet.Dead) != (len(attempts) == 10) || want == freshet.Succeeded && last.StartedAt.Before(up) {
		t.Errorf("%s is %s after %d attempts, the last at %s", name, e.State, len(attempts), last.StartedAt)
	}
	rhythm := ""
	for i := 1; i < len(attempts); i++ {
		before := attempts[i-1]
		wait := attempts[i].StartedAt.Sub(before.StartedAt.Add(before.Took))
		rhythm += fmt.Sprint(wait.Round(time.Second), " ")
		least := max(ladder[i-1], pause)
		if most := max(ladder[i-1]+ladder[i-1]/5, pause) + 2*time.Second; wait < least-time.Second || wait > most {
			t.Errorf("%s: attempt %d comes %s after the one before, promised are %s to %s", name, i+1, wait, least, most)
		}
	}
	t.Log(name, e.State, "after", rhythm)
}
