package store

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"freshet"
)

// titles of items, in their order.
func titles(items []freshet.Item) (list []string) {
	for _, i := range items {
		list = append(list, i.Title)
	}
	return list
}

func carriers(i freshet.Item) (ids []freshet.ID) {
	for _, s := range i.Sources {
		ids = append(ids, s.SourceID)
	}
	slices.Sort(ids)
	return ids
}

func testNewEntries(t *testing.T, w *world) {
	src := w.add("https://a.example/feed")
	full := freshet.Post{
		GUID: "https://a.example/1", URL: "https://A.example/1?utm_source=feed#top", Title: "One", Author: "Ann", Text: "The text", Image: "https://a.example/1.png",
		Published: w.now.Add(-time.Hour), Enclosures: []freshet.Enclosure{{URL: "https://a.example/1.mp3", Type: "audio/mpeg", Length: 7}},
	}
	f := w.read(src.ID, full, article("two", w.now.Add(-2*time.Hour)), article("three", w.now.Add(-3*time.Hour)))
	w.equal("new posts and items", []int{f.New, f.NewItems}, []int{3, 3})
	items := w.river()
	w.equal("the river", titles(items), []string{"One", "Title of two", "Title of three"})
	i := items[0]
	w.equal("the item", []any{i.Source, i.GUID, i.URL, i.CanonicalURL, i.Snippet, i.Author, i.Image, i.PublishedAt, i.IngestedAt, i.UpdatedAt},
		[]any{src.ID, full.GUID, full.URL, "https://a.example/1", "The text", "Ann", full.Image, full.Published, w.now, w.now})
	w.equal("its source", []any{i.Sources[0].SourceID, i.Sources[0].GUID, i.Sources[0].FirstSeen}, []any{src.ID, full.GUID, w.now})
	detail, err := w.Item(bg, i.ID)
	w.must(err)
	w.equal("text and enclosures", []any{detail.Body, detail.Enclosures}, []any{"The text", full.Enclosures})
	w.equal("texts that wait to be indexed", w.count("select count(*) from search_pending"), 3)
	w.equal("the source's health", w.source(src.ID).Health(), freshet.Healthy)
}

func testIdenticalContent(t *testing.T, w *world) {
	src := w.add("https://a.example/feed")
	first := w.read(src.ID, article("one", w.now))
	again := w.read(src.ID, article("one", w.now))
	other := article("one", w.now) // the same text under another identity
	other.GUID, other.URL = "https://news.example/id/copy", "https://news.example/copy"
	copied := w.read(src.ID, other)
	w.equal("posts stored", []int{first.New, again.New, copied.New}, []int{1, 0, 0})
	w.equal("posts", w.count("select count(*) from posts"), 1)
}

func testPostTooOld(t *testing.T, w *world) {
	days := 7.0
	src := w.addNew(NewSource{URL: "https://a.example/feed", Config: freshet.Config{MaxArticleAgeDays: &days}})
	f := w.read(src.ID, article("old", w.now.Add(-8*24*time.Hour)), article("young", w.now.Add(-6*24*time.Hour)))
	w.equal("stored and too old", []int{f.New, f.TooOld}, []int{1, 1})
	other := w.add("https://b.example/feed")
	f = w.read(other.ID, article("older", w.now.Add(-31*24*time.Hour)), article("old", w.now.Add(-8*24*time.Hour)))
	w.equal("stored and too old by the river's retention", []int{f.New, f.TooOld}, []int{1, 1})
}

func testPostUndated(t *testing.T, w *world) {
	src := w.add("https://a.example/feed")
	f := w.read(src.ID, article("undated", time.Time{}))
	w.equal("stored", f.New, 1)
	w.equal("its place is when it came (D4)", w.river()[0].PublishedAt, w.now)
	w.read(src.ID, article("future", w.now.Add(48*time.Hour)))
	w.equal("the place of one from the future (D4)", w.river()[0].PublishedAt, w.now)
}

// skipping is a source created 2026-02-17T10:00:00Z that skips its history.
func skipping(w *world) freshet.Source {
	yes := true
	return w.addNew(NewSource{URL: "https://a.example/feed", Config: freshet.Config{SkipHistory: &yes}})
}

func testFirstPollSkips(t *testing.T, w *world) {
	src := skipping(w)
	f := w.read(src.ID, article("historical", time.Date(2026, 2, 15, 8, 0, 0, 0, time.UTC)))
	w.equal("stored and skipped", []int{f.New, f.TooOld}, []int{0, 1})
	f = w.read(src.ID, article("historical", time.Date(2026, 2, 15, 8, 0, 0, 0, time.UTC)))
	w.equal("stored at the second poll", f.New, 0)
}

