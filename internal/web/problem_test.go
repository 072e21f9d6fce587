package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"freshet"
	"freshet/internal/discover"
)

// Every bad input of the issue, and then some: status, type, and the field that is to blame.
func TestBadInput(t *testing.T) {
	s := newSite(t, func(c *Config) {
		c.Find = func(context.Context, string) ([]discover.Candidate, error) {
			return nil, &freshet.Failure{Sentence: "This is a web page without a feed."}
		}
	})
	id := s.add("https://example.org/feed")
	off := s.add("https://example.org/off")
	s.want(200, "PATCH", "/api/feeds/"+off, `{"enabled":false}`)
	long := strings.Repeat("x", 600)
	tests := []struct {
		name, request, body string
		header              []string
		status              int
		kind, location      string
	}{
		{name: "URL that is no URL", request: "POST /api/feeds", body: `{"url":"not a url"}`, status: 422, kind: "invalid", location: "body.url"},
		{name: "URL that is empty", request: "POST /api/feeds", body: `{"url":""}`, status: 422, kind: "invalid", location: "body.url"},
		{name: "URL of another scheme", request: "POST /api/feeds", body: `{"url":"file:///etc/passwd"}`, status: 422, kind: "invalid", location: "body.url"},
		{name: "duplicate by normalized URL", request: "POST /api/feeds", body: `{"url":"http://www.example.org:80/feed/"}`, status: 409, kind: "duplicate-source"},
		{name: "feed that is HTML", request: "POST /api/discover", body: `{"url":"https://example.org/"}`, status: 422, kind: "unreadable-address", location: "body.url"},
		{name: "unknown id of a feed", request: "GET /api/feeds/123456789", status: 404, kind: "not-found"},
		{name: "unknown id of an item", request: "GET /api/items/123456789", status: 404, kind: "not-found"},
		{name: "unknown id of a refresh", request: "GET /api/refresh/123456789", status: 404, kind: "not-found"},
		{name: "no id of a feed", request: "PATCH /api/feeds/abc", body: `{}`, status: 404, kind: "not-found"},
		{name: "no id of an item", request: "GET /api/items/-1", status: 404, kind: "not-found"},
		{name: "bad cursor", request: "GET /api/items?cursor=zzz", status: 400, kind: "bad-cursor", location: "query.cursor"},
		{name: "end before start", request: "GET /api/items?start_date=2026-02-02&end_date=2026-02-01", status: 422, kind: "invalid", location: "query.end_date"},
		{name: "body too large", request: "POST /api/feeds", body: `{"url":"` + strings.Repeat("x", maxJSON) + `"}`, status: 413, kind: "too-large"},
		{name: "wrong type of a field", request: "POST /api/feeds", body: `{"url":7}`, status: 422, kind: "invalid", location: "body.url"},
		{name: "wrong type within", request: "PATCH /api/feeds/" + id, body: `{"config":{"cadence":{"every_minutes":"often"}}}`, status: 422, kind: "invalid", location: "body.config.cadence.every_minutes"},
		{name: "wrong type of the body", request: "POST /api/feeds", body: `[]`, status: 422, kind: "invalid", location: "body"},

		{name: "date that is none", request: "GET /api/items?start_date=yesterday", status: 422, kind: "invalid", location: "query.start_date"},
		{name: "day that is none", request: "GET /api/items?end_date=2026-02-30", status: 422, kind: "invalid", location: "query.end_date"},
		{name: "limit of nothing", request: "GET /api/items?limit=0", status: 422, kind: "invalid", location: "query.limit"},
		{name: "limit of too much", request: "GET /api/items?limit=1001", status: 422, kind: "invalid", location: "query.limit"},
		{name: "limit that is no number", request: "GET /api/items?limit=all", status: 422, kind: "invalid", location: "query.limit"},
		{name: "feed id that is none", request: "GET /api/items?feed_ids=1,x", status: 422, kind: "invalid", location: "query.feed_ids"},
		{name: "filter that is misspelt", request: "GET /api/items?feedids=1", status: 422, kind: "invalid", location: "query.feedids"},
		{name: "search that is too long", request: "GET /api/items?q=" + long, status: 422, kind: "invalid", location: "query.q"},
		{name: "query that is broken", request: "GET /api/items?start_date=%zz", status: 400, kind: "bad-request"},
		{name: "URL that is missing", request: "POST /api/feeds", body: `{"title":"x"}`, status: 422, kind: "invalid", location: "body.url"},
		{name: "field that is unknown", request: "POST /api/feeds", body: `{"url":"https://example.org/x","colour":"red"}`, status: 422, kind: "invalid", location: "body.colour"},
		{name: "type that cannot be read", request: "POST /api/feeds", body: `{"url":"https://example.org/x","type":"twitter"}`, status: 422, kind: "invalid", location: "body.type"},
		{name: "type that is none", request: "POST /api/feeds", body: `{"url":"https://example.org/x","type":"smoke"}`, status: 422, kind: "invalid", location: "body.type"},
		{name: "title that is too long", request: "PATCH /api/feeds/" + id, body: `{"title":"` + long + `"}`, status: 422, kind: "invalid", location: "body.title"},
		{name: "cadence that cannot be kept", request: "PATCH /api/feeds/" + id, body: `{"config":{"cadence":{"every_minutes":0}}}`, status: 422, kind: "invalid", location: "body.config.cadence.every_minutes"},
		{name: "cadence of another mode", request: "PATCH /api/feeds/" + id, body: `{"config":{"cadence":{"mode":"cron","every_minutes":5}}}`, status: 422, kind: "invalid", location: "body.config.cadence.mode"},
		{name: "delay that cannot be kept", request: "PATCH /api/feeds/" + id, body: `{"config":{"poll_delay_seconds":-1}}`, status: 422, kind: "invalid", location: "body.config.poll_delay_seconds"},
		{name: "retry that is none", request: "PATCH /api/feeds/" + id, body: `{"config":{"retry":"never"}}`, status: 422, kind: "invalid", location: "body.config.retry"},
		{name: "age that is none", request: "PATCH /api/feeds/" + id, body: `{"config":{"max_article_age_days":0}}`, status: 422, kind: "invalid", location: "body.config.max_article_age_days"},
		{name: "refresh of what is switched off", request: "POST /api/feeds/" + off + "/refresh", status: 409, kind: "feed-disabled"},
		{name: "feed to ingest that is unknown", request: "POST /api/ingest", body: `{"feeds":["` + id + `","https://nobody.example/"]}`, status: 422, kind: "invalid", location: "body.feeds[1]"},
		{name: "window that is no time", request: "POST /api/ingest", body: `{"window_end":"soon"}`, status: 422, kind: "invalid", location: "body.window_end"},
		{name: "JSON that is broken", request: "POST /api/feeds", body: `{"url":`, status: 400, kind: "bad-request", location: "body"},
		{name: "JSON that says it is something else", request: "POST /api/feeds", body: `{}`, header: []string{"Content-Type: text/plain"}, status: 415, kind: "media-type"},
		{name: "JSON that does not say it is", request: "POST /api/feeds", body: `{}`, header: []string{"Content-Type: "}, status: 415, kind: "media-type"},
		{name: "no body", request: "POST /api/feeds", status: 400, kind: "bad-request"},
		{name: "list that is none", request: "POST /api/opml", body: "<html>", header: []string{"Content-Type: text/xml"}, status: 422, kind: "bad-opml"},
		{name: "list of another type", request: "POST /api/opml", body: "{}", status: 415, kind: "media-type"},
		{name: "list that is too large", request: "POST /api/opml", body: "<opml>" + strings.Repeat(" ", maxOPML), header: []string{"Content-Type: text/xml"}, status: 413, kind: "too-large"},
		{name: "event that is none", request: "GET /api/events?last_event_id=x", status: 422, kind: "invalid", location: "query.last_event_id"},
		{name: "path that is none", request: "GET /api/nothing", status: 404, kind: "not-found"},
		{name: "path that is none, with a slash", request: "GET /api/feeds/", status: 404, kind: "not-found"},
		{name: "method that is none", request: "PUT /api/feeds", body: `{}`, status: 405, kind: "method-not-allowed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s.t = t
			method, target, _ := strings.Cut(test.request, " ")
			a := s.want(test.status, method, target, test.body, test.header...)
			if got := a.Header().Get("Content-Type"); got != "application/problem+json" {
				t.Errorf("Content-Type %q", got)
			}
			if got, want := a.text("type"), "/problems/"+test.kind; got != want {
				t.Errorf("type %q, want %q", got, want)
			}
			if a.number("status") != test.status || a.text("title") == "" || a.text("detail") == "" {
				t.Errorf("status, title or detail is missing: %s", a.Body)
			}
			if got := a.text("errors", 0, "location"); got != test.location {
				t.Errorf("location %q, want %q: %s", got, test.location, a.Body)
			}
			if test.location != "" && a.text("errors", 0, "message") == "" {
				t.Errorf("no message: %s", a.Body)
			}
			if a.Body.Len() > 1500 {
				t.Errorf("the problem has %d bytes: nothing long may be sent back", a.Body.Len())
			}
		})
	}
}

