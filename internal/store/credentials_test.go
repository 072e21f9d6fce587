package store

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"freshet"
)

func sealed(owner, key, text string, at time.Time) freshet.Credential {
	return freshet.Credential{Owner: owner, Provider: freshet.X, KeyID: key, Sealed: []byte(text), UpdatedAt: at}
}

func testCredentials(_ *testing.T, w *world) {
	w.must(w.SetCredential(bg, sealed("", "k1", "one\x00\xff", w.now)))
	w.must(w.SetCredential(bg, sealed("alice", "k1", "two", w.now)))
	w.must(w.SetCredential(bg, sealed("", "k1", "three\x00\xff", w.now.Add(time.Hour))))
	w.reopen()
	c, err := w.Credential(bg, "", freshet.X)
	w.must(err)
	if !bytes.Equal(c.Sealed, []byte("three\x00\xff")) || c.KeyID != "k1" || !c.UpdatedAt.Equal(w.now.Add(time.Hour)) {
		w.Errorf("the credential is %+v", c)
	}
	list, err := w.Credentials(bg)
	w.must(err)
	w.equal("owners", []string{list[0].Owner, list[1].Owner}, []string{"", "alice"})
	_, err = w.Credential(bg, "bob", freshet.X)
	w.is(err, freshet.ErrNotFound)

	w.is(w.SetCredential(bg, sealed("bob", "k2", "other key", w.now)), freshet.ErrKey)
	w.is(w.SetCredential(bg, sealed("", "k2", "other key", w.now)), freshet.ErrKey)
	w.equal("credentials after refusals", w.count("select count(*) from credentials where key_id = 'k1'"), 2)

	w.must(w.RemoveCredential(bg, "alice", freshet.X))
	w.is(w.RemoveCredential(bg, "alice", freshet.X), freshet.ErrNotFound)
	w.must(w.RemoveCredential(bg, "", freshet.X))
	w.must(w.SetCredential(bg, sealed("bob", "k2", "after all of the first key are gone", w.now)))
}

// Two instances with keys of their own do not both seal.
func testCredentialRivals(_ *testing.T, w *world) {
	other := w.open()
	defer other.Close()
	errs := make(chan error, 2)
	for i, s := range []*Store{w.Store, other} {
		go func() { errs <- s.SetCredential(bg, sealed(string(rune('a'+i)), string(rune('k'+i)), "x", w.now)) }()
	}
	first, second := <-errs, <-errs
	if (first == nil) == (second == nil) {
		w.Errorf("two keys: %v and %v, want one refused", first, second)
	}
	w.equal("credentials", w.count("select count(*) from credentials"), 1)
}

// account adds an X account whose owner is given, as a briefing would.
func (w *world) account(handle, owner string) freshet.Source {
	w.Helper()
	src := w.addNew(NewSource{Type: freshet.Twitter, URL: handle, AtOnce: true})
	w.give(src.ID, owner)
	return src
}

func (w *world) give(id freshet.ID, owner string) {
	w.Helper()
	w.must(w.write(bg, func(ctx context.Context, t *tx) error {
		_, err := t.exec(ctx, "update sources set owner = $2 where id = $1", id, owner)
		return err
	}))
}

func (w *world) reads(owner, month string) int {
	w.Helper()
	n, err := w.Reads(bg, owner, freshet.X, month)
	w.must(err)
	return n
}

