package store

import (
	"context"
	"testing"
	"time"

	"freshet"
)

// Items count on the day (UTC) on which they were published; hidden ones and older ones do not.
func TestDays(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		now := time.Date(2026, 2, 17, 10, 0, 0, 0, time.UTC)
		testSource(t, s, 1, "")
		testSource(t, s, 2, "")
		for id, at := range map[freshet.ID]time.Time{
			1: now, 2: now.Add(-10 * time.Hour), 3: now.Add(-10*time.Hour - time.Millisecond), 4: now.Add(-48 * time.Hour), 5: now.Add(-72 * time.Hour),
		} {
			testEntry(t, s, testItem{id: id, published: at, ingested: at, sources: []freshet.ID{1}})
		}
		testEntry(t, s, testItem{id: 6, published: now, ingested: now, sources: []freshet.ID{2}})
		testEntry(t, s, testItem{id: 7, published: now, ingested: now, sources: []freshet.ID{1}, hidden: true})
		river, err := s.RiverDays(t.Context(), 3, now)
		if err != nil {
			t.Fatal(err)
		}
		if want := [3]int{1, 1, 3}; [3]int(river) != want {
			t.Errorf("the river's days are %v, want %v", river, want)
		}
		one, err := s.SourceDays(t.Context(), 2, 3, now)
		if err != nil {
			t.Fatal(err)
		}
		if want := [3]int{0, 0, 1}; [3]int(one) != want {
			t.Errorf("the days of a source are %v, want %v", one, want)
		}
	})
}

// A count is kept while counting would cost too much, and its days move on with the time.
func TestCalendar(t *testing.T) {
	var c calendar
	counted := 0
	count := func() (perDay, error) {
		counted++
		return perDay{dayOf(testTime): 5}, nil
	}
	for range 2 {
		if _, err := c.read(count, 30, testTime); err != nil {
			t.Fatal(err)
		}
		c.until = time.Now().Add(time.Hour)
	}
	if counted != 1 {
		t.Errorf("counted %d times, want once", counted)
	}
	next := testTime.Add(day)
	kept, err := c.read(count, 30, next)
	if err != nil {
		t.Fatal(err)
	}
	if list := kept.list(30, next); list[28] != 5 || list[29] != 0 {
		t.Errorf("a day later the last days are %v, want 5 and then 0", list[28:])
	}
	if _, err := c.read(count, 60, testTime); err != nil || counted != 2 {
		t.Errorf("more days than were counted: %d counts, %v", counted, err)
	}
}

// BenchmarkDays counts the days of a river of 1,000,000 items.
func BenchmarkDays(b *testing.B) {
	for _, engine := range engines() {
		b.Run(engine, func(b *testing.B) {
			s := openEngine(b, engine)
			fillRiver(b, s, 1_000_000)
			settle(b, s)
			now := riverStart.Add(riverSpan)
			b.Run("counted", func(b *testing.B) {
				for b.Loop() {
					s.days = calendar{}
					if _, err := s.RiverDays(context.Background(), 30, now); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("kept", func(b *testing.B) {
				for b.Loop() {
					if _, err := s.RiverDays(context.Background(), 30, now); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("one source", func(b *testing.B) {
				for b.Loop() {
					if _, err := s.SourceDays(context.Background(), 7, 30, now); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
