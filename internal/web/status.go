package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"freshet"
)

// Status is how the instance is.
type Status struct {
	Version        string     `json:"version"`
	StartedAt      time.Time  `json:"started_at"`
	Network        Network    `json:"network"`
	Feeds          Counts     `json:"feeds"`
	Items          int64      `json:"items" doc:"About."`
	OverdueSeconds float64    `json:"overdue_seconds" doc:"How long the feed that waits longest has been due."`
	HostsCooling   int        `json:"hosts_cooling" doc:"Hosts that asked for a pause."`
	SearchPending  int        `json:"search_pending" doc:"Items that search does not find yet."`
	LastEventID    freshet.ID `json:"last_event_id" doc:"Where a stream of events that begins now goes on from."`
	Refresh        *Refresh   `json:"refresh,omitempty" doc:"The one that runs, if one does."`
}

// Network says whether our own network is presumed down (S5).
type Network struct {
	Paused bool       `json:"paused"`
	Since  *time.Time `json:"since"`
}

// Counts are feeds by their state.
type Counts struct {
	Total     int `json:"total"`
	Healthy   int `json:"healthy"`
	Unhealthy int `json:"unhealthy"`
	Disabled  int `json:"disabled"`
	Pending   int `json:"pending"`
}

type statusOutput struct{ Body Status }

func (s *Server) status(ctx context.Context, _ *struct{}) (*statusOutput, error) {
	stats, err := s.Store.Stats(ctx, time.Now())
	if err != nil {
		return nil, err
	}
	last, err := s.Store.LastEvent(ctx)
	if err != nil {
		return nil, err
	}
	running, found, err := s.Store.RunningRefresh(ctx)
	if err != nil {
		return nil, err
	}
	since := s.Offline()
	out := &statusOutput{Status{
		Version: s.Version, StartedAt: s.started, Network: Network{!since.IsZero(), when(since)}, Feeds: counts(stats.Sources),
		Items: stats.Items, OverdueSeconds: stats.Overdue.Seconds(), HostsCooling: stats.HostsCooling, SearchPending: stats.SearchPending,
		LastEventID: freshet.ID(last),
	}}
	if found {
		r := refresh(running)
		out.Body.Refresh = &r
	}
	return out, nil
}

func counts(by map[freshet.Health]int) Counts {
	c := Counts{Healthy: by[freshet.Healthy], Unhealthy: by[freshet.Unhealthy], Disabled: by[freshet.Disabled], Pending: by[freshet.Pending]}
	c.Total = c.Healthy + c.Unhealthy + c.Disabled + c.Pending
	return c
}

// healthz says that the process answers.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) error {
	fmt.Fprintln(w, "ok")
	return nil
}

const readyTimeout = 5 * time.Second

// readyz says that the database answers too and that what is due is polled (S1).
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	if err := s.Store.Ping(ctx); err != nil {
		s.Logger.WarnContext(ctx, "not ready", attrErr(err))
		return problem(unavailable, "The database does not answer.")
	}
	if err := s.Polling(); err != nil {
		s.Logger.WarnContext(ctx, "not ready", attrErr(err))
		return problem(unavailable, "Sources are not polled: "+err.Error()+".")
	}
	fmt.Fprintln(w, "ready")
	return nil
}
