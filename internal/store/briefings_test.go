package store

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"freshet"
)

// What both databases must do with briefings (SPEC.md section 8). Where a scenario of the seeds tells of it, the
// test has its name.
func TestBriefings(t *testing.T) {
	for _, engine := range engines() {
		t.Run(engine, func(t *testing.T) {
			for _, test := range []struct {
				name string
				run  func(*testing.T, *world)
			}{
				{"a briefing is added, found, listed, edited and removed", testBriefingLife},
				{"what cannot be a briefing names its field", testBadBriefing},
				{"W2 a source is shared by the river and briefings", testBriefingShares},
				{"S2 the shortest interval that briefings ask for", testBriefingInterval},
				{"Twitter source polled with user context", testBriefingOwner},
				{"a source that nobody wants is removed", testBriefingUnwanted},
				{"a source of the river that a briefing has is only hidden", testBriefingHides},
				{"F3 a source of a briefing moves onto another", testBriefingMoves},
				{"W2 a source that a workflow has, too", testBriefingWorkflow},

				{"Source with failures uses backoff interval", testBriefingBackoff},
				{"Post older than max age is skipped", testBriefingTooOld},
				{"Post with null publishedAt is saved", testBriefingUndated},
				{"First poll of new source skips historical posts", testBriefingFirstPoll},
				{"First poll of new source accepts recent posts", testBriefingFirstPollAccepts},
				{"First poll with null publishedAt post is not filtered", testBriefingFirstPollUndated},
				{"Subsequent polls ignore createdAt filter", testBriefingLaterPolls},
				{"the river keeps what a briefing leaves out", testBriefingInRiver},

				{"New RSS entries stored as individual posts", testComposeEach},
				{"Nitter RSS entries stored as individual posts", testComposeNitter},
				{"B2 aggregate overrides the kind of a source", testComposeAggregate},
				{"B2 composing again makes nothing of the same posts", testComposeAgain},
				{"B3 the same content is stored once", testComposeOnce},
				{"B3 the same item is stored once", testComposeSameItem},
				{"articles are acknowledged", testAcknowledge},
				{"a composition is bounded", testComposeBounded},
				{"an article keeps its own text", testArticleText},
				{"two compositions at once make each article once", testComposeRivals},

				{"Old unprocessed articles deleted", testOldUnprocessed},
				{"Old processed articles retained", testOldProcessed},
				{"old unlinked posts deleted", testOldUnlinked},
				{"a source's own age limit holds for its posts and articles", testOwnAge},
			} {
				t.Run(test.name, func(t *testing.T) { test.run(t, newWorld(t, engine)) })
			}
		})
	}
}

// briefing adds a briefing that nobody configured with these sources, due at once.
func (w *world) briefing(name string, urls ...string) freshet.Briefing {
	w.Helper()
	return w.ownBriefing(freshet.NewBriefing(name, ""), urls...)
}

func (w *world) ownBriefing(b freshet.Briefing, urls ...string) freshet.Briefing {
	w.Helper()
	b, err := w.AddBriefing(bg, b, briefed(urls...), w.now)
	w.must(err)
	return b
}

func briefed(urls ...string) []BriefingSource {
	var list []BriefingSource
	for _, url := range urls {
		list = append(list, BriefingSource{NewSource: NewSource{URL: url, AtOnce: true}})
	}
	return list
}

func (w *world) compose(b freshet.Briefing) Composition {
	w.Helper()
	c, err := w.Compose(bg, b.ID, w.now)
	w.must(err)
	return c
}

// waitingArticles are those of a briefing that nobody acknowledged, newest first.
func (w *world) waitingArticles(b freshet.Briefing) []freshet.Article {
	w.Helper()
	list, _, err := w.Articles(bg, ArticleQuery{Briefing: b.ID})
	w.must(err)
	return list
}

func headlines(list []freshet.Article) []string {
	var titles []string
	for _, a := range list {
		titles = append(titles, a.Title)
	}
	return titles
}

// clean runs retention until nothing is left.
func (w *world) retain() {
	w.Helper()
	retainAll(w.T, w.Store, w.now, 500)
}

