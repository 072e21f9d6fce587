package poll

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"freshet"
	"freshet/internal/fetch"
	"freshet/internal/loop"
	"freshet/internal/store"
)

// Records takes what became of claims.
type Records interface {
	// FinishPolls records outcomes in one transaction, each source all or nothing. What it returns is in
	// the order of the polls.
	FinishPolls(ctx context.Context, polls []store.Poll, now time.Time) ([]store.Finished, error)
	// GiveBack makes claimed sources that were not asked due again, at a time or when their host allows.
	GiveBack(ctx context.Context, polls []store.Poll, again time.Time) error
}

const (
	batchPolls = 64                    // outcomes of one commit at most
	batchBytes = 1 << 20               // what makes a commit worth its while sooner
	batchWait  = 50 * time.Millisecond // how long the first outcome of a commit waits for others
	mostBytes  = 2 << 20               // of outcomes that wait; then polls wait too
	expected   = 32 << 10              // what an outcome is taken for until it is there

	firstRetry   = 100 * time.Millisecond
	longestRetry = 5 * time.Second
	suspectTries = 3 // of an outcome that alone cannot be recorded
)

// entry is an outcome on its way into the store.
type entry struct {
	source  freshet.Source // as claimed
	outcome *freshet.Outcome
	done    func() // called once, when it is recorded or given up
	size    int
	tries   int // failed alone while others succeeded
}

// recorder gathers outcomes and records many in one transaction: a commit costs as much as dozens of
// polls. One commit runs at a time; while it does, or while the database recovers, outcomes wait, and
// when too many wait nobody is asked for another. Nothing is dropped as long as the process lives.
type recorder struct {
	store    Records
	log      *slog.Logger
	most     int // bytes
	finished func(*entry, store.Finished)
	arrived  chan struct{} // capacity one
	ended    chan struct{}

	mu      sync.Mutex // guards the rest
	room    sync.Cond  // bytes or closed changed
	waiting []*entry
	first   time.Time // when the first of waiting came
	bytes   int       // of waiting, of the commit under way and of what is expected
	size    int       // of waiting
	closed  bool      // no more will come: do not wait for them
}

// newRecorder returns a recorder for so many requests at once.
func newRecorder(st Records, log *slog.Logger, requests int, finished func(*entry, store.Finished)) *recorder {
	r := &recorder{store: st, log: log, most: max(mostBytes, requests*expected), finished: finished, arrived: make(chan struct{}, 1), ended: make(chan struct{})}
	r.room.L = &r.mu
	return r
}

// start records until stop. When ctx ends, what still cannot be recorded is given up.
func (r *recorder) start(ctx context.Context) {
	go func() {
		defer close(r.ended)
		for batch := r.gather(); batch != nil; batch = r.gather() {
			r.commit(ctx, batch)
			r.release(batch)
		}
	}()
}

// stop records what waits and returns when that is done. Nobody may add any more.
func (r *recorder) stop() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	loop.Wake(r.arrived)
	<-r.ended
}

// reserve makes room for one outcome, for add or cancel to follow. It waits while too much is waiting: what
// is not yet read takes no memory.
func (r *recorder) reserve() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.bytes > 0 && r.bytes+expected > r.most {
		r.room.Wait()
	}
	r.bytes += expected
}

// cancel gives back what was reserved for an outcome that does not come.
func (r *recorder) cancel() {
	r.mu.Lock()
	r.bytes -= expected
	r.mu.Unlock()
	r.room.Signal()
}

// add takes an outcome that there is a reservation for.
func (r *recorder) add(e *entry) {
	e.size = sizeOf(e.outcome)
	r.mu.Lock()
	if len(r.waiting) == 0 {
		r.first = time.Now()
	}
	r.waiting = append(r.waiting, e)
	r.size += e.size
	r.bytes += e.size - expected
	r.mu.Unlock()
	r.room.Signal() // most are smaller than expected
	loop.Wake(r.arrived)
}

// sizeOf is roughly what an outcome takes of memory.
func sizeOf(o *freshet.Outcome) int {
	n := 1 << 10
	for i := range o.Posts {
		p := &o.Posts[i]
		n += 300 + len(p.GUID) + len(p.URL) + len(p.Title) + len(p.Author) + len(p.Text) + len(p.Image) + 64*len(p.Enclosures)
	}
	for i := range o.Contents {
		n += len(o.Contents[i].Text)
	}
	return n
}

// gather waits for a batch; nil when there will be none.
func (r *recorder) gather() []*entry {
	for {
		batch, wait := r.take()
		if batch != nil {
			return batch
		}
		if wait < 0 {
			return nil
		}
		var later <-chan time.Time
		if wait > 0 {
			later = time.After(wait)
		}
		select {
		case <-r.arrived:
		case <-later:
		}
	}
}

// take returns a batch when one is ready, else how long to wait for it: 0 for as long as it takes to
// arrive, less when none will.
func (r *recorder) take() (batch []*entry, wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.waiting)
	if n == 0 {
		if r.closed {
			return nil, -1
		}
		return nil, 0
	}
	wait = time.Until(r.first.Add(batchWait))
	if n < batchPolls && r.size < batchBytes && wait > 0 && !r.closed {
		return nil, wait
	}
	n = min(n, batchPolls)
	batch = r.waiting[:n:n]
	r.waiting = append([]*entry(nil), r.waiting[n:]...)
	for _, e := range batch {
		r.size -= e.size
	}
	return batch, 0
}

