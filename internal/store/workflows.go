package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"freshet"
	"freshet/internal/trigger"
)

// The definition comes before what overrides a part of it: what polls change.
const workflowColumns = `select w.id, w.source_id, w.definition, w.enabled, w.disabled_reason, w.checked_at, w.content_hash, w.failures, w.last_error,
 w.waiting, w.resting, w.created_at, w.updated_at from workflows w `

func workflowRow(w *freshet.Workflow) []any {
	return []any{&w.ID, &w.Source, definitionOf{w}, flag{&w.Enabled}, &w.DisabledReason, moment{&w.State.CheckedAt}, &w.State.ContentHash,
		&w.State.Failures, &w.State.LastError, flag{&w.State.Waiting}, flag{&w.State.Resting}, moment{&w.CreatedAt}, moment{&w.UpdatedAt}}
}

var (
	insertWorkflows = inserting("workflows", `id bigint, source_id bigint, name text, enabled bigint, wanted bigint, every bigint, ordered bigint, definition text, disabled_reason text,
		checked_at bigint, content_hash text, failures bigint, last_error text, waiting bigint, resting bigint, created_at bigint, updated_at bigint`, "")
	updateWorkflows = updating("workflows", `id bigint, source_id bigint, name text, enabled bigint, wanted bigint, every bigint, ordered bigint, definition text, disabled_reason text,
		checked_at bigint, content_hash text, failures bigint, last_error text, waiting bigint, resting bigint, created_at bigint, updated_at bigint`)
	// observedWorkflows is what a poll changes.
	observedWorkflows = updating("workflows", `id bigint, enabled bigint, wanted bigint, disabled_reason text,
		checked_at bigint, content_hash text, failures bigint, last_error text, waiting bigint, resting bigint`)
	upsertMemory = inserting("workflow_memory", "workflow_id bigint, ids text, win bytea, kept bytea",
		"on conflict (workflow_id) do update set ids = excluded.ids, win = excluded.win, kept = excluded.kept")
)

func (r *rows) addWorkflow(w *freshet.Workflow) {
	r.add(w.ID, w.Source, w.Name, w.Enabled, w.Wanted(), w.Every(), w.Ordered, kept(w), w.DisabledReason,
		w.State.CheckedAt, w.State.ContentHash, w.State.Failures, w.State.LastError, w.State.Waiting, w.State.Resting, w.CreatedAt, w.UpdatedAt)
}

func (r *rows) addObserved(w *freshet.Workflow) {
	r.add(w.ID, w.Enabled, w.Wanted(), w.DisabledReason,
		w.State.CheckedAt, w.State.ContentHash, w.State.Failures, w.State.LastError, w.State.Waiting, w.State.Resting)
}

func (r *rows) addMemory(w *freshet.Workflow) {
	ids := w.Memory.IDs
	if ids == nil {
		ids = []string{}
	}
	r.add(w.ID, text(ids), w.Memory.Window, w.Memory.Text)
}

func workflows(ctx context.Context, q querier, where string, args ...any) ([]freshet.Workflow, error) {
	return all(ctx, q, workflowRow, workflowColumns+where, args...)
}

func theWorkflow(ctx context.Context, q querier, id freshet.ID, lock string) (freshet.Workflow, error) {
	list, err := workflows(ctx, q, "where w.id = $1"+lock, id)
	if err != nil {
		return freshet.Workflow{}, err
	}
	if len(list) == 0 {
		return freshet.Workflow{}, freshet.ErrNotFound
	}
	return list[0], nil
}

// remember reads what workflows know of what they have seen.
func remember(ctx context.Context, q querier, list []*freshet.Workflow) error {
	if len(list) == 0 {
		return nil
	}
	known, ids := make(map[freshet.ID]*freshet.Workflow, len(list)), make([]freshet.ID, len(list))
	for i, w := range list {
		known[w.ID], ids[i] = w, w.ID
	}
	type memory struct {
		workflow freshet.ID
		freshet.Memory
		ids string
	}
	rows, err := all(ctx, q, func(m *memory) []any { return []any{&m.workflow, &m.ids, &m.Window, &m.Text} },
		"select workflow_id, ids, win, kept from workflow_memory where workflow_id in ($1...)", ids)
	for i := range rows {
		m := &rows[i]
		if err := json.Unmarshal([]byte(m.ids), &m.IDs); err != nil {
			return fmt.Errorf("read what workflow %s has seen: %w", m.workflow, err)
		}
		known[m.workflow].Memory = m.Memory
	}
	return err
}

