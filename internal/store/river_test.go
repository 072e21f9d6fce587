package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"freshet"
)

// testItem is an item as a test wants it stored.
type testItem struct {
	id                  freshet.ID
	published, ingested time.Time
	sources             []freshet.ID // the first one gave it
	hidden              bool
	title, body         string
}

func (e testItem) place() freshet.Place {
	return freshet.Place{PublishedAt: e.published, IngestedAt: e.ingested, ID: e.id}
}

// testSource stores a source with the id's number in its name.
func testSource(t *testing.T, s *Store, id freshet.ID, set string) {
	t.Helper()
	mustExec(t, s, "insert into hosts (id, name) values ($1, $2)", id, fmt.Sprintf("host%d.example", id))
	mustExec(t, s, `insert into sources (id, host_id, type, url, normalized_url, feed_title, created_at, updated_at)
		values ($1, $1, 'rss', $2, $2, $3, 0, 0)`, id, fmt.Sprintf("https://host%d.example/feed", id), fmt.Sprint("Feed ", id))
	mustExec(t, s, "insert into poll_state (source_id, host_id, shard) values ($1, $1, 1)", id)
	mustExec(t, s, "insert into seen (source_id, win) values ($1, $2)", id, []byte{1, 2, 3})
	if set != "" {
		mustExec(t, s, "update sources set "+set+" where id = $1", id)
	}
}

func testEntry(t *testing.T, s *Store, e testItem) {
	t.Helper()
	url := fmt.Sprint("https://example.com/", e.id)
	if err := s.write(t.Context(), func(ctx context.Context, x *tx) error {
		_, err := x.exec(ctx, `insert into items (id, source_id, in_river, guid, url, canonical_url, title, snippet, author, image, published_at, ingested_at, updated_at)
			values ($1, $2, $3, $4, $4, $4, $5, 'a snippet', 'an author', '', $6, $7, $7)`, e.id, e.sources[0], !e.hidden, url, e.title, e.published, e.ingested)
		for i, source := range e.sources {
			_, e := x.exec(ctx, `insert into posts (source_id, published_at, ingested_at, item_id, guid, url, content_hash, first_seen_at)
				values ($1, $2, $3, $4, $5, $6, $7, $8)`, source, e.published, e.ingested, e.id, fmt.Sprint("guid", i), url, []byte{1}, e.ingested.Add(time.Duration(i)*time.Minute))
			err = errors.Join(err, e)
		}
		_, e1 := x.exec(ctx, "insert into bodies (item_id, body, enclosures) values ($1, $2, $3)", e.id, e.body, `[{"url":"https://example.com/a.mp3","length":7}]`)
		_, e2 := x.exec(ctx, "insert into item_keys (key, item_id, has_guid) values ($1, $2, 1)", fmt.Appendf(nil, "%016d", e.id), e.id)
		_, e3 := x.exec(ctx, "insert into search_pending (item_id) values ($1)", e.id)
		return errors.Join(err, e1, e2, e3)
	}); err != nil {
		t.Fatal(err)
	}
}

