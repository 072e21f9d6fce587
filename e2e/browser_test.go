package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// chromium is the one browser of all tests; each test has a tab of its own.
var chromium struct {
	once  sync.Once
	ctx   context.Context
	close func()
	err   error
}

// findChromium returns the browser's program, "" when there is none.
func findChromium() string {
	for _, name := range []string{os.Getenv("FRESHET_TEST_CHROMIUM"), "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func startChromium(program string) {
	flags := []chromedp.ExecAllocatorOption{chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.Headless, chromedp.NoFirstRun,
		chromedp.UserDataDir(filepath.Join(bin, "profile"))}
	for _, name := range []string{"disable-gpu", "disable-quic", "disable-background-networking", "disable-component-update", "disable-sync",
		"disable-dev-shm-usage", "disable-extensions", "no-default-browser-check", "hide-scrollbars",
		"disable-background-timer-throttling", "disable-backgrounding-occluded-windows", "disable-renderer-backgrounding"} {
		flags = append(flags, chromedp.Flag(name, true))
	}
	allocator, _ := chromedp.NewExecAllocator(context.Background(), flags...)
	ctx, stop := chromedp.NewContext(allocator)
	chromium.ctx, chromium.close, chromium.err = ctx, stop, chromedp.Do(ctx)
}

// closeChromium ends the browser, if one was started.
func closeChromium() {
	if chromium.close != nil {
		chromium.close()
	}
}

// tab is a page in the browser, looking at one server.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string
}

// browse opens a tab; the test is skipped, loudly, where there is no browser.
func browse(t *testing.T, base string, before ...chromedp.Action[chromedp.Void]) *tab {
	t.Helper()
	program := findChromium()
	if program == "" {
		t.Skip("SKIPPED: no Chromium (set FRESHET_TEST_CHROMIUM; make test installs one on Debian)")
	}
	chromium.once.Do(func() { startChromium(program) })
	must(t, chromium.err)
	ctx, stop := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
	must(t, chromedp.Do(ctx)) // the tab lives as long as the context that opens it
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	b := &tab{t, ctx, base}
	t.Cleanup(func() {
		if t.Failed() && ctx.Err() == nil {
			b.picture("failed")
		}
		cancel()
		stop()
	})
	b.do(chromedp.EmulateViewport(1100, 900))
	b.do(before...)
	return b
}

// noScript turns script off in a tab.
func noScript() chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return chromedp.Void{}, err
	}
}

// dark shows pages as to somebody who prefers dark ones.
func dark() chromedp.Action[chromedp.Void] { return media("prefers-color-scheme", "dark") }

func media(feature, value string) chromedp.Action[chromedp.Void] { return emulate("", feature, value) }

// emulate shows pages as on a medium, such as print, or as to somebody with a preference.
func emulate(medium, feature, value string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: medium,
			Features: []*emulation.MediaFeature{{Name: feature, Value: value}}})
		return chromedp.Void{}, err
	}
}

// in is the same tab in a part of a test.
func (b *tab) in(t *testing.T) *tab { return &tab{t, b.ctx, b.base} }

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%s: %v", b.where(), err)
	}
}

// open goes to an address of the server and waits until the page is drawn: what is not has no text. A page that leads on by
// itself just then may get in the way, once.
func (b *tab) open(path string) {
	b.t.Helper()
	b.until("the page", func() (bool, error) {
		_, err := chromedp.Run(b.ctx, chromedp.Navigate(b.base+path))
		if err == nil {
			err = b.draw()
		}
		return err == nil, err
	})
}

func (b *tab) where() string {
	address, _ := chromedp.Run(b.ctx, chromedp.Location())
	return strings.TrimPrefix(address, b.base)
}

// click clicks an element where a pointer reaches it.
func (b *tab) click(css string) {
	b.t.Helper()
	at := b.reach(css)
	b.do(chromedp.MouseClickXY(at[0], at[1]))
}

// reach brings an element into view, waits until it rests under the pointer, and returns where. What
// content-visibility skips is drawn and takes its height a frame after the page was scrolled or changed; nobody clicks
// sooner than that.
func (b *tab) reach(css string) (at []float64) {
	b.t.Helper()
	place := "(() => { const e = document.querySelector(" + strconv.Quote(css) + `); e.scrollIntoViewIfNeeded();
		const r = e.getClientRects()[0], x = r.x + r.width / 2, y = r.y + r.height / 2;
		if (e.contains(document.elementFromPoint(x, y))) return [x, y];
		e.scrollIntoView({block: "center"}); // what sticks to the edge covered it
		return [] })()`
	b.until("a pointer to reach "+css, func() (bool, error) {
		before, err := try[[]float64](b, place)
		if err != nil || len(before) == 0 {
			return false, err
		}
		if err := b.draw(); err != nil {
			return false, err
		}
		at, err = try[[]float64](b, place)
		return slices.Equal(before, at), err
	})
	return at
}

// draw waits until the browser has drawn the page anew, twice. A page without script is told of no frame, but a
// picture of it is one.
func (b *tab) draw() error {
	scripted, err := try[bool](b, `!matchMedia("(scripting: none)").matches`)
	if err == nil && scripted {
		_, err = try[bool](b, "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
	}
	for n := 0; err == nil && !scripted && n < 2; n++ {
		_, err = chromedp.Call(b.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatJpeg})
	}
	return err
}

