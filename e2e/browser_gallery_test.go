package e2e

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// view is a page in one of its states, and the way there.
type view struct {
	name string
	tab  *tab
	open func(b *tab)
}

// gallery is every page in every state that looks different, on servers of a made-up town.
func gallery(t *testing.T) (views []view) {
	t.Helper()
	busy := newNewsstand(t, "127.0.0.3")
	w := newTown(t, 6)
	flow, run := w.watch(t)
	w.add(t, busy.feed("/a.xml", "Weather Desk", append(entries("weather", 1, time.Hour), entry{"urn:weather:none", "Fog until noon", "", "A note without a link.", time.Now()})...))
	busy.status("/a.xml", http.StatusTooManyRequests, "Retry-After: 900")
	var briefing struct{ ID string }
	must(t, post(w.url+"/api/briefings", "application/json", strings.NewReader(`{"name":"Breakfast","sources":[{"url":"`+w.stand.url+`/tide"},{"url":"`+w.stand.url+`/machines"}]}`), &briefing))
	w.stand.feed("/machines", "Small Machines", entry{"urn:machines:late", "What a lock file cannot promise", "https://papers.example/machines/late", "It says that somebody was there. It does not say that they still are.", time.Now()})
	w.poll(t)
	must(t, post(w.url+"/api/briefings/"+briefing.ID+"/compose", "application/json", nil, nil))
	must(t, post(w.url+"/api/rivers", "application/json", strings.NewReader(`{"name":"Morning","filter":"folders=Town&days=7"}`), nil))
	must(t, post(w.url+"/api/rivers", "application/json", strings.NewReader(`{"name":"Science & code","filter":"folders=Science"}`), nil))
	w.stand.html("/big", `<html><head><link rel=alternate type=application/rss+xml href=/tide title=News><link rel=alternate type=application/rss+xml href=/letters title=Letters></head></html>`)
	w.stand.feed("/letters", "Letters to Tidewater Science", entries("letter", 2, time.Hour)...)
	w.stand.html("/bare/page", `<html><body>Nothing to follow here.</body></html>`)
	list := mixedList(t, w.stand)

	empty := browse(t, reader(t).url)
	b := browse(t, w.url)
	locked := browse(t, reader(t, "FRESHET_PASSWORD=open sesame").url)
	on := func(in *tab, name string, open func(b *tab)) { views = append(views, view{name, in, open}) }
	at := func(in *tab, name, path string) { on(in, name, func(b *tab) { b.open(path) }) }

	at(empty, "river-empty", "/")
	at(empty, "sources-empty", "/sources")
	at(empty, "workflows-empty", "/workflows")
	at(empty, "briefings-empty", "/briefings")
	at(locked, "login", "/login")
	at(b, "river", "/")
	at(b, "river-filtered", "/?folders=Science&days=7&q=river")
	at(b, "river-none", "/?q=nothing+has+this")
	at(b, "river-named", "/rivers/Morning")
	at(b, "river-wrong-range", "/?start_date=2026-02-02&end_date=2026-02-01")
	at(b, "river-old-link", "/?cursor=broken")
	on(b, "river-filter", func(b *tab) { b.open("/?days=7"); b.openFilter(); b.click("details.name summary") })
	on(b, "river-run", func(b *tab) { b.open("/"); b.click(".fold summary") })
	on(b, "river-reading", func(b *tab) {
		b.open("/")
		b.click(".item .read")
		b.wait("the text", `document.querySelector(".item .text")`)
	})
	on(b, "keys", func(b *tab) { b.open("/"); b.press("?"); b.wait("the help", `document.getElementById("keys").open`) })
	on(b, "item", func(b *tab) {
		b.open("/")
		b.open(eval[string](b, `document.querySelector(".item .read").getAttribute("href")`))
	})
	at(b, "sources", "/sources")
	at(b, "sources-none", "/sources?name=nothing")
	at(b, "source", "/sources/"+w.ids["The Harbour Gazette"])
	at(b, "source-unhealthy", "/sources/"+w.ids["City Notices"])
	at(b, "source-remove", "/sources/"+w.ids["Slow Kitchen"]+"?remove#remove")
	on(b, "source-wrong", func(b *tab) {
		b.open("/sources/" + w.ids["Slow Kitchen"])
		b.click(".kinds [value=website]")
		b.fill("[name=selector]", "a >")
		b.fill("[name=every_minutes]", "often")
		b.follow("#settings form[action$=edit] button")
	})
	on(b, "sources-options", func(b *tab) { b.open("/sources"); b.click(".options summary"); b.click(".shelf summary") })
	paste := func(address string) func(b *tab) {
		return func(b *tab) { b.open("/sources"); b.fill("#url", address); b.follow(".paste button") }
	}
	on(b, "add-several", paste(w.stand.url+"/big"))
	on(b, "add-no-feed", paste(w.stand.url+"/bare/page"))
	on(b, "add-known", paste(w.stand.url+"/tide"))
	on(b, "sources-removed", func(b *tab) {
		must(t, ask(http.MethodDelete, w.url+"/api/feeds/"+w.ids["Field Notes"], "", nil, nil))
		b.open("/sources?removed=" + w.ids["Field Notes"])
	})
	on(b, "list-looked-at", func(b *tab) {
		b.open("/sources")
		b.hand("#opml", list)
		b.follow(".import form button")
		b.waitText("#check", "Nothing is added before you say so")
	})
	on(b, "list-imported", func(b *tab) {
		b.open("/sources")
		b.hand("#opml", list)
		b.follow("[formaction$=import]")
	})
	at(b, "workflows", "/workflows")
	at(b, "workflow", "/workflows/"+flow)
	at(b, "workflow-new", "/workflows/new")
	on(b, "workflow-wrong", func(b *tab) {
		b.open("/workflows/new")
		b.fill("[name=interval_minutes]", "4")
		b.fill("[name=filter]", "title contains")
		b.fill("[name=url]", "ftp://papers.example/feed")
		b.follow("button[value=save]")
	})
	on(b, "workflow-rehearsed", func(b *tab) {
		b.open("/workflows/new")
		b.fill("[name=name]", "Eels")
		b.fill("[name=url]", w.stand.url+"/tide")
		b.fill("[name=filter]", `title contains "eel"`)
		b.fill("[name=action0_url]", "https://hooks.example/eels")
		b.follow("button[value=rehearse]")
	})
	on(b, "workflow-change", func(b *tab) {
		b.open("/workflows/" + flow)
		b.click(".settings-of summary")
		b.click(".remove summary")
	})
	at(b, "run-failed", "/executions/"+run)
	at(b, "briefings", "/briefings")
	on(b, "briefing", func(b *tab) {
		b.open("/briefings/" + briefing.ID)
		b.click("#articles summary")
		b.click(".settings-of summary")
		b.click(".remove summary")
	})
	on(b, "briefing-wrong", func(b *tab) {
		b.open("/briefings")
		b.fill("[name=name]", "Breakfast")
		b.fill("[name=addresses]", "ftp://papers.example/feed")
		b.follow("main form .actions button")
	})
	at(b, "not-found", "/nothing/here")
	at(b, "no-such-source", "/sources/1")
	return views
}

