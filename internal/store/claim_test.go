package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"freshet"
)

func testDueAgain(t *testing.T, w *world) {
	src := w.add("https://a.example/feed")
	w.read(src.ID, article("one", w.now))
	next, err := w.NextDue(bg, everyShard)
	w.must(err)
	w.equal("the next due time", next, w.now.Add(15*time.Minute))
	w.now = w.now.Add(15*time.Minute - time.Millisecond)
	w.equal("claimed before the interval has elapsed", len(w.claim()), 0) // Source skipped when interval has not elapsed
	w.now = w.now.Add(time.Millisecond)
	claimed := w.claim()
	w.equal("claimed when it has", len(claimed), 1)
	got := claimed[0].Source
	w.equal("seq and next try of the claimed", []any{got.Seq, got.NextPollAt}, []any{w.source(src.ID).Seq, w.now.Add(15 * time.Minute)})
	w.equal("its host", claimed[0].Host.Name, "a.example")
	w.equal("claimed twice", len(w.claim()), 0)
}

func testDisabledNeverPolled(t *testing.T, w *world) {
	src := w.add("https://a.example/feed")
	_, err := w.EditSource(bg, src.ID, w.now, func(e *Watched) error { e.Source = e.Source.Disable("off"); return nil })
	w.must(err)
	w.now = w.now.Add(1000 * time.Hour)
	w.equal("claimed", len(w.claim()), 0)
	next, err := w.NextDue(bg, everyShard)
	w.must(err)
	w.equal("something is due", next.IsZero(), true)
	_, err = w.StartRefresh(bg, freshet.ByHand, nil, w.now)
	w.must(err)
	w.equal("claimed after a refresh of all", len(w.claim()), 0)
}

func testClaimChooses(t *testing.T, w *world) {
	a, b := w.add("https://a.example/feed"), w.add("https://b.example/feed")
	watched, err := w.Source(bg, a.ID)
	w.must(err)
	claim := func(r ClaimRequest) []Watched {
		r.Limit = 10
		claimed, err := w.Claim(bg, r, w.now)
		w.must(err)
		return claimed
	}
	w.equal("claimed of no shard", len(claim(ClaimRequest{})), 0)
	w.equal("claimed of another shard", len(claim(ClaimRequest{Shards: []int{(Shard("a.example") + 1) % Shards}, Busy: nil})), func() int {
		if Shard("b.example") == (Shard("a.example")+1)%Shards {
			return 1
		}
		return 0
	}())
	got := claim(ClaimRequest{Shards: everyShard, Busy: []freshet.ID{watched.Host.ID}})
	w.equal("claimed while a's host is busy", len(got), 1)
	w.equal("which", got[0].Source.ID, b.ID)
	w.equal("claimed for a refresh that nothing waits for", len(claim(ClaimRequest{Shards: everyShard, Refresh: 5})), 0)
	w.equal("claimed of a's shard", len(claim(ClaimRequest{Shards: []int{Shard("a.example")}})), 1)
}

