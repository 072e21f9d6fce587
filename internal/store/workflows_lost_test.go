package store

import (
	"slices"
	"strings"
	"testing"
	"time"

	"freshet"
)

// TestNothingLost is what has lost, doubled or held up executions once (W6). Each test has a database of its own.
func TestNothingLost(t *testing.T) {
	for _, engine := range engines() {
		t.Run(engine, func(t *testing.T) {
			for _, test := range []struct {
				name string
				run  func(*testing.T, *world)
			}{
				{"W6 a window that one action has left gathers for that action anew", testWindowOfEachAction},
				{"W6 a window that is sent by hand loses nothing that comes after", testWindowByHand},
				{"W6 a window in another order than its actions carries the same", testWindowSame},
				{"W6 what cannot be carried out holds up nobody", testEndedInBulk},
				{"W6 an ordered workflow runs one at a time, whoever retries by hand", testOrderedByHand},
				{"W6 each row of deaths is told of", testDeathsToldAgain},
				{"W6 an execution that kills whoever tries is told of", testKillerToldOf},
				{"W8 failures of our own network are forgiven to workflows", testForgiveWorkflows},
				{"W4 a part that is missing is looked for again though nothing changed", testFaultLookedForAgain},
				{"W2 a source that a workflow wants is not removed", testWantedSourceStays},
				{"W2 the source of a workflow that is switched off outlasts retention", testSourceOutlastsRetention},
				{"W2 a document that joins the river as a feed is read as one", testDocumentBecomesFeed},
				{"F3 a workflow whose source moved stays with it", testMovedStays},
			} {
				t.Run(test.name, func(t *testing.T) { test.run(t, newWorld(t, engine)) })
			}
		})
	}
}

// windowed is a workflow with two actions that gathers for an hour.
func (w *world) windowed() freshet.Workflow {
	return w.workflow(func(d *freshet.Definition) {
		d.Batch, d.WindowMinutes = freshet.BatchWindow, 60
		d.Actions = append(d.Actions, freshet.Action{Type: freshet.Notify, URL: "ntfy://ntfy.sh/x"})
	})
}

// carried are the titles that each action of a workflow was given, in the order of its executions.
func (w *world) carried(of freshet.ID) map[string][]string {
	w.Helper()
	carried := map[string][]string{}
	for _, e := range w.executions(of) {
		titles := w.titles(e)
		slices.Reverse(titles) // feeds begin with the newest
		carried[e.Action] = append(carried[e.Action], titles...)
	}
	return carried
}

func (w *world) eachOnce(of freshet.ID, actions []string, names ...string) {
	w.Helper()
	var want []string
	for _, name := range names {
		want = append(want, "Title of "+name)
	}
	carried := w.carried(of)
	for _, action := range actions {
		w.equal("given to "+action, carried[action], want)
	}
}

func testWindowOfEachAction(t *testing.T, w *world) {
	flow := w.windowed()
	w.read(flow.Source, w.articles("a")...)
	// A receiver put the first action off, so its window is open longer than the other's.
	first := w.executions(flow.ID)[0]
	_, err := w.writer.Exec("update executions set due_at = due_at + 7200000 where id = " + first.ID.String())
	w.must(err)
	w.now = w.now.Add(time.Hour)
	w.equal("claimed", len(w.claimExecutions()), 1)
	w.read(flow.Source, w.articles("b", "a")...)
	w.eachOnce(flow.ID, []string{"a1", "a2"}, "a", "b")

	// An action that is added while a window is open gathers from then on.
	d := w.theWorkflow(flow.ID).Definition
	d.Actions = append(d.Actions, freshet.Action{Type: freshet.Notify, URL: "ntfy://ntfy.sh/y"})
	_, err = w.ReplaceWorkflow(bg, flow.ID, d, w.now)
	w.must(err)
	w.read(flow.Source, w.articles("c", "b", "a")...)
	w.eachOnce(flow.ID, []string{"a1", "a2"}, "a", "b", "c")
	w.eachOnce(flow.ID, []string{"a3"}, "c")
}

func testWindowByHand(t *testing.T, w *world) {
	flow := w.windowed()
	w.read(flow.Source, w.articles("a")...)
	list := w.executions(flow.ID)
	_, err := w.RetryExecution(bg, list[0].ID, w.now) // send it now
	w.must(err)
	w.read(flow.Source, w.articles("b", "a")...)
	w.eachOnce(flow.ID, []string{"a1", "a2"}, "a", "b")
	_, err = w.CancelExecution(bg, list[1].ID, w.now)
	w.must(err)
	w.read(flow.Source, w.articles("c", "b", "a")...)
	w.eachOnce(flow.ID, []string{"a1", "a2"}, "a", "b", "c")
	w.equal("in what was sent", w.titles(w.executions(flow.ID)[0]), []string{"Title of a"})
}

