package freshet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Workflow runs its actions when something new appears at its trigger's address (SPEC.md section 7).
type Workflow struct {
	ID ID
	Definition
	Source         ID     // the source that its trigger's address is (W2)
	DisabledReason string // why it was switched off other than by a person
	Sealed         []byte // what is secret in Actions, where it was not opened; they are as they are shown then
	State          WorkflowState
	Memory         Memory // as far as it was read
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// Definition is what people write of a workflow (W1). The tags beside the names are for the API's document.
type Definition struct {
	Name    string  `json:"name"`
	Enabled bool    `json:"enabled" required:"false"`
	Trigger Trigger `json:"trigger"`
	// Filter is a condition over an entry; what does not meet it fires nothing. "" lets all pass.
	Filter string `json:"filter,omitempty"`
	// Batch says how entries become executions; WindowMinutes is how long a window stays open.
	Batch         Batch   `json:"batch" required:"false" enum:"poll,item,window"`
	WindowMinutes float64 `json:"window_minutes,omitempty"`
	// Ordered carries executions out one after the other, in the order in which they were made.
	Ordered    bool     `json:"ordered,omitempty"`
	OnRecovery Recovery `json:"on_recovery,omitempty" enum:"resume"`
	Actions    []Action `json:"actions" required:"false"` // none: executions wait until a worker fetches them
}

// Trigger says what is watched.
type Trigger struct {
	Type   string        `json:"type" required:"false" enum:"poll"`
	Config TriggerConfig `json:"config"`
}

// TriggerConfig is how a polled trigger watches its address (W1, W4).
type TriggerConfig struct {
	URL             string      `json:"url"`
	IntervalMinutes float64     `json:"interval_minutes" required:"false"`
	ContentType     ContentType `json:"content_type" required:"false" enum:"rss,atom,http"`
	FirstPoll       FirstPoll   `json:"first_poll,omitempty" enum:"all,baseline"`
	On              []Change    `json:"on,omitempty" enum:"new,updated"`
	Part
}

// Part is what of a document a workflow watches; the zero value is all of it.
type Part struct {
	Selector string   `json:"selector,omitempty"`  // CSS
	JSONPath string   `json:"json_path,omitempty"` // RFC 9535
	Ignore   []string `json:"ignore,omitempty"`    // as Config.Ignore
}

// Whole says that the part is the whole document.
func (p Part) Whole() bool { return p.Selector == "" && p.JSONPath == "" && len(p.Ignore) == 0 }

// Equal says whether two parts are the same.
func (p Part) Equal(q Part) bool {
	return p.Selector == q.Selector && p.JSONPath == q.JSONPath && slices.Equal(p.Ignore, q.Ignore)
}

// ContentType is what a workflow takes its address for.
type ContentType string

// A feed by either name is read by its content, whatever its label.
const (
	ContentRSS  ContentType = "rss"
	ContentAtom ContentType = "atom"
	ContentHTTP ContentType = "http" // any document; that it changed is what counts
)

// Feed says that entries count, and not the document.
func (t ContentType) Feed() bool { return t != ContentHTTP }

// FirstPoll says what the first poll does with what is there already (W4).
type FirstPoll string

const (
	FirstAll      FirstPoll = "all"      // everything is new
	FirstBaseline FirstPoll = "baseline" // nothing is
)

// Change is what an entry fires for (W4).
type Change string

const (
	ChangeNew     Change = "new"
	ChangeUpdated Change = "updated"
)

// Batch says how new entries become executions.
type Batch string

const (
	BatchPoll   Batch = "poll"   // one execution for what a poll brought
	BatchItem   Batch = "item"   // one for each entry
	BatchWindow Batch = "window" // one for what came within a time
)

// Recovery says what becomes of a workflow that failing polls switched off, when its address answers again (W8).
type Recovery string

const (
	StayOff Recovery = ""
	Resume  Recovery = "resume"
)

const (
	leastInterval = 5 // minutes (W1)
	usualInterval = 15
	mostName      = 200    // characters
	mostFilter    = 10_000 // bytes
	mostActions   = 10
	mostAddress   = 4096 // bytes
	mostWindow    = 24 * 60
)

// Complete fills in what was left out.
func (d *Definition) Complete() {
	d.Name = strings.TrimSpace(d.Name)
	d.Trigger.Type = cmp.Or(d.Trigger.Type, "poll")
	c := &d.Trigger.Config
	c.URL = strings.TrimSpace(c.URL)
	c.ContentType = cmp.Or(c.ContentType, ContentRSS)
	c.FirstPoll = cmp.Or(c.FirstPoll, FirstAll)
	if c.IntervalMinutes == 0 {
		c.IntervalMinutes = usualInterval
	}
	if len(c.On) == 0 {
		c.On = []Change{ChangeNew}
	}
	d.Batch = cmp.Or(d.Batch, BatchPoll)
	if d.Actions == nil {
		d.Actions = []Action{}
	}
}

// Every is how often the trigger wants its address polled.
func (d *Definition) Every() time.Duration {
	return time.Duration(d.Trigger.Config.IntervalMinutes * float64(time.Minute))
}

// Window is how long entries are gathered when the workflow batches by time.
func (d *Definition) Window() time.Duration {
	return time.Duration(d.WindowMinutes * float64(time.Minute))
}

// FieldErrors are all the fields that cannot be used (W1).
type FieldErrors []FieldError

func (e FieldErrors) Error() string {
	lines := make([]string, len(e))
	for i := range e {
		lines[i] = e[i].Error()
	}
	return strings.Join(lines, "; ")
}

func (e *FieldErrors) add(field, reason string) { *e = append(*e, FieldError{field, reason}) }

// Check returns every field that cannot be used, nil when all can. Whether the filter compiles is said by
// package trigger, which knows its language.
func (d *Definition) Check() FieldErrors {
	var bad FieldErrors
	switch n := utf8.RuneCountInString(d.Name); {
	case n == 0:
		bad.add("name", "must not be empty")
	case n > mostName:
		bad.add("name", fmt.Sprintf("is longer than %d characters", mostName))
	case strings.ContainsFunc(d.Name, unicode.IsControl):
		bad.add("name", "must be one line without control characters")
	}
	d.checkTrigger(&bad)
	if len(d.Filter) > mostFilter {
		bad.add("filter", fmt.Sprintf("is longer than %d bytes", mostFilter))
	}
	switch d.Batch {
	case BatchPoll, BatchItem:
	case BatchWindow:
		if !(d.WindowMinutes > 0 && d.WindowMinutes <= mostWindow) {
			bad.add("window_minutes", "must be more than 0 and at most 1440 minutes (a day)")
		}
	default:
		bad.add("batch", `must be "poll", "item" or "window"`)
	}
	if d.OnRecovery != StayOff && d.OnRecovery != Resume {
		bad.add("on_recovery", `must be "resume" or left out`)
	}
	if len(d.Actions) > mostActions {
		bad.add("actions", fmt.Sprintf("has more than %d entries", mostActions))
		return bad
	}
	for i := range d.Actions {
		d.Actions[i].check(fmt.Sprintf("actions[%d].", i), &bad)
	}
	return bad
}

func (d *Definition) checkTrigger(bad *FieldErrors) {
	const config = "trigger.config."
	if d.Trigger.Type != "poll" {
		bad.add("trigger.type", `only "poll" is known`)
	}
	c := &d.Trigger.Config
	switch {
	case c.URL == "":
		bad.add(config+"url", "must not be empty")
	case len(c.URL) > mostAddress:
		bad.add(config+"url", fmt.Sprintf("is longer than %d bytes", mostAddress))
	case WebLink(c.URL) == "":
		bad.add(config+"url", "must be an address that begins with https:// (or http://)")
	}
	if !(c.IntervalMinutes >= leastInterval && c.IntervalMinutes <= maxEvery) {
		bad.add(config+"interval_minutes", fmt.Sprintf("must be at least %d and at most %d minutes (a year)", leastInterval, maxEvery))
	}
	switch c.ContentType {
	case ContentRSS, ContentAtom:
		if !c.Part.Whole() {
			bad.add(config+"selector", `only content_type "http" watches a part of a document`)
		}
	case ContentHTTP:
		c.Part.check(config, bad)
	default:
		bad.add(config+"content_type", `must be "rss", "atom" or "http"`)
	}
	if c.FirstPoll != FirstAll && c.FirstPoll != FirstBaseline {
		bad.add(config+"first_poll", `must be "all" or "baseline"`)
	}
	for i, on := range c.On {
		if on != ChangeNew && on != ChangeUpdated {
			bad.add(fmt.Sprintf("%son[%d]", config, i), `must be "new" or "updated"`)
		}
	}
}

func (p Part) check(config string, bad *FieldErrors) {
	if p.JSONPath != "" && (p.Selector != "" || len(p.Ignore) > 0) {
		bad.add(config+"json_path", "cannot be used together with selector or ignore")
	}
	rules := Config{Selector: p.Selector, Ignore: p.Ignore}
	if err, ok := rules.checkRules().(*FieldError); ok {
		bad.add(config+strings.TrimPrefix(err.Field, "config."), err.Reason)
	}
}

// Warnings are what is allowed and yet unwise (W1).
func (d *Definition) Warnings() (list []string) {
	if strings.HasPrefix(strings.ToLower(d.Trigger.Config.URL), "http://") {
		list = append(list, "The address is http, so anybody on the way can read and change what it gives. Use https where the site has it.")
	}
	for i := range d.Actions {
		if a := &d.Actions[i]; a.Type == Webhook && strings.HasPrefix(strings.ToLower(a.URL), "http://") {
			list = append(list, fmt.Sprintf("The %s is http, so anybody on the way can read what is sent.", a.Name()))
		}
	}
	return list
}

// Action returns the action with an id, nil when the workflow has none.
func (d *Definition) Action(id string) *Action {
	for i := range d.Actions {
		if d.Actions[i].ID == id {
			return &d.Actions[i]
		}
	}
	return nil
}

// Wanted says whether the workflow's source must be polled for it: when it is switched on, or waits for its
// address to answer again (W8).
func (w *Workflow) Wanted() bool {
	return w.Enabled || w.State.Resting
}

// Part is what of the source's document the workflow watches, false when it watches entries.
func (w *Workflow) Part() (Part, bool) {
	c := w.Trigger.Config
	return c.Part, !c.ContentType.Feed()
}

// Enable switches the workflow on; its failures are forgotten (W8).
func (w *Workflow) Enable() {
	w.Enabled, w.DisabledReason = true, ""
	w.State.Failures, w.State.LastError, w.State.Resting = 0, "", false
}

// Disable switches the workflow off, for a reason or because a person says so.
func (w *Workflow) Disable(reason string) {
	w.Enabled, w.DisabledReason = false, reason
	w.State.Resting = false
}

// Forgive takes back the failure that the poll at a time counted, because our own network was down (S5). A workflow that it
// switched off is on again. It says whether there was something to forgive.
func (w *Workflow) Forgive(polled time.Time) bool {
	if w.State.Failures == 0 || !w.State.CheckedAt.Equal(polled) {
		return false
	}
	if !w.Enabled && w.DisabledReason != "" && w.State.Failures <= failuresToDisable {
		w.Enabled, w.DisabledReason, w.State.Resting = true, "", false
	}
	if w.State.Failures--; w.State.Failures == 0 {
		w.State.LastError = ""
	}
	return true
}

// Replace gives the workflow another definition. What it watches and knows stays its own unless the address
// or the kind changes; another part of a document is taken as it is found.
func (w *Workflow) Replace(d Definition) (restarted bool) {
	old, c := w.Trigger.Config, d.Trigger.Config
	d.Actions = Renamed(d.Actions, w.Actions)
	wasEnabled := w.Enabled
	w.Definition, w.Sealed = d, nil
	switch {
	case d.Enabled && !wasEnabled:
		w.Enable()
	case !d.Enabled:
		w.Disable("")
	}
	switch {
	case NormalizedURL(old.URL) != NormalizedURL(c.URL) || old.ContentType.Feed() != c.ContentType.Feed():
		w.State, w.Memory = WorkflowState{Waiting: true}, Memory{}
		return true
	case !old.Part.Equal(c.Part):
		w.State.Waiting, w.State.ContentHash, w.Memory = true, "", Memory{}
		return true
	}
	return d.Enabled && !wasEnabled
}