func mustExec(t *testing.T, s *Store, text string, args ...any) int {
	t.Helper()
	n := 0
	if err := s.write(t.Context(), func(ctx context.Context, x *tx) (err error) {
		n, err = x.exec(ctx, text, args...)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

func indexAll(t testing.TB, s *Store) {
	t.Helper()
	for {
		n, err := s.IndexText(t.Context(), maxBatch, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
}

// wholeRiver reads every page.
func wholeRiver(t *testing.T, s *Store, q RiverQuery) []freshet.ID {
	t.Helper()
	ids := []freshet.ID{}
	for {
		page, err := s.River(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			ids = append(ids, item.ID)
		}
		if page.More != (page.Next != freshet.Place{}) || page.More && len(page.Items) != q.Limit {
			t.Fatalf("%d items, more %v, next %v", len(page.Items), page.More, page.Next)
		}
		if !page.More {
			return ids
		}
		if len(ids) > 10_000 {
			t.Fatalf("%+v: the pages do not end", q)
		}
		q.After = page.Next
	}
}

var testTime = time.Date(2026, 2, 16, 12, 0, 0, 0, time.UTC)

func TestRiverOrderAndPages(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		testSource(t, s, 1, "")
		at := func(m int) time.Time { return testTime.Add(time.Duration(m) * time.Minute) }
		for _, e := range []testItem{ // D4: published, ingested, id, all descending
			{id: 1, published: at(3), ingested: at(9)},
			{id: 2, published: at(3), ingested: at(8)},
			{id: 4, published: at(2), ingested: at(9)},
			{id: 3, published: at(2), ingested: at(9)},
			{id: 9, published: at(1), ingested: at(9)},
			{id: 8, published: at(0), ingested: at(0)},
		} {
			e.sources = []freshet.ID{1}
			testEntry(t, s, e)
		}
		want := []freshet.ID{1, 2, 4, 3, 9, 8}
		for limit := 1; limit <= 7; limit++ {
			if got := wholeRiver(t, s, RiverQuery{Limit: limit}); !slices.Equal(got, want) {
				t.Errorf("limit %d: %v, want %v", limit, got, want)
			}
		}
		page, err := s.River(t.Context(), RiverQuery{Limit: 6})
		if err != nil || page.More {
			t.Errorf("a page that ends with the river: more %v, %v", page.More, err)
		}
	})
}

func TestRiverLimits(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		fillRiver(t, s, 1100)
		for limit, want := range map[int]int{-1: 200, 0: 200, 1: 1, 1000: 1000, 5000: 1000} {
			page, err := s.River(t.Context(), RiverQuery{Limit: limit})
			if err != nil || len(page.Items) != want || !page.More {
				t.Errorf("limit %d: %d items, more %v, %v; want %d and more", limit, len(page.Items), page.More, err, want)
			}
		}
	})
}

func TestEmptyRiver(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		for _, q := range []RiverQuery{{}, {Sources: []freshet.ID{5}}, {Text: "x"}, {Text: "x", Sources: []freshet.ID{5}}, {Text: "?"}} {
			if page, err := s.River(t.Context(), q); err != nil || len(page.Items) > 0 || page.More {
				t.Errorf("%+v: %+v, %v", q, page, err)
			}
		}
	})
}

// Hidden and removed sources: W2, D7.
func TestRiverSources(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		testSource(t, s, 1, "title = 'Mine'")
		testSource(t, s, 2, "removed_at = 5")
		testSource(t, s, 3, "in_river = 0")
		for _, e := range []testItem{
			{id: 40, sources: []freshet.ID{1}},
			{id: 30, sources: []freshet.ID{2, 1}},
			{id: 20, sources: []freshet.ID{3}, hidden: true},
			{id: 10, sources: []freshet.ID{3, 2}},
		} {
			e.published, e.ingested = testTime, testTime
			testEntry(t, s, e)
		}
		for _, c := range []struct {
			name    string
			sources []freshet.ID
			want    string // item: sources
		}{
			{"the river", nil, "40: 1; 30: 2 1; 10: 2"},
			{"one source", []freshet.ID{1}, "40: 1; 30: 2 1"},
			{"a removed one keeps its items", []freshet.ID{2}, "30: 2 1; 10: 2"},
			{"an item of two chosen ones comes once", []freshet.ID{1, 2}, "40: 1; 30: 2 1; 10: 2"},
			{"a hidden one that was asked for", []freshet.ID{3}, "20: 3; 10: 3 2"},
			{"unknown", []freshet.ID{99}, ""},
		} {
			for _, text := range []string{"", "snippet-free -title"} {
				q := RiverQuery{Sources: c.sources}
				if text != "" {
					indexAll(t, s)
					q.Text = "-absent"
				}
				page, err := s.River(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, item := range page.Items {
					line := item.ID.String() + ":"
					for _, source := range item.Sources {
						line += " " + source.SourceID.String()
					}
					got = append(got, line)
				}
				if s := strings.Join(got, "; "); s != c.want {
					t.Errorf("%s, text %q: %s, want %s", c.name, q.Text, s, c.want)
				}
			}
		}
		page, err := s.River(t.Context(), RiverQuery{Sources: []freshet.ID{1}, Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		item := page.Items[1]
		want := freshet.Item{
			ID: 30, Source: 2, GUID: "https://example.com/30", URL: "https://example.com/30", CanonicalURL: "https://example.com/30",
			Snippet: "a snippet", Author: "an author", PublishedAt: testTime, IngestedAt: testTime, UpdatedAt: testTime,
			Sources: []freshet.ItemSource{
				{SourceID: 2, Title: "Feed 2", SourceURL: "https://host2.example/feed", GUID: "guid0", URL: "https://example.com/30", FirstSeen: testTime},
				{SourceID: 1, Title: "Mine", SourceURL: "https://host1.example/feed", GUID: "guid1", URL: "https://example.com/30", FirstSeen: testTime.Add(time.Minute)},
			},
		}
		if !reflect.DeepEqual(item, want) {
			t.Errorf("item\n%+v, want\n%+v", item, want)
		}
	})
}

func TestItem(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		testSource(t, s, 3, "in_river = 0")
		testEntry(t, s, testItem{id: 20, published: testTime, ingested: testTime, sources: []freshet.ID{3}, hidden: true, body: "all of it"})
		detail, err := s.Item(t.Context(), 20)
		if err != nil {
			t.Fatal(err)
		}
		if detail.Body != "all of it" || len(detail.Sources) != 1 || detail.Sources[0].Title != "Feed 3" ||
			!slices.Equal(detail.Enclosures, []freshet.Enclosure{{URL: "https://example.com/a.mp3", Length: 7}}) {
			t.Errorf("%+v", detail)
		}
		mustExec(t, s, "delete from bodies")
		if detail, err = s.Item(t.Context(), 20); err != nil || detail.Body != "" {
			t.Errorf("without a body: %+v, %v", detail, err)
		}
		if _, err := s.Item(t.Context(), 21); !errors.Is(err, freshet.ErrNotFound) {
			t.Errorf("unknown item: %v", err)
		}
	})
}

