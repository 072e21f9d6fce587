package store

import (
	"testing"
	"time"

	"freshet"
)

// start starts a refresh a minute later.
func (w *world) start(kind freshet.RefreshKind, ids ...freshet.ID) Started {
	w.Helper()
	w.now = w.now.Add(time.Minute)
	started, err := w.StartRefresh(bg, kind, ids, w.now)
	w.must(err)
	return started
}

func (w *world) refresh(id freshet.ID) freshet.Refresh {
	w.Helper()
	r, err := w.Refresh(bg, id)
	w.must(err)
	return r
}

// settled makes sources that were read once and are not due.
func (w *world) settled(urls ...string) (ids []freshet.ID) {
	w.Helper()
	for _, url := range urls {
		src := w.add(url)
		w.read(src.ID, article(url, w.now))
		ids = append(ids, src.ID)
	}
	return ids
}

func testRefresh(t *testing.T, w *world) {
	ids := w.settled("https://a.example/1", "https://b.example/", "https://c.example/")
	started := w.start(freshet.ByHand)
	w.equal("total and joined", []any{started.Total, started.Joined, started.Running()}, []any{3, false, true})
	running, found, err := w.RunningRefresh(bg)
	w.must(err)
	w.equal("the running one", []any{running.ID, found}, []any{started.ID, true})

	claimed, err := w.Claim(bg, ClaimRequest{Shards: everyShard, Refresh: started.ID, Limit: 10}, w.now)
	w.must(err)
	w.equal("claimed", len(claimed), 3)
	w.equal("what the claimed wait for", claimed[0].Source.Refresh, started.ID)
	w.read(ids[0], article("new", w.now))
	w.fails(ids[1], timeout)
	r := w.refresh(started.ID)
	w.equal("progress", []any{r.Done, r.Failed, r.NewItems, r.Running()}, []any{2, 1, 1, true})
	w.read(ids[2])
	r = w.refresh(started.ID)
	w.equal("the end", []any{r.Done, r.Failed, r.NewItems, r.PutOff, r.FinishedAt}, []any{3, 1, 1, 0, w.now})
	_, found, err = w.RunningRefresh(bg)
	w.must(err)
	w.equal("one is running", found, false)

	results, err := w.RefreshResults(bg, started.ID)
	w.must(err)
	w.equal("results", len(results), 3)
	w.equal("the first", []any{results[0].Source.ID, results[0].Result, results[0].New, results[0].Error}, []any{ids[0], freshet.ResultOK, 1, ""})
	w.equal("the second", []any{results[1].Result, results[1].Error}, []any{freshet.ResultError, "It took too long."})
	failures, err := w.RefreshFailures(bg, started.ID, 2)
	w.must(err)
	w.equal("failures", len(failures), 1)
	w.equal("the failure", []any{failures[0].Source.ID, failures[0].Error}, []any{ids[1], "It took too long."})
	failures, err = w.RefreshFailures(bg, started.ID, 0)
	w.must(err)
	w.equal("failures when none are asked for", len(failures), 0)

	w.read(ids[0], article("later", w.now)) // a poll of its own changes nothing
	w.equal("done after the end", w.refresh(started.ID).Done, 3)
	_, err = w.Refresh(bg, 5)
	w.is(err, freshet.ErrNotFound)
}

func testRefreshOne(t *testing.T, w *world) {
	ids := w.settled("https://a.example/", "https://b.example/")
	w.fails(ids[0], timeout)
	w.fails(ids[0], timeout)
	w.fails(ids[0], timeout) // on the ladder: not due for five minutes
	started := w.start(freshet.ByHand, ids[0])
	w.equal("total", started.Total, 1)
	claimed := w.claim()
	w.equal("claimed in spite of the ladder (S5)", len(claimed), 1)
	w.equal("which", claimed[0].Source.ID, ids[0])

	_, err := w.StartRefresh(bg, freshet.ByHand, []freshet.ID{4711}, w.now)
	w.is(err, freshet.ErrNotFound)
	_, err = w.EditSource(bg, ids[1], w.now, func(e *Watched) error { e.Source = e.Source.Disable("off"); return nil })
	w.must(err)
	_, err = w.StartRefresh(bg, freshet.ByHand, []freshet.ID{ids[1]}, w.now)
	w.is(err, freshet.ErrDisabled)

	w.must(w.RemoveSource(bg, ids[0], w.now))
	nothing := w.start(freshet.ByHand)
	w.equal("a refresh of nothing", []any{nothing.Total, nothing.Running()}, []any{0, false})
}

