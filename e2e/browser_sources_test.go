package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A1 Add feed URL: what can be pasted, and what one is told.
func TestA1AddFeedURL(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	stand.feed("/feed.xml", "The Daily Stand", entries("stand", 3, time.Hour)...)
	stand.feed("/comments.xml", "Comments on the Stand", entries("comment", 2, time.Hour)...)
	stand.feed("/one.xml", "Only One", entries("one", 2, time.Hour)...)
	stand.html("/site", `<html><head><link rel=alternate type=application/rss+xml href=/one.xml></head><body>Welcome</body></html>`)
	stand.html("/big", `<html><head><link rel=alternate type=application/rss+xml href=/feed.xml title=News><link rel=alternate type=application/rss+xml href=/comments.xml title=Comments></head></html>`)
	stand.html("/bare/page", `<html><body>Nothing to follow here.</body></html>`)
	s := reader(t)
	b := browse(t, s.url)

	paste := func(b *tab, address string) {
		b.t.Helper()
		b.open("/sources")
		b.fill("#url", address)
		b.follow(".paste button")
	}
	t.Run("a feed", func(t *testing.T) {
		b := b.in(t)
		b.open("/")
		b.says("main", "Nothing flows yet")
		b.looks("empty")
		b.fill("#url", stand.url+"/feed.xml")
		b.follow(".paste button")
		b.says("main", "Added")
		b.waitText("h1", "The Daily Stand")
		b.waitText("#items", "stand 3") // by itself
		b.open("/sources")
		b.says(".sources", "The Daily Stand")
		b.open("/")
		b.waitText("#river", "stand 3")
	})
	t.Run("the same feed, written otherwise", func(t *testing.T) {
		b := b.in(t)
		paste(b, strings.ToUpper(stand.url[:7])+stand.url[7:]+"/feed.xml#top")
		b.says("#problem", "already")
		b.says("main", "The Daily Stand")
		if got := b.text("#url"); b.count(".source") != 1 {
			t.Errorf("%d sources, field %q", b.count(".source"), got)
		}
		b.picture("duplicate")
	})
	t.Run("a site with one feed", func(t *testing.T) {
		b := b.in(t)
		paste(b, stand.url+"/site")
		b.waitText("h1", "Only One")
	})
	t.Run("a site with several", func(t *testing.T) {
		s := reader(t)
		b := browse(t, s.url)
		b.open("/sources")
		b.fill("#url", stand.url+"/big")
		b.follow(".paste button")
		b.says("main", "2 feeds")
		b.says(".found", "The Daily Stand")
		b.says(".found", "stand 3") // its newest title
		b.looks("choose")
		b.click(`.candidate input[value$="feed.xml"]`)
		b.click(`.candidate input[value$="comments.xml"]`)
		b.follow(".found button")
		b.waitText("h1", "Comments on the Stand")
		b.open("/sources")
		if n := b.count(".source"); n != 1 {
			t.Errorf("%d sources were added, want the one that was chosen", n)
		}
	})
	for _, tt := range []struct{ name, address, want string }{
		{"not a URL", "no address at all", "address"},
		{"another scheme", "ftp://example.org/feed", "http"},
		{"a page without feeds", stand.url + "/bare/page", "feed"},
		{"a refused address", "http://169.254.169.254/feed", "FRESHET_FETCH_ALLOW"},
		{"nothing there", stand.url + "/nothing/here.xml", "404"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := b.in(t)
			paste(b, tt.address)
			b.says("#problem", tt.want)
			if got := eval[string](b, "document.getElementById('url').value"); got != tt.address {
				t.Errorf("the field holds %q, want what was pasted", got)
			}
			if !eval[bool](b, "document.activeElement.id === 'url'") {
				t.Error("the focus is not on the field that is wrong")
			}
			b.picture(strings.ReplaceAll(tt.name, " ", "-"))
		})
	}
}

