package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// A hundred items that mean harm or are merely odd: nothing runs, nothing breaks, nothing is asked of another
// host (P2).
func TestHostileContent(t *testing.T) {
	bad := []string{
		`<script>window.ran=1</script>`, `<img src=x onerror="window.ran=1">`, `"><svg onload=window.ran=1>`, `{{.}} ${window.ran=1}`,
		`</title><script>window.ran=1</script>`, `<a href="javascript:window.ran=1">x</a>`, `<style>body{display:none}</style>`,
		`<iframe src="https://evil.example/"></iframe>`, `<img src="https://evil.example/pixel.gif">`, `<base href="https://evil.example/">`,
		`<form action="https://evil.example/"><input autofocus onfocus="window.ran=1">`, `<meta http-equiv=refresh content="0;url=https://evil.example/">`,
		"\u202egnirts desrever\u202c", "مرحبا بالعالم، هذا عنوان طويل", "שלום עולם", "👩‍👩‍👧‍👦🏳️‍🌈 emoji", strings.Repeat("W", 10_000), strings.Repeat("word ", 2000),
		"Z\u0351\u036b\u0343\u036a\u0302a\u0334lgo", "   ", "",
	}
	links := []string{"https://example.org/%d", "javascript:window.ran=1//%d", "data:text/html,<script>window.ran=1</script>%d", "", "https://example.org/%d\"onmouseover=\"window.ran=1", "//example.org/%d"}
	var list []entry
	for i := range 100 {
		e := entry{guid: fmt.Sprintf("urn:bad:%d", i), title: bad[i%len(bad)], text: fmt.Sprint(bad[(i+7)%len(bad)], " ", i), link: links[i%len(links)]}
		if strings.Contains(e.link, "%d") {
			e.link = fmt.Sprintf(e.link, i)
		}
		if i%3 > 0 {
			e.at = time.Now().Add(-time.Duration(i) * time.Minute)
		}
		list = append(list, e)
	}
	stand := newNewsstand(t, "127.0.0.2")
	s := reader(t)
	id := s.add(t, stand.feed("/feed.xml", `<script>window.ran=1</script>"'>`, list...))
	b := browse(t, s.url)
	foreign := watchRequests(t, b)
	for _, path := range []string{"/", "/sources", "/sources/" + id} {
		b.open(path)
		b.looks(strings.Trim(strings.ReplaceAll(strings.ReplaceAll(path, id, "one"), "/", "-"), "-"))
		if eval[bool](b, "window.ran === 1") {
			t.Errorf("a script of the feed ran on %s", path)
		}
	}
	b.open("/")
	if n := b.count(".item"); n < 90 {
		t.Errorf("%d items, want about 100", n)
	}
	if n := eval[int](b, `document.querySelectorAll('a:not([href^="/"]):not([href^="#"]):not([href^="http"])').length`); n > 0 {
		t.Errorf("%d links lead elsewhere than to the web", n)
	}
	for i := range 10 {
		// One after the other, because each text moves what is below it.
		b.click(fmt.Sprintf(".item:nth-of-type(%d) .read", i+1))
		b.wait("texts", fmt.Sprintf(`document.querySelectorAll(".item .text").length === %d`, i+1))
	}
	if eval[bool](b, "window.ran === 1") {
		t.Error("a script of the feed ran when texts were opened")
	}
	if got := foreign(); len(got) > 0 {
		t.Errorf("requests left the origin: %q", got)
	}
}

// watchRequests returns what a tab asks of other origins.
func watchRequests(t *testing.T, b *tab) func() []string {
	var mu sync.Mutex
	var foreign []string
	must(t, chromedp.Listen(b.ctx, func(event any) {
		e, ok := event.(*network.EventRequestWillBeSent)
		if ok && !strings.HasPrefix(e.Request.URL, b.base) && !strings.HasPrefix(e.Request.URL, "data:") {
			mu.Lock()
			foreign = append(foreign, e.Request.URL)
			mu.Unlock()
		}
	}))
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return foreign
	}
}