func testBriefingLife(t *testing.T, w *world) {
	b := freshet.NewBriefing("Morning", "alice")
	b.Interval = 30 * time.Minute
	b = w.ownBriefing(b, "https://b.example/feed", "https://a.example/feed", "https://a.example/feed")
	w.equal("its defaults (B1)", []any{b.MaxAge, b.Interval, b.Owner}, []any{7 * 24 * time.Hour, 30 * time.Minute, "alice"})
	w.equal("its sources", []string{b.Sources[0].Source.URL, b.Sources[1].Source.URL}, []string{"https://a.example/feed", "https://b.example/feed"})
	w.equal("the river's sources", len(w.listed()), 0)
	w.briefing("evening")
	list, err := w.Briefings(bg)
	w.must(err)
	w.equal("briefings by name", []string{list[0].Name, list[1].Name}, []string{"evening", "Morning"})
	for _, key := range []string{"Morning", b.ID.String()} {
		found, err := w.FindBriefing(bg, key)
		w.must(err)
		w.equal("what "+key+" finds", found.ID, b.ID)
	}
	edited, err := w.EditBriefing(bg, b.ID, w.now.Add(time.Hour), func(b *freshet.Briefing) error {
		b.Name, b.Owner, b.MaxAge, b.Interval = "Daily", "bob", 48*time.Hour, 0
		return nil
	})
	w.must(err)
	w.equal("edited", []any{edited.Name, edited.Owner, edited.MaxAge, edited.Interval, edited.UpdatedAt.Sub(edited.CreatedAt)},
		[]any{"Daily", "bob", 48 * time.Hour, time.Duration(0), time.Hour})
	w.must(w.RemoveBriefing(bg, b.ID, w.now))
	_, err = w.Briefing(bg, b.ID)
	w.is(err, freshet.ErrNotFound)
	w.is(w.RemoveBriefing(bg, b.ID, w.now), freshet.ErrNotFound)
	_, err = w.FindBriefing(bg, "Daily")
	w.is(err, freshet.ErrNotFound)
	_, err = w.Compose(bg, b.ID, w.now)
	w.is(err, freshet.ErrNotFound)
}

// listed are the sources that show in the river.
func (w *world) listed() []Watched {
	w.Helper()
	list, err := w.Sources(bg, SourceFilter{})
	w.must(err)
	return list
}

func testBadBriefing(t *testing.T, w *world) {
	w.briefing("Taken")
	week := 7 * 24 * time.Hour
	for field, bad := range map[string]struct {
		freshet.Briefing
		sources []BriefingSource
	}{
		"name":                 {freshet.Briefing{Name: "  ", MaxAge: week}, nil},
		"name ":                {freshet.Briefing{Name: "Taken", MaxAge: week}, nil},
		"name  ":               {freshet.Briefing{Name: "two\nlines", MaxAge: week}, nil},
		"owner":                {freshet.Briefing{Name: "A", Owner: strings.Repeat("x", 200), MaxAge: week}, nil},
		"max_article_age_days": {freshet.Briefing{Name: "A"}, nil},
		"interval_minutes":     {freshet.Briefing{Name: "A", MaxAge: week, Interval: -1}, nil},
		"sources[1].url":       {freshet.Briefing{Name: "A", MaxAge: week}, briefed("https://a.example/", "ftp://b.example/")},
	} {
		_, err := w.AddBriefing(bg, bad.Briefing, bad.sources, w.now)
		refusal, ok := errors.AsType[*freshet.FieldError](err)
		if !ok || refusal.Field != strings.TrimSpace(field) {
			t.Errorf("%s: the error is %v", field, err)
		}
	}
	w.equal("briefings", w.count("select count(*) from briefings"), 1)
	w.equal("sources", w.count("select count(*) from sources"), 0)
}

func testBriefingShares(t *testing.T, w *world) {
	shown := w.add("https://a.example/feed")
	b := w.briefing("One", "https://a.example/feed", "https://b.example/feed")
	other := w.briefing("Two", "http://www.b.example/feed/")
	w.equal("sources", w.count("select count(*) from sources"), 2)
	w.equal("the source in the river", []any{b.Sources[0].Source.ID, w.source(shown.ID).InRiver}, []any{shown.ID, true})
	w.equal("the source of both", b.Sources[1].Source.ID, other.Sources[0].Source.ID)
	hidden := b.Sources[1].Source
	w.equal("the other in the river", hidden.InRiver, false)
	w.equal("who asks", w.source(hidden.ID).Briefing.Name, "One, Two")

	w.read(hidden.ID, article("story", w.now))
	w.equal("the river", len(w.river()), 0)
	for _, b := range []freshet.Briefing{b, other} {
		w.compose(b)
		w.equal("articles of "+b.Name, headlines(w.waitingArticles(b)), []string{"Title of story"})
	}
	_, err := w.AddSource(bg, NewSource{URL: "https://b.example/feed"}, w.now) // a person reads it, too
	w.must(err)
	w.equal("the river", len(w.river()), 1)
	w.equal("its briefing", w.source(hidden.ID).Briefing.Name, "One, Two")
}

func testBriefingInterval(t *testing.T, w *world) {
	slow, fast := freshet.NewBriefing("Slow", ""), freshet.NewBriefing("Fast", "")
	slow.Interval, fast.Interval = 6*time.Hour, time.Hour
	b := w.ownBriefing(slow, "https://a.example/feed")
	src := b.Sources[0].Source
	w.read(src.ID, article("one", w.now))
	polled := w.now
	w.equal("the next poll", w.source(src.ID).NextPollAt, polled.Add(6*time.Hour))
	quick := w.ownBriefing(fast, "https://a.example/feed")
	w.equal("the next poll for both", w.source(src.ID).NextPollAt, polled.Add(time.Hour))
	_, err := w.EditBriefing(bg, quick.ID, w.now, func(b *freshet.Briefing) error { b.Interval = 2 * time.Hour; return nil })
	w.must(err)
	w.equal("the next poll after an edit", w.source(src.ID).NextPollAt, polled.Add(2*time.Hour))
	w.must(w.RemoveBriefing(bg, quick.ID, w.now))
	w.equal("the next poll for the slow one alone", w.source(src.ID).NextPollAt, polled.Add(6*time.Hour))
	w.equal("the age limit of two (the more lenient)", func() time.Duration {
		long := freshet.NewBriefing("Long", "")
		long.MaxAge = 20 * 24 * time.Hour
		w.ownBriefing(long, "https://a.example/feed")
		return w.settings.Policy(w.source(src.ID)).MaxAge
	}(), 20*24*time.Hour)
}

