package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"freshet"
)

// Of the executions that wait, the runner's and those of workers.
const (
	deliveries = "action <> ''"
	pulls      = "action = ''"
)

// inOrder leaves out what must wait for an earlier execution of its workflow, or for one that runs, because a person
// had an earlier one tried again meanwhile (W6, "ordered"). What waits by the thousands is told from the first by ids alone.
func inOrder(queue string) string {
	const ordered = "(select id from workflows where ordered = 1)"
	return " and (e.workflow_id not in " + ordered + " or e.id in (select min(id) from executions where due_at is not null and " + queue +
		" and workflow_id in " + ordered + " group by workflow_id, action) and not exists (select 1 from executions r where r.due_at > $1 and r." + queue +
		" and +r.workflow_id = e.workflow_id and r.action = e.action and r.state = 'running' and r.id <> e.id))"
}

// The due executions of the runner, and those of workers, of one workflow or of any.
var (
	dueDeliveries = "where e.due_at is not null and e.due_at <= $1 and e." + deliveries + " and e.workflow_id not in ($2...)" + inOrder(deliveries) +
		" order by e.due_at, e.id limit $3 for update skip locked"
	duePulls = "where e.due_at is not null and e.due_at <= $1 and e." + pulls + " and (cast($2 as bigint) = 0 or e.workflow_id = $2)" + inOrder(pulls) +
		" order by e.due_at, e.id limit $3 for update skip locked"
)

// ClaimExecutions begins attempts at due executions, the longest due first, so many of one workflow at most, and none of
// the busy ones. Each attempt is written down before it is made, and belongs to owner until the lease ends (W6). What somebody
// claimed and did not finish in time is claimed again.
func (s *Store) ClaimExecutions(ctx context.Context, owner string, limit, each int, busy []freshet.ID, lease time.Duration, now time.Time) ([]freshet.Delivery, error) {
	list, err := s.claimExecutions(ctx, owner, lease, now, dueDeliveries, busy, limit, each)
	if err != nil {
		return nil, fmt.Errorf("claim executions: %w", err)
	}
	return list, nil
}

// LeaseExecutions begins attempts that a worker makes, of one workflow or, with 0, of any that has no actions.
func (s *Store) LeaseExecutions(ctx context.Context, owner string, workflow freshet.ID, limit int, lease time.Duration, now time.Time) ([]freshet.Delivery, error) {
	list, err := s.claimExecutions(ctx, owner, lease, now, duePulls, workflow, limit, limit)
	if err != nil {
		return nil, fmt.Errorf("lease executions: %w", err)
	}
	return list, nil
}

// endsAtOnce is how many executions one transaction looks at, to end those that nobody can carry out any more.
const endsAtOnce = 500

// claimExecutions goes on while it meets only what has to be ended, so that this holds up nobody.
func (s *Store) claimExecutions(ctx context.Context, owner string, lease time.Duration, now time.Time, due string, whose any, limit, each int) ([]freshet.Delivery, error) {
	for look := limit; ; look = max(limit, endsAtOnce) {
		var claimed []freshet.Delivery
		met := 0
		err := s.write(ctx, func(ctx context.Context, t *tx) error {
			list, err := executions(ctx, t, due, now, whose, look)
			if err != nil || len(list) == 0 {
				claimed, met = nil, 0
				return err
			}
			met = len(list)
			claimed, err = t.beginAttempts(ctx, list, owner, lease, now, limit, each)
			return err
		})
		if err != nil || len(claimed) > 0 || met < look {
			return claimed, err
		}
	}
}

// beginAttempts begins attempts at due executions, so many at most, in all and of each workflow, and ends those that cannot be carried out any more.
func (t *tx) beginAttempts(ctx context.Context, list []freshet.Execution, owner string, lease time.Duration, now time.Time, limit, each int) (claimed []freshet.Delivery, err error) {
	of, err := t.workflowsOf(ctx, list)
	if err != nil {
		return nil, err
	}
	if list, err = t.stillFirst(ctx, list, of, now); err != nil {
		return nil, err
	}
	work := t.workload(now)
	begun, lost := t.rows(updateExecutions), t.rows(insertAttempts)
	var killers []freshet.Execution
	begins := map[freshet.ID]int{}
	for _, e := range list {
		if len(claimed) == limit {
			break
		}
		if begins[e.Workflow] == each {
			continue
		}
		if e.State == freshet.Running {
			a := freshet.Attempt{N: e.Attempts, StartedAt: now, Error: "Whoever tried has stopped before the end was known.", Abandoned: true}
			lost.addAttempt(e.ID, &a)
			if e = e.Finish(a, 0, now); e.State.Over() {
				killers = append(killers, e)
			}
		}
		if !e.State.Over() {
			d := freshet.Delivery{}
			if e, d = start(e, of[e.Workflow], owner, lease, now); e.State == freshet.Running {
				claimed = append(claimed, d)
				begins[e.Workflow]++
			}
		}
		begun.addProgress(&e)
	}
	if err := runAll(ctx, begun, lost); err != nil {
		return nil, err
	}
	for i := range killers {
		if err := work.mourn(ctx, &killers[i]); err != nil {
			return nil, err
		}
	}
	return claimed, work.write(ctx)
}

