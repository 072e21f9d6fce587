package e2e

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	_ "modernc.org/sqlite" // the database of a server that runs
)

// setting is what a server was started with.
func (s server) setting(name string) string {
	for _, pair := range slices.Backward(s.Env) {
		if value, found := strings.CutPrefix(pair, name+"="); found {
			return value
		}
	}
	return ""
}

// restart kills a server and starts it again at the same address on the same data.
func (s server) restart(t *testing.T) server {
	t.Helper()
	s.kill()
	var env []string
	for _, pair := range s.Env {
		if strings.HasPrefix(pair, "FRESHET_") {
			env = append(env, pair)
		}
	}
	again := server{start(t, "freshet", env, "serve"), s.url}
	await(t, "freshet to answer again", func() (bool, error) { return get(s.url+"/readyz", nil) == nil, nil })
	await(t, "the scheduler to hold its hosts", func() (bool, error) { return strings.Contains(again.out.String(), "hosts taken over"), nil })
	return again
}

// leave lets an hour pass since the reader looked last.
func (s server) leave(t *testing.T) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(s.setting("FRESHET_DATA"), "freshet.db")+"?_pragma=busy_timeout(5000)")
	must(t, err)
	defer db.Close()
	_, err = db.Exec("update visits set at = at - 3600000")
	must(t, err)
}

// A line shows where the reader was at the last visit, on whatever device; there are no unread counts. Without script too.
func TestYouWereHere(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	s := reader(t)
	list := entries("p", 40, time.Minute)
	s.add(t, stand.feed("/feed.xml", "Paper", list[20:]...))
	next := func(b *tab) string {
		return eval[string](b, `document.querySelector(".here + .item h3 a")?.textContent ?? ""`)
	}
	first := browse(t, s.url, noScript())
	first.open("/")
	if n := first.count(".here"); n > 0 {
		t.Errorf("%d lines at the first visit", n)
	}
	s.leave(t)
	stand.feed("/feed.xml", "Paper", list[10:]...)
	s.poll(t)

	second := browse(t, s.url)
	second.open("/")
	if got := next(second); got != "p 20" {
		t.Errorf("the line is before %q, want p 20, the newest of the first visit", got)
	}
	second.looks("line")
	second.open("/")
	if got := next(second); got != "p 20" {
		t.Errorf("after a reload the line is before %q, want p 20 still", got)
	}
	stand.feed("/feed.xml", "Paper", list...)
	s.poll(t)
	second.waitText("#pill", "10 new")
	second.tap("#pill a")
	second.wait("the new items", `document.querySelectorAll(".item").length === 40`)
	second.wait("the line to stay", `document.querySelectorAll(".here").length === 1`)
	second.open("/sources") // the reader leaves, having seen the newest
	s.finds(t, "p", 40)
	second.open("/?q=p")
	if got := next(second); got != "p 20" {
		t.Errorf("in a filtered view the line is before %q, want p 20", got)
	}
	s.leave(t)
	first.open("/")
	if n := first.count(".here"); n > 0 {
		t.Errorf("a line where nothing is new, before %q", next(first))
	}
}

// A reader far down the river, with the focus there, sees 300 items arrive, reloads the page, and the server dies and
// comes back: place and focus are the same.
func TestReaderAtRow150KeepsPlaceAndFocus(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	s := reader(t)
	list := entries("p", 600, time.Minute)
	s.add(t, stand.feed("/feed.xml", "Paper", list[300:]...))
	b := browse(t, s.url)
	b.open("/")
	title := b.readAt(149)
	before := b.focusTop()
	same := func(when string) {
		t.Helper()
		if got := eval[string](b, "document.activeElement.textContent"); got != title {
			t.Errorf("%s the focus is on %.40q, want %q", when, got, title)
		}
		if now := b.focusTop(); now < before-2 || now > before+2 {
			t.Errorf("%s what was read at %d is at %d", when, before, now)
		}
	}
	reload := func() {
		t.Helper()
		b.do(chromedp.Reload())
		b.wait("the focus to come back", fmt.Sprintf("document.activeElement.textContent === %q", title))
	}
	stand.feed("/feed.xml", "Paper", list...)
	s.poll(t)
	b.waitText("#pill", "300 new")
	same("after 300 arrived")
	reload()
	same("after a reload")
	s = s.restart(t)
	same("after the restart")
	stand.feed("/feed.xml", "Paper", append(entries("late", 5, 0), list...)...)
	s.poll(t)
	b.waitText("#pill", "5 new") // the page hears the server again
	b.press(".")
	b.wait("the new ones", `[...document.querySelectorAll(".item h3 a")].some((a) => a.textContent === "late 5")`)
	same("after they were brought in")
	reload()
	same("after another reload")
}

