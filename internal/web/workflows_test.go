package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"freshet"
	"freshet/internal/store"
)

// workflowCalls are the calls about workflows and executions (SPEC.md section 6).
var workflowCalls = []string{
	"GET /api/workflows", "POST /api/workflows", "POST /api/workflows/dry-run", "GET /api/workflows/{id}", "PUT /api/workflows/{id}",
	"DELETE /api/workflows/{id}", "PATCH /api/workflows/{id}/enabled", "POST /api/workflows/{id}/test", "GET /api/workflows/{id}/executions",
	"GET /api/executions", "GET /api/executions/{id}", "POST /api/executions/{id}/retry", "POST /api/executions/{id}/cancel",
	"POST /api/executions/lease", "POST /api/executions/{id}/ack", "POST /api/executions/{id}/nack",
}

// w1 is the example of SPEC.md W1.
const w1 = `{"name": "Releases", "enabled": true, "trigger": {"type": "poll", "config": {"url": "https://example.org/feed", "interval_minutes": 15, "content_type": "rss"}}, "actions": []}`

func (s *site) addWorkflow(body string) string {
	s.t.Helper()
	return s.want(201, "POST", "/api/workflows", body).text("id")
}

func TestAddWorkflow(t *testing.T) {
	s := newSite(t, nil)
	a := s.want(201, "POST", "/api/workflows", w1)
	if got, want := a.Header().Get("Location"), "/api/workflows/"+a.text("id"); got != want {
		t.Errorf("Location %q, want %q", got, want)
	}
	for field, want := range map[string]any{"name": "Releases", "enabled": true, "disabled_reason": nil, "batch": "poll"} {
		if got := a.at(field); got != want {
			t.Errorf("%s is %v, want %v", field, got, want)
		}
	}
	if a.number("trigger", "config", "interval_minutes") != 15 || a.text("trigger", "config", "first_poll") != "all" {
		t.Errorf("config %v", a.at("trigger", "config"))
	}
	var state []string
	for name := range a.at("state").(map[string]any) {
		state = append(state, name)
	}
	slices.Sort(state)
	if want := []string{"consecutive_failures", "last_checked_at", "last_content_hash", "last_error", "seen_item_ids"}; !slices.Equal(state, want) {
		t.Errorf("state has %q, want %q (W3)", state, want)
	}
	if a.text("next_poll_at") == "" || a.text("next_poll_reason") == "" || a.text("source_id") == "" {
		t.Errorf("not scheduled (W9): %s", a.Body)
	}
	if s.kicks != 1 {
		t.Errorf("the scheduler was woken %d times, want once", s.kicks)
	}
	if n := len(s.want(200, "GET", "/api/workflows", "").list("workflows")); n != 1 {
		t.Errorf("%d workflows are listed, want 1", n)
	}
	if n := len(s.want(200, "GET", "/api/items", "").list("items")); n != 0 {
		t.Errorf("%d items in the river of a source that only a workflow asked for (W2)", n)
	}
}

// What is left out takes its default.
func TestAddWorkflowDefaults(t *testing.T) {
	s := newSite(t, nil)
	a := s.want(201, "POST", "/api/workflows", `{"name": "x", "trigger": {"config": {"url": "https://example.org/feed"}}}`)
	if a.at("enabled") != true || a.text("trigger", "type") != "poll" || a.number("trigger", "config", "interval_minutes") != 15 ||
		a.text("trigger", "config", "content_type") != "rss" || a.at("actions") == nil {
		t.Errorf("defaults: %s", a.Body)
	}
	if a := s.want(201, "POST", "/api/workflows", `{"name": "x", "enabled": false, "trigger": {"config": {"url": "https://example.org/feed"}}}`); a.at("enabled") != false || a.at("next_poll_at") != nil {
		t.Errorf("false is not kept: %s", a.Body)
	}
}

