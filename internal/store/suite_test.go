package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"freshet"
	"freshet/internal/testdb"
)

// suite is what both databases must do. Each test has a database of its own.
func suite(t *testing.T, engine string) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, *world)
	}{
		{"a source is added, found, listed, edited and removed", testSourceLife},
		{"a source twice is refused by its normalized address", testDuplicate},
		{"what cannot be a source names its field", testBadSource},
		{"many sources are added at once", testAddMany},
		{"text that a database refuses is cleaned", testCleanText},

		{"New RSS entries stored as individual posts", testNewEntries},
		{"Identical content from different polls", testIdenticalContent},
		{"Post older than max age is skipped", testPostTooOld},
		{"Post with null publishedAt is saved", testPostUndated},
		{"First poll of new source skips historical posts", testFirstPollSkips},
		{"First poll of new source accepts recent posts", testFirstPollAccepts},
		{"First poll with null publishedAt post is not filtered", testFirstPollUndated},
		{"Subsequent polls ignore createdAt filter", testLaterPolls},
		{"No new entries since last poll", testNothingNew},
		{"Feed fetch fails", testFetchFails},
		{"Canonical item merging", testMerging},
		{"identities of an item", testIdentities},
		{"one batch carries one article from many sources", testSharedInBatch},
		{"an edit changes the item of its own source only", testEdits},
		{"a hidden item joins the river with a source of the river", testHidden},
		{"A2 removing a feed keeps its items", testRemoveKeepsItems},
		{"D7a what retention took does not come back", testRetentionRemembered},
		{"a source whose window is lost does not give twice", testWindowLost},
		{"F2 validators go back byte for byte", testValidators},
		{"F3 a source moves", testMove},
		{"F3 a source moves onto another", testMoveMerges},
		{"F3 a source moves to a removed one's address", testMoveToRemoved},
		{"F3 a source that is gone is disabled", testGone},

		{"Source polled when interval has elapsed", testDueAgain},
		{"Disabled source never polled", testDisabledNeverPolled},
		{"claims leave out busy hosts and other shards", testClaimChooses},
		{"a backlog is handed out oldest first, whole", testBacklog},
		{"a poll that was killed is tried again", testKilledPoll},
		{"a claim that was not asked is given back", testGiveBack},
		{"an outcome that is late is refused", testStale},
		{"S4 first polls are spread once", testSpread},
		{"S5 what is overdue is spread", testSpreadOverdue},
		{"S5 failures of our own network are forgiven", testForgive},
		{"S6 a host cools down and stays so over a restart", testCoolDown},

		{"a refresh counts to its end", testRefresh},
		{"a refresh of one source", testRefreshOne},
		{"a refresh that runs is joined", testRefreshJoined},
		{"a refresh survives a restart", testRefreshReopened},
		{"a refresh takes over what another waits for", testRefreshTakesOver},
		{"a refresh goes on without what is disabled or removed", testRefreshLeft},
		{"a refresh leaves a paused host alone", testRefreshPutOff},

		{"S7 credentials are kept by owner, under one key", testCredentials},
		{"S7 rivals with keys of their own do not both seal", testCredentialRivals},
		{"S7 a token that is set wakes what waited for it", testXResume},
		{"S7 an account whose owner changes is polled in that owner's group", testXOwnerChanges},
		{"E4 a source is an X account by its address", testXRetyped},
		{"E4 the cursor of X and what was paid for move with the poll", testXCursor},
		{"S6 the pause of a token holds for its owner's accounts only", testXPause},
		{"D1 Nitter, RSSHub and X give one item for one post", testMirrorsOfX},

		{"a transaction that met another runs again", testAgain},
		{"a transaction that fails leaves nothing", testRolledBack},

		{"events are numbered in the order of commits", testEvents},
		{"events under rivals have no gaps", testEventRivals},
		{"another process is heard", testWatch},

		{"a visit has a place that outlasts it", testVisits},
		{"a visit that shows nothing new is not written", testVisitSettled},
		{"rivers are named, listed and removed", testRivers},
		{"the river is narrowed to sources, folders and types", testChosen},
		{"what cannot be a named river names its field", testBadRivers},

		{"shards are shared fairly and taken over", testLeases},
		{"rivals never hold one shard", testLeaseRivals},
		{"a run that polls once takes what is free", testAcquireFree},
		{"a job has one owner", testJob},
		{"rivals record a poll once", testPollRivals},
		{"rivals share items", testItemRivals},
		{"pollers that sleep past their leases", testPausedPollers},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, newWorld(t, engine)) })
	}
}

