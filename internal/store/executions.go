package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"freshet"
)

const executionColumns = `select e.id, e.kind, e.workflow_id, e.action, e.source_id, e.state, e.data, e.items, e.due_at, e.owner,
 e.attempts, e.failures, e.abandoned, e.last_error, e.created_at, e.done_at from executions e `

func executionRow(e *freshet.Execution) []any {
	return []any{&e.ID, &e.Kind, &e.Workflow, &e.Action, &e.Source, &e.State, &e.Data, &e.Items, moment{&e.DueAt}, &e.Owner,
		&e.Attempts, &e.Failures, &e.Abandoned, &e.LastError, moment{&e.CreatedAt}, moment{&e.DoneAt}}
}

var (
	insertExecutions = inserting("executions", `id bigint, kind text, workflow_id bigint, action text, source_id bigint, seq bigint, part bigint, state text, data text, items bigint,
		due_at bigint, attempts bigint, failures bigint, abandoned bigint, last_error text, created_at bigint, done_at bigint`, "")
	updateExecutions = updating("executions", `id bigint, state text, due_at bigint, owner text, attempts bigint, failures bigint, abandoned bigint, last_error text, done_at bigint`)
	updateData       = updating("executions", "id bigint, data text, items bigint")
	insertAttempts   = inserting("attempts", "execution_id bigint, n bigint, started_at bigint, took bigint, status bigint, error text, answer text", "on conflict do nothing")
)

func (r *rows) addExecution(e *freshet.Execution, seq int64, part int) {
	r.add(e.ID, string(e.Kind), e.Workflow, e.Action, e.Source, seq, part, string(e.State), string(e.Data), e.Items,
		e.DueAt, e.Attempts, e.Failures, e.Abandoned, e.LastError, e.CreatedAt, e.DoneAt)
}

func (r *rows) addProgress(e *freshet.Execution) {
	r.add(e.ID, string(e.State), e.DueAt, e.Owner, e.Attempts, e.Failures, e.Abandoned, e.LastError, e.DoneAt)
}

func (r *rows) addAttempt(id freshet.ID, a *freshet.Attempt) {
	r.add(id, a.N, a.StartedAt, a.Took, a.Status, a.Error, a.Answer)
}

func executions(ctx context.Context, q querier, where string, args ...any) ([]freshet.Execution, error) {
	return all(ctx, q, executionRow, executionColumns+where, args...)
}

