package store

import (
	"context"
	"fmt"
	"time"

	"freshet"
)

// RestoreSource takes a removal back: the source is polled again with everything it had, as if it had never been
// removed. One that is there stays as it is; one that retention took meanwhile is freshet.ErrNotFound.
func (s *Store) RestoreSource(ctx context.Context, id freshet.ID, now time.Time) (Watched, error) {
	var w Watched
	err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		w, err = theSource(ctx, t, "where s.id = $1 for update of p", id)
		if err != nil || w.Source.RemovedAt.IsZero() && w.Source.InRiver {
			return err
		}
		src := &w.Source
		if !src.InRiver { // a briefing kept it, or had it
			src.InRiver = true
			if err := t.showItems(ctx, src.ID); err != nil {
				return err
			}
		}
		src.RemovedAt, src.UpdatedAt = time.Time{}, now
		src.Seq++
		if src.Enabled {
			src.DisabledReason = ""
			src.NextPollAt = later(now, w.Host.NotBefore)
			*src = src.Reschedule(s.settings.Policy(*src), w.Host, now)
		}
		t.emitFeed(src, now)
		return t.saveSource(ctx, &w)
	})
	if err != nil {
		return Watched{}, fmt.Errorf("restore source %s: %w", id, err)
	}
	return w, nil
}
