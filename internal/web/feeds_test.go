package web

import (
	"fmt"
	"strings"
	"testing"

	"freshet"
)

func TestAddFeed(t *testing.T) {
	s := newSite(t, nil)
	a := s.want(201, "POST", "/api/feeds", `{"url":"Example.org/feed#top","title":" Mine ","folder":"/News//World/","config":{"cadence":{"mode":"interval","every_minutes":480}}}`)
	if got, want := a.Header().Get("Location"), "/api/feeds/"+a.text("id"); got != want {
		t.Errorf("Location %q, want %q", got, want)
	}
	for field, want := range map[string]any{
		"url": "https://example.org/feed", "normalized_url": "example.org/feed", "title": "Mine", "custom_title": "Mine", "folder": "News/World",
		"type": "rss", "enabled": true, "status": "pending", "last_error": nil, "last_polled_at": nil, "moved_from": nil,
	} {
		if got := a.at(field); got != want {
			t.Errorf("%s is %v, want %v", field, got, want)
		}
	}
	if a.text("next_poll_at") == "" || a.text("next_poll_reason") == "" {
		t.Errorf("no next poll with its reason: %s", a.Body)
	}
	if got := a.text("config", "cadence", "mode"); got != "interval" || len(a.list("warnings")) != 0 {
		t.Errorf("mode %q, warnings %v", got, a.list("warnings"))
	}
	if s.kicks != 1 {
		t.Errorf("the scheduler was woken %d times, want once: the first fetch follows at once", s.kicks)
	}
	if got := s.want(200, "GET", "/api/feeds", "").list("feeds"); len(got) != 1 {
		t.Errorf("%d feeds are listed, want 1", len(got))
	}
}

func TestAddFeedWarns(t *testing.T) {
	s := newSite(t, nil)
	tests := map[string]struct{ body, want string }{
		"plain http":                 {`{"url":"http://example.org/a"}`, "http"},
		"more often than is allowed": {`{"url":"https://example.org/b","config":{"cadence":{"every_minutes":0.5}}}`, "1 min"},
	}
	for name, test := range tests {
		a := s.want(201, "POST", "/api/feeds", test.body)
		if got := a.text("warnings", 0); !strings.Contains(got, test.want) {
			t.Errorf("%s: warning %q, want one about %q", name, got, test.want)
		}
	}
}

// A password in an address is for its server only.
func TestPasswordInAnAddressIsMasked(t *testing.T) {
	s := newSite(t, nil)
	a := s.want(201, "POST", "/api/feeds", `{"url":"https://me:hunter2@example.org/feed"}`)
	for _, target := range []string{"/api/feeds", "/api/feeds/" + a.text("id")} {
		if body := s.want(200, "GET", target, "").Body.String(); strings.Contains(body, "hunter2") || !strings.Contains(body, "me:xxxxx@example.org") {
			t.Errorf("%s shows the password, or not the rest: %s", target, body)
		}
	}
	if dup := s.want(409, "POST", "/api/feeds", `{"url":"https://me:hunter2@example.org/feed"}`); strings.Contains(dup.Body.String(), "hunter2") {
		t.Errorf("the problem shows the password: %s", dup.Body)
	}
}

func TestEditFeed(t *testing.T) {
	s := newSite(t, nil)
	id := s.want(201, "POST", "/api/feeds", `{"url":"https://example.org/feed","title":"Mine","config":{"cadence":{"every_minutes":60},"poll_delay_seconds":2}}`).text("id")
	s.poll(posts(post("a", 5)))
	edit := func(body string) reply { t.Helper(); return s.want(200, "PATCH", "/api/feeds/"+id, body) }

	if a := edit(`{}`); a.text("title") != "Mine" || a.number("config", "poll_delay_seconds") != 2 {
		t.Errorf("nothing given changes something: %s", a.Body)
	}
	if a := edit(`{"title":null,"config":{"poll_delay_seconds":null}}`); a.text("title") != "Example" || a.at("custom_title") != nil ||
		a.at("config", "poll_delay_seconds") != nil || a.number("config", "cadence", "every_minutes") != 60 {
		t.Errorf("null does not clear, or clears the rest: %s", a.Body)
	}
	if a := edit(`{"config":{"poll_delay_seconds":0,"skip_history":false}}`); a.number("config", "poll_delay_seconds") != 0 || a.at("config", "skip_history") != false {
		t.Errorf("0 and false are not kept: %s", a.Body)
	}
	before := edit(`{"config":{"cadence":{"every_minutes":60}}}`).text("next_poll_at")
	if after := edit(`{"config":{"cadence":{"every_minutes":30}}}`).text("next_poll_at"); after >= before {
		t.Errorf("half the cadence polls at %s, not before %s: the schedule must follow at once", after, before)
	}
	if a := edit(`{"enabled":false}`); a.text("status") != "disabled" || a.text("disabled_reason") == "" || a.at("next_poll_at") != nil {
		t.Errorf("not switched off: %s", a.Body)
	}
	if a := edit(`{"enabled":true}`); a.text("status") != "healthy" || a.at("disabled_reason") != nil || a.at("next_poll_at") == nil {
		t.Errorf("not switched on: %s", a.Body)
	}
}

