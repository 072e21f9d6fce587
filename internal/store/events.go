package store

import (
	"context"
	"fmt"
	"time"

	"freshet"
)

// event is what a transaction tells those who follow; it is numbered when the transaction ends.
type event struct {
	at   time.Time
	kind freshet.EventKind
	data any
}

type itemsEvent struct {
	Count   int          `json:"count"`
	ItemIDs []freshet.ID `json:"item_ids"`
	FeedIDs []freshet.ID `json:"feed_ids"`
}

type textsEvent struct {
	Count int `json:"count"`
}

type feedEvent struct {
	FeedID freshet.ID `json:"feed_id"`
	Status string     `json:"status"`
}

type refreshEvent struct {
	ID          freshet.ID          `json:"id"`
	State       string              `json:"state"`
	Kind        freshet.RefreshKind `json:"kind"`
	Total       int                 `json:"total"`
	Done        int                 `json:"done"`
	Failed      int                 `json:"failed"`
	PutOff      int                 `json:"put_off"`
	NewItems    int                 `json:"new_items"`
	RequestedAt time.Time           `json:"requested_at"`
	FinishedAt  *time.Time          `json:"finished_at"`
}

func (t *tx) emit(kind freshet.EventKind, data any, now time.Time) {
	t.events = append(t.events, event{now, kind, data})
}

// emitFeed tells of a source that was added, removed or whose health changed.
func (t *tx) emitFeed(src *freshet.Source, now time.Time) {
	status := string(src.Health())
	if !src.RemovedAt.IsZero() {
		status = "removed"
	}
	t.emit(freshet.EventFeed, feedEvent{src.ID, status}, now)
}

func (t *tx) emitRefresh(r freshet.Refresh, now time.Time) {
	e := refreshEvent{
		ID: r.ID, State: "running", Kind: r.Kind, Total: r.Total, Done: r.Done, Failed: r.Failed,
		PutOff: r.PutOff, NewItems: r.NewItems, RequestedAt: r.RequestedAt,
	}
	if !r.Running() {
		e.State, e.FinishedAt = "done", &r.FinishedAt
	}
	t.emit(freshet.EventRefresh, e, now)
}

var insertEvents = inserting("events", "seq bigint, at bigint, kind text, data text", "")

// writeEvents numbers the transaction's events. It comes last, because on PostgreSQL transactions with
// events wait for one another from here to their end: so numbers follow the order of commits.
func (t *tx) writeEvents(ctx context.Context) error {
	if len(t.events) == 0 {
		return nil
	}
	last, _, err := one(ctx, t, number, "update counters set value = value + $1 where name = 'event' returning value", len(t.events))
	if err != nil {
		return err
	}
	events := t.rows(insertEvents)
	for i, e := range t.events {
		events.add(int(last)-len(t.events)+1+i, e.at, string(e.kind), text(e.data))
	}
	if _, err := events.run(ctx); err != nil {
		return err
	}
	return t.s.announce(ctx, t)
}

// Events returns what happened after a number, in order.
func (s *Store) Events(ctx context.Context, after int64, limit int) ([]freshet.Event, error) {
	list, err := all(ctx, s, func(e *freshet.Event) []any {
		return []any{&e.Seq, moment{&e.At}, &e.Kind, &e.Data}
	}, "select seq, at, kind, data from events where seq > $1 order by seq limit $2", after, limit)
	if err != nil {
		return nil, fmt.Errorf("read events after %d: %w", after, err)
	}
	return list, nil
}

// LastEvent is the number of the newest event, 0 when there was none.
func (s *Store) LastEvent(ctx context.Context) (int64, error) {
	return s.eventNumber(ctx, "select value from counters where name = 'event'")
}

// FirstEvent is the number of the oldest event that is still kept, 0 when none is.
func (s *Store) FirstEvent(ctx context.Context) (int64, error) {
	return s.eventNumber(ctx, "select coalesce(min(seq), 0) from events")
}

func (s *Store) eventNumber(ctx context.Context, text string) (int64, error) {
	n, _, err := one(ctx, s, number, text)
	if err != nil {
		return 0, fmt.Errorf("read the number of an event: %w", err)
	}
	return n, nil
}
