package freshet

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
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

// Action is one thing that a workflow does with an execution (W7).
type Action struct {
	ID   string     `json:"id,omitempty"` // names it within its workflow, for executions that wait
	Type ActionType `json:"type" enum:"webhook,queue,notify,command"`
	// URL is the receiver of a webhook, the queue, or the notification's address.
	URL string `json:"url,omitempty"`
	// Secret signs webhooks; PreviousSecret signs beside it while receivers change over.
	Secret         string            `json:"secret,omitempty"`
	PreviousSecret string            `json:"previous_secret,omitempty"`
	Headers        map[string]string `json:"headers,omitempty"`                   // of a webhook
	Format         string            `json:"format,omitempty" enum:"cloudevents"` // "cloudevents", or "" for the bare trigger data
	Command        []string          `json:"command,omitempty"`                   // program and arguments; no shell
	// Disabled is why the action is not carried out any more, "" while it is.
	Disabled string `json:"disabled,omitempty"`
}

// ActionType is the kind of an action.
type ActionType string

const (
	Webhook ActionType = "webhook"
	Queue   ActionType = "queue"
	Notify  ActionType = "notify"
	Command ActionType = "command"
)

// CloudEvents is the format of an action that sends a CloudEvent in structured mode.
const CloudEvents = "cloudevents"

// queueSchemes are the brokers that an action of type queue knows.
var queueSchemes = []string{"nats", "tls", "sqs", "amqp", "amqps", "kafka"}

const (
	leastInterval  = 5 // minutes (W1)
	usualInterval  = 15
	mostName       = 200    // characters
	mostFilter     = 10_000 // bytes
	mostActions    = 10
	mostAddress    = 4096 // bytes
	mostWindow     = 24 * 60
	mostArguments  = 100
	mostHeaders    = 20
	mostHeaderSize = 4096
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

func (a *Action) check(at string, bad *FieldErrors) {
	switch a.Type {
	case Webhook:
		a.checkWebhook(at, bad)
	case Queue:
		if u, err := url.Parse(a.URL); err != nil || !slices.Contains(queueSchemes, u.Scheme) {
			bad.add(at+"url", "must be the address of a queue: nats://, sqs://, amqp:// or kafka://")
		}
	case Notify:
		if scheme, _, ok := strings.Cut(a.URL, "://"); !ok || scheme == "" {
			bad.add(at+"url", "must be a notification address such as discord://token@id or ntfy://ntfy.sh/topic")
		}
	case Command:
		if len(a.Command) == 0 || a.Command[0] == "" || len(a.Command) > mostArguments || strings.Contains(strings.Join(a.Command, ""), "\x00") {
			bad.add(at+"command", "must be a program and its arguments, each an entry of the list")
		}
	default:
		bad.add(at+"type", `must be "webhook", "queue", "notify" or "command"`)
	}
	if isHidden(a.URL) {
		bad.add(at+"url", "has the dots that hide a secret, and not the secret")
	}
	if len(a.URL) > mostAddress {
		bad.add(at+"url", fmt.Sprintf("is longer than %d bytes", mostAddress))
	}
	if a.Format != "" && a.Format != CloudEvents {
		bad.add(at+"format", `must be "cloudevents" or left out`)
	}
}

func (a *Action) checkWebhook(at string, bad *FieldErrors) {
	if WebLink(a.URL) == "" {
		bad.add(at+"url", "must be an address that begins with https:// (or http://)")
	}
	for field, secret := range map[string]string{"secret": a.Secret, "previous_secret": a.PreviousSecret} {
		if _, err := SigningKey(secret); secret != "" && err != nil {
			bad.add(at+field, err.Error())
		}
	}
	size := 0
	for name, text := range a.Headers {
		size += len(name) + len(text)
		if !isToken(name) || strings.ContainsAny(text, "\r\n\x00") || strings.HasPrefix(strings.ToLower(name), "webhook-") {
			bad.add(at+"headers", fmt.Sprintf("%q cannot be sent", name))
		}
		if isHidden(text) {
			bad.add(at+"headers", fmt.Sprintf("%q has the dots that hide a value, and not the value", name))
		}
	}
	if len(a.Headers) > mostHeaders || size > mostHeaderSize {
		bad.add(at+"headers", fmt.Sprintf("has more than %d entries or %d bytes", mostHeaders, mostHeaderSize))
	}
}

// isToken says whether a text can be the name of a header field (RFC 9110, 5.6.2).
func isToken(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	}) < 0
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

