package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"freshet"
)

// idOf reads the id of a path. What is no id names nothing.
func idOf(noun, text string) (freshet.ID, error) {
	id, err := freshet.ParseID(text)
	if err != nil {
		return 0, problem(notFound, fmt.Sprintf("There is no %s with the id %q.", noun, short(text)))
	}
	return id, nil
}

// Paging asks for a page of a list.
type Paging struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"200"`
	Cursor string `query:"cursor" doc:"The next_cursor of the page before."`
}

// brokenCursor is the problem of a cursor that cannot be read.
func brokenCursor(cursor string) *Problem {
	p := problemOf(freshet.ErrBadPlace)
	p.Errors = []FieldProblem{{"query.cursor", "send the next_cursor of the page before as it was", short(cursor)}}
	return p
}

// optional is a field that may be missing (leave it), null (clear it) or there (set it), as in
// RFC 7396.
type optional[T any] struct {
	present bool
	value   *T // nil for null
}

// UnmarshalJSON is called for null too, and not for what is missing.
func (o *optional[T]) UnmarshalJSON(b []byte) error {
	o.present = true
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	return json.Unmarshal(b, &o.value)
}

// Schema documents it as what it holds, or null.
func (optional[T]) Schema(r huma.Registry) *huma.Schema {
	held := *r.Schema(reflect.TypeFor[T](), false, "")
	held.Nullable = true
	return &held
}

// pointer returns the field, nil when it was null, and old when it was missing.
func (o optional[T]) pointer(old *T) *T {
	if !o.present {
		return old
	}
	return o.value
}

// or returns the field, the zero value when it was null, and old when it was missing.
func (o optional[T]) or(old T) T {
	if p := o.pointer(&old); p != nil {
		return *p
	}
	var none T
	return none
}

// configInput is a change of a source's configuration.
type configInput struct {
	Cadence           optional[cadenceInput]  `json:"cadence,omitzero" doc:"How often it is polled; null for the default."`
	PollDelaySeconds  optional[float64]       `json:"poll_delay_seconds,omitzero" doc:"Pause of its host after each poll."`
	Retry             optional[freshet.Retry] `json:"retry,omitzero" enum:"ladder,exponential" doc:"How the wait grows while it fails."`
	SkipHistory       optional[bool]          `json:"skip_history,omitzero" doc:"The first poll stores nothing older than the source."`
	MaxArticleAgeDays optional[float64]       `json:"max_article_age_days,omitzero"`
	Selector          optional[string]        `json:"selector,omitzero" example:"main .prices" doc:"CSS selector of what counts of a page (type website)."`
	Ignore            optional[[]string]      `json:"ignore,omitzero" doc:"What of a page does not count: CSS selectors, or regular expressions for lines between slashes (type website)."`
	Items             optional[bool]          `json:"items,omitzero" doc:"A change is an item (type http)."`
}

type cadenceInput struct {
	Mode         string  `json:"mode,omitempty" enum:"interval"`
	EveryMinutes float64 `json:"every_minutes" doc:"May be a fraction."`
}

// apply changes what was given, and refuses what cannot be kept.
func (c configInput) apply(config freshet.Config) (freshet.Config, error) {
	if in := c.Cadence; in.present {
		config.Cadence = nil
		if in.value != nil {
			config.Cadence = &freshet.Cadence{Mode: cmp.Or(in.value.Mode, "interval"), EveryMinutes: in.value.EveryMinutes}
		}
	}
	config.PollDelaySeconds = c.PollDelaySeconds.pointer(config.PollDelaySeconds)
	config.Retry = c.Retry.or(config.Retry)
	config.SkipHistory = c.SkipHistory.pointer(config.SkipHistory)
	config.MaxArticleAgeDays = c.MaxArticleAgeDays.pointer(config.MaxArticleAgeDays)
	config.Selector = strings.TrimSpace(c.Selector.or(config.Selector))
	config.Ignore = c.Ignore.or(config.Ignore)
	config.Items = c.Items.or(config.Items)
	return config, config.Check()
}