func testFirstPollAccepts(t *testing.T, w *world) {
	src := skipping(w)
	w.now = w.now.Add(3 * time.Hour)
	f := w.read(src.ID, article("recent", time.Date(2026, 2, 17, 12, 0, 0, 0, time.UTC)))
	w.equal("stored", f.New, 1)
}

func testFirstPollUndated(t *testing.T, w *world) {
	f := w.read(skipping(w).ID, article("undated", time.Time{}))
	w.equal("stored", f.New, 1)
}

func testLaterPolls(t *testing.T, w *world) {
	src := skipping(w)
	w.fails(src.ID, timeout)
	f := w.read(src.ID, article("before", time.Date(2026, 2, 16, 7, 0, 0, 0, time.UTC)))
	w.equal("stored by the first fetch that succeeded", f.New, 0)
	f = w.read(src.ID, article("late", time.Date(2026, 2, 16, 8, 0, 0, 0, time.UTC)))
	w.equal("stored by the second", f.New, 1)
}

func testNothingNew(t *testing.T, w *world) {
	src := w.add("https://a.example/feed")
	w.read(src.ID, article("one", w.now))
	w.now = w.now.Add(15 * time.Minute)
	f := w.finish(src.ID, &freshet.Outcome{Status: 304, Unchanged: true, ETag: `"x"`})
	got := w.source(src.ID)
	w.equal("new posts", f.New, 0)
	w.equal("last and next poll", []time.Time{got.LastPollAt, got.LastSuccessAt, got.NextPollAt}, []time.Time{w.now, w.now, w.now.Add(15 * time.Minute)})
	w.equal("the strip", len(got.History.Polls()), 2)
}

func testFetchFails(t *testing.T, w *world) {
	src := w.add("https://a.example/feed")
	w.read(src.ID, article("one", w.now))
	success := w.now
	for n := 1; n <= 3; n++ {
		f := w.fails(src.ID, timeout)
		w.equal(fmt.Sprintf("unhealthy since failure %d", n), f.Unhealthy, n == 3)
	}
	got := w.source(src.ID)
	w.equal("failures", []any{got.Failures, got.Health(), got.LastFailure.Sentence}, []any{3, freshet.Unhealthy, "It took too long."})
	w.equal("times", []time.Time{got.LastPollAt, got.LastSuccessAt, got.NextPollAt}, []time.Time{w.now, success, w.now.Add(5 * time.Minute)})
	w.equal("items", len(w.river()), 1)
	w.read(src.ID, article("two", w.now))
	got = w.source(src.ID)
	w.equal("after a success", []any{got.Failures, got.LastFailure == nil, got.Health()}, []any{0, true, freshet.Healthy})
}

func testMerging(t *testing.T, w *world) {
	a, b, c := w.add("https://a.example/feed"), w.add("https://b.example/feed"), w.add("https://c.example/feed")
	published := w.now.Add(-time.Hour)
	w.read(a.ID, article("story", published))
	second := article("story", published.Add(30*time.Minute))
	second.Title = "Their title"
	f := w.read(b.ID, second)
	w.equal("the second source's posts and items", []int{f.New, f.NewItems}, []int{1, 0})
	third := freshet.Post{URL: "HTTPS://news.example/story?utm_medium=x", Title: "By address", Text: "Other"} // no guid
	w.read(c.ID, third)
	items := w.river()
	w.equal("the river", titles(items), []string{"Title of story"})
	w.equal("its sources", carriers(items[0]), []freshet.ID{a.ID, b.ID, c.ID})
	w.equal("its place", items[0].PublishedAt, published)
}

