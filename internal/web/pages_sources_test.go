package web

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"freshet"
	"freshet/internal/discover"
	"freshet/internal/store"
)

// everyType lets a site read all types.
func everyType(c *Config) { c.Types = []freshet.Type{freshet.RSS, freshet.Website, freshet.HTTP} }

// What the form of a source holds is kept, and what is wrong with it is told field by field, with nothing saved.
func TestSourceForm(t *testing.T) {
	s := newSite(t, everyType)
	id := s.add("https://example.org/feed")
	edit := "/sources/" + id + "/edit"
	good := url.Values{"type": {"website"}, "title": {" Mine "}, "folder": {"/News//World/"}, "every_minutes": {"7.5"}, "poll_delay_seconds": {"0"},
		"selector": {"main"}, "ignore": {".ad\r\n\r\n/^Updated/\r\n"}, "items": {"1"}, "back": {"/sources/" + id}}
	if a := s.send(edit, good); a.Code != 303 || a.Header().Get("Location") != "/sources/"+id+"?notice=saved" {
		t.Fatalf("%d %s %s", a.Code, a.Header().Get("Location"), a.Body)
	}
	a := s.want(200, "GET", "/api/feeds/"+id, "")
	if a.text("type") != "website" || a.text("custom_title") != "Mine" || a.text("folder") != "News/World" || a.text("config", "selector") != "main" ||
		a.text("config", "ignore", 1) != "/^Updated/" || len(a.list("config", "ignore")) != 2 || a.at("config", "items") != true ||
		a.number("config", "poll_delay_seconds") != 0 || !strings.Contains(a.text("next_poll_reason"), "every 7.5 min") {
		t.Errorf("kept %s", a.Body)
	}
	shown := s.want(200, "GET", "/sources/"+id, "", "Accept: text/html").Body.String()
	for _, want := range []string{`value="Mine"`, `value="News/World"`, `value="7.5"`, `value="0"`, ".ad\n/^Updated/", `value="website" checked`} {
		if !strings.Contains(shown, want) {
			t.Errorf("the form lacks %q", want)
		}
	}
	for field, value := range map[string]string{"every_minutes": "often", "poll_delay_seconds": "1e9", "selector": "a >", "ignore": "ok\n/(/", "type": "gopher",
		"title": strings.Repeat("x", 600), "folder": strings.Repeat("x", 600)} {
		bad := url.Values{"title": {"Other"}}
		bad.Set(field, value)
		a := s.send(edit, bad)
		if a.Code != 422 || !strings.Contains(a.Body.String(), `id="wrong-`+field+`"`) || strings.Count(a.Body.String(), `id="wrong-`) != 1 {
			t.Errorf("%s %.20q: %d, not told beside the field alone:\n%s", field, value, a.Code, a.Body)
		}
	}
	if a := s.want(200, "GET", "/api/feeds/"+id, ""); a.text("custom_title") != "Mine" {
		t.Errorf("a form that was refused changed the title to %s", a.text("custom_title"))
	}
}

// A form that knows fewer settings than the API leaves the others as they are.
func TestFormLeavesOtherSettings(t *testing.T) {
	s := newSite(t, everyType)
	id := s.want(201, "POST", "/api/feeds", `{"url":"https://example.org/page","type":"website"}`).text("id")
	s.want(200, "PATCH", "/api/feeds/"+id, `{"config":{"retry":"exponential","max_article_age_days":3,"cadence":{"every_minutes":60}}}`)
	s.send("/sources/"+id+"/edit", url.Values{})
	a := s.want(200, "GET", "/api/feeds/"+id, "")
	if a.text("type") != "website" || a.text("config", "retry") != "exponential" || a.number("config", "max_article_age_days") != 3 || a.at("config", "cadence") != nil {
		t.Errorf("kept %v", a.at("config"))
	}
}