// tap clicks where an element is, without bringing it into view first.
func (b *tab) tap(css string) {
	b.t.Helper()
	at := eval[[]float64](b, "(() => { const r = document.querySelector("+strconv.Quote(css)+").getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })()")
	b.do(chromedp.MouseClickXY(at[0], at[1]))
}

// follow clicks what leads to another page and waits until that is there.
func (b *tab) follow(css string) {
	b.t.Helper()
	eval[bool](b, "window.left = true")
	b.click(css)
	b.until(css+" to lead on", func() (bool, error) {
		there, err := try[bool](b, `!window.left && document.readyState === "complete"`)
		if there && err == nil {
			err = b.draw()
		}
		return there, err
	})
}

// fill replaces what a field holds.
func (b *tab) fill(css, text string) { b.t.Helper(); b.do(chromedp.SetValue(chromedp.CSS(css), text)) }

// press presses keys where the focus is. Unlike chromedp's own it lets the page keep a key from typing.
func (b *tab) press(keys string) {
	b.t.Helper()
	for _, key := range keys {
		if !unicode.IsPrint(key) {
			b.do(chromedp.KeyEvent(string(key)))
			continue
		}
		b.call(input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: string(key), Text: string(key)})
		b.call(input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: string(key)})
	}
}

func (b *tab) call(stroke input.DispatchKeyEventParams) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, stroke)
	must(b.t, err)
}

// eval asks the page's script. It does so in the page's own world and works without script too, as
// the debugger's does.
func eval[T any](b *tab, js string) (v T) {
	b.t.Helper()
	b.until("an answer to "+js, func() (is bool, err error) {
		v, err = try[T](b, js)
		if wrong, is := errors.AsType[*chromedp.ExceptionError](err); is {
			b.t.Fatalf("%s on %s: %v", js, b.where(), wrong)
		}
		return err == nil, err
	})
	return v
}

// try asks once; there is no answer when the page is left just then.
func try[T any](b *tab, js string) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
}

// text is what a reader sees of the first element that matches; "" when there is none.
func (b *tab) text(css string) string {
	b.t.Helper()
	return eval[string](b, "document.querySelector("+strconv.Quote(css)+")?.innerText ?? ''")
}

// texts are those of all elements that match.
func (b *tab) texts(css string) []string {
	b.t.Helper()
	return eval[[]string](b, "[...document.querySelectorAll("+strconv.Quote(css)+")].map((e) => e.textContent.trim())")
}

func (b *tab) count(css string) int {
	b.t.Helper()
	return eval[int](b, "document.querySelectorAll("+strconv.Quote(css)+").length")
}

// wait asks until an expression is true, over navigations too.
func (b *tab) wait(what, js string) {
	b.t.Helper()
	b.until(what, func() (bool, error) { return try[bool](b, "Boolean("+js+")") })
}

// until asks until something is so.
func (b *tab) until(what string, ok func() (bool, error)) {
	b.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		is, err := ok()
		if is && err == nil {
			return
		}
		if time.Now().After(deadline) {
			b.picture("waiting")
			shown, _ := try[string](b, `document.querySelector("main")?.innerText ?? ""`)
			b.t.Fatalf("waited in vain for %s on %s (%v): %s", what, b.where(), err, tail(shown, 800))
		}
		timer := time.NewTimer(30 * time.Millisecond)
		<-timer.C // between two looks
	}
}

// waitText waits until an element holds a text.
func (b *tab) waitText(css, part string) {
	b.t.Helper()
	b.wait(css+" to say "+part, fmt.Sprintf("[...document.querySelectorAll(%q)].some((e) => e.innerText.includes(%q))", css, part))
}

// says fails unless the first element that matches holds a text.
func (b *tab) says(css, part string) {
	b.t.Helper()
	if got := b.text(css); !strings.Contains(got, part) {
		b.t.Errorf("%s on %s says %q, want %q in it", css, b.where(), tail(got, 600), part)
	}
}

// query is the query of the address.
func (b *tab) query() url.Values {
	u, err := url.Parse(b.where())
	must(b.t, err)
	return u.Query()
}

// picture writes what the tab shows to artifacts/, for people to look at.
func (b *tab) picture(name string) {
	b.t.Helper()
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Logf("no picture: %v", err)
		return
	}
	must(b.t, os.MkdirAll("../artifacts", 0o755))
	must(b.t, os.WriteFile(filepath.Join("../artifacts", strings.ReplaceAll(b.t.Name(), "/", "-")+"-"+name+".png"), png, 0o644))
}

// looks takes pictures of a page: wide and narrow, light and dark. It fails where the page is wider than
// a narrow screen.
func (b *tab) looks(name string) {
	b.t.Helper()
	for _, size := range []struct {
		name          string
		width, height int64
	}{{"wide", 1100, 900}, {"narrow", 320, 640}} {
		for _, scheme := range []string{"light", "dark"} {
			b.do(chromedp.EmulateViewport(size.width, size.height), media("prefers-color-scheme", scheme))
			b.picture(name + "-" + size.name + "-" + scheme)
		}
		if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > int(size.width) {
			b.t.Errorf("%s is %d wide on a screen of %d", b.where(), wide, size.width)
		}
	}
	b.do(chromedp.EmulateViewport(1100, 900), media("prefers-color-scheme", "light"))
}
