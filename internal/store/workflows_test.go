package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"freshet"
)

// TestWorkflows is what both databases must do for workflows (SPEC.md section 7). Each test has a database of its own.
func TestWorkflows(t *testing.T) {
	for _, engine := range engines() {
		t.Run(engine, func(t *testing.T) {
			for _, test := range []struct {
				name string
				run  func(*testing.T, *world)
			}{
				{"W1 a workflow is kept, read, replaced, listed and deleted", testWorkflowLife},
				{"W1 a definition that cannot be used leaves nothing", testBadWorkflow},
				{"W2 a source that only a workflow asked for is hidden and polled as it says", testWorkflowSource},
				{"W2 workflows, the river and a refresh share one fetch", testSharedFetch},
				{"W4 what is new makes one execution in the poll's transaction", testFires},
				{"W4 a workflow that begins sees the whole document", testSeesAll},
				{"W4 baseline starts silently", testBaseline},
				{"W4 a change of a document fires with what changed", testContentFires},
				{"W6 one execution an entry, oldest first", testPerItem},
				{"W6 a window gathers what comes within it", testWindow},
				{"W6 an execution is claimed, fails, is tried again and succeeds", testDelivery},
				{"W6 what was claimed and not finished is claimed again", testAbandoned},
				{"W6 dead executions are told of once and retried by hand", testDead},
				{"W6 order is kept when asked for", testOrdered},
				{"W6 executions end after a month", testExecutionsRetained},
				{"W7 a receiver that is gone switches its action off", testReceiverGone},
				{"W7 a receiver's wish to wait holds for all that waits for it", testReceiverWaits},
				{"W7 a worker leases, acks and nacks", testPull},
				{"W8 four failing polls switch each workflow off by its own count", testFailures},
				{"W8 a workflow that may recover does", testRecovers},
				{"W8 a source that is gone switches its workflows off", testSourceGone},
				{"W9 a workflow deleted while its poll is under way makes no execution", testDeletedMidPoll},
				{"W9 enabling, disabling and changing move the schedule at once", testWorkflowSchedule},
				{"F3 workflows follow a source that moves onto another", testWorkflowsMove},
			} {
				t.Run(test.name, func(t *testing.T) { test.run(t, newWorld(t, engine)) })
			}
		})
	}
}

const watchedURL = "https://news.example/feed.xml"

func definition(change func(*freshet.Definition)) freshet.Definition {
	d := freshet.Definition{
		Name: "News to the queue", Enabled: true,
		Trigger: freshet.Trigger{Type: "poll", Config: freshet.TriggerConfig{URL: watchedURL, IntervalMinutes: 10, ContentType: freshet.ContentRSS}},
		Actions: []freshet.Action{{Type: freshet.Webhook, URL: "https://hooks.example/in"}},
	}
	if change != nil {
		change(&d)
	}
	return d
}

func (w *world) workflow(change func(*freshet.Definition)) freshet.Workflow {
	w.Helper()
	added, err := w.AddWorkflow(bg, definition(change), w.now)
	w.must(err)
	return added
}

func (w *world) theWorkflow(id freshet.ID) freshet.Workflow {
	w.Helper()
	got, err := w.Workflow(bg, id)
	w.must(err)
	return got
}

// executions returns all of them, oldest first.
func (w *world) executions(of freshet.ID) []freshet.Execution {
	w.Helper()
	list, err := w.Executions(bg, ExecutionQuery{Workflow: of, Limit: 1000})
	w.must(err)
	slices.Reverse(list)
	return list
}

func (w *world) titles(e freshet.Execution) []string {
	w.Helper()
	var data freshet.TriggerData
	w.must(json.Unmarshal(e.Data, &data))
	titles := []string{}
	for _, item := range data.Items {
		titles = append(titles, item.Title)
	}
	return titles
}

func (w *world) claimExecutions() []freshet.Delivery {
	w.Helper()
	list, err := w.ClaimExecutions(bg, "me", 100, 100, nil, 30*time.Second, w.now)
	w.must(err)
	return list
}

func (w *world) attempted(d freshet.Delivery, a freshet.Attempt) freshet.Execution {
	w.Helper()
	a.N, a.StartedAt = d.Attempts, w.now
	list, err := w.FinishAttempts(bg, []freshet.Attempted{{Execution: d.ID, Attempt: a}}, w.now)
	w.must(err)
	if len(list) != 1 {
		w.Fatalf("%d attempts were recorded, want 1", len(list))
	}
	return list[0]
}

