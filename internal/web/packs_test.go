package web

import (
	"net/url"
	"strings"
	"testing"

	"freshet"
	"freshet/internal/fetch"
	"freshet/internal/opml"
)

// The packs that are shipped are small, with addresses that can be subscribed to, each once.
func TestPacksAreSound(t *testing.T) {
	packs, err := readPacks(embedded)
	if err != nil {
		t.Fatal(err)
	}
	if len(packs) != 4 {
		t.Errorf("%d packs, want 4", len(packs))
	}
	seen := map[string]bool{}
	for _, p := range packs {
		if len(p.Feeds) < 5 || len(p.Feeds) > 10 || p.Help == "" {
			t.Errorf("%s has %d feeds and says %q", p.Name, len(p.Feeds), p.Help)
		}
		for _, o := range p.Feeds {
			u, warning, err := fetch.CheckURL(o.URL)
			if err != nil || warning != "" || u.Scheme != "https" {
				t.Errorf("%s: %s: %v %s", p.Name, o.URL, err, warning)
			}
			if o.Title == "" || o.Folder != p.Name || freshet.WebLink(o.SiteURL) == "" {
				t.Errorf("%s: %+v lacks something", p.Name, o)
			}
			if normalized := freshet.NormalizedURL(o.URL); seen[normalized] {
				t.Errorf("%s is there twice", o.URL)
			} else {
				seen[normalized] = true
			}
		}
	}
}

// Of a pack what was chosen is added, due at once; nothing else.
func TestAddPack(t *testing.T) {
	s := newSite(t, nil)
	s.packs = []pack{{Slug: "few", Name: "A few", Feeds: []opml.Outline{
		{Title: "One", URL: "https://one.example/feed", Folder: "A few"}, {Title: "Two", URL: "https://two.example/feed", Folder: "A few"}}}}
	if a := s.send("/sources/packs/few", url.Values{"feed": {"7", "x"}, "back": {"/"}}); a.Code != 303 || !strings.Contains(a.Header().Get("Location"), "nochoice") {
		t.Errorf("nothing chosen: %d %s", a.Code, a.Header().Get("Location"))
	}
	for range 2 { // what is there already does no harm
		if a := s.send("/sources/packs/few", url.Values{"feed": {"1"}}); a.Code != 303 || a.Header().Get("Location") != "/?notice=packed" {
			t.Errorf("one chosen: %d %s", a.Code, a.Header().Get("Location"))
		}
	}
	feeds := s.want(200, "GET", "/api/feeds", "").list("feeds")
	if len(feeds) != 1 || dig(feeds[0], "title") != "Two" || dig(feeds[0], "folder") != "A few" || s.kicks != 2 {
		t.Errorf("feeds %v, the scheduler was woken %d times", feeds, s.kicks)
	}
	polled := false
	s.poll(func(freshet.Source) *freshet.Outcome { polled = true; return posts()(freshet.Source{}) })
	if !polled {
		t.Error("it is not due at once, though somebody waits")
	}
	if a := s.send("/sources/packs/none", url.Values{"feed": {"1"}}); a.Code != 404 {
		t.Errorf("a pack that is not there answers %d", a.Code)
	}
}
