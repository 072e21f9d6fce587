package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"freshet"
)

// BenchmarkScale reads a large river: FRESHET_SCALE items (100,000 unless set) of 1,000 busy sources
// within 30 days, on SQLite and, where FRESHET_TEST_POSTGRES names a server, on PostgreSQL:
//
//	FRESHET_SCALE=1000000 go test -run xxx -bench Scale -benchtime 300x -timeout 2h ./internal/store
//
// A pattern as Scale/./(latest|source|day|depth|stats) leaves the searches out, whose index takes most of the time.
//
// It reports the median, the 99th percentile and the processor time of this process (with SQLite that is
// all, and what to compare on a busy machine). The data is built anew in a
// temporary folder (TMPDIR), about 1.6 kB an item, and removed at the end.
func BenchmarkScale(b *testing.B) {
	size := 100_000
	if v := os.Getenv("FRESHET_SCALE"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			b.Fatal(err)
		}
		size = n
	}
	for _, engine := range engines() {
		b.Run(engine, func(b *testing.B) {
			s := openEngine(b, engine)
			start := time.Now()
			fillRiver(b, s, size)
			b.Logf("%s: %d items built in %v", engine, size, time.Since(start).Round(time.Second))
			benchmarkReads(b, s)
			b.Run("search", func(b *testing.B) { benchmarkSearch(b, s, size) })
			b.Run("latest 200 beside a writer", func(b *testing.B) { besideWriter(b, s) })
			benchmarkRetain(b, s)
		})
	}
}

func benchmarkReads(b *testing.B, s *Store) {
	pages := rand.New(rand.NewPCG(1, 1))
	b.Run("latest 200", func(b *testing.B) { timeRiver(b, s, func() RiverQuery { return RiverQuery{} }) })
	b.Run("a page at any depth", func(b *testing.B) {
		timeRiver(b, s, func() RiverQuery {
			t := riverStart.Add(time.Duration(pages.Int64N(int64(riverSpan))))
			return RiverQuery{After: freshet.Place{PublishedAt: t, IngestedAt: t, ID: 1}}
		})
	})
	b.Run("one day", func(b *testing.B) {
		timeRiver(b, s, func() RiverQuery {
			t := riverStart.Add(time.Duration(pages.Int64N(int64(riverSpan))))
			return RiverQuery{From: t.Add(-24 * time.Hour), To: t}
		})
	})
	for _, n := range []int{1, 10, 100, riverSources} {
		b.Run(fmt.Sprintf("%d sources", n), func(b *testing.B) {
			timeRiver(b, s, func() RiverQuery { return RiverQuery{Sources: someSources(pages, n)} })
		})
		b.Run(fmt.Sprintf("%d sources, at any depth", n), func(b *testing.B) {
			timeRiver(b, s, func() RiverQuery {
				t := riverStart.Add(time.Duration(pages.Int64N(int64(riverSpan))))
				return RiverQuery{Sources: someSources(pages, n), After: freshet.Place{PublishedAt: t, IngestedAt: t, ID: 1}}
			})
		})
	}
	b.Run("stats", func(b *testing.B) {
		timeEach(b, func() error { _, err := s.Stats(context.Background(), riverStart); return err })
	})
}

func benchmarkSearch(b *testing.B, s *Store, size int) {
	b.Run("index", func(b *testing.B) {
		const batch = 200
		left := size
		cpu := processTime()
		indexed := 0
		timeEach(b, func() error {
			if left <= 0 {
				return nil
			}
			n, err := s.IndexText(context.Background(), batch, time.Now())
			left, indexed = left-n, indexed+n
			return err
		})
		b.ReportMetric(float64((processTime()-cpu).Microseconds())/float64(max(indexed, 1)), "cpu-ms/1000")
	})
	indexAll(b, s)
	settle(b, s)
	r := rand.New(rand.NewPCG(2, 2))
	for _, c := range []struct {
		name    string
		text    func() string
		sources int
	}{
		{"in all", func() string { return "every" }, 0},
		{"in half", func() string { return fmt.Sprint("half", r.IntN(2)) }, 0},
		{"in 1 of 10", func() string { return fmt.Sprint("ten", r.IntN(10)) }, 0},
		{"in 1 of 100", func() string { return fmt.Sprint("hundred", r.IntN(100)) }, 0},
		{"in 1 of 1,000", func() string { return fmt.Sprint("thousand", r.IntN(1000)) }, 0},
		{"in 1 of 10,000", func() string { return fmt.Sprint("myriad", r.IntN(10000)) }, 0},
		{"in none", func() string { return "nowhere" }, 0},
		{"two that never meet", func() string { return "half0 half1" }, 0},
		{"phrase in all", func() string { return `"every item"` }, 0},
		{"all but one of 10", func() string { return fmt.Sprint("-ten", r.IntN(10)) }, 0},
		{"prefix of 1 of 10", func() string { return fmt.Sprintf("hundred%d*", 1+r.IntN(9)) }, 0},
		{"prefix of 1,000 words", func() string { return "myriad1*" }, 0},
		{"in half, 1 source", func() string { return "half1" }, 1},
		{"in half, 10 sources", func() string { return "half1" }, 10},
		{"in 1 of 100, 10 sources", func() string { return "hundred7" }, 10},
		{"in 1 of 1,000, 10 sources", func() string { return "thousand7" }, 10},
		{"in half, 100 sources", func() string { return "half1" }, 100},
		{"in 1 of 1,000, 100 sources", func() string { return "thousand7" }, 100},
		{"in none, 1,000 sources", func() string { return "nowhere" }, riverSources},
	} {
		b.Run(c.name, func(b *testing.B) {
			timeRiver(b, s, func() RiverQuery {
				return RiverQuery{Text: c.text(), Sources: someSources(r, c.sources)}
			})
		})
	}
}