func (w *world) articles(names ...string) (posts []freshet.Post) {
	for _, name := range names {
		posts = append(posts, article(name, w.now.Add(-time.Hour)))
	}
	return posts
}

func testWorkflowLife(t *testing.T, w *world) {
	flow := w.workflow(nil)
	w.equal("action", flow.Actions[0].ID, "a1")
	if _, err := freshet.SigningKey(flow.Actions[0].Secret); err != nil {
		t.Errorf("the webhook has no secret: %v", err)
	}
	got := w.theWorkflow(flow.ID)
	w.equal("read", got.Definition, flow.Definition)
	w.equal("waiting", got.State.Waiting, true)

	d := definition(func(d *freshet.Definition) {
		d.Name = "Another name"
		d.Actions = []freshet.Action{got.Actions[0].Shown(), {Type: freshet.Notify, URL: "ntfy://ntfy.sh/topic"}}
	})
	replaced, err := w.ReplaceWorkflow(bg, flow.ID, d, w.now)
	w.must(err)
	w.equal("secret", replaced.Actions[0].Secret, flow.Actions[0].Secret)
	w.equal("ids", []string{replaced.Actions[0].ID, replaced.Actions[1].ID}, []string{"a1", "a2"})
	list, err := w.Workflows(bg)
	w.must(err)
	w.equal("listed", []string{list[0].Name}, []string{"Another name"})

	w.must(w.DeleteWorkflow(bg, flow.ID, w.now))
	_, err = w.Workflow(bg, flow.ID)
	w.is(err, freshet.ErrNotFound)
	w.is(w.DeleteWorkflow(bg, flow.ID, w.now), freshet.ErrNotFound)
	_, err = w.Source(bg, flow.Source)
	w.is(err, freshet.ErrNotFound)
}

func testBadWorkflow(t *testing.T, w *world) {
	_, err := w.AddWorkflow(bg, definition(func(d *freshet.Definition) {
		d.Name = ""
		d.Trigger.Config.URL, d.Trigger.Config.IntervalMinutes, d.Trigger.Config.ContentType = "ftp://news.example/feed", 4, "pdf"
		d.Filter = "title contains"
		d.Actions[0].Type = "pigeon"
	}), w.now)
	var bad freshet.FieldErrors
	if !errors.As(err, &bad) {
		t.Fatalf("the error is %v, want its fields", err)
	}
	var fields []string
	for _, f := range bad {
		fields = append(fields, f.Field)
	}
	w.equal("fields", fields, []string{"name", "trigger.config.url", "trigger.config.interval_minutes", "trigger.config.content_type", "actions[0].type", "filter"})
	w.equal("sources", w.count("select count(*) from sources"), 0)
	w.equal("workflows", w.count("select count(*) from workflows"), 0)

	flow := w.workflow(nil)
	_, err = w.ReplaceWorkflow(bg, flow.ID, definition(func(d *freshet.Definition) { d.Trigger.Config.IntervalMinutes = 4 }), w.now)
	if !errors.As(err, &bad) {
		t.Fatalf("the error is %v, want its fields", err)
	}
	w.equal("interval", w.theWorkflow(flow.ID).Trigger.Config.IntervalMinutes, 10.0)
}

func testWorkflowSource(t *testing.T, w *world) {
	flow := w.workflow(nil)
	src := w.source(flow.Source)
	w.equal("in the river", src.InRiver, false)
	w.equal("asked", src.Asked, 10*time.Minute)
	w.equal("due", src.NextPollAt, w.now)
	w.equal("shown to workflows", w.read(src.ID, w.articles("a")...).Shown, true)
	w.equal("river", len(w.river()), 0)
	w.equal("next", w.source(src.ID).NextPollAt, w.now.Add(10*time.Minute))
	plain := w.addNew(NewSource{URL: "https://plain.example/feed", Hidden: true})
	w.equal("shown to none", w.read(plain.ID, w.articles("b")...).Shown, false)

	// Added to the river it stays one source; removed from it the workflow goes on.
	shown := w.addNew(NewSource{URL: watchedURL, AtOnce: true})
	w.equal("one source", shown.ID, src.ID)
	w.equal("river", len(w.river()), 1)
	w.must(w.RemoveSource(bg, src.ID, w.now))
	src = w.source(src.ID)
	w.equal("in the river", src.InRiver, false)
	w.equal("still polled", src.NextPollAt.IsZero(), false)
}

