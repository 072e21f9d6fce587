package web

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"freshet"
	"freshet/internal/fetch"
	"freshet/internal/store"
)

// Feed is a source as the API shows it.
type Feed struct {
	ID                  freshet.ID     `json:"id"`
	URL                 string         `json:"url" doc:"The address that is polled; a password in it is masked."`
	MovedFrom           *string        `json:"moved_from" doc:"The address before it moved for good."`
	NormalizedURL       string         `json:"normalized_url" doc:"What makes two addresses one feed."`
	Title               string         `json:"title" doc:"The title given here, else the feed's own, else its address."`
	CustomTitle         *string        `json:"custom_title" doc:"The title given here."`
	SiteURL             *string        `json:"site_url"`
	Folder              *string        `json:"folder" doc:"Names joined with /."`
	Type                freshet.Type   `json:"type" enum:"rss,website,http,twitter"`
	Enabled             bool           `json:"enabled"`
	DisabledReason      *string        `json:"disabled_reason"`
	Status              freshet.Health `json:"status" enum:"healthy,unhealthy,disabled,pending"`
	ConsecutiveFailures int            `json:"consecutive_failures"`
	LastError           *string        `json:"last_error" doc:"What went wrong last, in a sentence; null after a success."`
	ErrorClass          *freshet.Class `json:"error_class" doc:"transient or permanent"`
	LastPolledAt        *time.Time     `json:"last_polled_at"`
	LastSuccessAt       *time.Time     `json:"last_success_at"`
	NextPollAt          *time.Time     `json:"next_poll_at"`
	NextPollReason      string         `json:"next_poll_reason" doc:"Why it is polled then."`
	Policy              freshet.Rules  `json:"policy" doc:"What holds for it, and who says so."`
	Config              freshet.Config `json:"config"`
	Cursor              freshet.Cursor `json:"cursor" doc:"What it remembers between polls."`
	CreatedAt           time.Time      `json:"created_at"`
	UpdatedAt           time.Time      `json:"updated_at"`
}

// Poll is one of a feed's last polls.
type Poll struct {
	At     time.Time      `json:"at"`
	TookMS int64          `json:"took_ms"`
	Status *int           `json:"status" doc:"The HTTP status; null when there was no answer."`
	Result freshet.Result `json:"result" enum:"ok,partial,error"`
	New    int            `json:"new"`
}

// FeedDetail is a feed with its last polls.
type FeedDetail struct {
	Feed
	Polls []Poll `json:"polls" nullable:"false" doc:"The last 30, newest first."`
}

// FeedChanged is a feed as it is after a change.
type FeedChanged struct {
	FeedDetail
	Warnings []string `json:"warnings" nullable:"false" doc:"What was accepted but should be known."`
}

type feedInput struct {
	ID string `path:"id"`
}

type feedOutput struct{ Body FeedDetail }

type feedsOutput struct {
	Body struct {
		Feeds []Feed `json:"feeds" nullable:"false"`
	}
}

func (s *Server) listFeeds(ctx context.Context, _ *struct{}) (*feedsOutput, error) {
	watched, err := s.Store.Sources(ctx, store.SourceFilter{})
	if err != nil {
		return nil, err
	}
	out, now := &feedsOutput{}, time.Now()
	out.Body.Feeds = make([]Feed, len(watched))
	for i := range watched {
		out.Body.Feeds[i] = s.feed(&watched[i], now)
	}
	return out, nil
}

