package web

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"freshet"
	"freshet/internal/fetch"
	"freshet/internal/store"
)

// briefingRoutes are the calls of SPEC.md section 8.
func (s *Server) briefingRoutes() {
	typed(s, "GET /api/briefings", "list-briefings", "All briefings with their sources.", 200, s.listBriefings)
	typed(s, "POST /api/briefings", "add-briefing", "Add a briefing with its sources.", 201, s.addBriefing)
	typed(s, "GET /api/briefings/{id}", "get-briefing", "One briefing.", 200, s.getBriefing)
	typed(s, "PATCH /api/briefings/{id}", "edit-briefing", "Change what is given; null brings the default back.", 200, s.editBriefing)
	typed(s, "DELETE /api/briefings/{id}", "remove-briefing", "Remove a briefing with its articles, and its sources where nobody else wants them.", 204, s.removeBriefing)
	typed(s, "POST /api/briefings/{id}/sources", "add-briefing-sources", "Add sources to a briefing, or change how it has them.", 200, s.addBriefingSources)
	typed(s, "DELETE /api/briefings/{id}/sources/{feed_id}", "remove-briefing-source", "Take a source out of a briefing, and away when nobody else wants it.", 200, s.removeBriefingSource)
	typed(s, "POST /api/briefings/{id}/compose", "compose-briefing", "Turn new posts into articles, and answer with all that wait.", 200, s.composeBriefing)
	typed(s, "GET /api/briefings/{id}/articles", "list-articles", "The articles that wait, or those that were acknowledged.", 200, s.listArticles)
	typed(s, "POST /api/briefings/{id}/acknowledge", "acknowledge-articles", "Mark articles as processed; they are kept for good.", 200, s.acknowledge)
	for suffix, format := range articleFormats() {
		s.raw("POST /api/briefings/{id}/compose."+suffix, "compose-briefing-"+suffix, "Compose, and answer with all articles that wait, as "+format.name+".", articlesDoc(format), s.composeAs(format))
		s.raw("GET /api/briefings/{id}/articles."+suffix, "list-articles-"+suffix, "The articles as "+format.name+".", articlesDoc(format), s.articlesAs(format))
	}
}

// Briefing is a named set of sources whose posts are gathered into articles.
type Briefing struct {
	ID                freshet.ID       `json:"id"`
	Name              string           `json:"name"`
	Owner             string           `json:"owner" doc:"With whose credentials its sources are polled; empty for the instance."`
	MaxArticleAgeDays float64          `json:"max_article_age_days"`
	IntervalMinutes   *float64         `json:"interval_minutes" doc:"At least so often its sources are polled; null for what holds anyway."`
	Sources           []BriefingSource `json:"sources" nullable:"false"`
	CreatedAt         time.Time        `json:"created_at"`
	UpdatedAt         time.Time        `json:"updated_at"`
}

// BriefingSource is a source as a briefing has it.
type BriefingSource struct {
	FeedID     freshet.ID     `json:"feed_id"`
	URL        string         `json:"url" doc:"The address that is polled; a password in it is masked."`
	Title      string         `json:"title"`
	Type       freshet.Type   `json:"type" enum:"rss,website,http,twitter"`
	InRiver    bool           `json:"in_river" doc:"It shows in the river, too."`
	Status     freshet.Health `json:"status" enum:"healthy,unhealthy,disabled,pending"`
	Aggregate  *bool          `json:"aggregate" doc:"One article takes all its posts; null lets its kind decide."`
	Aggregates bool           `json:"aggregates" doc:"What follows."`
	AddedAt    time.Time      `json:"added_at"`
}

type briefingInput struct {
	ID string `path:"id"`
}

type briefingOutput struct{ Body Briefing }

type briefingsOutput struct {
	Body struct {
		Briefings []Briefing `json:"briefings" nullable:"false"`
	}
}

func (s *Server) listBriefings(ctx context.Context, _ *struct{}) (*briefingsOutput, error) {
	list, err := s.Store.Briefings(ctx)
	if err != nil {
		return nil, err
	}
	out := &briefingsOutput{}
	out.Body.Briefings = make([]Briefing, len(list))
	for i := range list {
		out.Body.Briefings[i] = ShowBriefing(&list[i])
	}
	return out, nil
}

