package store

import (
	"fmt"
	"testing"
	"time"

	"freshet"
)

// BenchmarkExecutions measures the queue (W6): polls that each fire once, recorded in batches of 64, and
// executions that are claimed and finished in batches of 32, with an attempt written for each.
func BenchmarkExecutions(b *testing.B) {
	for _, engine := range engines() {
		b.Run(engine+"/enqueue", func(b *testing.B) { benchmarkEnqueue(b, engine) })
		b.Run(engine+"/deliver", func(b *testing.B) { benchmarkDeliver(b, engine) })
	}
}

// firing is a store with workflows whose every poll brings one new entry.
type firing struct {
	*Store
	b       *testing.B
	now     time.Time
	sources []freshet.Source
	seqs    []int64
	n       int
}

func newFiring(b *testing.B, engine string) *firing {
	f := &firing{Store: openEngine(b, engine), b: b, now: time.Date(2026, 2, 17, 10, 0, 0, 0, time.UTC)}
	for i := range 256 {
		w, err := f.AddWorkflow(bg, definition(func(d *freshet.Definition) {
			d.Trigger.Config.URL = fmt.Sprintf("https://host%d.example/feed", i)
		}), f.now)
		if err != nil {
			b.Fatal(err)
		}
		src, err := f.Source(bg, w.Source)
		if err != nil {
			b.Fatal(err)
		}
		f.sources, f.seqs = append(f.sources, src.Source), append(f.seqs, src.Source.Seq)
	}
	return f
}

// fire records the next n polls, each with a document of 20 entries of which the first is new.
func (f *firing) fire(n int) {
	polls := make([]Poll, n)
	for i := range polls {
		at := f.n % len(f.sources)
		src := &f.sources[at]
		o := &freshet.Outcome{At: f.now, Status: 200, BodyHash: fmt.Sprint(f.n)}
		for back := range 20 {
			if k := f.n/len(f.sources) - back; k >= 0 {
				o.Posts = append(o.Posts, freshet.Post{GUID: fmt.Sprintf("https://%s/%d", src.Host, k), URL: fmt.Sprintf("https://%s/%d", src.Host, k),
					Title: "A title of usual length", Text: "Some text of an entry, not long.", Published: f.now.Add(-time.Duration(k) * time.Second)})
			}
		}
		freshet.Identify(o.Posts, src.ID, src.Host)
		polls[i] = Poll{src.ID, f.seqs[at], o}
		f.n++
	}
	finished, err := f.FinishPolls(bg, polls, f.now)
	if err != nil {
		f.b.Fatal(err)
	}
	for i := range finished {
		if !finished[i].Recorded {
			f.b.Fatal("a poll was not recorded")
		}
		f.seqs[(f.n-n+i)%len(f.sources)] = finished[i].Source.Seq
	}
}

func benchmarkEnqueue(b *testing.B, engine string) {
	f := newFiring(b, engine)
	b.ResetTimer()
	for done := 0; done < b.N; done += 64 {
		f.fire(min(64, b.N-done))
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "executions/s")
}

func benchmarkDeliver(b *testing.B, engine string) {
	f := newFiring(b, engine)
	for done := 0; done < b.N; done += 64 {
		f.fire(min(64, b.N-done))
	}
	b.ResetTimer()
	for delivered := 0; delivered < b.N; {
		claimed, err := f.ClaimExecutions(bg, "me", 32, 32, nil, time.Minute, f.now)
		if err != nil || len(claimed) == 0 {
			b.Fatalf("%d of %d were claimed: %v", delivered, b.N, err)
		}
		ended := make([]freshet.Attempted, len(claimed))
		for i, d := range claimed {
			ended[i] = freshet.Attempted{Execution: d.ID, Attempt: freshet.Attempt{N: d.Attempts, StartedAt: f.now, Took: time.Millisecond, Status: 204}}
		}
		if _, err := f.FinishAttempts(bg, ended, f.now); err != nil {
			b.Fatal(err)
		}
		delivered += len(claimed)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "executions/s")
}

// BenchmarkBacklog measures claims while 10,000 executions wait: for a receiver that hangs, so that its workflow is
// busy; for one that is sent one after the other; for workers of another workflow; for one that asks to be left alone.
func BenchmarkBacklog(b *testing.B) {
	now := time.Date(2026, 2, 17, 10, 0, 0, 0, time.UTC)
	for _, engine := range engines() {
		for name, test := range map[string]struct {
			prepare string
			claim   func(s *Store) (int, error)
			want    int
		}{
			"busy": {"update executions set workflow_id = 1, action = 'a1' where due_at is not null", func(s *Store) (int, error) {
				list, err := s.ClaimExecutions(bg, "me", 4, 4, []freshet.ID{1}, time.Minute, now)
				return len(list), err
			}, 0},
			"ordered": {"update executions set workflow_id = 1, action = 'a1' where due_at is not null; update workflows set ordered = 1 where id = 1", func(s *Store) (int, error) {
				list, err := s.ClaimExecutions(bg, "me", 4, 4, nil, time.Minute, now)
				for _, d := range list {
					_, err = s.FinishAttempts(bg, []freshet.Attempted{{Execution: d.ID, Attempt: freshet.Attempt{N: d.Attempts, StartedAt: now}}}, now)
				}
				return len(list), err
			}, 1},
			"other worker": {"update executions set workflow_id = 1, action = '' where due_at is not null", func(s *Store) (int, error) {
				if _, err := s.NextLease(bg, 2); err != nil {
					return 0, err
				}
				list, err := s.LeaseExecutions(bg, "me", 2, 1, time.Minute, now)
				return len(list), err
			}, 0},
			"put off": {"update executions set workflow_id = 1, action = 'a1' where due_at is not null", func(s *Store) (int, error) {
				list, err := s.ClaimExecutions(bg, "me", 8, 8, nil, time.Minute, now)
				var ended []freshet.Attempted
				for _, d := range list {
					ended = append(ended, freshet.Attempted{Execution: d.ID, Attempt: freshet.Attempt{N: d.Attempts, StartedAt: now, Error: "Too many.", RetryAfter: now.Add(time.Minute)}})
				}
				if err == nil {
					_, err = s.FinishAttempts(bg, ended, now)
				}
				now = now.Add(time.Minute)
				return len(list), err
			}, 8},
		} {
			b.Run(engine+"/"+name, func(b *testing.B) {
				s := openEngine(b, engine)
				fillExecutions(b, s, 100_000, 10_000)
				if _, err := s.writer.Exec(test.prepare); err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if n, err := test.claim(s); err != nil || n != test.want {
						b.Fatalf("%d claimed, want %d: %v", n, test.want, err)
					}
				}
			})
		}
	}
}
