package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// The ways people read that are not a wide screen with a mouse and script: what docs/stories.md calls everywhere.

// Without script no control is dead: each button belongs to a form that it sends, and nothing is there for script only.
func TestNothingIsDeadWithoutScript(t *testing.T) {
	w := newTown(t, 1)
	b := browse(t, w.url, noScript())
	for _, path := range []string{"/", "/?days=7", "/sources", "/sources/" + w.ids["Slow Kitchen"], "/workflows", "/workflows/new"} {
		b.open(path)
		dead := eval[[]string](b, `[...document.querySelectorAll("button, input, select, textarea")].filter((e) => e.checkVisibility() &&
			(!e.form || e.form.method === "dialog" || e.type === "button")).map((e) => e.outerHTML.slice(0, 120))`)
		if len(dead) > 0 {
			t.Errorf("%s: without script these do nothing: %q", path, dead)
		}
	}
}

// A workflow is made, looked at and deleted with nothing but the keyboard, on a screen of 320 px.
func TestWorkflowByKeyboard(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	r := startReceiver(t)
	s := reader(t, "FRESHET_DELIVER_ALLOW=127.0.0.0/8")
	b := browse(t, s.url)
	b.do(chromedp.EmulateViewport(320, 640))
	b.open("/")
	b.press("gw")
	b.wait("the workflows", `location.pathname === "/workflows" && document.readyState === "complete"`)
	b.tabTo(".first .button")
	b.press("\r")
	b.wait("the form", `location.pathname === "/workflows/new" && document.readyState === "complete"`)
	b.tabTo("[name=name]")
	b.press("By key")
	b.tabTo("[name=url]")
	b.press(stand.feed("/feed.xml", "The Stand", entries("stand", 3, time.Hour)...))
	b.tabTo("[name=first_poll]")
	b.press(" ")
	b.tabTo("[name=action0_url]")
	b.press(r.URL)
	b.tabTo("button[value=save]")
	b.press("\r")
	b.waitText("h1", "By key")
	b.tabTo(".remove summary")
	b.press("\r")
	b.tabTo(".remove button")
	if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > 320 {
		t.Errorf("the page is %d wide", wide)
	}
	b.picture("delete")
	b.press("\r")
	b.waitText("main", "No workflows yet")
}

// tabTo presses the tab key until the focus is on something, which can be seen then.
func (b *tab) tabTo(css string) {
	b.t.Helper()
	for range 60 {
		b.press("\t")
		if eval[bool](b, fmt.Sprintf("document.activeElement.matches(%q)", css)) {
			if !eval[bool](b, `(() => { const r = document.activeElement.getBoundingClientRect(); return r.bottom > 0 && r.top < innerHeight })()`) {
				b.t.Errorf("%s has the focus and cannot be seen", css)
			}
			return
		}
	}
	b.t.Fatalf("the tab key never comes to %s on %s", css, b.where())
}

// A title from right to left begins at the right; what is said about it keeps its order.
func TestRightToLeft(t *testing.T) {
	w := newTown(t, 1)
	withAndWithoutScript(t, func(t *testing.T, open func(server) *tab) {
		b := open(w.server)
		b.open("/?feed_ids=" + w.ids["الجريدة الصغيرة"])
		b.says(".item h3", "سوق السبت")
		begins := eval[bool](b, `(() => { const box = document.querySelector(".item h3"), letters = document.createRange();
			letters.selectNodeContents(box); return box.getBoundingClientRect().right - letters.getBoundingClientRect().right < 3 })()`)
		if !begins {
			t.Error("the title does not begin at the right")
		}
		if !eval[bool](b, `(() => { const at = [...document.querySelectorAll(".item .meta > *")].map((e) => e.getBoundingClientRect().left);
			return at.length === 3 && at[0] < at[1] && at[1] < at[2] })()`) {
			t.Error("source, time and link are not in their order")
		}
	})
}

// On paper there is the text, in dark on light, without what only works on a screen.
func TestPrint(t *testing.T) {
	w := newTown(t, 1)
	b := browse(t, w.url)
	for path, text := range map[string]string{"/": ".item .snippet", "/sources/" + w.ids["The Harbour Gazette"]: ".chart rect"} {
		b.open(path)
		b.do(emulate("print", "prefers-color-scheme", "dark"))
		seen := eval[[]string](b, `[...document.querySelectorAll("header, footer, button, input, .read, `+text+`")].filter((e) => e.checkVisibility()).map((e) => e.tagName.toLowerCase())`)
		if all := strings.Join(seen, " "); len(seen) == 0 || strings.ContainsAny(strings.NewReplacer("rect", "", "p", "", " ", "").Replace(all), "abcdefghijklmnopqrstuvwxyz") {
			t.Errorf("%s shows on paper: %.200s", path, all)
		}
		if got := eval[string](b, `getComputedStyle(document.body).backgroundColor`); got != "rgb(255, 255, 255)" {
			t.Errorf("%s is printed on %s", path, got)
		}
		b.picture(strings.Trim(strings.ReplaceAll(path, "/", "-"), "-") + "paper")
		b.do(media("prefers-color-scheme", "light"))
	}
}

// Nothing moves for somebody who asked for less motion.
func TestReducedMotion(t *testing.T) {
	w := newTown(t, 1)
	b := browse(t, w.url, media("prefers-reduced-motion", "reduce"))
	for _, path := range []string{"/", "/sources", "/workflows/new"} {
		b.open(path)
		moving := eval[[]string](b, `[...document.querySelectorAll("*")].filter((e) => { const s = getComputedStyle(e);
			return s.transitionDuration !== "0s" || s.animationName !== "none" || s.scrollBehavior === "smooth" }).map((e) => e.outerHTML.slice(0, 80))`)
		if len(moving) > 0 {
			t.Errorf("%s: these move: %q", path, moving)
		}
	}
}
