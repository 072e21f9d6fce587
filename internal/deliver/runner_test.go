package deliver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"freshet"
)

// memory is a Queue that lives in a map and decides as the real one does: by freshet.Execution.
type memory struct {
	mu       sync.Mutex
	list     map[freshet.ID]*freshet.Execution
	attempts map[freshet.ID][]freshet.Attempt
	broken   func(attempts []freshet.Attempted) error // what FinishAttempts says before it does anything
	dead     func()                                   // called when an execution is given up
	commits  int
}

func newMemory() *memory {
	return &memory{list: map[freshet.ID]*freshet.Execution{}, attempts: map[freshet.ID][]freshet.Attempt{}}
}

func (m *memory) add(id, workflow freshet.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list[id] = &freshet.Execution{ID: id, Kind: freshet.KindTrigger, Workflow: workflow, Action: "a1", State: freshet.Queued,
		Data: []byte(`{"type":"poll"}`), DueAt: time.Now(), CreatedAt: time.Now()}
}

func (m *memory) ClaimExecutions(_ context.Context, owner string, limit, each int, busy []freshet.ID, lease time.Duration, now time.Time) ([]freshet.Delivery, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var due []*freshet.Execution
	for _, e := range m.list {
		if !e.DueAt.IsZero() && !e.DueAt.After(now) && !slices.Contains(busy, e.Workflow) {
			due = append(due, e)
		}
	}
	slices.SortFunc(due, func(a, b *freshet.Execution) int { return cmp.Or(a.DueAt.Compare(b.DueAt), cmp.Compare(a.ID, b.ID)) })
	var claimed []freshet.Delivery
	begins := map[freshet.ID]int{}
	for _, e := range due[:min(limit, len(due))] {
		if begins[e.Workflow]++; begins[e.Workflow] > each {
			continue
		}
		if e.State == freshet.Running {
			*e = e.Finish(freshet.Attempt{Abandoned: true, Error: "lost"}, 0, now)
		}
		*e = e.Claim(owner, lease, now)
		claimed = append(claimed, freshet.Delivery{Execution: *e, WorkflowName: "w", Do: freshet.Action{Type: freshet.Webhook, URL: "https://a.example/"}})
	}
	return claimed, nil
}

func (m *memory) FinishAttempts(_ context.Context, list []freshet.Attempted, now time.Time) (finished []freshet.Execution, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil {
		if err := m.broken(list); err != nil {
			return nil, err
		}
	}
	m.commits++
	for _, a := range list {
		e := m.list[a.Execution]
		if e.State != freshet.Running || e.Attempts != a.N {
			continue
		}
		*e = e.Finish(a.Attempt, 0, now)
		m.attempts[e.ID] = append(m.attempts[e.ID], a.Attempt)
		finished = append(finished, *e)
		if e.State == freshet.Dead && m.dead != nil {
			m.dead()
		}
	}
	return finished, nil
}

func (m *memory) NextExecution(context.Context) (next time.Time, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.list {
		if !e.DueAt.IsZero() && (next.IsZero() || e.DueAt.Before(next)) {
			next = e.DueAt
		}
	}
	return next, nil
}

func (m *memory) execution(id freshet.ID) freshet.Execution {
	m.mu.Lock()
	defer m.mu.Unlock()
	return *m.list[id]
}

func (m *memory) count(s freshet.ExecutionState) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.list {
		if e.State == s {
			n++
		}
	}
	return n
}

// doing is an action that is a function.
type doing func(ctx context.Context, d freshet.Delivery) freshet.Attempt

func (f doing) Do(ctx context.Context, d freshet.Delivery) freshet.Attempt { return f(ctx, d) }

// run starts a runner within a bubble and returns what stops it.
func run(t *testing.T, m *memory, do doing) (r *Runner, stop func()) {
	t.Helper()
	r = NewRunner(m, do, RunnerOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := r.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	return r, func() { cancel(); <-ended }
}

func TestReceiverDownForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		began := time.Now()
		up := began.Add(24 * time.Hour)
		var seen []time.Duration
		ids := map[string]bool{}
		m.add(7, 1)
		_, stop := run(t, m, func(_ context.Context, d freshet.Delivery) freshet.Attempt {
			seen = append(seen, time.Since(began).Round(time.Second))
			ids[d.ID.String()] = true
			if time.Now().Before(up) {
				return failed("refused")
			}
			return freshet.Attempt{Status: 200}
		})
		time.Sleep(40 * time.Hour)
		stop()

		// Standard Webhooks 1.0: at once, then after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h.
		want := []time.Duration{0}
		for _, wait := range []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour} {
			want = append(want, want[len(want)-1]+wait)
		}
		t.Log("attempts after", seen)
		if !slices.Equal(seen, want) {
			t.Errorf("attempts after %v, want %v", seen, want)
		}
		if e := m.execution(7); e.State != freshet.Succeeded || e.Attempts != len(want) || len(ids) != 1 {
			t.Errorf("%+v with ids %v", e, ids)
		}
	})
}

