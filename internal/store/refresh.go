package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"freshet"
)

// Started is a refresh that was asked for.
type Started struct {
	freshet.Refresh
	Joined bool     // one that was running already does what was asked for
	PutOff []PutOff // not asked: their servers asked for a pause (S5)
}

// PutOff is a source that a refresh leaves alone, and until when.
type PutOff struct {
	Source freshet.Source
	Until  time.Time
}

// StartRefresh makes sources due now: those named, or every enabled one when ids is nil. Whoever holds
// their shards polls them. A running refresh that covers what is asked for is joined. A single id that is
// unknown is ErrNotFound, one that is disabled ErrDisabled; of several, disabled ones are left out (S7).
func (s *Store) StartRefresh(ctx context.Context, kind freshet.RefreshKind, ids []freshet.ID, now time.Time) (Started, error) {
	var started Started
	err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		started = Started{}
		if ids == nil {
			started, err = t.refreshAll(ctx, kind, now)
		} else {
			started, err = t.refreshSome(ctx, kind, ids, now)
		}
		return err
	})
	if err != nil {
		return Started{}, fmt.Errorf("start refresh: %w", err)
	}
	return started, nil
}

const refreshColumns = "select id, kind, requested_at, finished_at, total, done, failed, put_off, new_items from refreshes "

func readRefresh(r *freshet.Refresh) []any {
	return []any{&r.ID, &r.Kind, moment{&r.RequestedAt}, moment{&r.FinishedAt}, &r.Total, &r.Done, &r.Failed, &r.PutOff, &r.NewItems}
}

// due is the part of poll_state that polls come from: enabled, not removed.
const scheduled = "next_poll_at is not null"

func (t *tx) refreshAll(ctx context.Context, kind freshet.RefreshKind, now time.Time) (Started, error) {
	running, found, err := one(ctx, t, readRefresh, refreshColumns+"where finished_at is null and whole = 1 and kind = $1 order by id desc limit 1", string(kind))
	if err != nil || found {
		return Started{Refresh: running, Joined: found}, err
	}
	// Only a source that failed or whose host pauses may have to be left alone.
	suspects, err := watched(ctx, t, "where p."+scheduled+" and (p.failure is not null or h.not_before > $1)", now)
	if err != nil {
		return Started{}, err
	}
	putOff := putOffs(suspects, now)
	r := freshet.Refresh{ID: t.s.ids.Next(now), Kind: kind, RequestedAt: now}
	left := make([]freshet.ID, 0, len(putOff))
	for _, p := range putOff {
		left = append(left, p.Source.ID)
	}
	where := scheduled + " and source_id not in ($1...)"
	if err := t.takeOver(ctx, now, where, left); err != nil {
		return Started{}, err
	}
	r.Total, err = t.exec(ctx, "update poll_state set refresh_id = $2, next_poll_at = $3 where "+where, left, r.ID, now)
	if err != nil {
		return Started{}, err
	}
	r, err = t.begin(ctx, r, true)
	return Started{Refresh: r, PutOff: putOff}, err
}

func (t *tx) refreshSome(ctx context.Context, kind freshet.RefreshKind, ids []freshet.ID, now time.Time) (Started, error) {
	list, err := watched(ctx, t, "where s.id in ($1...) and s.removed_at is null order by s.id for update of p", ids)
	if err != nil {
		return Started{}, err
	}
	if len(ids) == 1 {
		switch {
		case len(list) == 0:
			return Started{}, freshet.ErrNotFound
		case !list[0].Source.Enabled:
			return Started{}, freshet.ErrDisabled
		}
	}
	list = slices.DeleteFunc(list, func(w Watched) bool { return !w.Source.Enabled })
	putOff := putOffs(list, now)
	list = slices.DeleteFunc(list, func(w Watched) bool { return !w.Source.PutOff(w.Host, now).IsZero() })
	if covering := coveredBy(list); covering != 0 {
		r, found, err := one(ctx, t, readRefresh, refreshColumns+"where id = $1 and finished_at is null", covering)
		if err != nil || found {
			return Started{Refresh: r, Joined: found, PutOff: putOff}, err
		}
	}
	r := freshet.Refresh{ID: t.s.ids.Next(now), Kind: kind, RequestedAt: now, Total: len(list)}
	asked := make([]freshet.ID, 0, len(list))
	for _, w := range list {
		asked = append(asked, w.Source.ID)
	}
	if err := t.takeOver(ctx, now, "source_id in ($1...)", asked); err != nil {
		return Started{}, err
	}
	if _, err := t.exec(ctx, "update poll_state set refresh_id = $2, next_poll_at = $3 where source_id in ($1...)", asked, r.ID, now); err != nil {
		return Started{}, err
	}
	r, err = t.begin(ctx, r, false)
	return Started{Refresh: r, PutOff: putOff}, err
}