func TestAddWorkflowWarns(t *testing.T) {
	s := newSite(t, nil)
	a := s.want(201, "POST", "/api/workflows", `{"name": "x", "trigger": {"config": {"url": "http://example.org/feed"}}}`)
	if got := a.text("warnings", 0); !strings.Contains(got, "http") {
		t.Errorf("warnings %v, want one about http (W1)", a.at("warnings"))
	}
}

// W1: unknown fields, wrong types and impossible values are refused field by field, all at once, and nothing is kept.
func TestBadWorkflow(t *testing.T) {
	workflow := func(config, rest string) string {
		return `{"name": "x", "trigger": {"type": "poll", "config": {` + config + `}}` + rest + `}`
	}
	const good = `"url": "https://example.org/feed"`
	tests := map[string]struct {
		body string
		want []string
	}{
		"nothing":              {`{}`, []string{"body.name", "body.trigger"}},
		"interval too short":   {workflow(good+`, "interval_minutes": 4`, ""), []string{"body.trigger.config.interval_minutes"}},
		"interval is text":     {workflow(good+`, "interval_minutes": "15"`, ""), []string{"body.trigger.config.interval_minutes"}},
		"no URL":               {workflow(``, ""), []string{"body.trigger.config.url"}},
		"ftp URL":              {workflow(`"url": "ftp://example.org/feed"`, ""), []string{"body.trigger.config.url"}},
		"unknown content type": {workflow(good+`, "content_type": "csv"`, ""), []string{"body.trigger.config.content_type"}},
		"unknown action":       {workflow(good, `, "actions": [{"type": "fax", "url": "https://a.example"}]`), []string{"body.actions[0].type"}},
		"filter is none":       {workflow(good, `, "filter": "title contains"`), []string{"body.filter"}},
		"filter of no field":   {workflow(good, `, "filter": "colour == \"red\""`), []string{"body.filter"}},
		"JSON path is none":    {workflow(good+`, "content_type": "http", "json_path": "$[?"`, ""), []string{"body.trigger.config.json_path"}},
		"selector of a feed":   {workflow(good+`, "selector": "main"`, ""), []string{"body.trigger.config.selector"}},
		"unknown field":        {workflow(good, `, "retries": 3`), []string{"body.retries"}},
		"unknown field inside": {workflow(good+`, "cadence": 3`, ""), []string{"body.trigger.config.cadence"}},
		"window without time":  {workflow(good, `, "batch": "window"`), []string{"body.window_minutes"}},
		"bad secret":           {workflow(good, `, "actions": [{"type": "webhook", "url": "https://a.example", "secret": "hush"}]`), []string{"body.actions[0].secret"}},
		"hidden secret":        {workflow(good, `, "actions": [{"type": "webhook", "url": "https://a.example", "secret": "••••abcd"}]`), []string{"body.actions[0].secret"}},
		"everything": {`{"name": "", "colour": 1, "filter": "(", "trigger": {"type": "cron", "config": {"url": "gopher://x", "interval_minutes": 1, "content_type": "csv", "first_poll": "some"}}, "actions": [{"type": "webhook", "url": "x"}]}`,
			[]string{"body.actions[0].url", "body.colour", "body.filter", "body.name", "body.trigger.config.content_type", "body.trigger.config.first_poll",
				"body.trigger.config.interval_minutes", "body.trigger.config.url", "body.trigger.type"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, nil)
			for _, target := range []string{"POST /api/workflows", "POST /api/workflows/dry-run"} {
				if name == "hidden secret" && strings.HasSuffix(target, "dry-run") {
					continue // nothing is sent
				}
				method, path, _ := strings.Cut(target, " ")
				a := s.want(422, method, path, test.body)
				var got []string
				for i := range a.list("errors") {
					got = append(got, a.text("errors", i, "location"))
					if a.text("errors", i, "message") == "" {
						t.Errorf("%s has no reason", got[i])
					}
				}
				slices.Sort(got)
				if !slices.Equal(got, test.want) {
					t.Errorf("%s names %q, want %q: %s", target, got, test.want, a.Body)
				}
			}
			if n := len(s.want(200, "GET", "/api/workflows", "").list("workflows")); n != 0 {
				t.Errorf("%d workflows were kept", n)
			}
			if kept, err := s.Store.Sources(t.Context(), store.SourceFilter{Hidden: true, Removed: true}); err != nil || len(kept) != 0 {
				t.Errorf("%d sources were kept (%v)", len(kept), err)
			}
		})
	}
	s := newSite(t, nil)
	a := s.want(413, "POST", "/api/workflows", `{"name": "`+strings.Repeat("x", 10<<20)+`", "trigger": {"config": {"url": "https://example.org/feed"}}}`)
	if a.text("type") != "/problems/too-large" {
		t.Errorf("10 MB of name: %s", a.Body)
	}
}

