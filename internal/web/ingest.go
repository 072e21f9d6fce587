package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"freshet"
	"freshet/internal/discover"
	"freshet/internal/fetch"
)

// IngestResult is what an ingest run did (S10); freshet ingest --json prints the same.
type IngestResult struct {
	WindowEnd time.Time      `json:"window_end"`
	Sources   []IngestSource `json:"sources" nullable:"false"`
}

// IngestSource is what became of one source in an ingest run.
type IngestSource struct {
	URL    string         `json:"url"`
	Status freshet.Result `json:"status" enum:"ok,partial,error,skipped"`
	New    int            `json:"new"`
	Error  *string        `json:"error"`
}

type ingestInput struct {
	Body *struct {
		WindowEnd *time.Time `json:"window_end,omitempty" doc:"The run's now; the current time when missing."`
		Feeds     []string   `json:"feeds,omitempty" nullable:"false" maxItems:"5000" doc:"Ids or addresses; all feeds when missing."`
		Force     bool       `json:"force,omitempty" doc:"Also what is not due by its cadence."`
	}
}

type ingestOutput struct{ Body IngestResult }

func (s *Server) ingest(ctx context.Context, in *ingestInput) (*ingestOutput, error) {
	windowEnd, force := time.Now(), false
	var ids []freshet.ID
	if b := in.Body; b != nil {
		if force = b.Force; b.WindowEnd != nil {
			windowEnd = *b.WindowEnd
		}
		for i, name := range b.Feeds {
			w, err := s.Store.FindSource(ctx, name)
			if errors.Is(err, freshet.ErrNotFound) {
				return nil, invalidField(fmt.Sprintf("body.feeds[%d]", i), "there is no such feed", name)
			}
			if err != nil {
				return nil, err
			}
			ids = append(ids, w.Source.ID)
		}
	}
	result, err := s.Ingest(ctx, windowEnd.UTC(), ids, force)
	if err != nil {
		return nil, err
	}
	if result.Sources == nil {
		result.Sources = []IngestSource{}
	}
	return &ingestOutput{result}, nil
}

// unhurried lets an answer take as long as the polls behind it.
func unhurried(ctx huma.Context, next func(huma.Context)) {
	_, w := humago.Unwrap(ctx)
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // not every writer can
	next(ctx)
}

// Candidate is a feed that was found behind an address.
type Candidate struct {
	URL     string   `json:"url"`
	Title   string   `json:"title"`
	Type    string   `json:"type"`
	Titles  []string `json:"titles" nullable:"false" doc:"Of its newest entries."`
	Entries int      `json:"entries"`
}

type discoverInput struct {
	Body struct {
		URL string `json:"url" maxLength:"4096" doc:"The address of a feed, a site, a channel."`
	}
}

type discoverOutput struct {
	Body struct {
		Candidates []Candidate `json:"candidates" nullable:"false"`
	}
}

func (s *Server) discover(ctx context.Context, in *discoverInput) (*discoverOutput, error) {
	found, err := s.Find(ctx, in.Body.URL)
	var failure *freshet.Failure
	if errors.As(err, &failure) {
		p := problemOf(err)
		p.Errors = []FieldProblem{{"body.url", failure.Sentence, short(fetch.Redact(in.Body.URL))}}
		return nil, p
	}
	if err != nil {
		return nil, err
	}
	out := &discoverOutput{}
	out.Body.Candidates = make([]Candidate, len(found))
	for i := range found {
		out.Body.Candidates[i] = candidate(&found[i])
	}
	return out, nil
}

func candidate(c *discover.Candidate) Candidate {
	titles := c.Titles
	if titles == nil {
		titles = []string{}
	}
	return Candidate{c.URL, c.Title, c.Type, titles, c.Entries}
}
