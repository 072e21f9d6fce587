package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"freshet"
)

func TestSearch(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		testSource(t, s, 1, "")
		for i, text := range [][2]string{
			1: {"The River of News", "runs by itself, quietly"},
			2: {"Café Ångström", "naïve coöperation; ﬁne print"},
			3: {"新闻之河", "東京タワー、ガラス"},
			4: {"Don't re-use", "C++ and F# at 3.14 o'clock"},
			5: {"Новости", "ΑΘΗΝΑ and İstanbul"},
			6: {"", "news of the river " + strings.Repeat("x", 100)},
			7: {"<b>bold</b>", "a'b\"c\\d & e | f ! g <-> h : * ( )"},
		} {
			if i == 0 {
				continue
			}
			testEntry(t, s, testItem{id: freshet.ID(i), published: testTime, ingested: testTime, sources: []freshet.ID{1}, title: text[0], body: text[1]})
		}
		indexAll(t, s)
		for _, c := range []struct {
			text string
			want []freshet.ID
		}{
			{"river", []freshet.ID{6, 1}},
			{"RIVER news", []freshet.ID{6, 1}},
			{`"river of news"`, []freshet.ID{1}},
			{`"news of the river"`, []freshet.ID{6}},
			{"river -quietly", []freshet.ID{6}},
			{`river -"of news"`, []freshet.ID{6}},
			{"itself title", nil},
			{"qui*", []freshet.ID{1}},
			{`"by its"*`, []freshet.ID{1}},
			{"qui", nil},
			{"cafe angstrom", []freshet.ID{2}},
			{"CAFÉ fine", []freshet.ID{2}},
			{"cooperation", []freshet.ID{2}},
			{"新闻", []freshet.ID{3}},
			{"闻新", nil},
			{"タワー", []freshet.ID{3}},
			{"ガラス 东", nil},
			{"don't", []freshet.ID{4}},
			{"re-use", []freshet.ID{4}},
			{"reuse", nil},
			{"3.14", []freshet.ID{4}},
			{"c++", []freshet.ID{7, 4}},
			{"новости", []freshet.ID{5}},
			{"αθηνα", []freshet.ID{5}},
			{"istanbul", []freshet.ID{5}},
			{strings.Repeat("x", 100), []freshet.ID{6}},
			{strings.Repeat("x", maxWord-1) + "*", []freshet.ID{6}},
			{"bold", []freshet.ID{7}},
			{"a'b", []freshet.ID{7}},
			{"-river -don't -c", []freshet.ID{5, 3, 2}},
			{"  ", []freshet.ID{7, 6, 5, 4, 3, 2, 1}},
			{"&", nil},
		} {
			if got := wholeRiver(t, s, RiverQuery{Text: c.text, Limit: 3}); !slices.Equal(got, append([]freshet.ID{}, c.want...)) {
				t.Errorf("%q finds %v, want %v", c.text, got, c.want)
			}
		}
	})
}

func TestSearchTakesAnyText(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		testSource(t, s, 1, "")
		for i, text := range nasty {
			testEntry(t, s, testItem{id: freshet.ID(i + 1), published: testTime, ingested: testTime, sources: []freshet.ID{1}, title: text, body: text})
		}
		indexAll(t, s)
		for _, text := range nasty {
			for _, q := range []RiverQuery{{Text: text}, {Text: text, Sources: []freshet.ID{1}}, {Text: "a " + text}, {Text: text + "*"}, {Text: "-" + text}, {Text: `"` + text}} {
				if _, err := s.River(t.Context(), q); err != nil {
					t.Errorf("%.60q: %v", q.Text, err)
				}
			}
		}
	})
}

func TestEditedTextIsIndexedAgain(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		testSource(t, s, 1, "")
		for i := range freshet.ID(3) {
			testEntry(t, s, testItem{id: i + 1, published: testTime, ingested: testTime, sources: []freshet.ID{1}, title: "old", body: "words"})
		}
		indexAll(t, s)
		mustExec(t, s, "update bodies set body = 'other ones' where item_id = 2")
		mustExec(t, s, "insert into search_pending (item_id) values (2)")
		indexAll(t, s)
		for text, want := range map[string][]freshet.ID{"words": {3, 1}, "ones": {2}, "old": {3, 2, 1}} {
			if got := wholeRiver(t, s, RiverQuery{Text: text, Limit: 9}); !slices.Equal(got, want) {
				t.Errorf("%q finds %v, want %v", text, got, want)
			}
		}
	})
}

// Every batch that indexes something is told, for only now a search finds it.
func TestIndexTextInBatches(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		testSource(t, s, 1, "")
		for i := range freshet.ID(7) {
			testEntry(t, s, testItem{id: i + 1, published: testTime, ingested: testTime, sources: []freshet.ID{1}, title: "word"})
		}
		var counts []int
		for range 4 {
			n, err := s.IndexText(t.Context(), 3, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			counts = append(counts, n)
		}
		if !slices.Equal(counts, []int{3, 3, 1, 0}) {
			t.Errorf("batches of 3 out of 7: %v", counts)
		}
		events, err := s.Events(t.Context(), 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, e := range events {
			told = append(told, string(e.Kind)+" "+string(e.Data))
		}
		if want := []string{`texts {"count":3}`, `texts {"count":3}`, `texts {"count":1}`}; !slices.Equal(told, want) {
			t.Errorf("told was %q, want %q", told, want)
		}
		mustExec(t, s, "insert into search_pending (item_id) select id from items")
		mustExec(t, s, "delete from items where id = 3") // retention came between
		indexAll(t, s)
		if got := wholeRiver(t, s, RiverQuery{Text: "word", Limit: 9}); len(got) != 6 {
			t.Errorf("after an item went: %v", got)
		}
	})
}

