package web

import (
	"strings"
	"testing"

	"freshet/internal/feed"
)

// Every view is a feed: the same filter, the same items.
func TestViewAsFeed(t *testing.T) {
	s := newSite(t, nil)
	first := s.add("https://one.example/feed")
	s.poll(posts(post("urn:a", 10), post("urn:b", 20)))
	s.add("https://two.example/feed")
	s.poll(posts(post("urn:c", 5)))
	for _, suffix := range []string{"atom", "rss", "json"} {
		for query, want := range map[string]string{"": "urn:c urn:a urn:b", "?feed_ids=" + first: "urn:a urn:b"} {
			a := s.plainAnswer(request("GET", "/river."+suffix+query, ""))
			read, err := feed.Parse(a.Body.Bytes(), feed.Options{})
			if a.Code != 200 || err != nil {
				t.Fatalf("%s%s answers %d, %v", suffix, query, a.Code, err)
			}
			var got []string
			for _, e := range read.Entries {
				got = append(got, e.GUID)
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s%s has %q, want %s", suffix, query, got, want)
			}
			if again := s.plainAnswer(request("GET", "/river."+suffix+query, "", "If-None-Match: "+a.Header().Get("ETag"))); again.Code != 304 {
				t.Errorf("%s%s, unchanged, answers %d", suffix, query, again.Code)
			}
		}
		if a := s.plainAnswer(request("GET", "/river."+suffix+"?start_date=2026-02-02&end_date=2026-02-01", "")); a.Code != 422 {
			t.Errorf("%s of an impossible range answers %d", suffix, a.Code)
		}
	}
	list := s.plainAnswer(request("GET", "/river.opml?feed_ids="+first, "")).Body.String()
	if !strings.Contains(list, "one.example") || strings.Contains(list, "two.example") {
		t.Errorf("the list of the view is %s", list)
	}
	page := s.plainAnswer(request("GET", "/?feed_ids="+first, "", "Accept: text/html")).Body.String()
	if !strings.Contains(page, `title="Atom" href="/river.atom?feed_ids=`+first+`"`) {
		t.Error("the page does not name its feed")
	}
}
