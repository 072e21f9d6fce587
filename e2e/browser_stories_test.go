package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The criteria of docs/stories.md that no other test of the browser shows, each with script and without.

// withAndWithoutScript runs a part of a story in a browser with script, and in one without.
func withAndWithoutScript(t *testing.T, check func(t *testing.T, open func(s server) *tab)) {
	t.Run("with script", func(t *testing.T) { check(t, func(s server) *tab { return browse(t, s.url) }) })
	t.Run("without script", func(t *testing.T) { check(t, func(s server) *tab { return browse(t, s.url, noScript()) }) })
}

// A1: what was added is in the list, is refused a second time, and is there after a restart.
func TestA1FeedIsKept(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	address := stand.feed("/feed.xml", "The Daily Stand", entries("stand", 3, time.Hour)...)
	withAndWithoutScript(t, func(t *testing.T, open func(server) *tab) {
		s := reader(t)
		b := open(s)
		b.open("/")
		b.fill("#url", address)
		b.follow(".paste button")
		b.says("main", "Added")
		b.reloadUntil("main", "stand 3")
		b.open("/sources")
		b.says(".sources", "The Daily Stand")
		b.fill("#url", address+"#again")
		b.follow(".paste button")
		b.says("#problem", "already")
		b.says("main", "The Daily Stand is the one that is there")
		s.restart(t)
		b.open("/sources")
		if got := b.texts(".source .name"); !slices.Equal(got, []string{"The Daily Stand"}) {
			t.Errorf("after a restart the sources are %q", got)
		}
	})
}

// A2: a source is removed from the list, which asks and says what stays; it is polled no more, and what it brought stays
// until retention takes it.
func TestA2RemoveFromTheList(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	withAndWithoutScript(t, func(t *testing.T, open func(server) *tab) {
		s := reader(t)
		s.add(t, stand.feed("/goes.xml", "Goes Away", append(entries("young", 2, time.Hour), entries("old", 2, 29*24*time.Hour+12*time.Hour)...)...))
		s.add(t, stand.feed("/stays.xml", "Stays Here", entries("other", 1, 2*time.Hour)...))
		b := open(s)
		b.open("/sources")
		b.follow(`a[aria-label="Remove Goes Away"]`)
		b.says("details.remove", "stays in the river for 30 days")
		b.follow("details.remove button")
		b.says("main", "Removed: Goes Away")
		if got := b.texts(".source .name"); !slices.Equal(got, []string{"Stays Here"}) {
			t.Errorf("the list has %q", got)
		}
		gone, stays := stand.visits("/goes.xml"), stand.visits("/stays.xml")
		s.poll(t)
		if stand.visits("/goes.xml") != gone || stand.visits("/stays.xml") != stays+1 {
			t.Errorf("a refresh asked for the removed one %d times, for the other %d times", stand.visits("/goes.xml")-gone, stand.visits("/stays.xml")-stays)
		}
		b.open("/")
		if got := b.titles(); !slices.Equal(got, []string{"young 2", "young 1", "other 1", "old 2", "old 1"}) {
			t.Errorf("after the removal the river has %q", got)
		}
		s.Env = append(s.Env, "FRESHET_RETENTION=702h") // 29 days and 6 hours
		s.restart(t)
		await(t, "retention to take the old ones", func() (bool, error) {
			b.open("/")
			return b.count(".item") == 3, nil
		})
		if got := b.titles(); !slices.Equal(got, []string{"young 2", "young 1", "other 1"}) {
			t.Errorf("after retention the river has %q", got)
		}
	})
}

