package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"freshet"
)

// workload gathers what follows from a batch of polls for workflows.
type workload struct {
	t       *tx
	now     time.Time
	last    freshet.ID
	fresh   *rows // executions
	notices *rows
	waits   map[receiver]time.Time
}

func (t *tx) workload(now time.Time) *workload {
	return &workload{t: t, now: now, fresh: t.rows(insertExecutions), notices: t.rows(insertNotices), waits: map[receiver]time.Time{}}
}

// write writes what was gathered.
func (l *workload) write(ctx context.Context) error { return runAll(ctx, l.fresh, l.notices) }

// next returns an id that is greater than the ones before, so that executions keep their order.
func (l *workload) next() freshet.ID {
	id := l.t.s.ids.Next(l.now)
	for id <= l.last {
		id = l.t.s.ids.Next(l.now.Add(time.Millisecond))
	}
	l.last = id
	return id
}

// follow makes what an observation asks for.
func (l *workload) follow(ctx context.Context, w *freshet.Workflow, u *turn, seen freshet.Observed) error {
	for part, data := range seen.Fired {
		actions := actionsOf(w)
		if w.Batch == freshet.BatchWindow && data.Content == nil {
			var err error
			if actions, err = l.joinWindow(ctx, w, actions, &data); err != nil {
				return err
			}
		}
		l.enqueue(freshet.KindTrigger, w, actions, &data, u.Source.Seq, part)
	}
	switch {
	case seen.Disabled:
		l.tell(freshet.NewNotice(freshet.WorkflowDisabled, w, w.DisabledReason, l.now))
	case seen.Recovered:
		l.tell(freshet.NewNotice(freshet.WorkflowRecovered, w, "Its address answers again.", l.now))
	}
	return nil
}

// actionsOf are the workflow's actions; one that a worker carries out when it has none.
func actionsOf(w *freshet.Workflow) []freshet.Action {
	if len(w.Actions) == 0 {
		return []freshet.Action{{}}
	}
	return w.Actions
}

// enqueue writes an execution for each of these actions of a workflow; seq and part say which news of its source it is for.
func (l *workload) enqueue(kind freshet.ExecutionKind, w *freshet.Workflow, actions []freshet.Action, data *freshet.TriggerData, seq int64, part int) []freshet.Execution {
	frozen := freshet.MarshalData(data)
	made := make([]freshet.Execution, len(actions))
	for i := range actions {
		e := freshet.Execution{ID: l.next(), Kind: kind, Workflow: w.ID, Action: actions[i].ID, Source: w.Source, State: freshet.Queued,
			Data: frozen, Items: len(data.Items), DueAt: l.now, CreatedAt: l.now}
		if w.Batch == freshet.BatchWindow && kind == freshet.KindTrigger && data.Content == nil {
			e.DueAt = l.now.Add(w.Window())
		}
		if why := actions[i].Disabled; why != "" && kind == freshet.KindTrigger {
			e = e.Finish(freshet.Attempt{Error: "The action is switched off. " + why, Final: true}, 0, l.now)
		}
		l.fresh.addExecution(&e, seq, part)
		made[i] = e
	}
	return made
}

// joinWindow adds entries to the newest execution of each action that still gathers some, and returns the actions
// that have none with room: a window may have ended for one action and not yet for another.
func (l *workload) joinWindow(ctx context.Context, w *freshet.Workflow, actions []freshet.Action, data *freshet.TriggerData) (left []freshet.Action, err error) {
	open, err := executions(ctx, l.t, byOpen+"where e.workflow_id = $1 and e.kind = 'trigger' and e.state = 'queued' and e.attempts = 0 and e.due_at > $2 order by e.id for update", w.ID, l.now)
	if err != nil {
		return nil, err
	}
	newest := map[string]*freshet.Execution{}
	for i := range open {
		newest[open[i].Action] = &open[i]
	}
	grown := l.t.rows(updateData)
	for _, a := range actions {
		var gathered freshet.TriggerData
		e := newest[a.ID]
		if e != nil {
			if err := json.Unmarshal(e.Data, &gathered); err != nil {
				return nil, fmt.Errorf("read the data of execution %s: %w", e.ID, err)
			}
		}
		if e == nil || !gathered.Gather(data.Items) {
			left = append(left, a)
			continue
		}
		grown.add(e.ID, string(freshet.MarshalData(&gathered)), len(gathered.Items))
	}
	return left, runAll(ctx, grown)
}
