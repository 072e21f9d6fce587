package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"freshet"
)

// FinishAttempts records how attempts ended and returns the executions as they are now, in no order. An attempt
// that is not the execution's current one, because its lease ran out, is left out: whoever took over decides.
func (s *Store) FinishAttempts(ctx context.Context, ended []freshet.Attempted, now time.Time) ([]freshet.Execution, error) {
	var finished []freshet.Execution
	err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		finished, err = t.finishAttempts(ctx, ended, now)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("finish %d attempts: %w", len(ended), err)
	}
	return finished, nil
}

func (t *tx) finishAttempts(ctx context.Context, ended []freshet.Attempted, now time.Time) ([]freshet.Execution, error) {
	how, ids := make(map[freshet.ID]*freshet.Attempt, len(ended)), make([]freshet.ID, len(ended))
	for i := range ended {
		how[ended[i].Execution], ids[i] = &ended[i].Attempt, ended[i].Execution
	}
	list, err := executions(ctx, t, "where e.id in ($1...) order by e.id for update", ids)
	if err != nil {
		return nil, err
	}
	finished := list[:0]
	work := t.workload(now)
	saved, attempts := t.rows(updateExecutions), t.rows(insertAttempts)
	for _, e := range list {
		a := how[e.ID]
		if e.State != freshet.Running || e.Attempts != a.N {
			continue
		}
		e = e.Finish(*a, t.s.random(), now)
		saved.addProgress(&e)
		attempts.addAttempt(e.ID, a)
		finished = append(finished, e)
	}
	if err := runAll(ctx, saved, attempts); err != nil {
		return nil, err
	}
	if err := t.consoled(ctx, finished); err != nil {
		return nil, err
	}
	for _, e := range finished {
		if err := work.afterAttempt(ctx, &e, how[e.ID]); err != nil {
			return nil, err
		}
	}
	if err := work.putOff(ctx); err != nil {
		return nil, err
	}
	return finished, work.write(ctx)
}

// afterAttempt does what an attempt means for the workflow's other executions: what its receiver asked for, and
// what keeps them in order.
func (l *workload) afterAttempt(ctx context.Context, e *freshet.Execution, a *freshet.Attempt) error {
	if e.Kind != freshet.KindTrigger {
		return nil
	}
	switch {
	case a.Gone:
		return l.actionGone(ctx, e, a)
	case e.State == freshet.Dead:
		return l.mourn(ctx, e)
	case e.State != freshet.Retrying:
		return nil
	}
	l.wait(receiver{e.Workflow, e.Action, true}, e.DueAt)
	l.wait(receiver{e.Workflow, e.Action, false}, a.PutOff(l.now))
	return nil
}

// receiver is for whom an action's executions wait: of any workflow, or of one that keeps their order.
type receiver struct {
	workflow freshet.ID
	action   string
	ordered  bool
}

// wait notes until when what waits for a receiver has to.
func (l *workload) wait(r receiver, until time.Time) {
	if until.After(l.waits[r]) {
		l.waits[r] = until
	}
}

// putOff lets what waits for a receiver wait as long as that asked for, and what has its place after a failed one as
// long as that waits.
func (l *workload) putOff(ctx context.Context) error {
	order := func(a, b receiver) int {
		return cmp.Or(cmp.Compare(a.workflow, b.workflow), cmp.Compare(a.action, b.action))
	}
	for _, r := range slices.SortedFunc(maps.Keys(l.waits), order) {
		where := ""
		if r.ordered {
			where = " and exists (select 1 from workflows o where o.id = $1 and o.ordered = 1)"
		}
		if _, err := l.t.exec(ctx, "update executions set due_at = $3 where workflow_id = $1 and action = $2 and due_at < $3 and state in ('queued', 'retrying')"+where,
			r.workflow, r.action, l.waits[r]); err != nil {
			return err
		}
	}
	return nil
}

// actionGone switches an action off whose receiver does not want to be asked again (410, W7).
func (l *workload) actionGone(ctx context.Context, e *freshet.Execution, a *freshet.Attempt) error {
	w, err := l.t.switchAction(ctx, e, a.Error)
	if err == nil && w != nil {
		l.tell(freshet.NewNotice(freshet.ActionDisabled, w, "Action: "+w.Action(e.Action).Name()+"\n"+a.Error, l.now))
	}
	return err
}

// consoled notes the workflows that something was delivered for: the next death is told of again.
func (t *tx) consoled(ctx context.Context, finished []freshet.Execution) error {
	var of []freshet.ID
	for i := range finished {
		if e := &finished[i]; e.Kind == freshet.KindTrigger && e.State == freshet.Succeeded && !slices.Contains(of, e.Workflow) {
			of = append(of, e.Workflow)
		}
	}
	if len(of) == 0 {
		return nil
	}
	_, err := t.exec(ctx, "update workflows set mourned = 0 where id in ($1...) and mourned = 1", of)
	return err
}

// mourn tells of an execution that nobody will try again: of the first of a row.
func (l *workload) mourn(ctx context.Context, e *freshet.Execution) error {
	if e.Kind != freshet.KindTrigger {
		return nil
	}
	n, err := l.t.exec(ctx, "update workflows set mourned = 1 where id = $1 and mourned = 0", e.Workflow)
	if err != nil || n == 0 {
		return err
	}
	w, err := theWorkflow(ctx, l.t, e.Workflow, "")
	if err != nil {
		return err
	}
	l.tell(freshet.NewNotice(freshet.ExecutionDead, &w, fmt.Sprintf("Execution %s was tried %d times. The last: %s", e.ID, e.Attempts, e.LastError), l.now))
	return nil
}

// EndLease records how a worker's attempt ended: N is the attempt that it leased. A lease that somebody else has
// taken over since is freshet.ErrLeaseLost. A success that is recorded already may be told again, by a worker that lost
// the answer.
func (s *Store) EndLease(ctx context.Context, id freshet.ID, a freshet.Attempt, now time.Time) (freshet.Execution, error) {
	var e freshet.Execution
	err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		if e, err = the(executions(ctx, t, "where e.id = $1", id)); err == nil && e.Action != "" {
			err = freshet.ErrNotFound // the runner's
		}
		if err != nil {
			return err
		}
		if a.StartedAt.IsZero() {
			a.StartedAt = now
		}
		finished, err := t.finishAttempts(ctx, []freshet.Attempted{{Execution: id, Attempt: a}}, now)
		switch {
		case err != nil:
			return err
		case len(finished) > 0:
			e = finished[0]
		case e.State != freshet.Succeeded || e.Attempts != a.N || a.Error != "":
			return freshet.ErrLeaseLost
		}
		return nil
	})
	if err != nil {
		return e, fmt.Errorf("end the lease of execution %s: %w", id, err)
	}
	return e, nil
}
