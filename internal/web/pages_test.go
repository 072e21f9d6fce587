package web

import (
	"html"
	"net/url"
	"regexp"
	"testing"
)

// Pages are parsed when they are first shown; a page that cannot be is found here.
func TestPagesParse(t *testing.T) {
	if len(pageTemplates) == 0 {
		t.Error("there are no pages")
	}
	for name, page := range pageTemplates {
		if page().Lookup("layout") == nil {
			t.Errorf("page %s has no layout", name)
		}
	}
}

var backField = regexp.MustCompile(`name="back" value="([^"]*)"`)

// Without script a press on a page leads back to it. A page that answers a form has no address to come back to, and leads
// to what it shows.
func TestFormsLeadBack(t *testing.T) {
	s := newSite(t, nil)
	id := s.add("https://example.org/feed")
	s.want(200, "POST", "/api/rivers", `{"name":"100% what? & why","filter":"q=why"}`)
	list := func(body string) []string { return []string{body, "Content-Type: text/x-opml"} }
	form := func(fields url.Values) []string {
		return []string{fields.Encode(), "Content-Type: application/x-www-form-urlencoded"}
	}
	for _, page := range []struct {
		name, method, target string
		status               int
		sent                 []string
		back                 string
	}{
		{"the river", "GET", "/", 200, form(nil), "/"},
		{"a filter", "GET", "/?q=why&notice=saved", 200, form(nil), "/?q=why"},
		{"a named river", "GET", riverPath("100% what? & why"), 200, form(nil), riverPath("100% what? & why")},
		{"a name that is refused", "POST", "/rivers", 422, form(url.Values{"name": {"a/b"}, "filter": {"q=why"}}), "/?q=why"},
		{"a new source that is refused", "POST", "/sources", 422, form(url.Values{"url": {"ftp://example.org/"}}), "/sources"},
		{"settings that are refused", "POST", "/sources/" + id + "/edit", 422, form(url.Values{"every_minutes": {"often"}}), "/sources/" + id},
		{"a list that is none", "POST", "/sources/check", 422, list("no list"), "/sources"},
		{"a list that is imported", "POST", "/sources/import", 200, list(subscriptions), "/sources"},
		{"a new workflow", "GET", "/workflows/new", 200, form(nil), "/workflows/new"},
		{"a workflow that is refused", "POST", "/workflows", 422, form(url.Values{"name": {""}}), "/workflows"},
		{"a briefing that is refused", "POST", "/briefings", 422, form(url.Values{"name": {""}}), "/briefings"},
	} {
		t.Run(page.name, func(t *testing.T) {
			a := s.want(page.status, page.method, page.target, page.sent[0], page.sent[1], "Accept: text/html")
			fields := backField.FindAllStringSubmatch(a.Body.String(), -1)
			if len(fields) == 0 {
				t.Fatal("no form leads back")
			}
			for _, field := range fields {
				back := html.UnescapeString(field[1])
				if back != page.back {
					t.Errorf("a form leads back to %s, want %s", back, page.back)
				}
				pressed := s.send("/refresh", url.Values{"back": {back}})
				if at := pressed.Header().Get("Location"); s.call("GET", at, "", "Accept: text/html").Code != 200 {
					t.Errorf("a press leads to %s, where there is nothing", at)
				}
			}
		})
	}
}