// B1: the page of a source says how often it is polled and since when, and what came of each poll, good or bad.
func TestB1ResultsAreTracked(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	withAndWithoutScript(t, func(t *testing.T, open func(server) *tab) {
		s := reader(t, "FRESHET_INTERVAL=40m")
		list := entries("tick", 5, time.Hour)
		id := s.add(t, stand.feed("/feed.xml", "On Schedule", list[2:]...))
		b := open(s)
		b.open("/sources/" + id)
		b.says("#health", "every 40 min (the configured default)")
		b.says("#health time.countdown", "in ") // well within the 40 minutes
		results := func() []string {
			return eval[[]string](b, `[...document.querySelectorAll("#health .strip i")].map((i) => i.className + i.title.replace(/^.*UTC/, ""))`)
		}
		if got := results(); !slices.Equal(got, []string{"ok: ok, HTTP 200, 3 new"}) {
			t.Errorf("the first poll shows as %q", got)
		}
		stand.feed("/feed.xml", "On Schedule", list...)
		s.poll(t)
		stand.status("/feed.xml", http.StatusInternalServerError)
		s.poll(t)
		b.open("/sources/" + id)
		if got := results(); !slices.Equal(got, []string{"ok: ok, HTTP 200, 3 new", "ok: ok, HTTP 200, 2 new", "error: error, HTTP 500"}) {
			t.Errorf("three polls show as %q", got)
		}
		b.says("#health", "500")
		for _, label := range []string{"Last poll", "Last success"} {
			if at := eval[string](b, fmt.Sprintf(`[...document.querySelectorAll("#health dt")].find((t) => t.textContent === %q).nextElementSibling.querySelector("time").dateTime`, label)); at == "" {
				t.Errorf("%s has no time", label)
			}
		}
		b.open("/")
		if n := b.count(".item"); n != 5 {
			t.Errorf("%d items, want 5: what was known is not added again", n)
		}
	})
}

// B2: Refresh polls every source that is not paused, once; where all of them fail, it says so.
func TestB2RefreshOfAllActive(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	withAndWithoutScript(t, func(t *testing.T, open func(server) *tab) {
		s := reader(t)
		paths := []string{"/a.xml", "/b.xml", "/c.xml"}
		for _, path := range paths {
			s.add(t, stand.feed(path, path[1:2], entries(path[1:2], 2, time.Hour)...))
		}
		b := open(s)
		b.open("/sources")
		b.follow(`button[aria-label="Pause c"]`)
		before := map[string]int{}
		for _, path := range paths {
			before[path] = stand.visits(path)
			stand.status(path, http.StatusInternalServerError)
		}
		b.open("/")
		b.click(".refresh button")
		b.waitText("#progress", "0 fetched, 2 failing, 0 new")
		for path, want := range map[string]int{"/a.xml": 1, "/b.xml": 1, "/c.xml": 0} {
			if n := stand.visits(path) - before[path]; n != want {
				t.Errorf("%s was asked for %d times, want %d", path, n, want)
			}
		}
		if n := b.count(".item"); n != 6 {
			t.Errorf("%d items, want the 6 that were there", n)
		}
	})
}

// C1: what two feeds carry is one record with both, is found by either, and stays when one of them goes.
func TestC1AllSourcesAreKept(t *testing.T) {
	stand, other := newNewsstand(t, "127.0.0.2"), newNewsstand(t, "127.0.0.3")
	withAndWithoutScript(t, func(t *testing.T, open func(server) *tab) {
		shared := entries("shared", 1, time.Hour)
		s := reader(t)
		first := s.add(t, stand.feed("/feed.xml", "The First", append(entries("own", 1, 2*time.Hour), shared...)...))
		second := s.add(t, other.feed("/feed.xml", "The Planet", shared...))
		if items := s.items(t); len(items) != 2 {
			t.Errorf("%d records, want 2", len(items))
		}
		b := open(s)
		for source, want := range map[string][]string{first: {"shared 1", "own 1"}, second: {"shared 1"}} {
			b.open("/?feed_ids=" + source)
			if got := b.titles(); !slices.Equal(got, want) {
				t.Errorf("source %s shows %q, want %q", source, got, want)
			}
			b.says(".item .meta", "The First · also in The Planet")
		}
		b.open("/")
		b.open(eval[string](b, `document.querySelector(".item .read").getAttribute("href")`))
		b.says(".reading .meta", "The First · also in The Planet")
		must(t, ask(http.MethodDelete, s.url+"/api/feeds/"+first, "", nil, nil))
		b.open("/?feed_ids=" + second)
		if got := b.titles(); !slices.Equal(got, []string{"shared 1"}) {
			t.Errorf("without its first source the item is gone: %q", got)
		}
	})
}

