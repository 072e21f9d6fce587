// Package poll decides who is polled now and carries it out: sources that are due, host by host, each
// from claim to recorded outcome (SPEC.md section 2, S1 to S9).
//
// It keeps nothing that matters: what is due, claimed and known lies in the store, so that a process that
// dies at any point is taken over by another or by its own next start. In memory are the leases on
// shards of hosts, the hosts at work and the outcomes that wait for the next commit. It does not read
// sources (package reader), does not decide what an outcome means (package freshet) and knows no SQL.
package poll

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"freshet"
	"freshet/internal/loop"
	"freshet/internal/store"
)

// Turn is one visit to a host: sources are read one after the other, over connections that are kept in
// between and closed at the end (F4). Read always returns an outcome, within the fetch timeout. It is
// an alias so that readers need not know this package.
type Turn = interface {
	Read(ctx context.Context, s freshet.Source) *freshet.Outcome
	Close()
}

// Reader begins turns. It is used from many goroutines.
type Reader interface{ Turn() Turn }

// Store is what polling needs of the database.
type Store interface {
	Leases
	Claims
	Records
	// SpreadOverdue spreads the polls of sources that were never polled (S4) or that missed a whole
	// interval (S5).
	SpreadOverdue(ctx context.Context, shards []int, now time.Time) (int, error)
	// Forgive takes back the last failure of sources and lets them be tried again at a time (S5).
	Forgive(ctx context.Context, ids []freshet.ID, again time.Time) error
	// Refresh returns a refresh as it stands.
	Refresh(ctx context.Context, id freshet.ID) (freshet.Refresh, error)
}

// Claims hands out due sources. A claimed source is due again only later, whatever becomes of the claim.
type Claims interface {
	Claim(ctx context.Context, r store.ClaimRequest, now time.Time) ([]store.Watched, error)
	// NextDue is when the next source of the shards is due; zero for never.
	NextDue(ctx context.Context, shards []int) (time.Time, error)
}

// Options are the limits of a scheduler. A zero value stands for the default.
type Options struct {
	Tick         time.Duration // how long a due source may go unnoticed at most: 10 s (S1)
	Concurrency  int           // requests at once: 64
	FetchTimeout time.Duration // how long a Read may take: 10 s (F1)
	LeaseTTL     time.Duration // how long a dead instance keeps its hosts: 30 s, at least three fetches
	Settings     freshet.Settings
	Logger       *slog.Logger

	// Finished is told of every outcome after its commit, one at a time. It must not block.
	Finished func(store.Finished, *freshet.Outcome)
}

