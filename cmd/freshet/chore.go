package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"freshet/internal/store"
)

// chore is work that one instance does for all, such as retention, in small batches with pauses, so that
// polls and readers are not held up. An instance that does not get the lease looks again later.
type chore struct {
	name  string
	every time.Duration
	woken <-chan struct{} // there may be work before every is over; nil for never
	lease func(ctx context.Context, now time.Time) (bool, error)
	batch func(ctx context.Context, now time.Time) (done int, err error)
	log   *slog.Logger
}

const choreLease = time.Minute

// chores are those of an instance: texts become searchable, and what is past retention goes (D8).
func (s *serving) chores() []*chore {
	owner := instanceName()
	return []*chore{
		{name: "search", every: time.Minute, woken: s.texts, lease: leaseOf(s.store, "search", owner), batch: s.indexTexts, log: s.log},
		retention(s.store, owner, s.log),
	}
}

// indexTexts makes the next texts searchable and wakes those who follow a search.
func (s *serving) indexTexts(ctx context.Context, now time.Time) (int, error) {
	done, err := s.store.IndexText(ctx, 500, now)
	if done > 0 {
		s.bell.Ring()
	}
	return done, err
}

// retention removes what is past retention (D8) and what briefings have no use for any more.
func retention(st *store.Store, owner string, log *slog.Logger) *chore {
	return &chore{name: "retention", every: 10 * time.Minute, lease: leaseOf(st, "retention", owner), log: log,
		batch: func(ctx context.Context, now time.Time) (int, error) { return st.Retain(ctx, now, 500) }}
}

func leaseOf(st *store.Store, job, owner string) func(context.Context, time.Time) (bool, error) {
	return func(ctx context.Context, now time.Time) (bool, error) {
		return st.AcquireJob(ctx, job, owner, choreLease, now)
	}
}

// instanceName tells instances apart that hold leases.
func instanceName() string { return fmt.Sprintf("%s-%d", hostname(), os.Getpid()) }

// Run works until ctx ends.
func (c *chore) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.woken:
			pause(ctx, time.Second) // what wakes it comes in showers
		case <-timer.C:
		}
		if err := c.work(ctx); err != nil && ctx.Err() == nil {
			c.log.Warn("housekeeping stopped and is tried again", "chore", c.name, "err", err)
		}
		timer.Reset(c.every)
	}
}

// onceWithin bounds what a command that runs once does of a chore; the rest is left to the next one.
const onceWithin = 5 * time.Second

// once works for a while, for instances that no server runs beside.
func (c *chore) once(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, onceWithin)
	defer cancel()
	if err := c.work(limited); err != nil && limited.Err() == nil {
		c.log.Warn("housekeeping stopped and is tried again", "chore", c.name, "err", err)
	}
}

// work does batches until one finds nothing to do, as long as the lease is ours.
func (c *chore) work(ctx context.Context) error {
	var leased time.Time
	for ctx.Err() == nil {
		began := time.Now()
		if began.Sub(leased) > choreLease/2 {
			ours, err := c.lease(ctx, began)
			if !ours || err != nil {
				return err
			}
			leased = began
		}
		done, err := c.batch(ctx, began)
		if done == 0 || err != nil {
			return err
		}
		pause(ctx, time.Since(began)) // at work for half of the time at most
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
