package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"freshet"
	"freshet/internal/trigger"
)

// workflowForm is what the form of a workflow holds, as it was typed, with what is wrong with it (U4).
type workflowForm struct {
	Name, URL          string
	ContentType        freshet.ContentType
	Every              string // minutes
	FirstPoll          freshet.FirstPoll
	Updated            bool
	Selector, JSONPath string
	Ignore             string // a rule a line
	Filter             string
	Batch              freshet.Batch
	Window             string // minutes
	Ordered, Resume    bool
	Enabled            bool
	Actions            []actionForm

	Wrong map[string]string // by the name of the field
}

// actionForm is one action of the form; At is its number in the names of its fields.
type actionForm struct {
	At          int
	ID          string
	Type        freshet.ActionType // "" for none
	URL         string
	Secret      string
	Previous    string
	CloudEvents bool
	Headers     string // "Name: text", a line each
	Command     string // an argument a line
	Disabled    string
}

// mostActionForms is how many actions a form shows.
const mostActionForms = 10

// newWorkflowForm is the form of a workflow that is about to be made.
func newWorkflowForm(address string) *workflowForm {
	f := &workflowForm{URL: address, ContentType: freshet.ContentRSS, Every: "15", FirstPoll: freshet.FirstBaseline, Batch: freshet.BatchPoll, Enabled: true}
	f.Actions = []actionForm{{Type: freshet.Webhook}}
	return f
}

// workflowFormOf is the form of a workflow as it is.
func workflowFormOf(d *freshet.Definition) *workflowForm {
	c := d.Trigger.Config
	f := &workflowForm{
		Name: d.Name, URL: c.URL, ContentType: c.ContentType, Every: decimal(&c.IntervalMinutes), FirstPoll: c.FirstPoll,
		Updated: slices.Contains(c.On, freshet.ChangeUpdated), Selector: c.Selector, JSONPath: c.JSONPath, Ignore: strings.Join(c.Ignore, "\n"),
		Filter: d.Filter, Batch: d.Batch, Ordered: d.Ordered, Resume: d.OnRecovery == freshet.Resume, Enabled: d.Enabled,
	}
	if f.ContentType == freshet.ContentAtom {
		f.ContentType = freshet.ContentRSS
	}
	if d.WindowMinutes > 0 {
		f.Window = decimal(&d.WindowMinutes)
	}
	for i, a := range d.Actions {
		shown := a.Shown()
		var headers strings.Builder
		for _, name := range slices.Sorted(maps.Keys(shown.Headers)) {
			fmt.Fprintf(&headers, "%s: %s\n", name, shown.Headers[name])
		}
		f.Actions = append(f.Actions, actionForm{
			At: i, ID: a.ID, Type: a.Type, URL: shown.URL, Secret: shown.Secret, Previous: shown.PreviousSecret, CloudEvents: a.Format == freshet.CloudEvents,
			Headers: headers.String(), Command: strings.Join(a.Command, "\n"), Disabled: a.Disabled,
		})
	}
	return f
}

// readWorkflowForm reads what was sent.
func readWorkflowForm(sent url.Values) *workflowForm {
	field := func(name string) string { return strings.TrimSpace(sent.Get(name)) }
	f := &workflowForm{
		Name: field("name"), URL: field("url"), ContentType: freshet.ContentType(field("content_type")), Every: field("interval_minutes"),
		FirstPoll: freshet.FirstPoll(field("first_poll")), Updated: field("updated") != "", Selector: field("selector"), JSONPath: field("json_path"),
		Ignore: field("ignore"), Filter: field("filter"), Batch: freshet.Batch(field("batch")), Window: field("window_minutes"),
		Ordered: field("ordered") != "", Resume: field("resume") != "", Enabled: field("enabled") != "",
	}
	for i := range mostActionForms {
		at := func(name string) string { return field(fmt.Sprintf("action%d_%s", i, name)) }
		if !sent.Has(fmt.Sprintf("action%d_type", i)) {
			continue
		}
		f.Actions = append(f.Actions, actionForm{
			At: len(f.Actions), ID: at("id"), Type: freshet.ActionType(at("type")), URL: at("url"), Secret: at("secret"), Previous: at("previous"),
			CloudEvents: at("cloudevents") != "", Headers: at("headers"), Command: at("command"),
		})
	}
	return f
}

