package web

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"freshet"
)

// Refresh is a poll that somebody asked for, as the API and the stream of events show it.
type Refresh struct {
	ID          freshet.ID          `json:"id"`
	State       string              `json:"state" enum:"running,done"`
	Kind        freshet.RefreshKind `json:"kind" enum:"refresh,ingest"`
	Total       int                 `json:"total"`
	Done        int                 `json:"done" doc:"Polls that ended, failed and put off ones included."`
	Failed      int                 `json:"failed"`
	PutOff      int                 `json:"put_off" doc:"Feeds whose server asked for a pause meanwhile."`
	NewItems    int                 `json:"new_items"`
	RequestedAt time.Time           `json:"requested_at"`
	FinishedAt  *time.Time          `json:"finished_at"`
}

// RefreshStarted answers who asked for it.
type RefreshStarted struct {
	Refresh
	Joined      bool         `json:"joined" doc:"It was under way already."`
	PutOffFeeds []PutOffFeed `json:"put_off_feeds" nullable:"false" doc:"Feeds that are left alone because their server asked for a pause."`
}

// PutOffFeed is a feed that a refresh leaves alone.
type PutOffFeed struct {
	FeedName
	Until time.Time `json:"until"`
}

// RefreshProgress is how far a refresh is.
type RefreshProgress struct {
	Refresh
	Failures []RefreshFailure `json:"failures" nullable:"false" doc:"The first 200 feeds that could not be read."`
}

// RefreshFailure is a feed that could not be read.
type RefreshFailure struct {
	FeedName
	Error string `json:"error"`
}

const maxFailures = 200

type refreshOutput struct{ Body RefreshStarted }

func (s *Server) refreshAll(ctx context.Context, _ *struct{}) (*refreshOutput, error) {
	return s.startRefresh(ctx, nil)
}

func (s *Server) refreshFeed(ctx context.Context, in *feedInput) (*refreshOutput, error) {
	w, err := s.source(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out, err := s.startRefresh(ctx, []freshet.ID{w.Source.ID})
	if errors.Is(err, freshet.ErrDisabled) {
		p := problem(feedDisabled, fmt.Sprintf("%s is switched off (%s). Switch it on first.", w.Source.Name(), w.Source.DisabledReason))
		p.Feed = nameOf(w.Source)
		return nil, p
	}
	return out, err
}

func (s *Server) startRefresh(ctx context.Context, ids []freshet.ID) (*refreshOutput, error) {
	started, err := s.Store.StartRefresh(ctx, freshet.ByHand, ids, time.Now())
	if err != nil {
		return nil, err
	}
	s.Kick()
	out := RefreshStarted{Refresh: refresh(started.Refresh), Joined: started.Joined, PutOffFeeds: make([]PutOffFeed, len(started.PutOff))}
	for i := range started.PutOff {
		p := &started.PutOff[i]
		out.PutOffFeeds[i] = PutOffFeed{*nameOf(p.Source), utc(p.Until)}
	}
	return &refreshOutput{out}, nil
}

type progressInput struct {
	ID string `path:"id"`
}

type progressOutput struct{ Body RefreshProgress }

func (s *Server) getRefresh(ctx context.Context, in *progressInput) (*progressOutput, error) {
	id, err := idOf("refresh", in.ID)
	if err != nil {
		return nil, err
	}
	r, err := s.Store.Refresh(ctx, id)
	if err != nil {
		return nil, err
	}
	failures, err := s.failures(ctx, r)
	if err != nil {
		return nil, err
	}
	return &progressOutput{RefreshProgress{refresh(r), failures}}, nil
}

// failures costs nothing as long as there are none: whoever waits for a refresh asks often.
func (s *Server) failures(ctx context.Context, r freshet.Refresh) ([]RefreshFailure, error) {
	failures := []RefreshFailure{}
	if r.Failed == 0 {
		return failures, nil
	}
	results, err := s.Store.RefreshFailures(ctx, r.ID, maxFailures)
	for i := range results {
		failures = append(failures, RefreshFailure{*nameOf(results[i].Source), results[i].Error})
	}
	return failures, err
}

// progress says how far a refresh is, or how it ended; refresh.js says the same.
func progress(r *freshet.Refresh) string {
	var b strings.Builder
	if r.Running() {
		fmt.Fprintf(&b, "Refreshing: %d of %d", r.Done, r.Total)
		if r.Failed > 0 {
			fmt.Fprintf(&b, ", %d failed", r.Failed)
		}
		if r.NewItems > 0 {
			fmt.Fprintf(&b, ", %d new", r.NewItems)
		}
		return b.String()
	}
	fmt.Fprintf(&b, "%d fetched, %d failing", r.Done-r.Failed-r.PutOff, r.Failed)
	if r.PutOff > 0 {
		fmt.Fprintf(&b, ", %d put off", r.PutOff)
	}
	fmt.Fprintf(&b, ", %d new", r.NewItems)
	return b.String()
}

func refresh(r freshet.Refresh) Refresh {
	state := "done"
	if r.Running() {
		state = "running"
	}
	return Refresh{ID: r.ID, State: state, Kind: r.Kind, Total: r.Total, Done: r.Done, Failed: r.Failed, PutOff: r.PutOff, NewItems: r.NewItems,
		RequestedAt: utc(r.RequestedAt), FinishedAt: when(r.FinishedAt)}
}