func testBriefingOwner(t *testing.T, w *world) {
	nobody := w.briefing("Nobody's", "https://a.example/feed")
	src := nobody.Sources[0].Source.ID
	w.equal("the owner in a briefing of the instance", w.source(src).Owner, "")
	alice := w.ownBriefing(freshet.NewBriefing("Alice's", "alice"), "https://a.example/feed")
	w.ownBriefing(freshet.NewBriefing("Bob's", "bob"), "https://a.example/feed")
	claimed := w.claim()
	w.equal("the owner that a poller is told", claimed[0].Source.Owner, "alice")
	w.must(w.RemoveBriefing(bg, alice.ID, w.now))
	w.equal("the owner when Alice's is gone", w.source(src).Owner, "bob")
	_, err := w.AddSource(bg, NewSource{URL: "https://b.example/feed"}, w.now)
	w.must(err)
	found, err := w.FindSource(bg, "https://b.example/feed")
	w.must(err)
	w.equal("the owner of a source without a briefing", found.Source.Owner, "")
}

func testBriefingUnwanted(t *testing.T, w *world) {
	shown := w.add("https://shown.example/feed")
	b := w.briefing("One", "https://shown.example/feed", "https://only.example/feed", "https://both.example/feed", "https://left.example/feed")
	w.briefing("Two", "https://both.example/feed")
	ids := map[string]freshet.ID{}
	for _, s := range b.Sources {
		ids[s.Source.Host] = s.Source.ID
	}
	changed, err := w.RemoveFromBriefing(bg, b.ID, ids["left.example"], w.now)
	w.must(err)
	w.equal("sources left", len(changed.Sources), 3)
	_, err = w.Source(bg, ids["left.example"])
	w.is(err, freshet.ErrNotFound)
	_, err = w.RemoveFromBriefing(bg, b.ID, ids["left.example"], w.now)
	w.is(err, freshet.ErrNotFound)
	w.must(w.RemoveBriefing(bg, b.ID, w.now))
	_, err = w.Source(bg, ids["only.example"])
	w.is(err, freshet.ErrNotFound)
	w.equal("who asks for what another briefing has", w.source(ids["both.example"]).Briefing.Name, "Two")
	w.equal("what is in the river", []any{w.source(shown.ID).InRiver, w.source(shown.ID).Briefing == freshet.BriefingPolicy{}}, []any{true, true})
	w.equal("due sources", len(w.claim()), 2)

	again := w.briefing("Three", "https://only.example/feed") // what was removed comes back
	w.equal("the source", again.Sources[0].Source.ID, ids["only.example"])
	w.equal("due", w.source(ids["only.example"]).NextPollAt, w.now)
}

func testBriefingHides(t *testing.T, w *world) {
	src := w.add("https://a.example/feed")
	w.read(src.ID, article("story", w.now))
	b := w.briefing("One", "https://a.example/feed")
	w.must(w.RemoveSource(bg, src.ID, w.now))
	got := w.source(src.ID)
	w.equal("in the river, scheduled", []bool{got.InRiver, got.NextPollAt.IsZero()}, []bool{false, false})
	w.equal("items in the river (D7)", len(w.river()), 1)
	_, err := w.RestoreSource(bg, src.ID, w.now)
	w.must(err)
	w.equal("in the river when the removal is taken back", w.source(src.ID).InRiver, true)

	w.must(w.RemoveSource(bg, src.ID, w.now))
	w.must(w.RemoveSource(bg, src.ID, w.now)) // of the briefing, too
	_, err = w.Source(bg, src.ID)
	w.is(err, freshet.ErrNotFound)
	found, err := w.Briefing(bg, b.ID)
	w.must(err)
	w.equal("sources of the briefing", len(found.Sources), 0)
}

func testBriefingMoves(t *testing.T, w *world) {
	b := w.briefing("One", "https://old.example/feed")
	old := b.Sources[0].Source
	into := w.add("https://new.example/feed")
	w.read(old.ID, article("story", w.now))
	w.compose(b)
	for range 3 {
		w.now = w.now.Add(time.Minute)
		w.finish(old.ID, &freshet.Outcome{Status: 200, Unchanged: true, MovedTo: "https://new.example/feed"})
	}
	got, err := w.Briefing(bg, b.ID)
	w.must(err)
	if len(got.Sources) != 1 || got.Sources[0].Source.ID != into.ID {
		t.Fatalf("the briefing has %+v, want the source that it moved onto", got.Sources)
	}
	w.equal("who asks", w.source(into.ID).Briefing.Name, "One")
	w.equal("articles of what was composed before", w.compose(b).Articles, 0)
}

