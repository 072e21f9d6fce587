package poll

import (
	"context"
	"errors"
	"time"

	"freshet"
)

// refreshLook is how often a one-shot run looks whether its refresh is finished: others may do a part.
const refreshLook = 200 * time.Millisecond

// RunRefresh polls what waits for a refresh, and nothing else, until it is finished (S10). It takes only
// hosts that no instance holds; the others are polled by those who hold them. It makes no verdict
// about our own network: whoever waits for it wants an answer.
func (s *Scheduler) RunRefresh(ctx context.Context, id freshet.ID) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r := s.begin(ctx, s.store.AcquireFree)
	r.refresh = id
	result := context.Canceled
	r.finished = func(err error) {
		result = err
		stop()
	}
	r.keepLeases(ctx)
	r.loop.Run(ctx, r.turns.freed, r.look)
	return errors.Join(result, r.end())
}

// lookForRefresh polls what waits for the refresh and ends the run when it is finished.
func (r *run) lookForRefresh(ctx context.Context, shards []int) time.Duration {
	r.turns.setHungry(true)
	if len(shards) > 0 {
		if _, err := r.claim(ctx, shards); err != nil {
			return r.troubled(ctx, err)
		}
	}
	r.recovered()
	refresh, err := r.store.Refresh(ctx, r.refresh)
	if ctx.Err() == nil && (err != nil || !refresh.Running()) {
		r.finished(err)
	}
	return refreshLook
}