// D6: both ends of a date range are within it.
func TestRiverDates(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		testSource(t, s, 1, "")
		for i := range 5 {
			at := testTime.Add(time.Duration(i) * time.Hour)
			testEntry(t, s, testItem{id: freshet.ID(i + 1), published: at, ingested: at, sources: []freshet.ID{1}})
		}
		indexAll(t, s)
		hour := func(h int) time.Time { return testTime.Add(time.Duration(h) * time.Hour) }
		for _, c := range []struct {
			name     string
			from, to time.Time
			want     []freshet.ID
		}{
			{"open", time.Time{}, time.Time{}, []freshet.ID{5, 4, 3, 2, 1}},
			{"both ends", hour(1), hour(3), []freshet.ID{4, 3, 2}},
			{"one moment", hour(2), hour(2), []freshet.ID{3}},
			{"from", hour(3), time.Time{}, []freshet.ID{5, 4}},
			{"to", time.Time{}, hour(1), []freshet.ID{2, 1}},
			{"a millisecond before", time.Time{}, hour(1).Add(-time.Millisecond), []freshet.ID{1}},
			{"long ago", time.Time{}, testTime.AddDate(-50, 0, 0), []freshet.ID{}},
			{"end before start", hour(3), hour(1), []freshet.ID{}},
			{"far future", hour(1), testTime.AddDate(500, 0, 0), []freshet.ID{5, 4, 3, 2}},
		} {
			for _, q := range []RiverQuery{{}, {Sources: []freshet.ID{1}}, {Text: "-x"}, {Text: "-x", Sources: []freshet.ID{1}}} {
				q.From, q.To, q.Limit = c.from, c.to, 2
				if got := wholeRiver(t, s, q); !slices.Equal(got, c.want) {
					t.Errorf("%s, %+v: %v, want %v", c.name, q, got, c.want)
				}
			}
		}
	})
}

// randomEntry makes an item that shares its times with many others, so that only the exact order helps.
func randomEntry(r *rand.Rand, id freshet.ID, newest time.Duration) testItem {
	e := testItem{id: id, hidden: r.IntN(10) == 0}
	e.published = testTime.Add(-time.Duration(r.Int64N(int64(newest)))).Truncate(time.Duration(1+r.IntN(3)) * 17 * time.Minute).Add(time.Duration(r.IntN(3)) * 400 * time.Millisecond)
	e.ingested = e.published.Add(time.Duration(r.IntN(3)) * time.Hour)
	for _, source := range r.Perm(6)[:1+r.IntN(3)] {
		e.sources = append(e.sources, freshet.ID(source+1))
	}
	if e.hidden {
		e.sources = []freshet.ID{7}
	}
	for range r.IntN(6) {
		e.body += []string{"alpha", "beta", "gamma", "delta", "alphabet"}[r.IntN(5)] + " "
	}
	return e
}