func (o Options) withDefaults() Options {
	if o.Tick <= 0 {
		o.Tick = 10 * time.Second
	}
	if o.Concurrency <= 0 {
		o.Concurrency = 64
	}
	if o.FetchTimeout <= 0 {
		o.FetchTimeout = 10 * time.Second
	}
	if o.LeaseTTL <= 0 {
		o.LeaseTTL = 30 * time.Second
	}
	o.LeaseTTL = max(o.LeaseTTL, 3*(o.FetchTimeout+leaseMargin)/2)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Scheduler polls what is due. One process needs one.
type Scheduler struct {
	store   Store
	reader  Reader
	o       Options
	log     *slog.Logger
	loop    *loop.Loop
	network *network
	running atomic.Pointer[run] // Run's, while it polls
}

// New returns a scheduler that does nothing until Run or RunRefresh.
func New(st Store, reader Reader, o Options) *Scheduler {
	o = o.withDefaults()
	s := &Scheduler{store: st, reader: reader, o: o, log: o.Logger, loop: loop.New()}
	s.network = newNetwork(s.log, s.Kick)
	return s
}

// Kick makes Run look for due sources now: something was added, refreshed or edited. It never blocks.
func (s *Scheduler) Kick() { s.loop.Kick() }

// Paused says since when and why polling is paused because our own network seems to be down (S5); a
// zero time when it is not.
func (s *Scheduler) Paused() (since time.Time, reason string) { return s.network.paused() }

// Ready says why nothing would be polled though it were due, nil when it would: that takes leases and a loop that
// keeps looking (S1, S6). A pause of our own network is no reason.
func (s *Scheduler) Ready() error {
	r := s.running.Load()
	now := time.Now()
	switch {
	case r == nil:
		return errors.New("polling does not run")
	case !r.leases.valid(now):
		return errors.New("polling has no leases on hosts")
	case now.UnixNano()-r.looked.Load() > int64(s.o.Tick+longSleep):
		return errors.New("polling stands still")
	}
	return nil
}

// Run polls until ctx ends. Then it makes no new requests, lets those under way end (within the fetch
// timeout, at most 4 s), records their outcomes, gives back what it had claimed and releases its leases.
func (s *Scheduler) Run(ctx context.Context) error {
	r := s.begin(ctx, s.store.Acquire)
	r.loop, r.network, r.spread = s.loop, s.network, true
	r.looked.Store(time.Now().UnixNano())
	s.running.Store(r)
	r.keepLeases(ctx)
	r.loop.Run(ctx, r.turns.freed, r.look)
	s.running.Store(nil)
	return r.end()
}

// run is one Run or RunRefresh.
type run struct {
	*Scheduler
	loop     *loop.Loop
	network  *network    // nil: no verdict about our own network
	spread   bool        // what is overdue at the start and after a long sleep is spread
	refresh  freshet.ID  // only what waits for it is polled; 0 for all that is due
	finished func(error) // called when refresh is finished or cannot be looked at

	leases   *leases
	turns    *turns
	slots    chan struct{} // requests at once
	recorder *recorder
	workers  sync.WaitGroup // visits and the keeper of leases
	looked   atomic.Int64   // when the loop last looked for due sources, in Unix nanoseconds
	unwell   time.Time      // since when the database does not answer the loop

	requests, records context.Context // outlive the run's context, by the grace and by the last commit
	cancel            func()
}

const (
	longestGrace = 4 * time.Second // for requests under way at a stop
	lastCommit   = 5 * time.Second // for their outcomes after that
)

func (s *Scheduler) begin(ctx context.Context, acquire acquire) *run {
	grace := min(s.o.FetchTimeout, longestGrace)
	requests, stopRequests := loop.Outlive(ctx, grace)
	records, stopRecords := loop.Outlive(ctx, grace+lastCommit)
	r := &run{
		Scheduler: s, loop: loop.New(),
		leases: newLeases(acquire, fmt.Sprintf("%016x", rand.Uint64()), s.o.LeaseTTL),
		turns:  newTurns(2 * s.o.Concurrency), slots: make(chan struct{}, s.o.Concurrency),
		requests: requests, records: records,
		cancel: func() { stopRequests(); stopRecords() },
	}
	r.recorder = newRecorder(s.store, s.log, s.o.Concurrency, r.tell)
	r.recorder.start(records)
	return r
}

// end waits for what is under way and releases the leases.
func (r *run) end() error {
	r.workers.Wait()
	r.recorder.stop()
	r.cancel()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.records), lastCommit)
	defer cancel()
	if err := r.store.ReleaseLeases(ctx, r.leases.owner); err != nil {
		return fmt.Errorf("release leases: %w", err)
	}
	return nil
}

// look polls what is due and returns when to look again, after a tick at the latest.
func (r *run) look(ctx context.Context) time.Duration {
	r.spreadAfterPause(ctx)
	shards := r.leases.held()
	switch since, _ := r.network.paused(); {
	case ctx.Err() != nil:
		return r.o.Tick
	case r.refresh != 0:
		return r.lookForRefresh(ctx, shards)
	case len(shards) == 0:
		return r.o.Tick
	case !since.IsZero():
		return r.probe(ctx, shards)
	}
	return r.lookForDue(ctx, shards)
}