// What was read is counted with the poll that read it, and the cursor moves with it: both or neither.
func testXCursor(_ *testing.T, w *world) {
	mine, hers := w.account("@mine", ""), w.account("@hers", "alice")
	cursor := func(since string, reads int) *freshet.Outcome {
		return &freshet.Outcome{Status: 200, Reads: reads, X: &freshet.XCursor{UserID: "7", SinceID: since, Month: "2026-02", Reads: reads}}
	}
	w.finish(mine.ID, cursor("100", 3))
	w.finish(hers.ID, cursor("200", 5))
	w.finish(mine.ID, cursor("101", 2))
	w.equal("reads", []int{w.reads("", "2026-02"), w.reads("alice", "2026-02"), w.reads("", "2026-03"), w.reads("bob", "2026-02")}, []int{5, 5, 0, 0})
	w.reopen()
	w.equal("the cursor after a restart", w.source(mine.ID).Cursor.X.SinceID, "101")

	stale := w.source(mine.ID).Seq
	w.finish(mine.ID, cursor("102", 1))
	finished, err := w.FinishPolls(bg, []Poll{{mine.ID, stale, cursor("999", 50)}}, w.now)
	w.must(err)
	w.equal("a late outcome is recorded", finished[0].Recorded, false)
	w.equal("after a late outcome", []any{w.source(mine.ID).Cursor.X.SinceID, w.reads("", "2026-02")}, []any{"102", 6})

	o := cursor("102", 1)
	o.Failure = &timeout
	w.finish(mine.ID, o)
	w.equal("after a failure that was paid for", w.reads("", "2026-02"), 7)
	w.now = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	w.finish(mine.ID, cursor("103", 4))
	w.equal("in the next month", []int{w.reads("", "2026-02"), w.reads("", "2026-03")}, []int{7, 4})
}

// S6: a token's pause holds for all accounts of its owner, over a restart, and for nobody else's.
func testXPause(_ *testing.T, w *world) {
	mine, mineToo, hers := w.account("@mine", ""), w.account("@mine_too", ""), w.account("@hers", "alice")
	w.claim() // hers moves to her group
	claimed := w.claim()
	w.equal("claimed after the move", len(claimed), 1)
	w.equal("her group", w.source(hers.ID).Host, "alice@api.x.com")
	until := w.now.Add(20 * time.Minute)
	w.fails(mine.ID, freshet.Failure{Class: freshet.Transient, Code: "http_429", Status: 429, Sentence: "Too often.", CoolHost: true, RetryAfter: until})
	w.reopen()
	w.equal("mine, mine too", []time.Time{w.source(mine.ID).NextPollAt, w.source(mineToo.ID).NextPollAt}, []time.Time{until, until})
	if next := w.source(hers.ID).NextPollAt; !next.Before(until) {
		w.Errorf("another owner's account waits until %v", next)
	}
	started, err := w.StartRefresh(bg, freshet.ByHand, nil, w.now)
	w.must(err)
	w.equal("put off", len(started.PutOff), 2)

	// A good answer may ask for the pause ahead.
	w.finish(hers.ID, &freshet.Outcome{Status: 200, Pause: until.Add(time.Hour)})
	w.equal("hers", w.source(hers.ID).NextPollAt, until.Add(time.Hour))
}

// S7: whose owner changes is polled with the new owner's token, in that token's group.
func testXOwnerChanges(_ *testing.T, w *world) {
	src := w.account("@name", "")
	w.equal("the instance's group", w.claim()[0].Host.Name, "api.x.com")
	w.read(src.ID)
	w.give(src.ID, "alice")
	w.now = w.now.Add(time.Hour)
	w.equal("claimed while it moves", len(w.claim()), 0)
	claimed := w.claim()
	if len(claimed) != 1 || claimed[0].Host.Name != "alice@api.x.com" || claimed[0].Source.Owner != "alice" || claimed[0].Source.Host != claimed[0].Host.Name {
		w.Fatalf("claimed %+v", claimed)
	}
	w.equal("its shard", w.count("select shard from poll_state where source_id = $1", src.ID), Shard("alice@api.x.com"))
	w.must(w.RemoveSource(bg, src.ID, w.now))
	w.account("@name", "alice")
	w.claim()
	w.equal("added again", w.claim()[0].Host.Name, "alice@api.x.com")
}