// A signing secret is made, told once, and kept by changes that leave it out or send back what was shown.
func TestWebhookSecret(t *testing.T) {
	s := newSite(t, nil)
	a := s.want(201, "POST", "/api/workflows", strings.Replace(w1, `[]`, `[{"type": "webhook", "url": "https://a.example/hook"}]`, 1))
	id, secret := a.text("id"), a.text("actions", 0, "secret")
	if _, err := freshet.SigningKey(secret); err != nil {
		t.Fatalf("the secret %q is not shown to whoever made it: %v", secret, err)
	}
	target := "/api/workflows/" + id
	kept := func(step string) {
		t.Helper()
		shown := s.want(200, "GET", target, "").text("actions", 0, "secret")
		if shown == secret || !strings.HasSuffix(secret, shown[len(shown)-4:]) {
			t.Errorf("%s: shown as %q", step, shown)
		}
		w, err := s.Store.Workflow(t.Context(), parse(t, id))
		if err != nil || w.Actions[0].Secret != secret {
			t.Errorf("%s: kept as %q, want %q (%v)", step, w.Actions[0].Secret, secret, err)
		}
	}
	kept("made")
	body := s.want(200, "GET", target, "").Body.String()
	s.want(200, "PUT", target, body)
	kept("sent back as it was shown")
	a = s.want(200, "PUT", target, strings.Replace(w1, `[]`, `[{"type": "webhook", "url": "https://a.example/hook"}]`, 1))
	if strings.Contains(a.Body.String(), secret) {
		t.Errorf("a change that leaves it out tells it again: %s", a.Body)
	}
	kept("left out")
	a = s.want(200, "PUT", target, strings.Replace(w1, `[]`, `[{"type": "webhook", "url": "https://a.example/hook"}, {"type": "webhook", "url": "https://b.example/hook"}]`, 1))
	if _, err := freshet.SigningKey(a.text("actions", 1, "secret")); err != nil || strings.Contains(a.Body.String(), secret) {
		t.Errorf("the new action's secret is to be shown, and no other: %s", a.Body)
	}
	mine := freshet.NewSecret(make([]byte, 32))
	a = s.want(201, "POST", "/api/workflows", strings.Replace(w1, `[]`, `[{"type": "webhook", "url": "https://a.example/hook", "secret": "`+mine+`"}]`, 1))
	if strings.Contains(a.Body.String(), mine) {
		t.Errorf("a secret that was sent is sent back: %s", a.Body)
	}
}

