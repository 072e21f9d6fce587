package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// C1 Canonical item merging: one entry for what two feeds carry, naming both.
func TestC1CanonicalItemMerging(t *testing.T) {
	stand, other := newNewsstand(t, "127.0.0.2"), newNewsstand(t, "127.0.0.3")
	shared := entries("shared", 1, time.Hour)
	again := shared[0]
	again.link += "?utm_source=planet#top"
	s := reader(t)
	s.add(t, stand.feed("/feed.xml", "The First", append(entries("own", 2, 2*time.Hour), shared...)...))
	s.add(t, other.feed("/feed.xml", "The Planet", again))
	b := browse(t, s.url)
	b.open("/")
	titles := b.texts(".item h3 a")
	if want := []string{"shared 1", "own 2", "own 1"}; !slices.Equal(titles, want) {
		t.Errorf("titles %q, want %q", titles, want)
	}
	b.says(".item .meta", "The First · also in The Planet")
}

// D1 Chronological river rendering: newest first, 200 at once, each with title, source, time and snippet; then more.
func TestD1ChronologicalRiver(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	s := reader(t)
	for i := range 3 {
		s.add(t, stand.feed(fmt.Sprintf("/%d.xml", i), fmt.Sprintf("Paper %d", i), entries(fmt.Sprintf("p%d", i), 150, time.Duration(i*20)*time.Second)...))
	}
	b := browse(t, s.url)
	b.open("/")
	if n := b.count(".item"); n != 200 {
		t.Fatalf("%d items, want the latest 200", n)
	}
	if got := b.texts(".item h3 a")[:4]; !slices.Equal(got, []string{"p0 150", "p1 150", "p2 150", "p0 149"}) {
		t.Errorf("it begins with %q", got)
	}
	inOrder := `(() => { const times = [...document.querySelectorAll(".item .meta time")].map((t) => t.dateTime);
		return times.every((t, i) => i === 0 || t <= times[i - 1]) })()`
	if !eval[bool](b, inOrder) {
		t.Error("the items are not newest first")
	}
	b.says(".item .meta", "Paper 0")
	b.says(".item .meta time", "now")
	b.says(".item .snippet", "What p0 has to say, number 150.")
	b.looks("river")

	b.click("#more")
	b.wait("400 items", `document.querySelectorAll(".item").length === 400`)
	if !eval[bool](b, `document.activeElement.closest(".item") === document.querySelectorAll(".item")[200]`) {
		t.Error("the focus is not on the first of the items that were added")
	}
	b.click("#more")
	b.wait("all items", `document.querySelectorAll(".item").length === 450`)
	b.waitText("main", "That is everything")
	titles := b.texts(".item h3 a")
	slices.Sort(titles)
	if n := len(slices.Compact(titles)); n != 450 || !eval[bool](b, inOrder) {
		t.Errorf("%d different items, want 450, newest first", n)
	}

	t.Run("without script", func(t *testing.T) {
		b := browse(t, s.url, noScript())
		b.open("/")
		seen := b.texts(".item h3 a")
		for b.count("#more") > 0 {
			b.follow("#more")
			seen = append(seen, b.texts(".item h3 a")...)
		}
		slices.Sort(seen)
		if n := len(slices.Compact(seen)); n != 450 || len(seen) != 450 {
			t.Errorf("paged over %d items, %d different ones, want 450", len(seen), n)
		}
	})
}

// D2 Open original article: the title leads to it; where that cannot be, the item says so.
func TestD2OpenOriginalArticle(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	stand.html("/article", "<title>The original</title><h1>The original</h1>")
	at := time.Now().Add(-time.Hour)
	s := reader(t)
	s.add(t, stand.feed("/feed.xml", "Links", entry{"urn:1", "Has a link", stand.url + "/article", "One", at},
		entry{"urn:2", "Has none", "", "Two", at}, entry{"urn:3", "Has a script", "javascript:alert(1)", "Three", at}))
	b := browse(t, s.url)
	b.open("/")
	notes := eval[[]string](b, `[...document.querySelectorAll(".nolink")].map((e) => e.closest("h3").innerText)`)
	if len(notes) != 2 || b.count(".item h3 a") != 1 {
		t.Errorf("%d links and the notes %q, want one link and two notes", b.count(".item h3 a"), notes)
	}
	b.picture("nolink")
	b.follow(".item h3 a")
	b.says("h1", "The original")
}

// E1 Source filter: one or more sources, in the address; cleared again. Without script too.
func TestE1SourceFilter(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	s := reader(t)
	ids := map[string]string{}
	for _, name := range []string{"ant", "bee", "cat"} {
		ids[name] = s.add(t, stand.feed("/"+name+".xml", name, entries(name, 2, time.Hour)...))
	}
	check := func(t *testing.T, b *tab) {
		b.open("/")
		b.openFilter()
		b.click(`input[name="feed_ids"][value="` + ids["ant"] + `"]`)
		b.follow(".filter button.main")
		if got := b.texts(".item h3 a"); !slices.Equal(got, []string{"ant 2", "ant 1"}) {
			t.Errorf("with ant: %q", got)
		}
		b.openFilter()
		b.click(`input[name="feed_ids"][value="` + ids["cat"] + `"]`)
		b.follow(".filter button.main")
		if got := b.texts(".item h3 a"); len(got) != 4 || strings.Contains(strings.Join(got, " "), "bee") {
			t.Errorf("with ant and cat: %q", got)
		}
		if got := b.query()["feed_ids"]; len(got) != 2 {
			t.Errorf("the address names %q", got)
		}
		b.picture("filtered")
		b.follow(".clear")
		if n := b.count(".item"); n != 6 {
			t.Errorf("%d items after the filter was cleared, want 6", n)
		}
	}
	t.Run("with script", func(t *testing.T) { check(t, browse(t, s.url)) })
	t.Run("without script", func(t *testing.T) { check(t, browse(t, s.url, noScript())) })
}

