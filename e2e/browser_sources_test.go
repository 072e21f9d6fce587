package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
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

// A2 Remove feed URL: it is asked for, polled no more, and its items stay.
func TestA2RemoveFeedURL(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	s := reader(t)
	id := s.add(t, stand.feed("/feed.xml", "Goes Away", entries("stays", 3, time.Hour)...))
	b := browse(t, s.url)
	b.open("/sources/" + id)
	b.click("details.remove summary")
	b.says("details.remove", "stays in the river")
	b.follow("details.remove button")
	b.says("main", "Removed")
	b.says("main", "There are no sources")
	before := stand.visits("/feed.xml")
	s.poll(t)
	if n := stand.visits("/feed.xml"); n != before {
		t.Errorf("polled %d times after it was removed", n-before)
	}
	b.open("/")
	b.says("#river", "stays 3")
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
	b.says("#river", "tick 3")
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
		b.wait("the page to show the end by itself", `!document.querySelector("#progress").innerText.includes("of 3")`)
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
	b.says("main", "asked for a pause")
	b.looks("health")
	b.wait("the countdown to move", `(() => { const t = document.querySelector("`+first+` time.countdown"); if (!t) return false;
		window.first ??= t.innerText; return /in \d+:\d\d/.test(t.innerText) && t.innerText !== window.first })()`)
	b.open("/sources/" + id)
	b.says(".health", "502")
	b.looks("source")
	b.open("/")
	b.says("#river", "earlier 3")
	stand.feed("/feed.xml", "Falls Ill", entries("earlier", 4, time.Minute)...)
	b.open("/sources/" + id)
	b.click(`#health form[action$="refresh"] button`)
	b.wait("it to be healthy again", `document.querySelector("h1 .state")?.innerText === "healthy"`)
}
