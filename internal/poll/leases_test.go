package poll

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"freshet"
	"freshet/internal/store"
)

// A lease counts from before it was asked for, and nothing is asked that it does not cover to the end.
func TestLeasesCover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := "a.example"
		shards := []int{store.Shard(host), (store.Shard(host) + 1) % store.Shards}
		l := newLeases(func(context.Context, string, time.Duration, time.Time) ([]int, error) {
			time.Sleep(2 * time.Second) // a slow database
			if shards == nil {
				return nil, errors.New("down")
			}
			return shards, nil
		}, "me", 30*time.Second)
		renew := func() []int {
			held, taken, asked, err := l.renew(t.Context())
			if err == nil {
				l.keep(held, taken, asked)
			}
			return taken
		}
		if _, ok := l.covers(host, 0); ok || l.held() != nil {
			t.Error("held before it was asked for")
		}
		if taken := renew(); len(taken) != 2 || len(l.held()) != 2 {
			t.Errorf("taken %v, held %v", taken, l.held())
		}
		for d, want := range map[time.Duration]bool{0: true, 28 * time.Second: true, 28*time.Second + 1: false} {
			if _, ok := l.covers(host, d); ok != want {
				t.Errorf("covers for %v: %v, want %v", d, ok, want)
			}
		}
		since, _ := l.covers(host, 0)
		shards = shards[:1]
		if taken := renew(); len(taken) != 0 || !slices.Equal(l.held(), shards) {
			t.Errorf("taken %v, held %v after one was given back", taken, l.held())
		}
		if again, _ := l.covers(host, 0); !again.Equal(since) {
			t.Error("a renewed lease counts as taken anew")
		}
		shards = nil
		time.Sleep(27 * time.Second)
		renew()
		if _, ok := l.covers(host, time.Second); ok {
			t.Error("held beyond what was granted")
		}
		time.Sleep(time.Second)
		if l.held() != nil {
			t.Error("an expired lease is held")
		}
		shards = []int{store.Shard(host)}
		if taken := renew(); len(taken) != 1 {
			t.Errorf("taken %v after the lease had lapsed, want it to count as new", taken)
		}
	})
}

// S6: a host in its delay takes no room; one that waits for a request does.
func TestTurns(t *testing.T) {
	turns := newTurns(4)
	for id := range freshet.ID(4) {
		turns.start(id + 1)
	}
	if turns.room() != 0 || len(turns.busy()) != 4 {
		t.Fatalf("room %d, busy %v", turns.room(), turns.busy())
	}
	turns.setHungry(true)
	turns.rest()
	if turns.room() != 1 || len(turns.busy()) != 4 {
		t.Errorf("room %d, busy %v with one host in its delay", turns.room(), turns.busy())
	}
	select {
	case <-turns.freed:
	default:
		t.Error("nobody is told of the room")
	}
	turns.finish(1)
	if slices.Contains(turns.busy(), 1) {
		t.Error("a host that ended is busy")
	}
	turns.setHungry(false)
	turns.work()
	turns.rest()
	select {
	case <-turns.freed:
		t.Error("told of room that nobody wants")
	default:
	}
}