// Workflow returns a workflow with what it remembers, else ErrNotFound.
func (s *Store) Workflow(ctx context.Context, id freshet.ID) (freshet.Workflow, error) {
	w, err := theWorkflow(ctx, s, id, "")
	if err == nil {
		err = remember(ctx, s, []*freshet.Workflow{&w})
	}
	if err != nil {
		return w, fmt.Errorf("read workflow %s: %w", id, err)
	}
	s.tryOpen(&w)
	return w, nil
}

// Workflows returns all workflows by name, without what they remember.
func (s *Store) Workflows(ctx context.Context) ([]freshet.Workflow, error) {
	list, err := workflows(ctx, s, "order by lower(w.name), w.id")
	if err != nil {
		return nil, fmt.Errorf("list workflows: %w", err)
	}
	for i := range list {
		s.tryOpen(&list[i])
	}
	return list, nil
}

// FindWorkflow returns the workflow with a name, in any case, or an id, with what it remembers; else ErrNotFound. A
// name that several have is a FieldError.
func (s *Store) FindWorkflow(ctx context.Context, nameOrID string) (freshet.Workflow, error) {
	if id, err := freshet.ParseID(nameOrID); err == nil {
		if w, err := s.Workflow(ctx, id); !errors.Is(err, freshet.ErrNotFound) {
			return w, err
		}
	}
	list, err := workflows(ctx, s, "where lower(w.name) = lower($1)", strings.TrimSpace(nameOrID))
	switch {
	case err == nil && len(list) == 0:
		err = freshet.ErrNotFound
	case len(list) > 1:
		err = &freshet.FieldError{Field: "workflow", Reason: fmt.Sprintf("%d workflows have the name %q; use the id of one", len(list), nameOrID)}
	}
	if err == nil {
		err = remember(ctx, s, []*freshet.Workflow{&list[0]})
	}
	if err != nil {
		return freshet.Workflow{}, fmt.Errorf("find workflow %s: %w", nameOrID, err)
	}
	s.tryOpen(&list[0])
	return list[0], nil
}

// AddWorkflow keeps a new workflow and has its address polled at once (W1, W9). All that cannot be used of the
// definition is a freshet.FieldErrors.
func (s *Store) AddWorkflow(ctx context.Context, d freshet.Definition, now time.Time) (freshet.Workflow, error) {
	if err := prepare(&d); err != nil {
		return freshet.Workflow{}, err
	}
	var w freshet.Workflow
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		w = freshet.Workflow{ID: s.ids.Next(now), CreatedAt: now.UTC().Truncate(time.Millisecond), Definition: d}
		w.UpdatedAt = w.CreatedAt
		w.State.Waiting = true
		w.Actions = freshet.Renamed(d.Actions, nil)
		var err error
		if w.Source, err = t.watch(ctx, &w, now); err != nil {
			return err
		}
		fresh := t.rows(insertWorkflows)
		if err := t.addSealed(ctx, fresh, w); err != nil {
			return err
		}
		if err := runAll(ctx, fresh); err != nil {
			return err
		}
		return t.serve(ctx, w.Source, w.Enabled, now)
	})
	if err != nil {
		return freshet.Workflow{}, fmt.Errorf("add workflow: %w", err)
	}
	return w, nil
}

// prepare completes and checks a definition, and gives webhooks that have none a secret.
func prepare(d *freshet.Definition) error {
	d.Complete()
	d.Actions = slices.Clone(d.Actions)
	for i := range d.Actions {
		if a := &d.Actions[i]; a.Type == freshet.Webhook && a.Secret == "" {
			key := make([]byte, 32)
			rand.Read(key) // never fails
			a.Secret = freshet.NewSecret(key)
		}
	}
	if bad := trigger.Check(d); bad != nil {
		return bad
	}
	return nil
}

// watch returns the source of a workflow's address, a hidden one when there was none (W2).
func (t *tx) watch(ctx context.Context, w *freshet.Workflow, now time.Time) (freshet.ID, error) {
	c := w.Trigger.Config
	kind := freshet.RSS
	if !c.ContentType.Feed() {
		kind = freshet.HTTP
	}
	added, err := t.addSources(ctx, []NewSource{{Type: kind, URL: clean(c.URL), Hidden: true, AtOnce: true}}, now)
	if err != nil {
		return 0, err
	}
	src := added[0].Source
	if src.Type == freshet.HTTP && c.ContentType.Feed() && src.InRiver {
		return 0, freshet.FieldErrors{{Field: "trigger.config.content_type",
			Reason: `this address is watched in the river as any content, not as a feed; use "http", or change the source's type`}}
	}
	return src.ID, nil
}

