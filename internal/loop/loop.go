// Package loop is how those who carry out what is due run: they look when they planned to, when kicked, and when
// there is room again, and give what is under way a little more time when they are stopped.
//
// It keeps when the next look is planned, so that what becomes due before brings it forward. It does not know what is
// due, and starts nothing: a look, and whatever it sets going, is its caller's.
package loop

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// Loop looks again and again. New makes one.
type Loop struct {
	kicked  chan struct{}
	planned atomic.Int64 // when it means to look again, in Unix nanoseconds
}

// New returns a loop that does nothing until Run.
func New() *Loop { return &Loop{kicked: make(chan struct{}, 1)} }

// Kick makes Run look now. It never blocks; kicks that come before the look are one.
func (l *Loop) Kick() { Wake(l.kicked) }

// Due says that something is due at a time, zero for never. When that is before the next look, Run looks now and plans
// anew.
func (l *Loop) Due(at time.Time) {
	if !at.IsZero() && at.UnixNano() < l.planned.Load() {
		l.Kick()
	}
}

// Run looks now, and again after as long as look says, when kicked and when room receives, until ctx ends.
func (l *Loop) Run(ctx context.Context, room <-chan struct{}, look func(context.Context) time.Duration) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-l.kicked:
		case <-room:
		}
		l.planned.Store(math.MaxInt64) // what becomes due meanwhile may be missed by this look
		wait := look(ctx)
		l.planned.Store(time.Now().Add(wait).UnixNano())
		timer.Reset(wait)
	}
}

// Wake makes the receiver of a channel of capacity one look again. It never blocks.
func Wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Outlive returns a context that ends d after ctx does.
func Outlive(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(d, cancel)
		context.AfterFunc(longer, func() { timer.Stop() })
	})
	return longer, func() { stop(); cancel() }
}
