package e2e

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// Everything in the river is reached by key; the keys can be switched off.
func TestKeyboardOnly(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	list := entries("k", 40, time.Hour)
	s := reader(t)
	id := s.add(t, stand.feed("/feed.xml", "Keys", list[1:]...))
	b := browse(t, s.url)
	b.open("/")
	focused := func(want string) {
		t.Helper()
		if got := eval[string](b, "document.activeElement.textContent"); got != want {
			t.Errorf("the focus is on %q, want %q", got, want)
		}
	}
	b.press("j")
	focused("k 39")
	b.press("jj")
	focused("k 37")
	b.press("k")
	focused("k 38")
	b.press("o")
	b.waitText(".item .text", "What k has to say, number 38.")
	b.picture("open")
	b.press("o")
	b.wait("the text to close", `!document.querySelector(".item .text")`)

	stand.feed("/feed.xml", "Keys", list...)
	b.press("r")
	b.waitText("#pill", "1 new")
	focused("k 38")
	b.press(".")
	b.waitText("#river", "k 40")
	focused("k 38")

	b.press("?")
	b.wait("the help", `document.getElementById("keys").open`)
	b.looks("help")
	b.press(kb.Escape)
	b.wait("the help to close", `!document.getElementById("keys").open`)
	b.press("/")
	b.wait("the search field", `document.activeElement.name === "q"`)
	b.press("jx")
	if got := eval[string](b, "document.activeElement.value"); got != "jx" {
		t.Errorf("the search field holds %q: keys act inside a field", got)
	}
	b.press(kb.Escape)
	b.press("gs")
	b.wait("the sources", `location.pathname === "/sources" && document.readyState === "complete"`)
	b.press("gh")
	b.wait("the river", `location.pathname === "/" && document.readyState === "complete"`)
	b.press("jx")
	b.wait("the source's items", `new URLSearchParams(location.search).get("feed_ids") === "`+id+`" && document.readyState === "complete"`)

	b.press("?")
	b.click("#keys-on")
	b.press(kb.Escape)
	b.press("gs")
	if b.where() != "/?feed_ids="+id {
		t.Errorf("a key led to %s although keys are off", b.where())
	}
	b.press(kb.Tab)
	b.open("/")
	b.press(kb.Tab)
	focused("Skip to the content")
	b.picture("skip")
}

// An item is read in place; without script the same link leads to its own page.
func TestReadingInPlace(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	s := reader(t)
	s.add(t, stand.feed("/feed.xml", "Reading", entries("r", 3, time.Hour)...))
	b := browse(t, s.url)
	b.open("/")
	b.click(".item .read")
	b.waitText(".item .text", "What r has to say, number 3.")
	if got := eval[string](b, `document.querySelector(".item .read").getAttribute("aria-expanded")`); got != "true" || b.where() != "/" {
		t.Errorf("expanded %q on %s", got, b.where())
	}
	plain := browse(t, s.url, noScript())
	plain.open("/")
	plain.follow(".item .read")
	plain.says("h1", "r 3")
	plain.says(".text", "What r has to say, number 3.")
	plain.looks("item")
}
