package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"freshet"
)

// ClaimRequest says what a poller can take.
type ClaimRequest struct {
	Shards  []int        // that it holds
	Busy    []freshet.ID // hosts that it is polling: nothing of theirs
	Refresh freshet.ID   // only what waits for this refresh; 0 for all that is due
	Limit   int          // at most so many
}

// Claim hands out due sources, the longest due first, and writes down when each is tried again should this
// poller be killed (freshet.Source.Claim). Its time follows from what is due, not from all sources.
func (s *Store) Claim(ctx context.Context, r ClaimRequest, now time.Time) ([]Watched, error) {
	var claimed []Watched
	err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		claimed, err = t.claim(ctx, r, now)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claim due sources: %w", err)
	}
	return claimed, nil
}

var updateClaims = updating("poll_state", "source_id bigint, seq bigint, next_poll_at bigint")

func (t *tx) claim(ctx context.Context, r ClaimRequest, now time.Time) ([]Watched, error) {
	ids, err := t.due(ctx, r, now)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	// The condition again: since the look another poller may have claimed what it saw.
	list, err := watched(ctx, t, "where s.id in ($1...) and p.next_poll_at <= $2 order by p.next_poll_at for update of p skip locked", ids, now)
	if err != nil {
		return nil, err
	}
	if list, err = t.regroup(ctx, list, now); err != nil {
		return nil, err
	}
	claims := t.rows(updateClaims)
	for i := range list {
		src := &list[i].Source
		*src = src.Claim(t.s.settings.Policy(*src), now)
		claims.add(src.ID, src.Seq, src.NextPollAt)
	}
	return list, runAll(ctx, claims)
}

// due looks for due sources. So that a backlog costs no more than it must, it first takes a few of each
// shard; only where that leaves out too many it looks at more.
func (t *tx) due(ctx context.Context, r ClaimRequest, now time.Time) ([]freshet.ID, error) {
	few := min(r.Limit, 2+4*r.Limit/max(len(r.Shards), 1))
	for most := few; ; most = r.Limit {
		ids, err := all(ctx, t, id[freshet.ID], t.s.dialect.due, r.Shards, now, r.Busy, r.Limit, most, r.Refresh)
		if err != nil || most >= r.Limit || len(ids) == r.Limit || len(ids) < most {
			return ids, err
		}
	}
}

// The due sources, one text for each database: at most $5 of each shard, each shard an index walk.
const (
	dueSQLite = `select p.source_id from list($1) l cross join poll_state p on p.source_id in (
  select d.source_id from poll_state d where d.shard = l.value and d.next_poll_at <= $2 and d.host_id not in ($3...) and ($6 = 0 or d.refresh_id = $6)
  order by d.next_poll_at limit $5)
 order by p.next_poll_at limit $4`
	duePostgres = `select p.source_id from list($1) l cross join lateral (
  select d.source_id, d.next_poll_at from poll_state d where d.shard = l.value and d.next_poll_at <= $2 and d.host_id not in ($3...) and (cast($6 as bigint) = 0 or d.refresh_id = $6)
  order by d.next_poll_at limit $5) p
 order by p.next_poll_at limit $4`
)

// NextDue returns when the next source of these shards is due, zero when none is scheduled.
func (s *Store) NextDue(ctx context.Context, shards []int) (time.Time, error) {
	next, _, err := one(ctx, s, instant, nextDue, shards)
	if err != nil {
		return time.Time{}, fmt.Errorf("read when the next source is due: %w", err)
	}
	return next, nil
}

const nextDue = "select min((select min(d.next_poll_at) from poll_state d where d.shard = l.value and d.next_poll_at is not null)) from list($1) l"

// spreadsAtOnce is how many sources one transaction of SpreadOverdue moves.
const spreadsAtOnce = 500

// SpreadOverdue spreads what must not be polled all at once after a start: sources that were never polled,
// over their interval, for good (S4), but for what was added within it, and those that missed a whole interval, over a few minutes (S5). What
// a refresh waits for stays due. It returns how many it moved.
func (s *Store) SpreadOverdue(ctx context.Context, shards []int, now time.Time) (int, error) {
	moved := 0
	for _, shard := range shards {
		ids, err := all(ctx, s, id[freshet.ID], overdue, shard, now)
		if err != nil {
			return moved, fmt.Errorf("look for overdue sources: %w", err)
		}
		for part := range slices.Chunk(ids, spreadsAtOnce) {
			n := 0
			err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
				n, err = t.spread(ctx, part, now)
				return err
			})
			if err != nil {
				return moved, fmt.Errorf("spread overdue sources: %w", err)
			}
			moved += n
		}
	}
	return moved, nil
}

const overdue = "select source_id from poll_state where shard = $1 and next_poll_at <= $2 and refresh_id is null"

func (t *tx) spread(ctx context.Context, ids []freshet.ID, now time.Time) (int, error) {
	list, err := watched(ctx, t, "where s.id in ($1...) and p.next_poll_at <= $2 and p.refresh_id is null order by s.id for update of p", ids, now)
	if err != nil {
		return 0, err
	}
	polls, moved := t.rows(updatePolls), 0
	for i := range list {
		src, h := &list[i].Source, list[i].Host
		interval := t.s.settings.Policy(*src).Interval
		switch {
		case src.LastPollAt.IsZero() && src.Cursor.SyntheticPollAt == nil:
			if now.Before(src.CreatedAt.Add(interval)) {
				continue // somebody who just added it waits (S3)
			}
			last := freshet.Spread(now, interval, t.s.random())
			src.Cursor.SyntheticPollAt, src.NextPollAt = &last, last.Add(interval)
		case !now.Before(src.NextPollAt.Add(interval)):
			src.NextPollAt = freshet.SpreadOverdue(now, interval, t.s.random())
		default:
			continue
		}
		src.NextPollAt = later(src.NextPollAt, h.NotBefore)
		polls.addPoll(src)
		moved++
	}
	return moved, runAll(ctx, polls)
}

// Forgive takes back the last failure of each source, because our own network was down (S5): it is not
// counted, a source that it disabled is enabled, and the next try is at again.
func (s *Store) Forgive(ctx context.Context, ids []freshet.ID, again time.Time) error {
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		list, err := watched(ctx, t, "where s.id in ($1...) and s.removed_at is null and p.failure is not null order by s.id for update of p", ids)
		if err != nil {
			return err
		}
		of, err := t.workflowsBySource(ctx, ids)
		if err != nil {
			return err
		}
		for i := range list {
			w := &list[i]
			before := w.Source.Health()
			if !forgive(&w.Source, t.s.settings.DisableAfter, again) {
				continue
			}
			if err := t.forgiveWorkflows(ctx, &w.Source, of[w.Source.ID]); err != nil {
				return err
			}
			if w.Source.Health() != before {
				t.emitFeed(&w.Source, again)
			}
			if err := t.saveSource(ctx, w); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("forgive failures: %w", err)
	}
	return nil
}

// forgive says whether there was something to forgive.
func forgive(src *freshet.Source, disableAfter int, again time.Time) bool {
	byFailures := disableAfter > 0 && src.PermanentFailures >= disableAfter
	if src.LastFailure == nil || !src.LastFailure.Unreached || !src.Enabled && !byFailures {
		return false
	}
	src.Enabled, src.DisabledReason, src.NextPollAt = true, "", again
	src.Failures = max(0, src.Failures-1)
	src.PermanentFailures = max(0, src.PermanentFailures-1)
	if src.Failures == 0 {
		src.LastFailure = nil
	}
	return true
}