// Whoever goes last takes the source along; a workflow that is switched off only stops its polls.
func testBriefingWorkflow(t *testing.T, w *world) {
	b := w.briefing("One", watchedURL)
	src := b.Sources[0].Source.ID
	flow := w.workflow(nil)
	w.equal("the source of both", flow.Source, src)
	w.read(src, article("history", w.now.Add(-24*time.Hour)), article("young", w.now.Add(time.Second)))
	w.equal("articles", w.compose(b).Articles, 1)
	w.equal("what the workflow sees", w.titles(w.executions(flow.ID)[0]), []string{"Title of history", "Title of young"})
	_, err := w.SwitchWorkflow(bg, flow.ID, false, w.now)
	w.must(err)
	w.equal("polled for the briefing", w.source(src).NextPollAt.IsZero(), false)
	w.must(w.RemoveBriefing(bg, b.ID, w.now))
	w.equal("polled for nobody", w.source(src).NextPollAt.IsZero(), true)
	_, err = w.SwitchWorkflow(bg, flow.ID, true, w.now)
	w.must(err)
	w.equal("polled for the workflow", w.source(src).NextPollAt, w.now)
	again := w.briefing("Two", watchedURL)
	w.must(w.DeleteWorkflow(bg, flow.ID, w.now))
	w.equal("who asks", w.source(src).Briefing.Name, "Two")
	w.must(w.RemoveBriefing(bg, again.ID, w.now))
	_, err = w.Source(bg, src)
	w.is(err, freshet.ErrNotFound)
}

// Seed: consecutiveFailures = 2 and pollIntervalMinutes = 60 wait 240 minutes.
func testBriefingBackoff(t *testing.T, w *world) {
	hourly := freshet.NewBriefing("Hourly", "")
	hourly.Interval = time.Hour
	src := w.ownBriefing(hourly, "https://a.example/feed").Sources[0].Source.ID
	for range 2 {
		w.fails(src, timeout)
	}
	w.equal("the wait after two failures", w.source(src).NextPollAt.Sub(w.now), 240*time.Minute)
}

func testBriefingTooOld(t *testing.T, w *world) {
	src := w.briefing("One", "https://a.example/feed").Sources[0].Source.ID
	w.read(src)
	w.now = w.now.Add(10 * 24 * time.Hour)
	f := w.read(src, article("old", w.now.Add(-8*24*time.Hour)), article("young", w.now.Add(-6*24*time.Hour)))
	w.equal("stored and too old", []int{f.New, f.TooOld}, []int{1, 1})
}

func testBriefingUndated(t *testing.T, w *world) {
	src := w.briefing("One", "https://a.example/feed").Sources[0].Source.ID
	w.read(src)
	w.equal("stored", w.read(src, article("undated", time.Time{})).New, 1)
}

// created is when the source of the seed's scenarios was (2026-02-17T10:00:00Z); it is the world's clock.
func testBriefingFirstPoll(t *testing.T, w *world) {
	b := w.briefing("One", "https://a.example/feed")
	src := b.Sources[0].Source
	w.equal("created", src.CreatedAt, time.Date(2026, 2, 17, 10, 0, 0, 0, time.UTC))
	f := w.read(src.ID, article("historical", time.Date(2026, 2, 15, 8, 0, 0, 0, time.UTC)))
	w.equal("stored and skipped", []int{f.New, f.TooOld}, []int{0, 1})
	w.equal("articles", w.compose(b).Articles, 0)
}

func testBriefingFirstPollAccepts(t *testing.T, w *world) {
	b := w.briefing("One", "https://a.example/feed")
	w.now = w.now.Add(3 * time.Hour)
	f := w.read(b.Sources[0].Source.ID, article("recent", time.Date(2026, 2, 17, 12, 0, 0, 0, time.UTC)))
	w.equal("stored and composed", []int{f.New, w.compose(b).Articles}, []int{1, 1})
}

func testBriefingFirstPollUndated(t *testing.T, w *world) {
	b := w.briefing("One", "https://a.example/feed")
	f := w.read(b.Sources[0].Source.ID, article("undated", time.Time{}))
	w.equal("stored and composed", []int{f.New, w.compose(b).Articles}, []int{1, 1})
}

func testBriefingLaterPolls(t *testing.T, w *world) {
	b := w.briefing("One", "https://a.example/feed")
	src := b.Sources[0].Source.ID
	w.read(src)
	w.now = time.Date(2026, 2, 17, 12, 0, 0, 0, time.UTC)
	f := w.read(src, article("late", time.Date(2026, 2, 16, 8, 0, 0, 0, time.UTC)))
	w.equal("stored and composed", []int{f.New, w.compose(b).Articles}, []int{1, 1})
}