func testSharedFetch(t *testing.T, w *world) {
	river := w.add(watchedURL)
	one := w.workflow(func(d *freshet.Definition) { d.Trigger.Config.IntervalMinutes = 5 })
	two := w.workflow(func(d *freshet.Definition) { d.Trigger.Config.IntervalMinutes = 60 })
	w.equal("sources", []freshet.ID{one.Source, two.Source}, []freshet.ID{river.ID, river.ID})
	_, err := w.StartRefresh(bg, freshet.ByHand, nil, w.now)
	w.must(err)
	claimed := w.claim()
	w.equal("requests", len(claimed), 1)
	w.read(river.ID, w.articles("a")...)
	w.equal("requests", len(w.claim()), 0)
	w.equal("next", w.source(river.ID).NextPollAt, w.now.Add(5*time.Minute))
	w.equal("fired", len(w.executions(one.ID))+len(w.executions(two.ID)), 2)
	_, err = w.SwitchWorkflow(bg, one.ID, false, w.now)
	w.must(err)
	w.equal("next", w.source(river.ID).NextPollAt, w.now.Add(15*time.Minute))
}

func testFires(t *testing.T, w *world) {
	flow := w.workflow(nil)
	w.read(flow.Source, w.articles("a", "b")...)
	list := w.executions(flow.ID)
	w.equal("executions", len(list), 1)
	w.equal("titles", w.titles(list[0]), []string{"Title of a", "Title of b"})
	w.equal("state", list[0].State, freshet.Queued)

	w.read(flow.Source, w.articles("b", "a")...)
	w.finish(flow.Source, &freshet.Outcome{Status: 304, Unchanged: true})
	w.equal("executions", len(w.executions(flow.ID)), 1)
	w.read(flow.Source, w.articles("c", "b", "a")...)
	list = w.executions(flow.ID)
	w.equal("titles", w.titles(list[1]), []string{"Title of c"})
	got := w.theWorkflow(flow.ID)
	w.equal("seen", got.Memory.IDs, []string{"https://news.example/id/c", "https://news.example/id/a", "https://news.example/id/b"})
	w.equal("checked", got.State.CheckedAt, w.now)

	// A poll that somebody else has taken over fires nothing.
	src := w.source(flow.Source)
	stale := &freshet.Outcome{At: w.now, Status: 200, Posts: w.articles("d")}
	freshet.Identify(stale.Posts, src.ID, src.Host)
	finished, err := w.FinishPolls(bg, []Poll{{src.ID, src.Seq - 1, stale}}, w.now)
	w.must(err)
	w.equal("recorded", finished[0].Recorded, false)
	w.equal("executions", len(w.executions(flow.ID)), 2)
}

func testSeesAll(t *testing.T, w *world) {
	river := w.add(watchedURL)
	w.now = w.now.Add(time.Minute)
	w.finish(river.ID, &freshet.Outcome{Status: 200, Posts: w.articles("a"), BodyHash: "1", ETag: `"1"`, LastModified: "then"})
	flow := w.workflow(nil)
	src := w.source(river.ID)
	w.equal("validators", []string{src.Cursor.ETag, src.Cursor.LastModified, src.Cursor.BodyHash}, []string{"", "", ""})
	w.equal("due", src.NextPollAt, w.now)
	w.read(river.ID, w.articles("a")...)
	w.equal("executions", len(w.executions(flow.ID)), 1)
	w.equal("items", len(w.river()), 1)
}

func testBaseline(t *testing.T, w *world) {
	flow := w.workflow(func(d *freshet.Definition) { d.Trigger.Config.FirstPoll = freshet.FirstBaseline })
	w.fails(flow.Source, timeout)
	w.read(flow.Source, w.articles("a", "b")...)
	w.equal("executions", len(w.executions(flow.ID)), 0)
	w.read(flow.Source, w.articles("c", "a", "b")...)
	list := w.executions(flow.ID)
	w.equal("executions", len(list), 1)
	w.equal("titles", w.titles(list[0]), []string{"Title of c"})
}