// definition is what the form asks for. What cannot be used is in Wrong, by the names of fields.
func (f *workflowForm) definition(before *freshet.Workflow) freshet.Definition {
	f.Wrong = map[string]string{}
	d := freshet.Definition{
		Name: f.Name, Enabled: f.Enabled, Filter: f.Filter, Batch: f.Batch, Ordered: f.Ordered,
		Trigger: freshet.Trigger{Type: "poll", Config: freshet.TriggerConfig{URL: f.URL, ContentType: f.ContentType, FirstPoll: f.FirstPoll}},
	}
	c := &d.Trigger.Config
	c.IntervalMinutes = f.minutes("interval_minutes", f.Every)
	if f.Updated {
		c.On = []freshet.Change{freshet.ChangeNew, freshet.ChangeUpdated}
	}
	if c.ContentType == freshet.ContentHTTP {
		c.Part = freshet.Part{Selector: f.Selector, JSONPath: f.JSONPath, Ignore: nonEmptyLines(f.Ignore)}
		d.Filter = ""
	}
	if f.Batch == freshet.BatchWindow {
		d.WindowMinutes = f.minutes("window_minutes", f.Window)
	}
	if f.Resume {
		d.OnRecovery = freshet.Resume
	}
	form := []int{} // the number in the form of each action
	for _, a := range f.Actions {
		if a.Type != "" {
			d.Actions, form = append(d.Actions, f.action(a)), append(form, a.At)
		}
	}
	d.Complete()
	if before != nil {
		d.Actions = freshet.KeepSecrets(d.Actions, before.Actions)
		keepUnasked(&d, &before.Definition)
	}
	for _, bad := range trigger.Check(&d) {
		f.blame(bad, form)
	}
	return d
}

// keepUnasked keeps of a workflow what its form has no words for.
func keepUnasked(d, before *freshet.Definition) {
	c, was := &d.Trigger.Config, before.Trigger.Config
	if c.ContentType == freshet.ContentRSS && was.ContentType == freshet.ContentAtom {
		c.ContentType = was.ContentType
	}
	if slices.Contains(c.On, freshet.ChangeUpdated) && slices.Contains(was.On, freshet.ChangeUpdated) {
		c.On = was.On
	}
	for i := range d.Actions {
		if a, b := &d.Actions[i], before.Action(d.Actions[i].ID); b != nil && b.URL == a.URL {
			a.Disabled = b.Disabled // until it leads elsewhere, or a person has one of its runs retried
		}
	}
}

// action is what one action of the form asks for; only what its type knows counts.
func (f *workflowForm) action(a actionForm) freshet.Action {
	made := freshet.Action{ID: a.ID, Type: a.Type}
	if a.CloudEvents && a.Type != freshet.Notify {
		made.Format = freshet.CloudEvents
	}
	switch a.Type {
	case freshet.Command:
		made.Command = nonEmptyLines(a.Command)
		return made
	case freshet.Webhook:
		made.Secret, made.PreviousSecret = a.Secret, a.Previous
		for _, line := range nonEmptyLines(a.Headers) {
			name, text, ok := strings.Cut(line, ":")
			if !ok {
				f.Wrong[fmt.Sprintf("action%d_headers", a.At)] = "Each line must be a name, a colon and a text."
				continue
			}
			if made.Headers == nil {
				made.Headers = map[string]string{}
			}
			made.Headers[strings.TrimSpace(name)] = strings.TrimSpace(text)
		}
	}
	made.URL = a.URL
	return made
}

func (f *workflowForm) minutes(field, text string) float64 {
	if text == "" {
		return 0
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", "."), 64)
	if err != nil {
		f.Wrong[field] = "This must be a number of minutes."
		return 15
	}
	return n
}

// blame puts what is wrong beside the field of the form that it is about.
func (f *workflowForm) blame(bad freshet.FieldError, form []int) {
	name := bad.Field
	if rest, ok := strings.CutPrefix(name, "actions["); ok {
		number, field, _ := strings.Cut(rest, "].")
		if i, err := strconv.Atoi(number); err == nil && i < len(form) {
			name = fmt.Sprintf("action%d_%s", form[i], strings.Replace(field, "previous_secret", "previous", 1))
		}
	}
	name = strings.TrimPrefix(name, "trigger.config.")
	name, _, _ = strings.Cut(name, "[")
	if _, known := f.Wrong[name]; !known {
		f.Wrong[name] = "This " + strings.TrimSuffix(bad.Reason, ".") + "."
	}
}

// addAction gives the form one more action to fill in.
func (f *workflowForm) addAction() {
	if len(f.Actions) < mostActionForms {
		f.Actions = append(f.Actions, actionForm{At: len(f.Actions), Type: freshet.Webhook})
	}
}

// nonEmptyLines are the lines of a field that say something, trimmed.
func nonEmptyLines(text string) (list []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// checkWorkflow says what is wrong with a form that is being filled in, by the names of its fields.
func (s *Server) checkWorkflow(w http.ResponseWriter, r *http.Request) error {
	f := readWorkflowForm(r.PostForm)
	before, err := s.workflowBefore(r)
	if err != nil {
		return err
	}
	d := f.definition(before)
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(struct {
		Wrong    map[string]string `json:"wrong"`
		Warnings []string          `json:"warnings"`
	}{f.Wrong, d.Warnings()})
}
