package deliver

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"freshet"
	"freshet/internal/loop"
)

// Queue hands out executions that are due. A claimed one belongs to its owner until the lease ends.
type Queue interface {
	Ends
	// ClaimExecutions begins attempts, the longest due first, so many of each workflow at most, and none of the busy
	// ones (0 for alerts).
	ClaimExecutions(ctx context.Context, owner string, limit, each int, busy []freshet.ID, lease time.Duration, now time.Time) ([]freshet.Delivery, error)
	// NextExecution is when something is to be done for the earliest execution that a runner may carry
	// out; zero when there is none.
	NextExecution(ctx context.Context) (time.Time, error)
}

// RunnerOptions are the limits of a runner. A zero value stands for the default.
type RunnerOptions struct {
	Concurrency int // attempts at once: 32; a quarter of them, and no more, of one workflow
	Logger      *slog.Logger

	// Finished is told of every attempt after its end is recorded, one at a time. It must not block.
	Finished func(freshet.Execution, freshet.Attempt)
}

const (
	lease       = Timeout + 30*time.Second // how long a dead runner keeps an execution
	leaseMargin = 10 * time.Second         // of the lease, to record the end of an attempt in
	longestWait = 10 * time.Second         // between two looks, should nobody kick
	blockedWait = time.Second              // the same while what is due belongs to busy workflows

	grace      = 4 * time.Second        // for attempts under way at a stop
	lastCommit = 500 * time.Millisecond // for their ends after that
)

// Runner carries out executions. One process needs one.
type Runner struct {
	queue  Queue
	action Action
	o      RunnerOptions
	log    *slog.Logger
	loop   *loop.Loop
}

// NewRunner returns a runner that does nothing until Run.
func NewRunner(q Queue, action Action, o RunnerOptions) *Runner {
	if o.Concurrency <= 0 {
		o.Concurrency = 32
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Runner{queue: q, action: action, o: o, log: o.Logger, loop: loop.New()}
}

// Kick makes Run look now for what is due. It never blocks.
func (r *Runner) Kick() { r.loop.Kick() }

// Run carries out what is due until ctx ends. Then it begins nothing new, gives attempts under way a few
// seconds, and records how they ended; those that it has to stop are begun again by whoever runs next.
func (r *Runner) Run(ctx context.Context) error {
	attempts, stopAttempts := loop.Outlive(ctx, grace)
	defer stopAttempts()
	records, stopRecords := loop.Outlive(ctx, grace+lastCommit)
	defer stopRecords()
	s := &shift{Runner: r, owner: fmt.Sprintf("%016x", rand.Uint64()), attempts: attempts, slots: newSlots(r.o.Concurrency)}
	s.ends = newEnds(r.queue, r.log, s.finished)
	s.ends.start(records)
	s.loop.Run(ctx, s.slots.freed, s.look)
	s.workers.Wait()
	s.ends.stop()
	return nil
}

// shift is one Run.
type shift struct {
	*Runner
	owner    string
	slots    *slots
	ends     *ends
	attempts context.Context // of attempts under way
	workers  sync.WaitGroup
	unwell   time.Time // since when the database does not answer
}

// finished is told of every attempt whose end is recorded. One that is due again before the next look
// brings it forward, and so does one that was given up: people are told of it by an alert.
func (s *shift) finished(e freshet.Execution, a freshet.Attempt) {
	s.loop.Due(e.DueAt)
	if e.State == freshet.Dead {
		s.Kick()
	}
	if s.o.Finished != nil {
		s.o.Finished(e, a)
	}
}

// look begins what is due and returns when to look again. Where nothing is due, that costs one question.
func (s *shift) look(ctx context.Context) time.Duration {
	s.slots.setHungry(true) // until the answer is known, so that room made meanwhile is noticed
	wait, err := s.untilDue(ctx)
	for err == nil && wait <= 0 && ctx.Err() == nil {
		limit, each, busy := s.slots.room()
		if limit == 0 {
			return longestWait
		}
		var begun int
		if begun, err = s.claim(ctx, limit, each, busy); begun == 0 && err == nil {
			return blockedWait
		}
		if begun < limit && err == nil {
			wait, err = s.untilDue(ctx)
		}
	}
	if err != nil {
		return s.troubled(ctx, err)
	}
	s.recovered()
	s.slots.setHungry(false)
	return wait
}

// untilDue is how long nothing is due.
func (s *shift) untilDue(ctx context.Context) (time.Duration, error) {
	next, err := s.queue.NextExecution(ctx)
	if err != nil || next.IsZero() {
		return longestWait, err
	}
	return min(longestWait, time.Until(next)), nil
}

// claim begins attempts and says how many.
func (s *shift) claim(ctx context.Context, limit, each int, busy []freshet.ID) (int, error) {
	claimed, err := s.queue.ClaimExecutions(ctx, s.owner, limit, each, busy, lease, time.Now())
	for _, d := range claimed {
		s.slots.take(d.Workflow)
		s.workers.Go(func() { s.attempt(d) })
	}
	return len(claimed), err
}

// troubled says, once, that the database refused something; at the next look it may be well again.
func (s *shift) troubled(ctx context.Context, err error) time.Duration {
	if s.unwell.IsZero() && ctx.Err() == nil {
		s.unwell = time.Now()
		s.log.Warn("[Delivery] the database does not say what is due; asking again until it does", "err", err)
	}
	return blockedWait
}

func (s *shift) recovered() {
	if !s.unwell.IsZero() {
		s.log.Info("[Delivery] the database says again what is due", "after", time.Since(s.unwell).Round(time.Second))
		s.unwell = time.Time{}
	}
}

// attempt makes one attempt and hands its end over to be recorded. Until it is, its place stays taken.
func (s *shift) attempt(d freshet.Delivery) {
	began := time.Now()
	if began.Add(Timeout + leaseMargin).After(d.DueAt) {
		s.slots.free(d.Workflow) // it comes again when the lease ends
		return
	}
	ctx, cancel := context.WithTimeout(s.attempts, Timeout)
	defer cancel()
	a := s.do(ctx, d)
	if a.Error != "" && s.attempts.Err() != nil {
		a = freshet.Attempt{Error: "Freshet was stopped before the receiver had answered.", Abandoned: true}
	}
	a.N, a.StartedAt, a.Took = d.Attempts, began, time.Since(began)
	s.ends.add(&end{delivery: d, attempt: a, until: d.DueAt, done: func() { s.slots.free(d.Workflow) }})
}

// do carries a delivery out. A panic in an action ends its attempt and nothing else.
func (s *shift) do(ctx context.Context, d freshet.Delivery) (a freshet.Attempt) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("[Delivery] an action broke", "execution", d.ID, "action", string(d.Do.Type), "err", fmt.Sprint(p), "stack", string(debug.Stack()))
			a = failed("Something went wrong inside Freshet; the log has the details.")
		}
	}()
	return s.action.Do(ctx, d)
}