func testContentFires(t *testing.T, w *world) {
	part := freshet.Part{Selector: ".price"}
	flow := w.workflow(func(d *freshet.Definition) {
		d.Trigger.Config.ContentType, d.Trigger.Config.Part = freshet.ContentHTTP, part
	})
	src := w.source(flow.Source)
	w.equal("type", src.Type, freshet.HTTP)
	w.equal("parts", src.Parts, []freshet.Part{part})
	sees := func(text, fault string) {
		w.now = w.now.Add(time.Minute)
		c := freshet.NewContent(part, "", text)
		c.Fault = fault
		w.finish(flow.Source, &freshet.Outcome{Status: 200, BodyHash: text, Contents: []freshet.Content{c}})
	}
	sees("one\ntwo", "")
	sees("one\ntwo", "")
	sees("one\nthree", "")
	list := w.executions(flow.ID)
	w.equal("executions", len(list), 2)
	var data freshet.TriggerData
	w.must(json.Unmarshal(list[1].Data, &data))
	w.equal("content", *data.Content, "one\nthree")
	w.equal("changes", data.Changes, "- two\n+ three")
	w.equal("hash", w.theWorkflow(flow.ID).State.ContentHash, data.ContentHash)

	sees("", "Nothing matches.")
	got := w.theWorkflow(flow.ID)
	w.equal("failures", got.State.Failures, 1)
	w.equal("error", got.State.LastError, "Nothing matches.")
	w.equal("source", w.source(flow.Source).Failures, 0)
}

func testPerItem(t *testing.T, w *world) {
	flow := w.workflow(func(d *freshet.Definition) {
		d.Batch, d.Filter = freshet.BatchItem, `not (title endsWith "b")`
		d.Actions = append(d.Actions, freshet.Action{Type: freshet.Notify, URL: "ntfy://ntfy.sh/x"})
	})
	w.read(flow.Source, w.articles("c", "b", "a")...)
	var got []string
	for _, e := range w.executions(flow.ID) {
		got = append(got, e.Action+" "+strings.Join(w.titles(e), ","))
	}
	w.equal("executions", got, []string{"a1 Title of a", "a2 Title of a", "a1 Title of c", "a2 Title of c"})
}

func testWindow(t *testing.T, w *world) {
	flow := w.workflow(func(d *freshet.Definition) { d.Batch, d.WindowMinutes = freshet.BatchWindow, 60 })
	w.read(flow.Source, w.articles("a")...)
	opened := w.now
	w.read(flow.Source, w.articles("b", "a")...)
	list := w.executions(flow.ID)
	w.equal("executions", len(list), 1)
	w.equal("titles", w.titles(list[0]), []string{"Title of b", "Title of a"})
	w.equal("due", list[0].DueAt, opened.Add(time.Hour))
	w.equal("claimed", len(w.claimExecutions()), 0)
	w.now = opened.Add(time.Hour)
	claimed := w.claimExecutions()
	w.equal("claimed", len(claimed), 1)
	w.read(flow.Source, w.articles("c", "b", "a")...)
	list = w.executions(flow.ID)
	w.equal("executions", len(list), 2)
	w.equal("titles", w.titles(list[1]), []string{"Title of c"})
}

func testDelivery(t *testing.T, w *world) {
	flow := w.workflow(nil)
	w.read(flow.Source, w.articles("a")...)
	d := w.claimExecutions()[0]
	w.equal("name", d.WorkflowName, flow.Name)
	w.equal("action", d.Do, flow.Actions[0])
	w.equal("written before it is made", w.executions(flow.ID)[0].State, freshet.Running)
	w.equal("twice", len(w.claimExecutions()), 0)

	e := w.attempted(d, freshet.Attempt{Error: "It said 500.", Status: 500, Answer: "oh", Took: 20 * time.Millisecond})
	w.equal("state", e.State, freshet.Retrying)
	w.equal("due", e.DueAt, w.now.Add(5*time.Second+500*time.Millisecond)) // Random is 0.5, the jitter a fifth
	w.equal("too early", len(w.claimExecutions()), 0)
	next, err := w.NextExecution(bg)
	w.must(err)
	w.equal("next", next, e.DueAt)
	w.now = e.DueAt
	again := w.claimExecutions()[0]
	w.equal("id", again.ID, d.ID)
	w.equal("data", string(again.Data), string(d.Data))
	w.attempted(again, freshet.Attempt{Status: 204})

	e, attempts, err := w.Execution(bg, d.ID)
	w.must(err)
	w.equal("state", e.State, freshet.Succeeded)
	w.equal("attempts", fmt.Sprintf("%+v", attempts), fmt.Sprintf("%+v", []freshet.Attempt{
		{N: 1, StartedAt: e.CreatedAt, Took: 20 * time.Millisecond, Status: 500, Error: "It said 500.", Answer: "oh"},
		{N: 2, StartedAt: w.now, Status: 204}}))
	// An attempt that comes late changes nothing.
	late, err := w.FinishAttempts(bg, []freshet.Attempted{{Execution: d.ID, Attempt: freshet.Attempt{N: 1, Error: "late"}}}, w.now)
	w.must(err)
	w.equal("late", len(late), 0)
}