func testIdentities(t *testing.T, w *world) {
	at := w.now
	post := func(guid, url, text string) freshet.Post {
		return freshet.Post{GUID: guid, URL: url, Title: text, Text: text, Published: at}
	}
	for _, test := range []struct {
		name          string
		first, second freshet.Post
		host          string // of the second source
		items         int
	}{
		{"the same guid", post("tag:x,1", "https://x.example/a", "1"), post("tag:x,1", "https://x.example/b", "2"), "2.example", 1},
		{"the same address, no guids", post("", "https://x.example/c", "3"), post("", "https://x.example/c#top", "4"), "2.example", 1},
		{"the same address, other guids", post("tag:x,2", "https://x.example/d", "5"), post("tag:x,3", "https://x.example/d", "6"), "2.example", 2},
		{"the address of an item without a guid", post("", "https://x.example/e", "7"), post("tag:x,4", "https://x.example/e", "8"), "2.example", 1},
		{"without a guid the address of an item that has one", post("tag:x,5", "https://x.example/f", "9"), post("", "https://x.example/f", "10"), "2.example", 1},
		{"a bare number on two hosts", post("1", "", "11"), post("1", "", "12"), "2.example", 2},
		{"a bare number on one host", post("2", "", "13"), post("2", "", "14"), "1.example", 1},
		{"neither guid nor address", post("", "", "15"), post("", "", "15"), "2.example", 2},
	} {
		before := w.count("select count(*) from items")
		one := w.add(fmt.Sprintf("https://1.example/%s/1", test.name))
		two := w.add(fmt.Sprintf("https://%s/%s/2", test.host, test.name))
		w.read(one.ID, test.first)
		w.read(two.ID, test.second)
		w.equal("items of "+test.name, w.count("select count(*) from items")-before, test.items)
	}

	// An item that gained a guid through its address has one: another guid at that address is another item.
	a, b, c := w.add("https://3.example/a"), w.add("https://3.example/b"), w.add("https://3.example/c")
	before := w.count("select count(*) from items")
	w.read(a.ID, post("", "https://x.example/g", "20"))
	w.read(b.ID, post("tag:x,20", "https://x.example/g", "21"))
	w.read(c.ID, post("tag:x,21", "https://x.example/g", "22"))
	w.equal("items of an address with two guids", w.count("select count(*) from items")-before, 2)
}

func testSharedInBatch(t *testing.T, w *world) {
	var polls []Poll
	for i := range 5 {
		src := w.add(fmt.Sprintf("https://host%d.example/feed", i))
		posts := []freshet.Post{article("shared", w.now), article(fmt.Sprint("own", i), w.now)}
		freshet.Identify(posts, src.ID, src.Host)
		polls = append(polls, Poll{src.ID, src.Seq, &freshet.Outcome{At: w.now, Status: 200, Posts: posts}})
	}
	polls = append(polls, polls[0]) // the same poll twice
	finished, err := w.FinishPolls(bg, polls, w.now)
	w.must(err)
	newItems, recorded := 0, 0
	for _, f := range finished {
		newItems += f.NewItems
		if f.Recorded {
			recorded++
		}
	}
	w.equal("recorded", recorded, 5)
	w.equal("new items", newItems, 6)
	w.equal("items, posts and bodies", []int{w.count("select count(*) from items"), w.count("select count(*) from posts"), w.count("select count(*) from bodies")}, []int{6, 10, 6})
	for _, i := range w.river() {
		if i.Title == "Title of shared" {
			w.equal("sources of the shared one", len(i.Sources), 5)
			w.equal("whose it is", i.Source, polls[0].Source)
		}
	}
}

func testEdits(t *testing.T, w *world) {
	a, b := w.add("https://a.example/feed"), w.add("https://b.example/feed")
	published := w.now.Add(-time.Hour)
	w.read(a.ID, article("story", published))
	w.read(b.ID, article("story", published))
	w.must(w.indexAll())
	came := w.river()[0]

	theirs := article("story", published)
	theirs.Title, theirs.Text = "Hijacked", "By b"
	f := w.read(b.ID, theirs)
	w.equal("b's edits and new posts", []int{f.Edited, f.New}, []int{1, 0})
	w.equal("the item after b's edit", w.river()[0].Title, "Title of story")
	w.equal("texts that wait after b's edit", w.count("select count(*) from search_pending"), 0)

	edit := article("story", w.now)
	edit.Title, edit.Text, edit.Author, edit.Enclosures = "Corrected", "New text", "Ann", []freshet.Enclosure{{URL: "https://a.example/x"}}
	f = w.read(a.ID, edit)
	w.equal("a's edits and new posts", []int{f.Edited, f.New}, []int{1, 0})
	i := w.river()[0]
	w.equal("the item after a's edit", []any{i.Title, i.Snippet, i.Author, i.UpdatedAt}, []any{"Corrected", "New text", "Ann", w.now})
	w.equal("its place", i.Place(), came.Place())
	detail, err := w.Item(bg, i.ID)
	w.must(err)
	w.equal("its text", []any{detail.Body, detail.Enclosures}, []any{"New text", edit.Enclosures})
	w.equal("texts that wait after a's edit", w.count("select count(*) from search_pending"), 1)
	w.equal("the same again", w.read(a.ID, edit).Edited, 0)

	// A document may list two versions of an entry at once.
	one, two := article("twice", published), article("twice", published)
	two.Text, two.Title = "Second version", "Second title"
	f = w.read(a.ID, one, two)
	w.equal("new and edited of two versions", []int{f.New, f.Edited}, []int{1, 1})
	w.equal("the title of two versions", w.river()[0].Title, "Second title")
}