// A source that people read in the river keeps the river's rules; the briefing leaves out what is history or too old for it.
func testBriefingInRiver(t *testing.T, w *world) {
	early := w.add("https://early.example/feed")
	w.read(early.ID, article("before", w.now.Add(-time.Hour)))
	w.now = w.now.Add(time.Hour)
	late := w.add("https://late.example/feed")
	b := w.briefing("One", "https://early.example/feed", "https://late.example/feed")
	joined := w.now
	f := w.read(late.ID, article("first poll", joined.Add(-time.Hour)), article("too old", joined.Add(-20*24*time.Hour)))
	w.equal("stored of the first poll", f.New, 2)
	w.equal("the river", len(w.river()), 3)
	w.equal("articles of history", w.compose(b).Articles, 0)
	w.read(late.ID, article("listed late", joined.Add(-2*time.Hour)), article("young", joined.Add(time.Second)))
	w.read(early.ID, article("listed late there", joined.Add(-3*time.Hour)))
	w.compose(b)
	w.equal("articles", headlines(w.waitingArticles(b)), []string{"Title of young", "Title of listed late", "Title of listed late there"})

	all := false
	_, err := w.EditSource(bg, early.ID, w.now, func(e *Watched) error { e.Source.Config.SkipHistory = &all; return nil })
	w.must(err)
	w.equal("articles of a source whose history is wanted", w.compose(b).Articles, 1)
}

func testComposeEach(t *testing.T, w *world) {
	b := w.briefing("One", "https://a.example/feed")
	src := b.Sources[0].Source.ID
	w.read(src)
	f := w.read(src, article("one", w.now), article("two", w.now.Add(time.Second)), article("three", w.now.Add(2*time.Second)))
	w.equal("posts", f.New, 3)
	w.equal("articles made by polling", w.count("select count(*) from articles"), 0)
	w.equal("composition", w.compose(b), Composition{Articles: 3, Posts: 3})
	list := w.waitingArticles(b)
	w.equal("articles", headlines(list), []string{"Title of three", "Title of two", "Title of one"})
	a := list[2]
	w.equal("an article", []any{a.Source, a.SourceName, a.URL, a.Text, a.PublishedAt, a.CreatedAt, a.Processed()},
		[]any{src, "a.example/feed", "https://news.example/one", "Text of one", w.now.Add(-time.Minute), w.now, false})
}

func testComposeNitter(t *testing.T, w *world) {
	b := w.briefing("One", "https://nitter.example/golang/rss")
	src := b.Sources[0].Source.ID
	w.read(src)
	start := time.Date(2026, 2, 17, 11, 0, 0, 0, time.UTC)
	w.now = start
	var posts []freshet.Post
	for i := range 5 {
		posts = append(posts, article(fmt.Sprint(i), start.Add(time.Duration(i)*time.Second)))
	}
	w.equal("posts", w.read(src, posts...).New, 5)
	w.equal("stored posts", w.count("select count(*) from posts"), 5)
	w.equal("composition", w.compose(b), Composition{Articles: 1, Posts: 5})
	a := w.waitingArticles(b)[0]
	w.equal("the article", []any{a.Title, a.URL, a.PublishedAt}, []any{"Posts from @golang — Feb 17, 2026", "https://x.com/golang", start.Add(4 * time.Second)})
	for i := range 5 {
		if !strings.Contains(a.Text, fmt.Sprint("Text of ", i)) {
			t.Errorf("post %d is not in %q", i, a.Text)
		}
	}
	w.equal("what stands between posts", strings.Count(a.Text, "\n---\n"), 4)
}

func testComposeAggregate(t *testing.T, w *world) {
	yes, no := true, false
	b := w.briefing("One")
	_, err := w.AddToBriefing(bg, b.ID, []BriefingSource{
		{NewSource: NewSource{URL: "https://a.example/feed", Title: "A"}, Aggregate: &yes},
		{NewSource: NewSource{URL: "https://nitter.example/golang/rss"}, Aggregate: &no},
	}, w.now)
	w.must(err)
	b, err = w.Briefing(bg, b.ID)
	w.must(err)
	for _, s := range b.Sources {
		w.read(s.Source.ID)
		w.read(s.Source.ID, article(s.Source.Host+"1", w.now), article(s.Source.Host+"2", w.now))
	}
	w.compose(b)
	got := headlines(w.waitingArticles(b))
	slices.Sort(got)
	w.equal("articles", got, []string{"Posts from A — Feb 17, 2026", "Title of nitter.example1", "Title of nitter.example2"})
	_, err = w.AddToBriefing(bg, b.ID, []BriefingSource{{NewSource: NewSource{URL: "https://a.example/feed"}}}, w.now)
	w.must(err)
	b, err = w.Briefing(bg, b.ID)
	w.must(err)
	w.equal("what is unset again", []any{len(b.Sources), b.Sources[0].Aggregate == nil}, []any{2, true})
}

func testComposeAgain(t *testing.T, w *world) {
	b := w.briefing("One", "https://a.example/feed")
	src := b.Sources[0].Source.ID
	w.read(src)
	w.read(src, article("one", w.now))
	w.compose(b)
	w.equal("composed again", w.compose(b), Composition{})
	w.read(src, article("two", w.now))
	w.equal("composed with one more", w.compose(b), Composition{Articles: 1, Posts: 1})
	list := w.waitingArticles(b)
	_, err := w.Acknowledge(bg, b.ID, []freshet.ID{list[0].ID, list[1].ID}, w.now)
	w.must(err)
	w.equal("composed after all were acknowledged", w.compose(b), Composition{})
}

