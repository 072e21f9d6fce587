package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"freshet"
)

func testVisits(t *testing.T, w *world) {
	src := w.add("https://a.example/feed")
	w.read(src.ID, article("one", w.now), article("two", w.now.Add(-time.Hour)))
	items := w.river()
	newest, older := items[0].Place(), items[1].Place()
	v, err := w.ShowRiver(bg, "", older, w.now)
	w.must(err)
	w.equal("the line of a first visit", v.Line, freshet.Place{})
	w.must(w.ReachItem(bg, "", items[0].ID, w.now.Add(time.Minute)))
	w.reopen()
	v, err = w.ShowRiver(bg, "", newest, w.now.Add(2*time.Minute))
	w.must(err)
	w.equal("the line within the visit", v.Line, freshet.Place{})
	v, err = w.ShowRiver(bg, "", newest, w.now.Add(2*time.Hour))
	w.must(err)
	w.equal("the line of the next visit", v.Line, newest)
	kept, err := w.Visit(bg, "")
	w.must(err)
	w.equal("what is kept of it", kept, v)
	w.is(w.ReachItem(bg, "", 12345, w.now), freshet.ErrNotFound)
	w.is(w.ReachItem(bg, "no such river", items[0].ID, w.now), freshet.ErrNotFound)
}

// A page that is reloaded writes nothing.
func testVisitSettled(t *testing.T, w *world) {
	place := freshet.Place{PublishedAt: w.now, IngestedAt: w.now, ID: 1}
	for _, later := range []time.Duration{0, time.Second, 2 * time.Second} {
		_, err := w.ShowRiver(bg, "", place, w.now.Add(later))
		w.must(err)
	}
	v, err := w.Visit(bg, "")
	w.must(err)
	w.equal("when it was written", v.At, w.now)
}

func testRivers(t *testing.T, w *world) {
	for _, name := range []string{"science", " News ", "Ägypten & Co?"} {
		_, err := w.SaveRiver(bg, name, "q="+strings.TrimSpace(name), w.now)
		w.must(err)
	}
	_, err := w.SaveRiver(bg, "science", "folders=Science", w.now)
	w.must(err)
	list, err := w.Rivers(bg)
	w.must(err)
	var names []string
	for _, r := range list {
		names = append(names, r.Name)
	}
	w.equal("the names", strings.Join(names, ", "), "News, science, Ägypten & Co?")
	r, err := w.SavedRiver(bg, "science")
	w.must(err)
	w.equal("what was saved last", r.Query, "folders=Science")
	_, err = w.ShowRiver(bg, "science", freshet.Place{ID: 1}, w.now)
	w.must(err)
	w.must(w.RemoveRiver(bg, "science"))
	w.is(w.RemoveRiver(bg, "science"), freshet.ErrNotFound)
	_, err = w.SavedRiver(bg, "science")
	w.is(err, freshet.ErrNotFound)
	w.equal("visits of what is gone", w.count("select count(*) from visits"), 0)
}

func testBadRivers(t *testing.T, w *world) {
	for _, test := range []struct{ name, query, field string }{
		{" ", "q=x", "name"}, {strings.Repeat("ä", 61), "q=x", "name"}, {"a/b", "q=x", "name"}, {"..", "q=x", "name"},
		{"two\nlines", "q=x", "name"}, {"\xff", "q=x", "name"}, {"fine", "", "filter"}, {"fine", strings.Repeat("q", maxRiverQuery+1), "filter"},
	} {
		var wrong *freshet.FieldError
		if _, err := w.SaveRiver(bg, test.name, test.query, w.now); !errors.As(err, &wrong) || wrong.Field != test.field {
			t.Errorf("%.20q with %.20q gives %v, want a problem of %s", test.name, test.query, err, test.field)
		}
	}
	for i := range maxRivers {
		_, err := w.SaveRiver(bg, fmt.Sprint("river ", i), "q=x", w.now)
		w.must(err)
	}
	var wrong *freshet.FieldError
	if _, err := w.SaveRiver(bg, "one more", "q=x", w.now); !errors.As(err, &wrong) {
		t.Errorf("one river too many gives %v", err)
	}
}

// The river is narrowed to sources, folders and types.
func testChosen(t *testing.T, w *world) {
	add := func(url, folder string, kind freshet.Type, hidden bool) freshet.ID {
		src := w.addNew(NewSource{URL: url, Title: "Title of " + url, Folder: folder, Type: kind, Hidden: hidden, AtOnce: true})
		w.read(src.ID, article(url, w.now))
		return src.ID
	}
	news := add("https://a.example/news", "News", freshet.RSS, false)
	prices := add("https://b.example/prices", "News", freshet.Website, false)
	comics := add("https://c.example/comics", "", freshet.RSS, false)
	hidden := add("https://d.example/hidden", "News", freshet.RSS, true)
	for _, test := range []struct {
		name  string
		query RiverQuery
		want  []freshet.ID
	}{
		{"everything", RiverQuery{}, []freshet.ID{comics, prices, news}},
		{"a folder", RiverQuery{Folders: []string{"News"}}, []freshet.ID{prices, news}},
		{"a folder or a source", RiverQuery{Folders: []string{"News"}, Sources: []freshet.ID{comics}}, []freshet.ID{comics, prices, news}},
		{"a type", RiverQuery{Types: []freshet.Type{freshet.RSS}}, []freshet.ID{comics, news}},
		{"a type in a folder", RiverQuery{Folders: []string{"News"}, Types: []freshet.Type{freshet.Website}}, []freshet.ID{prices}},
		{"a type of a source", RiverQuery{Sources: []freshet.ID{comics, prices}, Types: []freshet.Type{freshet.RSS}}, []freshet.ID{comics}},
		{"a hidden source by itself", RiverQuery{Sources: []freshet.ID{hidden}, Types: []freshet.Type{freshet.RSS}}, []freshet.ID{hidden}},
		{"what nothing is", RiverQuery{Folders: []string{"None"}}, nil},
	} {
		page, err := w.River(bg, test.query)
		w.must(err)
		var got []freshet.ID
		for _, item := range page.Items {
			got = append(got, item.Source)
		}
		w.equal(test.name, got, test.want)
	}

	groups, err := w.Groups(bg)
	w.must(err)
	w.equal("folders and types", groups, Groups{[]string{"News"}, []freshet.Type{freshet.RSS, freshet.Website}})
	names := func(part string, chosen []freshet.ID, limit int) (found []freshet.ID) {
		list, err := w.SourceNames(bg, part, chosen, limit)
		w.must(err)
		for _, n := range list {
			found = append(found, n.ID)
		}
		return found
	}
	w.equal("all names", names("", nil, 10), []freshet.ID{news, prices, comics})
	w.equal("some names", names("EXAMPLE/COM", nil, 10), []freshet.ID{comics})
	w.equal("at most two", names("", nil, 2), []freshet.ID{news, prices})
	w.equal("those that are chosen, too", names("prices", []freshet.ID{comics}, 10), []freshet.ID{comics, prices})
	w.equal("a hidden one that is chosen", names("zzz", []freshet.ID{hidden}, 10), []freshet.ID{hidden})
}
