package store

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"freshet"
)

func testSourceLife(t *testing.T, w *world) {
	delay := 2.5
	config := freshet.Config{Cadence: &freshet.Cadence{Mode: "interval", EveryMinutes: 480}, PollDelaySeconds: &delay}
	b := w.addNew(NewSource{URL: "https://B.example:443/feed", Title: "beta", Folder: "Work", SiteURL: "https://b.example/", Config: config, AtOnce: true})
	a := w.addNew(NewSource{URL: "https://a.example/feed", Title: "Alpha", AtOnce: true})
	hidden := w.addNew(NewSource{URL: "https://c.example/", Type: freshet.HTTP, Hidden: true})

	got, err := w.Source(bg, b.ID)
	w.must(err)
	src := got.Source
	w.equal("the source", []any{src.Type, src.URL, src.Host, src.Title, src.Folder, src.SiteURL, src.InRiver, src.Enabled, src.Health()},
		[]any{freshet.RSS, "https://B.example:443/feed", "b.example", "beta", "Work", "https://b.example/", true, true, freshet.Pending})
	w.equal("its cadence and delay", []any{*src.Config.Cadence, *src.Config.PollDelaySeconds}, []any{*config.Cadence, delay})
	w.equal("its times", []time.Time{src.CreatedAt, src.NextPollAt}, []time.Time{w.now, w.now})
	w.equal("its host", got.Host.Name, "b.example")

	handle := w.addNew(NewSource{URL: " @name ", Type: freshet.Twitter, Hidden: true})
	w.equal("a handle's address and host", []any{handle.URL, handle.Host, handle.Type}, []any{"https://x.com/name", "api.x.com", freshet.Twitter})
	w.must(w.RemoveSource(bg, handle.ID, w.now))

	for _, name := range []string{b.ID.String(), "http://www.b.example/feed/"} {
		found, err := w.FindSource(bg, name)
		w.must(err)
		w.equal("the source found by "+name, found.Source.ID, b.ID)
	}
	_, err = w.FindSource(bg, "https://nowhere.example/")
	w.is(err, freshet.ErrNotFound)
	_, err = w.Source(bg, 12345)
	w.is(err, freshet.ErrNotFound)

	ids := func(f SourceFilter) (ids []freshet.ID) {
		list, err := w.Sources(bg, f)
		w.must(err)
		for _, s := range list {
			ids = append(ids, s.Source.ID)
		}
		return ids
	}
	w.equal("the list by name", ids(SourceFilter{}), []freshet.ID{a.ID, b.ID})
	w.equal("the list with hidden ones", ids(SourceFilter{Hidden: true}), []freshet.ID{a.ID, b.ID, hidden.ID})
	w.equal("the list of one", ids(SourceFilter{IDs: []freshet.ID{b.ID}}), []freshet.ID{b.ID})
	w.equal("the list of none", len(ids(SourceFilter{IDs: []freshet.ID{}})), 0)

	w.now = w.now.Add(time.Hour)
	edited, err := w.EditSource(bg, a.ID, w.now, func(e *Watched) error {
		e.Source.Title, e.Source.Folder = "Zeta", "Home"
		e.Source = e.Source.Disable("not now")
		return nil
	})
	w.must(err)
	src = w.source(a.ID)
	w.equal("the edited source", []any{src.Title, src.Folder, src.Health(), src.DisabledReason, src.NextPollAt.IsZero(), src.UpdatedAt},
		[]any{"Zeta", "Home", freshet.Disabled, "not now", true, w.now})
	w.equal("what EditSource returned", edited.Source.Title, "Zeta")
	if src.Seq == a.Seq {
		t.Error("disabling leaves seq as it was: a poll in flight would be recorded")
	}
	refusal := errors.New("no")
	_, err = w.EditSource(bg, a.ID, w.now, func(e *Watched) error { e.Source.Title = "lost"; return refusal })
	w.is(err, refusal)
	w.equal("the title after a refused edit", w.source(a.ID).Title, "Zeta")
	_, err = w.EditSource(bg, 99, w.now, func(*Watched) error { return nil })
	w.is(err, freshet.ErrNotFound)

	w.must(w.RemoveSource(bg, b.ID, w.now))
	_, err = w.Source(bg, b.ID)
	w.is(err, freshet.ErrNotFound)
	w.is(w.RemoveSource(bg, b.ID, w.now), freshet.ErrNotFound)
	w.equal("the list after removing", ids(SourceFilter{}), []freshet.ID{a.ID})
	w.equal("the list with removed ones", ids(SourceFilter{Removed: true}), []freshet.ID{b.ID, a.ID})
	again := w.addNew(NewSource{URL: "https://b.example/feed", Title: "Beta again", AtOnce: true})
	w.equal("the id after adding it again", again.ID, b.ID)
	w.equal("its title and next poll", []any{again.Title, w.source(b.ID).NextPollAt}, []any{"Beta again", w.now})
}