// lookForDue polls what is due. Where nothing is, that costs one question.
func (r *run) lookForDue(ctx context.Context, shards []int) time.Duration {
	wait, err := r.untilDue(ctx, shards)
	more := false
	if err == nil && wait <= 0 {
		r.turns.setHungry(true) // until the answer is known, so that room made meanwhile is noticed
		if more, err = r.claim(ctx, shards); err == nil && !more {
			wait, err = r.untilDue(ctx, shards)
		}
	}
	if err != nil {
		return r.troubled(ctx, err)
	}
	r.recovered()
	more = more || wait <= 0
	r.turns.setHungry(more)
	if more { // the end of a visit wakes us; this is for what is hidden behind a host in a long delay
		return min(r.o.Tick, time.Second)
	}
	return wait
}

// untilDue is how long nothing is due, at most a tick.
func (r *run) untilDue(ctx context.Context, shards []int) (time.Duration, error) {
	next, err := r.store.NextDue(ctx, shards)
	if err != nil || next.IsZero() {
		return r.o.Tick, err
	}
	return min(r.o.Tick, time.Until(next)), nil
}

// troubled says, once, that the database refused something; at the next look it may be well again.
func (r *run) troubled(ctx context.Context, err error) time.Duration {
	if r.unwell.IsZero() && ctx.Err() == nil {
		r.unwell = time.Now()
		r.log.Warn("[Polling] the database does not say what is due; asking again until it does", "err", err)
	}
	return min(r.o.Tick, 5*time.Second)
}

func (r *run) recovered() {
	if !r.unwell.IsZero() {
		r.log.Info("[Polling] the database says again what is due", "after", time.Since(r.unwell).Round(time.Second))
		r.unwell = time.Time{}
	}
}

// claim starts visits while there is room and something is due. It says whether there may be more.
func (r *run) claim(ctx context.Context, shards []int) (more bool, err error) {
	for ctx.Err() == nil {
		limit := min(r.turns.room(), r.o.Concurrency)
		if limit < max(1, r.o.Concurrency/2) {
			return true, nil
		}
		claimed, err := r.store.Claim(ctx, store.ClaimRequest{Shards: shards, Busy: r.turns.busy(), Refresh: r.refresh, Limit: limit}, time.Now())
		if err != nil {
			return false, err
		}
		for _, v := range byHost(claimed) {
			r.start(ctx, v)
		}
		if len(claimed) < limit {
			return false, nil
		}
	}
	return false, nil
}

// byHost makes one visit per host (S6), in the order of the claims.
func byHost(claimed []store.Watched) []*visit {
	known := make(map[freshet.ID]*visit, len(claimed))
	visits := make([]*visit, 0, len(claimed))
	for _, w := range claimed {
		v := known[w.Host.ID]
		if v == nil {
			v = &visit{host: w.Host}
			known[w.Host.ID] = v
			visits = append(visits, v)
		}
		v.sources = append(v.sources, w.Source)
	}
	return visits
}

// start begins a visit.
func (r *run) start(ctx context.Context, v *visit) {
	v.run = r
	r.turns.start(v.host.ID)
	r.workers.Go(func() { v.do(ctx) })
}

// longSleep is a gap between two looks that only a suspend, a process that stood still or a clock that
// was set explains.
const longSleep = time.Minute

// spreadAfterPause spreads what became overdue while nothing could be polled (S5). Wall time tells how
// long that was: the monotonic clock sleeps with the machine.
func (r *run) spreadAfterPause(ctx context.Context) {
	now := time.Now()
	gap := time.Duration(now.UnixNano() - r.looked.Swap(now.UnixNano()))
	if !r.network.takeResumed() && gap < r.o.Tick+longSleep || !r.spread {
		return
	}
	r.log.Info("[Polling] back after a pause; overdue sources are spread")
	if _, err := r.store.SpreadOverdue(ctx, r.leases.held(), now); err != nil {
		r.log.Warn("[Polling] overdue sources could not be spread", "err", err)
	}
}