// holds is what a search means, in the plainest words: one of the texts that the tests ask for.
var questions = map[string]func(words string) bool{
	"":               func(string) bool { return true },
	"alpha":          func(w string) bool { return strings.Contains(w, " alpha ") },
	"ALPHA beta":     func(w string) bool { return strings.Contains(w, " alpha ") && strings.Contains(w, " beta ") },
	`"alpha beta"`:   func(w string) bool { return strings.Contains(w, " alpha beta ") },
	"alpha -beta":    func(w string) bool { return strings.Contains(w, " alpha ") && !strings.Contains(w, " beta ") },
	"-gamma":         func(w string) bool { return !strings.Contains(w, " gamma ") },
	"alph*":          func(w string) bool { return strings.Contains(w, " alpha") },
	"gamma -\"a b\"": func(w string) bool { return strings.Contains(w, " gamma ") },
	"omega":          func(string) bool { return false },
	"!?":             func(string) bool { return false },
}

// Every combination of filters gives what a walk over all items gives.
func TestRiverAgainstModel(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		r := rand.New(rand.NewPCG(3, 4))
		for id := range freshet.ID(7) {
			testSource(t, s, id+1, map[freshet.ID]string{6: "in_river = 0"}[id])
		}
		var entries []testItem
		for i := range freshet.ID(200) {
			e := randomEntry(r, i+1, 20*24*time.Hour)
			testEntry(t, s, e)
			entries = append(entries, e)
		}
		indexAll(t, s)
		slices.SortFunc(entries, func(a, b testItem) int { return -comparePlaces(a.place(), b.place()) })
		texts := []string{}
		for text := range questions {
			texts = append(texts, text)
		}
		slices.Sort(texts)
		for range 120 {
			q := RiverQuery{Limit: 5 + r.IntN(60), Text: texts[r.IntN(len(texts))]}
			for range r.IntN(4) {
				q.Sources = append(q.Sources, freshet.ID(1+r.IntN(8)))
			}
			if r.IntN(3) == 0 {
				q.From = testTime.Add(-time.Duration(r.Int64N(int64(20 * 24 * time.Hour))))
			}
			if r.IntN(3) == 0 {
				q.To = testTime.Add(-time.Duration(r.Int64N(int64(20 * 24 * time.Hour))))
			}
			if r.IntN(3) == 0 {
				q.After = entries[r.IntN(len(entries))].place()
			}
			want := []freshet.ID{}
			for _, e := range entries {
				if modelHas(q, e) {
					want = append(want, e.id)
				}
			}
			if got := wholeRiver(t, s, q); !slices.Equal(got, want) {
				t.Fatalf("%+v:\n%v, want\n%v", q, got, want)
			}
		}
	})
}

// The pages of many sources, most of them silent for long, are those of a walk over all items too: more sources than
// the stretches that are gone through have items, and fewer.
func TestRiverOfManySources(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		r := rand.New(rand.NewPCG(5, 6))
		const sources = 60
		for id := range freshet.ID(sources) {
			testSource(t, s, id+1, map[freshet.ID]string{0: "in_river = 0"}[id])
		}
		var entries []testItem
		for i := range freshet.ID(150) {
			e := randomEntry(r, i+1, 20*24*time.Hour)
			if e.sources = []freshet.ID{1}; !e.hidden {
				busy := testTime.Sub(e.published) < 10*24*time.Hour
				for range 1 + r.IntN(2) {
					if id := freshet.ID(2 + r.IntN(map[bool]int{true: 9, false: sources - 1}[busy])); !slices.Contains(e.sources[1:], id) {
						e.sources = append(e.sources, id)
					}
				}
				e.sources = e.sources[1:]
			}
			testEntry(t, s, e)
			entries = append(entries, e)
		}
		slices.SortFunc(entries, func(a, b testItem) int { return -comparePlaces(a.place(), b.place()) })
		for range 30 {
			q := RiverQuery{Limit: 1 + r.IntN(20)}
			for _, i := range r.Perm(sources)[:10+r.IntN(sources-10)] {
				q.Sources = append(q.Sources, freshet.ID(i+1))
			}
			if r.IntN(3) == 0 {
				q.From = testTime.Add(-time.Duration(r.Int64N(int64(20 * 24 * time.Hour))))
			}
			want := []freshet.ID{}
			for _, e := range entries {
				if modelHas(q, e) {
					want = append(want, e.id)
				}
			}
			if got := wholeRiver(t, s, q); !slices.Equal(got, want) {
				t.Fatalf("%+v:\n%v, want\n%v", q, got, want)
			}
		}
	})
}

