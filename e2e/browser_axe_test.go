package e2e

import (
	"context"
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

// axe-core finds nothing to complain of on any page, in light and in dark, on a narrow screen and on a wide one.
func TestAccessibility(t *testing.T) {
	source := axe(t)
	for _, v := range gallery(t) {
		t.Run(v.name, func(t *testing.T) {
			b := v.tab.in(t)
			b.do(chromedp.EmulateViewport(1280, 900))
			v.open(b)
			b.do(chromedp.Evaluate[chromedp.Void](source))
			b.audit("wide", everyRule)
			b.do(chromedp.EmulateViewport(320, 900))
			b.audit("narrow", everyRule)
			b.do(chromedp.EmulateViewport(1280, 900), media("prefers-color-scheme", "dark"))
			b.audit("dark", `{runOnly: ["color-contrast", "link-in-text-block"]}`) // a scheme changes nothing else
			b.do(media("prefers-color-scheme", "light"))
		})
	}
}

const everyRule = `{resultTypes: ["violations"]}`

// audit fails for each rule of axe-core that the page breaks. The page has its script.
func (b *tab) audit(how, options string) {
	b.t.Helper()
	b.wait("colours to settle", `document.getAnimations().length === 0`)
	found := eval[[]string](b, `axe.run(`+options+`).then((r) => r.violations.map((v) => v.impact + " " + v.id + ": " + v.help + " " +
		v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + n.failureSummary).join(" | ")))`)
	for _, v := range found {
		b.t.Errorf("%s, %s: %s", b.where(), how, v)
	}
}