func (s *Server) getFeed(ctx context.Context, in *feedInput) (*feedOutput, error) {
	w, err := s.source(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &feedOutput{s.feedDetail(&w, time.Now())}, nil
}

type addInput struct {
	Body struct {
		URL    string       `json:"url" maxLength:"4096" example:"https://example.org/feed.xml" doc:"The address of a feed; without a scheme it is https. Of an X account the handle will do."`
		Title  string       `json:"title,omitempty" maxLength:"500"`
		Folder string       `json:"folder,omitempty" maxLength:"500"`
		Type   freshet.Type `json:"type,omitempty" default:"rss" enum:"rss,website,http,twitter"`
		Config configInput  `json:"config,omitempty"`
	}
}

type changedOutput struct {
	Location string `header:"Location"`
	Body     FeedChanged
}

func (s *Server) addFeed(ctx context.Context, in *addInput) (*changedOutput, error) {
	b := &in.Body
	if !slices.Contains(s.Types, b.Type) {
		return nil, invalidField("body.type", fmt.Sprintf("this version does not read sources of type %q", b.Type), string(b.Type))
	}
	address, warning, err := sourceAddress(b.Type, b.URL)
	if err != nil {
		return nil, err
	}
	config, err := b.Config.apply(freshet.Config{})
	if err != nil {
		return nil, err
	}
	now := time.Now()
	w, err := s.Store.AddSource(ctx, store.NewSource{Type: b.Type, URL: address, Title: strings.TrimSpace(b.Title),
		Folder: folder(b.Folder), Config: config, AtOnce: true}, now)
	if err != nil {
		return nil, err
	}
	s.Kick()
	out := s.changedFeed(&w, now)
	out.Location = "/api/feeds/" + w.Source.ID.String()
	if warning != "" {
		out.Body.Warnings = append(out.Body.Warnings, warning)
	}
	return out, nil
}

type editInput struct {
	ID   string `path:"id"`
	Body struct {
		Title   optional[string] `json:"title,omitzero" maxLength:"500" doc:"null for the feed's own."`
		Folder  optional[string] `json:"folder,omitzero" maxLength:"500"`
		Enabled *bool            `json:"enabled,omitempty"`
		Config  configInput      `json:"config,omitempty"`
	}
}

func (s *Server) editFeed(ctx context.Context, in *editInput) (*changedOutput, error) {
	w, err := s.source(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	w, err = s.Store.EditSource(ctx, w.Source.ID, now, func(w *store.Watched) error { return s.amend(w, in, now) })
	if err != nil {
		return nil, err
	}
	s.Kick()
	return s.changedFeed(&w, now), nil
}

// amend changes what was given and leaves the rest.
func (s *Server) amend(w *store.Watched, in *editInput, now time.Time) error {
	src, b := w.Source, &in.Body
	config, err := b.Config.apply(src.Config)
	if err != nil {
		return err
	}
	src.Title = strings.TrimSpace(b.Title.or(src.Title))
	src.Folder = folder(b.Folder.or(src.Folder))
	if b.Config != (configInput{}) {
		src.Config = config
		src = src.Reschedule(s.Store.Settings().Policy(src), w.Host, now)
	}
	switch {
	case b.Enabled == nil || *b.Enabled == src.Enabled:
	case *b.Enabled:
		src = src.Enable(w.Host, now)
	default:
		src = src.Disable("by hand")
	}
	w.Source = src
	return nil
}

func (s *Server) removeFeed(ctx context.Context, in *feedInput) (*struct{}, error) {
	w, err := s.source(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return nil, s.Store.RemoveSource(ctx, w.Source.ID, time.Now())
}

// restoreFeed takes a removal back.
func (s *Server) restoreFeed(ctx context.Context, in *feedInput) (*feedOutput, error) {
	id, err := idOf("feed", in.ID)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	w, err := s.Store.RestoreSource(ctx, id, now)
	if err != nil {
		return nil, err
	}
	s.Kick()
	return &feedOutput{s.feedDetail(&w, now)}, nil
}

// source finds a feed by the id of a path. One that was removed is not there.
func (s *Server) source(ctx context.Context, id string) (store.Watched, error) {
	parsed, err := idOf("feed", id)
	if err != nil {
		return store.Watched{}, err
	}
	w, err := s.Store.Source(ctx, parsed)
	if err == nil && !w.Source.RemovedAt.IsZero() {
		err = freshet.ErrNotFound
	}
	if err == freshet.ErrNotFound {
		err = problem(notFound, fmt.Sprintf("There is no feed with the id %s.", parsed))
	}
	return w, err
}

// changedFeed is a feed after a change, with what should be known about it.
func (s *Server) changedFeed(w *store.Watched, now time.Time) *changedOutput {
	out := &changedOutput{Body: FeedChanged{FeedDetail: s.feedDetail(w, now), Warnings: []string{}}}
	least := s.Store.Settings().MinInterval
	if c := w.Source.Config.Cadence; c != nil && c.Every() < least {
		out.Body.Warnings = append(out.Body.Warnings, "It is polled every "+freshet.Span(least)+" at most; this server allows no less.")
	}
	return out
}

func (s *Server) feedDetail(w *store.Watched, now time.Time) FeedDetail {
	polls := w.Source.History.Polls()
	d := FeedDetail{Feed: s.feed(w, now), Polls: make([]Poll, len(polls))}
	for i, p := range polls {
		d.Polls[i] = Poll{At: p.At, TookMS: p.Took.Milliseconds(), Result: p.Result, New: p.New}
		if p.Status != 0 {
			d.Polls[i].Status = &polls[i].Status
		}
	}
	return d
}

func (s *Server) feed(w *store.Watched, now time.Time) Feed {
	src := &w.Source
	shown := shownURL(src.URL)
	policy := s.Store.Settings().Policy(*src)
	f := Feed{
		ID: src.ID, URL: shown, MovedFrom: given(shownURL(src.MovedFrom)), NormalizedURL: freshet.NormalizedURL(shown),
		Title: src.Name(), CustomTitle: given(src.Title), SiteURL: given(src.SiteURL), Folder: given(src.Folder),
		Type: src.Type, Enabled: src.Enabled, DisabledReason: given(src.DisabledReason),
		Status: src.Health(), ConsecutiveFailures: src.Failures,
		LastPolledAt: when(src.LastPollAt), LastSuccessAt: when(src.LastSuccessAt), NextPollAt: when(src.NextPollAt),
		NextPollReason: src.Explain(policy, w.Host, now), Policy: policy.Rules(),
		Config: src.Config, Cursor: src.Cursor.Shown(), CreatedAt: utc(src.CreatedAt), UpdatedAt: utc(src.UpdatedAt),
	}
	if failure := src.LastFailure; failure != nil {
		f.LastError, f.ErrorClass = &failure.Sentence, &failure.Class
	}
	return f
}

// given is nil for what is missing.
func given(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// when is a time as the API writes it, nil for none.
func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = utc(t)
	return &t
}

// utc is a time as the API writes it: as exact as the database keeps it.
func utc(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// folder is a path of names without empty ones.
func folder(path string) string {
	names := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return strings.Join(slices.DeleteFunc(names, func(n string) bool { return n == "" }), "/")
}

// shownURL is an address without the password in it, which is told to its server only.
func shownURL(raw string) string {
	if !strings.Contains(raw, "@") {
		return raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		return fetch.Redact(raw)
	}
	return u.Redacted()
}
