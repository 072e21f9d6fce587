package store

import (
	"context"
	"fmt"
	"time"

	"freshet"
)

// EditSource reads a source, lets edit change it and writes it. edit keeps NextPollAt right with
// Source.Enable, Disable and Reschedule; it may be called more than once. An address is not edited.
func (s *Store) EditSource(ctx context.Context, id freshet.ID, now time.Time, edit func(*Watched) error) (Watched, error) {
	var w Watched
	err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		if w, err = theSource(ctx, t, "where s.id = $1 and s.removed_at is null for update of p", id); err != nil {
			return err
		}
		before := w.Source
		if err := edit(&w); err != nil {
			return err
		}
		if err := w.Source.Config.Check(); err != nil {
			return err
		}
		if src := &w.Source; src.Type == freshet.Twitter && freshet.AccountURL(src.URL) != src.URL {
			return &freshet.FieldError{Field: "type", Reason: "cannot be twitter, because the address is no X account; add the account as a source of its own"}
		}
		w.Source.UpdatedAt = now
		return t.saveEdit(ctx, &before, &w, now)
	})
	if err != nil {
		return Watched{}, fmt.Errorf("edit source %s: %w", id, err)
	}
	return w, nil
}

func (t *tx) saveEdit(ctx context.Context, before *freshet.Source, w *Watched, now time.Time) error {
	src := &w.Source
	if src.Enabled != before.Enabled {
		src.Seq++ // what a poll in flight brings belongs to the time before
	}
	if !src.Enabled {
		if err := t.leaveRefresh(ctx, src, now); err != nil {
			return err
		}
	}
	if src.InRiver && !before.InRiver {
		if err := t.showItems(ctx, src.ID); err != nil {
			return err
		}
	}
	t.emitFeed(src, now)
	return t.saveSource(ctx, w)
}

// RemoveSource stops the polling of a source; its items stay until retention (D7). One that a briefing has is
// taken out of the river only, and out of the briefing when it is removed again. One that a workflow wants goes
// with the workflow.
func (s *Store) RemoveSource(ctx context.Context, id freshet.ID, now time.Time) error {
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		w, err := theSource(ctx, t, "where s.id = $1 and s.removed_at is null for update of p", id)
		if err != nil {
			return err
		}
		src := &w.Source
		briefed := src.Briefing != (freshet.BriefingPolicy{})
		switch {
		case src.InRiver && (src.Asked > 0 || briefed):
			return t.hide(ctx, &w, now)
		case src.Asked > 0 && !briefed:
			return freshet.ErrNotFound // nobody but a workflow has it
		case src.Asked > 0:
			if err := t.leaveBriefings(ctx, src); err != nil {
				return err
			}
			return t.hide(ctx, &w, now)
		}
		return t.remove(ctx, &w, now)
	})
	if err != nil {
		return fmt.Errorf("remove source %s: %w", id, err)
	}
	return nil
}

// hide takes a source out of the river that somebody else wants; what it brought stays there until retention.
func (t *tx) hide(ctx context.Context, w *Watched, now time.Time) error {
	before, src := w.Source, &w.Source
	src.InRiver, src.UpdatedAt = false, now
	*src = src.Reschedule(t.s.settings.Policy(*src), w.Host, now)
	return t.saveEdit(ctx, &before, w, now)
}

func (t *tx) remove(ctx context.Context, w *Watched, now time.Time) error {
	src := &w.Source
	if src.Briefing != (freshet.BriefingPolicy{}) {
		if err := t.leaveBriefings(ctx, src); err != nil {
			return err
		}
	}
	src.RemovedAt, src.UpdatedAt, src.NextPollAt = now, now, time.Time{}
	src.Seq++
	if err := t.leaveRefresh(ctx, src, now); err != nil {
		return err
	}
	t.emitFeed(src, now)
	return t.saveSource(ctx, w)
}