// sameText is another entry with the content of an article.
func sameText(name, as string, published time.Time) freshet.Post {
	p := article(name, published)
	p.Text = article(as, published).Text
	return p
}

func testComposeOnce(t *testing.T, w *world) {
	b := w.briefing("One", "https://a.example/feed", "https://b.example/feed", "https://nitter.example/c/rss", "https://z.example/feed")
	other := w.briefing("Two", "https://b.example/feed", "https://z.example/feed")
	for _, s := range b.Sources {
		w.read(s.Source.ID)
	}
	first, second, third := b.Sources[0].Source.ID, b.Sources[1].Source.ID, b.Sources[2].Source.ID
	at := w.now
	w.read(first, article("original", at))
	w.read(second, sameText("copy", "original", at.Add(time.Second)))
	w.read(third, sameText("repost", "original", at.Add(2*time.Second)), article("own", at.Add(3*time.Second)))
	w.equal("composition", w.compose(b), Composition{Articles: 2, Posts: 4})
	w.equal("articles", headlines(w.waitingArticles(b)), []string{"Posts from @c — Feb 17, 2026", "Title of original"})
	if text := w.waitingArticles(b)[0].Text; strings.Contains(text, "original") || !strings.Contains(text, "Text of own") {
		t.Errorf("what is gathered is %q", text)
	}
	_, err := w.Acknowledge(bg, b.ID, nil, w.now)
	w.must(err)
	w.read(b.Sources[3].Source.ID, sameText("later copy", "original", w.now))
	w.equal("a copy of what was acknowledged", w.compose(b), Composition{Posts: 1})
	w.equal("another briefing", []any{w.compose(other), len(w.waitingArticles(other))}, []any{Composition{Articles: 1, Posts: 2}, 1})
}

// Two sources carry one article under one guid, in other words: the item is one, and so is the article.
func testComposeSameItem(t *testing.T, w *world) {
	b := w.briefing("One", "https://a.example/feed", "https://b.example/feed")
	for _, s := range b.Sources {
		w.read(s.Source.ID)
	}
	shorter := article("story", w.now)
	shorter.Text = "Shorter"
	w.read(b.Sources[0].Source.ID, article("story", w.now))
	w.read(b.Sources[1].Source.ID, shorter)
	w.equal("composition", w.compose(b), Composition{Articles: 1, Posts: 2})
	w.equal("its text", w.waitingArticles(b)[0].Text, "Text of story")
}

func testAcknowledge(t *testing.T, w *world) {
	b, other := w.briefing("One", "https://a.example/feed"), w.briefing("Two", "https://a.example/feed")
	src := b.Sources[0].Source.ID
	w.read(src)
	w.read(src, article("one", w.now), article("two", w.now.Add(time.Second)), article("three", w.now.Add(2*time.Second)))
	w.compose(b)
	w.compose(other)
	list := w.waitingArticles(b)
	foreign := w.waitingArticles(other)[0].ID
	n, err := w.Acknowledge(bg, b.ID, []freshet.ID{list[0].ID, foreign, 12345}, w.now)
	w.must(err)
	w.equal("acknowledged", n, 1)
	n, err = w.Acknowledge(bg, b.ID, []freshet.ID{list[0].ID}, w.now.Add(time.Hour))
	w.must(err)
	w.equal("acknowledged again", n, 0)
	w.equal("waiting", headlines(w.waitingArticles(b)), []string{"Title of two", "Title of one"})
	done, _, err := w.Articles(bg, ArticleQuery{Briefing: b.ID, Processed: true})
	w.must(err)
	w.equal("processed", []any{len(done), done[0].Title, done[0].ProcessedAt, done[0].Processed()}, []any{1, "Title of three", w.now, true})
	w.equal("waiting in the other", len(w.waitingArticles(other)), 3)
	n, err = w.Acknowledge(bg, b.ID, []freshet.ID{}, w.now)
	w.must(err)
	w.equal("none acknowledged", n, 0)
	n, err = w.Acknowledge(bg, b.ID, nil, w.now)
	w.must(err)
	w.equal("all acknowledged", []int{n, len(w.waitingArticles(b))}, []int{2, 0})
}

func testComposeBounded(t *testing.T, w *world) {
	b := w.briefing("One", "https://a.example/feed")
	src := b.Sources[0].Source.ID
	w.read(src)
	var posts []freshet.Post
	for i := range composeAtOnce + 20 {
		posts = append(posts, article(fmt.Sprintf("%04d", i), w.now.Add(time.Duration(i)*time.Millisecond)))
	}
	w.read(src, posts...)
	w.equal("first", w.compose(b), Composition{Articles: composeAtOnce, Posts: composeAtOnce, More: true})
	list, more, err := w.Articles(bg, ArticleQuery{Briefing: b.ID, Limit: 2})
	w.must(err)
	w.equal("the newest", []any{headlines(list), more}, []any{[]string{"Title of 1019", "Title of 1018"}, true})
	w.equal("second", w.compose(b), Composition{Articles: 20, Posts: 20})
	w.equal("third", w.compose(b), Composition{})

	big := article("big", w.now)
	big.Text = strings.Repeat("x", composeBytes-10)
	bigger := article("bigger", w.now.Add(-time.Second))
	bigger.Text = strings.Repeat("y", composeBytes+10)
	w.read(src, big, bigger)
	w.equal("what is large", w.compose(b), Composition{Articles: 1, Posts: 1, More: true})
	w.equal("what is too large for any", w.compose(b), Composition{Articles: 1, Posts: 1})
	list, more, err = w.Articles(bg, ArticleQuery{Briefing: b.ID, Limit: 3})
	w.must(err)
	w.equal("an answer", []any{len(list), more}, []any{2, true})
}

