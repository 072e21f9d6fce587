package deliver

import (
	"sync"

	"freshet"
	"freshet/internal/loop"
)

// slots counts attempts under way, in all and of each workflow. No workflow gets more than a quarter of
// them, so that a receiver that hangs never holds up the others.
type slots struct {
	all   int           // at once
	one   int           // of one workflow
	freed chan struct{} // capacity one: there is room for what waits

	mu     sync.Mutex // guards the rest
	taken  int
	of     map[freshet.ID]int
	hungry bool // somebody waits for room
}

func newSlots(all int) *slots {
	return &slots{all: all, one: max(1, all/4), freed: make(chan struct{}, 1), of: map[freshet.ID]int{}}
}

// room says how many executions may be claimed now, in all and of each workflow, and of which workflows none: whatever
// is claimed, each workflow stays within its part.
func (s *slots) room() (limit, each int, busy []freshet.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	each = (s.one + 1) / 2
	for id, n := range s.of {
		if n > s.one-each {
			busy = append(busy, id)
		}
	}
	return s.all - s.taken, each, busy
}

func (s *slots) take(workflow freshet.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken++
	s.of[workflow]++
}

func (s *slots) free(workflow freshet.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	if s.of[workflow]--; s.of[workflow] == 0 {
		delete(s.of, workflow)
	}
	if s.hungry {
		loop.Wake(s.freed)
	}
}

// setHungry says whether freed is to be told.
func (s *slots) setHungry(hungry bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hungry = hungry
}
