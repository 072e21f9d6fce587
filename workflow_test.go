package freshet

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func workflowOf(change func(*Definition)) Definition {
	d := Definition{Name: "Watch", Enabled: true}
	d.Trigger.Config.URL = "https://example.org/feed"
	if change != nil {
		change(&d)
	}
	d.Complete()
	return d
}

func TestCompleteDefinition(t *testing.T) {
	d := Definition{Name: " Watch ", Trigger: Trigger{Config: TriggerConfig{URL: " https://example.org/feed\n"}}}
	d.Complete()
	c := d.Trigger.Config
	if d.Name != "Watch" || d.Trigger.Type != "poll" || c.URL != "https://example.org/feed" || c.IntervalMinutes != 15 || c.ContentType != ContentRSS ||
		c.FirstPoll != FirstAll || !slices.Equal(c.On, []Change{ChangeNew}) || d.Batch != BatchPoll || d.Actions == nil {
		t.Errorf("completed to %+v", d)
	}
	if bad := d.Check(); bad != nil {
		t.Errorf("what was completed is refused: %v", bad)
	}
}

// W1: every field that cannot be used is named.
func TestCheckDefinition(t *testing.T) {
	secret := NewSecret(make([]byte, 32))
	config := func(change func(*TriggerConfig)) func(*Definition) {
		return func(d *Definition) { change(&d.Trigger.Config) }
	}
	action := func(a Action) func(*Definition) { return func(d *Definition) { d.Actions = []Action{a} } }
	hook := func(change func(*Action)) func(*Definition) {
		a := Action{Type: Webhook, URL: "https://a.example/hook", Secret: secret}
		change(&a)
		return action(a)
	}
	for name, test := range map[string]struct {
		change func(*Definition)
		want   string
	}{
		"good":                   {func(*Definition) {}, ""},
		"no name":                {func(d *Definition) { d.Name = " " }, "name"},
		"name of 200":            {func(d *Definition) { d.Name = strings.Repeat("é", 200) }, ""},
		"name of 201":            {func(d *Definition) { d.Name = strings.Repeat("é", 201) }, "name"},
		"cron":                   {func(d *Definition) { d.Trigger.Type = "cron" }, "trigger.type"},
		"no address":             {config(func(c *TriggerConfig) { c.URL = "" }), "trigger.config.url"},
		"ftp":                    {config(func(c *TriggerConfig) { c.URL = "ftp://example.org/feed" }), "trigger.config.url"},
		"http":                   {config(func(c *TriggerConfig) { c.URL = "http://example.org/feed" }), ""},
		"long address":           {config(func(c *TriggerConfig) { c.URL = "https://example.org/" + strings.Repeat("a", 4096) }), "trigger.config.url"},
		"interval 4":             {config(func(c *TriggerConfig) { c.IntervalMinutes = 4 }), "trigger.config.interval_minutes"},
		"interval 4.99":          {config(func(c *TriggerConfig) { c.IntervalMinutes = 4.99 }), "trigger.config.interval_minutes"},
		"interval 5":             {config(func(c *TriggerConfig) { c.IntervalMinutes = 5 }), ""},
		"interval below nothing": {config(func(c *TriggerConfig) { c.IntervalMinutes = -15 }), "trigger.config.interval_minutes"},
		"interval of two years":  {config(func(c *TriggerConfig) { c.IntervalMinutes = 2 * 366 * 24 * 60 }), "trigger.config.interval_minutes"},
		"content type":           {config(func(c *TriggerConfig) { c.ContentType = "json" }), "trigger.config.content_type"},
		"first poll":             {config(func(c *TriggerConfig) { c.FirstPoll = "some" }), "trigger.config.first_poll"},
		"on":                     {config(func(c *TriggerConfig) { c.On = []Change{ChangeNew, "gone"} }), "trigger.config.on[1]"},
		"part of a feed":         {config(func(c *TriggerConfig) { c.Selector = "main" }), "trigger.config.selector"},
		"part of a document":     {config(func(c *TriggerConfig) { c.ContentType, c.Selector = ContentHTTP, "main" }), ""},
		"two kinds of part":      {config(func(c *TriggerConfig) { c.ContentType, c.Selector, c.JSONPath = ContentHTTP, "main", "$.a" }), "trigger.config.json_path"},
		"long filter":            {func(d *Definition) { d.Filter = strings.Repeat("x", 10_001) }, "filter"},
		"batch":                  {func(d *Definition) { d.Batch = "hour" }, "batch"},
		"window without time":    {func(d *Definition) { d.Batch = BatchWindow }, "window_minutes"},
		"window of two days":     {func(d *Definition) { d.Batch, d.WindowMinutes = BatchWindow, 2*24*60 }, "window_minutes"},
		"window":                 {func(d *Definition) { d.Batch, d.WindowMinutes = BatchWindow, 0.5 }, ""},
		"recovery":               {func(d *Definition) { d.OnRecovery = "later" }, "on_recovery"},
		"eleven actions":         {func(d *Definition) { d.Actions = make([]Action, 11) }, "actions"},
		"no type":                {action(Action{}), "actions[0].type"},
		"webhook":                {hook(func(*Action) {}), ""},
		"webhook by ftp":         {hook(func(a *Action) { a.URL = "ftp://a.example" }), "actions[0].url"},
		"webhook's secret":       {hook(func(a *Action) { a.Secret = "whsec_abc" }), "actions[0].secret"},
		"webhook's format":       {hook(func(a *Action) { a.Format = "xml" }), "actions[0].format"},
		"webhook's header":       {hook(func(a *Action) { a.Headers = map[string]string{"A B": "x"} }), "actions[0].headers"},
		"a header in a header":   {hook(func(a *Action) { a.Headers = map[string]string{"A": "x\r\nB: y"} }), "actions[0].headers"},
		"a header of ours":       {hook(func(a *Action) { a.Headers = map[string]string{"Webhook-Id": "x"} }), "actions[0].headers"},
		"a hidden header":        {hook(func(a *Action) { a.Headers = map[string]string{"X-Key": hidden("sesame-open-sesame")} }), "actions[0].headers"},
		"queue":                  {action(Action{Type: Queue, URL: "nats://a.example/subject"}), ""},
		"queue by http":          {action(Action{Type: Queue, URL: "https://a.example/subject"}), "actions[0].url"},
		"notify":                 {action(Action{Type: Notify, URL: "discord://token@1"}), ""},
		"notify of nothing":      {action(Action{Type: Notify, URL: "discord"}), "actions[0].url"},
		"notify, hidden":         {action(Action{Type: Notify, URL: Action{Type: Notify, URL: "discord://token@1"}.Shown().URL}), "actions[0].url"},
		"command":                {action(Action{Type: Command, Command: []string{"/bin/true"}}), ""},
		"a NUL in a command":     {action(Action{Type: Command, Command: []string{"/bin/true", "a\x00b"}}), "actions[0].command"},
		"a name of two lines":    {func(d *Definition) { d.Name = "a\r\nb" }, "name"},
		"a name of nothing":      {func(d *Definition) { d.Name = "\x00" }, "name"},
		"command of nothing":     {action(Action{Type: Command}), "actions[0].command"},
		"several": {func(d *Definition) {
			d.Name, d.Batch, d.Trigger.Config.IntervalMinutes = "", "hour", 1
		}, "name trigger.config.interval_minutes batch"},
	} {
		d := workflowOf(test.change)
		var got []string
		for _, e := range d.Check() {
			got = append(got, e.Field)
			if e.Reason == "" {
				t.Errorf("%s: %s without a reason", name, e.Field)
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: names %q, want %q", name, got, test.want)
		}
	}
}

func TestDefinitionWarnings(t *testing.T) {
	d := workflowOf(func(d *Definition) {
		d.Actions = []Action{{ID: "a1", Type: Webhook, URL: "HTTP://a.example"}, {ID: "a2", Type: Webhook, URL: "https://b.example"}}
	})
	if got := d.Warnings(); len(got) != 1 || !strings.Contains(got[0], "webhook a.example") {
		t.Errorf("warnings %q, want one about a.example", got)
	}
	d.Trigger.Config.URL = "http://example.org/feed"
	if got := d.Warnings(); len(got) != 2 {
		t.Errorf("warnings %q, want one about the address, too", got)
	}
}

// W9: what a change of the definition does to what the workflow knows.
func TestReplaceWorkflow(t *testing.T) {
	for name, test := range map[string]struct {
		before, change func(*Definition)
		restarted      bool
		forgets        bool
		resets         bool // state, too
	}{
		"its name":           {nil, func(d *Definition) { d.Name = "Other" }, false, false, false},
		"its interval":       {nil, func(d *Definition) { d.Trigger.Config.IntervalMinutes = 60 }, false, false, false},
		"its filter":         {nil, func(d *Definition) { d.Filter = "true" }, false, false, false},
		"rss becomes atom":   {nil, func(d *Definition) { d.Trigger.Config.ContentType = ContentAtom }, false, false, false},
		"the same address":   {nil, func(d *Definition) { d.Trigger.Config.URL = "http://www.example.org/feed/" }, false, false, false},
		"another address":    {nil, func(d *Definition) { d.Trigger.Config.URL = "https://example.org/other" }, true, true, true},
		"another kind":       {nil, func(d *Definition) { d.Trigger.Config.ContentType = ContentHTTP }, true, true, true},
		"another part":       {func(d *Definition) { d.Trigger.Config.ContentType = ContentHTTP }, func(d *Definition) { d.Trigger.Config.Selector = "main" }, true, true, false},
		"switched off":       {nil, func(d *Definition) { d.Enabled = false }, false, false, false},
		"switched on":        {func(d *Definition) { d.Enabled = false }, func(d *Definition) { d.Enabled = true }, true, false, false},
		"nothing, while off": {func(d *Definition) { d.Enabled = false }, func(*Definition) {}, false, false, false},
	} {
		w := Workflow{Definition: workflowOf(test.before), State: WorkflowState{CheckedAt: time.Unix(1, 0), ContentHash: "h"}, Memory: Memory{IDs: []string{"a"}}}
		d := workflowOf(test.before)
		test.change(&d)
		if got := w.Replace(d); got != test.restarted {
			t.Errorf("%s: restarted %t, want %t", name, got, test.restarted)
		}
		if got := len(w.Memory.IDs) == 0; got != test.forgets || w.State.Waiting != test.forgets {
			t.Errorf("%s: forgets %t, waits %t, want %t", name, got, w.State.Waiting, test.forgets)
		}
		if got := w.State.CheckedAt.IsZero(); got != test.resets {
			t.Errorf("%s: state reset %t, want %t", name, got, test.resets)
		}
	}
}

// W8: switching a workflow on clears the count; switching off keeps what there is to know.
func TestSwitchWorkflow(t *testing.T) {
	w := Workflow{Definition: workflowOf(nil), State: WorkflowState{Failures: 3, LastError: "x"}}
	w.Disable("why")
	if w.Enabled || w.DisabledReason != "why" || w.State.Failures != 3 || w.Wanted() {
		t.Errorf("switched off: %+v", w)
	}
	w.State.Resting = true
	if !w.Wanted() {
		t.Error("a workflow that waits for its address to answer is wanted")
	}
	w.Enable()
	if !w.Enabled || w.DisabledReason != "" || w.State.Failures != 0 || w.State.LastError != "" || w.State.Resting {
		t.Errorf("switched on: %+v", w)
	}
}