// E2 Date range filter: both ends included; a range that ends before it starts is blocked beside the
// field, by the page and by the server.
func TestE2DateRangeFilter(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	day := func(d, h int) time.Time {
		return time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -d).Add(time.Duration(h) * time.Hour)
	}
	date := func(d int) string { return day(d, 0).Format(time.DateOnly) }
	var list []entry
	for d := 1; d <= 5; d++ {
		for _, h := range []int{0, 23} {
			list = append(list, entry{fmt.Sprintf("urn:%d:%d", d, h), fmt.Sprintf("day %d hour %d", d, h), "https://example.org/", fmt.Sprintf("text %d %d", d, h), day(d, h)})
		}
	}
	for i := range list {
		list[i].link += list[i].guid
	}
	s := reader(t)
	s.add(t, stand.feed("/feed.xml", "Days", list...))
	b := browse(t, s.url)
	b.open("/")
	b.openFilter()
	b.fill(`input[name="start_date"]`, date(4))
	b.fill(`input[name="end_date"]`, date(3))
	b.follow(".filter button.main")
	if got := b.texts(".item h3 a"); !slices.Equal(got, []string{"day 3 hour 23", "day 3 hour 0", "day 4 hour 23", "day 4 hour 0"}) {
		t.Errorf("from the 4th to the 3rd day before: %q", got)
	}
	if q := b.query(); q.Get("start_date") != date(4) || q.Get("end_date") != date(3) {
		t.Errorf("the address says %v", q)
	}

	b.openFilter()
	b.fill(`input[name="end_date"]`, date(5))
	b.fill(`input[name="start_date"]`, date(4))
	before := b.where()
	b.click(".filter button.main")
	b.waitText("#wrong-end", "before the start")
	if b.where() != before {
		t.Error("the form was sent all the same")
	}
	if !eval[bool](b, `document.activeElement.name === "end_date" && document.activeElement.getAttribute("aria-invalid") === "true"`) {
		t.Error("the field is not marked and focused")
	}
	b.picture("invalid")

	b.do(noScript())
	b.open("/?start_date=" + date(3) + "&end_date=" + date(4))
	b.says("#wrong-end", "before the start")
	if n := b.count(".item"); n != 0 {
		t.Errorf("%d items of an impossible range", n)
	}
	b.open("/?start_date=soon")
	b.says("#wrong-start", "Write a date as 2026-02-16")
}

// readAt brings the focus to the title of an item that the reader stands at.
func (b *tab) readAt(n int) (title string) {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf(`(() => { const a = document.querySelectorAll(".item h3 a")[%d];
		a.scrollIntoView({block: "center"}); a.focus({preventScroll: true}); return a.textContent })()`, n))
}

// focusTop is how far below the edge of the window the focus is, once it rests.
func (b *tab) focusTop() (top int) {
	b.t.Helper()
	at := func() (int, error) {
		return try[int](b, "Math.round(document.activeElement.getBoundingClientRect().top)")
	}
	b.until("the focus to rest", func() (bool, error) {
		before, err := at()
		if err == nil {
			err = b.draw()
		}
		if err != nil {
			return false, err
		}
		top, err = at()
		return top == before, err
	})
	return top
}

// The banner tells of new items; what is read does not move, neither when they arrive nor when they are brought in.
func TestNewItemsNeverMoveTheReader(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	s := reader(t)
	list := entries("p", 600, time.Minute)
	s.add(t, stand.feed("/feed.xml", "Paper", list[300:]...))
	b := browse(t, s.url)
	b.open("/")
	b.readAt(149)
	eval[bool](b, `Boolean(window.mine = document.activeElement)`)
	top := b.focusTop
	before := top()
	stand.feed("/feed.xml", "Paper", list...)
	s.poll(t)
	b.waitText("#pill", "300 new")
	if now := top(); now != before {
		t.Errorf("the item moved from %d to %d when new ones arrived", before, now)
	}
	b.picture("pill")
	b.tap("#pill a")
	b.wait("the new items", `document.querySelectorAll(".item").length === 500`)
	if now := top(); now < before-1 || now > before+1 {
		t.Errorf("the item moved from %d to %d when new ones were brought in", before, now)
	}
	if !eval[bool](b, "document.activeElement === window.mine") {
		t.Error("the focus is gone")
	}
	b.wait("the pill to go", `document.getElementById("pill").hidden`)
}

// G1 30-day retention enforcement: what is older than retention, by its date, goes from the river while that goes on
// answering; what is younger stays.
func TestG1RetentionEnforcement(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	s := reader(t)
	s.add(t, stand.feed("/feed.xml", "Paper", append(entries("young", 3, 29*24*time.Hour), entries("old", 3, 29*24*time.Hour+12*time.Hour)...)...))
	b := browse(t, s.url)
	b.open("/")
	if n := b.count(".item"); n != 6 {
		t.Fatalf("%d items before, want all 6", n)
	}
	s.Env = append(s.Env, "FRESHET_RETENTION=702h") // 29 days and 6 hours
	s.restart(t)
	await(t, "the old ones to go", func() (bool, error) {
		b.open("/")
		return b.count(".item") == 3, nil
	})
	if got := b.titles(); !slices.Equal(got, []string{"young 3", "young 2", "young 1"}) {
		t.Errorf("what is left is %q", got)
	}
}