func (w *world) indexAll() error {
	for {
		if n, err := w.IndexText(bg, 1000, w.now); n == 0 || err != nil {
			return err
		}
	}
}

func testHidden(t *testing.T, w *world) {
	hidden := w.addNew(NewSource{URL: "https://h.example/feed", Hidden: true})
	w.read(hidden.ID, article("story", w.now), article("other", w.now))
	w.equal("the river with a hidden source", len(w.river()), 0)
	shown := w.add("https://s.example/feed")
	f := w.read(shown.ID, article("story", w.now))
	w.equal("the river's items", titles(w.river()), []string{"Title of story"})
	w.equal("posts and items of the one that showed it", []int{f.New, f.NewItems}, []int{1, 0})
	w.addNew(NewSource{URL: "https://h.example/feed", Title: "Now mine"})
	w.equal("the river after a person added the hidden source", len(w.river()), 2)
	w.equal("its title", w.source(hidden.ID).Title, "Now mine")
}

func testRemoveKeepsItems(t *testing.T, w *world) {
	src := w.add("https://a.example/feed")
	w.read(src.ID, article("story", w.now))
	w.must(w.RemoveSource(bg, src.ID, w.now))
	w.equal("the river after removing", len(w.river()), 1)
	w.now = w.now.Add(time.Hour)
	w.equal("claimed", len(w.claim()), 0)
	again := w.add("https://a.example/feed")
	w.equal("the id", again.ID, src.ID)
	w.equal("new posts of what it lists", w.read(src.ID, article("story", w.now)).New, 0)
}

func testRetentionRemembered(t *testing.T, w *world) {
	src := w.add("https://a.example/feed")
	old, undated := article("story", w.now.Add(-29*24*time.Hour)), article("undated", time.Time{})
	w.equal("new", w.read(src.ID, old, undated).New, 2)
	w.now = w.now.Add(31 * 24 * time.Hour)
	for {
		n, err := w.Retain(bg, w.now, 100)
		w.must(err)
		if n == 0 {
			break
		}
	}
	w.equal("items after retention", len(w.river()), 0)
	w.equal("keys after retention", w.count("select count(*) from item_keys"), 0)
	w.equal("new of what it still lists", w.read(src.ID, old, undated).New, 0)
	undated.Text = "edited after it went"
	f := w.read(src.ID, old, undated)
	w.equal("new and edited of an edit of what went", []int{f.New, f.Edited}, []int{0, 0})
	w.equal("items", w.count("select count(*) from items"), 0)
}

func testWindowLost(t *testing.T, w *world) {
	src := w.add("https://a.example/feed")
	w.read(src.ID, article("same", w.now), article("changed", w.now))
	_, err := w.writer.Exec("delete from seen")
	w.must(err)
	changed := article("changed", w.now)
	changed.Title, changed.Text = "Changed", "since"
	f := w.read(src.ID, article("same", w.now), changed, article("new", w.now))
	w.equal("new and edited", []int{f.New, f.NewItems, f.Edited}, []int{1, 1, 1})
	w.equal("items and posts", []int{w.count("select count(*) from items"), w.count("select count(*) from posts")}, []int{3, 3})
	w.equal("the river", slices.Contains(titles(w.river()), "Changed"), true)
}

func testValidators(t *testing.T, w *world) {
	src := w.add("https://a.example/feed")
	etag, modified := "W/\"\xe9<&\x7f\u2028\"", "Mon, 01 Jan 2026 \xff"
	w.finish(src.ID, &freshet.Outcome{Status: 200, Posts: []freshet.Post{article("a", w.now)}, ETag: etag, LastModified: modified, BodyHash: "h"})
	w.reopen()
	c := w.source(src.ID).Cursor
	if c.ETag != etag || c.LastModified != modified {
		t.Errorf("validators are %q and %q, want %q and %q", c.ETag, c.LastModified, etag, modified)
	}
	w.equal("the body's hash", c.BodyHash, "h")
}

// moves polls until the redirect is believed.
func (w *world) moves(id freshet.ID, to string, posts ...freshet.Post) (f Finished) {
	w.Helper()
	for n := range 3 {
		w.now = w.now.Add(15 * time.Minute)
		f = w.finish(id, &freshet.Outcome{Status: 200, Posts: slices.Clone(posts), MovedTo: to, ETag: `"e"`, BodyHash: "h"})
		w.equal(fmt.Sprintf("moved by poll %d", n+1), f.Moved, n == 2)
	}
	return f
}