func testWindowSame(t *testing.T, w *world) {
	flow := w.windowed()
	w.read(flow.Source, w.articles("a")...)
	w.reopen() // killed in the middle of the window
	w.read(flow.Source, w.articles("b", "a")...)
	w.read(flow.Source, w.articles("c", "b", "a")...)
	list := w.executions(flow.ID)
	w.equal("executions", len(list), 2)
	w.equal("data of both", string(list[0].Data), string(list[1].Data))
	w.eachOnce(flow.ID, []string{"a1", "a2"}, "a", "b", "c")
}

func testEndedInBulk(t *testing.T, w *world) {
	flow := w.workflow(func(d *freshet.Definition) { d.Batch = freshet.BatchItem })
	var names []string
	for _, letter := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
		names = append(names, letter)
	}
	w.read(flow.Source, w.articles(names...)...)
	d := flow.Definition
	d.Actions = []freshet.Action{{Type: freshet.Notify, URL: "ntfy://ntfy.sh/x"}}
	_, err := w.ReplaceWorkflow(bg, flow.ID, d, w.now)
	w.must(err)
	other := w.workflow(func(d *freshet.Definition) { d.Trigger.Config.URL = "https://other.example/feed" })
	w.read(other.Source, w.articles("z")...)
	claimed, err := w.ClaimExecutions(bg, "me", 4, 4, nil, time.Minute, w.now)
	w.must(err)
	w.equal("claimed", len(claimed), 1)
	w.equal("waiting for nothing", w.count("select count(*) from executions where state = 'queued'"), 0)
}

func testOrderedByHand(t *testing.T, w *world) {
	flow := w.workflow(func(d *freshet.Definition) { d.Batch, d.Ordered = freshet.BatchItem, true })
	w.read(flow.Source, w.articles("b", "a")...)
	first := w.claimExecutions()[0]
	w.attempted(first, freshet.Attempt{Error: "It cannot work.", Final: true})
	second := w.claimExecutions()[0]
	_, err := w.RetryExecution(bg, first.ID, w.now)
	w.must(err)
	w.equal("beside the one that runs", len(w.claimExecutions()), 0)
	w.now = w.now.Add(time.Minute) // whoever ran the second one has died
	again := w.claimExecutions()
	w.equal("claimed", len(again), 1)
	w.equal("the earlier one first", again[0].ID, first.ID)
	w.attempted(again[0], freshet.Attempt{})
	last := w.claimExecutions()
	w.equal("then", len(last), 1)
	w.equal("then", last[0].ID, second.ID)
}

func testDeathsToldAgain(t *testing.T, w *world) {
	flow := w.workflow(func(d *freshet.Definition) { d.Batch = freshet.BatchItem })
	w.read(flow.Source, w.articles("d", "c", "b", "a")...)
	dies := freshet.Attempt{Error: "It cannot work.", Final: true}
	for i, a := range []freshet.Attempt{dies, dies, {}, dies} {
		claimed, err := w.ClaimExecutions(bg, "me", 1, 1, nil, time.Minute, w.now)
		w.must(err)
		w.attempted(claimed[0], a)
		notices, err := w.Notices(bg, 10)
		w.must(err)
		w.equal("notices", len(notices), []int{1, 1, 1, 2}[i])
	}
	w.equal("workflow", w.theWorkflow(flow.ID).Enabled, true)
}

func testKillerToldOf(t *testing.T, w *world) {
	flow := w.workflow(nil)
	w.read(flow.Source, w.articles("a")...)
	for range 30 {
		w.claimExecutions()
		w.now = w.now.Add(time.Minute)
	}
	w.equal("state", w.executions(flow.ID)[0].State, freshet.Dead)
	notices, err := w.Notices(bg, 10)
	w.must(err)
	w.equal("notices", len(notices), 1)
}

func testForgiveWorkflows(t *testing.T, w *world) {
	w.settings.Alerts = 1
	w.reopen()
	unreached := freshet.Failure{Class: freshet.Permanent, Code: "no_such_host", Sentence: "No such host.", Unreached: true}
	flow := w.workflow(nil)
	rests := w.workflow(func(d *freshet.Definition) { d.OnRecovery = freshet.Resume })
	fresh := w.workflow(func(d *freshet.Definition) { d.Trigger.Config.URL = "https://other.example/feed" })
	for range 4 {
		w.fails(flow.Source, unreached)
	}
	w.fails(fresh.Source, unreached)
	w.equal("enabled", w.theWorkflow(flow.ID).Enabled, false)
	again := w.now.Add(30 * time.Second)
	w.must(w.Forgive(bg, []freshet.ID{flow.Source, fresh.Source}, again))
	for _, id := range []freshet.ID{flow.ID, rests.ID} {
		got := w.theWorkflow(id)
		w.equal("the one that it had switched off", []any{got.Enabled, got.DisabledReason, got.State.Failures, got.State.Resting}, []any{true, "", 3, false})
	}
	got := w.theWorkflow(fresh.ID)
	w.equal("the other", []any{got.Enabled, got.State.Failures, got.State.LastError}, []any{true, 0, ""})
	src := w.source(flow.Source)
	w.equal("its source", []any{src.Asked, src.NextPollAt, src.Failures}, []any{10 * time.Minute, again, 3})
	w.equal("alerts of what did not happen", w.count("select count(*) from executions where kind = 'alert' and due_at is not null"), 0)
	w.fails(flow.Source, timeout)
	w.equal("the fourth of its own", w.theWorkflow(flow.ID).Enabled, false)

	// One that a person switched off meanwhile stays off.
	w.fails(fresh.Source, unreached)
	_, err := w.SwitchWorkflow(bg, fresh.ID, false, w.now)
	w.must(err)
	w.must(w.Forgive(bg, []freshet.ID{fresh.Source}, again))
	w.equal("enabled", w.theWorkflow(fresh.ID).Enabled, false)
}

