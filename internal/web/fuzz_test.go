package web

import (
	"context"
	"net/http"
	"net/url"
	"testing"
)

// Whatever is asked, the answer is never that something went wrong here (P4).
func FuzzAPI(f *testing.F) {
	s := newSite(f, nil)
	s.add("https://example.org/feed")
	s.poll(posts(post("a", 1), post("b", 2)))
	id := s.want(200, "GET", "/api/feeds", "").text("feeds", 0, "id")
	f.Add("GET", "/api/items?q=%22a+OR&start_date=2026-01-01&feed_ids=1,2&limit=3", "")
	f.Add("PATCH", "/api/feeds/"+id, `{"title":null,"config":{"cadence":{"every_minutes":1e308}}}`)
	f.Add("POST", "/api/feeds", `{"url":"http://[::1]:80/\u0000","folder":"////"}`)
	f.Add("POST", "/api/ingest", `{"window_end":"0000-01-01T00:00:00Z","feeds":["\u0000"]}`)
	f.Add("POST", "/sources", "url=%00")
	f.Add("GET", "/?feed=x&start_date=9999-12-31&cursor=AAAA", "")
	f.Fuzz(func(t *testing.T, method, target, body string) {
		if u, err := url.ParseRequestURI(target); err != nil || u.Host != "" || u.Path == "/api/events" {
			return
		}
		r, err := http.NewRequestWithContext(context.Background(), method, target, nil)
		if err != nil {
			return
		}
		kinds := map[bool]string{true: "application/json", false: "application/x-www-form-urlencoded"}
		r = request(method, "/", body, "Content-Type: "+kinds[len(target) > 5 && target[:5] == "/api/"])
		r.URL, _ = url.ParseRequestURI(target)
		s.t = t
		if a := s.do(r); a.Code >= 500 {
			t.Errorf("%s %q %q answers %d: %s", method, target, body, a.Code, a.Body)
		}
	})
}
