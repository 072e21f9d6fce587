package store

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"freshet"
)

// Poll is how the poll of a claimed source ended.
type Poll struct {
	Source  freshet.ID
	Seq     int64 // the source's when it was claimed
	Outcome *freshet.Outcome
}

// Finished is what a poll left behind.
type Finished struct {
	Watched        // as it is now; of a poll that was not recorded, as far as it is known
	Recorded  bool // false: the source was polled by somebody else, disabled, removed or deleted meanwhile
	New       int  // posts stored
	Edited    int
	TooOld    int  // posts that were not stored for their age (E6)
	NewItems  int  // of the new posts, those that are no other source's item already
	Shown     bool // to workflows: executions may be waiting
	Disabled  bool // by this poll (F3, F6)
	Moved     bool // to another address (F3)
	Unhealthy bool // since this poll
}

// FinishPolls records outcomes, all that belongs to a poll or nothing of it, and answers in the same
// order. One transaction takes them all, so that a commit's cost is shared. What follows from an outcome
// is decided by package freshet; a poll whose Seq is no longer the source's is left out (P3).
func (s *Store) FinishPolls(ctx context.Context, polls []Poll, now time.Time) ([]Finished, error) {
	var finished []Finished
	err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		finished, err = t.finish(ctx, polls, now)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("finish %d polls: %w", len(polls), err)
	}
	return finished, nil
}

// turn is one poll of a batch on its way into the database.
type turn struct {
	*Finished
	outcome *freshet.Outcome
	policy  freshet.Policy
	before  freshet.Source
	fates   []freshet.Fate // of outcome.Posts
	seen    freshet.Seen   // the window that follows, nil when it stays
}

func (t *tx) finish(ctx context.Context, polls []Poll, now time.Time) ([]Finished, error) {
	finished, turns, err := t.turns(ctx, polls)
	if err != nil || len(turns) == 0 {
		return finished, err
	}
	if err := t.sort(ctx, turns, now); err != nil {
		return nil, err
	}
	shown, err := t.writePosts(ctx, turns, now)
	if err != nil {
		return nil, err
	}
	cooled, err := t.observe(ctx, turns, now)
	if err != nil {
		return nil, err
	}
	if err := t.observeWorkflows(ctx, turns, now); err != nil {
		return nil, err
	}
	if err := t.writePolls(ctx, turns); err != nil {
		return nil, err
	}
	if err := t.spend(ctx, turns); err != nil {
		return nil, err
	}
	for _, u := range turns {
		if u.Moved {
			if err := t.move(ctx, u, now); err != nil {
				return nil, err
			}
		}
	}
	if err := t.countRefreshes(ctx, turns, cooled, now); err != nil {
		return nil, err
	}
	t.emitFinished(turns, shown, now)
	return finished, nil
}