// D1: each of 200 items shows title, source, time and snippet.
func TestD1EachItemShows(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	s := reader(t)
	s.add(t, stand.feed("/a.xml", "Paper A", entries("a", 120, time.Hour)...))
	s.add(t, stand.feed("/b.xml", "Paper B", entries("b", 120, 2*time.Hour)...))
	withAndWithoutScript(t, func(t *testing.T, open func(server) *tab) {
		b := open(s)
		b.open("/")
		bare := eval[[]string](b, `[...document.querySelectorAll(".item")].filter((i) => !/^[ab] \d+$/.test(i.querySelector("h3 a")?.textContent) ||
			!/^Paper [AB]$/.test(i.querySelector(".meta a")?.textContent) || !Date.parse(i.querySelector(".meta time")?.dateTime) ||
			!i.querySelector(".meta time").textContent.trim() || !/^What [ab] has to say/.test(i.querySelector(".snippet")?.textContent)).map((i) => i.textContent)`)
		if n := b.count(".item"); n != 200 || len(bare) > 0 {
			t.Errorf("%d items; these lack something: %q", n, bare)
		}
	})
}

// D2: the title leads to the original by pointer and by key; a link that leads nowhere is told instead, in the river and on
// the item's own page.
func TestD2OriginalByPointerAndKey(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	stand.html("/article", "<title>The original</title><h1>The original</h1>")
	at := time.Now().Add(-time.Hour)
	s := reader(t)
	s.add(t, stand.feed("/feed.xml", "Links", entry{"urn:1", "Has a link", stand.url + "/article", "One", at},
		entry{"urn:2", "Has a broken one", "http://", "Two", at.Add(-time.Minute)}, entry{"urn:3", "Has none", "", "Three", at.Add(-2 * time.Minute)}))
	withAndWithoutScript(t, func(t *testing.T, open func(server) *tab) {
		b := open(s)
		b.open("/")
		for n, title := range map[int]string{2: "Has a broken one", 3: "Has none"} {
			b.says(fmt.Sprintf(".item:nth-of-type(%d) h3", n), title)
			b.says(fmt.Sprintf(".item:nth-of-type(%d) .nolink", n), "no link in this item")
		}
		b.follow(".item h3 a")
		b.says("h1", "The original")
		b.open("/")
		b.open(eval[string](b, `document.querySelectorAll(".item .read")[1].getAttribute("href")`))
		b.says("h1 .nolink", "no link in this item")
	})
	t.Run("by key", func(t *testing.T) {
		b := browse(t, s.url)
		b.open("/")
		b.press("jv")
		await(t, "the original in another tab", func() (bool, error) {
			tabs, err := chromedp.Call(b.ctx, target.GetTargets, target.GetTargetsParams{})
			return slices.ContainsFunc(tabs.TargetInfos, func(i *target.Info) bool { return i.URL == stand.url+"/article" }), err
		})
		if b.where() != "/" {
			t.Errorf("the river's tab went to %s", b.where())
		}
		b.do(chromedp.KeyEvent(kb.Enter))
		b.waitText("h1", "The original")
	})
}

// E2: a range without script: both ends included, kept in the form; one that is impossible is refused beside its field with
// what was written still there; clearing shows everything.
func TestE2DateRange(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	noon := time.Now().UTC().Truncate(24 * time.Hour).Add(-12 * time.Hour)
	date := func(days int) string { return noon.AddDate(0, 0, -days).Format(time.DateOnly) }
	var list []entry
	for d := range 4 {
		list = append(list, entry{fmt.Sprint("urn:", d), fmt.Sprint("day ", d), fmt.Sprint("https://example.org/", d), fmt.Sprint("Text of day ", d), noon.AddDate(0, 0, -d)})
	}
	s := reader(t)
	s.add(t, stand.feed("/feed.xml", "Days", list...))
	withAndWithoutScript(t, func(t *testing.T, open func(server) *tab) {
		b := open(s)
		b.open("/")
		b.openFilter()
		b.fill(`input[name="start_date"]`, date(2))
		b.fill(`input[name="end_date"]`, date(1))
		b.follow(".filter button.main")
		if got := b.titles(); !slices.Equal(got, []string{"day 1", "day 2"}) {
			t.Errorf("it shows %q", got)
		}
		b.openFilter()
		b.fill(`input[name="end_date"]`, date(3))
		b.click(".filter button.main")
		b.waitText("#wrong-end", "before the start")
		if got := eval[string](b, `document.querySelector('[name="end_date"]').value`); got != date(3) {
			t.Errorf("the field holds %q, want what was written", got)
		}
		b.picture("refused")
		b.open("/?start_date=" + date(2) + "&end_date=" + date(1))
		b.follow(".clear")
		if n := b.count(".item"); n != 4 || len(b.query()) > 0 {
			t.Errorf("%d items at %s after the filter was cleared", n, b.where())
		}
	})
}

