package store

import (
	"cmp"
	"context"
	"fmt"
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
	e, err := the(executions(ctx, s, "where e.id = $1", id))
	if err != nil {
		return freshet.Execution{}, nil, fmt.Errorf("read execution %s: %w", id, err)
	}
	attempts, err := all(ctx, s, func(a *freshet.Attempt) []any {
		return []any{&a.N, moment{&a.StartedAt}, span{&a.Took}, &a.Status, &a.Error, &a.Answer}
	}, "select n, started_at, took, status, error, answer from attempts where execution_id = $1 order by n", id)
	if err != nil {
		return freshet.Execution{}, nil, fmt.Errorf("read the attempts of execution %s: %w", id, err)
	}
	return e, attempts, nil
}

// RetryExecution has an execution carried out again, at once, because a person asks for it (W6). One that runs is
// freshet.ErrRunning.
func (s *Store) RetryExecution(ctx context.Context, id freshet.ID, now time.Time) (freshet.Execution, error) {
	return s.editExecution(ctx, id, func(t *tx, e freshet.Execution) (freshet.Execution, error) {
		if e.State == freshet.Running {
			return e, freshet.ErrRunning
		}
		_, err := t.switchAction(ctx, &e, "")
		return e.Retry(now), err
	})
}

// switchAction switches the action of an execution off for a reason, or on with "". It returns the workflow, nil when
// there was nothing to switch: an execution without its action is cancelled when it is claimed.
func (t *tx) switchAction(ctx context.Context, e *freshet.Execution, off string) (*freshet.Workflow, error) {
	w, err := theWorkflow(ctx, t, e.Workflow, " for update")
	if err == freshet.ErrNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	a := w.Action(e.Action)
	if a == nil || (a.Disabled == "") == (off == "") {
		return nil, nil
	}
	a.Disabled = off
	saved := t.rows(updateWorkflows)
	saved.addWorkflow(&w)
	return &w, runAll(ctx, saved)
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

func (s *Store) editExecution(ctx context.Context, id freshet.ID, edit func(*tx, freshet.Execution) (freshet.Execution, error)) (freshet.Execution, error) {
	var e freshet.Execution
	err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		if e, err = the(executions(ctx, t, "where e.id = $1 for update", id)); err != nil {
			return err
		}
		if e, err = edit(t, e); err != nil {
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
