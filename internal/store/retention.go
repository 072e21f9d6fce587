package store

import (
	"context"
	"fmt"
	"time"

	"freshet"
)

const (
	logKept    = 24 * time.Hour  // how long events, finished refreshes and removed sources stay
	workKept   = 720 * time.Hour // how long executions that are over and notices stay (W6)
	eventsKept = 10_000          // at most
)

// Retain removes one small batch of what nothing needs any more and returns how many rows that were,
// at most limit; 0 says that nothing is left (D8). A batch is found by a read and removed in one
// short transaction, so that neither reads nor polls wait for it.
//
// Items go by the time they were published, with their posts, keys, bodies and search rows. What
// their sources still list stays known (D7a): the windows of seen hashes go with the source only.
func (s *Store) Retain(ctx context.Context, now time.Time, limit int) (int, error) {
	logged := now.Add(-logKept)
	for _, kind := range []struct {
		what, find, remove string
		args               []any
	}{
		{"items", oldItems, removeItems, []any{now.Add(-s.settings.Retention), limit}},
		{"events", oldEvents, removeEvents, []any{logged, eventsKept, limit}},
		{"refreshes", oldRefreshes, removeRefreshes, []any{logged, firstID(logged), limit}},
		{"executions", oldExecutions, removeExecutions, []any{now.Add(-workKept), limit}},
		{"notices", oldNotices, removeNotices, []any{firstID(now.Add(-workKept)), limit}},
		{"sources", oldSources, removeSources, []any{logged, limit}},
		{"hosts", oldHosts, removeHosts, []any{now, limit}},
	} {
		n, err := s.removeOld(ctx, kind.find, kind.remove, kind.args)
		if err != nil {
			return 0, fmt.Errorf("remove old %s: %w", kind.what, err)
		}
		if n > 0 {
			return n, nil
		}
	}
	if n, err := s.cleanBriefings(ctx, now, limit); n > 0 || err != nil { // last: it looks through every briefing
		return n, err
	}
	if s.dialect.arrays {
		return 0, nil // the server's own vacuum sees to it
	}
	n, err := s.shrink(ctx, limit)
	if err != nil {
		return 0, fmt.Errorf("give back free pages: %w", err)
	}
	return n, nil
}

const (
	// The oldest of each of two indexes.
	oldItems = `select id from (
	select id, published_at from (select id, published_at from items where in_river = 1 and published_at < $1 order by published_at limit $2) shown
	union all
	select id, published_at from (select id, published_at from items where in_river = 0 and published_at < $1 order by published_at limit $2) hidden
) old order by published_at limit $2`
	removeItems = "delete from items where id in ($1...)"

	// The newest event stays: the next one is numbered after it.
	oldEvents = `select seq from (select seq, at from events order by seq limit $3) oldest
where seq < (select max(seq) from events) and (at < $1 or seq <= (select max(seq) from events) - $2)`
	removeEvents = "delete from events where seq in ($1...)"

	oldRefreshes    = "select id from refreshes where finished_at < $1 and id < $2 order by id limit $3"
	removeRefreshes = "delete from refreshes where id in ($1...)"

	oldExecutions    = "select id from executions where done_at < $1 order by done_at limit $2"
	removeExecutions = "delete from executions where id in ($1...)"
	oldNotices       = "select id from notices where id < $1 order by id limit $2"
	removeNotices    = "delete from notices where id in ($1...)"

	// A removed source goes when retention took its last post (D7), and its state and window with it. A workflow that
	// is switched off keeps its own.
	withoutPosts = "removed_at is not null and not exists (select 1 from posts p where p.source_id = sources.id)" +
		" and not exists (select 1 from workflows w where w.source_id = sources.id)"
	oldSources    = "select id from sources where removed_at < $1 and " + withoutPosts + " order by removed_at limit $2"
	removeSources = "delete from sources where id in ($1...) and " + withoutPosts

	// A host stays while a source is on it, and until its pause is over (S6).
	withoutSources = "not exists (select 1 from sources s where s.host_id = hosts.id)"
	oldHosts       = "select id from hosts where coalesce(not_before, 0) < $1 and " + withoutSources + " order by id limit $2"
	removeHosts    = "delete from hosts where id in ($1...) and " + withoutSources

	removeTexts = "delete from search where rowid in (select place from search_places where item_id in ($1...))"
)

// removeOld removes the rows that find tells.
func (s *Store) removeOld(ctx context.Context, find, remove string, args []any) (int, error) {
	ids, err := all(ctx, s, number, find, args...)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	n := 0
	err = s.write(ctx, func(ctx context.Context, t *tx) error {
		n, err = t.removeRows(ctx, remove, ids)
		return err
	})
	return n, err
}

// removeRows removes rows, of items their texts as well: FTS5 has no foreign keys.
func (t *tx) removeRows(ctx context.Context, remove string, ids []int64) (int, error) {
	if remove == removeItems && !t.s.dialect.arrays {
		if _, err := t.exec(ctx, removeTexts, ids); err != nil {
			return 0, err
		}
	}
	return t.exec(ctx, remove, ids)
}

// firstID is the least id that was made at t.
func firstID(t time.Time) freshet.ID { return freshet.ID(t.UnixMilli() << 22) }

// shrink gives free pages of the file back when they are more than a quarter of it; fewer are soon
// used again. It returns how many it gave back.
func (s *Store) shrink(ctx context.Context, limit int) (int, error) {
	const quarter, few = 4, 2000
	pages, _, err := one(ctx, s, number, "select page_count from pragma_page_count")
	if err != nil {
		return 0, err
	}
	free, err := s.freePages(ctx, s)
	if err != nil || free < few || free < pages/quarter {
		return 0, err
	}
	given := 0
	err = s.write(ctx, func(ctx context.Context, t *tx) error {
		rows, err := t.query(ctx, fmt.Sprintf("pragma incremental_vacuum(%d)", limit))
		if err != nil {
			return err
		}
		for rows.Next() { // each step gives one page back
		}
		if err := rows.Close(); err != nil {
			return err
		}
		left, err := s.freePages(ctx, t)
		given = int(free - left)
		return err
	})
	return given, err
}

func (s *Store) freePages(ctx context.Context, q querier) (int64, error) {
	n, _, err := one(ctx, q, number, "select freelist_count from pragma_freelist_count")
	return n, err
}
