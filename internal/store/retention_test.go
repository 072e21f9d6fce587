package store

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"freshet"
)

func count(t *testing.T, s *Store, from string, args ...any) int {
	t.Helper()
	n, _, err := one(t.Context(), s, number, "select count(*) from "+from, args...)
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

// retainAll runs batches until nothing is left and returns how many rows each removed.
func retainAll(t *testing.T, s *Store, now time.Time, limit int) []int {
	t.Helper()
	var batches []int
	for {
		n, err := s.Retain(t.Context(), now, limit)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return batches
		}
		if batches = append(batches, n); len(batches) > 1000 {
			t.Fatal("retention does not end")
		}
	}
}

// D8: items go by their published time with all that hangs on them; D7a: what their source lists stays known.
func TestRetainItems(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		testSource(t, s, 1, "")
		testSource(t, s, 2, "")
		now := testTime
		cutoff := now.Add(-s.Settings().Retention)
		for i := range freshet.ID(10) {
			e := testItem{id: i + 1, sources: []freshet.ID{1, 2}, title: "word", hidden: i%3 == 0, ingested: now}
			if e.published = cutoff.Add(-time.Duration(i) * time.Minute); i >= 6 {
				e.published = cutoff.Add(time.Duration(i-6) * time.Minute) // the first at the very limit
			}
			testEntry(t, s, e)
		}
		indexAll(t, s)
		mustExec(t, s, "insert into search_pending (item_id) select id from items")
		if got := retainAll(t, s, now, 4); !slices.Equal(got, []int{4, 1}) {
			t.Errorf("batches of 4: %v; items 2 to 6 are older than the limit", got)
		}
		for table, want := range map[string]int{"items": 5, "posts": 10, "item_keys": 5, "bodies": 5, "search_pending": 5, "seen": 2, "sources": 2} {
			if got := count(t, s, table); got != want {
				t.Errorf("%s: %d rows, want %d", table, got, want)
			}
		}
		table, query := "search where search match $1", `"word"`
		if s.dialect.arrays {
			table, query = "search where doc @@ $1::text::tsquery", "'word'"
		}
		if got := count(t, s, table, query); got != 5 {
			t.Errorf("%d rows match in the search index, want 5", got)
		}
		if got := wholeRiver(t, s, RiverQuery{Text: "word", Limit: 9}); !slices.Equal(got, []freshet.ID{9, 8}) {
			t.Errorf("search finds %v, want 9 and 8", got)
		}
	})
}

func TestRetainEvents(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		add := func(first, last int, at time.Time) {
			for seq := first; seq <= last; seq++ {
				mustExec(t, s, "insert into events (seq, at, kind, data) values ($1, $2, 'items', '{}')", seq, at)
			}
		}
		add(1, 5, testTime.Add(-25*time.Hour))
		add(6, 8, testTime.Add(-23*time.Hour))
		if got := retainAll(t, s, testTime, 3); !slices.Equal(got, []int{3, 2}) || count(t, s, "events where seq >= 6") != 3 {
			t.Errorf("batches of 3 out of 5: %v", got)
		}
		if got := retainAll(t, s, testTime.AddDate(0, 0, 9), 3); !slices.Equal(got, []int{2}) || count(t, s, "events where seq = 8") != 1 {
			t.Errorf("the newest event must stay: %v", got)
		}
		mustExec(t, s, "insert into events (seq, at, kind, data) values ($1, $2, 'items', '{}')", 8+eventsKept+1, testTime)
		if got := retainAll(t, s, testTime, 9); !slices.Equal(got, []int{1}) {
			t.Errorf("an event %d numbers back: %v", eventsKept+1, got)
		}
	})
}

func TestRetainRefreshes(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		old, young := testTime.Add(-25*time.Hour), testTime.Add(-23*time.Hour)
		for i, c := range []struct{ asked, finished time.Time }{
			{old, old}, {old, young}, {old, time.Time{}}, {young, young}, {young, time.Time{}},
		} {
			mustExec(t, s, "insert into refreshes (id, kind, whole, requested_at, finished_at, total) values ($1, 'refresh', 1, $2, $3, 1)",
				firstID(c.asked)+freshet.ID(i), c.asked, c.finished)
		}
		if got := retainAll(t, s, testTime, 9); !slices.Equal(got, []int{1}) {
			t.Errorf("%v, want the one that finished more than a day ago", got)
		}
	})
}

// D7: a removed source goes when its last item went, and then its host.
func TestRetainSourcesAndHosts(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		long, lately := testTime.Add(-25*time.Hour), testTime.Add(-time.Hour)
		removed := func(at time.Time) string { return fmt.Sprint("removed_at = ", at.UnixMilli()) }
		testSource(t, s, 1, "")
		testSource(t, s, 2, removed(long))
		testSource(t, s, 3, removed(long)) // with an item
		testSource(t, s, 4, removed(lately))
		testSource(t, s, 5, removed(long)) // on a host that cools down
		mustExec(t, s, "update hosts set not_before = $1 where id = 5", testTime.Add(time.Hour))
		testEntry(t, s, testItem{id: 1, published: testTime, ingested: testTime, sources: []freshet.ID{3}})
		if got := retainAll(t, s, testTime, 9); !slices.Equal(got, []int{2, 1}) {
			t.Errorf("%v, want two sources, then one host", got)
		}
		if count(t, s, "sources where id in (2, 5)") != 0 || count(t, s, "poll_state") != 3 || count(t, s, "seen") != 3 {
			t.Error("sources 2 and 5 must go with their state and window")
		}
		if count(t, s, "hosts") != 4 || count(t, s, "hosts where id = 2") != 0 {
			t.Error("host 2 must go, host 5 must stay until its pause is over")
		}
	})
}

// Space goes back in steps when much of the file is free.
func TestShrink(t *testing.T) {
	s := openEngine(t, "sqlite")
	fillRiver(t, s, 30_000)
	pages := func() int64 {
		n, _, err := one(t.Context(), s, number, "select page_count from pragma_page_count")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	full := pages()
	retainAll(t, s, riverStart.AddDate(1, 0, 0), 1000)
	if left := pages(); left > full/2 {
		t.Errorf("%d pages of %d after all items went", left, full)
	}
	if n := count(t, s, "items"); n != 0 {
		t.Errorf("%d items left", n)
	}
}