// besideWriter reads while polls are recorded as fast as they can be, five with 30 new items each in a
// transaction, and their texts are indexed.
func besideWriter(b *testing.B, s *Store) {
	ctx, stop := context.WithCancel(context.Background())
	wrote := make(chan int)
	go func() {
		seqs, polls := map[freshet.ID]int64{}, 0
		for ctx.Err() == nil {
			now := riverStart.Add(riverSpan + time.Duration(polls)*time.Millisecond)
			finished, err := s.FinishPolls(ctx, fivePolls(polls, seqs, now), now)
			if err == nil {
				_, err = s.IndexText(ctx, 200, time.Now())
			}
			if err != nil || !finished[0].Recorded || finished[0].New != 30 {
				b.Errorf("%+v, %v", finished, err)
				break
			}
			for _, f := range finished {
				seqs[f.Source.ID] = f.Source.Seq
			}
			polls += len(finished)
		}
		wrote <- polls
	}()
	start := time.Now()
	timeRiver(b, s, func() RiverQuery { return RiverQuery{} })
	took := time.Since(start)
	stop()
	b.ReportMetric(float64(<-wrote)/took.Seconds(), "polls/s")
}

func fivePolls(n int, seqs map[freshet.ID]int64, now time.Time) []Poll {
	polls := make([]Poll, 5)
	for i := range polls {
		source := freshet.ID((n+i)%riverSources + 1)
		posts := make([]freshet.Post, 30)
		for p := range posts {
			url := fmt.Sprintf("https://example.com/new/%d/%d", n+i, p)
			posts[p] = freshet.Post{GUID: url, URL: url, Title: "A title of some words", Author: "An Author", Published: now,
				Text: url + strings.Repeat(" every word of the body", 50)}
		}
		freshet.Identify(posts, source, "example.com")
		polls[i] = Poll{Source: source, Seq: seqs[source], Outcome: &freshet.Outcome{At: now, Status: 200, Posts: posts}}
	}
	return polls
}

func benchmarkRetain(b *testing.B, s *Store) {
	b.Run("retain 200", func(b *testing.B) {
		now := riverStart.Add(s.settings.Retention + riverSpan/2)
		cpu := processTime()
		removed := 0
		timeEach(b, func() error {
			n, err := s.Retain(context.Background(), now, 200)
			removed += n
			return err
		})
		b.ReportMetric(float64((processTime()-cpu).Microseconds())/float64(max(removed, 1)), "cpu-ms/1000")
	})
}

func timeRiver(b *testing.B, s *Store, query func() RiverQuery) {
	items := 0
	timeEach(b, func() error {
		page, err := s.River(context.Background(), query())
		items = len(page.Items)
		return err
	})
	b.ReportMetric(float64(items), "items")
}

// timeEach reports how long single calls take.
func timeEach(b *testing.B, call func() error) {
	b.Helper()
	if err := call(); err != nil {
		b.Fatal(err)
	}
	var took []time.Duration
	cpu := processTime()
	for b.Loop() {
		start := time.Now()
		if err := call(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	b.ReportMetric((processTime()-cpu).Seconds()*1e3/float64(len(took)), "cpu-ms")
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2].Seconds()*1e3, "p50-ms")
	b.ReportMetric(took[len(took)*99/100].Seconds()*1e3, "p99-ms")
	runtime.GC()
}

