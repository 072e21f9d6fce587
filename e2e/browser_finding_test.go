package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// addAs adds a feed with more than its address and waits until its first poll has ended.
func (s server) addAs(t *testing.T, fields map[string]any) (id string) {
	t.Helper()
	body, err := json.Marshal(fields)
	must(t, err)
	var feed struct {
		ID           string
		LastPolledAt *string `json:"last_polled_at"`
	}
	must(t, post(s.url+"/api/feeds", "application/json", strings.NewReader(string(body)), &feed))
	await(t, fmt.Sprint("the first poll of ", fields["url"]), func() (bool, error) {
		err := get(s.url+"/api/feeds/"+feed.ID, &feed)
		return feed.LastPolledAt != nil, err
	})
	return feed.ID
}

// openFilter opens the filter's form if it is closed.
func (b *tab) openFilter() {
	b.t.Helper()
	if !eval[bool](b, `document.querySelector("details.filter").open`) {
		b.click("details.filter summary")
	}
}

// titles are those of the items that are shown.
func (b *tab) titles() []string { b.t.Helper(); return b.texts(".item h3 a") }

// finds waits until words find so many items: they can be searched for a while after their items came.
func (s server) finds(t *testing.T, words string, n int) {
	t.Helper()
	await(t, fmt.Sprintf("%q to find %d items", words, n), func() (bool, error) {
		var found struct{ Items []item }
		err := get(s.url+"/api/items?q="+url.QueryEscape(words), &found)
		return len(found.Items) == n, err
	})
}

// U3 Folders, kinds, a stretch of time and words narrow the river together; each can be taken back by itself; the
// address says it all. Without script too.
func TestFilterByFolderKindAndTime(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	old := func(name string, days int) entry {
		e := entries(name, 1, time.Duration(days)*24*time.Hour)[0]
		e.guid, e.link = e.guid+fmt.Sprint(days), e.link+fmt.Sprint("/", days)
		e.text += fmt.Sprint(" It is ", days, " days old.")
		e.title = fmt.Sprint(name, " of ", days, " days ago")
		return e
	}
	stand.html("/prices", `<title>Prices</title><article><h1>Prices</h1><p>The price of bread is two euros and ten cents today, says the baker of the village.</p></article>`)
	s := reader(t)
	s.addAs(t, map[string]any{"url": stand.feed("/news.xml", "The News", old("news", 0), old("news", 3), old("news", 20)), "folder": "Daily"})
	s.addAs(t, map[string]any{"url": stand.feed("/fun.xml", "The Fun", old("fun", 0), old("fun", 3)), "folder": "Comics & more"})
	s.addAs(t, map[string]any{"url": stand.url + "/prices", "type": "website", "title": "Prices"})
	s.finds(t, "fun", 2)
	check := func(t *testing.T, b *tab) {
		b.open("/")
		if n := b.count(".item"); n != 6 {
			t.Fatalf("%d items, want 6", n)
		}
		b.openFilter()
		b.picture("form")
		b.click(`input[name="folders"][value="Daily"]`)
		b.click(`.seg label:nth-child(3)`) // 7 days
		b.follow(".filter button.main")
		if got := b.titles(); !slices.Equal(got, []string{"news of 0 days ago", "news of 3 days ago"}) {
			t.Errorf("a folder and seven days: %q", got)
		}
		if q := b.query(); q.Get("folders") != "Daily" || q.Get("days") != "7" {
			t.Errorf("the address says %v", q)
		}
		if got := b.texts(".chip"); !slices.Equal(got, []string{"the last 7 days", "in Daily"}) {
			t.Errorf("the chips are %q", got)
		}
		b.follow(".chip:first-child")
		if n := b.count(".item"); n != 3 {
			t.Errorf("%d items of the folder without the stretch of time, want 3", n)
		}
		b.follow(".chip:first-child")
		if n := b.count(".item"); n != 6 || b.count(".chip") > 0 {
			t.Errorf("%d items and %d chips after the last chip was taken back, want 6 and none", n, b.count(".chip"))
		}
		b.openFilter()
		b.click(`input[name="types"][value="website"]`)
		b.follow(".filter button.main")
		if got := b.titles(); !slices.Equal(got, []string{"Prices"}) {
			t.Errorf("web pages: %q", got)
		}
		b.open("/?q=fun&folders=Comics+%26+more&days=1")
		if got := b.titles(); !slices.Equal(got, []string{"fun of 0 days ago"}) {
			t.Errorf("words, a folder and today: %q", got)
		}
	}
	t.Run("with script", func(t *testing.T) {
		b := browse(t, s.url)
		check(t, b)
		b.looks("chips")
	})
	t.Run("without script", func(t *testing.T) { check(t, browse(t, s.url, noScript())) })
	t.Run("dates and a stretch of time exclude each other", func(t *testing.T) {
		b := browse(t, s.url)
		b.open("/?days=7")
		b.openFilter()
		b.fill(`input[name="start_date"]`, "2026-02-17")
		eval[bool](b, `document.querySelector('input[name="start_date"]').dispatchEvent(new Event("input", {bubbles: true}))`)
		if eval[string](b, `document.querySelector(".filter form").elements.days.value`) == "7" {
			t.Error("seven days are still chosen beside a date")
		}
	})
}