func modelHas(q RiverQuery, e testItem) bool {
	if len(q.Sources) == 0 && e.hidden ||
		len(q.Sources) > 0 && !slices.ContainsFunc(e.sources, func(id freshet.ID) bool { return slices.Contains(q.Sources, id) }) {
		return false
	}
	return (q.From.IsZero() || !e.published.Before(q.From.Truncate(time.Millisecond))) && (q.To.IsZero() || !e.published.After(q.To)) &&
		(q.After == freshet.Place{} || comparePlaces(e.place(), q.After) < 0) && questions[q.Text](" "+e.body)
}

func comparePlaces(a, b freshet.Place) int {
	if c := a.PublishedAt.Compare(b.PublishedAt); c != 0 {
		return c
	}
	if c := a.IngestedAt.Compare(b.IngestedAt); c != 0 {
		return c
	}
	return int(a.ID - b.ID)
}

// D5: nothing is skipped or repeated while items arrive, wherever they land.
func TestRiverPagesWhileItemsArrive(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		r := rand.New(rand.NewPCG(5, 6))
		for id := range freshet.ID(7) {
			testSource(t, s, id+1, "")
		}
		last := freshet.ID(0)
		var entries []testItem
		arrive := func(n int) {
			for range n {
				last++
				e := randomEntry(r, last, 48*time.Hour)
				testEntry(t, s, e)
				entries = append(entries, e)
			}
			indexAll(t, s)
		}
		arrive(60)
		for _, q := range []RiverQuery{{}, {Sources: []freshet.ID{2, 3}}, {Text: "alpha"}, {Text: "alpha", Sources: []freshet.ID{2, 3, 4}}} {
			q.Limit = 9
			before := slices.Clone(entries)
			var seen []freshet.Item
			for {
				page, err := s.River(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if seen = append(seen, page.Items...); !page.More || len(seen) > 10_000 {
					break
				}
				q.After = page.Next
				arrive(r.IntN(6))
			}
			count := map[freshet.ID]int{}
			for i := range seen {
				if count[seen[i].ID]++; count[seen[i].ID] > 1 {
					t.Errorf("%+v: item %d comes twice", q, seen[i].ID)
				}
				if i > 0 && comparePlaces(seen[i-1].Place(), seen[i].Place()) <= 0 {
					t.Errorf("%+v: item %d is out of order", q, seen[i].ID)
				}
			}
			q.After = freshet.Place{}
			for _, e := range before {
				if want := modelHas(q, e); want != (count[e.id] == 1) {
					t.Errorf("%+v: item %d that was there before came %d times, want %v", q, e.id, count[e.id], want)
				}
			}
		}
	})
}

func TestStretchWidens(t *testing.T) {
	const hour = int64(time.Hour / time.Millisecond)
	top := place{1 << 62, 1 << 62, 1 << 62}
	for _, c := range []struct {
		name   string
		where  stretch
		newest int64
		since  []int64
	}{
		{"open at both ends", stretch{top, -1 << 62}, 1000 * hour, []int64{999 * hour, 996 * hour, 984 * hour, -1 << 62}},
		{"from a cursor", stretch{place{500 * hour, 7, 7}, -1 << 62}, 1000 * hour, []int64{499 * hour, 496 * hour, 484 * hour, -1 << 62}},
		{"ends at its start", stretch{top, 995 * hour}, 1000 * hour, []int64{999 * hour, 996 * hour, 995 * hour}},
		{"shorter than an hour", stretch{top, 1000*hour - 5}, 1000 * hour, []int64{1000*hour - 5}},
		{"ends before it starts", stretch{place{5, 5, 5}, 10}, 1000 * hour, []int64{10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var since []int64
			for part := range c.where.widening(c.newest, time.Hour, 16*time.Hour) {
				since = append(since, part.since)
				if part.published > c.newest {
					t.Errorf("a part goes up to %d, newest is %d", part.published, c.newest)
				}
			}
			if !slices.Equal(since, c.since) {
				t.Errorf("since %v, want %v", since, c.since)
			}
		})
	}
}