func testMove(t *testing.T, w *world) {
	src := w.add("https://old.example/feed")
	w.moves(src.ID, "https://new.example/feed", article("story", w.now))
	got, err := w.Source(bg, src.ID)
	w.must(err)
	w.equal("the source", []any{got.Source.URL, got.Source.MovedFrom, got.Source.Host, got.Source.Cursor.ETag}, []any{"https://new.example/feed", "https://old.example/feed", "new.example", ""})
	w.equal("its host", got.Host.Name, "new.example")
	w.equal("its shard", w.count("select shard from poll_state where source_id = $1", src.ID), Shard("new.example"))
	found, err := w.FindSource(bg, "https://new.example/feed")
	w.must(err)
	w.equal("the source at the new address", found.Source.ID, src.ID)
	w.now = w.now.Add(time.Hour)
	claimed := w.claim()
	w.equal("claims", len(claimed), 1)
	w.equal("the claimed address", claimed[0].Source.URL, "https://new.example/feed")
}

func testMoveMerges(t *testing.T, w *world) {
	from := w.addNew(NewSource{URL: "https://old.example/feed", Title: "My title"})
	into := w.addNew(NewSource{URL: "https://new.example/feed", Hidden: true})
	_, err := w.EditSource(bg, into.ID, w.now, func(e *Watched) error { e.Source = e.Source.Disable("off"); return nil })
	w.must(err)
	_, err = w.EditSource(bg, into.ID, w.now, func(e *Watched) error { e.Source = e.Source.Enable(e.Host, w.now); return nil })
	w.must(err)
	w.read(into.ID, article("both", w.now), article("new only", w.now))
	f := w.moves(from.ID, "http://new.example/feed", article("both", w.now), article("old only", w.now))
	w.equal("removed", f.Source.RemovedAt.IsZero(), false)

	_, err = w.Source(bg, from.ID)
	w.is(err, freshet.ErrNotFound)
	got := w.source(into.ID)
	w.equal("the one that stays", []any{got.InRiver, got.Enabled, got.Title}, []any{true, true, "My title"})
	items := w.river()
	w.equal("items", len(items), 3)
	for _, i := range items {
		w.equal("sources of "+i.Title, carriers(i), []freshet.ID{into.ID})
		w.equal("owner of "+i.Title, i.Source, into.ID)
	}
	w.equal("new of what both gave", w.read(into.ID, article("both", w.now), article("old only", w.now), article("new only", w.now)).New, 0)
	removed, err := w.Sources(bg, SourceFilter{Removed: true, IDs: []freshet.ID{from.ID}})
	w.must(err)
	w.equal("the reason", removed[0].Source.DisabledReason, "It moved to http://new.example/feed, which is a source already.")
}

func testMoveToRemoved(t *testing.T, w *world) {
	gone := w.add("https://new.example/feed")
	w.read(gone.ID, article("story", w.now))
	w.must(w.RemoveSource(bg, gone.ID, w.now))
	src := w.add("https://old.example/feed")
	w.moves(src.ID, "https://new.example/feed", article("story", w.now), article("more", w.now))
	got := w.source(src.ID)
	w.equal("the source", []any{got.URL, got.Enabled}, []any{"https://new.example/feed", true})
	for _, i := range w.river() {
		w.equal("sources of "+i.Title, carriers(i), []freshet.ID{src.ID})
	}
	w.equal("sources", w.count("select count(*) from sources"), 1)
}

func testGone(t *testing.T, w *world) {
	src := w.add("https://a.example/feed")
	f := w.fails(src.ID, freshet.Failure{Class: freshet.Permanent, Code: "http_410", Status: 410, Sentence: "Gone.", Gone: true})
	got := w.source(src.ID)
	w.equal("disabled", []any{f.Disabled, got.Enabled, got.NextPollAt.IsZero(), got.DisabledReason != ""}, []any{true, false, true, true})

	other := w.add("https://b.example/feed")
	for n := 1; n <= 15; n++ {
		w.equal(fmt.Sprintf("disabled by failure %d", n), w.fails(other.ID, notFound).Disabled, n == 15)
	}
	_, err := w.EditSource(bg, other.ID, w.now, func(e *Watched) error { e.Source = e.Source.Enable(e.Host, w.now); return nil })
	w.must(err)
	got = w.source(other.ID)
	w.equal("enabled again", []any{got.Enabled, got.Failures, got.PermanentFailures, got.LastFailure == nil, got.NextPollAt}, []any{true, 0, 0, true, w.now})
}
