package web

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"freshet"
)

// River seed, story B2: a refresh by hand reaches every active feed and tells how it went.
func TestRefresh(t *testing.T) {
	s := newSite(t, nil)
	s.add("https://one.example/feed")
	broken := s.add("https://two.example/feed")
	off := s.add("https://three.example/feed")
	s.want(200, "PATCH", "/api/feeds/"+off, `{"enabled":false}`)
	s.poll(posts())
	kicks := s.kicks
	a := s.want(202, "POST", "/api/refresh", "")
	if a.number("total") != 2 || a.text("state") != "running" || a.at("joined") != false || s.kicks != kicks+1 {
		t.Fatalf("%s, want 2 feeds, running, and the scheduler woken", a.Body)
	}
	if b := s.want(202, "POST", "/api/refresh", ""); b.text("id") != a.text("id") || b.at("joined") != true {
		t.Errorf("a second refresh is not the first: %s", b.Body)
	}
	s.poll(func(src freshet.Source) *freshet.Outcome {
		if src.ID.String() == broken {
			return &freshet.Outcome{Failure: &freshet.Failure{Class: freshet.Transient, Code: "timeout", Sentence: "No answer within 10 s."}}
		}
		return posts(post("a", 1), post("b", 2))(src)
	})
	done := s.want(200, "GET", "/api/refresh/"+a.text("id"), "")
	if done.text("state") != "done" || done.number("done") != 2 || done.number("failed") != 1 || done.number("new_items") != 2 || done.at("finished_at") == nil {
		t.Errorf("%s, want 2 done, 1 failed, 2 new", done.Body)
	}
	if f := done.list("failures"); len(f) != 1 || done.text("failures", 0, "id") != broken || done.text("failures", 0, "error") != "No answer within 10 s." {
		t.Errorf("failures %v", f)
	}
}

func TestRefreshOneFeed(t *testing.T) {
	s := newSite(t, nil)
	id := s.add("https://one.example/feed")
	s.add("https://two.example/feed")
	s.poll(posts())
	if a := s.want(202, "POST", "/api/feeds/"+id+"/refresh", ""); a.number("total") != 1 {
		t.Errorf("%s, want 1 feed", a.Body)
	}
}

// S5: a pause that the server asked for holds for a refresh by hand too, and is told with its time.
func TestRefreshPutOff(t *testing.T) {
	s := newSite(t, nil)
	id := s.add("https://one.example/feed")
	until := time.Now().Add(time.Hour).Truncate(time.Second).UTC()
	s.poll(func(freshet.Source) *freshet.Outcome {
		return &freshet.Outcome{Status: 429, Failure: &freshet.Failure{Class: freshet.Transient, Code: "http_429", Status: 429, Sentence: "Too many requests.", RetryAfter: until, CoolHost: true}}
	})
	a := s.want(202, "POST", "/api/feeds/"+id+"/refresh", "")
	if a.text("put_off_feeds", 0, "id") != id || a.text("put_off_feeds", 0, "until") != until.Format(time.RFC3339) {
		t.Errorf("%s, want it put off until %s", a.Body, until.Format(time.RFC3339))
	}
}

func TestRefreshOfNothing(t *testing.T) {
	s := newSite(t, nil)
	if a := s.want(202, "POST", "/api/refresh", ""); a.number("total") != 0 || a.text("state") != "done" {
		t.Errorf("%s, want it done at once", a.Body)
	}
}

func TestRefreshOfASwitchedOffFeedSaysWhy(t *testing.T) {
	s := newSite(t, nil)
	id := s.add("https://one.example/feed")
	s.poll(func(freshet.Source) *freshet.Outcome {
		return &freshet.Outcome{Status: 410, Failure: &freshet.Failure{Class: freshet.Permanent, Code: "http_410", Status: 410, Gone: true, Sentence: "It is gone."}}
	})
	a := s.want(409, "POST", "/api/feeds/"+id+"/refresh", "")
	if !strings.Contains(a.text("detail"), "410") || a.text("feed", "id") != id {
		t.Errorf("the reason is not told: %s", a.Body)
	}
}

// S10: an ingest run answers as the command does.
func TestIngest(t *testing.T) {
	end := time.Date(2026, 2, 16, 12, 0, 0, 0, time.UTC)
	var asked struct {
		end   time.Time
		ids   []freshet.ID
		force bool
	}
	s := newSite(t, func(c *Config) {
		c.Ingest = func(_ context.Context, windowEnd time.Time, ids []freshet.ID, force bool) (IngestResult, error) {
			asked.end, asked.ids, asked.force = windowEnd, ids, force
			return IngestResult{windowEnd, []IngestSource{{URL: "https://one.example/feed", Status: freshet.ResultOK, New: 3}}}, nil
		}
	})
	id := s.add("https://one.example/feed")
	a := s.want(200, "POST", "/api/ingest", `{"window_end":"2026-02-16T13:00:00+01:00","feeds":["`+id+`","https://one.example/feed"],"force":true}`)
	want := `{"window_end":"2026-02-16T12:00:00Z","sources":[{"url":"https://one.example/feed","status":"ok","new":3,"error":null}]}` + "\n"
	if a.Body.String() != want {
		t.Errorf("answer %s, want %s", a.Body, want)
	}
	if !asked.end.Equal(end) || len(asked.ids) != 2 || asked.ids[0].String() != id || asked.ids[1] != asked.ids[0] || !asked.force {
		t.Errorf("asked %+v", asked)
	}
	s.want(200, "POST", "/api/ingest", "")
	if time.Since(asked.end) > time.Minute || asked.ids != nil || asked.force {
		t.Errorf("without a body: %+v, want now and all feeds", asked)
	}
}

func TestDiscover(t *testing.T) {
	s := newSite(t, nil)
	a := s.want(200, "POST", "/api/discover", `{"url":"https://example.org/"}`)
	if a.text("candidates", 0, "url") != "https://example.org/" || a.text("candidates", 0, "titles", 0) != "one" {
		t.Errorf("answer %s", a.Body)
	}
}

func TestStatus(t *testing.T) {
	since := time.Date(2026, 2, 16, 12, 0, 0, 0, time.UTC)
	s := newSite(t, func(c *Config) { c.Offline = func() time.Time { return since } })
	s.add("https://one.example/feed")
	s.want(202, "POST", "/api/refresh", "")
	a := s.want(200, "GET", "/api/status", "")
	if a.text("version") != "test" || a.number("feeds", "total") != 1 || a.number("feeds", "pending") != 1 || a.text("refresh", "state") != "running" {
		t.Errorf("answer %s", a.Body)
	}
	if a.at("network", "paused") != true || a.text("network", "since") != "2026-02-16T12:00:00Z" {
		t.Errorf("network %v, want it down since noon", a.at("network"))
	}
}

func TestHealth(t *testing.T) {
	var polling error
	s := newSite(t, func(c *Config) { c.Polling = func() error { return polling } })
	s.want(200, "GET", "/healthz", "")
	s.want(200, "GET", "/readyz", "")
	polling = errors.New("polling stands still")
	if a := s.want(503, "GET", "/readyz", ""); !strings.Contains(a.Body.String(), "polling stands still") {
		t.Errorf("answer %s", a.Body)
	}
	s.want(200, "GET", "/healthz", "")
	polling = nil
	s.Store.Close()
	s.want(200, "GET", "/healthz", "")
	s.want(503, "GET", "/readyz", "")
}