// A text of any length costs a bounded amount, and is found by its beginning.
func TestLongTextIsCut(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		testSource(t, s, 1, "")
		var body strings.Builder
		for i := range 50_000 {
			fmt.Fprintf(&body, "w%d ", i)
		}
		testEntry(t, s, testItem{id: 1, published: testTime, ingested: testTime, sources: []freshet.ID{1}, title: "first", body: body.String()})
		indexAll(t, s)
		for text, want := range map[string]int{"first w0": 1, fmt.Sprint("w", maxWords-2): 1, fmt.Sprint("w", maxWords): 0} {
			if got := wholeRiver(t, s, RiverQuery{Text: text, Limit: 9}); len(got) != want {
				t.Errorf("%q finds %v, want %d", text, got, want)
			}
		}
	})
}

// More items than are tried one by one, of words common and rare, in the sources and outside.
func TestSearchAmongSources(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 12,000 items")
	}
	onEngines(t, func(t *testing.T, s *Store) {
		const size = 12_000
		fillRiver(t, s, size)
		indexAll(t, s)
		for _, c := range []struct{ text, like string }{
			{"half1", "% half1 %"}, {"hundred7", "% hundred7 %"}, {"half0 thousand3", "% half0 % thousand3 %"}, {"nowhere", "nowhere"},
		} {
			for _, n := range []freshet.ID{2, 500} {
				sources := []freshet.ID{}
				for id := range n {
					sources = append(sources, id+1)
				}
				want, err := all(t.Context(), s, id[freshet.ID], `select i.id from items i join bodies b on b.item_id = i.id where b.body like $1
					and exists (select 1 from posts p where p.item_id = i.id and p.source_id <= $2)
					order by i.published_at desc, i.ingested_at desc, i.id desc limit 300`, c.like, n)
				if err != nil {
					t.Fatal(err)
				}
				q := RiverQuery{Text: c.text, Sources: sources, Limit: 150}
				got := []freshet.ID{}
				for len(got) < 300 {
					page, err := s.River(t.Context(), q)
					if err != nil {
						t.Fatal(err)
					}
					for _, item := range page.Items {
						got = append(got, item.ID)
					}
					if q.After = page.Next; !page.More {
						break
					}
				}
				if !slices.Equal(got, append([]freshet.ID{}, want...)) {
					t.Errorf("%q of %d sources: %d items, want %d", c.text, n, len(got), len(want))
				}
			}
		}
	})
}

// Thousands of items of one moment, as feeds with dates but no times make them.
func TestSearchWithinOneMoment(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		testSource(t, s, 1, "")
		var want []freshet.ID
		for i := range freshet.ID(60) {
			// Indexed in an order that is not the river's.
			e := testItem{id: 1 + (i*37)%60, published: testTime, sources: []freshet.ID{1}, title: "same"}
			e.ingested = testTime.Add(time.Duration(e.id%7) * time.Minute)
			testEntry(t, s, e)
			indexAll(t, s)
		}
		for minute := 6; minute >= 0; minute-- {
			for id := freshet.ID(60); id > 0; id-- {
				if int(id%7) == minute {
					want = append(want, id)
				}
			}
		}
		if got := wholeRiver(t, s, RiverQuery{Text: "same", Limit: 7}); !slices.Equal(got, want) {
			t.Errorf("%v, want\n%v", got, want)
		}
	})
}

func BenchmarkIndexText(b *testing.B) {
	for _, engine := range engines() {
		b.Run(engine, func(b *testing.B) {
			s := openEngine(b, engine)
			fillRiver(b, s, 2000)
			if _, err := s.writer.Exec("update bodies set body = " + longText(s)); err != nil {
				b.Fatal(err)
			}
			places := "search_places"
			if s.dialect.arrays {
				places = "search"
			}
			cpu, indexed := processTime(), 0
			for b.Loop() {
				n, err := s.IndexText(b.Context(), 200, time.Now())
				if err != nil {
					b.Fatal(err)
				}
				if indexed += n; n == 0 {
					b.StopTimer()
					used := processTime()
					for _, text := range []string{"delete from search", "delete from " + places, "insert into search_pending (item_id) select id from items"} {
						if _, err := s.writer.Exec(text); err != nil {
							b.Fatal(err)
						}
					}
					cpu += processTime() - used
					b.StartTimer()
				}
			}
			b.ReportMetric(float64((processTime()-cpu).Microseconds())/float64(max(indexed, 1)), "cpu-ms/1000")
		})
	}
}

// longText is 1.2 kB of about 200 words, half of them different from item to item.
func longText(s *Store) string {
	var words []string
	for i := range 100 {
		words = append(words, fmt.Sprintf("'of %s' || (item_id / 4194304 * %d %% %d)", []string{"the", "and", "river", "news", "from"}[i%5], 7919+i, 50*(i+1)))
	}
	return strings.Join(words, " || ' ' || ")
}