// A run of one source is one row that opens; keys walk it; what is open stays open. Without script too.
func TestRunIsFolded(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	s := reader(t)
	ago := 30 * time.Minute
	if now := time.Now().UTC(); now.Add(-ago).Day() != now.Add(-ago-15*time.Minute).Day() {
		ago += 20 * time.Minute // a run ends with its day
	}
	s.add(t, stand.feed("/calm.xml", "The Calm", entries("calm", 2, 2*time.Hour)...))
	s.add(t, stand.feed("/loud.xml", "The Loud", entries("loud", 12, ago)...))
	plain := browse(t, s.url, noScript())
	plain.open("/")
	plain.says(".fold summary", "12 from The Loud")
	plain.says(".fold .titles", "loud 12 · loud 11 · loud 10")
	if n := plain.count(".day > .item"); n != 2 {
		t.Errorf("%d items stand by themselves, want 2", n)
	}
	plain.click(".fold summary")
	plain.waitText(".fold .item h3", "loud 12")
	plain.looks("open")

	b := browse(t, s.url)
	b.open("/")
	b.looks("folded")
	focus := func() string { return eval[string](b, "document.activeElement.textContent.trim()") }
	b.press("j")
	if got := focus(); !strings.HasPrefix(got, "12 from The Loud") {
		t.Errorf("the first stop of the keys is %q, want the folded row", got)
	}
	b.press("j")
	if got := focus(); got != "calm 2" {
		t.Errorf("the keys go on to %q, want what follows the closed row", got)
	}
	b.press("ko")
	b.press("j")
	if got := focus(); got != "loud 12" {
		t.Errorf("in the open row the keys go to %q, want its first item", got)
	}
	stand.feed("/loud.xml", "The Loud", append(entries("louder", 8, time.Minute), entries("loud", 12, ago)...)...)
	s.poll(t)
	b.waitText("#pill", "8 new")
	b.press(".")
	b.wait("the new ones", `document.querySelectorAll(".item").length === 22`)
	if got := focus(); got != "loud 12" || !eval[bool](b, `document.activeElement.checkVisibility()`) {
		t.Errorf("the focus is on %q or hidden, want loud 12 where it was", got)
	}
	b.press("u")
	if got := focus(); !strings.HasPrefix(got, "12 from The Loud") {
		t.Errorf("closed again, the focus is on %q, want the row", got)
	}

	s.finds(t, "loud", 12)
	b.open("/?q=loud")
	if n := b.count(".fold"); n > 0 {
		t.Errorf("%d rows hide what was searched for", n)
	}
}

// Pictures are shown when the reader asks for them, beside their items, and nothing is loaded before.
func TestPicturesOnRequest(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	stand.serveText("/feed.xml", "application/rss+xml", `<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>Pictures</title>
		<item><title>One with a picture</title><guid>urn:1</guid><link>https://example.org/1</link><description>It shows a river at dawn.</description><media:thumbnail url="https://127.0.0.2:9/one.png"/></item>
		<item><title>One without</title><guid>urn:2</guid><link>https://example.org/2</link><description>It has none.</description></item>
		<item><title>One of the open street</title><guid>urn:3</guid><link>https://example.org/3</link><media:thumbnail url="http://127.0.0.2:9/three.png"/></item></channel></rss>`)
	s := reader(t)
	s.add(t, stand.url+"/feed.xml")
	check := func(t *testing.T, b *tab) {
		foreign := watchRequests(t, b)
		b.open("/")
		if n := b.count(".item img"); n > 0 || len(foreign()) > 0 {
			t.Errorf("unasked there are %d pictures, and %q was loaded", n, foreign())
		}
		b.follow(".subscribe button")
		if n := b.count(".item img"); n != 1 {
			t.Errorf("%d pictures, want the one that is sent privately", n)
		}
		await(t, "the picture to be asked for", func() (bool, error) { return len(foreign()) > 0, nil })
		if got := foreign(); !slices.Equal(got, []string{"https://127.0.0.2:9/one.png"}) {
			t.Errorf("loaded were %q", got)
		}
		b.follow(".subscribe button")
		if n := b.count(".item img"); n > 0 {
			t.Errorf("%d pictures after they were switched off", n)
		}
	}
	t.Run("with script", func(t *testing.T) { check(t, browse(t, s.url)) })
	t.Run("without script", func(t *testing.T) { check(t, browse(t, s.url, noScript())) })
}

// A page that changed shows which words did, in the river and by itself.
func TestChangesOfAPage(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	page := func(price, extra string) {
		stand.html("/prices", `<title>Prices of the bakery</title><article><h1>Prices of the bakery</h1><p>Bread of the house, a loaf of one kilogram, costs `+price+` euros from Monday on.</p>
			<p>Rolls are forty cents each, as they have been for many years now.</p>`+extra+`</article>`)
	}
	page("four", "<p>The shop is closed on Sundays and on public holidays.</p>")
	s := reader(t)
	s.addAs(t, map[string]any{"url": stand.url + "/prices", "type": "website"})
	page("five", "<p>Cake of the week: plum with almonds, by the slice.</p>")
	s.poll(t)
	b := browse(t, s.url)
	b.open("/")
	b.click(".item .read")
	b.waitText(".item .text", "What changed")
	check := func() {
		t.Helper()
		if got := b.texts(".changes .gone b, .changes .new b"); !slices.Equal(got, []string{"four", "five"}) {
			t.Errorf("the words that changed are %q", got)
		}
		if gone, added := b.texts(".changes .gone"), b.texts(".changes .new"); len(gone) != 2 || len(added) != 2 ||
			!strings.Contains(gone[1], "Sundays") || !strings.Contains(added[1], "plum") {
			t.Errorf("gone is %q, new %q", gone, added)
		}
	}
	check()
	b.looks("diff")
	b.open(eval[string](b, `document.querySelector(".item .read").getAttribute("href")`))
	check()
	b.looks("reading")
}
