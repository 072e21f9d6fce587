package web

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"freshet"
	"freshet/internal/discover"
	"freshet/internal/opml"
)

// findings are the findings of a check, in the order of its list.
func findings(c *check) (list []discover.Finding) {
	for _, row := range c.state().Rows {
		list = append(list, row.Finding)
	}
	return list
}

// A host is asked for one address after the other with its pause in between, hosts at the same time; what needs no
// request makes none.
func TestCheckIsPolite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCheck([]opml.Outline{
			{URL: "https://a.example/1"}, {URL: "https://a.example/2"}, {URL: "https://b.example/1"},
			{URL: "gopher://c.example/"}, {URL: "http://www.a.example/1/"}, {URL: "https://there.example/feed"},
		}, map[string]bool{freshet.NormalizedURL("https://there.example/feed"): true})
		start := time.Now()
		var mu sync.Mutex
		asked := map[string]time.Duration{}
		c.run(t.Context(), func(_ context.Context, address string) discover.Sight {
			mu.Lock()
			asked[address] = time.Since(start)
			mu.Unlock()
			time.Sleep(time.Second)
			return discover.Sight{Finding: discover.Works, URL: address}
		}, func(string) time.Duration { return 3 * time.Second })
		want := map[string]time.Duration{"https://a.example/1": 0, "https://b.example/1": 0, "https://a.example/2": 4 * time.Second}
		if fmt.Sprint(asked) != fmt.Sprint(want) {
			t.Errorf("asked %v, want %v", asked, want)
		}
		if got, want := fmt.Sprint(findings(c)), "[works works works refused known known]"; got != want {
			t.Errorf("found %s, want %s", got, want)
		}
		if s := c.state(); !s.Over || s.Done != 6 || s.Rows[3].Why == "" {
			t.Errorf("%d of %d, over %v, refused because %q", s.Done, s.Total, s.Over, s.Rows[3].Why)
		}
	})
}

// A host that asks for a pause is left alone, and one that wants long pauses is asked once only.
func TestCheckLeavesHostsAlone(t *testing.T) {
	for name, test := range map[string]struct {
		pause   time.Duration
		failure *freshet.Failure
		why     string
	}{
		"it asks for a pause":   {0, &freshet.Failure{Class: freshet.Transient, Status: 429, CoolHost: true, Sentence: "Less often."}, "a.example asked for a pause."},
		"it wants long pauses":  {time.Minute, nil, "a.example wants 1 min between two requests, so only its first address was looked at."},
		"an end for one of two": {0, &freshet.Failure{Class: freshet.Permanent, Status: 404, Sentence: "Nothing."}, "Nothing."},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCheck([]opml.Outline{{URL: "https://a.example/1"}, {URL: "https://a.example/2"}}, map[string]bool{})
			asked := 0
			c.run(t.Context(), func(_ context.Context, address string) discover.Sight {
				asked++
				return discover.Sight{Finding: discover.Dead, Failure: test.failure}
			}, func(string) time.Duration { return test.pause })
			want := 1
			if test.pause == 0 && !test.failure.CoolHost {
				want = 2
			}
			if last := c.state().Rows[1]; asked != want || last.Why != test.why {
				t.Errorf("asked %d times, want %d; why %q", asked, want, last.Why)
			}
		})
	}
}

// A check that is stopped says what it did not look at; the newest few are kept and the others end.
func TestChecksStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var k checks
		look := func(ctx context.Context, _ string) discover.Sight {
			<-ctx.Done()
			return discover.Sight{Finding: discover.Trouble}
		}
		var all []*check
		for range keptChecks + 1 {
			c := newCheck([]opml.Outline{{URL: "https://a.example/"}}, map[string]bool{})
			k.start(t.Context(), c, look, func(string) time.Duration { return 0 })
			all = append(all, c)
		}
		synctest.Wait()
		if k.find(all[0].ID) != nil || !all[0].state().Over || k.find(all[1].ID) == nil || all[1].state().Over {
			t.Error("the oldest is kept, or another is not")
		}
		all[1].stop()
		synctest.Wait()
		if s := all[1].state(); !s.Over || s.Rows[0].Finding != unseen {
			t.Errorf("after a stop: over %v, %v", s.Over, findings(all[1]))
		}
		k.drop(all[1].ID)
		if k.find(all[1].ID) != nil {
			t.Error("what was dropped is still there")
		}
		for _, c := range all {
			c.stop()
		}
		k.wait()
	})
}