func testBacklog(t *testing.T, w *world) {
	// Half of the backlog is on one host: no shard may be cut short for it, and the oldest go first.
	var list []NewSource
	for i := range 200 {
		host := "one"
		if i%2 == 0 {
			host = fmt.Sprint("host", i)
		}
		list = append(list, NewSource{URL: fmt.Sprintf("https://%s.example/feed%d", host, i), AtOnce: true})
	}
	for i, n := range list {
		if _, err := w.AddSource(bg, n, w.now.Add(-time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	var order []time.Time
	total := 0
	for {
		before := w.now
		claimed, err := w.Claim(bg, ClaimRequest{Shards: everyShard, Limit: 64}, before)
		w.must(err)
		if len(claimed) == 0 {
			break
		}
		if total == 0 {
			w.equal("the first claim's size", len(claimed), 64)
		}
		total += len(claimed)
		for _, c := range claimed {
			order = append(order, c.Source.CreatedAt)
		}
	}
	w.equal("claimed in all", total, 200)
	oldestFew := order[:3]
	if !slices.Contains(oldestFew, w.now.Add(-199*time.Second)) {
		t.Errorf("the oldest is not among the first: %v", oldestFew)
	}
}

func testKilledPoll(t *testing.T, w *world) {
	fresh, known := w.add("https://a.example/feed"), w.add("https://b.example/feed")
	w.read(known.ID, article("one", w.now))
	w.now = w.now.Add(15 * time.Minute)
	w.equal("claimed", len(w.claim()), 2)
	w.reopen() // killed between claim and finish
	w.equal("claimed right after", len(w.claim()), 0)
	w.now = w.now.Add(time.Minute)
	claimed := w.claim()
	w.equal("claimed after a minute: the one that was never read", len(claimed), 1)
	w.equal("which", claimed[0].Source.ID, fresh.ID)
	w.now = w.now.Add(14 * time.Minute)
	w.equal("claimed after the interval", len(w.claim()), 2)
}

func testGiveBack(t *testing.T, w *world) {
	a, b := w.add("https://a.example/1"), w.add("https://b.example/1")
	until := w.now.Add(2 * time.Hour)
	w.fails(w.add("https://b.example/2").ID, freshet.Failure{Class: freshet.Transient, Status: 503, CoolHost: true, RetryAfter: until})
	w.must(w.GiveBack(bg, []Poll{{Source: b.ID, Seq: w.source(b.ID).Seq}}, w.now))
	w.equal("the next poll of a paused host's source", w.source(b.ID).NextPollAt, until)

	claimed := w.claim()
	w.equal("claimed", len(claimed), 1)
	again := w.now.Add(5 * time.Second)
	w.must(w.GiveBack(bg, []Poll{{Source: a.ID, Seq: claimed[0].Source.Seq - 1}}, again))
	w.equal("the next poll after a claim that is another's was given back", w.source(a.ID).NextPollAt, claimed[0].Source.NextPollAt)
	w.must(w.GiveBack(bg, []Poll{{Source: a.ID, Seq: claimed[0].Source.Seq}}, again))
	w.now = again
	w.equal("claimed again", len(w.claim()), 1)
}

func testStale(t *testing.T, w *world) {
	src := w.add("https://a.example/feed")
	outcome := func() *freshet.Outcome {
		posts := []freshet.Post{article("late", w.now)}
		freshet.Identify(posts, src.ID, src.Host)
		return &freshet.Outcome{At: w.now, Status: 200, Posts: posts}
	}
	finish := func(seq int64) Finished {
		finished, err := w.FinishPolls(bg, []Poll{{src.ID, seq, outcome()}}, w.now)
		w.must(err)
		return finished[0]
	}
	late := w.claim()[0].Source.Seq
	w.now = w.now.Add(time.Hour)
	current := w.claim()[0].Source.Seq
	w.equal("a late outcome is recorded", finish(late).Recorded, false)
	w.equal("items of the late outcome", w.count("select count(*) from items"), 0)
	w.equal("the current outcome is recorded", finish(current).Recorded, true)
	w.equal("the current outcome is recorded twice", finish(current).Recorded, false)

	w.now = w.now.Add(time.Hour)
	seq := w.claim()[0].Source.Seq
	for _, on := range []bool{false, true} {
		_, err := w.EditSource(bg, src.ID, w.now, func(e *Watched) error {
			if on {
				e.Source = e.Source.Enable(e.Host, w.now)
			} else {
				e.Source = e.Source.Disable("off")
			}
			return nil
		})
		w.must(err)
		w.equal("an outcome from before it was switched is recorded", finish(seq).Recorded, false)
	}
	seq = w.claim()[0].Source.Seq
	w.must(w.RemoveSource(bg, src.ID, w.now))
	w.equal("an outcome of a removed source is recorded", finish(seq).Recorded, false)
	finished, err := w.FinishPolls(bg, []Poll{{freshet.ID(77), 1, outcome()}}, w.now)
	w.must(err)
	w.equal("an outcome of a source that never was is recorded", finished[0].Recorded, false)
}

func testSpread(t *testing.T, w *world) {
	src := w.add("https://a.example/feed")
	w.now = w.now.Add(time.Hour)
	added := w.add("https://b.example/feed") // just before the start: somebody waits for it (S3)
	n, err := w.SpreadOverdue(bg, everyShard, w.now)
	w.must(err)
	got := w.source(src.ID)
	w.equal("moved", n, 1)
	w.equal("the first poll of what was just added", w.source(added.ID).NextPollAt, w.now)
	w.equal("the synthetic last poll", *got.Cursor.SyntheticPollAt, w.now.Add(-450*time.Second))
	w.equal("the first poll", got.NextPollAt, w.now.Add(450*time.Second))
	w.reopen()
	n, err = w.SpreadOverdue(bg, everyShard, w.now.Add(time.Second))
	w.must(err)
	w.equal("moved by the next start", n, 0)
	w.equal("the first poll after the next start", w.source(src.ID).NextPollAt, got.NextPollAt)
}

func testSpreadOverdue(t *testing.T, w *world) {
	missed, barely, waited := w.add("https://a.example/feed"), w.add("https://b.example/feed"), w.add("https://c.example/feed")
	w.read(missed.ID)
	w.read(barely.ID)
	w.read(waited.ID)
	w.now = w.now.Add(29 * time.Minute) // missed: 31 minutes since its poll, waited: 29
	_, err := w.StartRefresh(bg, freshet.ByHand, []freshet.ID{waited.ID}, w.now)
	w.must(err)
	n, err := w.SpreadOverdue(bg, everyShard, w.now)
	w.must(err)
	w.equal("moved", n, 2) // missed and barely, which missed exactly one interval
	w.equal("the next poll of one that missed an interval", w.source(missed.ID).NextPollAt, w.now.Add(150*time.Second))
	w.equal("the next poll of one that a person waits for", w.source(waited.ID).NextPollAt, w.now)
	n, err = w.SpreadOverdue(bg, everyShard, w.now)
	w.must(err)
	w.equal("moved again", n, 0)
}

func testForgive(t *testing.T, w *world) {
	unreached := freshet.Failure{Class: freshet.Permanent, Code: "no_such_host", Sentence: "No such host.", Unreached: true}
	down, disabled, answered := w.add("https://a.example/feed"), w.add("https://b.example/feed"), w.add("https://c.example/feed")
	w.fails(down.ID, unreached)
	for range 15 {
		w.fails(disabled.ID, unreached)
	}
	w.fails(answered.ID, notFound)
	again := w.now.Add(30 * time.Second)
	w.must(w.Forgive(bg, []freshet.ID{down.ID, disabled.ID, answered.ID}, again))
	got := w.source(down.ID)
	w.equal("the forgiven one", []any{got.Failures, got.PermanentFailures, got.LastFailure == nil, got.NextPollAt}, []any{0, 0, true, again})
	got = w.source(disabled.ID)
	w.equal("the one that it had disabled", []any{got.Enabled, got.DisabledReason, got.Failures, got.NextPollAt}, []any{true, "", 14, again})
	w.equal("the one that answered", w.source(answered.ID).Failures, 1)
}

func testCoolDown(t *testing.T, w *world) {
	a, b, other := w.add("https://a.example/1"), w.add("https://a.example/2"), w.add("https://b.example/")
	until := w.now.Add(2 * time.Hour)
	w.fails(a.ID, freshet.Failure{Class: freshet.Transient, Code: "http_429", Status: 429, Sentence: "Too many.", CoolHost: true, RetryAfter: until})
	w.equal("the next poll of its neighbour", w.source(b.ID).NextPollAt, until)
	w.equal("the next poll of another host", w.source(other.ID).NextPollAt.Equal(until), false)
	w.reopen()
	got, err := w.Source(bg, b.ID)
	w.must(err)
	w.equal("the host after a restart", []any{got.Host.NotBefore, got.Host.Failures, got.Host.Status}, []any{until, 1, 429})
	w.now = until.Add(-time.Second)
	for _, c := range w.claim() {
		if c.Source.Host == "a.example" {
			t.Errorf("%s was claimed during the pause", c.Source.URL)
		}
	}
	w.now = until
	w.equal("claimed after the pause", len(w.claim()), 2)
	late := w.addNew(NewSource{URL: "https://a.example/3", AtOnce: true})
	w.equal("the first poll of a new source after the pause", late.NextPollAt, w.now)
}

// A new source of a paused host waits as the others do.
func TestNewSourceWaitsForItsHost(t *testing.T) {
	for _, engine := range engines() {
		t.Run(engine, func(t *testing.T) {
			w := newWorld(t, engine)
			a := w.add("https://a.example/1")
			until := w.now.Add(2 * time.Hour)
			w.fails(a.ID, freshet.Failure{Class: freshet.Transient, Status: 503, CoolHost: true, RetryAfter: until})
			w.equal("its first poll", w.add("https://a.example/2").NextPollAt, until)
		})
	}
}

// The due queries walk poll_due, on both databases.
func TestDueQueriesUseTheirIndex(t *testing.T) {
	for _, engine := range engines() {
		t.Run(engine, func(t *testing.T) {
			w := newWorld(t, engine)
			var list []NewSource
			for i := range 3000 {
				list = append(list, NewSource{URL: fmt.Sprintf("https://host%d.example/feed%d", i%700, i)})
			}
			_, err := w.AddSources(bg, list, w.now)
			w.must(err)
			if engine == "postgres" {
				_, err := w.writer.Exec("analyze")
				w.must(err)
			}
			for name, query := range map[string]struct {
				text string
				args []any
			}{
				"due":      {w.dialect.due, []any{everyShard, w.now, []freshet.ID{}, 64, 3, freshet.ID(0)}},
				"next due": {nextDue, []any{everyShard}},
				"overdue":  {overdue, []any{7, w.now}},
			} {
				plan := w.plan(query.text, query.args...)
				if !strings.Contains(plan, "poll_due") || strings.Contains(strings.ToLower(plan), "seq scan on poll_state") || strings.Contains(plan, "SCAN d") {
					t.Errorf("%s does not walk poll_due:\n%s", name, plan)
				}
			}
		})
	}
}

// plan returns how the database would run a statement.
func (w *world) plan(text string, args ...any) string {
	w.Helper()
	explain := "explain query plan "
	columns := func(line *string) []any { var x int; return []any{&x, &x, &x, line} }
	if w.dialect.arrays {
		explain, columns = "explain ", func(line *string) []any { return []any{line} }
	}
	lines, err := all(bg, w.Store, columns, explain+text, args...)
	w.must(err)
	return strings.Join(lines, "\n")
}
