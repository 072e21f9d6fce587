package store

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"freshet"
)

func testEvents(t *testing.T, w *world) {
	first, err := w.FirstEvent(bg)
	w.must(err)
	w.equal("the first event of none", first, 0)
	src := w.add("https://a.example/feed")
	w.read(src.ID, article("one", w.now), article("two", w.now))
	w.read(src.ID) // nothing to tell
	started := w.start(freshet.ByHand)
	w.read(src.ID)
	w.must(w.RemoveSource(bg, src.ID, w.now))

	events, err := w.Events(bg, 0, 100)
	w.must(err)
	type said struct {
		Kind freshet.EventKind
		Data map[string]any
	}
	var got []said
	for i, e := range events {
		w.equal("a number", e.Seq, i+1)
		var data map[string]any
		w.must(json.Unmarshal(e.Data, &data))
		got = append(got, said{e.Kind, data})
	}
	id := src.ID.String()
	if len(got) != 6 {
		t.Fatalf("events are %v", got)
	}
	w.equal("adding", got[0], said{"feed", map[string]any{"feed_id": id, "status": "pending"}})
	w.equal("the first read", got[1], said{"feed", map[string]any{"feed_id": id, "status": "healthy"}})
	w.equal("items' kind and count", []any{got[2].Kind, got[2].Data["count"], got[2].Data["feed_ids"]}, []any{"items", 2, []any{id}})
	w.equal("items named", len(got[2].Data["item_ids"].([]any)), 2)
	w.equal("a refresh's start", []any{got[3].Kind, got[3].Data["id"], got[3].Data["state"], got[3].Data["kind"], got[3].Data["total"], got[3].Data["finished_at"]},
		[]any{"refresh", started.ID, "running", "refresh", 1, nil})
	w.equal("its end", []any{got[4].Data["state"], got[4].Data["done"], got[4].Data["failed"], got[4].Data["put_off"], got[4].Data["new_items"], got[4].Data["finished_at"]},
		[]any{"done", 1, 0, 0, 0, w.now.Format(time.RFC3339)})
	w.equal("removing", got[5], said{"feed", map[string]any{"feed_id": id, "status": "removed"}})

	rest, err := w.Events(bg, 4, 1)
	w.must(err)
	w.equal("the event after the fourth", rest[0].Seq, 5)
	last, err := w.LastEvent(bg)
	w.must(err)
	w.equal("the last event", last, 6)
	first, err = w.FirstEvent(bg)
	w.must(err)
	w.equal("the first event", first, 1)
}

// A follower that asks for what came after the last number never misses one.
func testEventRivals(t *testing.T, w *world) {
	const rivals, each = 6, 20
	var wg sync.WaitGroup
	for r := range rivals {
		wg.Go(func() {
			for i := range each {
				if _, err := w.AddSource(bg, NewSource{URL: fmt.Sprintf("https://host%d.example/%d", r, i)}, w.now); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	last := int64(0)
	for last < rivals*each {
		ended := false
		select {
		case <-done:
			ended = true
		default:
		}
		events, err := w.Events(bg, last, 1000)
		w.must(err)
		for _, e := range events {
			if e.Seq != last+1 {
				t.Fatalf("event %d came after %d", e.Seq, last)
			}
			last = e.Seq
		}
		if ended && last < rivals*each {
			t.Fatalf("%d events, want %d", last, rivals*each)
		}
	}
}

func testWatch(t *testing.T, w *world) {
	if !w.dialect.arrays {
		w.Close()
		synctest.Test(t, func(t *testing.T) { // a file is looked at once a second: of the bubble's time
			here := &world{T: t, dsn: w.dsn, now: w.now, settings: w.settings}
			here.reopen()
			defer here.Close()
			watch(here)
		})
		w.Store = w.open()
		return
	}
	watch(w)
}

// watch lets another process add a source and expects a call, but none for what this one does.
func watch(w *world) {
	other := w.open()
	defer other.Close()
	ctx, cancel := context.WithCancel(bg)
	heard, ended := make(chan struct{}, 100), make(chan error)
	go func() { ended <- w.Watch(ctx, func() { heard <- struct{}{} }) }()
	if w.dialect.arrays {
		<-heard // it listens
	} else {
		time.Sleep(lookEvery / 2) // it has looked
	}
	w.add("https://own.example/")
	if !w.dialect.arrays {
		time.Sleep(2 * lookEvery)
		w.equal("calls for our own commits", len(heard), 0)
	}
	_, err := other.AddSource(bg, NewSource{URL: "https://theirs.example/"}, w.now)
	w.must(err)
	<-heard
	w.equal("more calls", len(heard), 0)
	cancel()
	w.must(<-ended)
}
