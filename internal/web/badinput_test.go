package web

import (
	"strings"
	"testing"
)

// What people and programs send wrongly is refused with the field's name and a reason, and changes nothing.
func TestBadSourceInput(t *testing.T) {
	const feed = `{"url":"https://new.example/feed",`
	for _, bad := range []struct {
		name, method, target, body string
		status                     int
		location, reason           string
	}{
		{"unknown type", "POST", "/api/feeds", feed + `"type":"gopher"}`, 422, "body.type", "rss, website, http, twitter"},
		{"delay of -1", "POST", "/api/feeds", feed + `"config":{"poll_delay_seconds":-1}}`, 422, "body.config.poll_delay_seconds", "between 0 and 3600"},
		{"delay of -1", "PATCH", "/api/feeds/ID", `{"config":{"poll_delay_seconds":-1}}`, 422, "body.config.poll_delay_seconds", "between 0 and 3600"},
		{"delay of -1", "POST", "/api/briefings", `{"name":"B","sources":[{"url":"https://new.example/feed","config":{"poll_delay_seconds":-1}}]}`, 422,
			"body.sources[0].config.poll_delay_seconds", "between 0 and 3600"},
		{"cadence of 0", "POST", "/api/feeds", feed + `"config":{"cadence":{"mode":"interval","every_minutes":0}}}`, 422, "body.config.cadence.every_minutes", "more than 0"},
		{"cadence of 0", "PATCH", "/api/feeds/ID", `{"config":{"cadence":{"every_minutes":0}}}`, 422, "body.config.cadence.every_minutes", "more than 0"},
		{"cadence of a string", "POST", "/api/feeds", feed + `"config":{"cadence":{"mode":"interval","every_minutes":"480"}}}`, 422, "body.config.cadence.every_minutes", "number"},
		{"cadence of a string", "PATCH", "/api/feeds/ID", `{"config":{"cadence":"daily"}}`, 422, "body.config.cadence", "object"},
		{"credential without a provider", "PUT", "/api/credentials/%20", `{"token":"abc"}`, 422, "path.provider", `must be "x"`},
		{"credential without a provider", "PUT", "/api/credentials/", `{"token":"abc"}`, 404, "", ""},
		{"credential of another provider", "PUT", "/api/credentials/mastodon", `{"token":"abc"}`, 422, "path.provider", `must be "x"`},
		{"a handle that is no handle", "POST", "/api/feeds", `{"type":"twitter","url":"not a handle!"}`, 422, "body.url", "@name"},
		{"a handle that is no handle", "POST", "/api/feeds", `{"type":"twitter","url":"@longer_than_handles_are"}`, 422, "body.url", "@name"},
		{"a handle that is no handle", "POST", "/api/feeds", `{"type":"twitter","url":"https://x.com/i/lists/1"}`, 422, "body.url", "@name"},
	} {
		t.Run(bad.name, func(t *testing.T) {
			s, _ := newKeeper(t)
			id := s.want(201, "POST", "/api/feeds", `{"url":"https://a.example/feed","config":{"cadence":{"every_minutes":60},"poll_delay_seconds":2}}`).text("id")
			before := s.want(200, "GET", "/api/feeds", "").Body.String()
			a := s.want(bad.status, bad.method, strings.Replace(bad.target, "ID", id, 1), bad.body)
			if got := a.text("errors", 0, "location"); got != bad.location || !strings.Contains(a.text("errors", 0, "message"), bad.reason) {
				t.Errorf("refused at %q: %s", got, a.Body)
			}
			if after := s.want(200, "GET", "/api/feeds", "").Body.String(); after != before {
				t.Errorf("the feeds were\n%s\nand are\n%s", before, after)
			}
			if n := len(s.want(200, "GET", "/api/briefings", "").list("briefings")); n != 0 {
				t.Errorf("%d briefings", n)
			}
			s.want(404, "GET", "/api/credentials/x", "")
		})
	}
}