// The item is edited, then retention takes it: the article stays what it was.
func testArticleText(t *testing.T, w *world) {
	b := w.briefing("One", "https://a.example/feed")
	src := b.Sources[0].Source.ID
	w.read(src)
	w.read(src, article("story", w.now))
	w.compose(b)
	edited := article("story", w.now)
	edited.Text = "Other words"
	w.equal("edits", w.read(src, edited).Edited, 1)
	w.equal("composed after an edit", w.compose(b), Composition{})
	_, err := w.Acknowledge(bg, b.ID, nil, w.now)
	w.must(err)
	w.now = w.now.Add(40 * 24 * time.Hour)
	w.retain()
	w.equal("items", w.count("select count(*) from items"), 0)
	done, _, err := w.Articles(bg, ArticleQuery{Briefing: b.ID, Processed: true})
	w.must(err)
	w.equal("the article", []any{len(done), done[0].Text}, []any{1, "Text of story"})
	w.must(w.RemoveBriefing(bg, b.ID, w.now))
	w.equal("articles of a briefing that was removed", w.count("select count(*) from articles")+w.count("select count(*) from post_articles"), 0)
}

func testComposeRivals(t *testing.T, w *world) {
	b := w.briefing("One", "https://a.example/feed")
	src := b.Sources[0].Source.ID
	w.read(src)
	var posts []freshet.Post
	for i := range 50 {
		posts = append(posts, article(fmt.Sprint(i), w.now))
	}
	w.read(src, posts...)
	other := w.open()
	defer other.Close()
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			s := []*Store{w.Store, other}[i%2]
			if _, err := s.Compose(bg, b.ID, w.now); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	w.equal("articles", w.count("select count(*) from articles"), 50)
}

// twoArticles are composed of posts that are six and one days old at the end; the clock is there.
func twoArticles(w *world) freshet.Briefing {
	b := w.briefing("One", "https://a.example/feed")
	src := b.Sources[0].Source.ID
	w.read(src)
	w.read(src, article("older", w.now))
	w.now = w.now.Add(5 * 24 * time.Hour)
	w.read(src, article("younger", w.now))
	w.compose(b)
	w.now = w.now.Add(24 * time.Hour)
	return b
}

func testOldUnprocessed(t *testing.T, w *world) {
	b := twoArticles(w)
	w.retain()
	w.equal("articles within the age limit", len(w.waitingArticles(b)), 2)
	w.now = w.now.Add(24 * time.Hour)
	w.retain()
	w.equal("articles when one is too old", headlines(w.waitingArticles(b)), []string{"Title of younger"})
	w.equal("posts", w.count("select count(*) from posts"), 1)
	w.equal("composed again", w.compose(b), Composition{})
}

func testOldProcessed(t *testing.T, w *world) {
	b := twoArticles(w)
	list := w.waitingArticles(b)
	_, err := w.Acknowledge(bg, b.ID, []freshet.ID{list[1].ID}, w.now)
	w.must(err)
	w.now = w.now.Add(20 * 24 * time.Hour)
	w.retain()
	done, _, err := w.Articles(bg, ArticleQuery{Briefing: b.ID, Processed: true})
	w.must(err)
	w.equal("processed and waiting", []any{headlines(done), len(w.waitingArticles(b))}, []any{[]string{"Title of older"}, 0})
	w.equal("the post of the processed one", w.count("select count(*) from posts"), 1)
}

func testOldUnlinked(t *testing.T, w *world) {
	shown := w.add("https://shown.example/feed")
	b := w.briefing("One", "https://a.example/feed", "https://b.example/feed", "https://shown.example/feed")
	first, second := b.Sources[0].Source.ID, b.Sources[1].Source.ID
	for _, s := range b.Sources {
		w.read(s.Source.ID)
	}
	at := w.now
	w.read(first, article("alone", at), article("in both", at), article("in the river", at))
	w.read(second, article("in both", at))
	w.read(shown.ID, article("in the river", at), article("of the river", at))
	w.now = at.Add(8 * 24 * time.Hour)
	w.read(first, article("young", w.now))
	for n, err := w.IndexText(bg, 100, w.now); n > 0; n, err = w.IndexText(bg, 100, w.now) {
		w.must(err)
	}
	w.retain()
	w.equal("items", w.count("select count(*) from items"), 3)
	w.equal("the river", len(w.river()), 2)
	w.equal("posts", w.count("select count(*) from posts"), 4)
	if !w.dialect.arrays {
		w.equal("search rows", w.count("select count(*) from search"), 3)
	}
	w.equal("what is still listed (D7a)", w.read(first, article("alone", at), article("young", w.now)).New, 0)
}

