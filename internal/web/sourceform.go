package web

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"freshet"
	"freshet/internal/store"
)

// sourceForm is what the form of a source holds, as it was typed, with what is wrong with it.
type sourceForm struct {
	URL      string // of a new one; a source's address is not edited
	Type     freshet.Type
	Title    string
	Folder   string
	Every    string // minutes
	Delay    string // seconds
	Selector string
	Ignore   string // a rule a line
	Items    bool

	Types []typeChoice
	Wrong map[string]string // by the name of the field
}

// typeChoice is a type of source in words.
type typeChoice struct {
	Type freshet.Type
	Name string
	Help string
}

var typeChoices = []typeChoice{
	{freshet.RSS, "Feed", "its entries (RSS, Atom, JSON Feed); the address of its site will do"},
	{freshet.Website, "Web page", "its text, each time that it changes"},
	{freshet.HTTP, "Any content", "only whether it changed"},
	{freshet.Twitter, "X account", "its posts; needs a token"},
}

// newForm is an empty form for a new source.
func (s *Server) newForm() *sourceForm {
	f := &sourceForm{Type: freshet.RSS, Wrong: map[string]string{}}
	for _, c := range typeChoices {
		if slices.Contains(s.Types, c.Type) {
			f.Types = append(f.Types, c)
		}
	}
	return f
}

// formOf is the form of a source as it is.
func (s *Server) formOf(src freshet.Source) *sourceForm {
	f, c := s.newForm(), src.Config
	f.Type, f.Title, f.Folder = src.Type, src.Title, src.Folder
	if c.Cadence != nil {
		f.Every = decimal(&c.Cadence.EveryMinutes)
	}
	f.Delay = decimal(c.PollDelaySeconds)
	f.Selector, f.Ignore, f.Items = c.Selector, strings.Join(c.Ignore, "\n"), c.Items
	return f.of(src, nil)
}

// of is the form as it belongs to a source that is there: an account stays one, and a type that was not sent is as it was.
func (f *sourceForm) of(src freshet.Source, sent url.Values) *sourceForm {
	if !sent.Has("type") {
		f.Type = src.Type
	}
	f.Types = slices.DeleteFunc(f.Types, func(c typeChoice) bool { return (c.Type == freshet.Twitter) != (src.Type == freshet.Twitter) })
	if (f.Type == freshet.Twitter) != (src.Type == freshet.Twitter) {
		f.Wrong["type"] = "An account and an address cannot become each other."
	}
	return f
}

// readForm reads what was sent.
func (s *Server) readForm(sent url.Values) *sourceForm {
	f := s.newForm()
	field := func(name string) string { return strings.TrimSpace(sent.Get(name)) }
	f.URL, f.Title, f.Folder, f.Selector = field("url"), field("title"), folder(field("folder")), field("selector")
	f.Every, f.Delay, f.Ignore = field("every_minutes"), field("poll_delay_seconds"), field("ignore")
	f.Items = sent.Get("items") != ""
	if t := freshet.Type(sent.Get("type")); t != "" {
		f.Type = t
		if !slices.Contains(s.Types, t) {
			f.Wrong["type"] = fmt.Sprintf("This version does not read sources of type %q.", short(string(t)))
		}
	}
	for name, text := range map[string]string{"title": f.Title, "folder": f.Folder} {
		if len(text) > maxName {
			f.Wrong[name] = "This is too long."
		}
	}
	return f
}

// maxName is how many bytes a person's title or folder may have, as in the API.
const maxName = 500

// apply puts the form into a configuration. What cannot be used is noted at its field.
func (f *sourceForm) apply(c freshet.Config) freshet.Config {
	c.Cadence = nil
	if every := f.number("every_minutes", f.Every); every != nil {
		c.Cadence = &freshet.Cadence{Mode: "interval", EveryMinutes: *every}
	}
	c.PollDelaySeconds = f.number("poll_delay_seconds", f.Delay)
	c.Selector, c.Ignore, c.Items = f.Selector, nonEmptyLines(f.Ignore), f.Items
	// One by one, so that all that is wrong is told at once.
	for _, part := range []freshet.Config{{Cadence: c.Cadence}, {PollDelaySeconds: c.PollDelaySeconds}, {Selector: c.Selector}, {Ignore: c.Ignore}} {
		f.refuse(part.Check())
	}
	return c
}

// number reads a field that may be empty.
func (f *sourceForm) number(name, text string) *float64 {
	if text == "" {
		return nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		f.Wrong[name] = "This must be a number."
		return nil
	}
	return &n
}

// refuse notes an error at the field that it names. It says whether there is such a field in the form.
func (f *sourceForm) refuse(err error) bool {
	var wrong *freshet.FieldError
	if !errors.As(err, &wrong) {
		return false
	}
	name, reason := strings.TrimPrefix(wrong.Field, "config."), wrong.Reason
	var rule int
	switch _, err := fmt.Sscanf(name, "ignore[%d]", &rule); {
	case err == nil:
		name, reason = "ignore", fmt.Sprintf("rule %d %s", rule+1, reason)
	case strings.HasPrefix(name, "cadence."):
		name, reason = "every_minutes", "it "+reason
	default:
		reason = "it " + reason
	}
	f.Wrong[name] = sentence(reason)
	return true
}

// new is the source that the form asks for, at an address.
func (f *sourceForm) new(address string) store.NewSource {
	return store.NewSource{Type: f.Type, URL: address, Title: f.Title, Folder: f.Folder, Config: f.apply(freshet.Config{}), AtOnce: true}
}

// edit puts the form into a source that is there and sets its next poll anew (W9).
func (f *sourceForm) edit(w *store.Watched, settings freshet.Settings, now time.Time) {
	src := w.Source
	src.Title, src.Folder, src.Config = f.Title, f.Folder, f.apply(src.Config)
	retyped := src.Type != f.Type
	if src = src.Reschedule(settings.Policy(src), w.Host, now); retyped {
		src = src.Retype(f.Type, w.Host, now)
	}
	w.Source = src
}

// Options says whether the form holds more than an address.
func (f *sourceForm) Options() bool {
	return f.Type != freshet.RSS || f.Title+f.Folder+f.Every+f.Delay+f.Selector+f.Ignore != "" || f.Items || f.wrongBeside()
}

// wrongBeside says whether another field than the address is wrong.
func (f *sourceForm) wrongBeside() bool {
	return len(f.Wrong) > 1 || len(f.Wrong) == 1 && f.Wrong["url"] == ""
}

// decimal writes a number as a person does, "" for none.
func decimal(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}
