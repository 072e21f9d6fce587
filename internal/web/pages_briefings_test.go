package web

import (
	"net/url"
	"strings"
	"testing"

	"freshet"
	"freshet/internal/store"
)

// A briefing's life on its pages: made, composed, acknowledged, changed, removed (SPEC.md section 8).
func TestBriefingPages(t *testing.T) {
	s := newSite(t, allTypes)
	has := func(target string, parts ...string) string {
		t.Helper()
		page := s.want(200, "GET", target, "", "Accept: text/html").Body.String()
		for _, part := range parts {
			if !strings.Contains(page, part) {
				t.Errorf("%s lacks %q:\n%s", target, part, page)
			}
		}
		return page
	}
	press := func(target string, form url.Values, notice string) string {
		t.Helper()
		a := s.send(target, form)
		address, got, _ := strings.Cut(a.Header().Get("Location"), "?notice=")
		if a.Code != 303 || got != notice {
			t.Fatalf("%s answers %d, %q, want %s: %s", target, a.Code, a.Header().Get("Location"), notice, a.Body)
		}
		return address
	}
	has("/briefings", "New briefing", "for a morning mail")
	has("/sources", `href="/briefings"`)
	path := press("/briefings", url.Values{"name": {" Morning "}, "addresses": {"https://news.example/feed\r\n https://nitter.example/golang/rss "}, "type": {"rss"}}, "briefed")
	if s.kicks != 1 {
		t.Errorf("%d kicks; its sources are due", s.kicks)
	}
	has("/briefings", ">Morning<", "2 sources", "posts of the last 7 days")
	has(path, "Articles that wait", "None.", "one article of all new posts", "an article for each post", "not in the river")
	press(path+"/compose", nil, "nothingnew")

	hostile := young("urn:b")
	hostile.Title, hostile.Text, hostile.URL = `<script>alert(1)</script>`, strings.Repeat("long ", 1000), "javascript:alert(1)"
	s.poll(func(src freshet.Source) *freshet.Outcome {
		if strings.Contains(src.URL, "nitter") {
			return &freshet.Outcome{Status: 200}
		}
		return posts(young("urn:a"), hostile)(src)
	})
	press(path+"/compose", nil, "composed")
	page := has(path, "Title of urn:a", "Acknowledge 2 articles", "/articles.md", "&lt;script&gt;")
	if strings.Contains(page, "<script>alert") || strings.Contains(page, "javascript:") || strings.Contains(page, strings.Repeat("long ", 500)) {
		t.Errorf("the page shows what is hostile, or all of a long text")
	}
	b := s.theBriefing()
	list, _, err := s.Store.Articles(t.Context(), store.ArticleQuery{Briefing: b.ID})
	if err != nil || len(list) != 2 {
		t.Fatalf("%d articles, %v", len(list), err)
	}
	press(path+"/acknowledge", nil, "acknowledged") // none is not all
	has(path, "Acknowledge 2 articles")
	press(path+"/acknowledge", url.Values{"article": {list[0].ID.String()}}, "acknowledged")
	has(path, "Acknowledge 1 article<")

	press(path+"/add", url.Values{"addresses": {"https://other.example/page"}, "type": {"website"}}, "added")
	press(path+"/save", url.Values{"name": {"Evening"}, "days": {"2.5"}, "every": {"30"}, "owner": {"alice"}}, "saved")
	b = s.theBriefing()
	if b.Name != "Evening" || b.MaxAge.Hours() != 60 || b.Interval.Minutes() != 30 || b.Owner != "alice" || len(b.Sources) != 3 {
		t.Errorf("changed to %+v", b)
	}
	has(path, `value="2.5"`, `value="30"`, `value="alice"`)
	press(path+"/remove", url.Values{"source": {b.Sources[0].Source.ID.String()}}, "takenout")
	if n := len(s.theBriefing().Sources); n != 2 {
		t.Errorf("%d sources after one was taken out", n)
	}
	press(path+"/delete", nil, "deleted")
	s.want(404, "GET", path, "", "Accept: text/html")
}

// theBriefing is the only one.
func (s *site) theBriefing() freshet.Briefing {
	s.t.Helper()
	list, err := s.Store.Briefings(s.t.Context())
	if err != nil || len(list) != 1 {
		s.t.Fatalf("%d briefings, %v", len(list), err)
	}
	return list[0]
}

// What cannot be used is said above the form, which keeps what was filled in; nothing is made.
func TestBriefingFormsRefuse(t *testing.T) {
	s := newSite(t, allTypes)
	s.send("/briefings", url.Values{"name": {"Taken"}})
	path := "/briefings/" + s.theBriefing().ID.String()
	for name, test := range map[string]struct {
		target string
		form   url.Values
		says   string
	}{
		"no name":       {"/briefings", url.Values{"addresses": {"https://a.example/feed"}}, "name"},
		"a taken name":  {"/briefings", url.Values{"name": {"Taken"}, "addresses": {"https://a.example/feed"}}, "name"},
		"no address":    {"/briefings", url.Values{"name": {"New"}, "addresses": {"https://a.example/feed ftp://b.example/"}}, "ftp://b.example/: only http"},
		"no such type":  {"/briefings", url.Values{"name": {"New"}, "addresses": {"https://a.example/feed"}, "type": {"gopher"}}, "https://a.example/feed: "},
		"nothing added": {path + "/add", url.Values{"addresses": {" "}}, "addresses"},
		"no handle":     {path + "/add", url.Values{"addresses": {"https://x.com/i/lists/1"}, "type": {"twitter"}}, "X account"},
		"age of words":  {path + "/save", url.Values{"name": {"Taken"}, "days": {"a week"}}, "max_article_age_days"},
		"age of -1":     {path + "/save", url.Values{"name": {"Taken"}, "days": {"-1"}}, "max_article_age_days"},
		"every word":    {path + "/save", url.Values{"name": {"Taken"}, "every": {"often"}}, "interval_minutes"},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.send(test.target, test.form)
			page := a.Body.String()
			_, problem, _ := strings.Cut(page, `id="problem">`)
			problem, _, _ = strings.Cut(problem, "</p>")
			if a.Code != 422 || !strings.Contains(problem, test.says) {
				t.Errorf("answers %d with %q, want %q", a.Code, problem, test.says)
			}
			if kept := test.form.Get("addresses"); strings.TrimSpace(kept) != "" && !strings.Contains(page, kept) {
				t.Errorf("what was filled in is lost")
			}
			if b := s.theBriefing(); b.Name != "Taken" || len(b.Sources) != 0 {
				t.Errorf("the briefing is %+v", b)
			}
		})
	}
	for _, target := range []string{"/briefings/1", "/briefings/x"} {
		s.want(404, "GET", target, "", "Accept: text/html")
	}
	for _, form := range []string{path + "/fly", "/briefings/1/compose"} {
		if a := s.send(form, nil); a.Code != 404 {
			t.Errorf("%s answers %d", form, a.Code)
		}
	}
	if a := s.send(path+"/acknowledge", url.Values{"article": {"x"}}); a.Code != 404 {
		t.Errorf("an article that is no number: %d", a.Code)
	}
}
