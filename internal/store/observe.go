package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"freshet"
	"freshet/internal/trigger"
)

var means = trigger.Means()

// observeWorkflows shows the workflows of the polled sources what the polls brought, and makes executions of
// what fires: in the transaction that records the polls (W6).
func (t *tx) observeWorkflows(ctx context.Context, turns []*turn, now time.Time) error {
	polled := map[freshet.ID]*turn{}
	for _, u := range turns {
		if u.before.Asked > 0 {
			polled[u.before.ID], u.Shown = u, true
		}
	}
	if len(polled) == 0 {
		return nil
	}
	list, err := workflows(ctx, t, "where w.source_id in ($1...) and w.wanted = 1 order by w.id for update", slices.Sorted(maps.Keys(polled)))
	if err != nil {
		return err
	}
	var reading []*freshet.Workflow
	for i := range list {
		if o := polled[list[i].Source].outcome; !o.Unchanged && (o.Failure == nil || len(o.Contents) > 0) {
			reading = append(reading, &list[i])
		}
	}
	if err := remember(ctx, t, reading); err != nil {
		return err
	}
	work := t.workload(now)
	saved, memory := t.rows(observedWorkflows), t.rows(upsertMemory)
	for i := range list {
		w := &list[i]
		u := polled[w.Source]
		seen := w.Observe(u.outcome, means)
		if u.Disabled && w.Enabled {
			w.Disable("Its address is not polled any more. " + u.Source.DisabledReason)
			seen.Disabled = true
		}
		saved.addObserved(w)
		if seen.Remembers {
			memory.addMemory(w)
		}
		if err := work.follow(ctx, w, u, seen); err != nil {
			return err
		}
	}
	t.settle(list, polled, now)
	if err := runAll(ctx, saved, memory); err != nil {
		return err
	}
	return work.write(ctx)
}

// settle brings sources in line with what became of their workflows. The sources are written with their polls.
func (t *tx) settle(list []freshet.Workflow, polled map[freshet.ID]*turn, now time.Time) {
	of := map[freshet.ID][]freshet.Workflow{}
	for _, w := range list {
		of[w.Source] = append(of[w.Source], w)
	}
	for id, u := range polled {
		src := &u.Source
		src.Ask(of[id])
		if slices.ContainsFunc(of[id], func(w freshet.Workflow) bool {
			return u.outcome.Failure == nil && (w.State.Waiting || w.State.Failures > 0)
		}) {
			src.Forget() // it must see the whole document, or look again for the part that it misses
		}
		if src.Unwanted() {
			src.NextPollAt = time.Time{}
		} else if src.Asked != u.before.Asked {
			*src = src.Reschedule(t.s.settings.Policy(*src), u.Host, now)
		}
	}
}

func (t *tx) workflowsBySource(ctx context.Context, sources []freshet.ID) (map[freshet.ID][]freshet.Workflow, error) {
	list, err := workflows(ctx, t, "where w.source_id in ($1...) order by w.id for update", sources)
	of := map[freshet.ID][]freshet.Workflow{}
	for _, w := range list {
		of[w.Source] = append(of[w.Source], w)
	}
	return of, err
}

// forgiveWorkflows takes the failure of a source's last poll back from its workflows (S5), and what was to be told of
// those that it switched off.
func (t *tx) forgiveWorkflows(ctx context.Context, src *freshet.Source, list []freshet.Workflow) error {
	saved := t.rows(observedWorkflows)
	var back []freshet.ID
	for i := range list {
		w := &list[i]
		was := w.Enabled
		if !w.Forgive(src.LastPollAt) {
			continue
		}
		saved.addObserved(w)
		if w.Enabled && !was {
			back = append(back, w.ID)
		}
	}
	src.Ask(list)
	if src.Unwanted() {
		src.NextPollAt = time.Time{}
	}
	if err := runAll(ctx, saved); err != nil || len(back) == 0 {
		return err
	}
	notices, err := all(ctx, t, id[freshet.ID], "select id from notices where id >= $1 and kind = $2 and workflow_id in ($3...)",
		firstID(src.LastPollAt), string(freshet.WorkflowDisabled), back)
	if err != nil || len(notices) == 0 {
		return err
	}
	if _, err := t.exec(ctx, "delete from executions where workflow_id = 0 and due_at is not null and kind = 'alert' and state <> 'running' and seq in ($1...)", notices); err != nil {
		return err
	}
	_, err = t.exec(ctx, "delete from notices where id in ($1...)", notices)
	return err
}