func testAbandoned(t *testing.T, w *world) {
	flow := w.workflow(nil)
	w.read(flow.Source, w.articles("a")...)
	first := w.claimExecutions()[0]
	w.now = w.now.Add(29 * time.Second)
	w.equal("leased", len(w.claimExecutions()), 0)
	w.now = w.now.Add(time.Second)
	second := w.claimExecutions()[0]
	w.equal("attempt", second.Attempts, 2)
	late, err := w.FinishAttempts(bg, []freshet.Attempted{{Execution: first.ID, Attempt: freshet.Attempt{N: first.Attempts}}}, w.now)
	w.must(err)
	w.equal("the first one's end counts", len(late), 0)
	w.attempted(second, freshet.Attempt{})
	e, attempts, err := w.Execution(bg, first.ID)
	w.must(err)
	w.equal("state", e.State, freshet.Succeeded)
	w.equal("attempts", len(attempts), 2)
	if attempts[0].Error == "" {
		t.Error("the abandoned attempt has no error")
	}
}

func testDead(t *testing.T, w *world) {
	w.settings.Alerts = 2
	w.reopen()
	flow := w.workflow(func(d *freshet.Definition) { d.Batch = freshet.BatchItem })
	w.read(flow.Source, w.articles("a", "b")...)
	claimed := w.claimExecutions()
	for _, d := range claimed {
		e := w.attempted(d, freshet.Attempt{Error: "It cannot work.", Final: true})
		w.equal("state", e.State, freshet.Dead)
	}
	notices, err := w.Notices(bg, 10)
	w.must(err)
	w.equal("notices", len(notices), 1)
	w.equal("kind", notices[0].Kind, freshet.ExecutionDead)
	w.equal("alerts", w.count("select count(*) from executions where kind = 'alert'"), 2)

	e, err := w.RetryExecution(bg, claimed[0].ID, w.now)
	w.must(err)
	w.equal("state", e.State, freshet.Queued)
	var again []freshet.Delivery
	for _, d := range w.claimExecutions() {
		if d.Kind == freshet.KindAlert {
			w.attempted(d, freshet.Attempt{Status: 204})
		} else {
			again = append(again, d)
		}
	}
	w.equal("again", len(again), 1)
	_, err = w.RetryExecution(bg, again[0].ID, w.now)
	w.is(err, freshet.ErrRunning)
	w.equal("attempt", again[0].Attempts, 2)
	w.attempted(again[0], freshet.Attempt{Status: 200})
}

func testOrdered(t *testing.T, w *world) {
	flow := w.workflow(func(d *freshet.Definition) { d.Batch, d.Ordered = freshet.BatchItem, true })
	other := w.workflow(func(d *freshet.Definition) { d.Batch = freshet.BatchItem })
	w.read(flow.Source, w.articles("c", "b", "a")...)
	of := func(list []freshet.Delivery, id freshet.ID) (titles []string, first freshet.Delivery) {
		for _, d := range list {
			if d.Workflow == id {
				titles = append(titles, w.titles(d.Execution)...)
				first = d
			}
		}
		return titles, first
	}
	claimed := w.claimExecutions()
	titles, first := of(claimed, flow.ID)
	w.equal("first", titles, []string{"Title of a"})
	unordered, _ := of(claimed, other.ID)
	w.equal("the other workflow", len(unordered), 3)
	titles, _ = of(w.claimExecutions(), flow.ID)
	w.equal("while it runs", len(titles), 0)
	e := w.attempted(first, freshet.Attempt{Error: "no"})
	w.now = e.DueAt
	titles, first = of(w.claimExecutions(), flow.ID)
	w.equal("tried again", titles, []string{"Title of a"})
	w.attempted(first, freshet.Attempt{})
	titles, _ = of(w.claimExecutions(), flow.ID)
	w.equal("then", titles, []string{"Title of b"})
}