func TestSuite(t *testing.T) {
	for _, engine := range engines() {
		t.Run(engine, func(t *testing.T) { suite(t, engine) })
	}
	if len(engines()) == 1 {
		t.Run("postgres", func(t *testing.T) { t.Skip("SKIPPED: FRESHET_TEST_POSTGRES names no server") })
	}
}

// world is a database with a clock.
type world struct {
	*testing.T
	*Store
	dsn      string
	now      time.Time
	settings freshet.Settings
}

var bg = context.Background()

var everyShard = func() (shards []int) {
	for i := range Shards {
		shards = append(shards, i)
	}
	return shards
}()

func newWorld(t *testing.T, engine string) *world {
	w := &world{T: t, now: time.Date(2026, 2, 17, 10, 0, 0, 0, time.UTC), settings: freshet.DefaultSettings()}
	if engine == "postgres" {
		w.dsn = testdb.Postgres(t)
	} else {
		w.dsn = filepath.Join(t.TempDir(), "freshet.db")
	}
	w.reopen()
	t.Cleanup(func() { w.Close() })
	return w
}

// reopen opens the database, after a kill when it was open.
func (w *world) reopen() {
	w.Helper()
	if w.Store != nil {
		w.Close()
	}
	w.Store = w.open()
}

// open opens the database once more, as another process would.
func (w *world) open() *Store {
	w.Helper()
	s, err := Open(bg, w.dsn, Options{Settings: w.settings, Random: func() float64 { return 0.5 }})
	if err != nil {
		w.Fatal(err)
	}
	return s
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) add(url string) freshet.Source {
	w.Helper()
	return w.addNew(NewSource{URL: url, AtOnce: true})
}

func (w *world) addNew(n NewSource) freshet.Source {
	w.Helper()
	added, err := w.AddSource(bg, n, w.now)
	w.must(err)
	return added.Source
}

func (w *world) source(id freshet.ID) freshet.Source {
	w.Helper()
	got, err := w.Source(bg, id)
	w.must(err)
	return got.Source
}

func (w *world) claim() []Watched {
	w.Helper()
	claimed, err := w.Claim(bg, ClaimRequest{Shards: everyShard, Limit: 1000}, w.now)
	w.must(err)
	return claimed
}

// finish records an outcome of a source as it is, without a claim.
func (w *world) finish(id freshet.ID, o *freshet.Outcome) Finished {
	w.Helper()
	src := w.source(id)
	o.At = w.now
	freshet.Identify(o.Posts, id, src.Host)
	finished, err := w.FinishPolls(bg, []Poll{{id, src.Seq, o}}, w.now)
	w.must(err)
	if !finished[0].Recorded {
		w.Fatalf("the poll of %s was not recorded", src.URL)
	}
	return finished[0]
}

// read records a success with these posts, a minute after the last thing that happened.
func (w *world) read(id freshet.ID, posts ...freshet.Post) Finished {
	w.Helper()
	w.now = w.now.Add(time.Minute)
	return w.finish(id, &freshet.Outcome{Status: 200, Posts: posts, BodyHash: fmt.Sprint(len(posts), w.now)})
}

func (w *world) fails(id freshet.ID, f freshet.Failure) Finished {
	w.Helper()
	w.now = w.now.Add(time.Minute)
	return w.finish(id, &freshet.Outcome{Status: f.Status, Failure: &f})
}

// river returns the river, newest first.
func (w *world) river() []freshet.Item {
	w.Helper()
	page, err := w.River(bg, RiverQuery{Limit: 1000})
	w.must(err)
	return page.Items
}

// count runs a statement that counts.
func (w *world) count(text string, args ...any) int {
	w.Helper()
	n, _, err := one(bg, w.Store, number, text, args...)
	w.must(err)
	return int(n)
}

func (w *world) equal(what string, got, want any) {
	w.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.Errorf("%s is %v, want %v", what, got, want)
	}
}

func (w *world) is(err, want error) {
	w.Helper()
	if !errors.Is(err, want) {
		w.Errorf("the error is %v, want %v", err, want)
	}
}

// article is a post with an absolute guid, dated.
func article(name string, published time.Time) freshet.Post {
	return freshet.Post{
		GUID: "https://news.example/id/" + name, URL: "https://news.example/" + name,
		Title: "Title of " + name, Text: "Text of " + name, Published: published,
	}
}

var (
	timeout  = freshet.Failure{Class: freshet.Transient, Code: "timeout", Sentence: "It took too long."}
	notFound = freshet.Failure{Class: freshet.Permanent, Code: "http_404", Status: 404, Sentence: "There is nothing."}
)