func putOffs(list []Watched, now time.Time) []PutOff {
	var off []PutOff
	for _, w := range list {
		if until := w.Source.PutOff(w.Host, now); !until.IsZero() {
			off = append(off, PutOff{w.Source, until})
		}
	}
	return off
}

// coveredBy returns the refresh that all sources wait for, 0 when there is none.
func coveredBy(list []Watched) freshet.ID {
	if len(list) == 0 {
		return 0
	}
	covering := list[0].Source.Refresh
	for _, w := range list {
		if w.Source.Refresh != covering {
			return 0
		}
	}
	return covering
}

// begin writes a refresh down. One that has nothing to do is done.
func (t *tx) begin(ctx context.Context, r freshet.Refresh, whole bool) (freshet.Refresh, error) {
	if r.Total == 0 {
		r.FinishedAt = r.RequestedAt
	}
	_, err := t.exec(ctx, "insert into refreshes (id, kind, whole, requested_at, finished_at, total) values ($1, $2, $3, $4, $5, $6)",
		r.ID, string(r.Kind), whole, r.RequestedAt, r.FinishedAt, r.Total)
	t.emitRefresh(r, r.RequestedAt)
	return r, err
}

// takeOver counts the sources that another refresh waits for as done there: the new one polls them.
func (t *tx) takeOver(ctx context.Context, now time.Time, where string, ids []freshet.ID) error {
	type waiting struct {
		refresh freshet.ID
		sources int
	}
	list, err := all(ctx, t, func(w *waiting) []any { return []any{&w.refresh, &w.sources} },
		"select refresh_id, count(*) from poll_state where refresh_id is not null and "+where+" group by refresh_id order by refresh_id", ids)
	if err != nil {
		return err
	}
	counts := progress{}
	for _, w := range list {
		counts.of(w.refresh).done += w.sources
	}
	return t.advance(ctx, counts, now)
}

// progress is what a transaction adds to the counters of refreshes.
type progress map[freshet.ID]*tally

type tally struct{ done, failed, putOff, newItems int }

func (p progress) of(id freshet.ID) *tally {
	c := p[id]
	if c == nil {
		c = &tally{}
		p[id] = c
	}
	return c
}

// advance moves refreshes on and ends those that are done.
func (t *tx) advance(ctx context.Context, p progress, now time.Time) error {
	ids := make([]freshet.ID, 0, len(p))
	for id := range p {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		c := p[id]
		r, found, err := one(ctx, t, readRefresh, `update refreshes set done = done + $2, failed = failed + $3, put_off = put_off + $4, new_items = new_items + $5,
 finished_at = case when done + $2 >= total then $6 else finished_at end
 where id = $1 returning id, kind, requested_at, finished_at, total, done, failed, put_off, new_items`, id, c.done, c.failed, c.putOff, c.newItems, now)
		if err != nil {
			return err
		}
		if found {
			t.emitRefresh(r, now)
		}
	}
	return nil
}

// leaveRefresh lets a refresh go on without a source that is no longer polled.
func (t *tx) leaveRefresh(ctx context.Context, src *freshet.Source, now time.Time) error {
	if src.Refresh == 0 {
		return nil
	}
	counts := progress{}
	counts.of(src.Refresh).done++
	refreshed := t.rows(updateRefreshed)
	refreshed.add(src.ID, nil, src.Refresh, string(freshet.ResultSkipped), 0)
	src.Refresh = 0
	if err := runAll(ctx, refreshed); err != nil {
		return err
	}
	return t.advance(ctx, counts, now)
}