// A page or any content is added as it is, without a look for feeds; what is wrong comes back with all that was typed.
func TestAddByForm(t *testing.T) {
	s := newSite(t, everyType)
	a := s.send("/sources", url.Values{"url": {"example.org/prices"}, "type": {"website"}, "selector": {"main"}, "every_minutes": {"30"}})
	if a.Code != 303 || !strings.HasSuffix(a.Header().Get("Location"), "?notice=added") {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	w, err := s.Store.FindSource(t.Context(), "https://example.org/prices")
	if err != nil || w.Source.Type != freshet.Website || w.Source.Config.Selector != "main" || w.Source.Config.Cadence.EveryMinutes != 30 || s.kicks != 1 {
		t.Errorf("added %+v, %v", w.Source, err)
	}
	a = s.send("/sources", url.Values{"url": {"example.org/other"}, "type": {"http"}, "poll_delay_seconds": {"soon"}, "folder": {"Kept"}})
	if body := a.Body.String(); a.Code != 422 || !strings.Contains(body, `id="wrong-poll_delay_seconds"`) || !strings.Contains(body, `value="Kept"`) ||
		!strings.Contains(body, `value="example.org/other"`) || !strings.Contains(body, `<details class="options" open>`) {
		t.Errorf("%d %s", a.Code, body)
	}
	a = s.send("/sources", url.Values{"url": {"http://EXAMPLE.org/prices/"}, "type": {"website"}})
	if body := a.Body.String(); a.Code != 409 || !strings.Contains(body, "is the one that is there") {
		t.Errorf("a second time: %d %s", a.Code, body)
	}
	a = s.send("/sources", url.Values{"choice": {"https://a.example/1", "https://b.example/2"}, "folder": {"Both"}, "title": {"for one only"}})
	if a.Code != 303 {
		t.Fatalf("two chosen: %d %s", a.Code, a.Body)
	}
	for _, address := range []string{"https://a.example/1", "https://b.example/2"} {
		if w, err := s.Store.FindSource(t.Context(), address); err != nil || w.Source.Folder != "Both" || w.Source.Title != "" {
			t.Errorf("%s: %+v, %v", address, w.Source, err)
		}
	}
}

// A page without feeds is offered to be watched, with all that was typed.
func TestOfferToWatchKeepsOptions(t *testing.T) {
	s := newSite(t, func(c *Config) {
		everyType(c)
		c.Find = func(context.Context, string) ([]discover.Candidate, error) {
			return nil, &freshet.Failure{Code: "not_a_feed", Sentence: "No feed was found."}
		}
	})
	typed := url.Values{"url": {"https://example.org/page"}, "title": {"Mine"}, "folder": {"News"}, "every_minutes": {"90"}, "poll_delay_seconds": {"2.5"}}
	_, offer, _ := strings.Cut(s.send("/sources", typed).Body.String(), `<form class="message watch"`)
	offer, _, _ = strings.Cut(offer, "</form>")
	typed.Set("type", "website")
	for name := range typed {
		if want := `name="` + name + `" value="` + typed.Get(name) + `"`; !strings.Contains(offer, want) {
			t.Errorf("the offer lacks %s:\n%s", want, offer)
		}
	}
}

// A removal says what stays and can be taken back, on the page and by the API.
func TestUndoRemoval(t *testing.T) {
	s := newSite(t, nil)
	id := s.add("https://example.org/feed")
	s.send("/sources/"+id+"/edit", url.Values{"type": {"rss"}, "title": {"Mine"}, "folder": {"News"}, "every_minutes": {"45"}})
	a := s.send("/sources/"+id+"/remove", nil)
	if a.Code != 303 || a.Header().Get("Location") != "/sources?notice=removed&removed="+id {
		t.Fatalf("%d %s", a.Code, a.Header().Get("Location"))
	}
	shown := s.want(200, "GET", a.Header().Get("Location"), "", "Accept: text/html").Body.String()
	if !strings.Contains(shown, "stays in the river for 30 days") || !strings.Contains(shown, `action="/sources/`+id+`/restore"`) {
		t.Errorf("nothing offers to take it back:\n%s", shown)
	}
	if a := s.send("/sources/"+id+"/restore", nil); a.Code != 303 || a.Header().Get("Location") != "/sources/"+id+"?notice=restored" {
		t.Errorf("%d %s", a.Code, a.Header().Get("Location"))
	}
	back := s.want(200, "GET", "/api/feeds/"+id, "")
	if back.text("title") != "Mine" || back.text("folder") != "News" || back.number("config", "cadence", "every_minutes") != 45 {
		t.Errorf("it came back as %s", back.Body)
	}
	if shown := s.want(200, "GET", "/sources?removed="+id, "", "Accept: text/html").Body.String(); strings.Contains(shown, "/restore") {
		t.Error("what is there is offered to be taken back")
	}
	s.want(204, "DELETE", "/api/feeds/"+id, "")
	s.want(404, "GET", "/api/feeds/"+id, "")
	if a := s.want(200, "POST", "/api/feeds/"+id+"/restore", ""); a.text("title") != "Mine" {
		t.Errorf("by the API: %s", a.Body)
	}
	s.want(404, "POST", "/api/feeds/12345/restore", "")
	s.want(404, "POST", "/api/feeds/none/restore", "")
}

// The list begins with the hosts that pause, each with its sources, then what needs a look, then the rest.
func TestSourcesInGroups(t *testing.T) {
	s := newSite(t, nil)
	fails := map[string]*freshet.Failure{
		"https://busy.example/a": {Class: freshet.Transient, Status: 429, CoolHost: true, Sentence: "Less often."},
		"https://ill.example/":   {Class: freshet.Transient, Status: 500, Sentence: "Broken."},
	}
	for _, address := range []string{"https://busy.example/a", "https://busy.example/b", "https://ill.example/", "https://fine.example/", "https://off.example/"} {
		s.add(address)
	}
	off, err := s.Store.FindSource(t.Context(), "https://off.example/")
	if err != nil {
		t.Fatal(err)
	}
	s.send("/sources/"+off.Source.ID.String()+"/pause", nil)
	s.poll(func(src freshet.Source) *freshet.Outcome {
		if f := fails[src.URL]; f != nil {
			return &freshet.Outcome{Status: f.Status, Failure: f}
		}
		return posts()(src)
	})
	page, err := s.newSourcesPage(request("GET", "/sources", ""))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range page.Groups {
		line := g.Name + ":"
		for _, row := range g.Sources {
			line += " " + row.URL + " " + string(row.State)
		}
		got = append(got, line)
	}
	want := []string{
		"busy.example asked for a pause: https://busy.example/a waiting https://busy.example/b waiting",
		"Need a look: https://ill.example/ retrying", "In good order: https://fine.example/ healthy", "Paused: https://off.example/ paused"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("groups\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for query, want := range map[string]int{"state=waiting": 2, "state=paused": 1, "name=BUSY": 2, "name=busy&state=healthy": 0} {
		page, err := s.newSourcesPage(request("GET", "/sources?"+query, ""))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, g := range page.Groups {
			n += len(g.Sources)
		}
		if n != want {
			t.Errorf("%s shows %d sources, want %d", query, n, want)
		}
	}
}

// A list is shown by parts, in its order, none of it twice.
func TestSourcesInParts(t *testing.T) {
	s := newSite(t, nil)
	var list []store.NewSource
	for range sourcesPerPage + 5 {
		list = append(list, store.NewSource{URL: "https://example.org/" + strings.Repeat("x", len(list)+1)})
	}
	if _, err := s.Store.AddSources(t.Context(), list, time.Now()); err != nil {
		t.Fatal(err)
	}
	seen, address := map[freshet.ID]bool{}, "/sources"
	for address != "" {
		page, err := s.newSourcesPage(request("GET", address, ""))
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range page.Groups {
			for _, row := range g.Sources {
				if seen[row.ID] {
					t.Errorf("%s is shown twice", row.URL)
				}
				seen[row.ID] = true
			}
		}
		address = page.NextURL
	}
	if len(seen) != len(list) {
		t.Errorf("%d sources are shown, want %d", len(seen), len(list))
	}
}

// What a refresh tells while it runs, and how it ended: the page without script says the same as with it.
func TestProgress(t *testing.T) {
	for want, r := range map[string]freshet.Refresh{
		"Refreshing: 37 of 120, 4 failed":         {Total: 120, Done: 37, Failed: 4},
		"Refreshing: 0 of 1":                      {Total: 1},
		"118 fetched, 2 failing, 23 new":          {Total: 120, Done: 120, Failed: 2, NewItems: 23, FinishedAt: time.Now()},
		"1 fetched, 0 failing, 1 put off, 0 new":  {Total: 2, Done: 2, PutOff: 1, FinishedAt: time.Now()},
		"Refreshing: 37 of 120, 4 failed, 12 new": {Total: 120, Done: 37, Failed: 4, NewItems: 12},
	} {
		if got := progress(&r); got != want {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
}
