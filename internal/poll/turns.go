package poll

import (
	"sync"

	"freshet"
	"freshet/internal/loop"
)

// turns are the hosts that are being visited. A host is busy from its claim until its outcomes are
// recorded and its delay is over; it works while it makes or waits for a request. Only those that work
// count against the limit: a host in its delay keeps nobody waiting (S6).
type turns struct {
	limit int
	freed chan struct{} // capacity one: room was made and somebody is waiting for it

	mu      sync.Mutex // guards the rest
	hosts   map[freshet.ID]bool
	working int
	wanted  bool
}

func newTurns(limit int) *turns {
	return &turns{limit: limit, freed: make(chan struct{}, 1), hosts: map[freshet.ID]bool{}}
}

// start makes a host busy and working.
func (t *turns) start(host freshet.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hosts[host] = true
	t.working++
}

// rest says that one of the hosts waits for something else than a request; work ends that.
func (t *turns) rest() { t.add(-1) }
func (t *turns) work() { t.add(1) }

func (t *turns) add(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.working += n
	t.signal()
}

// finish ends the visit of a resting host.
func (t *turns) finish(host freshet.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.hosts, host)
	t.signal()
}

// signal wakes the loop when it waits for room and there is enough to be worth a look.
func (t *turns) signal() {
	if t.wanted && t.working <= t.limit*3/4 {
		loop.Wake(t.freed)
	}
}

// setHungry says whether due sources wait, or may wait, for room or for a busy host.
func (t *turns) setHungry(wanted bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wanted = wanted
	if !wanted {
		select {
		case <-t.freed:
		default:
		}
	}
}

// room is how many more hosts may work.
func (t *turns) room() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(0, t.limit-t.working)
}

// busy lists the hosts that must not be claimed.
func (t *turns) busy() []freshet.ID {
	t.mu.Lock()
	defer t.mu.Unlock()
	ids := make([]freshet.ID, 0, len(t.hosts))
	for id := range t.hosts {
		ids = append(ids, id)
	}
	return ids
}