// What a form names is what is added: rows, links of pages, where feeds moved to, and the rest of a group that is too
// long to show.
func TestChosenOf(t *testing.T) {
	row := func(finding discover.Finding, address string) looked {
		return looked{Outline: opml.Outline{URL: "https://list.example/" + address, Title: address}, Sight: discover.Sight{Finding: finding, URL: "https://found.example/" + address}}
	}
	page := row(discover.Page, "p")
	for _, link := range []string{"https://p.example/1", "https://p.example/2"} {
		page.Feeds = append(page.Feeds, struct{ URL, Title, Type string }{URL: link})
	}
	rows := []looked{row(discover.Works, "a"), row(discover.Moved, "b"), page, row(discover.Dead, "d")}
	for range mostRows {
		rows = append(rows, row(discover.Works, "w"))
	}
	rows = append(rows, row(discover.Works, "beyond"))
	for _, test := range []struct {
		form url.Values
		want string
	}{
		{url.Values{"n": {"0", "1", "2.1"}}, "https://list.example/a https://found.example/b https://p.example/2"},
		{url.Values{"n": {"3"}}, "https://list.example/d"},
		{url.Values{"n": {"-1", "x", "9999", "2.7", "0.0", ""}}, ""},
		{url.Values{"rest": {"works", "dead", "nonsense"}}, "https://list.example/w https://list.example/beyond"},
	} {
		var got []string
		for _, o := range chosenOf(rows, test.form) {
			got = append(got, o.URL)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%v chooses %q, want %q", test.form, got, test.want)
		}
	}
}

// send sends a form as a browser does and returns where it leads.
func (s *site) send(target string, form url.Values) reply {
	s.t.Helper()
	return s.call("POST", target, form.Encode(), "Content-Type: application/x-www-form-urlencoded", "Accept: text/html")
}

// A list goes from the upload over the look to what was chosen; a check that nobody knows says what to do.
func TestCheckPages(t *testing.T) {
	s := newSite(t, func(c *Config) {
		c.Look = func(_ context.Context, address string) discover.Sight {
			if strings.Contains(address, "two") {
				return discover.Sight{Finding: discover.Dead, Failure: &freshet.Failure{Class: freshet.Permanent, Sentence: "Nothing is <there>."}}
			}
			return discover.Sight{Finding: discover.Works, URL: address, Entries: 7}
		}
	})
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	file, _ := form.CreateFormFile("file", "subs.opml")
	file.Write([]byte(subscriptions))
	form.Close()
	a := s.want(303, "POST", "/sources/check", body.String(), "Content-Type: "+form.FormDataContentType(), "Accept: text/html")
	s.checks.wait()
	address := a.Header().Get("Location")
	shown := s.want(200, "GET", address, "", "Accept: text/html").Body.String()
	for _, want := range []string{"7 entries", "Nothing is &lt;there&gt;.", "Add One", `value="0" checked`, `value="2" aria-label`} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page lacks %q:\n%s", want, shown)
		}
	}
	if a := s.send(address, url.Values{}); a.Code != 303 || !strings.Contains(a.Header().Get("Location"), "nochoice") {
		t.Errorf("nothing chosen: %d %s", a.Code, a.Header().Get("Location"))
	}
	if a := s.send(address, url.Values{"n": {"0", "3"}}); a.Code != 200 || !strings.Contains(a.Body.String(), "1 feed was added") || !strings.Contains(a.Body.String(), "1 was refused") {
		t.Errorf("two chosen: %d %s", a.Code, a.Body)
	}
	if feeds := s.want(200, "GET", "/api/feeds", "").list("feeds"); len(feeds) != 1 || dig(feeds[0], "folder") != "News" {
		t.Errorf("feeds %v", feeds)
	}
	for _, target := range []string{address, "/sources/check/none"} {
		if a := s.want(404, "GET", target, "", "Accept: text/html"); !strings.Contains(a.Body.String(), "Choose the file again") {
			t.Errorf("%s: %s", target, a.Body)
		}
	}
}