// watchOn returns the source of a workflow that was changed: the one it has unless the address is another, because
// that source may have moved since (F3). One that was removed comes back.
func (t *tx) watchOn(ctx context.Context, w *freshet.Workflow, was freshet.TriggerConfig, now time.Time) (freshet.ID, error) {
	c := w.Trigger.Config
	if freshet.NormalizedURL(was.URL) == freshet.NormalizedURL(c.URL) && was.ContentType.Feed() == c.ContentType.Feed() {
		src, err := theSource(ctx, t, "where s.id = $1", w.Source)
		if err != nil {
			return 0, err
		}
		if src.Source.RemovedAt.IsZero() {
			return w.Source, nil
		}
	}
	return t.watch(ctx, w, now)
}

// EditWorkflow reads a workflow, lets edit change it and writes it (W9). edit says whether the workflow must be
// shown its whole document again, because it watches something else or was switched off.
func (s *Store) EditWorkflow(ctx context.Context, id freshet.ID, now time.Time, edit func(*freshet.Workflow) (restart bool, err error)) (freshet.Workflow, error) {
	var w freshet.Workflow
	err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		if w, err = theWorkflow(ctx, t, id, " for update"); err != nil {
			return err
		}
		s.tryOpen(&w)
		if err := remember(ctx, t, []*freshet.Workflow{&w}); err != nil {
			return err
		}
		return t.editWorkflow(ctx, &w, now, edit)
	})
	if err != nil {
		return freshet.Workflow{}, fmt.Errorf("edit workflow %s: %w", id, err)
	}
	return w, nil
}

func (t *tx) editWorkflow(ctx context.Context, w *freshet.Workflow, now time.Time, edit func(*freshet.Workflow) (bool, error)) error {
	before, was, state, memory := w.Source, w.Trigger.Config, w.State, w.Memory
	restart, err := edit(w)
	if err != nil {
		return err
	}
	w.UpdatedAt = now
	if w.Source, err = t.watchOn(ctx, w, was, now); err != nil {
		return err
	}
	if c := w.Trigger.Config; w.Source == before && c.ContentType.Feed() == was.ContentType.Feed() && c.Part.Equal(was.Part) {
		// It knows what is there, by whatever address: that may be the one to which the source has moved.
		w.Memory, w.State.Waiting, w.State.ContentHash = memory, state.Waiting, state.ContentHash
	}
	saved, remembered := t.rows(updateWorkflows), t.rows(upsertMemory)
	if err := t.addSealed(ctx, saved, *w); err != nil {
		return err
	}
	remembered.addMemory(w)
	if err := runAll(ctx, saved, remembered); err != nil {
		return err
	}
	if w.Source != before {
		restart = true
		if err := t.serve(ctx, before, false, now); err != nil {
			return err
		}
	}
	return t.serve(ctx, w.Source, restart && w.Enabled, now)
}

// ReplaceWorkflow gives a workflow another definition. What is missing of an action's secrets stays as it was.
func (s *Store) ReplaceWorkflow(ctx context.Context, id freshet.ID, d freshet.Definition, now time.Time) (freshet.Workflow, error) {
	return s.EditWorkflow(ctx, id, now, func(w *freshet.Workflow) (bool, error) {
		d := d
		d.Actions = freshet.KeepSecrets(d.Actions, w.Actions)
		if err := prepare(&d); err != nil {
			return false, err
		}
		return w.Replace(d), nil
	})
}

// SwitchWorkflow switches a workflow on or off (W9).
func (s *Store) SwitchWorkflow(ctx context.Context, id freshet.ID, on bool, now time.Time) (freshet.Workflow, error) {
	return s.EditWorkflow(ctx, id, now, func(w *freshet.Workflow) (bool, error) {
		was := w.Enabled
		if on {
			w.Enable()
		} else {
			w.Disable("")
		}
		return on && !was, nil
	})
}

// DeleteWorkflow removes a workflow; what waits to be delivered for it is cancelled (W9).
func (s *Store) DeleteWorkflow(ctx context.Context, id freshet.ID, now time.Time) error {
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		w, err := theWorkflow(ctx, t, id, " for update")
		if err != nil {
			return err
		}
		if err := t.cancel(ctx, id, "Its workflow was deleted.", now); err != nil {
			return err
		}
		if _, err := t.exec(ctx, "delete from workflows where id = $1", id); err != nil {
			return err
		}
		return t.serve(ctx, w.Source, false, now)
	})
	if err != nil {
		return fmt.Errorf("delete workflow %s: %w", id, err)
	}
	return nil
}

