package web

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"freshet"
)

func TestChips(t *testing.T) {
	for _, test := range []struct{ query, want string }{
		{"", ""},
		{"cursor=x&notice=saved&limit=3", ""},
		{"q=cats+and+dogs", "“cats and dogs” -> /"},
		{"q=a&folders=News&folders=Fun", "“a” -> /?folders=News&folders=Fun, in News -> /?folders=Fun&q=a, in Fun -> /?folders=News&q=a"},
		{"feed_ids=1,2&feed_ids=2", "One -> /?feed_ids=2, a source that is gone -> /?feed_ids=1"},
		{"days=1", "today -> /"},
		{"days=7&types=website", "the last 7 days -> /?types=website, Web pages -> /?days=7"},
		{"days=7&start_date=2026-02-01&end_date=", "from 2026-02-01 -> /"},
	} {
		q, err := url.ParseQuery(test.query)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range filterOf(q).chips(map[string]string{"1": "One"}) {
			got = append(got, c.Text+" -> "+c.URL)
		}
		if joined := strings.Join(got, ", "); joined != test.want {
			t.Errorf("%s: %s, want %s", test.query, joined, test.want)
		}
	}
}

func TestDaysOfAFilter(t *testing.T) {
	now := time.Date(2026, 2, 17, 10, 0, 0, 0, time.UTC)
	for _, test := range []struct{ query, from, wrong string }{
		{"days=1", "2026-02-17", ""},
		{"days=7", "2026-02-11", ""},
		{"days=30&start_date=2026-02-16", "2026-02-16", ""},
		{"days=0", "0001-01-01", ""},
		{"days=many", "", "query.days"},
		{"days=-7", "", "query.days"},
		{"days=99999", "", "query.days"},
		{"types=smoke", "", "query.types"},
		{"feed_ids=me", "", "query.feed_ids"},
		{"start_date=2026-02-16&end_date=2026-02-15", "", "query.end_date"},
		{"cursor=zzz", "", "query.cursor"},
	} {
		q, _ := url.ParseQuery(test.query)
		got, err := riverQuery(filterOf(q).input(), now)
		switch {
		case test.wrong == "" && (err != nil || got.From.Format(time.DateOnly) != test.from):
			t.Errorf("%s: from %v, %v, want %s", test.query, got.From, err, test.from)
		case test.wrong != "" && (err == nil || wrongFields(err)[name(test.wrong)] == ""):
			t.Errorf("%s: %v, want a problem of %s", test.query, err, test.wrong)
		}
	}
}

func TestReadChanges(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"- gone", "gone:gone"},
		{"+ added", "new:added"},
		{"- It costs 12 euros now.\n+ It costs 15 euros now.", "gone:It costs [12] euros now.|new:It costs [15] euros now."},
		{"- one thing\n+ quite another matter altogether", "gone:one thing|new:quite another matter altogether"},
		{"- a\n- It is here\n+ It is there", "gone:a|gone:It is [here]|new:It is [there]"},
		{"+ words were added\n- words", "new:words were added|gone:words"},
		{"… and 3 more", ":… and 3 more"},
	} {
		var got []string
		for _, c := range readChanges(test.text) {
			line := c.Kind + ":" + c.Before
			if c.Edited != "" {
				line += "[" + c.Edited + "]" + c.After
			}
			got = append(got, line)
		}
		if joined := strings.Join(got, "|"); joined != test.want {
			t.Errorf("%q: %s, want %s", test.text, joined, test.want)
		}
	}
}

// A filter is kept under a name, shown by it, and forgotten; the API and the forms do the same.
func TestNamedRivers(t *testing.T) {
	s := newSite(t, nil)
	s.add("https://example.org/feed")
	for _, test := range []struct {
		body, location string
		status         int
	}{
		{`{"name":"Morning","filter":"days=1&q=news&limit=9&cursor=x"}`, "", 200},
		{`{"name":"a/b","filter":"q=x"}`, "body.name", 422},
		{`{"name":"Everything","filter":""}`, "body.filter", 422},
		{`{"name":"Odd","filter":"days=soon"}`, "query.days", 422},
		{`{"name":"Odd","filter":"%zz"}`, "body.filter", 422},
	} {
		if a := s.want(test.status, "POST", "/api/rivers", test.body); test.location != "" && a.text("errors", 0, "location") != test.location {
			t.Errorf("%s: %s, want %s", test.body, a.Body, test.location)
		}
	}
	if a := s.want(200, "GET", "/api/rivers", ""); a.text("rivers", 0, "name") != "Morning" || a.text("rivers", 0, "filter") != "days=1&q=news" {
		t.Errorf("the list is %s", a.Body)
	}
	form := "Content-Type: application/x-www-form-urlencoded"
	if a := s.want(303, "POST", "/rivers", "name=R%26D+%3F&filter=q%3Dgo", form); !strings.HasPrefix(a.Header().Get("Location"), "/rivers/R&D%20%3F?") {
		t.Errorf("it leads to %s", a.Header().Get("Location"))
	}
	page := s.want(200, "GET", "/rivers/R&D%20%3F", "").Body.String()
	for _, part := range []string{`href="/rivers/Morning"`, `aria-current="page">R&amp;D ?</a>`, `“go”`, `data-asks="q=go"`} {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %s", part)
		}
	}
	if a := s.want(422, "POST", "/rivers", "name=a/b&filter=q%3Dgo", form).Body.String(); !strings.Contains(a, `id="wrong-name"`) || !strings.Contains(a, `value="a/b"`) {
		t.Error("what is wrong with a name is not told beside its field")
	}
	if a := s.want(303, "POST", "/rivers/Morning/remove", "", form); a.Header().Get("Location") != "/?days=1&notice=forgotten&q=news" {
		t.Errorf("it leads to %s", a.Header().Get("Location"))
	}
	s.want(404, "GET", "/rivers/Morning", "")
	s.want(404, "DELETE", "/api/rivers/Morning", "")
	s.want(204, "DELETE", "/api/rivers/R&D%20%3F", "")
}

// Pictures of other sites are loaded only for readers who asked for them (P2).
func TestPicturesAreAskedFor(t *testing.T) {
	s := newSite(t, nil)
	if policy := s.want(200, "GET", "/", "").Header().Get("Content-Security-Policy"); strings.Contains(policy, "https:") {
		t.Errorf("without being asked: %s", policy)
	}
	a := s.want(303, "POST", "/pictures", "pictures=on&back=/?q=x", "Content-Type: application/x-www-form-urlencoded")
	if a.Header().Get("Location") != "/?q=x" {
		t.Errorf("it leads to %s", a.Header().Get("Location"))
	}
	cookie, _, _ := strings.Cut(a.Header().Get("Set-Cookie"), ";")
	if policy := s.want(200, "GET", "/", "", "Cookie: "+cookie).Header().Get("Content-Security-Policy"); !strings.Contains(policy, "img-src 'self' data: https:;") {
		t.Errorf("asked for: %s", policy)
	}
}

func TestPictureOf(t *testing.T) {
	for address, want := range map[string]string{"https://example.org/a.png": "https://example.org/a.png", "http://example.org/a.png": "", "javascript:x": "", "": ""} {
		if got := pictureOf(address); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

// How far the reader came is kept for the next visit.
func TestPlaceOfTheReader(t *testing.T) {
	s := newSite(t, nil)
	s.want(422, "POST", "/api/place", `{"river":""}`)
	s.want(404, "POST", "/api/place", `{"item_id":"`+freshet.ID(7).String()+`"}`)
}