// A1 with options: what it is, a folder, how often; what is wrong is told beside its field and nothing is lost.
func TestA1AddWithOptions(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	stand.html("/prices", `<html><head><title>Prices</title></head><body><nav>Home</nav><main><p class="prices">Bread costs 3.20 and milk costs 1.10 today.</p></main></body></html>`)
	for _, mode := range []struct {
		name   string
		before []chromedp.Action[chromedp.Void]
	}{{"with script", nil}, {"without script", []chromedp.Action[chromedp.Void]{noScript()}}} {
		t.Run(mode.name, func(t *testing.T) {
			s := reader(t)
			b := browse(t, s.url, mode.before...)
			b.open("/sources")
			b.fill("#url", stand.url+"/prices")
			b.click(".options summary")
			visible := func(css string) bool {
				return eval[bool](b, fmt.Sprintf("document.querySelector(%q).checkVisibility()", css))
			}
			if visible("[name=selector]") {
				t.Error("a feed is asked for a selector")
			}
			b.click(".kinds [value=website]")
			if !visible("[name=selector]") || visible("[name=items]") {
				t.Error("a web page is not asked for a selector, or for what is meant for other types")
			}
			b.fill("[name=selector]", "main >")
			b.fill("[name=ignore]", ".ads\n/(/")
			b.fill("[name=folder]", "Shops")
			b.fill("[name=every_minutes]", "often")
			b.fill("[name=poll_delay_seconds]", "-1")
			b.follow(".paste button")
			b.says("#problem", "Nothing was added: 4 fields need a look")
			for field, want := range map[string]string{"selector": "no selector", "ignore": "Rule 2", "every_minutes": "a number", "poll_delay_seconds": "between 0 and 3600"} {
				b.says("#wrong-"+field, want)
				if got := eval[string](b, fmt.Sprintf("document.querySelector('[name=%s]').getAttribute('aria-describedby')", field)); got != "wrong-"+field {
					t.Errorf("%s is described by %q", field, got)
				}
			}
			if got := eval[string](b, "document.querySelector('[name=folder]').value + ' ' + document.querySelector('[name=type]:checked').value"); got != "Shops website" {
				t.Errorf("the form forgot what was right: %q", got)
			}
			b.looks("wrong")
			b.fill("[name=selector]", "main")
			b.fill("[name=ignore]", ".ads")
			b.fill("[name=every_minutes]", "90")
			b.fill("[name=poll_delay_seconds]", "2.5")
			b.follow(".paste button")
			b.says("main", "Added")
			b.reloadUntil("h1", "healthy")
			b.says("h1", "Prices")
			b.says("main", "1 h 30 min")
			b.says("main", "Shops")
			b.open("/")
			b.waitText("#river", "Bread costs 3.20")
		})
	}
	t.Run("a page without feeds can be watched", func(t *testing.T) {
		s := reader(t)
		b := browse(t, s.url)
		b.open("/sources")
		b.fill("#url", stand.url+"/prices")
		b.follow(".paste button")
		b.says("#problem", "No feed was found")
		b.looks("offer")
		b.follow(".watch button")
		b.waitText("h1", "healthy")
		b.says("h1", "Prices")
	})
}

// A2 Remove feed URL: it is asked for, polled no more, and its items stay; Undo brings it back as it was.
func TestA2RemoveFeedURL(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	for _, mode := range []struct {
		name   string
		before []chromedp.Action[chromedp.Void]
	}{{"with script", nil}, {"without script", []chromedp.Action[chromedp.Void]{noScript()}}} {
		t.Run(mode.name, func(t *testing.T) {
			s := reader(t)
			id := s.add(t, stand.feed("/feed.xml", "Goes Away", entries("stays", 3, time.Hour)...))
			b := browse(t, s.url, mode.before...)
			b.open("/sources/" + id)
			b.fill("[name=title]", "My name for it")
			b.fill("[name=folder]", "Morning")
			b.fill("[name=every_minutes]", "45")
			b.follow("#settings form[action$=edit] button")
			b.says("main", "Saved")
			b.click("details.remove summary")
			b.says("details.remove", "stays in the river for 30 days")
			b.follow("details.remove button")
			b.says("main", "Removed: My name for it")
			b.says("main", "There are no sources")
			b.looks("removed")
			before := stand.visits("/feed.xml")
			s.poll(t)
			if n := stand.visits("/feed.xml"); n != before {
				t.Errorf("polled %d times after it was removed", n-before)
			}
			b.open("/")
			b.waitText("#river", "stays 3")

			b.open("/sources?removed=" + id)
			b.follow(".undo button")
			b.says("main", "It is back")
			b.says("h1", "My name for it")
			b.says("main", "Morning")
			b.says("main", "every 45 min")
			s.poll(t)
			if n := stand.visits("/feed.xml"); n != before+1 {
				t.Errorf("polled %d times after it was brought back", n-before)
			}
			b.open("/sources?removed=" + id)
			if b.count(".undo") != 0 {
				t.Error("what is back can be brought back again")
			}
		})
	}
}