func testRefreshJoined(t *testing.T, w *world) {
	ids := w.settled("https://a.example/", "https://b.example/")
	all := w.start(freshet.ByHand)
	again := w.start(freshet.ByHand)
	w.equal("a second refresh of all", []any{again.ID, again.Joined, again.Total}, []any{all.ID, true, 2})
	one := w.start(freshet.ByHand, ids[0])
	w.equal("a refresh of one that waits", []any{one.ID, one.Joined}, []any{all.ID, true})
	w.read(ids[0])
	one = w.start(freshet.ByHand, ids[0])
	w.equal("a refresh of one that is done", []any{one.ID == all.ID, one.Joined, one.Total}, []any{false, false, 1})
}

func testRefreshReopened(t *testing.T, w *world) {
	ids := w.settled("https://a.example/", "https://b.example/")
	started := w.start(freshet.ByHand)
	w.equal("claimed", len(w.claim()), 2)
	w.read(ids[0])
	w.reopen() // killed while the other was polled
	r := w.refresh(started.ID)
	w.equal("progress", []any{r.Done, r.Running()}, []any{1, true})
	w.now = w.now.Add(time.Minute)
	claimed := w.claim()
	w.equal("claimed after the restart, within a minute", len(claimed), 1)
	w.equal("what waits", []any{claimed[0].Source.ID, claimed[0].Source.Refresh}, []any{ids[1], started.ID})
	w.read(ids[1])
	w.equal("running", w.refresh(started.ID).Running(), false)
}

func testRefreshTakesOver(t *testing.T, w *world) {
	ids := w.settled("https://a.example/", "https://b.example/", "https://c.example/")
	some := w.start(freshet.ByHand, ids[0], ids[1])
	all := w.start(freshet.ByIngest)
	w.equal("the total of the second", all.Total, 3)
	w.equal("the first", []any{w.refresh(some.ID).Done, w.refresh(some.ID).Running()}, []any{2, false})
	for _, id := range ids {
		w.read(id)
	}
	w.equal("the second", []any{w.refresh(all.ID).Done, w.refresh(all.ID).Running()}, []any{3, false})
}

func testRefreshLeft(t *testing.T, w *world) {
	ids := w.settled("https://a.example/", "https://b.example/", "https://c.example/")
	started := w.start(freshet.ByHand)
	_, err := w.EditSource(bg, ids[0], w.now, func(e *Watched) error { e.Source = e.Source.Disable("off"); return nil })
	w.must(err)
	w.must(w.RemoveSource(bg, ids[1], w.now))
	w.equal("done", w.refresh(started.ID).Done, 2)
	w.read(ids[2])
	w.equal("running", w.refresh(started.ID).Running(), false)
	results, err := w.RefreshResults(bg, started.ID)
	w.must(err)
	for i, want := range []freshet.Result{freshet.ResultSkipped, freshet.ResultSkipped, freshet.ResultOK} {
		w.equal("a result", results[i].Result, want)
	}
}

func testRefreshPutOff(t *testing.T, w *world) {
	ids := w.settled("https://a.example/1", "https://a.example/2", "https://a.example/3", "https://b.example/", "https://c.example/")
	started := w.start(freshet.ByHand)
	until := w.now.Add(2 * time.Hour)
	busy := freshet.Failure{Class: freshet.Transient, Code: "http_503", Status: 503, Sentence: "Busy.", CoolHost: true, RetryAfter: until}
	w.fails(ids[0], busy)
	r := w.refresh(started.ID)
	w.equal("progress", []any{r.Done, r.Failed, r.PutOff}, []any{3, 1, 2})
	w.equal("the next poll of one put off", w.source(ids[1]).NextPollAt, until)
	results, err := w.RefreshResults(bg, started.ID)
	w.must(err)
	w.equal("the results so far", len(results), 3)
	w.equal("one put off", results[1].Result, freshet.ResultSkipped)

	// One of the host that was in flight when the pause came counts once.
	w.read(ids[1])
	w.equal("done after a late poll", w.refresh(started.ID).Done, 3)
	w.read(ids[3])
	w.read(ids[4])
	w.equal("running", w.refresh(started.ID).Running(), false)

	second := w.start(freshet.ByHand)
	w.equal("the total of another", second.Total, 2)
	w.equal("put off", len(second.PutOff), 3)
	w.equal("until", second.PutOff[0].Until, until)
	third := w.start(freshet.ByHand, ids[0])
	w.equal("one that is put off", []any{third.Total, third.Running(), len(third.PutOff)}, []any{0, false, 1})
}