// Every page fits every screen from 320 px to 4K: nothing sticks out, no control is too small to hit, and there is one
// heading. Pictures of all of them go to artifacts/, for people to look at; with FRESHET_PICTURES=1 also those on paper,
// with forced colours and in more widths.
func TestEveryPageFits(t *testing.T) {
	everything := os.Getenv("FRESHET_PICTURES") != ""
	for _, v := range gallery(t) {
		t.Run(v.name, func(t *testing.T) {
			b := v.tab.in(t)
			b.do(chromedp.EmulateViewport(1280, 900))
			v.open(b)
			if n := b.count("h1"); n != 1 {
				t.Errorf("%d headings of the first rank", n)
			}
			for _, width := range []int64{1280, 320, 390, 2560} {
				b.do(chromedp.EmulateViewport(width, 800))
				if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > int(width) {
					t.Errorf("it is %d wide on a screen of %d", wide, width)
				}
				if out := eval[[]string](b, stickingOut); len(out) > 0 {
					t.Errorf("on a screen of %d these stick out: %q", width, out)
				}
				if everything || width == 1280 || width == 320 {
					b.whole(width, fmt.Sprint(width))
				}
			}
			b.do(dark())
			b.whole(1280, "1280-dark")
			if everything { // looks that only people can judge
				b.whole(390, "390-dark")
				b.do(emulate("", "forced-colors", "active"))
				b.whole(1280, "forced")
				b.do(emulate("print", "prefers-color-scheme", "light"))
				b.whole(800, "print")
			}
			b.do(media("prefers-color-scheme", "light"))
		})
	}
}

// stickingOut finds what cannot be read because it is cut off at the side, and controls that are hard to hit (WCAG 2.2, 2.5.8).
const stickingOut = `[...document.querySelectorAll("main *, header *, footer *, dialog[open] *")].filter((e) => {
	if (!e.checkVisibility({visibilityProperty: true}) || e.closest(".hidden, .skip, svg, pre")) return false;
	const r = e.getBoundingClientRect();
	if (r.width && (r.left < -1 || r.right > innerWidth + 1)) return true;
	return e.matches("button, .button, select, input:not([type=checkbox], [type=radio], [type=hidden])") && r.height < 24;
}).map((e) => e.outerHTML.slice(0, 120))`

// whole takes a picture of all of a page, as far down as people go.
func (b *tab) whole(width int64, name string) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, 800))
	b.do(chromedp.EmulateViewport(width, min(2400, max(800, eval[int64](b, "document.documentElement.scrollHeight")))))
	b.picture(name)
}
