package deliver

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"freshet"
)

// For a day receivers fail in every way: errors, silence, resets, 429 with Retry-After. Then they are well.
// Everything arrives, never sooner than promised and, since there are more deliveries than places, hardly later.
func TestADayOfTrouble(t *testing.T) {
	for seed := range uint64(3) {
		synctest.Test(t, func(t *testing.T) { dayOfTrouble(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func dayOfTrouble(t *testing.T, random *rand.Rand) {
	const executions, workflows, late = 200, 20, 2 * time.Minute
	m := newMemory()
	for id := freshet.ID(1); id <= executions; id++ {
		m.add(id, 1+id%workflows)
	}
	well := time.Now().Add(24 * time.Hour)
	var mu sync.Mutex // guards random and what follows
	earliest := map[freshet.ID]time.Time{}
	delivered := map[freshet.ID]int{}
	_, stop := run(t, m, func(ctx context.Context, d freshet.Delivery) freshet.Attempt {
		mu.Lock()
		now := time.Now()
		if due := earliest[d.ID]; !due.IsZero() && (now.Before(due) || now.After(due.Add(late))) {
			t.Errorf("attempt %d of %s at %s, promised for %s", d.Attempts, d.ID, now, due)
		}
		if now.After(well) {
			delivered[d.ID]++
			mu.Unlock()
			return freshet.Attempt{Status: 200}
		}
		trouble := random.IntN(4)
		mu.Unlock()

		a := failed("503")
		switch trouble {
		case 0:
			<-ctx.Done()
			a = failed("hangs")
		case 1:
			a.RetryAfter = now.Add(7 * time.Minute)
		case 2:
			time.Sleep(time.Second)
			a = failed("reset")
		}
		mu.Lock()
		defer mu.Unlock()
		earliest[d.ID] = d.Execution.Finish(a, 0, time.Now()).DueAt.Truncate(time.Millisecond)
		return a
	})
	time.Sleep(48 * time.Hour)
	stop()
	if n := m.count(freshet.Succeeded); n != executions {
		t.Errorf("%d of %d succeeded", n, executions)
	}
	for id := freshet.ID(1); id <= executions; id++ {
		if delivered[id] != 1 {
			t.Errorf("execution %d arrived %d times", id, delivered[id])
		}
	}
}

// What a death makes known is carried out at once, not at the next look.
func TestAlertOfADeathGoesOutAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.add(1, 1)
		m.dead = func() {
			m.list[2] = &freshet.Execution{ID: 2, Kind: freshet.KindAlert, Action: "0", State: freshet.Queued, DueAt: time.Now()}
		}
		began := time.Now()
		var told time.Duration
		_, stop := run(t, m, func(_ context.Context, d freshet.Delivery) freshet.Attempt {
			if d.Kind == freshet.KindAlert {
				told = time.Since(began)
				return freshet.Attempt{}
			}
			time.Sleep(time.Second)
			return final("no")
		})
		time.Sleep(time.Minute)
		stop()
		if told < time.Second || told > 1100*time.Millisecond {
			t.Errorf("told after %s", told)
		}
	})
}
