package store

import (
	"context"
	"fmt"
	"time"

	"freshet"
)

const (
	logKept    = 24 * time.Hour // how long events, finished refreshes and removed sources stay
	eventsKept = 10_000         // at most
)

// Retain removes one small batch of what nothing needs any more, at most limit rows of each kind, and
// returns how many rows it removed; 0 says that nothing is left (D8). Each kind goes in a short
// transaction of its own, so that neither reads nor polls wait for it.
//
// Items go by the time they were published, with their posts, keys, bodies and search rows. What
// their sources still list stays known (D7a): the windows of seen hashes go with the source only.
func (s *Store) Retain(ctx context.Context, now time.Time, limit int) (int, error) {
	total := 0
	for _, part := range []struct {
		what   string
		remove func(ctx context.Context, now time.Time, limit int) (int, error)
	}{
		{"items", s.retainItems},
		{"events", s.retainEvents},
		{"refreshes", s.retainRefreshes},
		{"sources", s.retainSources},
		{"hosts", s.retainHosts},
		{"free pages", s.shrink},
	} {
		n, err := part.remove(ctx, now, limit)
		if err != nil {
			return total, fmt.Errorf("remove old %s: %w", part.what, err)
		}
		total += n
	}
	return total, nil
}

// oldItems are read from an index each, the oldest first.
const oldItems = `select id from (
	select id, published_at from (select id, published_at from items where in_river = 1 and published_at < $1 order by published_at limit $2) shown
	union all
	select id, published_at from (select id, published_at from items where in_river = 0 and published_at < $1 order by published_at limit $2) hidden
) old order by published_at limit $2`

func (s *Store) retainItems(ctx context.Context, now time.Time, limit int) (int, error) {
	ids, err := all(ctx, s, number, oldItems, now.Add(-s.settings.Retention), limit)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	n := 0
	err = s.write(ctx, func(ctx context.Context, t *tx) error {
		if !s.dialect.arrays { // a virtual table has no foreign keys
			if _, err := t.exec(ctx, "delete from search where rowid in (select place from search_places where item_id in ($1...))", ids); err != nil {
				return err
			}
		}
		n, err = t.exec(ctx, "delete from items where id in ($1...)", ids)
		return err
	})
	return n, err
}

// The newest event stays: followers go on from its number.
const oldEvents = `delete from events where seq in (select seq from events order by seq limit $1)
and seq < (select max(seq) from events) and (at < $2 or seq <= (select max(seq) from events) - $3)`

func (s *Store) retainEvents(ctx context.Context, now time.Time, limit int) (int, error) {
	return s.removeRows(ctx, oldEvents, limit, now.Add(-logKept), eventsKept)
}

const oldRefreshes = `delete from refreshes where id in (select id from refreshes where id < $1 and finished_at < $2 order by id limit $3)`

func (s *Store) retainRefreshes(ctx context.Context, now time.Time, limit int) (int, error) {
	before := now.Add(-logKept)
	return s.removeRows(ctx, oldRefreshes, firstID(before), before, limit)
}

// firstID is the least id that was made at t.
func firstID(t time.Time) freshet.ID { return freshet.ID(t.UnixMilli() << 22) }

// A removed source goes when retention took its last post (D7), with its state and window.
const oldSources = `delete from sources where id in (
	select s.id from sources s where s.removed_at < $1 and not exists (select 1 from posts p where p.source_id = s.id)
	order by s.removed_at limit $2)`

func (s *Store) retainSources(ctx context.Context, now time.Time, limit int) (int, error) {
	return s.removeRows(ctx, oldSources, now.Add(-logKept), limit)
}

// A host is remembered while a source is on it and while it cools down (S6).
const oldHosts = `delete from hosts where id in (
	select h.id from hosts h where h.not_before < $1 and not exists (select 1 from sources s where s.host_id = h.id) limit $2)`

func (s *Store) retainHosts(ctx context.Context, now time.Time, limit int) (int, error) {
	return s.removeRows(ctx, oldHosts, now, limit)
}

// removeRows runs one deletion in a transaction of its own.
func (s *Store) removeRows(ctx context.Context, text string, args ...any) (int, error) {
	n := 0
	err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		n, err = t.exec(ctx, text, args...)
		return err
	})
	return n, err
}