func testExecutionsRetained(t *testing.T, w *world) {
	flow := w.workflow(func(d *freshet.Definition) { d.Batch = freshet.BatchItem })
	w.read(flow.Source, w.articles("a", "b")...)
	w.attempted(w.claimExecutions()[0], freshet.Attempt{})
	retain := func() {
		for {
			n, err := w.Retain(bg, w.now, 100)
			w.must(err)
			if n == 0 {
				return
			}
		}
	}
	w.now = w.now.Add(29 * 24 * time.Hour)
	retain()
	w.equal("executions", len(w.executions(flow.ID)), 2)
	w.now = w.now.Add(2 * 24 * time.Hour)
	retain()
	w.equal("executions", len(w.executions(flow.ID)), 1)
	w.equal("attempts", w.count("select count(*) from attempts"), 0)
}

func testReceiverGone(t *testing.T, w *world) {
	flow := w.workflow(func(d *freshet.Definition) { d.Batch = freshet.BatchItem })
	w.read(flow.Source, w.articles("a", "b", "c")...)
	claimed, err := w.ClaimExecutions(bg, "me", 1, 1, nil, time.Minute, w.now)
	w.must(err)
	w.attempted(claimed[0], freshet.Attempt{Status: 410, Error: "The receiver is gone (410).", Gone: true})
	w.equal("claimed", len(w.claimExecutions()), 0)
	w.read(flow.Source, w.articles("d", "a", "b", "c")...)
	for _, e := range w.executions(flow.ID) {
		w.equal("state", e.State, freshet.Dead) // visible, none lost
	}
	w.equal("action", w.theWorkflow(flow.ID).Actions[0].Disabled, "The receiver is gone (410).")
	notices, err := w.Notices(bg, 10)
	w.must(err)
	w.equal("notices", len(notices), 1)
	w.equal("kind", notices[0].Kind, freshet.ActionDisabled)

	_, err = w.RetryExecution(bg, claimed[0].ID, w.now)
	w.must(err)
	w.equal("action", w.theWorkflow(flow.ID).Actions[0].Disabled, "")
	w.equal("claimed", len(w.claimExecutions()), 1)
}

func testReceiverWaits(t *testing.T, w *world) {
	flow := w.workflow(func(d *freshet.Definition) { d.Batch = freshet.BatchItem })
	w.read(flow.Source, w.articles("a", "b", "c")...)
	claimed, err := w.ClaimExecutions(bg, "me", 1, 1, nil, time.Minute, w.now)
	w.must(err)
	until := w.now.Add(10 * time.Minute)
	w.attempted(claimed[0], freshet.Attempt{Status: 429, Error: "Too many.", RetryAfter: until})
	w.equal("claimed", len(w.claimExecutions()), 0)
	w.now = until
	again := w.claimExecutions()
	w.equal("claimed", len(again), 3)
	// One that has failed often waits for hours; the others for as long as the receiver asks, and no longer.
	until = w.now.Add(time.Minute)
	for _, d := range slices.Backward(again) {
		a := freshet.Attempt{Status: 503, Error: "Busy."}
		if d.ID == claimed[0].ID {
			a.RetryAfter = until
		}
		w.attempted(d, a)
	}
	var due []time.Duration
	for _, e := range w.executions(flow.ID) {
		due = append(due, e.DueAt.Sub(w.now))
	}
	w.equal("order", again[0].ID, claimed[0].ID)
	w.equal("they wait", due, []time.Duration{5*time.Minute + 30*time.Second, time.Minute, time.Minute})
}

