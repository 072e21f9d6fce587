package e2e

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// axe returns the source of axe-core: the file that FRESHET_TEST_AXE names, else from npm. The test is skipped,
// loudly, where there is neither.
func axe(t *testing.T) string {
	t.Helper()
	path := os.Getenv("FRESHET_TEST_AXE")
	if path == "" {
		folder := t.TempDir()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		install := exec.CommandContext(ctx, "npm", "install", "--no-save", "--no-audit", "--no-fund", "--prefix", folder, "axe-core@4.14.1")
		if out, err := install.CombinedOutput(); err != nil {
			t.Skipf("SKIPPED: no axe-core (set FRESHET_TEST_AXE to its axe.min.js, or have npm): %v %s", err, tail(string(out), 200))
		}
		path = filepath.Join(folder, "node_modules", "axe-core", "axe.min.js")
	}
	source, err := os.ReadFile(path)
	must(t, err)
	return string(source)
}

// axe-core finds nothing serious on any page, in light and in dark.
func TestAccessibility(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	stand.html("/big", `<html><head><link rel=alternate type=application/rss+xml href=/a.xml title=A><link rel=alternate type=application/rss+xml href=/b.xml title=B></head></html>`)
	s := reader(t, "FRESHET_DELIVER_ALLOW=127.0.0.0/8")
	empty := browse(t, s.url)
	source := axe(t)
	check := func(b *tab, page string) { t.Helper(); b.audit(source, page) }
	empty.open("/")
	check(empty, "the empty river")
	fine := s.add(t, stand.feed("/a.xml", "Fine", append(entries("a", 8, time.Hour), entry{"urn:none", "No link", "", "No link here", time.Now()})...))
	ill := s.add(t, stand.feed("/b.xml", "Ill", entries("b", 3, time.Hour)...))
	stand.status("/b.xml", http.StatusNotFound)
	for range 3 {
		s.poll(t)
	}
	flow, run := s.failedRun(t, stand.url+"/a.xml")
	b := browse(t, s.url)
	for _, path := range []string{"/", "/?q=a&feed_ids=" + fine, "/?start_date=2026-02-02&end_date=2026-02-01", "/sources", "/sources/" + ill, "/items/1",
		"/workflows", "/workflows/new", "/workflows/" + flow, "/executions/" + run} {
		b.open(path)
		check(b, path)
	}
	b.open("/?q=a&days=7")
	b.openFilter()
	b.click("details.name summary")
	check(b, "the filter")
	b.open("/")
	b.click(".fold summary")
	check(b, "an open run")
	b.open("/")
	b.click(".item .read")
	b.waitText(".item .text", "here")
	check(b, "an open item")
	b.press("?")
	check(b, "the help")
}

// audit fails where axe-core finds something serious on the page: all its rules in light, those about colours in dark.
func (b *tab) audit(axe, page string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](axe))
	for scheme, options := range map[string]string{"light": "{}", "dark": `{runOnly: ["color-contrast", "link-in-text-block"]}`} {
		b.do(media("prefers-color-scheme", scheme))
		b.wait("colours to settle", `document.getAnimations().length === 0`)
		found := eval[[]string](b, `axe.run(`+options+`).then((r) => r.violations.filter((v) => ["serious", "critical"].includes(v.impact))
			.map((v) => v.id + ": " + v.help + " " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + n.failureSummary).join(" | ")))`)
		for _, v := range found {
			b.t.Errorf("%s, %s: %s", page, scheme, v)
		}
	}
	b.do(media("prefers-color-scheme", "light"))
}

// Nor does it on the pages of the sources: first run, forms with errors, a host that pauses, a removal, a list.
func TestAccessibilityOfSources(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	busy := newNewsstand(t, "127.0.0.3")
	s := reader(t)
	b := browse(t, s.url)
	source := axe(t)
	b.open("/sources")
	b.audit(source, "no sources")
	id := s.add(t, stand.feed("/a.xml", "Fine", entries("a", 8, time.Hour)...))
	other := s.add(t, stand.feed("/b.xml", "Another", entries("b", 1, time.Hour)...))
	s.add(t, busy.feed("/c.xml", "Busy", entries("c", 3, time.Hour)...))
	busy.status("/c.xml", http.StatusTooManyRequests, "Retry-After: 900")
	s.poll(t)
	must(t, ask(http.MethodDelete, s.url+"/api/feeds/"+other, "", nil, nil))
	b.open("/sources?notice=removed&removed=" + other)
	b.click(".shelf summary")
	b.click(".options summary")
	b.audit(source, "sources, a removal, a host that pauses")
	b.open("/sources/" + id)
	b.click(".kinds [value=website]")
	b.fill("[name=selector]", "a >")
	b.fill("[name=every_minutes]", "often")
	b.follow("#settings form[action$=edit] button")
	b.audit(source, "a form with errors")
	b.open("/sources")
	b.hand("#opml", mixedList(t, stand))
	b.follow(".import form button")
	b.waitText("#check", "Nothing is added before you say so")
	b.audit(source, "what a look found")
	b.follow("#check form .actions button")
	b.audit(source, "what was imported")
}
