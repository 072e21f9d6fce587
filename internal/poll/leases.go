package poll

import (
	"context"
	"slices"
	"sync"
	"time"

	"freshet/internal/store"
)

// Leases divide the hosts among instances: a host lies in one shard and a shard has one holder, so that
// politeness to a host is a matter of one process (S6). Correctness does not rest on them: an outcome
// of a poll that somebody else has taken over is refused by its version.
type Leases interface {
	// Acquire renews what owner holds, takes what is free or expired up to a fair share and returns what
	// is held now.
	Acquire(ctx context.Context, owner string, ttl time.Duration, now time.Time) (shards []int, err error)
	// AcquireFree renews and takes only what nobody holds, for a run that ends soon.
	AcquireFree(ctx context.Context, owner string, ttl time.Duration, now time.Time) (shards []int, err error)
	// ReleaseLeases gives back all that owner holds.
	ReleaseLeases(ctx context.Context, owner string) error
}

type acquire func(ctx context.Context, owner string, ttl time.Duration, now time.Time) ([]int, error)

// leaseMargin is what must be left of a lease after the longest fetch that it covers.
const leaseMargin = 2 * time.Second

// leases are the shards that this run holds.
type leases struct {
	acquire acquire
	owner   string
	ttl     time.Duration

	mu      sync.Mutex        // guards the rest
	since   map[int]time.Time // when each shard was taken
	expires time.Time         // of all of them
}

func newLeases(a acquire, owner string, ttl time.Duration) *leases {
	return &leases{acquire: a, owner: owner, ttl: ttl, since: map[int]time.Time{}}
}

// renew asks for leases and returns what is held and which of it is new. They count from before the
// question. Nothing is held by them until keep.
func (l *leases) renew(ctx context.Context) (shards, taken []int, asked time.Time, err error) {
	asked = time.Now()
	shards, err = l.acquire(ctx, l.owner, l.ttl, asked)
	if err != nil {
		return nil, nil, asked, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	lapsed := l.left(asked) <= 0
	for _, shard := range shards {
		if _, had := l.since[shard]; !had || lapsed {
			taken = append(taken, shard)
		}
	}
	return shards, taken, asked, nil
}

// keep makes renewed leases those that are held.
func (l *leases) keep(shards, taken []int, asked time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	since := make(map[int]time.Time, len(shards))
	for _, shard := range shards {
		since[shard] = l.since[shard]
	}
	for _, shard := range taken {
		since[shard] = asked
	}
	l.since, l.expires = since, asked.Add(l.ttl)
}

// left is how long the leases last. The monotonic clock may sleep with the machine and the wall clock
// may jump, so the more careful of the two counts.
func (l *leases) left(now time.Time) time.Duration {
	return min(l.expires.Sub(now), l.expires.Round(0).Sub(now.Round(0)))
}

// valid says whether leases were given and last, be they on no shard at all.
func (l *leases) valid(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.left(now) > 0
}

// held lists the shards that are held, in order.
func (l *leases) held() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left(time.Now()) <= 0 {
		return nil
	}
	shards := make([]int, 0, len(l.since))
	for shard := range l.since {
		shards = append(shards, shard)
	}
	slices.Sort(shards)
	return shards
}

// covers says whether a host is held for at least d from now, and since when.
func (l *leases) covers(host string, d time.Duration) (since time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	since, ok = l.since[store.Shard(host)]
	return since, ok && l.left(time.Now()) >= d
}

// keepLeases renews the leases until ctx ends.
func (r *run) keepLeases(ctx context.Context) {
	r.workers.Go(func() {
		well := true
		for {
			wait := r.leases.ttl / 3
			if err := r.renewLeases(ctx); err != nil {
				wait = min(wait, time.Second)
				if well && ctx.Err() == nil {
					r.log.Warn("[Polling] leases could not be renewed; trying again", "err", err)
				}
				well = false
			} else {
				well = true
			}
			if !sleep(ctx, wait) {
				return
			}
		}
	})
}

// renewLeases renews the leases once. What is overdue in new ones is spread before anybody polls it (S4, S5).
func (r *run) renewLeases(ctx context.Context) error {
	shards, taken, asked, err := r.leases.renew(ctx)
	if err != nil {
		return err
	}
	if r.spread && len(taken) > 0 {
		if _, err := r.store.SpreadOverdue(ctx, taken, time.Now()); err != nil {
			return err
		}
	}
	r.leases.keep(shards, taken, asked)
	if len(taken) > 0 {
		r.log.Debug("[Polling] hosts taken over", "shards", len(taken), "held", len(shards))
		r.loop.Kick()
	}
	return nil
}

// sleep waits for d and says whether ctx still goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