// stillFirst leaves out what has to wait after all: between the look and now a person may have had an earlier
// execution of an ordered workflow tried again. Whoever does that and whoever claims take turns at the workflow's row.
func (t *tx) stillFirst(ctx context.Context, list []freshet.Execution, of map[freshet.ID]*freshet.Workflow, now time.Time) ([]freshet.Execution, error) {
	var ordered []freshet.ID
	for id, w := range of {
		if w.Ordered {
			ordered = append(ordered, id)
		}
	}
	if len(ordered) == 0 {
		return list, nil
	}
	slices.Sort(ordered)
	if _, err := all(ctx, t, id[freshet.ID], "select id from workflows where id in ($1...) order by id for update", ordered); err != nil {
		return nil, err
	}
	ids := make([]freshet.ID, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	queue := deliveries
	if list[0].Action == "" {
		queue = pulls
	}
	return executions(ctx, t, "where e.due_at <= $1 and e.id in ($2...)"+inOrder(queue)+" order by e.due_at, e.id", now, ids)
}

// start begins an attempt, unless there is nothing any more that could be done.
func start(e freshet.Execution, w *freshet.Workflow, owner string, lease time.Duration, now time.Time) (freshet.Execution, freshet.Delivery) {
	d := freshet.Delivery{}
	if e.Kind != freshet.KindAlert {
		if w == nil {
			return e.Cancel("Its workflow was deleted.", now), d
		}
		d.WorkflowName = w.Name
		if e.Action != "" {
			a := w.Action(e.Action)
			switch {
			case a == nil:
				return e.Cancel("Its action was removed from the workflow.", now), d
			case a.Disabled != "":
				return e.Finish(freshet.Attempt{Error: "The action is switched off. " + a.Disabled, Final: true}, 0, now), d
			case w.Sealed != nil:
				return e.Finish(freshet.Attempt{Error: "What it is sent with is sealed with another master key than this instance has."}, 0, now), d
			}
			d.Do = *a
		}
	}
	e = e.Claim(owner, lease, now)
	d.Execution = e
	return e, d
}

func (t *tx) workflowsOf(ctx context.Context, list []freshet.Execution) (map[freshet.ID]*freshet.Workflow, error) {
	ids := make([]freshet.ID, 0, len(list))
	for _, e := range list {
		if e.Workflow != 0 {
			ids = append(ids, e.Workflow)
		}
	}
	slices.Sort(ids)
	found, err := workflows(ctx, t, "where w.id in ($1...) order by w.id", slices.Compact(ids))
	of := make(map[freshet.ID]*freshet.Workflow, len(found))
	for i := range found {
		t.s.tryOpen(&found[i])
		of[found[i].ID] = &found[i]
	}
	return of, err
}

// NextExecution returns when the runner has something to do, zero when nothing waits.
func (s *Store) NextExecution(ctx context.Context) (time.Time, error) {
	next, _, err := one(ctx, s, instant, "select min(due_at) from executions where due_at is not null and "+deliveries)
	if err != nil {
		return time.Time{}, fmt.Errorf("read when the next execution is due: %w", err)
	}
	return next, nil
}

// NextLease returns when a worker of a workflow, or of any with 0, has something to do, zero when nothing waits.
func (s *Store) NextLease(ctx context.Context, workflow freshet.ID) (time.Time, error) {
	next, _, err := one(ctx, s, instant, "select min(due_at) from executions where due_at is not null and "+pulls+" and (cast($1 as bigint) = 0 or workflow_id = $1)", workflow)
	if err != nil {
		return time.Time{}, fmt.Errorf("read when the next execution of a worker is due: %w", err)
	}
	return next, nil
}