// updateRefreshed says which refresh waits for a source, and which was done with it and how.
var updateRefreshed = updating("poll_state", "source_id bigint, refresh_id bigint, refreshed_id bigint, refreshed_as text, refreshed_new bigint")

// Refresh returns a refresh.
func (s *Store) Refresh(ctx context.Context, id freshet.ID) (freshet.Refresh, error) {
	r, err := the(all(ctx, s, readRefresh, refreshColumns+"where id = $1", id))
	if err != nil {
		return r, fmt.Errorf("read refresh %s: %w", id, err)
	}
	return r, nil
}

// RunningRefresh returns the newest refresh by hand that is running.
func (s *Store) RunningRefresh(ctx context.Context) (freshet.Refresh, bool, error) {
	r, found, err := one(ctx, s, readRefresh, refreshColumns+"where finished_at is null and kind = $1 order by id desc limit 1", string(freshet.ByHand))
	if err != nil {
		return r, false, fmt.Errorf("read the running refresh: %w", err)
	}
	return r, found, nil
}

// LastRefresh returns the newest refresh by hand, running or not.
func (s *Store) LastRefresh(ctx context.Context) (freshet.Refresh, bool, error) {
	r, found, err := one(ctx, s, readRefresh, refreshColumns+"where kind = $1 order by id desc limit 1", string(freshet.ByHand))
	if err != nil {
		return r, false, fmt.Errorf("read the last refresh: %w", err)
	}
	return r, found, nil
}

// RefreshResult is how a refresh went for one source.
type RefreshResult struct {
	Source freshet.Source
	Result freshet.Result // ResultSkipped when its server asked for a pause, or it was disabled or removed meanwhile
	New    int            // posts that were new
	Error  string         // a sentence, "" when there is nothing to say
}

// RefreshResults returns how a refresh went for the sources that it is done with, in the order they were
// added. It knows the last refresh of each source only.
func (s *Store) RefreshResults(ctx context.Context, id freshet.ID) ([]RefreshResult, error) {
	return s.refreshResults(ctx, id, "order by source_id", id)
}

// RefreshFailures returns the first results, most of them at most, of sources that a refresh could not read.
func (s *Store) RefreshFailures(ctx context.Context, id freshet.ID, most int) ([]RefreshResult, error) {
	return s.refreshResults(ctx, id, "and refreshed_as = $2 order by source_id limit $3", id, string(freshet.ResultError), most)
}

func (s *Store) refreshResults(ctx context.Context, id freshet.ID, which string, args ...any) ([]RefreshResult, error) {
	type done struct {
		id     freshet.ID
		result RefreshResult
	}
	list, err := all(ctx, s, func(d *done) []any { return []any{&d.id, &d.result.Result, &d.result.New} },
		"select source_id, refreshed_as, refreshed_new from poll_state where refreshed_id = $1 "+which, args...)
	if err != nil {
		return nil, fmt.Errorf("read the results of refresh %s: %w", id, err)
	}
	ids := make([]freshet.ID, len(list))
	for i := range list {
		ids[i] = list[i].id
	}
	sources, err := watched(ctx, s, "where s.id in ($1...) order by s.id", ids)
	if err != nil {
		return nil, fmt.Errorf("read the results of refresh %s: %w", id, err)
	}
	results := make([]RefreshResult, 0, len(list))
	for i := range list {
		at, found := slices.BinarySearchFunc(sources, list[i].id, func(w Watched, id freshet.ID) int { return int(w.Source.ID - id) })
		if !found {
			continue
		}
		r, w := list[i].result, &sources[at]
		r.Source = w.Source
		switch f := w.Source.LastFailure; {
		case r.Result == freshet.ResultError && f != nil:
			r.Error = f.Sentence
		case r.Result == freshet.ResultPartial:
			r.Error = w.Source.Cursor.Partial
		case r.Result == freshet.ResultSkipped && w.Host.NotBefore.IsZero():
			r.Error = "It was switched off or removed meanwhile."
		case r.Result == freshet.ResultSkipped:
			r.Error = fmt.Sprintf("Its host asked for a pause until %s.", w.Host.NotBefore.Format("2006-01-02 15:04 MST"))
		}
		results = append(results, r)
	}
	return results, nil
}