func (s *Server) getBriefing(ctx context.Context, in *briefingInput) (*briefingOutput, error) {
	b, err := s.briefing(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &briefingOutput{ShowBriefing(&b)}, nil
}

type briefingSourceInput struct {
	URL       string       `json:"url" maxLength:"4096" example:"https://example.org/feed.xml" doc:"A source that is there already is shared; else it is added, and does not show in the river."`
	Type      freshet.Type `json:"type,omitempty" default:"rss" enum:"rss,website,http,twitter"`
	Title     string       `json:"title,omitempty" maxLength:"500"`
	Aggregate *bool        `json:"aggregate,omitempty" doc:"One article takes all its posts; by default for X accounts and nitter hosts."`
	Config    configInput  `json:"config,omitempty"`
}

type briefingAddInput struct {
	Body struct {
		Name              string                `json:"name" maxLength:"100"`
		Owner             string                `json:"owner,omitempty" maxLength:"100"`
		MaxArticleAgeDays *float64              `json:"max_article_age_days,omitempty" doc:"Older posts are left out; 7 unless given."`
		IntervalMinutes   float64               `json:"interval_minutes,omitempty"`
		Sources           []briefingSourceInput `json:"sources,omitempty" maxItems:"1000" nullable:"false"`
	}
}

type briefingAddOutput struct {
	Location string `header:"Location"`
	Body     Briefing
}

func (s *Server) addBriefing(ctx context.Context, in *briefingAddInput) (*briefingAddOutput, error) {
	b := freshet.NewBriefing(strings.TrimSpace(in.Body.Name), strings.TrimSpace(in.Body.Owner))
	b.Interval = minutes(in.Body.IntervalMinutes)
	if days := in.Body.MaxArticleAgeDays; days != nil {
		b.MaxAge = ageOf(*days)
	}
	sources, err := s.briefingSources(in.Body.Sources)
	if err != nil {
		return nil, err
	}
	if b, err = s.Store.AddBriefing(ctx, b, sources, time.Now()); err != nil {
		return nil, err
	}
	s.Kick()
	return &briefingAddOutput{"/api/briefings/" + b.ID.String(), ShowBriefing(&b)}, nil
}

// briefingSources reads the sources that a briefing is to have.
func (s *Server) briefingSources(list []briefingSourceInput) ([]store.BriefingSource, error) {
	sources := make([]store.BriefingSource, len(list))
	for i := range list {
		var err error
		if sources[i], err = s.briefingSource(&list[i], fmt.Sprintf("body.sources[%d].", i)); err != nil {
			return nil, err
		}
	}
	return sources, nil
}

// briefingSource reads one of them; at is where its fields are.
func (s *Server) briefingSource(in *briefingSourceInput, at string) (store.BriefingSource, error) {
	has := store.BriefingSource{Aggregate: in.Aggregate,
		NewSource: store.NewSource{Type: in.Type, URL: strings.TrimSpace(in.URL), Title: strings.TrimSpace(in.Title), AtOnce: true}}
	var err error
	if has.Config, err = in.Config.apply(freshet.Config{}); err != nil {
		var field *freshet.FieldError
		if errors.As(err, &field) {
			err = invalidField(at+field.Field, strings.TrimSuffix(field.Reason, "."), nil)
		}
		return has, err
	}
	if in.Type == freshet.Twitter || freshet.NamesAccount(has.URL) {
		return has, nil // no address: the store knows the account
	}
	if !slices.Contains(s.Types, in.Type) {
		return has, invalidField(at+"type", fmt.Sprintf("this version does not read sources of type %q", in.Type), string(in.Type))
	}
	u, _, err := fetch.CheckURL(has.URL)
	if err != nil {
		return has, invalidField(at+"url", strings.TrimSuffix(err.Error(), "."), fetch.Redact(in.URL))
	}
	has.URL = u.String()
	return has, nil
}

type briefingEditInput struct {
	ID   string `path:"id"`
	Body struct {
		Name              *string           `json:"name,omitempty" maxLength:"100"`
		Owner             optional[string]  `json:"owner,omitzero" maxLength:"100" doc:"null for the instance."`
		MaxArticleAgeDays optional[float64] `json:"max_article_age_days,omitzero" doc:"null for 7."`
		IntervalMinutes   optional[float64] `json:"interval_minutes,omitzero" doc:"null for what holds anyway."`
	}
}

func (s *Server) editBriefing(ctx context.Context, in *briefingEditInput) (*briefingOutput, error) {
	b, err := s.briefing(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	b, err = s.Store.EditBriefing(ctx, b.ID, time.Now(), func(b *freshet.Briefing) error {
		change := &in.Body
		if change.Name != nil {
			b.Name = *change.Name
		}
		b.Owner = change.Owner.or(b.Owner)
		b.Interval = minutes(change.IntervalMinutes.or(b.Interval.Minutes()))
		if age := change.MaxArticleAgeDays; age.present {
			b.MaxAge = freshet.NewBriefing("", "").MaxAge
			if age.value != nil {
				b.MaxAge = ageOf(*age.value)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.Kick()
	return &briefingOutput{ShowBriefing(&b)}, nil
}

func (s *Server) removeBriefing(ctx context.Context, in *briefingInput) (*struct{}, error) {
	b, err := s.briefing(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return nil, s.Store.RemoveBriefing(ctx, b.ID, time.Now())
}

type briefingSourcesInput struct {
	ID   string `path:"id"`
	Body struct {
		Sources []briefingSourceInput `json:"sources" minItems:"1" maxItems:"1000" nullable:"false"`
	}
}

func (s *Server) addBriefingSources(ctx context.Context, in *briefingSourcesInput) (*briefingOutput, error) {
	b, err := s.briefing(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	sources, err := s.briefingSources(in.Body.Sources)
	if err != nil {
		return nil, err
	}
	if b, err = s.Store.AddToBriefing(ctx, b.ID, sources, time.Now()); err != nil {
		return nil, err
	}
	s.Kick()
	return &briefingOutput{ShowBriefing(&b)}, nil
}

type briefingSourceRemoval struct {
	ID     string `path:"id"`
	FeedID string `path:"feed_id"`
}

func (s *Server) removeBriefingSource(ctx context.Context, in *briefingSourceRemoval) (*briefingOutput, error) {
	b, err := s.briefing(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	id, err := freshet.ParseID(in.FeedID)
	if err == nil {
		b, err = s.Store.RemoveFromBriefing(ctx, b.ID, id, time.Now())
	}
	if errors.Is(err, freshet.ErrNotFound) {
		err = problem(notFound, fmt.Sprintf("The briefing has no source with the id %q.", short(in.FeedID)))
	}
	if err != nil {
		return nil, err
	}
	return &briefingOutput{ShowBriefing(&b)}, nil
}

// briefing finds a briefing by the id of a path.
func (s *Server) briefing(ctx context.Context, id string) (freshet.Briefing, error) {
	parsed, err := idOf("briefing", id)
	if err != nil {
		return freshet.Briefing{}, err
	}
	b, err := s.Store.Briefing(ctx, parsed)
	if errors.Is(err, freshet.ErrNotFound) {
		err = problem(notFound, fmt.Sprintf("There is no briefing with the id %s.", parsed))
	}
	return b, err
}

// ShowBriefing is a briefing as the API shows it.
func ShowBriefing(b *freshet.Briefing) Briefing {
	out := Briefing{ID: b.ID, Name: b.Name, Owner: b.Owner, MaxArticleAgeDays: b.MaxAge.Hours() / 24,
		Sources: make([]BriefingSource, len(b.Sources)), CreatedAt: utc(b.CreatedAt), UpdatedAt: utc(b.UpdatedAt)}
	if b.Interval > 0 {
		every := b.Interval.Minutes()
		out.IntervalMinutes = &every
	}
	for i, has := range b.Sources {
		src := &has.Source
		out.Sources[i] = BriefingSource{FeedID: src.ID, URL: shownURL(src.URL), Title: src.Name(), Type: src.Type, InRiver: src.InRiver,
			Status: src.Health(), Aggregate: has.Aggregate, Aggregates: has.Aggregates(), AddedAt: utc(has.AddedAt)}
	}
	return out
}

// minutes and ageOf keep what no duration holds out of range, for Briefing.Check to refuse.
func minutes(n float64) time.Duration { return bounded(n, time.Minute) }

func ageOf(days float64) time.Duration { return bounded(days, 24*time.Hour) }

func bounded(n float64, unit time.Duration) time.Duration {
	const most = 100 * 365.25 * 24 * time.Hour
	if n*float64(unit) > float64(most) {
		return most + unit
	}
	return time.Duration(n * float64(unit))
}