// Which index SQLite is to read executions by where it cannot tell: it knows not how few of them are not over.
const (
	byOpen   = "indexed by executions_open "
	byFailed = "indexed by executions_failed "
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
	work := &workload{t: t, now: now, fresh: t.rows(insertExecutions), notices: t.rows(insertNotices)}
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
	return claimed, runAll(ctx, work.fresh, work.notices)
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
	work := &workload{t: t, now: now, fresh: t.rows(insertExecutions), notices: t.rows(insertNotices)}
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
	return finished, runAll(ctx, work.fresh, work.notices)
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
	if l.waits == nil {
		l.waits = map[receiver]time.Time{}
	}
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
	w, err := theWorkflow(ctx, l.t, e.Workflow, " for update")
	if err == freshet.ErrNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	action := w.Action(e.Action)
	if action == nil || action.Disabled != "" {
		return nil
	}
	action.Disabled = a.Error
	saved := l.t.rows(updateWorkflows)
	saved.addWorkflow(&w)
	l.tell(freshet.NewNotice(freshet.ActionDisabled, &w, "Action: "+action.Name()+"\n"+a.Error, l.now))
	return runAll(ctx, saved)
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

// cancel ends what waits for a workflow.
func (t *tx) cancel(ctx context.Context, workflow freshet.ID, reason string, now time.Time) error {
	list, err := executions(ctx, t, byOpen+"where e.workflow_id = $1 and e.due_at is not null order by e.id for update", workflow)
	if err != nil {
		return err
	}
	saved := t.rows(updateExecutions)
	for _, e := range list {
		e = e.Cancel(reason, now)
		saved.addProgress(&e)
	}
	return runAll(ctx, saved)
}

// NextExecution returns when the runner has something to do, zero when nothing waits.
func (s *Store) NextExecution(ctx context.Context) (time.Time, error) {
	next, _, err := one(ctx, s, func(t *time.Time) []any { return []any{moment{t}} }, "select min(due_at) from executions where due_at is not null and action <> ''")
	if err != nil {
		return time.Time{}, fmt.Errorf("read when the next execution is due: %w", err)
	}
	return next, nil
}

// NextLease returns when a worker of a workflow, or of any with 0, has something to do, zero when nothing waits.
func (s *Store) NextLease(ctx context.Context, workflow freshet.ID) (time.Time, error) {
	next, _, err := one(ctx, s, func(t *time.Time) []any { return []any{moment{t}} },
		"select min(due_at) from executions where due_at is not null and action = '' and (cast($1 as bigint) = 0 or workflow_id = $1)", workflow)
	if err != nil {
		return time.Time{}, fmt.Errorf("read when the next execution of a worker is due: %w", err)
	}
	return next, nil
}

// ExecutionQuery chooses executions.
type ExecutionQuery struct {
	Workflow freshet.ID // 0 for any
	State    freshet.ExecutionState
	Before   freshet.ID // older ones than this, 0 for the newest
	Limit    int
}

// Executions returns executions, newest first.
func (s *Store) Executions(ctx context.Context, q ExecutionQuery) ([]freshet.Execution, error) {
	where, args := "where e.id < $1", []any{cmp.Or(q.Before, freshet.ID(1<<63-1))}
	if q.Workflow != 0 {
		args = append(args, q.Workflow)
		where += fmt.Sprintf(" and e.workflow_id = $%d", len(args))
	}
	args = append(args, q.Limit)
	list, err := executions(ctx, s, inState(q.State, where)+fmt.Sprintf(" desc limit $%d", len(args)), args...)
	if err != nil {
		return nil, fmt.Errorf("list executions: %w", err)
	}
	return list, nil
}

// inState limits a choice to a state and orders it by id. Nearly all executions have succeeded. Those that wait or have
// failed are few and found in indexes of their own; +e.id keeps PostgreSQL from going through all the others for them.
func inState(state freshet.ExecutionState, where string) string {
	const order = " order by e.id"
	if !slices.Contains(freshet.ExecutionStates, state) {
		return where + order
	}
	where += " and e.state = '" + string(state) + "'"
	switch {
	case !state.Over():
		return byOpen + strings.Replace(where, "e.id", "+e.id", 1) + " and e.due_at is not null order by +e.id"
	case state != freshet.Succeeded:
		return byFailed + where + " and e.done_at is not null and e.state <> 'succeeded'" + order
	}
	return where + order
}

// Execution returns an execution and its attempts, the first one first.
func (s *Store) Execution(ctx context.Context, id freshet.ID) (freshet.Execution, []freshet.Attempt, error) {
	list, err := executions(ctx, s, "where e.id = $1", id)
	if err == nil && len(list) == 0 {
		err = freshet.ErrNotFound
	}
	if err != nil {
		return freshet.Execution{}, nil, fmt.Errorf("read execution %s: %w", id, err)
	}
	attempts, err := all(ctx, s, func(a *freshet.Attempt) []any {
		return []any{&a.N, moment{&a.StartedAt}, span{&a.Took}, &a.Status, &a.Error, &a.Answer}
	}, "select n, started_at, took, status, error, answer from attempts where execution_id = $1 order by n", id)
	if err != nil {
		return freshet.Execution{}, nil, fmt.Errorf("read the attempts of execution %s: %w", id, err)
	}
	return list[0], attempts, nil
}

// RetryExecution has an execution carried out again, at once, because a person asks for it (W6). One that runs is
// freshet.ErrRunning.
func (s *Store) RetryExecution(ctx context.Context, id freshet.ID, now time.Time) (freshet.Execution, error) {
	return s.editExecution(ctx, id, func(t *tx, e freshet.Execution) (freshet.Execution, error) {
		if e.State == freshet.Running {
			return e, freshet.ErrRunning
		}
		return e.Retry(now), t.reviveAction(ctx, &e)
	})
}

// reviveAction switches the action of an execution on again.
func (t *tx) reviveAction(ctx context.Context, e *freshet.Execution) error {
	w, err := theWorkflow(ctx, t, e.Workflow, " for update")
	if err == freshet.ErrNotFound {
		return nil // it is cancelled when it is claimed
	}
	if err != nil {
		return err
	}
	a := w.Action(e.Action)
	if a == nil || a.Disabled == "" {
		return nil
	}
	a.Disabled = ""
	saved := t.rows(updateWorkflows)
	saved.addWorkflow(&w)
	return runAll(ctx, saved)
}

// CancelExecution ends an execution that waits, because a person asks for it.
func (s *Store) CancelExecution(ctx context.Context, id freshet.ID, now time.Time) (freshet.Execution, error) {
	return s.editExecution(ctx, id, func(_ *tx, e freshet.Execution) (freshet.Execution, error) {
		if e.State == freshet.Running {
			return e, freshet.ErrRunning
		}
		return e.Cancel("Cancelled by hand.", now), nil
	})
}

// EndLease records how a worker's attempt ended: N is the attempt that it leased. A lease that somebody else has
// taken over since is freshet.ErrLeaseLost. A success that is recorded already may be told again, by a worker that lost
// the answer.
func (s *Store) EndLease(ctx context.Context, id freshet.ID, a freshet.Attempt, now time.Time) (freshet.Execution, error) {
	var e freshet.Execution
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		list, err := executions(ctx, t, "where e.id = $1", id)
		switch {
		case err != nil:
			return err
		case len(list) == 0 || list[0].Action != "" || list[0].Kind == freshet.KindAlert:
			return freshet.ErrNotFound
		}
		if a.StartedAt.IsZero() {
			a.StartedAt = now
		}
		finished, err := t.finishAttempts(ctx, []freshet.Attempted{{Execution: id, Attempt: a}}, now)
		if err != nil {
			return err
		}
		switch e = list[0]; {
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

func (s *Store) editExecution(ctx context.Context, id freshet.ID, edit func(*tx, freshet.Execution) (freshet.Execution, error)) (freshet.Execution, error) {
	var e freshet.Execution
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		list, err := executions(ctx, t, "where e.id = $1 for update", id)
		if err == nil && len(list) == 0 {
			err = freshet.ErrNotFound
		}
		if err != nil {
			return err
		}
		if e, err = edit(t, list[0]); err != nil {
			return err
		}
		saved := t.rows(updateExecutions)
		saved.addProgress(&e)
		return runAll(ctx, saved)
	})
	if err != nil {
		return e, fmt.Errorf("edit execution %s: %w", id, err)
	}
	return e, nil
}