func TestDuplicateNamesTheFeed(t *testing.T) {
	s := newSite(t, nil)
	id := s.want(201, "POST", "/api/feeds", `{"url":"https://example.org/feed","title":"Mine"}`).text("id")
	a := s.want(409, "POST", "/api/feeds", `{"url":"http://EXAMPLE.org/feed/"}`)
	if a.text("feed", "id") != id || a.text("feed", "title") != "Mine" || !strings.Contains(a.text("detail"), "Mine") {
		t.Errorf("the feed that is there is not named: %s", a.Body)
	}
}

func TestMethodNotAllowedNamesThem(t *testing.T) {
	s := newSite(t, nil)
	if got := s.want(405, "PUT", "/api/feeds", "").Header().Get("Allow"); got != "GET, HEAD, POST" {
		t.Errorf("Allow %q", got)
	}
}

// The address of every kind of problem explains it.
func TestProblemsAreExplained(t *testing.T) {
	s := newSite(t, nil)
	for _, k := range kinds {
		if a := s.want(200, "GET", "/problems/"+k.slug, ""); !strings.Contains(a.Body.String(), k.help) {
			t.Errorf("%s: %s", k.slug, a.Body)
		}
	}
	s.want(404, "GET", "/problems/none", "")
}

// The table from errors to answers.
func TestProblemOf(t *testing.T) {
	tests := []struct {
		err    error
		status int
		kind   string
	}{
		{fmt.Errorf("x: %w", freshet.ErrNotFound), 404, "not-found"},
		{fmt.Errorf("x: %w", freshet.ErrBadPlace), 400, "bad-cursor"},
		{fmt.Errorf("x: %w", freshet.ErrDisabled), 409, "feed-disabled"},
		{fmt.Errorf("x: %w", &freshet.FieldError{Field: "url", Reason: "no"}), 422, "invalid"},
		{fmt.Errorf("x: %w", &freshet.DuplicateError{}), 409, "duplicate-source"},
		{fmt.Errorf("x: %w", &freshet.Failure{Sentence: "No."}), 422, "unreadable-address"},
		{fmt.Errorf("x: %w", &http.MaxBytesError{Limit: 7}), 413, "too-large"},
		{fmt.Errorf("x: %w", context.DeadlineExceeded), 503, "unavailable"},
		{errors.New("disk full: /secret/path"), 500, "internal"},
	}
	for _, test := range tests {
		p := problemOf(test.err)
		if p.Status != test.status || p.Type != "/problems/"+test.kind {
			t.Errorf("%v is %d %s, want %d %s", test.err, p.Status, p.Type, test.status, test.kind)
		}
		if strings.Contains(p.Detail, "secret") {
			t.Errorf("an error of ours is told to whoever asks: %s", p.Detail)
		}
	}
}

