package river

import (
	"sync"
	"testing"
	"testing/synctest"
)

func TestBellWakesEveryListener(t *testing.T) {
	b := NewBell()
	first, stopFirst := b.Listen()
	second, stopSecond := b.Listen()
	defer stopFirst()
	defer stopSecond()
	b.Ring()
	for _, rung := range []<-chan struct{}{first, second} {
		select {
		case <-rung:
		default:
			t.Error("a listener was not woken")
		}
	}
}

// Many rings while a listener is busy are one; a ring after it looked is another.
func TestBellFoldsRings(t *testing.T) {
	b := NewBell()
	rung, stop := b.Listen()
	defer stop()
	for range 100 {
		b.Ring()
	}
	<-rung
	select {
	case <-rung:
		t.Error("rung twice")
	default:
	}
	b.Ring()
	<-rung
}

func TestBellForgetsWhoLeft(t *testing.T) {
	b := NewBell()
	rung, stop := b.Listen()
	stop()
	stop()
	b.Ring()
	select {
	case <-rung:
		t.Error("woken after leaving")
	default:
	}
	if len(b.listeners) != 0 {
		t.Errorf("%d listeners kept", len(b.listeners))
	}
}

func TestBellConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBell()
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 100 {
					rung, stop := b.Listen()
					b.Ring()
					<-rung
					stop()
				}
			})
		}
		all.Wait()
	})
}
