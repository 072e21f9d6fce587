package store

import (
	"errors"
	"strings"
	"testing"
	"time"

	"freshet"
)

// TestWorkers is what both databases must do for those who name a workflow, try it and fetch what it made.
func TestWorkers(t *testing.T) {
	for _, engine := range engines() {
		t.Run(engine, func(t *testing.T) {
			for _, test := range []struct {
				name string
				run  func(*testing.T, *world)
			}{
				{"W1 a workflow is found by its name or its id", testFindWorkflow},
				{"W6 a test carries the newest entries", testSampleData},
				{"W6 a window takes as many entries as an execution carries", testWindowFull},
				{"W7 a worker knows when there is something to fetch", testNextLease},
				{"W9 one that is added switched off is not polled", testAddedOff},
			} {
				t.Run(test.name, func(t *testing.T) { test.run(t, newWorld(t, engine)) })
			}
		})
	}
}

func testFindWorkflow(t *testing.T, w *world) {
	named := func(name string) freshet.Workflow {
		return w.workflow(func(d *freshet.Definition) { d.Name = name })
	}
	news := named("News")
	w.read(news.Source, w.articles("a")...)
	for _, name := range []string{"News", "news", " NEWS ", news.ID.String()} {
		found, err := w.FindWorkflow(bg, name)
		w.must(err)
		w.equal(name, found.ID, news.ID)
		w.equal(name+" remembers", len(found.Memory.IDs), 1)
	}
	for _, name := range []string{"", "New", "%", "17"} {
		_, err := w.FindWorkflow(bg, name)
		w.is(err, freshet.ErrNotFound)
	}
	number := named("17")
	found, err := w.FindWorkflow(bg, "17")
	w.must(err)
	w.equal("a name that looks like an id", found.ID, number.ID)
	named("news")
	_, err = w.FindWorkflow(bg, "News")
	if field, ok := errors.AsType[*freshet.FieldError](err); !ok || !strings.Contains(field.Reason, "2 workflows") {
		t.Errorf("two of a name: %v", err)
	}
}

func testSampleData(t *testing.T, w *world) {
	flow := w.workflow(nil)
	sample := func() freshet.TriggerData {
		flow := w.theWorkflow(flow.ID)
		data, err := w.SampleData(bg, &flow)
		w.must(err)
		return data
	}
	w.equal("made up", len(sample().Items), 1)
	w.read(flow.Source, w.articles("b", "a")...)
	w.equal("the newest", sample().Items[0].Title, "Title of b")
	made, err := w.TestWorkflow(bg, flow.ID, sample(), w.now)
	w.must(err)
	w.equal("kind", made[0].Kind, freshet.KindTest)
	claimed := w.claimExecutions()
	w.equal("claimed with the poll's", len(claimed), 2)
	w.equal("carried out with its action", claimed[1].Do.URL, "https://hooks.example/in")
}

func testWindowFull(t *testing.T, w *world) {
	flow := w.workflow(func(d *freshet.Definition) { d.Batch, d.WindowMinutes = freshet.BatchWindow, 600 })
	for i := range 11 { // a hundred each
		var names []string
		for n := range 100 {
			names = append(names, string(rune('a'+i))+"-"+string(rune('0'+n/10))+string(rune('0'+n%10)))
		}
		w.read(flow.Source, w.articles(names...)...)
		w.now = w.now.Add(20 * time.Minute)
	}
	var items []int
	for _, e := range w.executions(flow.ID) {
		items = append(items, e.Items)
	}
	w.equal("entries of each execution", items, []int{1000, 100})
}

func testNextLease(t *testing.T, w *world) {
	flow := w.workflow(func(d *freshet.Definition) { d.Actions = nil })
	other := w.workflow(func(d *freshet.Definition) { d.Actions, d.Trigger.Config.URL = nil, "https://other.example/feed" })
	next := func(workflow freshet.ID) time.Time {
		at, err := w.NextLease(bg, workflow)
		w.must(err)
		return at
	}
	w.equal("nothing", next(0).IsZero(), true)
	w.read(flow.Source, w.articles("a")...)
	w.equal("now", next(flow.ID).After(w.now), false)
	w.equal("of any", next(0), next(flow.ID))
	w.equal("of another", next(other.ID).IsZero(), true)
	leased, err := w.LeaseExecutions(bg, "worker", 0, 10, time.Minute, w.now)
	w.must(err)
	w.equal("leased", len(leased), 1)
	w.equal("at the lease's end", next(0), w.now.Add(time.Minute))
	_, err = w.EndLease(bg, leased[0].ID, freshet.Attempt{N: 1}, w.now)
	w.must(err)
	w.equal("done", next(0).IsZero(), true)
}

func testAddedOff(t *testing.T, w *world) {
	flow := w.workflow(func(d *freshet.Definition) { d.Enabled = false })
	w.equal("due", len(w.claim()), 0)
	_, err := w.SwitchWorkflow(bg, flow.ID, true, w.now)
	w.must(err)
	w.equal("due once it is on", len(w.claim()), 1)
}