func parse(t *testing.T, id string) freshet.ID {
	t.Helper()
	parsed, err := freshet.ParseID(id)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// Seed 004, integration: what is changed takes effect on the schedule at once (W9).
func TestWorkflowSchedule(t *testing.T) {
	s := newSite(t, nil)
	a := s.want(201, "POST", "/api/workflows", w1)
	target, source := "/api/workflows/"+a.text("id"), parse(t, a.text("source_id"))
	asked := func() time.Duration {
		t.Helper()
		w, err := s.Store.Source(t.Context(), source)
		if err != nil {
			t.Fatal(err)
		}
		return w.Source.Asked
	}
	t.Run("create workflow with poll trigger: it is scheduled", func(t *testing.T) {
		if asked() != 15*time.Minute || a.text("next_poll_at") == "" {
			t.Errorf("asked for every %s: %s", asked(), a.Body)
		}
	})
	s.poll(posts(post("a", 5)))
	t.Run("update poll interval: the schedule is changed", func(t *testing.T) {
		before := s.want(200, "GET", target, "").text("next_poll_at")
		after := s.want(200, "PUT", target, strings.Replace(w1, "15", "60", 1)).text("next_poll_at")
		if asked() != time.Hour || after <= before {
			t.Errorf("every %s, next at %s after %s", asked(), after, before)
		}
	})
	t.Run("enable and disable: the schedule follows", func(t *testing.T) {
		if a := s.want(200, "PATCH", target+"/enabled", `{"enabled": false}`); a.at("enabled") != false || a.at("next_poll_at") != nil || asked() != 0 {
			t.Errorf("switched off: %s", a.Body)
		}
		if a := s.want(200, "PUT", target, strings.Replace(w1, `"enabled": true, `, "", 1)); a.at("enabled") != false {
			t.Errorf("a change that does not speak of it switches it on: %s", a.Body)
		}
		if a := s.want(200, "PATCH", target+"/enabled", `{"enabled": true}`); a.at("enabled") != true || a.text("next_poll_at") == "" || asked() == 0 {
			t.Errorf("switched on: %s", a.Body)
		}
	})
	t.Run("delete poll workflow: the schedule is gone", func(t *testing.T) {
		s.want(204, "DELETE", target, "")
		if w, err := s.Store.Source(t.Context(), source); !errors.Is(err, freshet.ErrNotFound) {
			t.Errorf("its source is still there, polled next at %s (%v)", w.Source.NextPollAt, err)
		}
		s.want(404, "GET", target, "")
	})
}

// A workflow that is switched off is shown and changed also when its source was removed.
func TestWorkflowOfRemovedSource(t *testing.T) {
	s := newSite(t, nil)
	a := s.want(201, "POST", "/api/workflows", w1)
	target := "/api/workflows/" + a.text("id")
	s.want(200, "PATCH", target+"/enabled", `{"enabled": false}`)
	s.want(204, "DELETE", "/api/feeds/"+a.text("source_id"), "")
	s.want(404, "GET", "/api/feeds/"+a.text("source_id"), "")
	if n := len(s.want(200, "GET", "/api/workflows", "").list("workflows")); n != 1 {
		t.Errorf("%d workflows are listed, want 1", n)
	}
	if a := s.want(200, "GET", target, ""); a.at("enabled") != false || a.at("next_poll_at") != nil {
		t.Errorf("shown: %s", a.Body)
	}
	if a := s.want(200, "PATCH", target+"/enabled", `{"enabled": false}`); a.at("enabled") != false {
		t.Errorf("switched off again: %s", a.Body)
	}
	if a := s.want(200, "PATCH", target+"/enabled", `{"enabled": true}`); a.at("enabled") != true || a.text("next_poll_at") == "" {
		t.Errorf("switched on: %s", a.Body)
	}
}

func TestNoSuchWorkflow(t *testing.T) {
	s := newSite(t, nil)
	for _, id := range []string{"1", "x"} {
		for call, body := range map[string]string{"GET /": "", "PUT /": w1, "DELETE /": "", "PATCH /enabled": `{"enabled": true}`, "POST /test": "", "GET /executions": ""} {
			method, rest, _ := strings.Cut(call, " ")
			s.want(404, method, "/api/workflows/"+id+strings.TrimSuffix(rest, "/"), body)
		}
	}
}

// A test carries the newest entries, or an example while there are none.
func TestTestWorkflow(t *testing.T) {
	s := newSite(t, nil)
	id := s.addWorkflow(w1)
	item := func() reply {
		t.Helper()
		a := s.want(202, "POST", "/api/workflows/"+id+"/test", "")
		if len(a.list("execution_ids")) != 1 {
			t.Fatalf("made %s", a.Body)
		}
		e := s.want(200, "GET", "/api/executions/"+a.text("execution_ids", 0), "")
		if e.text("kind") != "test" || e.text("state") != "queued" {
			t.Errorf("execution %s", e.Body)
		}
		return e
	}
	if got := item().text("data", "items", 0, "title"); !strings.Contains(got, "test") {
		t.Errorf("without entries the example is %q", got)
	}
	s.poll(posts(post("new", 5), post("old", 50)))
	if got := item().text("data", "items", 0, "guid"); got != "new" {
		t.Errorf("carries %q first, want the newest entry", got)
	}
}

func TestDryRun(t *testing.T) {
	var read []freshet.Source
	outcome := freshet.Outcome{}
	s := newSite(t, func(c *Config) {
		c.Read = func(_ context.Context, src freshet.Source) *freshet.Outcome {
			read = append(read, src)
			o := outcome
			o.At = time.Now()
			return &o
		}
	})
	filtered := strings.Replace(w1, `"actions"`, `"filter": "title contains \"keep\"", "actions"`, 1)
	t.Run("an unknown address is fetched once", func(t *testing.T) {
		outcome = freshet.Outcome{Posts: []freshet.Post{post("keep-1", 5), post("drop", 6)}}
		a := s.want(200, "POST", "/api/workflows/dry-run", filtered)
		if a.at("fetched") != true || a.number("entries_seen") != 2 || a.number("entries_passed") != 1 || len(a.list("would_fire")) != 1 ||
			a.text("would_fire", 0, "data", "items", 0, "guid") != "keep-1" || a.at("problem") != nil {
			t.Errorf("answer %s", a.Body)
		}
		if len(read) != 1 || read[0].URL != "https://example.org/feed" || read[0].Type != freshet.RSS {
			t.Errorf("read %+v", read)
		}
	})
	t.Run("an address that fails says why", func(t *testing.T) {
		outcome = freshet.Outcome{Failure: &freshet.Failure{Sentence: "The server says no."}}
		if a := s.want(200, "POST", "/api/workflows/dry-run", w1); a.text("problem") != "The server says no." || len(a.list("would_fire")) != 0 {
			t.Errorf("answer %s", a.Body)
		}
	})
	t.Run("a document is what it is now", func(t *testing.T) {
		outcome = freshet.Outcome{Contents: []freshet.Content{freshet.NewContent(freshet.Part{Selector: "main"}, "", "12 left")}}
		read = nil
		a := s.want(200, "POST", "/api/workflows/dry-run", strings.Replace(w1, `"content_type": "rss"`, `"content_type": "http", "selector": "main"`, 1))
		if a.text("would_fire", 0, "data", "content") != "12 left" || a.text("would_fire", 0, "data", "content_hash") == "" {
			t.Errorf("answer %s", a.Body)
		}
		if len(read) != 1 || read[0].Type != freshet.HTTP || len(read[0].Parts) != 1 || read[0].Parts[0].Selector != "main" {
			t.Errorf("read %+v", read)
		}
	})
	t.Run("a part that is not there says so", func(t *testing.T) {
		outcome = freshet.Outcome{Contents: []freshet.Content{{Part: freshet.Part{Selector: "main"}, Fault: "There is no main."}}}
		if a := s.want(200, "POST", "/api/workflows/dry-run", strings.Replace(w1, `"content_type": "rss"`, `"content_type": "http", "selector": "main"`, 1)); a.text("problem") != "There is no main." {
			t.Errorf("answer %s", a.Body)
		}
	})
	t.Run("a known feed is not fetched", func(t *testing.T) {
		s.add("https://example.org/feed")
		s.poll(posts(post("keep-2", 5), post("drop", 6)))
		read = nil
		a := s.want(200, "POST", "/api/workflows/dry-run", filtered)
		if a.at("fetched") != false || len(read) != 0 || a.number("entries_seen") != 2 || a.text("would_fire", 0, "data", "items", 0, "guid") != "keep-2" {
			t.Errorf("answer %s, read %v", a.Body, read)
		}
	})
	if n := len(s.want(200, "GET", "/api/workflows", "").list("workflows")); n != 0 {
		t.Errorf("%d workflows were kept", n)
	}
}

// What would have fired is bounded: 1 MiB of the newest.
func TestDryRunIsBounded(t *testing.T) {
	long := post("x", 1)
	long.Title, long.Text = strings.Repeat("t", 2000), strings.Repeat("s", 500)
	s := newSite(t, func(c *Config) {
		c.Read = func(context.Context, freshet.Source) *freshet.Outcome {
			o := &freshet.Outcome{At: time.Now()}
			for i := range 100 {
				p := long
				p.GUID = fmt.Sprint(i) + strings.Repeat("g", 30_000)
				o.Posts = append(o.Posts, p)
			}
			return o
		}
	})
	a := s.want(200, "POST", "/api/workflows/dry-run", strings.Replace(w1, `"actions"`, `"batch": "item", "actions"`, 1))
	if n := len(a.list("would_fire")); a.Body.Len() > 1<<20+200_000 || n == 0 || n == 100 {
		t.Errorf("%d of 100 in %d bytes", n, a.Body.Len())
	}
	if got := a.text("would_fire", len(a.list("would_fire"))-1, "data", "items", 0, "guid"); !strings.HasPrefix(got, "0g") {
		t.Errorf("the newest, which feeds list first, comes last: got %.5s", got)
	}
}

// W8: the feed of the system tells of a workflow that failing polls switched off.
func TestSystemFeed(t *testing.T) {
	s := newSite(t, nil)
	id := s.addWorkflow(w1)
	for range 4 {
		if _, err := s.Store.EditWorkflow(t.Context(), parse(t, id), time.Now(), func(*freshet.Workflow) (bool, error) { return true, nil }); err != nil {
			t.Fatal(err) // due again
		}
		s.poll(func(freshet.Source) *freshet.Outcome {
			return &freshet.Outcome{Failure: &freshet.Failure{Class: freshet.Transient, Code: "x", Sentence: "It <hangs>."}}
		})
	}
	a := s.want(200, "GET", "/api/workflows/"+id, "")
	if a.at("enabled") != false || a.number("state", "consecutive_failures") != 4 || a.text("state", "last_error") != "It <hangs>." || a.text("disabled_reason") == "" {
		t.Errorf("after four failures: %s", a.Body)
	}
	feed := s.want(200, "GET", "/system.atom", "")
	for _, want := range []string{"<title>Freshet: system</title>", "Workflow switched off: Releases", "/workflows/" + id, "It &lt;hangs"} {
		if !strings.Contains(feed.Body.String(), want) {
			t.Errorf("the feed lacks %s: %s", want, feed.Body)
		}
	}
}

// The answer is the definition, so that it can be read, changed and sent back.
func TestWorkflowRoundTrip(t *testing.T) {
	s := newSite(t, nil)
	id := s.addWorkflow(strings.Replace(w1, `"actions": []`, `"filter": "title != \"\"", "batch": "window", "window_minutes": 30, "ordered": true, "on_recovery": "resume",
		"actions": [{"type": "webhook", "url": "https://me:hunter2@a.example/hook", "headers": {"X-Key": "sesame-open-sesame"}, "format": "cloudevents"}, {"type": "notify", "url": "discord://token@17"}]`, 1))
	s.poll(posts(post("a", 5)))
	shown := s.want(200, "GET", "/api/workflows/"+id, "")
	for _, secret := range []string{"hunter2", "sesame-open-s", "token"} {
		if strings.Contains(shown.Body.String(), secret) {
			t.Errorf("%q is shown: %s", secret, shown.Body)
		}
	}
	before, err := s.Store.Workflow(t.Context(), parse(t, id))
	if err != nil {
		t.Fatal(err)
	}
	s.want(200, "PUT", "/api/workflows/"+id, shown.Body.String())
	after, err := s.Store.Workflow(t.Context(), parse(t, id))
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(before.Definition)
	b, _ := json.Marshal(after.Definition)
	if string(a) != string(b) {
		t.Errorf("it was\n%s\nand is\n%s", a, b)
	}
	if len(after.Memory.IDs) != 1 {
		t.Errorf("it forgot what it has seen: %v", after.Memory.IDs)
	}
}