func testPull(t *testing.T, w *world) {
	flow := w.workflow(func(d *freshet.Definition) { d.Batch, d.Actions = freshet.BatchItem, nil })
	w.read(flow.Source, w.articles("b", "a")...)
	w.equal("the runner's", len(w.claimExecutions()), 0)
	lease := func(id freshet.ID) []freshet.Delivery {
		list, err := w.LeaseExecutions(bg, "worker", id, 1, time.Minute, w.now)
		w.must(err)
		return list
	}
	first, second := lease(flow.ID), lease(0)
	w.equal("leased", append(w.titles(first[0].Execution), w.titles(second[0].Execution)...), []string{"Title of a", "Title of b"})
	w.equal("empty", len(lease(flow.ID)), 0)
	_, err := w.EndLease(bg, first[0].ID, freshet.Attempt{N: 1}, w.now)
	w.must(err)
	again, err := w.EndLease(bg, first[0].ID, freshet.Attempt{N: 1}, w.now.Add(time.Hour)) // the answer was lost
	w.must(err)
	w.equal("told again", []any{again.State, again.DoneAt, again.Attempts}, []any{freshet.Succeeded, w.now, 1})
	for _, other := range []freshet.Attempt{{N: 2}, {N: 1, Error: "no"}} {
		_, err = w.EndLease(bg, first[0].ID, other, w.now)
		w.is(err, freshet.ErrLeaseLost)
	}
	_, err = w.EndLease(bg, second[0].ID, freshet.Attempt{N: 1, Error: "busy"}, w.now)
	w.must(err)
	w.now = w.now.Add(time.Minute)
	third := lease(flow.ID)
	w.equal("again", w.titles(third[0].Execution), []string{"Title of b"})
	w.now = w.now.Add(time.Minute)
	taken := lease(flow.ID)
	w.equal("attempt", taken[0].Attempts, 3)
	_, err = w.EndLease(bg, third[0].ID, freshet.Attempt{N: third[0].Attempts}, w.now)
	w.is(err, freshet.ErrLeaseLost)
}

func testFailures(t *testing.T, w *world) {
	w.settings.Alerts = 1
	w.reopen()
	w.add(watchedURL)
	early := w.workflow(nil)
	w.fails(early.Source, timeout)
	late := w.workflow(nil)
	for range 3 {
		w.equal("enabled", w.theWorkflow(early.ID).Enabled, true)
		w.fails(early.Source, timeout)
	}
	got := w.theWorkflow(early.ID)
	w.equal("enabled", got.Enabled, false)
	w.equal("reason", got.DisabledReason, "4 polls in a row failed. The last: It took too long.")
	w.equal("the other one", []any{w.theWorkflow(late.ID).Enabled, w.theWorkflow(late.ID).State.Failures}, []any{true, 3})
	w.fails(early.Source, timeout)
	w.equal("the other one", w.theWorkflow(late.ID).Enabled, false)

	alerts := w.claimExecutions()
	w.equal("alerts", len(alerts), 2)
	for _, want := range []string{early.Name, watchedURL, "4", "It took too long."} {
		if !strings.Contains(string(alerts[0].Data), want) {
			t.Errorf("the alert %s does not say %q", alerts[0].Data, want)
		}
	}
	w.equal("the river goes on", w.source(early.Source).NextPollAt.IsZero(), false)
	w.fails(early.Source, timeout)
	w.equal("alerts", w.count("select count(*) from executions where kind = 'alert'"), 2)

	_, err := w.SwitchWorkflow(bg, early.ID, true, w.now)
	w.must(err)
	got = w.theWorkflow(early.ID)
	w.equal("failures", []any{got.Enabled, got.State.Failures, got.DisabledReason}, []any{true, 0, ""})
	w.equal("due", w.source(early.Source).NextPollAt, w.now)
}

func testRecovers(t *testing.T, w *world) {
	rests := w.workflow(func(d *freshet.Definition) { d.OnRecovery = freshet.Resume })
	stays := w.workflow(func(d *freshet.Definition) { d.Trigger.Config.URL = "https://other.example/feed" })
	for range 4 {
		w.fails(rests.Source, timeout)
		w.fails(stays.Source, timeout)
	}
	w.equal("on its ladder", w.source(rests.Source).NextPollAt.IsZero(), false)
	w.equal("nobody waits", w.source(stays.Source).NextPollAt.IsZero(), true)
	w.fails(rests.Source, timeout)
	w.read(rests.Source, w.articles("a")...)
	got := w.theWorkflow(rests.ID)
	w.equal("enabled", []any{got.Enabled, got.State.Failures}, []any{true, 0})
	w.equal("fired", len(w.executions(rests.ID)), 1)
	notices, err := w.Notices(bg, 10)
	w.must(err)
	w.equal("notice", notices[0].Kind, freshet.WorkflowRecovered)
	w.equal("notices", len(notices), 3)

	_, err = w.SwitchWorkflow(bg, stays.ID, true, w.now)
	w.must(err)
	w.equal("due", w.source(stays.Source).NextPollAt, w.now)
}