// turns reads the sources and leaves out the polls that are no longer theirs.
func (t *tx) turns(ctx context.Context, polls []Poll) ([]Finished, []*turn, error) {
	ids := make([]freshet.ID, len(polls))
	for i, p := range polls {
		ids[i] = p.Source
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	list, err := watched(ctx, t, "where s.id in ($1...) order by s.id for update of p", ids)
	if err != nil {
		return nil, nil, err
	}
	known := make(map[freshet.ID]*Watched, len(list))
	for i := range list {
		known[list[i].Source.ID] = &list[i]
	}
	finished, turns := make([]Finished, len(polls)), make([]*turn, 0, len(polls))
	for i, p := range polls {
		w := known[p.Source]
		if w == nil {
			continue
		}
		f := &finished[i]
		f.Watched = *w
		src := &w.Source
		f.Recorded = src.Seq == p.Seq && src.Enabled && src.RemovedAt.IsZero()
		if f.Recorded {
			src.Seq++ // the same poll twice in a batch counts once
			turns = append(turns, &turn{Finished: f, outcome: p.Outcome, policy: t.s.settings.Policy(f.Source), before: f.Source})
		}
	}
	return finished, turns, nil
}

// sort decides which posts are new, edited, known or too old (E5, E6).
func (t *tx) sort(ctx context.Context, turns []*turn, now time.Time) error {
	var ids []freshet.ID
	for _, u := range turns {
		if len(u.outcome.Posts) > 0 {
			ids = append(ids, u.before.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	windows, err := t.windows(ctx, ids)
	if err != nil {
		return err
	}
	for _, u := range turns {
		if len(u.outcome.Posts) == 0 {
			continue
		}
		window := windows[u.before.ID]
		fates, seen := window.Sort(u.outcome.Posts, u.policy, u.before.CreatedAt, u.before.FirstPoll(), now)
		u.fates = fates
		for _, fate := range fates {
			if fate == freshet.TooOld {
				u.TooOld++
			}
		}
		if !bytes.Equal(window, seen) {
			u.seen = seen
		}
	}
	return nil
}

func (t *tx) windows(ctx context.Context, ids []freshet.ID) (map[freshet.ID]freshet.Seen, error) {
	type window struct {
		source freshet.ID
		seen   freshet.Seen
	}
	list, err := all(ctx, t, func(w *window) []any { return []any{&w.source, &w.seen} }, "select source_id, win from seen where source_id in ($1...)", ids)
	windows := make(map[freshet.ID]freshet.Seen, len(list))
	for _, w := range list {
		windows[w.source] = w.seen
	}
	return windows, err
}

// observe lets hosts and sources follow from their outcomes, in the order of the batch. It writes the hosts
// that changed and returns those that are paused longer than before.
func (t *tx) observe(ctx context.Context, turns []*turn, now time.Time) (cooled []freshet.Host, err error) {
	before, hosts := map[freshet.ID]freshet.Host{}, map[freshet.ID]freshet.Host{}
	for _, u := range turns {
		h, met := hosts[u.Host.ID]
		if !met {
			h, before[u.Host.ID] = u.Host, u.Host
		}
		h = h.Observe(u.outcome, now)
		hosts[h.ID], u.Host = h, h
		u.Source = u.before.Observe(u.outcome, u.policy, h, u.New, now)
		u.Disabled = !u.Source.Enabled
		u.Moved = u.Source.URL != u.before.URL
		u.Unhealthy = u.Source.Health() == freshet.Unhealthy && u.before.Health() != freshet.Unhealthy
	}
	changed := t.rows(updateHosts)
	for _, id := range slices.Sorted(maps.Keys(hosts)) {
		h := hosts[id]
		if h != before[id] {
			changed.add(h.ID, h.NotBefore, h.Failures, h.Status)
		}
		if h.NotBefore.After(before[id].NotBefore) {
			cooled = append(cooled, h)
		}
	}
	return cooled, runAll(ctx, changed)
}

var upsertSeen = inserting("seen", "source_id bigint, win bytea", "on conflict (source_id) do update set win = excluded.win")

// writePolls writes what the polls left of their sources. One that moved is written by move.
func (t *tx) writePolls(ctx context.Context, turns []*turn) error {
	polls, sources, refreshed, seen := t.rows(updatePolls), t.rows(updateSources), t.rows(updateRefreshed), t.rows(upsertSeen)
	for _, u := range turns {
		src := &u.Source
		polls.addPoll(src)
		if !u.Moved && (src.Enabled != u.before.Enabled || src.FeedTitle != u.before.FeedTitle || src.SiteURL != u.before.SiteURL ||
			src.Asked != u.before.Asked || len(src.Parts) != len(u.before.Parts)) {
			src.FeedTitle, src.SiteURL = clean(src.FeedTitle), clean(src.SiteURL)
			sources.addSource(&u.Watched)
		}
		if u.before.Refresh != 0 {
			refreshed.add(src.ID, nil, u.before.Refresh, string(u.outcome.Result()), u.New)
		}
		if u.seen != nil {
			seen.add(src.ID, []byte(u.seen))
		}
	}
	return runAll(ctx, polls, sources, refreshed, seen)
}

// countRefreshes moves refreshes on: by the polls that they asked for, and by the sources that they can no
// longer ask because their host wants a pause. The polls of such a host wait until it is over (S6).
func (t *tx) countRefreshes(ctx context.Context, turns []*turn, cooled []freshet.Host, now time.Time) error {
	counts := progress{}
	for _, u := range turns {
		if u.before.Refresh == 0 {
			continue
		}
		c := counts.of(u.before.Refresh)
		c.done++
		c.newItems += u.NewItems
		if u.outcome.Failure != nil {
			c.failed++
		}
	}
	for _, h := range cooled {
		if err := t.coolDown(ctx, h, counts); err != nil {
			return err
		}
	}
	return t.advance(ctx, counts, now)
}

func (t *tx) coolDown(ctx context.Context, h freshet.Host, counts progress) error {
	type waiting struct{ source, refresh freshet.ID }
	list, err := all(ctx, t, func(w *waiting) []any { return []any{&w.source, &w.refresh} },
		"select source_id, refresh_id from poll_state where host_id = $1 and refresh_id is not null order by source_id for update", h.ID)
	if err != nil {
		return err
	}
	refreshed := t.rows(updateRefreshed)
	for _, w := range list {
		c := counts.of(w.refresh)
		c.done++
		c.putOff++
		refreshed.add(w.source, nil, w.refresh, string(freshet.ResultSkipped), 0)
	}
	if err := runAll(ctx, refreshed); err != nil {
		return err
	}
	_, err = t.exec(ctx, "update poll_state set next_poll_at = $2 where host_id = $1 and next_poll_at < $2", h.ID, h.NotBefore)
	return err
}

// mostNamed is how many items an event names.
const mostNamed = 1000

// emitFinished tells of new items in the river and of sources that became something else.
func (t *tx) emitFinished(turns []*turn, shown []freshet.ID, now time.Time) {
	var feeds []freshet.ID
	for _, u := range turns {
		if u.NewItems > 0 && u.Source.InRiver {
			feeds = append(feeds, u.Source.ID)
		}
		firstFetch := u.before.FirstPoll() && !u.Source.FirstPoll()
		if !u.Source.RemovedAt.IsZero() {
			continue // move told
		}
		if u.Source.Health() != u.before.Health() || firstFetch {
			t.emitFeed(&u.Source, now)
		}
	}
	if len(shown) > 0 {
		t.emit(freshet.EventItems, itemsEvent{Count: len(shown), ItemIDs: shown[:min(len(shown), mostNamed)], FeedIDs: feeds}, now)
	}
}