func testFaultLookedForAgain(t *testing.T, w *world) {
	part := freshet.Part{Selector: ".price"}
	flow := w.workflow(func(d *freshet.Definition) {
		d.Trigger.Config.ContentType, d.Trigger.Config.Part = freshet.ContentHTTP, part
	})
	w.now = w.now.Add(time.Minute)
	w.finish(flow.Source, &freshet.Outcome{Status: 200, BodyHash: "w", ETag: `"w"`, Contents: []freshet.Content{freshet.NewContent(part, "", "12")}})
	w.equal("validator", w.source(flow.Source).Cursor.ETag, `"w"`)
	w.finish(flow.Source, &freshet.Outcome{Status: 200, BodyHash: "x", ETag: `"x"`, Contents: []freshet.Content{{Part: part, Fault: "Nothing matches."}}})
	src := w.source(flow.Source)
	w.equal("validators", []string{src.Cursor.ETag, src.Cursor.BodyHash}, []string{"", ""})
	w.equal("failures", w.theWorkflow(flow.ID).State.Failures, 1)
}

func testWantedSourceStays(t *testing.T, w *world) {
	w.add(watchedURL)
	flow := w.workflow(nil)
	w.must(w.RemoveSource(bg, flow.Source, w.now)) // out of the river
	w.is(w.RemoveSource(bg, flow.Source, w.now), freshet.ErrNotFound)
	w.read(flow.Source, w.articles("a")...)
	w.equal("executions", len(w.executions(flow.ID)), 1)
}

func testSourceOutlastsRetention(t *testing.T, w *world) {
	w.add(watchedURL)
	flow := w.workflow(nil)
	_, err := w.SwitchWorkflow(bg, flow.ID, false, w.now)
	w.must(err)
	w.must(w.RemoveSource(bg, flow.Source, w.now))
	w.now = w.now.Add(60 * 24 * time.Hour)
	for {
		n, err := w.Retain(bg, w.now, 100)
		w.must(err)
		if n == 0 {
			break
		}
	}
	_, err = w.SwitchWorkflow(bg, flow.ID, true, w.now)
	w.must(err)
	flow = w.theWorkflow(flow.ID)
	w.read(flow.Source, w.articles("a")...)
	w.equal("executions", len(w.executions(flow.ID)), 1)
	w.must(w.DeleteWorkflow(bg, flow.ID, w.now))
}

func testDocumentBecomesFeed(t *testing.T, w *world) {
	flow := w.workflow(func(d *freshet.Definition) { d.Trigger.Config.ContentType = freshet.ContentHTTP })
	w.now = w.now.Add(time.Minute)
	w.finish(flow.Source, &freshet.Outcome{Status: 200, BodyHash: "x", ETag: `"x"`, Contents: []freshet.Content{freshet.NewContent(freshet.Part{}, "", "x")}})
	w.equal("type", w.source(flow.Source).Type, freshet.HTTP)
	shown := w.addNew(NewSource{URL: watchedURL, AtOnce: true})
	w.equal("one source", shown.ID, flow.Source)
	src := w.source(flow.Source)
	w.equal("read", []any{src.Type, src.Cursor.ETag, src.Cursor.BodyHash, src.NextPollAt, src.Parts}, []any{freshet.RSS, "", "", w.now, []freshet.Part{{}}})
}

func testMovedStays(t *testing.T, w *world) {
	flow := w.workflow(nil)
	w.read(flow.Source, w.articles("a")...)
	for range 3 {
		w.now = w.now.Add(time.Minute)
		w.finish(flow.Source, &freshet.Outcome{Status: 200, Posts: w.articles("a"), MovedTo: "https://new.example/feed", BodyHash: "x"})
	}
	w.equal("address", w.source(flow.Source).URL, "https://new.example/feed")
	for _, on := range []bool{false, true} {
		_, err := w.SwitchWorkflow(bg, flow.ID, on, w.now)
		w.must(err)
	}
	w.equal("source", w.theWorkflow(flow.ID).Source, flow.Source)
	w.equal("sources", w.count("select count(*) from sources"), 1)
	w.read(flow.Source, w.articles("b", "a")...)
	w.equal("executions", len(w.executions(flow.ID)), 2)
}