func testSourceGone(t *testing.T, w *world) {
	flow := w.workflow(nil)
	w.fails(flow.Source, freshet.Failure{Class: freshet.Permanent, Code: "http_410", Status: 410, Sentence: "It is gone.", Gone: true})
	got := w.theWorkflow(flow.ID)
	w.equal("enabled", got.Enabled, false)
	if !strings.Contains(got.DisabledReason, "410") {
		t.Errorf("the reason is %q", got.DisabledReason)
	}
	_, err := w.SwitchWorkflow(bg, flow.ID, true, w.now)
	w.must(err)
	w.equal("source", w.source(flow.Source).Enabled, true)
}

func testDeletedMidPoll(t *testing.T, w *world) {
	flow := w.workflow(nil)
	claimed := w.claim()
	w.must(w.DeleteWorkflow(bg, flow.ID, w.now))
	o := &freshet.Outcome{At: w.now, Status: 200, Posts: w.articles("a")}
	freshet.Identify(o.Posts, claimed[0].Source.ID, claimed[0].Source.Host)
	_, err := w.FinishPolls(bg, []Poll{{claimed[0].Source.ID, claimed[0].Source.Seq, o}}, w.now)
	w.must(err)
	w.equal("executions", w.count("select count(*) from executions"), 0)

	// What waited is cancelled.
	flow = w.workflow(nil)
	w.read(flow.Source, w.articles("b")...)
	w.must(w.DeleteWorkflow(bg, flow.ID, w.now))
	w.equal("state", w.executions(flow.ID)[0].State, freshet.Cancelled)
	w.equal("claimed", len(w.claimExecutions()), 0)
}

func testWorkflowSchedule(t *testing.T, w *world) {
	flow := w.workflow(nil)
	w.read(flow.Source, w.articles("a")...)
	w.equal("created", w.source(flow.Source).NextPollAt, w.now.Add(10*time.Minute))
	change := func(change func(*freshet.Definition)) {
		_, err := w.ReplaceWorkflow(bg, flow.ID, definition(change), w.now)
		w.must(err)
	}
	change(func(d *freshet.Definition) { d.Trigger.Config.IntervalMinutes = 30 })
	w.equal("updated", w.source(flow.Source).NextPollAt, w.now.Add(30*time.Minute))
	change(func(d *freshet.Definition) { d.Enabled = false })
	w.equal("disabled", w.source(flow.Source).NextPollAt.IsZero(), true)
	w.equal("claimed", len(w.claim()), 0)
	change(nil)
	w.equal("enabled", w.source(flow.Source).NextPollAt, w.now)
	w.read(flow.Source, w.articles("b", "a")...)
	w.equal("what came meanwhile", w.titles(w.executions(flow.ID)[1]), []string{"Title of b"})

	before := flow.Source
	change(func(d *freshet.Definition) { d.Trigger.Config.URL = "https://other.example/feed" })
	_, err := w.Source(bg, before)
	w.is(err, freshet.ErrNotFound)
	after := w.theWorkflow(flow.ID)
	w.equal("another address", []any{after.State.Waiting, len(after.Memory.IDs)}, []any{true, 0})
	w.equal("due", w.source(after.Source).NextPollAt, w.now)
}

func testWorkflowsMove(t *testing.T, w *world) {
	flow := w.workflow(nil)
	w.read(flow.Source, w.articles("a")...)
	other := w.add("https://new.example/feed")
	w.read(other.ID, w.articles("a")...)
	for range 3 {
		w.now = w.now.Add(time.Minute)
		w.finish(flow.Source, &freshet.Outcome{Status: 200, Posts: w.articles("a"), MovedTo: "https://new.example/feed", BodyHash: "x"})
	}
	got := w.theWorkflow(flow.ID)
	w.equal("source", got.Source, other.ID)
	w.equal("asked", w.source(other.ID).Asked, 10*time.Minute)
	w.read(other.ID, w.articles("b", "a")...)
	list := w.executions(flow.ID)
	w.equal("executions", len(list), 2)
	w.equal("titles", w.titles(list[1]), []string{"Title of b"})
}
