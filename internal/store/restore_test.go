package store

import (
	"testing"
	"time"

	"freshet"
)

// A removal that is taken back brings the source back as it was: name, folder, cadence, what it has given.
func TestRestoreSource(t *testing.T) {
	for _, engine := range engines() {
		t.Run(engine, func(t *testing.T) { testRestore(t, newWorld(t, engine)) })
	}
}

func testRestore(t *testing.T, w *world) {
	every := freshet.Config{Cadence: &freshet.Cadence{Mode: "interval", EveryMinutes: 90}}
	src := w.addNew(NewSource{URL: "https://a.example/feed", Title: "Mine", Folder: "News", Config: every, AtOnce: true})
	w.read(src.ID, article("story", w.now))
	polled := w.now
	w.must(w.RemoveSource(bg, src.ID, w.now))
	w.now = w.now.Add(10 * time.Minute)

	back, err := w.RestoreSource(bg, src.ID, w.now)
	w.must(err)
	got := w.source(src.ID)
	w.equal("the source that is returned", back.Source.NextPollAt, got.NextPollAt)
	w.equal("name, folder, cadence", []any{got.Title, got.Folder, got.Config.Cadence.EveryMinutes}, []any{"Mine", "News", 90})
	w.equal("enabled and in the river", []bool{got.Enabled, got.InRiver}, []bool{true, true})
	w.equal("the next poll", got.NextPollAt, polled.Add(90*time.Minute))
	w.equal("new posts of what it lists", w.read(src.ID, article("story", w.now)).New, 0)

	again, err := w.RestoreSource(bg, src.ID, w.now)
	w.must(err)
	w.equal("the version after a restore of what is there", again.Source.Seq, w.source(src.ID).Seq)
	_, err = w.RestoreSource(bg, src.ID+1, w.now)
	w.is(err, freshet.ErrNotFound)
}

// What was not polled when it was removed is not polled when it is back, but for one that was never polled.
func TestRestoreSchedules(t *testing.T) {
	for _, engine := range engines() {
		t.Run(engine, func(t *testing.T) {
			w := newWorld(t, engine)
			off, fresh := w.add("https://a.example/off"), w.add("https://b.example/fresh")
			_, err := w.EditSource(bg, off.ID, w.now, func(e *Watched) error { e.Source = e.Source.Disable("Paused by hand."); return nil })
			w.must(err)
			for _, id := range []freshet.ID{off.ID, fresh.ID} {
				w.must(w.RemoveSource(bg, id, w.now))
			}
			w.now = w.now.Add(time.Hour)
			for _, id := range []freshet.ID{off.ID, fresh.ID} {
				_, err := w.RestoreSource(bg, id, w.now)
				w.must(err)
			}
			w.equal("the next poll of what is switched off", w.source(off.ID).NextPollAt.IsZero(), true)
			w.equal("its reason", w.source(off.ID).DisabledReason, "Paused by hand.")
			w.equal("the next poll of what was never polled", w.source(fresh.ID).NextPollAt, w.now)
		})
	}
}

// LastRefresh tells of the newest refresh by hand, running or done.
func TestLastRefresh(t *testing.T) {
	for _, engine := range engines() {
		t.Run(engine, func(t *testing.T) {
			w := newWorld(t, engine)
			src := w.add("https://a.example/feed")
			_, found, err := w.LastRefresh(bg)
			w.must(err)
			w.equal("one before there was any", found, false)
			started, err := w.StartRefresh(bg, freshet.ByHand, nil, w.now)
			w.must(err)
			w.read(src.ID, article("story", w.now))
			_, err = w.StartRefresh(bg, freshet.ByIngest, nil, w.now)
			w.must(err)
			last, found, err := w.LastRefresh(bg)
			w.must(err)
			w.equal("the last", []any{found, last.ID, last.Running(), last.NewItems}, []any{true, started.ID, false, 1})
		})
	}
}