// U3 A filter is kept under a name, with an address and a place among the rivers, and forgotten again. Without script too.
func TestNamedRiver(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	s := reader(t)
	s.addAs(t, map[string]any{"url": stand.feed("/news.xml", "The News", entries("news", 3, time.Hour)...), "folder": "Daily"})
	s.addAs(t, map[string]any{"url": stand.feed("/fun.xml", "The Fun", entries("fun", 3, time.Hour)...), "folder": "Comics"})
	s.finds(t, "news", 3)
	check := func(t *testing.T, b *tab) {
		b.open("/?folders=Daily&q=news")
		b.click("details.name summary")
		b.fill(`.name input[name="name"]`, "a/b")
		b.follow(".name button")
		b.says("#wrong-name", "no slash")
		b.picture("refused")
		b.fill(`.name input[name="name"]`, "Morning & tea")
		b.follow(".name button")
		if got := b.where(); !strings.HasPrefix(got, "/rivers/Morning%20&%20tea") {
			t.Errorf("it leads to %s", got)
		}
		b.says(".rivers [aria-current]", "Morning & tea")
		if n := b.count(".item"); n != 3 {
			t.Errorf("%d items, want 3", n)
		}
		b.picture("named")
		b.follow(".rivers a:first-child")
		if n := b.count(".item"); n != 6 {
			t.Errorf("%d items in everything, want 6", n)
		}
		b.follow(".rivers a:nth-child(2)")
		b.click("details.name summary")
		b.follow(".name button")
		if n := b.count(".rivers"); n > 0 || b.count(".item") != 3 {
			t.Errorf("%d lists of rivers, %d items, want none and what the river stood for", n, b.count(".item"))
		}
	}
	t.Run("with script", func(t *testing.T) { check(t, browse(t, s.url)) })
	t.Run("without script", func(t *testing.T) { check(t, browse(t, s.url, noScript())) })
	t.Run("new items of a named river", func(t *testing.T) {
		must(t, post(s.url+"/api/rivers", "application/json", strings.NewReader(`{"name":"Daily","filter":"folders=Daily"}`), nil))
		b := browse(t, s.url)
		b.open("/rivers/Daily")
		stand.feed("/news.xml", "The News", append(entries("late news", 2, 0), entries("news", 3, time.Hour)...)...)
		stand.feed("/fun.xml", "The Fun", append(entries("late fun", 4, 0), entries("fun", 3, time.Hour)...)...)
		s.poll(t)
		b.waitText("#pill", "2 new")
		b.tap("#pill a")
		b.wait("the new ones", `document.querySelectorAll(".item").length === 5`)
	})
}

// U3 What a search finds appears by itself once its words can be searched for: at once where nothing is shown yet, behind
// the pill where something is read. Nobody who types is disturbed.
func TestSearchShowsWhatArrives(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	s := reader(t)
	bread, cakes := entries("bread", 2, time.Hour), entries("cake", 5, time.Minute)
	s.add(t, stand.feed("/news.xml", "The News", bread...))
	b := browse(t, s.url)
	b.open("/?q=cake")
	b.says("main", "Nothing matches")
	b.click("details.name summary")
	b.click(`.name input[name="name"]`)
	b.press("Ba")
	arrive := func(cakes ...entry) {
		stand.feed("/news.xml", "The News", append(cakes, bread...)...)
		s.poll(t)
	}
	arrive(cakes[2:]...)
	b.wait("what is found", `document.querySelectorAll(".item").length === 3`)
	b.waitText("main", "That is everything")
	b.press("ker")
	if got := eval[string](b, "document.activeElement.value"); got != "Baker" {
		t.Errorf("what was typed is %q, want it kept", got)
	}
	if b.count(".empty") > 0 {
		t.Error("it still says that nothing matches")
	}
	arrive(cakes...)
	b.waitText("#pill", "2 new")
	if n := b.count(".item"); n != 3 {
		t.Errorf("%d items before they were asked for, want 3", n)
	}
	b.tap("#pill a")
	b.wait("the new ones", `document.querySelectorAll(".item").length === 5`)
	if got := b.titles(); !slices.Equal(got, []string{"cake 5", "cake 4", "cake 3", "cake 2", "cake 1"}) {
		t.Errorf("it shows %q", got)
	}
}