func testOwnAge(t *testing.T, w *world) {
	b := w.briefing("One", "https://a.example/feed", "https://b.example/feed")
	long, plain := b.Sources[0].Source.ID, b.Sources[1].Source.ID
	days := 20.0
	_, err := w.EditSource(bg, long, w.now, func(e *Watched) error { e.Source.Config.MaxArticleAgeDays = &days; return nil })
	w.must(err)
	for _, id := range []freshet.ID{long, plain} {
		w.read(id)
	}
	at := w.now
	w.read(long, article("long", at), article("long unlinked", at))
	w.read(plain, article("plain", at))
	w.compose(b)
	w.now = at.Add(10 * 24 * time.Hour)
	w.retain()
	w.equal("after ten days", len(w.waitingArticles(b)), 2)
	w.now = at.Add(21 * 24 * time.Hour)
	w.retain()
	w.equal("after 21 days", []int{len(w.waitingArticles(b)), w.count("select count(*) from posts")}, []int{0, 0})
}

// BenchmarkCompose composes a briefing of 100 sources: 1,000 new posts of 1.2 kB, and once more when 10,000 are linked
// and nothing is new.
func BenchmarkCompose(b *testing.B) {
	for _, engine := range engines() {
		b.Run(engine, func(b *testing.B) {
			s := openEngine(b, engine)
			now := time.Date(2026, 2, 17, 10, 0, 0, 0, time.UTC)
			var sources []BriefingSource
			for i := range 100 {
				sources = append(sources, briefed(fmt.Sprintf("https://host%d.example/feed", i))...)
			}
			made, err := s.AddBriefing(bg, freshet.NewBriefing("Bench", ""), sources, now)
			if err != nil {
				b.Fatal(err)
			}
			round := 0
			fill := func() { // 1,000 posts, and twenty minutes later
				round++
				var polls []Poll
				for _, has := range made.Sources {
					w, err := s.Source(bg, has.Source.ID)
					if err != nil {
						b.Fatal(err)
					}
					o := &freshet.Outcome{At: now, Status: 200, BodyHash: fmt.Sprint(round)}
					for i := range 10 {
						p := article(fmt.Sprintf("%s/%d/%d", w.Source.Host, round, i), now)
						p.Text += strings.Repeat(" word", 240)
						o.Posts = append(o.Posts, p)
					}
					freshet.Identify(o.Posts, w.Source.ID, w.Source.Host)
					polls = append(polls, Poll{w.Source.ID, w.Source.Seq, o})
				}
				if _, err := s.FinishPolls(bg, polls, now); err != nil {
					b.Fatal(err)
				}
				now = now.Add(20 * time.Minute)
			}
			compose := func(want int) {
				c, err := s.Compose(bg, made.ID, now)
				if err != nil || c.Articles != want {
					b.Fatalf("%+v, %v; want %d articles", c, err, want)
				}
			}
			for range 10 {
				fill()
				compose(1000)
			}
			if s.dialect.arrays { // as the server's own vacuum sees to; SQLite goes without
				if _, err := s.writer.Exec("analyze"); err != nil {
					b.Fatal(err)
				}
			}
			b.Run("1,000 new", func(b *testing.B) {
				for range b.N {
					b.StopTimer()
					fill()
					b.StartTimer()
					compose(1000)
				}
			})
			b.Run("nothing new", func(b *testing.B) {
				for range b.N {
					compose(0)
				}
			})
			b.Run("cleaned, nothing to do", func(b *testing.B) {
				for range b.N {
					if n, err := s.cleanBriefings(bg, now, 500); n != 0 || err != nil {
						b.Fatal(n, err)
					}
				}
			})
		})
	}
}

// What briefings read walks an index, however many posts and articles there are.
func TestBriefingPlans(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		id, now := freshet.ID(1), time.Now()
		if s.dialect.arrays { // on tables this small PostgreSQL would rather read all
			s.writer.SetMaxOpenConns(1)
			s.reader.SetMaxOpenConns(1)
			if _, err := s.reader.Exec("set enable_seqscan = off"); err != nil {
				t.Fatal(err)
			}
		}
		for name, c := range map[string]struct {
			text string
			args []any
		}{
			"posts that wait":      {waitingPosts, []any{id, now, int64(0), 1, id, 10}},
			"posts past the limit": {unlinkedPosts, []any{id, now, 10}},
			"articles past it":     {staleArticles + "source_id not in ($3...) order by published_at limit $4", []any{id, now, []freshet.ID{2}, 10}},
			"articles that wait":   {articleColumns + "null order by a.published_at desc, a.id desc limit $2", []any{id, 10}},
			"processed articles":   {articleColumns + "not null order by a.processed_at desc, a.id desc limit $2", []any{id, 10}},
		} {
			got := plan(t, s, c.text, c.args...)
			if never := regexp.MustCompile(`(?i)seq scan|SCAN (p|f|a|i|posts|articles)\b`); never.MatchString(got) {
				t.Errorf("%s:\n%s", name, got)
			}
		}
	})
}
