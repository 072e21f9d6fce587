package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
)

const slowed = 4 // a slow laptop has a quarter of this machine's speed

// H1 River load performance target: the latest 200 items over typical broadband (10 Mbit/s, 40 ms) on a slow laptop.
// The budget is 60 kB, compressed, and 1 s to the largest paint; the seed asks for 2 s. When 200 more arrive and are
// brought in, nothing keeps the page from answering for more than 50 ms. The figures are printed; paint and tasks are
// judged only where nothing else runs (FRESHET_TEST_PERF=1), weight and shift everywhere.
func TestH1RiverLoadPerformance(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	s := reader(t)
	now := time.Now()
	for f := range 8 {
		s.add(t, stand.feed(fmt.Sprintf("/%d.xml", f), paperName(f), paper(f, 60, now.Add(-8*time.Hour))...))
	}
	b := browse(t, s.url)
	call(b, network.Enable, network.EnableParams{})
	call(b, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Latency: 40, DownloadThroughput: 10e6 / 8, UploadThroughput: 5e6 / 8}}})
	call(b, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: slowed})
	b.open("/")
	b.wait("the page", `document.readyState === "complete" && document.querySelectorAll(".item").length === 200`)
	eval[bool](b, `(() => {
		window.seen = {shift: 0, paint: 0, moved: []};
		const rect = (r) => [r.x, r.y, r.width, r.height].join(" ");
		new PerformanceObserver((l) => { for (const e of l.getEntries()) if (!e.hadRecentInput) {
			seen.shift += e.value;
			for (const s of e.sources) seen.moved.push((s.node?.outerHTML ?? s.node?.nodeName ?? "").slice(0, 60) + " from " + rect(s.previousRect) + " to " + rect(s.currentRect));
		} }).observe({type: "layout-shift", buffered: true});
		new PerformanceObserver((l) => { for (const e of l.getEntries()) seen.paint = e.startTime }).observe({type: "largest-contentful-paint", buffered: true});
		return true })()`)
	type figures struct {
		Shift, Paint float64
		Moved        []string
	}
	observed := func() figures {
		b.wait("the largest paint", "seen.paint > 0")
		must(t, b.draw())
		return eval[figures](b, "seen")
	}
	got := observed()
	weight := eval[int](b, `[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].reduce((sum, e) => sum + e.encodedBodySize, 0)`)
	t.Logf("first page of 200 items: %d bytes in all, largest paint after %.0f ms, layout shift %.3f", weight, got.Paint, got.Shift)
	if weight > 60_000 || weight == 0 {
		t.Errorf("%d bytes, want at most 60 kB", weight)
	}
	alone := os.Getenv("FRESHET_TEST_PERF") != ""
	if alone && got.Paint > 1000 {
		t.Errorf("the largest paint comes after %.0f ms, want at most 1000", got.Paint)
	}

	call(b, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: 1})
	for f := range 8 {
		stand.feed(fmt.Sprintf("/%d.xml", f), paperName(f), append(paper(f, 25, now), paper(f, 60, now.Add(-8*time.Hour))...)...)
	}
	arrive := slowed * b.longest(func() { s.poll(t); b.waitText("#pill", "200 new") })
	bring := slowed * b.longest(func() {
		b.press(".")
		b.wait("the new items", `document.querySelectorAll(".item").length === 400`)
		must(t, b.draw())
	})
	b.reach("#more")
	more := slowed * b.longest(func() {
		b.click("#more")
		b.wait("the older items", `document.querySelectorAll(".item").length === 600`)
		must(t, b.draw())
	})
	got = observed()
	t.Logf("longest task, in ms of a slow laptop: when 200 items arrive %.0f, when they are brought in %.0f, when 200 older ones are added %.0f; layout shift %.3f", arrive, bring, more, got.Shift)
	if got.Shift > 0 {
		t.Errorf("the page shifts by %.6f: %q", got.Shift, got.Moved)
	}
	if worst := max(arrive, bring, more); worst == 0 || alone && worst > 50 {
		t.Errorf("the longest task takes %.0f ms, want at most 50", worst)
	}
}

func paperName(f int) string { return fmt.Sprintf("The %s Paper", newsWords[f]) }

var newsWords = strings.Fields("the of river science report kernel climate garden policy market network release update story upon kitchen")

// paper makes n entries of a paper with titles and texts of usual length.
func paper(f, n int, newest time.Time) (list []entry) {
	for i := range n {
		var text []string
		for n := range 45 {
			text = append(text, newsWords[(n*n+i*7+f*3)%len(newsWords)])
		}
		at := newest.Add(-time.Duration(i*8+f) * time.Minute)
		id := fmt.Sprint(at.Unix())
		list = append(list, entry{"https://paper.example/" + id, strings.Join(text[:9], " ") + " " + id,
			fmt.Sprintf("https://paper%d.example/2026/11/%s-%s", f, strings.Join(text[:4], "-"), id), strings.Join(text, " ") + id, at})
	}
	return list
}

// longest is the longest task of the page's main thread while something happens, in milliseconds of the
// processor.
func (b *tab) longest(during func()) float64 {
	b.t.Helper()
	var mu sync.Mutex
	var events []traceEvent
	complete := make(chan struct{}, 1)
	must(b.t, chromedp.Listen(b.ctx, func(event any) {
		switch e := event.(type) {
		case *tracing.EventDataCollected:
			mu.Lock()
			defer mu.Unlock()
			for _, v := range e.Value {
				var one traceEvent
				if json.Unmarshal(v, &one) == nil {
					events = append(events, one)
				}
			}
		case *tracing.EventTracingComplete:
			select {
			case complete <- struct{}{}:
			default:
			}
		}
	}))
	call(b, tracing.Start, tracing.StartParams{TraceConfig: &tracing.TraceConfig{IncludedCategories: []string{"disabled-by-default-devtools.timeline", "devtools.timeline"}}})
	during()
	call(b, tracing.End, struct{}{})
	select {
	case <-complete:
	case <-b.ctx.Done():
		b.t.Fatal("the trace did not end")
	}
	mu.Lock()
	defer mu.Unlock()
	return longestTask(events)
}

type traceEvent struct {
	Name     string
	Pid, Tid int
	Tdur     float64 // of the processor, in microseconds
	Args     struct{ Name string }
}

// longestTask is the time in milliseconds that the processor spends in the longest task of a page's main thread.
func longestTask(events []traceEvent) float64 {
	renderers := map[[2]int]bool{}
	for _, e := range events {
		if e.Name == "thread_name" && e.Args.Name == "CrRendererMain" {
			renderers[[2]int{e.Pid, e.Tid}] = true
		}
	}
	var longest float64
	for _, e := range events {
		if e.Name == "RunTask" && renderers[[2]int{e.Pid, e.Tid}] {
			longest = max(longest, e.Tdur/1000)
		}
	}
	return longest
}

// call sends a command of the protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, command, params)
	must(b.t, err)
}