// F1: a source that failed three times is told to be unhealthy, with its error and the next try; its items stay, and one
// success makes it healthy.
func TestF1UnhealthyAfterThree(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	withAndWithoutScript(t, func(t *testing.T, open func(server) *tab) {
		s := reader(t)
		list := entries("earlier", 3, time.Hour)
		id := s.add(t, stand.feed("/feed.xml", "Falls Ill", list...))
		stand.status("/feed.xml", http.StatusBadGateway)
		b := open(s)
		for _, state := range []string{"retrying", "retrying", "unhealthy"} {
			s.poll(t)
			b.open("/sources")
			b.says(".source .state", state)
		}
		b.says(".source .failure", "502")
		b.says(".source time.countdown", "in ")
		b.says(".source .why", "third failure in a row")
		b.open("/")
		if n := b.count(".item"); n != 3 {
			t.Errorf("%d items while it is unhealthy, want the 3 it brought", n)
		}
		stand.feed("/feed.xml", "Falls Ill", list...)
		b.open("/sources")
		b.click(`button[aria-label="Retry now: Falls Ill"]`)
		b.waitText("#progress", "1 fetched, 0 failing")
		b.reloadUntil(".source .state", "healthy")
		b.open("/sources/" + id)
		if b.count("#health .failure") > 0 {
			t.Error("the error is shown after a success")
		}
	})
}

// G1: while thousands of old items go, every page is answered and a refresh brings what is new; the date of publication
// decides, not that of the poll.
func TestG1CleanupHoldsUpNobody(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	withAndWithoutScript(t, func(t *testing.T, open func(server) *tab) {
		s := reader(t)
		young := entries("young", 3, time.Hour)
		for f := range 4 {
			s.add(t, stand.feed(fmt.Sprintf("/%d.xml", f), fmt.Sprint("Old ", f), entries(fmt.Sprint("old", f), 700, 29*24*time.Hour)...))
		}
		s.add(t, stand.feed("/young.xml", "Young", young[1:]...))
		stand.feed("/young.xml", "Young", young...)
		s.Env = append(s.Env, "FRESHET_RETENTION=690h") // 28 days and 18 hours
		s = s.restart(t)
		b := open(s)
		if r := s.poll(t); r.Failed > 0 || r.NewItems != 1 {
			t.Errorf("a refresh during cleanup: %d failed, %d new; want none and 1", r.Failed, r.NewItems)
		}
		await(t, "the old ones to go", func() (bool, error) {
			b.open("/")
			if got := b.titles(); len(got) < 3 || got[0] != "young 3" {
				return false, fmt.Errorf("the river began with %.60q during cleanup", strings.Join(got, " "))
			}
			return b.count(".item") == 3, nil
		})
	})
}

// H1: without script, too, the first page of 200 items is light.
func TestH1WithoutScript(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	s := reader(t)
	for f := range 4 {
		s.add(t, stand.feed(fmt.Sprintf("/%d.xml", f), paperName(f), paper(f, 60, time.Now().Add(-time.Hour))...))
	}
	b := browse(t, s.url, noScript())
	call(b, network.Enable, network.EnableParams{})
	b.open("/")
	if n := b.count(".item"); n != 200 {
		t.Fatalf("%d items, want 200", n)
	}
	weight := eval[int](b, `[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].reduce((sum, e) => sum + e.encodedBodySize, 0)`)
	if weight > 60_000 || weight == 0 {
		t.Errorf("%d bytes, want at most 60 kB", weight)
	}
}
