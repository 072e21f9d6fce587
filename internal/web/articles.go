package web

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"freshet"
	"freshet/internal/store"
	"freshet/internal/syndicate"
)

// Article is a post, or several of one source, that a briefing tells.
type Article struct {
	ID          freshet.ID `json:"id"`
	FeedID      freshet.ID `json:"feed_id"`
	FeedTitle   *string    `json:"feed_title" doc:"null when the source is gone."`
	Title       string     `json:"title"`
	URL         *string    `json:"url" doc:"Always http or https."`
	Author      *string    `json:"author"`
	Text        string     `json:"text" doc:"Plain text; posts that were gathered are divided by lines of three hyphens."`
	PublishedAt time.Time  `json:"published_at"`
	CreatedAt   time.Time  `json:"created_at"`
	IsProcessed bool       `json:"is_processed"`
	ProcessedAt *time.Time `json:"processed_at"`
}

type articlesInput struct {
	ID        string `path:"id"`
	Processed bool   `query:"processed" doc:"Those that were acknowledged, instead of those that wait."`
	Limit     int    `query:"limit" minimum:"1" maximum:"1000" default:"1000"`
}

type articlesOutput struct {
	Body struct {
		Articles []Article `json:"articles" nullable:"false"`
		More     bool      `json:"more" doc:"There are others."`
	}
}

func (s *Server) listArticles(ctx context.Context, in *articlesInput) (*articlesOutput, error) {
	b, err := s.briefing(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	list, more, err := s.Store.Articles(ctx, store.ArticleQuery{Briefing: b.ID, Processed: in.Processed, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	out := &articlesOutput{}
	out.Body.Articles, out.Body.More = ShowArticles(list), more
	return out, nil
}

type composeOutput struct {
	Body struct {
		Composed int       `json:"composed" doc:"How many articles are new."`
		Articles []Article `json:"articles" nullable:"false" doc:"All that wait, the newest first."`
		More     bool      `json:"more" doc:"Posts or articles are left for another time: acknowledge these, then compose again."`
	}
}

func (s *Server) composeBriefing(ctx context.Context, in *briefingInput) (*composeOutput, error) {
	b, err := s.briefing(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	made, err := s.Store.Compose(ctx, b.ID, time.Now())
	if err != nil {
		return nil, err
	}
	list, more, err := s.Store.Articles(ctx, store.ArticleQuery{Briefing: b.ID})
	if err != nil {
		return nil, err
	}
	out := &composeOutput{}
	out.Body.Composed, out.Body.Articles, out.Body.More = made.Articles, ShowArticles(list), more || made.More
	return out, nil
}

type acknowledgeInput struct {
	ID   string `path:"id"`
	Body struct {
		ArticleIDs []freshet.ID `json:"article_ids" minItems:"1" maxItems:"1000" nullable:"false" doc:"Of articles of this briefing; what is none is left out."`
	}
}

type acknowledgeOutput struct {
	Body struct {
		Acknowledged int `json:"acknowledged" doc:"How many of them were not before."`
	}
}

func (s *Server) acknowledge(ctx context.Context, in *acknowledgeInput) (*acknowledgeOutput, error) {
	b, err := s.briefing(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := &acknowledgeOutput{}
	out.Body.Acknowledged, err = s.Store.Acknowledge(ctx, b.ID, in.Body.ArticleIDs, time.Now())
	return out, err
}

// articleFormat is a way to write articles other than the API's own.
type articleFormat struct {
	suffix, name, mediaType string
}

// articleFormats are Markdown, and the formats of the river's feeds.
func articleFormats() map[string]articleFormat {
	formats := map[string]articleFormat{"md": {"md", "Markdown", syndicate.Markdown}}
	for suffix, name := range map[string]string{"atom": "an Atom feed", "rss": "an RSS feed", "json": "a JSON Feed"} {
		formats[suffix] = articleFormat{suffix, name, syndicate.Formats[suffix].MediaType}
	}
	return formats
}

func articlesDoc(f articleFormat) func(*huma.Operation, huma.Registry) {
	kind, _, _ := strings.Cut(f.mediaType, ";")
	return func(op *huma.Operation, _ huma.Registry) {
		op.Parameters = []*huma.Param{{Name: "id", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}}}
		if op.Method == http.MethodGet {
			op.Parameters = append(op.Parameters,
				&huma.Param{Name: "processed", In: "query", Schema: &huma.Schema{Type: huma.TypeBoolean}},
				&huma.Param{Name: "limit", In: "query", Schema: &huma.Schema{Type: huma.TypeInteger}})
		}
		schema := &huma.Schema{Type: huma.TypeString}
		if f.suffix == "json" {
			schema.Type = huma.TypeObject
		}
		op.Responses["200"] = &huma.Response{Description: "The articles.", Content: map[string]*huma.MediaType{kind: {Schema: schema}}}
	}
}

// composeAs composes and writes what waits.
func (s *Server) composeAs(f articleFormat) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		b, err := s.briefing(r.Context(), r.PathValue("id"))
		if err != nil {
			return err
		}
		if _, err := s.Store.Compose(r.Context(), b.ID, time.Now()); err != nil {
			return err
		}
		return s.writeArticles(w, r, &b, f, store.ArticleQuery{Briefing: b.ID})
	}
}

func (s *Server) articlesAs(f articleFormat) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		b, err := s.briefing(r.Context(), r.PathValue("id"))
		if err != nil {
			return err
		}
		q, err := articleQuery(b.ID, r.URL.Query())
		if err != nil {
			return err
		}
		return s.writeArticles(w, r, &b, f, q)
	}
}

// articleQuery reads the parameters of an address as listArticles does.
func articleQuery(id freshet.ID, values url.Values) (q store.ArticleQuery, err error) {
	q.Briefing = id
	if v := values.Get("processed"); v != "" {
		if q.Processed, err = strconv.ParseBool(v); err != nil {
			return q, invalidField("query.processed", "must be true or false", v)
		}
	}
	if v := values.Get("limit"); v != "" {
		if q.Limit, err = strconv.Atoi(v); err != nil || q.Limit < 1 || q.Limit > 1000 {
			return q, invalidField("query.limit", "must be a number from 1 to 1000", v)
		}
	}
	return q, nil
}

func (s *Server) writeArticles(w http.ResponseWriter, r *http.Request, b *freshet.Briefing, f articleFormat, q store.ArticleQuery) error {
	list, _, err := s.Store.Articles(r.Context(), q)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", f.mediaType)
	if f.suffix == "md" {
		_ = syndicate.WriteArticles(w, b.Name, list) // the asker is gone if this fails
		return nil
	}
	self := s.ownAddress(r) + "/api/briefings/" + b.ID.String() + "/articles." + f.suffix
	_ = syndicate.Formats[f.suffix].WriteArticleFeed(w, b, self, list)
	return nil
}

// ShowArticles are articles as the API shows them.
func ShowArticles(list []freshet.Article) []Article {
	out := make([]Article, len(list))
	for i := range list {
		a := &list[i]
		out[i] = Article{ID: a.ID, FeedID: a.Source, FeedTitle: text(&a.SourceName), Title: a.Title, URL: link(&a.URL), Author: text(&a.Author),
			Text: a.Text, PublishedAt: utc(a.PublishedAt), CreatedAt: utc(a.CreatedAt), IsProcessed: a.Processed(), ProcessedAt: when(a.ProcessedAt)}
	}
	return out
}