func TestNeverDeliveredIsDeadAndVisible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.add(7, 1)
		_, stop := run(t, m, func(context.Context, freshet.Delivery) freshet.Attempt {
			return failed("a.example refuses connections.")
		})
		time.Sleep(200 * time.Hour)
		stop()
		e := m.execution(7)
		if e.State != freshet.Dead || e.Attempts != 10 || len(m.attempts[7]) != 10 || e.LastError != "a.example refuses connections." {
			t.Errorf("%+v, %d attempts", e, len(m.attempts[7]))
		}
		for i, a := range m.attempts[7] {
			if a.N != i+1 || a.StartedAt.IsZero() || a.Error == "" {
				t.Errorf("attempt %d: %+v", i+1, a)
			}
		}
	})
}

func TestRetryAfterIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.add(7, 1)
		began := time.Now()
		var seen []time.Duration
		_, stop := run(t, m, func(context.Context, freshet.Delivery) freshet.Attempt {
			seen = append(seen, time.Since(began).Round(time.Second))
			if len(seen) == 1 {
				a := failed("429")
				a.RetryAfter = time.Now().Add(90 * time.Second)
				return a
			}
			return freshet.Attempt{}
		})
		time.Sleep(time.Hour)
		stop()
		if want := []time.Duration{0, 90 * time.Second}; !slices.Equal(seen, want) {
			t.Errorf("attempts after %v, want %v", seen, want)
		}
	})
}

// A receiver that hangs takes its part of the places and no more; others do not wait for it.
func TestHangingReceiverHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		const hanging, healthy = 1, 2
		for id := freshet.ID(1); id <= 100; id++ {
			m.add(id, hanging)
		}
		var mu sync.Mutex
		atOnce, most := 0, 0
		delivered := 0
		r, stop := run(t, m, func(ctx context.Context, d freshet.Delivery) freshet.Attempt {
			if d.Workflow == healthy {
				mu.Lock()
				delivered++
				mu.Unlock()
				return freshet.Attempt{}
			}
			mu.Lock()
			atOnce++
			most = max(most, atOnce)
			mu.Unlock()
			<-ctx.Done()
			mu.Lock()
			atOnce--
			mu.Unlock()
			return failed("hangs")
		})
		time.Sleep(time.Second) // the hanging ones have what they get
		for id := freshet.ID(1001); id <= 1100; id++ {
			m.add(id, healthy)
		}
		r.Kick()
		time.Sleep(time.Second)
		mu.Lock()
		if delivered != 100 {
			t.Errorf("%d of 100 healthy deliveries within a second", delivered)
		}
		if most > 8 || most < 5 {
			t.Errorf("%d attempts of one workflow at once, want at most 8 and most of them", most)
		}
		mu.Unlock()
		// 100 that hang 15 s each in 8 places need 4 minutes for their first attempt.
		time.Sleep(8 * time.Minute)
		for id := freshet.ID(1); id <= 100; id++ {
			if e := m.execution(id); e.Attempts == 0 {
				t.Errorf("execution %d was never tried", id)
			}
		}
		stop()
	})
}

func TestKilledRunnerIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.add(7, 1)
		if _, err := m.ClaimExecutions(t.Context(), "the one that was killed", 1, 1, nil, lease, time.Now()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		var at time.Duration
		var number int
		_, stop := run(t, m, func(_ context.Context, d freshet.Delivery) freshet.Attempt {
			at, number = time.Since(began), d.Attempts
			return freshet.Attempt{}
		})
		time.Sleep(2 * time.Minute)
		stop()
		if e := m.execution(7); e.State != freshet.Succeeded || e.Abandoned != 1 || at < lease || at > lease+longestWait || number != 2 {
			t.Errorf("%+v, delivered after %s as attempt %d", e, at, number)
		}
	})
}

func TestPanicEndsOneAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.add(7, 1)
		m.add(8, 2)
		_, stop := run(t, m, func(_ context.Context, d freshet.Delivery) freshet.Attempt {
			if d.ID == 7 && d.Attempts == 1 {
				panic("boom")
			}
			return freshet.Attempt{}
		})
		time.Sleep(time.Minute)
		stop()
		if m.count(freshet.Succeeded) != 2 || m.attempts[7][0].Error == "" {
			t.Errorf("%d delivered; first attempt %+v", m.count(freshet.Succeeded), m.attempts[7][0])
		}
	})
}

// While the database refuses, ends are kept; nothing is delivered twice for it.
func TestDatabaseRefusesForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		well := time.Now().Add(20 * time.Second)
		m.broken = func([]freshet.Attempted) error {
			if time.Now().Before(well) {
				return errors.New("database is locked")
			}
			return nil
		}
		for id := freshet.ID(1); id <= 20; id++ {
			m.add(id, id)
		}
		var mu sync.Mutex
		times := map[freshet.ID]int{}
		_, stop := run(t, m, func(_ context.Context, d freshet.Delivery) freshet.Attempt {
			mu.Lock()
			defer mu.Unlock()
			times[d.ID]++
			return freshet.Attempt{}
		})
		time.Sleep(time.Minute)
		stop()
		if n := m.count(freshet.Succeeded); n != 20 {
			t.Errorf("%d of 20 succeeded", n)
		}
		for id, n := range times {
			if n != 1 {
				t.Errorf("execution %d was delivered %d times", id, n)
			}
		}
	})
}

// One end that cannot be recorded is its own trouble only.
func TestOneEndCannotBeRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.broken = func(list []freshet.Attempted) error {
			if slices.ContainsFunc(list, func(a freshet.Attempted) bool { return a.Execution == 3 }) {
				return errors.New("value too odd")
			}
			return nil
		}
		for id := freshet.ID(1); id <= 10; id++ {
			m.add(id, id)
		}
		_, stop := run(t, m, func(context.Context, freshet.Delivery) freshet.Attempt { return freshet.Attempt{} })
		time.Sleep(time.Minute)
		stop()
		if n := m.count(freshet.Succeeded); n != 9 {
			t.Errorf("%d of the other 9 succeeded", n)
		}
	})
}

func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.add(1, 1) // ends within the time that a stop gives
		m.add(2, 2) // does not
		_, stop := run(t, m, func(ctx context.Context, d freshet.Delivery) freshet.Attempt {
			if d.ID == 1 {
				time.Sleep(3 * time.Second)
				return freshet.Attempt{}
			}
			<-ctx.Done()
			return failed("hangs")
		})
		time.Sleep(time.Second)
		began := time.Now()
		stop()
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the stop took %s", took)
		}
		if e := m.execution(1); e.State != freshet.Succeeded {
			t.Errorf("the one that ended in time: %+v", e)
		}
		if e := m.execution(2); e.State != freshet.Retrying || e.Abandoned != 1 || e.Failures != 0 || e.DueAt.After(time.Now()) {
			t.Errorf("the one that was stopped must be due at once and count no failure: %+v", e)
		}
	})
}

// What ends at about the same time is recorded in one commit.
func TestEndsShareACommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		for id := freshet.ID(1); id <= 32; id++ {
			m.add(id, id)
		}
		_, stop := run(t, m, func(context.Context, freshet.Delivery) freshet.Attempt {
			time.Sleep(100 * time.Millisecond)
			return freshet.Attempt{}
		})
		time.Sleep(time.Minute)
		stop()
		if m.count(freshet.Succeeded) != 32 || m.commits > 2 {
			t.Errorf("%d delivered in %d commits", m.count(freshet.Succeeded), m.commits)
		}
	})
}

// However claims fall, no workflow gets more than its part, and the whole is never exceeded.
func TestSlots(t *testing.T) {
	for _, all := range []int{1, 2, 3, 4, 8, 32, 100} {
		t.Run(fmt.Sprint(all), func(t *testing.T) {
			s := newSlots(all)
			for range 200 { // every claim brings as much as it may, all of the workflow that has most
				limit, each, busy := s.room()
				if s.taken == all {
					break
				}
				if limit < 1 {
					t.Fatalf("no room with %d of %d taken", s.taken, all)
				}
				id := freshet.ID(1)
				for slices.Contains(busy, id) {
					id++
				}
				for range min(limit, each) {
					s.take(id)
				}
			}
			for id, n := range s.of {
				if n > max(1, all/4) {
					t.Errorf("workflow %d has %d of %d", id, n, all)
				}
			}
			if s.taken != all {
				t.Errorf("%d of %d taken", s.taken, all)
			}
		})
	}
}
