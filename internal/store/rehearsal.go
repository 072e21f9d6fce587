package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"freshet"
)

// TestWorkflow makes an execution for each of the workflow's actions with data that a person asks for, and
// returns them. They are carried out like any other.
func (s *Store) TestWorkflow(ctx context.Context, id freshet.ID, data freshet.TriggerData, now time.Time) ([]freshet.Execution, error) {
	var made []freshet.Execution
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		w, err := theWorkflow(ctx, t, id, " for update")
		if err != nil {
			return err
		}
		work := t.workload(now)
		made = work.enqueue(freshet.KindTest, &w, actionsOf(&w), &data, 0, 0)
		return work.write(ctx)
	})
	if err != nil {
		return nil, fmt.Errorf("test workflow %s: %w", id, err)
	}
	return made, nil
}

// sampled is how many of the newest entries a test is made of, at most.
const sampled = 5

// SampleData returns data for TestWorkflow: of the newest that the workflow's source gave, else made up.
func (s *Store) SampleData(ctx context.Context, w *freshet.Workflow) (freshet.TriggerData, error) {
	polls, err := s.RecentPolls(ctx, w.Source, time.Unix(0, 0), sampled)
	return w.Sample(polls, means), err
}

// RecentPolls returns what a source gave since a time, poll by poll, the oldest first: what a rehearsal of a
// workflow is shown. At most limit posts are read, the newest.
func (s *Store) RecentPolls(ctx context.Context, source freshet.ID, since time.Time, limit int) ([]freshet.Outcome, error) {
	type row struct {
		freshet.Post
		seen, place time.Time
	}
	list, err := all(ctx, s, func(r *row) []any {
		return []any{&r.GUID, &r.URL, &r.Title, &r.Author, moment{&r.place}, &r.Text, moment{&r.seen}}
	}, `select p.guid, p.url, i.title, i.author, p.published_at, b.body, p.first_seen_at
 from posts p join items i on i.id = p.item_id join bodies b on b.item_id = i.id
 where p.source_id = $1 and p.published_at >= $2 order by p.published_at desc, p.ingested_at desc, p.item_id limit $3`, source, since, limit)
	if err != nil {
		return nil, fmt.Errorf("read what source %s gave: %w", source, err)
	}
	slices.SortStableFunc(list, func(a, b row) int { return cmp.Compare(a.seen.UnixMilli(), b.seen.UnixMilli()) })
	var polls []freshet.Outcome
	for i := range list {
		r := &list[i]
		r.Published = r.place
		if len(polls) == 0 || !polls[len(polls)-1].At.Equal(r.seen) {
			polls = append(polls, freshet.Outcome{At: r.seen})
		}
		last := &polls[len(polls)-1]
		last.Posts = append(last.Posts, r.Post)
	}
	return polls, nil
}
