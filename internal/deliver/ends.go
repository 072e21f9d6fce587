package deliver

import (
	"context"
	"log/slog"
	"time"

	"freshet"
)

// Ends records how attempts ended.
type Ends interface {
	// FinishAttempts records ends in one transaction and returns the executions as they are now; without
	// those that are not their owner's any more.
	FinishAttempts(ctx context.Context, list []freshet.Attempted, now time.Time) ([]freshet.Execution, error)
}

const (
	batchEnds = 64                   // of one commit at most
	batchWait = 2 * time.Millisecond // how long the first of a commit waits for others

	firstRetry   = 100 * time.Millisecond
	longestRetry = 5 * time.Second
)

// end is how an attempt ended, on its way into the store.
type end struct {
	delivery freshet.Delivery // as claimed
	attempt  freshet.Attempt
	until    time.Time // when the lease ends and the execution is somebody else's
	done     func()    // called once, when it is recorded or given up
}

// ends gathers the ends of attempts and records many in one transaction. One commit runs at a time; while
// it does, or while the database recovers, ends wait. There are never more than there are slots.
type ends struct {
	store    Ends
	log      *slog.Logger
	finished func(freshet.Execution, freshet.Attempt)
	arrived  chan *end
	ended    chan struct{}
}

func newEnds(store Ends, log *slog.Logger, finished func(freshet.Execution, freshet.Attempt)) *ends {
	return &ends{store: store, log: log, finished: finished, arrived: make(chan *end), ended: make(chan struct{})}
}

// start records until stop. When ctx ends, what still cannot be recorded is given up.
func (e *ends) start(ctx context.Context) {
	go func() {
		defer close(e.ended)
		for batch := e.gather(); batch != nil; batch = e.gather() {
			e.commit(ctx, batch)
		}
	}()
}

// stop returns when all that was added is recorded. Nobody may add any more.
func (e *ends) stop() {
	close(e.arrived)
	<-e.ended
}

func (e *ends) add(one *end) { e.arrived <- one }

// gather waits for a batch; nil when there will be none.
func (e *ends) gather() []*end {
	first, ok := <-e.arrived
	if !ok {
		return nil
	}
	batch := []*end{first}
	wait := time.NewTimer(batchWait)
	defer wait.Stop()
	for len(batch) < batchEnds {
		select {
		case one, ok := <-e.arrived:
			if !ok {
				return batch
			}
			batch = append(batch, one)
		case <-wait.C:
			return batch
		}
	}
	return batch
}

// commit records a batch. While the database refuses, it is tried again, until the leases end: then the
// executions are claimed again, and recording would come too late.
func (e *ends) commit(ctx context.Context, batch []*end) {
	for wait := firstRetry; ; wait = min(2*wait, longestRetry) {
		var err error
		if batch, err = e.record(ctx, batch); len(batch) == 0 {
			return
		}
		if batch = e.giveUp(ctx, batch, err); len(batch) == 0 {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// record writes a batch, or, when it is refused, each of it alone, and returns what is left.
func (e *ends) record(ctx context.Context, batch []*end) (left []*end, err error) {
	list := make([]freshet.Attempted, len(batch))
	for i, one := range batch {
		list[i] = freshet.Attempted{Execution: one.delivery.ID, Attempt: one.attempt}
	}
	finished, err := e.store.FinishAttempts(ctx, list, time.Now())
	switch {
	case err == nil:
		e.tell(batch, finished)
		return nil, nil
	case len(batch) == 1 || ctx.Err() != nil:
		return batch, err
	}
	for _, one := range batch {
		rest, alone := e.record(ctx, []*end{one})
		if left = append(left, rest...); alone != nil {
			err = alone
		}
	}
	return left, err
}

// giveUp ends what need not be recorded any more and returns the rest.
func (e *ends) giveUp(ctx context.Context, batch []*end, err error) (left []*end) {
	e.log.Warn("[Delivery] ends of attempts could not be recorded", "attempts", len(batch), "err", err)
	for _, one := range batch {
		if ctx.Err() == nil && time.Now().Before(one.until) {
			left = append(left, one)
			continue
		}
		e.log.Error("[Delivery] the end of an attempt is given up; it will be made again", "execution", one.delivery.ID, "attempt", one.attempt.N)
		one.done()
	}
	return left
}

// tell says how attempts ended: to the log, to whoever counts, to whoever waits for room.
func (e *ends) tell(batch []*end, finished []freshet.Execution) {
	now := make(map[freshet.ID]*freshet.Execution, len(finished))
	for i := range finished {
		now[finished[i].ID] = &finished[i]
	}
	for _, one := range batch {
		one.done()
		x := now[one.delivery.ID]
		logEnd(e.log, one, x)
		if x != nil {
			e.finished(*x, one.attempt)
		}
	}
}

// logEnd writes the one line of an attempt: Debug when all went as it should at once, Info when not.
func logEnd(log *slog.Logger, one *end, x *freshet.Execution) {
	a, d := one.attempt, one.delivery
	level, message := slog.LevelInfo, "[Delivery] delivered"
	switch {
	case x == nil:
		level, message = slog.LevelWarn, "[Delivery] the execution was taken over or ended by somebody else"
	case x.State == freshet.Dead:
		level, message = slog.LevelWarn, "[Delivery] given up"
	case a.Abandoned:
		message = "[Delivery] stopped"
	case a.Error != "":
		message = "[Delivery] failed"
	case a.N == 1:
		level = slog.LevelDebug
	}
	if !log.Enabled(context.Background(), level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("execution", d.ID.String()), slog.String("workflow", d.WorkflowName), slog.String("action", target(d)),
		slog.Int("attempt", a.N), slog.Int("status", a.Status), slog.Duration("took", a.Took.Round(time.Millisecond)),
	}
	if a.Error != "" {
		attrs = append(attrs, slog.String("err", a.Error))
	}
	if x != nil && !x.DueAt.IsZero() {
		attrs = append(attrs, slog.Time("again", x.DueAt))
	}
	log.LogAttrs(context.Background(), level, message, attrs...)
}

// target names what a delivery is for, without secrets.
func target(d freshet.Delivery) string {
	if d.Kind == freshet.KindAlert {
		return "alert"
	}
	return d.Do.Name()
}
