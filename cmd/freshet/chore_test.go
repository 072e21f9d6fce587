package main

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// run lets a chore work for so long in fake time.
func runChore(t *testing.T, c *chore, d time.Duration) {
	t.Helper()
	c.log = slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := c.Run(ctx); err != nil {
		t.Error(err)
	}
}

func always(context.Context, time.Time) (bool, error) { return true, nil }

func TestChoreWorksUntilNothingIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pending, batches := 7, 0
		c := &chore{every: time.Hour, lease: always, batch: func(context.Context, time.Time) (int, error) {
			batches++
			n := min(3, pending)
			pending -= n
			return n, nil
		}}
		runChore(t, c, 59*time.Minute)
		if pending != 0 || batches != 4 {
			t.Errorf("%d left after %d batches, want 0 after 4", pending, batches)
		}
	})
}

// Polls and readers get the database for as long as a batch had it.
func TestChorePausesAsLongAsItWorked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var starts []time.Time
		c := &chore{every: time.Hour, lease: always, batch: func(context.Context, time.Time) (int, error) {
			starts = append(starts, time.Now())
			time.Sleep(40 * time.Millisecond)
			return 2 - len(starts), nil
		}}
		runChore(t, c, time.Minute)
		if len(starts) != 2 || starts[1].Sub(starts[0]) != 80*time.Millisecond {
			t.Errorf("batches began at %v, want two, 80 ms apart", starts)
		}
	})
}

func TestChoreOfAnotherInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		c := &chore{every: time.Minute,
			lease: func(context.Context, time.Time) (bool, error) { asked++; return false, nil },
			batch: func(context.Context, time.Time) (int, error) { t.Error("worked without the lease"); return 0, nil }}
		runChore(t, c, 150*time.Second)
		if asked != 3 {
			t.Errorf("asked for the lease %d times in two and a half minutes, want 3", asked)
		}
	})
}

func TestChoreRenewsItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases, batches := 0, 0
		c := &chore{every: time.Hour,
			lease: func(context.Context, time.Time) (bool, error) { leases++; return leases < 3, nil },
			batch: func(context.Context, time.Time) (int, error) { batches++; time.Sleep(10 * time.Second); return 1, nil }}
		runChore(t, c, 10*time.Minute)
		if leases != 3 || batches != 4 {
			t.Errorf("%d leases, %d batches; want the lease asked for after half its time and work to end with it: 3 and 4", leases, batches)
		}
	})
}

func TestChoreGoesOnAfterTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		c := &chore{every: time.Minute, lease: always, batch: func(context.Context, time.Time) (int, error) {
			tries++
			return 0, errors.New("database is locked")
		}}
		runChore(t, c, 90*time.Second)
		if tries != 2 {
			t.Errorf("%d tries, want 2", tries)
		}
	})
}

func TestChoreIsWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		woken, batches := make(chan struct{}, 1), 0
		c := &chore{every: time.Hour, woken: woken, lease: always, batch: func(context.Context, time.Time) (int, error) {
			batches++
			return 0, nil
		}}
		time.AfterFunc(10*time.Second, func() { woken <- struct{}{} })
		runChore(t, c, 20*time.Second)
		if batches != 2 {
			t.Errorf("%d batches, want one at the start and one when woken", batches)
		}
	})
}