// release lets others come in the place of a batch.
func (r *recorder) release(batch []*entry) {
	r.mu.Lock()
	for _, e := range batch {
		r.bytes -= e.size
	}
	r.mu.Unlock()
	r.room.Broadcast()
}

// commit records a batch, however long the database takes to recover.
func (r *recorder) commit(ctx context.Context, batch []*entry) {
	var began time.Time
	for wait := firstRetry; ; wait = min(2*wait, longestRetry) {
		err := r.record(ctx, batch)
		if err == nil {
			break
		}
		if began.IsZero() {
			began = time.Now()
			r.log.Warn("[Polling] outcomes could not be recorded; they are kept and tried again", "outcomes", len(batch), "err", err)
		} else if batch = r.recordApart(ctx, batch); len(batch) == 0 {
			break
		}
		if !sleep(ctx, wait) {
			r.giveUp(batch, err)
			return
		}
	}
	if !began.IsZero() {
		r.log.Info("[Polling] outcomes are recorded again", "after", time.Since(began).Round(time.Millisecond))
	}
}

// record records entries in one transaction.
func (r *recorder) record(ctx context.Context, batch []*entry) error {
	polls := make([]store.Poll, len(batch))
	for i, e := range batch {
		polls[i] = store.Poll{Source: e.source.ID, Seq: e.source.Seq, Outcome: e.outcome}
	}
	finished, err := r.store.FinishPolls(ctx, polls, time.Now())
	if err != nil {
		return err
	}
	for i, e := range batch {
		r.finished(e, finished[i])
		e.done()
	}
	return nil
}

// recordApart tries the entries of a batch one by one and returns those that are left. Where some can be
// recorded and one cannot, it is that one and not the database: after a few tries its source fails with a
// sentence that says so, and the others are not held up. Two refusals and no success are the database.
func (r *recorder) recordApart(ctx context.Context, batch []*entry) (left []*entry) {
	var refused []*entry
	var last error
	well := false
	for i, e := range batch {
		if !well && len(refused) == 2 {
			left = append(left, batch[i:]...)
			break
		}
		if err := r.record(ctx, []*entry{e}); err != nil {
			refused, last = append(refused, e), err
		} else {
			well = true
		}
	}
	for _, e := range refused {
		if well || e.tries > 0 {
			e.tries++
		}
		switch e.tries {
		case suspectTries:
			r.log.Error("[Polling] an outcome cannot be recorded", "source", fetch.Redact(e.source.URL), "err", last)
			e.outcome = fault(e.outcome.At, "What was read could not be stored; the log has the details.")
		case 2 * suspectTries:
			r.giveUp([]*entry{e}, last)
			continue
		}
		left = append(left, e)
	}
	return left
}

// giveUp ends entries that are not recorded. Their sources are polled again.
func (r *recorder) giveUp(batch []*entry, err error) {
	r.log.Error("[Polling] outcomes are given up; their sources will be asked again", "outcomes", len(batch), "err", err)
	for _, e := range batch {
		e.done()
	}
}

// tell says what became of a poll: to the log (S9), to the verdict about our own network, to the loop when
// the source is due again before its next look, to whoever counts and follows.
func (r *run) tell(e *entry, f store.Finished) {
	r.loop.Due(f.Source.NextPollAt)
	logPoll(r.log, e, f)
	if f.Recorded && unreached(e.outcome) {
		r.network.unreached(f.Host.ID, e.source.ID)
	}
	if r.o.Finished != nil {
		r.o.Finished(f, e.outcome)
	}
}

// logPoll writes the one line of a poll: Info when something changed, Debug when not.
func logPoll(log *slog.Logger, e *entry, f store.Finished) {
	o := e.outcome
	level := slog.LevelDebug
	if f.New > 0 || f.Edited > 0 || f.Moved || f.Disabled || o.Failure != nil {
		level = slog.LevelInfo
	}
	if !log.Enabled(context.Background(), level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("source", fetch.Redact(e.source.URL)), slog.String("host", e.source.Host), slog.Int("status", o.Status),
		slog.Int("new", f.New), slog.Duration("took", o.Took.Round(time.Millisecond)),
	}
	if f.Edited > 0 {
		attrs = append(attrs, slog.Int("edited", f.Edited))
	}
	if f.TooOld > 0 && log.Enabled(context.Background(), slog.LevelDebug) {
		attrs = append(attrs, slog.Int("too_old", f.TooOld))
	}
	message := "[Polling] source polled"
	switch {
	case !f.Recorded:
		message = "[Polling] outcome not wanted any more"
	case f.Disabled:
		message = "[Polling] source disabled"
	case o.Failure != nil:
		message = "[Polling] source failed"
	case f.Moved:
		message = "[Polling] source moved"
		attrs = append(attrs, slog.String("to", fetch.Redact(f.Source.URL)))
	}
	if o.Failure != nil {
		attrs = append(attrs, slog.String("err", o.Failure.Sentence), slog.Int("failures", f.Source.Failures))
	}
	log.LogAttrs(context.Background(), level, message, attrs...)
}