// Name says which action it is without what may be secret in its address.
func (a *Action) Name() string {
	if a.Type == Command {
		return string(a.Type) + " " + a.Command[0]
	}
	u, err := url.Parse(a.URL)
	if err != nil || a.Type == Notify && u.Scheme != "ntfy" {
		scheme, _, _ := strings.Cut(a.URL, ":")
		return string(a.Type) + " " + scheme
	}
	return string(a.Type) + " " + u.Host
}

// Renamed returns the actions with an id each: those that had one keep it, one that is as it was before takes
// its old one, and no id is used for another action again.
func Renamed(actions, before []Action) []Action {
	actions, last := slices.Clone(actions), 0
	taken := map[string]bool{}
	for _, a := range slices.Concat(before, actions) {
		if n, err := strconv.Atoi(strings.TrimPrefix(a.ID, "a")); err == nil {
			last = max(last, n)
		}
	}
	for i := range actions {
		a := &actions[i]
		known := slices.ContainsFunc(before, func(b Action) bool { return b.ID == a.ID })
		if a.ID == "" || !known || taken[a.ID] {
			a.ID = ""
		}
		taken[a.ID] = true
	}
	for i := range actions {
		a := &actions[i]
		if a.ID != "" {
			continue
		}
		for _, b := range before {
			if !taken[b.ID] && b.Type == a.Type && b.URL == a.URL && slices.Equal(b.Command, a.Command) {
				a.ID = b.ID
				break
			}
		}
		if a.ID == "" {
			last++
			a.ID = "a" + strconv.Itoa(last)
		}
		taken[a.ID] = true
	}
	return actions
}

// KeepSecrets gives actions the secrets that they had: those that are left out, and those that are sent back as
// they are shown (Action.Shown).
func KeepSecrets(actions, before []Action) []Action {
	actions = slices.Clone(actions)
	for i := range actions {
		a := &actions[i]
		for _, b := range before {
			shown := b.Shown()
			if b.Type != a.Type || a.ID != b.ID && (a.ID != "" || a.URL != b.URL && a.URL != shown.URL) {
				continue
			}
			if a.URL == shown.URL {
				a.URL = b.URL
			}
			if a.Secret == "" || a.Secret == shown.Secret {
				a.Secret = b.Secret
			}
			if a.PreviousSecret != "" && a.PreviousSecret == shown.PreviousSecret {
				a.PreviousSecret = b.PreviousSecret
			}
			a.Headers = maps.Clone(a.Headers)
			for name, text := range a.Headers {
				if text == shown.Headers[name] {
					a.Headers[name] = b.Headers[name]
				}
			}
			break
		}
	}
	return actions
}

// Shown is the action as people and programs see it: without what is secret in it.
func (a Action) Shown() Action {
	a.Secret, a.PreviousSecret = hidden(a.Secret), hidden(a.PreviousSecret)
	if a.Headers != nil {
		headers := make(map[string]string, len(a.Headers))
		for name, text := range a.Headers {
			headers[name] = hidden(text)
		}
		a.Headers = headers
	}
	if a.Type == Notify { // most notification addresses are made of tokens
		scheme, _, _ := strings.Cut(a.URL, "://")
		a.URL = scheme + "://" + hiddenText
		return a
	}
	a.URL = withoutPassword(a.URL)
	return a
}

// hiddenText stands where something secret was.
const hiddenText = "••••"

// Masked says that something of the action is as it is shown and not as it is.
func (a *Action) Masked() bool {
	return slices.ContainsFunc(append(slices.Collect(maps.Values(a.Headers)), a.URL, a.Secret, a.PreviousSecret), isHidden)
}

func isHidden(text string) bool { return strings.Contains(text, hiddenText) }

// hidden shows that there is a secret, and its end, so that two can be told apart.
func hidden(secret string) string {
	switch {
	case secret == "":
		return ""
	case len(secret) < 16:
		return hiddenText
	default:
		return hiddenText + secret[len(secret)-4:]
	}
}

// withoutPassword hides the password of an address, or the name where that stands alone: it may be a token.
func withoutPassword(raw string) string {
	if isHidden(raw) {
		return raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		return hiddenText
	}
	if u.User == nil {
		return raw
	}
	login := hiddenText
	if password, _ := u.User.Password(); password != "" {
		login = u.User.Username() + ":" + hiddenText
	}
	u.User = nil
	return u.Scheme + "://" + login + "@" + strings.TrimPrefix(u.String(), u.Scheme+"://")
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

// MarshalData freezes the input of an execution. It writes < and & as they are.
func MarshalData(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte("{}") // there is nothing in it that JSON has no words for
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