func testDuplicate(t *testing.T, w *world) {
	first := w.addNew(NewSource{URL: "https://www.a.example/feed/", Title: "First"})
	for _, url := range []string{"https://a.example/feed", "http://a.example/feed/", "HTTPS://A.example:443/feed"} {
		_, err := w.AddSource(bg, NewSource{URL: url}, w.now)
		var duplicate *freshet.DuplicateError
		if !errors.As(err, &duplicate) || duplicate.Existing.ID != first.ID {
			t.Errorf("adding %s again gives %v", url, err)
		}
	}
	if _, err := w.AddSource(bg, NewSource{URL: "https://a.example/feed?page=2"}, w.now); err != nil {
		t.Errorf("another query is another source: %v", err)
	}
}

func testBadSource(t *testing.T, w *world) {
	minus := -1.0
	nan := math.NaN()
	for _, test := range []struct {
		source NewSource
		field  string
	}{
		{NewSource{URL: "not a url"}, "url"},
		{NewSource{URL: "ftp://a.example/"}, "url"},
		{NewSource{URL: ""}, "url"},
		{NewSource{URL: "https://"}, "url"},
		{NewSource{URL: "https://a.example/", Type: "gopher"}, "type"},
		{NewSource{URL: "https://a.example/", Config: freshet.Config{PollDelaySeconds: &minus}}, "config.poll_delay_seconds"},
		{NewSource{URL: "https://a.example/", Config: freshet.Config{MaxArticleAgeDays: &nan}}, "config.max_article_age_days"},
		{NewSource{URL: "https://a.example/", Config: freshet.Config{Cadence: &freshet.Cadence{}}}, "config.cadence.every_minutes"},
	} {
		_, err := w.AddSource(bg, test.source, w.now)
		var field *freshet.FieldError
		if !errors.As(err, &field) || field.Field != test.field {
			t.Errorf("%+v gives %v, want an error of field %s", test.source, err, test.field)
		}
	}
	a := w.add("https://a.example/")
	_, err := w.EditSource(bg, a.ID, w.now, func(e *Watched) error { e.Source.Config.Retry = "never"; return nil })
	var field *freshet.FieldError
	if !errors.As(err, &field) || field.Field != "config.retry" {
		t.Errorf("a bad edit gives %v", err)
	}
	w.equal("sources", w.count("select count(*) from sources"), 1)
}

func testAddMany(t *testing.T, w *world) {
	known := w.add("https://host7.example/feed7")
	var list []NewSource
	for i := range 700 {
		list = append(list, NewSource{URL: fmt.Sprintf("https://host%d.example/feed%d", i%100, i)})
	}
	list = append(list, NewSource{URL: "http://host0.example/feed0/"})
	added, err := w.AddSources(bg, list, w.now)
	w.must(err)
	for i, a := range added {
		if wantKnown := i == 7 || i == 700; a.Known != wantKnown {
			t.Errorf("source %d is known: %v, want %v", i, a.Known, wantKnown)
		}
	}
	w.equal("the id of the known one", added[7].Source.ID, known.ID)
	w.equal("the id of the one named twice", added[700].Source.ID, added[0].Source.ID)
	w.equal("sources", w.count("select count(*) from sources"), 700)
	w.equal("hosts", w.count("select count(*) from hosts"), 100)
	src := w.source(added[0].Source.ID)
	w.equal("the synthetic last poll", *src.Cursor.SyntheticPollAt, w.now.Add(-450*time.Second))
	w.equal("the first poll", src.NextPollAt, w.now.Add(450*time.Second))
	_, err = w.AddSources(bg, []NewSource{{URL: "https://good.example/"}, {URL: "bad"}}, w.now)
	if err == nil || !strings.Contains(err.Error(), "bad") {
		t.Errorf("a list with a bad address gives %v", err)
	}
}

func testCleanText(t *testing.T, w *world) {
	src := w.addNew(NewSource{URL: "https://a.example/", Title: "nul\x00 and \xff", Folder: "\x00"})
	w.equal("the title", w.source(src.ID).Title, "nul and \uFFFD")
	dirty := func(s string) string { return s + "\x00\xc3\x28" }
	post := freshet.Post{
		GUID: dirty("guid"), URL: dirty("https://a.example/1"), Title: dirty("title"), Author: dirty("author"), Text: dirty("text"), Image: dirty("image"),
		Enclosures: []freshet.Enclosure{{URL: dirty("e"), Type: dirty("t")}},
	}
	w.finish(src.ID, &freshet.Outcome{Status: 200, Posts: []freshet.Post{post}, Title: dirty("feed"), SiteURL: dirty("site"), Partial: dirty("partial"), BodyHash: dirty("h")})
	items := w.river()
	w.equal("items", len(items), 1)
	w.equal("the item's title", items[0].Title, "title\uFFFD(")
	w.equal("the feed's title", w.source(src.ID).FeedTitle, "feed\uFFFD(")
	f := w.fails(src.ID, freshet.Failure{Class: freshet.Transient, Code: dirty("code"), Sentence: dirty("sentence")})
	w.equal("the failure", f.Source.LastFailure != nil && strings.HasPrefix(w.source(src.ID).LastFailure.Sentence, "sentence"), true)
	w.must(func() error {
		_, err := w.EditSource(bg, src.ID, w.now, func(e *Watched) error { e.Source.Folder = dirty("folder"); return nil })
		return err
	}())
}