// B1 Scheduled refresh: the page shows when it was and what came of it, and what is new comes by itself.
func TestB1ScheduledRefresh(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	list := entries("tick", 5, time.Hour)
	address := stand.feed("/feed.xml", "On Schedule", list[2:]...)
	s := reader(t, "FRESHET_INTERVAL=500ms", "FRESHET_MIN_INTERVAL=100ms")
	id := s.add(t, address)
	b := browse(t, s.url)
	b.open("/")
	b.waitText("#river", "tick 3")
	stand.feed("/feed.xml", "On Schedule", list...)
	b.waitText("#pill", "2 new")
	b.click("#pill a")
	b.waitText("#river", "tick 5")
	if n := b.count(".item"); n != 5 {
		t.Errorf("%d items, want 5: only the new ones are added", n)
	}
	b.open("/sources/" + id)
	b.says(".health", "Last success")
	if n := b.count(".strip i.ok"); n < 2 {
		t.Errorf("the strip shows %d polls that went well", n)
	}
}

// B2 Manual refresh: progress while it runs, then how it ended.
func TestB2ManualRefresh(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	other := newNewsstand(t, "127.0.0.3")
	s := reader(t)
	s.add(t, stand.feed("/quick.xml", "Quick", entries("quick", 2, time.Hour)...))
	s.add(t, stand.feed("/broken.xml", "Broken", entries("broken", 1, time.Hour)...))
	s.add(t, other.feed("/slow.xml", "Slow", entries("slow", 2, time.Hour)...))
	stand.feed("/quick.xml", "Quick", entries("quick", 4, time.Minute)...)
	stand.status("/broken.xml", http.StatusInternalServerError)
	_, release := other.slow("/slow.xml", "Slow", entries("slow", 3, time.Minute)...)
	defer release()
	b := browse(t, s.url)
	b.open("/")
	b.click(".refresh button")
	b.waitText("#progress", "2 of 3")
	b.waitText("#progress", "1 failed")
	b.picture("running")
	release()
	b.waitText("#progress", "2 fetched, 1 failing, 3 new")
	b.waitText("#pill", "3 new")
	b.picture("done")

	t.Run("without script", func(t *testing.T) {
		_, release := other.slow("/slow.xml", "Slow", entries("slow", 3, time.Minute)...)
		defer release()
		b := browse(t, s.url, noScript())
		b.open("/")
		b.follow(".refresh button")
		b.waitText("#progress", "of 3")
		release()
		b.waitText("#progress", "2 fetched, 1 failing, 0 new") // by itself
	})
	t.Run("one source", func(t *testing.T) {
		b := b.in(t)
		stand.feed("/quick.xml", "Quick", entries("quick", 5, time.Second)...)
		before := other.visits("/slow.xml")
		b.open("/sources")
		b.wait("the sources", `document.querySelectorAll(".source").length === 3`)
		b.click(`button[aria-label="Poll now: Quick"]`)
		b.waitText("#progress", "1 fetched, 0 failing, 1 new")
		if n := other.visits("/slow.xml"); n != before {
			t.Error("another source was polled too")
		}
	})
}