const (
	riverSources = 1000
	riverSpan    = 30 * 24 * time.Hour
)

var riverStart = time.UnixMilli(1_700_000_000_000).UTC()

func someSources(r *rand.Rand, n int) []freshet.ID {
	ids := make([]freshet.ID, n)
	for i, source := range r.Perm(riverSources)[:n] {
		ids[i] = freshet.ID(source + 1)
	}
	return ids
}

// fillRiver writes n items spread evenly over riverSpan, each of one of riverSources sources and one in ten
// of two, with keys, texts and pending search rows. A text's words tell how common they are.
func fillRiver(t testing.TB, s *Store, n int) {
	t.Helper()
	run := func(text string) {
		t.Helper()
		if _, err := s.writer.Exec(text); err != nil { // not write, which has little patience
			t.Fatal(err)
		}
	}
	series := "(with recursive s (n) as (select %d union all select n + 1 from s where n < %d - 1) select n from s) numbers"
	text, key := "'"+strings.Repeat("snippet ", 20)+"'", "randomblob(16)"
	if s.dialect.arrays {
		series = "generate_series(%d::bigint, %d::bigint - 1) as numbers (n)"
		key = "decode(md5(id::text), 'hex')"
	} else {
		for _, pragma := range []string{"synchronous = off", "cache_size = -400000"} {
			if _, err := s.writer.Exec("pragma " + pragma); err != nil {
				t.Fatal(err)
			}
		}
		defer func() {
			for _, pragma := range writing {
				s.writer.Exec("pragma " + strings.NewReplacer("(", " = ", ")", "").Replace(pragma))
			}
		}()
	}
	run("insert into hosts (id, name) values (1, 'example.com')")
	run(`insert into sources (id, host_id, type, url, normalized_url, feed_title, created_at, updated_at)
		select n, 1, 'rss', 'https://example.com/' || n, 'example.com/' || n, 'Source ' || n, 0, 0 from ` + fmt.Sprintf(series, 1, riverSources+1))
	run(`insert into poll_state (source_id, host_id, shard, next_poll_at) select id, 1, id % 256, id from sources`)
	const chunk = 250_000
	for from := 0; from < n; from += chunk {
		run(fmt.Sprintf(`insert into items (id, source_id, in_river, guid, url, canonical_url, title, snippet, author, image, published_at, ingested_at, updated_at)
			select ((published + late) * 4194304) + n %% 4194304, (n * 48271) %% 2147483647 %% %d + 1, 1,
				'https://example.com/items/' || n, 'https://example.com/items/' || n, 'https://example.com/items/' || n,
				'Title of item ' || n, %s, 'An Author', '', published, published + late, published + late
			from (select n, %d + n * %d / %d as published, (n * 7919) %% 3600000 as late from %s) made`,
			riverSources, text, riverStart.UnixMilli(), riverSpan.Milliseconds(), n, fmt.Sprintf(series, from, min(from+chunk, n))))
	}
	run(fmt.Sprintf(`insert into posts (source_id, published_at, ingested_at, item_id, guid, url, content_hash, first_seen_at)
		select source_id, published_at, ingested_at, id, guid, url, %s, ingested_at from items order by source_id, published_at desc`, key))
	run(fmt.Sprintf(`insert into posts (source_id, published_at, ingested_at, item_id, guid, url, content_hash, first_seen_at)
		select (source_id + 6) %% %d + 1, published_at, ingested_at, id, guid, url, %s, ingested_at + 1 from items where id %% 10 = 0 order by 1, 2 desc`, riverSources, key))
	run(fmt.Sprintf(`insert into item_keys (key, item_id, has_guid) select %s as key, id, 1 from items order by 1`, key))
	run(`insert into bodies (item_id, body) select id, 'every item has words, half' || (h % 2) || ' ten' || (h / 2 % 10) || ' hundred' || (h / 20 % 100)
		|| ' thousand' || (h / 7 % 1000) || ' myriad' || (h / 3 % 10000) || ' ` + strings.Repeat("and more of them ", 5) + `'
		from (select id, id % 4194304 * 48271 % 2147483647 as h from items) hashed`)
	run("insert into search_pending (item_id) select id from items")
	settle(t, s)
}

// settle lets the database look at its tables, as it does by itself in time.
func settle(t testing.TB, s *Store) {
	t.Helper()
	text := "pragma wal_checkpoint(truncate)"
	if s.dialect.arrays {
		text = "vacuum analyze hosts, sources, poll_state, items, posts, item_keys, bodies, search, search_pending"
	}
	if _, err := s.writer.Exec(text); err != nil {
		t.Fatal(err)
	}
}