// serve makes a source what its workflows ask for (W2, W9): how often it is polled and what of its document is
// read. restart has the whole document read at once, for a workflow that has not seen it. A source that nobody
// wants any more is removed.
func (t *tx) serve(ctx context.Context, id freshet.ID, restart bool, now time.Time) error {
	w, err := theSource(ctx, t, "where s.id = $1 for update of p", id)
	if err != nil {
		return err
	}
	list, err := workflows(ctx, t, "where w.source_id = $1", id)
	if err != nil {
		return err
	}
	src := &w.Source
	src.Ask(list)
	switch {
	case len(list) == 0 && src.Unwanted():
		if src.RemovedAt.IsZero() {
			return t.remove(ctx, &w, now)
		}
		return nil
	case restart:
		*src = src.Restart(w.Host, now)
	case src.Unwanted():
		src.NextPollAt = time.Time{}
	case src.Enabled && src.NextPollAt.IsZero(): // it was unwanted
		*src = src.Restart(w.Host, now)
	default:
		*src = src.Reschedule(t.s.settings.Policy(*src), w.Host, now)
	}
	return t.saveSource(ctx, &w)
}

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
	work := &workload{t: t, now: now, fresh: t.rows(insertExecutions), notices: t.rows(insertNotices)}
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
	return runAll(ctx, saved, memory, work.fresh, work.notices)
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

// workload gathers what follows from a batch of polls for workflows.
type workload struct {
	t       *tx
	now     time.Time
	last    freshet.ID
	fresh   *rows // executions
	notices *rows
	waits   map[receiver]time.Time
}

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
		l.enqueue(w, actions, &data, func(e *freshet.Execution) { e.Source = u.before.ID }, u.Source.Seq, part)
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

// enqueue writes an execution for each of these actions of a workflow.
func (l *workload) enqueue(w *freshet.Workflow, actions []freshet.Action, data *freshet.TriggerData, of func(*freshet.Execution), seq int64, part int) []freshet.Execution {
	frozen := freshet.MarshalData(data)
	made := make([]freshet.Execution, len(actions))
	for i := range actions {
		e := freshet.Execution{ID: l.next(), Kind: freshet.KindTrigger, Workflow: w.ID, Action: actions[i].ID, State: freshet.Queued,
			Data: frozen, Items: len(data.Items), DueAt: l.now, CreatedAt: l.now}
		of(&e)
		if w.Batch == freshet.BatchWindow && e.Kind == freshet.KindTrigger && data.Content == nil {
			e.DueAt = l.now.Add(w.Window())
		}
		if why := actions[i].Disabled; why != "" && e.Kind == freshet.KindTrigger {
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

// tell writes a notice, and an alert for each address that wants to be told (W8).
func (l *workload) tell(n freshet.Notice) {
	n.ID = l.next()
	l.notices.add(n.ID, n.At, string(n.Kind), n.Workflow, n.Title, n.Text)
	l.t.s.log.Warn("[Workflow] "+n.Title, "workflow", n.Workflow, "why", n.Text)
	alert := freshet.MarshalData(struct {
		Title string `json:"title"`
		Text  string `json:"text"`
	}{n.Title, n.Text})
	for i := range l.t.s.settings.Alerts {
		l.fresh.addExecution(&freshet.Execution{ID: l.next(), Kind: freshet.KindAlert, Action: fmt.Sprint(i), State: freshet.Queued,
			Data: alert, DueAt: l.now, CreatedAt: l.now}, int64(n.ID), 0)
	}
}

// Notices returns the newest of what people may want to know of, newest first (W8).
func (s *Store) Notices(ctx context.Context, limit int) ([]freshet.Notice, error) {
	list, err := all(ctx, s, func(n *freshet.Notice) []any {
		return []any{&n.ID, moment{&n.At}, &n.Kind, &n.Workflow, &n.Title, &n.Text}
	}, "select id, at, kind, workflow_id, title, body from notices order by id desc limit $1", limit)
	if err != nil {
		return nil, fmt.Errorf("read notices: %w", err)
	}
	return list, nil
}

var insertNotices = inserting("notices", "id bigint, at bigint, kind text, workflow_id bigint, title text, body text", "")

// TestWorkflow makes an execution for each of the workflow's actions with data that a person asks for, and
// returns them. They are carried out like any other.
func (s *Store) TestWorkflow(ctx context.Context, id freshet.ID, data freshet.TriggerData, now time.Time) ([]freshet.Execution, error) {
	var made []freshet.Execution
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		w, err := theWorkflow(ctx, t, id, " for update")
		if err != nil {
			return err
		}
		work := &workload{t: t, now: now, fresh: t.rows(insertExecutions), notices: t.rows(insertNotices)}
		made = work.enqueue(&w, actionsOf(&w), &data, func(e *freshet.Execution) { e.Kind, e.Source = freshet.KindTest, w.Source }, 0, 0)
		return runAll(ctx, work.fresh)
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