// U3 Of many sources the form finds those whose name is typed; without script a button does.
func TestFindSourceAmongMany(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	s := reader(t)
	var list strings.Builder
	list.WriteString(`<opml version="2.0"><body>`)
	for i := range 70 {
		fmt.Fprintf(&list, `<outline type="rss" text="Paper %d" xmlUrl="%s"/>`, i, stand.feed(fmt.Sprintf("/%d.xml", i), fmt.Sprint("Paper ", i), entries(fmt.Sprint("p", i), 1, time.Hour)...))
	}
	list.WriteString(`</body></opml>`)
	must(t, post(s.url+"/api/opml", "text/x-opml", strings.NewReader(list.String()), nil))
	s.poll(t)
	t.Run("with script", func(t *testing.T) {
		b := browse(t, s.url)
		b.open("/")
		b.openFilter()
		if n := b.count("#choices input"); n > 0 {
			t.Errorf("%d of 70 sources are listed without being looked for", n)
		}
		for _, name := range []string{"paper 17", "paper 42"} {
			b.click(`input[name="source"]`)
			eval[bool](b, `document.activeElement.select() ?? true`)
			b.press(name)
			b.wait("nothing else to be found", fmt.Sprintf(`[...document.querySelectorAll("#choices label")].filter((l) => !l.control.checked).map((l) => l.textContent.trim().toLowerCase()).join() === %q`, name))
			b.click("#choices label:last-child input")
		}
		b.picture("found")
		b.follow(".filter button.main")
		if got := b.titles(); len(got) != 2 || b.count(".chip") != 2 {
			t.Errorf("the chosen two show %q with %d chips", got, b.count(".chip"))
		}
		if b.query().Has("source") {
			t.Error("what was typed to find a source is in the address")
		}
	})
	t.Run("without script", func(t *testing.T) {
		b := browse(t, s.url, noScript())
		b.open("/")
		b.openFilter()
		b.fill(`input[name="source"]`, "per 17")
		b.follow(".look button")
		b.click("#choices input")
		b.follow(".filter button.main")
		if got := b.titles(); !slices.Equal(got, []string{"p17 1"}) {
			t.Errorf("the chosen one shows %q", got)
		}
	})
}

// The river is narrowed and widened again with nothing but the keyboard, on a narrow screen.
func TestFilterByKeyboard(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	s := reader(t)
	s.add(t, stand.feed("/feed.xml", "Paper", append(entries("cats", 2, time.Hour), entries("dogs", 2, 2*time.Hour)...)...))
	s.finds(t, "cats", 2)
	b := browse(t, s.url)
	b.do(chromedp.EmulateViewport(320, 640))
	b.open("/")
	b.press("/")
	b.wait("the field", `document.activeElement.name === "q"`)
	b.press("cats")
	tabTo := func(css string) {
		t.Helper()
		for range 40 {
			b.press("\t")
			if eval[bool](b, fmt.Sprintf("document.activeElement.matches(%q)", css)) {
				return
			}
		}
		t.Fatalf("the tab key never comes to %s", css)
	}
	tabTo(`[name="days"]`)
	b.do(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	b.press("\r")
	b.wait("the filter", `location.search.includes("days=7")`)
	b.wait("the page", `document.readyState === "complete"`)
	if got := b.titles(); !slices.Equal(got, []string{"cats 2", "cats 1"}) {
		t.Errorf("it shows %q", got)
	}
	tabTo(".chip")
	b.picture("chip")
	b.press("\r")
	b.wait("one thing less", `location.search === "?days=7"`)
	b.wait("the page", `document.readyState === "complete"`)
	if n := b.count(".item"); n != 4 {
		t.Errorf("%d items, want 4", n)
	}
	if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > 320 {
		t.Errorf("the page is %d wide", wide)
	}
}