// A source becomes an X account, and stops being one, only where its address is an account's.
func testXRetyped(_ *testing.T, w *world) {
	retype := func(id freshet.ID, kind freshet.Type) error {
		_, err := w.EditSource(bg, id, w.now, func(w *Watched) error {
			w.Source = w.Source.Retype(kind, w.Host, w.Source.CreatedAt)
			return nil
		})
		return err
	}
	var field *freshet.FieldError
	if err := retype(w.add("https://nitter.example/NASA/rss").ID, freshet.Twitter); !errors.As(err, &field) || field.Field != "type" {
		w.Errorf("a feed becomes an account: %v", err)
	}
	w.claim()
	page := w.addNew(NewSource{Type: freshet.Website, URL: "https://x.com/NASA", AtOnce: true})
	for _, step := range []struct {
		kind  freshet.Type
		group string
	}{{freshet.Twitter, "api.x.com"}, {freshet.Website, "x.com"}} {
		w.must(retype(page.ID, step.kind))
		w.equal("claimed while it moves", len(w.claim()), 0)
		claimed := w.claim()
		w.equal("as "+string(step.kind), []any{claimed[0].Host.Name, claimed[0].Source.Type}, []any{step.group, step.kind})
	}
}

// S7: setting a token wakes what waited for one, of its owner only.
func testXResume(_ *testing.T, w *world) {
	missing := freshet.Failure{Class: freshet.Permanent, Code: freshet.NeedsCredential, Sentence: "None is set."}
	refused := freshet.Failure{Class: freshet.Permanent, Code: freshet.NeedsCredential, Status: 401, Sentence: "It is not accepted.", Paused: true}
	a, b, hers, feed := w.account("@a", ""), w.account("@b", ""), w.account("@hers", "alice"), w.add("https://feed.example/")
	w.fails(a.ID, missing)
	paused := w.fails(b.ID, refused)
	w.equal("disabled by the refusal", []any{paused.Disabled, paused.Source.DisabledReason}, []any{true, refused.Sentence})
	w.fails(hers.ID, refused)
	w.fails(feed.ID, notFound)
	before, _ := w.LastEvent(bg)
	w.now = w.now.Add(time.Minute)
	w.must(w.SetCredential(bg, sealed("", "k", "x", w.now)))
	for _, id := range []freshet.ID{a.ID, b.ID} {
		src := w.source(id)
		w.equal(src.URL, []any{src.Enabled, src.Failures, src.NextPollAt}, []any{true, 0, w.now})
	}
	w.equal("another owner's", w.source(hers.ID).Enabled, false)
	w.equal("a feed's failures", w.source(feed.ID).Failures, 1)
	if after, _ := w.LastEvent(bg); after == before {
		w.Error("nobody was told")
	}
}

// The same post from the API, Nitter and RSSHub is one item of the river, whoever is first.
func testMirrorsOfX(_ *testing.T, w *world) {
	const id = "1234567890123456789"
	api := freshet.Post{GUID: freshet.StatusURL(id), URL: "https://x.com/NASA/status/" + id, Title: "Hello", Text: "Hello", Published: w.now}
	nitter := freshet.Post{GUID: "https://nitter.example/NASA/status/" + id + "#m", URL: "https://nitter.example/NASA/status/" + id + "#m", Title: "Hello", Text: "Hello from Nitter", Published: w.now}
	hub := freshet.Post{GUID: "https://twitter.com/NASA/status/" + id, URL: "https://twitter.com/NASA/status/" + id, Title: "Hello", Text: "Hello from RSSHub", Published: w.now}
	w.read(w.add("https://nitter.example/NASA/rss").ID, nitter)
	w.read(w.account("@NASA", "").ID, api)
	w.read(w.add("https://rsshub.example/twitter/user/NASA").ID, hub)
	items := w.river()
	if len(items) != 1 || len(items[0].Sources) != 3 {
		w.Fatalf("%d items, the first with the sources %+v", len(items), items[0].Sources)
	}
	w.equal("its address", items[0].CanonicalURL, "https://x.com/i/status/"+id)
}
