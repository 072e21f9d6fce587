package store

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"freshet"
)

// BenchmarkFinishPolls records polls in batches of 64. cpu-s/1000 is this process's processor time for a
// thousand polls; what PostgreSQL takes on its side is not in it.
func BenchmarkFinishPolls(b *testing.B) {
	for _, engine := range engines() {
		for _, bench := range []struct {
			name     string
			newPosts int
			listed   int
		}{{"30 new", 30, 30}, {"2 new of 30", 2, 30}, {"unchanged", 0, 0}} {
			b.Run(engine+"/"+bench.name, func(b *testing.B) { benchmarkPolls(b, engine, bench.newPosts, bench.listed, false) })
		}
		b.Run(engine+"/unchanged with its claim", func(b *testing.B) { benchmarkPolls(b, engine, 0, 0, true) })
	}
}

const benchBatch = 64

func benchmarkPolls(b *testing.B, engine string, newPosts, listed int, claim bool) {
	s := openEngine(b, engine)
	now := time.Date(2026, 2, 17, 10, 0, 0, 0, time.UTC)
	var list []NewSource
	for i := range 2000 {
		list = append(list, NewSource{URL: fmt.Sprintf("https://host%d.example/feed%d", i%500, i), AtOnce: true})
	}
	added, err := s.AddSources(bg, list, now)
	if err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the of network release policy market climate garden kitchen story report kernel science work time server history music")
	body := func() string {
		var t strings.Builder
		for t.Len() < 1200 {
			t.WriteString(words[random.IntN(len(words))])
			t.WriteByte(' ')
		}
		return t.String()
	}
	posts := map[freshet.ID][]freshet.Post{}
	seqs := map[freshet.ID]int64{}
	n := 0
	outcome := func(src freshet.Source) *freshet.Outcome {
		o := &freshet.Outcome{At: now, Took: 80 * time.Millisecond, Status: 200, ETag: `W/"5f3-1a2b3c"`, LastModified: "Tue, 17 Feb 2026 09:00:00 GMT", BodyHash: fmt.Sprintf("%064x", n), Title: "A feed"}
		if listed == 0 {
			o.Status, o.Unchanged = 304, true
			return o
		}
		fresh := make([]freshet.Post, 0, listed)
		for range newPosts {
			n++
			fresh = append(fresh, freshet.Post{GUID: fmt.Sprintf("https://%s/id/%d", src.Host, n), URL: fmt.Sprintf("https://%s/%d?utm_source=x", src.Host, n),
				Title: "A title of usual length about something", Text: body(), Author: "Ann Author", Published: now.Add(-time.Duration(random.IntN(1e6)) * time.Second)})
		}
		old := posts[src.ID]
		o.Posts = append(fresh, old[:min(len(old), listed-newPosts)]...)
		freshet.Identify(o.Posts, src.ID, src.Host)
		posts[src.ID] = o.Posts
		return o
	}
	sources := make([]freshet.Source, len(added))
	for i, a := range added {
		sources[i], seqs[a.Source.ID] = a.Source, a.Source.Seq
	}
	record := func(part []freshet.Source, polls []Poll) {
		finished, err := s.FinishPolls(bg, polls, now)
		if err != nil {
			b.Fatal(err)
		}
		for i, f := range finished {
			if !f.Recorded {
				b.Fatal("a poll was not recorded")
			}
			seqs[part[i].ID] = f.Source.Seq
		}
	}
	if newPosts < listed { // they have been read before
		for i := 0; i < len(sources); i += benchBatch {
			part := sources[i:min(i+benchBatch, len(sources))]
			var polls []Poll
			for _, src := range part {
				fresh := make([]freshet.Post, listed)
				for k := range fresh {
					n++
					fresh[k] = freshet.Post{GUID: fmt.Sprintf("https://%s/id/%d", src.Host, n), URL: fmt.Sprintf("https://%s/%d", src.Host, n), Title: "Old", Text: body(), Published: now.Add(-time.Hour)}
				}
				posts[src.ID] = fresh
				freshet.Identify(fresh, src.ID, src.Host)
				polls = append(polls, Poll{src.ID, seqs[src.ID], &freshet.Outcome{At: now, Status: 200, Posts: fresh}})
			}
			record(part, polls)
		}
	}
	b.ReportAllocs()
	var used time.Duration
	polled := 0
	at := 0
	b.ResetTimer()
	for b.Loop() {
		now = now.Add(time.Minute)
		part := sources[at:min(at+benchBatch, len(sources))]
		if at += benchBatch; at >= len(sources) {
			at = 0
			now = now.Add(time.Hour)
		}
		if claim {
			start := processTime()
			claimed, err := s.Claim(bg, ClaimRequest{Shards: everyShard, Limit: benchBatch}, now)
			used += processTime() - start
			if err != nil {
				b.Fatal(err)
			}
			part = part[:0:0]
			for _, c := range claimed {
				part = append(part, c.Source)
				seqs[c.Source.ID] = c.Source.Seq
			}
			if len(part) == 0 {
				now = now.Add(time.Hour)
				continue
			}
		}
		polls := make([]Poll, 0, len(part))
		for _, src := range part {
			polls = append(polls, Poll{src.ID, seqs[src.ID], outcome(src)})
		}
		start := processTime()
		record(part, polls)
		used += processTime() - start
		polled += len(polls)
	}
	b.ReportMetric(used.Seconds()*1000/float64(polled), "cpu-s/1000")
}