// One bad request must not end the others (P4).
func TestPanicIsAProblem(t *testing.T) {
	s := newSite(t, func(c *Config) {
		c.Ingest = func(context.Context, time.Time, []freshet.ID, bool) (IngestResult, error) { panic("boom") }
	})
	a := s.want(500, "POST", "/api/ingest", "")
	if a.text("type") != "/problems/internal" || strings.Contains(a.Body.String(), "boom") {
		t.Errorf("answer %s", a.Body)
	}
}

// Once an answer has begun, a panic can only break it off.
func TestPanicWithinAnAnswer(t *testing.T) {
	s := newSite(t, nil)
	h := s.observed(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "half")
		panic("boom")
	}))
	defer func() {
		if v := recover(); v != http.ErrAbortHandler {
			t.Errorf("recovered %v, want http.ErrAbortHandler", v)
		}
	}()
	h.ServeHTTP(httptest.NewRecorder(), request("GET", "/", ""))
}

// People with a browser get a page.
func TestProblemAsAPage(t *testing.T) {
	s := newSite(t, nil)
	a := s.want(404, "GET", "/nothing-here", "", "Accept: text/html,*/*")
	if !strings.HasPrefix(a.Header().Get("Content-Type"), "text/html") || !strings.Contains(a.Body.String(), "Not found") {
		t.Errorf("answer %q: %s", a.Header().Get("Content-Type"), a.Body)
	}
	if a := s.want(404, "GET", "/api/nothing-here", "", "Accept: text/html,*/*"); a.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("the API answers %q", a.Header().Get("Content-Type"))
	}
}
