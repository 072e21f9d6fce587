// Package river tells those who follow the river that there is something new to look at.
//
// A bell says only "look again"; what is new stands in the event log of the store, followed by number.
// So a ring that comes while its listener is busy is not lost and two rings are as good as one. It
// keeps nothing and knows nothing of other processes: whoever watches the store for their commits
// rings it.
package river

import "sync"

// Bell wakes all who listen. Its zero value is not usable; NewBell makes one.
type Bell struct {
	mu        sync.Mutex
	listeners map[chan struct{}]struct{} // guarded by mu
}

// NewBell returns a bell that nobody listens to.
func NewBell() *Bell { return &Bell{listeners: map[chan struct{}]struct{}{}} }

// Ring wakes every listener. It never blocks.
func (b *Bell) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for rung := range b.listeners {
		select {
		case rung <- struct{}{}:
		default:
		}
	}
}

// Listen returns a channel that receives after a ring; rings that were not received yet are one.
// The listener calls stop when it goes; the channel is not closed.
func (b *Bell) Listen() (rung <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listeners[c] = struct{}{}
	return c, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.listeners, c)
	}
}