// A change that is refused changes nothing.
func TestEditFeedIsAllOrNothing(t *testing.T) {
	s := newSite(t, nil)
	id := s.add("https://example.org/feed")
	a := s.want(422, "PATCH", "/api/feeds/"+id, `{"title":"New","config":{"cadence":{"every_minutes":-1}}}`)
	if got := a.text("errors", 0, "location"); got != "body.config.cadence.every_minutes" {
		t.Errorf("location %q", got)
	}
	if got := s.want(200, "GET", "/api/feeds/"+id, "").at("custom_title"); got != nil {
		t.Errorf("the title became %v", got)
	}
}

func TestRemoveFeed(t *testing.T) {
	s := newSite(t, nil)
	id := s.add("https://example.org/feed")
	s.poll(posts(post("a", 5)))
	s.want(204, "DELETE", "/api/feeds/"+id, "")
	for _, gone := range []string{"GET /api/feeds/" + id, "DELETE /api/feeds/" + id, "POST /api/feeds/" + id + "/refresh"} {
		method, target, _ := strings.Cut(gone, " ")
		s.want(404, method, target, "")
	}
	if n := len(s.want(200, "GET", "/api/feeds", "").list("feeds")); n != 0 {
		t.Errorf("%d feeds are left, want none", n)
	}
	if n := len(s.want(200, "GET", "/api/items", "").list("items")); n != 1 {
		t.Errorf("%d items are left, want the one it brought (D7)", n)
	}
	if again := s.add("https://example.org/feed"); again == "" {
		t.Error("it cannot be added again")
	}
}

// River seed, story F1: a failing feed shows its state, its last error and its next try.
func TestFeedHealth(t *testing.T) {
	s := newSite(t, nil)
	id := s.add("https://example.org/page")
	s.poll(func(freshet.Source) *freshet.Outcome {
		return &freshet.Outcome{Status: 200, Failure: &freshet.Failure{Class: freshet.Transient, Code: "not_a_feed", Status: 200, Sentence: "This is a web page and not a feed."}}
	})
	a := s.want(200, "GET", "/api/feeds/"+id, "")
	for field, want := range map[string]any{"last_error": "This is a web page and not a feed.", "error_class": "transient", "last_success_at": nil} {
		if got := a.at(field); got != want {
			t.Errorf("%s is %v, want %v", field, got, want)
		}
	}
	if a.number("consecutive_failures") != 1 || a.at("last_polled_at") == nil || a.at("next_poll_at") == nil {
		t.Errorf("count, last and next poll are missing: %s", a.Body)
	}
	if got := a.at("polls", 0, "result"); got != "error" || a.number("polls", 0, "status") != 200 {
		t.Errorf("the last poll is not shown: %v", a.at("polls"))
	}
}

// S6, S8: what holds for a feed, with who says so, in the API and on its page.
func TestFeedPolicy(t *testing.T) {
	s := newSite(t, nil)
	id := s.want(201, "POST", "/api/feeds", `{"url":"https://www.reddit.com/r/golang/.rss","config":{"cadence":{"every_minutes":60}}}`).text("id")
	a := s.want(200, "GET", "/api/feeds/"+id, "")
	for field, want := range map[string]string{
		"interval_minutes":     "60 this source",
		"min_interval_minutes": "1 built in",
		"poll_delay_seconds":   "60 built in for reddit.com",
		"retry":                "ladder built in",
		"max_article_age_days": "30 built in",
		"skip_history":         "false built in",
		"disable_after":        "15 built in",
		"max_backoff_hours":    "24 built in",
	} {
		if got := fmt.Sprint(a.at("policy", field, "value"), " ", a.at("policy", field, "from")); got != want {
			t.Errorf("%s is %s, want %s", field, got, want)
		}
	}
	a = s.want(200, "PATCH", "/api/feeds/"+id, `{"config":{"poll_delay_seconds":0,"retry":"exponential"}}`)
	if a.number("policy", "poll_delay_seconds", "value") != 0 || a.text("policy", "poll_delay_seconds", "from") != "this source" || a.text("policy", "retry", "from") != "this source" {
		t.Errorf("policy after an edit: %v", a.at("policy"))
	}
	page := strings.Join(strings.Fields(s.want(200, "GET", "/sources/"+id, "").Body.String()), " ")
	if want := `<dt>Interval</dt><dd>1 h <span class="meta">(this source)</span></dd>`; !strings.Contains(page, want) {
		t.Errorf("the page lacks %s", want)
	}
}