// F1 Unhealthy feed status: failures, the last error, when it is tried again and why; items stay.
func TestF1UnhealthyFeedStatus(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	busy := newNewsstand(t, "127.0.0.3")
	s := reader(t)
	id := s.add(t, stand.feed("/feed.xml", "Falls Ill", entries("earlier", 3, time.Hour)...))
	s.add(t, busy.feed("/a.xml", "Busy A", entries("busya", 1, time.Hour)...))
	s.add(t, busy.feed("/b.xml", "Busy B", entries("busyb", 1, time.Hour)...))
	s.add(t, stand.feed("/fine.xml", "Fine", entries("fine", 3, time.Hour)...))
	stand.status("/feed.xml", http.StatusBadGateway)
	for range 3 {
		s.poll(t)
	}
	busy.status("/a.xml", http.StatusTooManyRequests, "Retry-After: 900")
	s.poll(t)
	b := browse(t, s.url)
	b.open("/sources")
	first := fmt.Sprintf("#s%s", id)
	b.says(first+" .state", "unhealthy")
	b.says(first, "502")
	b.says(first, "fourth failure in a row")
	b.says(first, "last success")
	b.says(".pausing h2", "127.0.0.3 asked for a pause")
	b.says(".pausing", "It answered 429")
	if n := b.count(".pausing .source"); n != 2 {
		t.Errorf("%d sources wait for the host that asked for a pause, want both of it", n)
	}
	if shapes := eval[[]string](b, `[...document.querySelectorAll(".state")].map((s) => s.innerText + getComputedStyle(s, "::before").content)`); len(shapes) != 4 ||
		shapes[0] != `waiting"◆"` || shapes[2] != `unhealthy"▲"` || shapes[3] != `healthy"●"` {
		t.Errorf("words and shapes are %q", shapes)
	}
	b.looks("health")
	b.wait("the countdown to move", `(() => { const t = document.querySelector("`+first+` time.countdown"); if (!t) return false;
		window.first ??= t.innerText; return /in \d+:\d\d/.test(t.innerText) && t.innerText !== window.first })()`)
	b.open("/sources?state=unhealthy")
	if n := b.count(".source"); n != 1 {
		t.Errorf("the filter shows %d sources", n)
	}
	b.open("/sources/" + id)
	b.says(".health", "502")
	b.looks("source")
	b.open("/")
	b.waitText("#river", "earlier 3")
	stand.feed("/feed.xml", "Falls Ill", entries("earlier", 4, time.Minute)...)
	b.open("/sources/" + id)
	b.says("#health form button", "Retry now")
	b.click(`#health form[action$="refresh"] button`)
	b.wait("it to be healthy again", `document.querySelector("h1 .state")?.innerText === "healthy"`)

	t.Run("pause, cadence and delay", func(t *testing.T) {
		b := b.in(t)
		b.follow(`#health form[action$="pause"] button`)
		b.says("h1 .state", "paused")
		b.says("#health", "Paused by hand")
		b.follow(`#health form[action$="resume"] button`)
		b.waitText("h1 .state", "healthy")
		b.fill("[name=every_minutes]", "soon")
		b.follow("#settings form[action$=edit] button")
		b.says("#wrong-every_minutes", "a number")
		b.fill("[name=every_minutes]", "30")
		b.fill("[name=poll_delay_seconds]", "3")
		b.follow("#settings form[action$=edit] button")
		b.says("main", "Saved")
		b.says("#health", "every 30 min (set for this source)")
	})
	t.Run("a refresh of what waits", func(t *testing.T) {
		b := b.in(t)
		b.open("/sources")
		b.follow(".pausing .source:last-child .name")
		b.says("h1", "Busy B")
		b.click(`button[aria-label="Poll now: Busy B"]`)
		b.waitText("#progress", "left alone until")
	})
}

// The sources are reached, read and changed with keys only.
func TestSourcesByKey(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	s := reader(t)
	s.add(t, stand.feed("/feed.xml", "By Key", entries("key", 2, time.Hour)...))
	stand.feed("/other.xml", "Another", entries("other", 2, time.Hour)...)
	b := browse(t, s.url)
	b.open("/")
	b.press("gs")
	b.wait("the sources", `location.pathname === "/sources" && document.readyState === "complete"`)
	b.press("a")
	b.wait("the field", `document.activeElement.id === "url"`)
	b.press(stand.url + "/other.xml")
	b.press(kb.Enter)
	b.waitText("h1", "Another")
	b.open("/sources")
	// Tab reaches every control of a source, in the order in which they are read.
	var reached []string
	for range 40 {
		b.press(kb.Tab)
		label := eval[string](b, `document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent`)
		if strings.Contains(label, "By Key") && len(label) < 40 { // not the whole page, where Tab leaves it
			reached = append(reached, label)
		}
	}
	if want := []string{"By Key", "Poll now: By Key", "Pause By Key", "Edit By Key", "Remove By Key"}; !slices.Equal(reached, want) {
		t.Errorf("tab reaches %q, want %q", reached, want)
	}
}

// reloadUntil loads the page again until an element says something: what a reader without script does.
func (b *tab) reloadUntil(css, part string) {
	b.t.Helper()
	await(b.t, css+" to say "+part, func() (bool, error) {
		b.open(b.where())
		return strings.Contains(b.text(css), part), nil
	})
}
