package store

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
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

const workflowFields = `id bigint, source_id bigint, name text, enabled bigint, wanted bigint, every bigint, ordered bigint, definition text, disabled_reason text,
	checked_at bigint, content_hash text, failures bigint, last_error text, waiting bigint, resting bigint, created_at bigint, updated_at bigint`

var (
	insertWorkflows = inserting("workflows", workflowFields, "")
	updateWorkflows = updating("workflows", workflowFields)
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
	return the(workflows(ctx, q, "where w.id = $1"+lock, id))
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
	if len(list) > 1 {
		err = &freshet.FieldError{Field: "workflow", Reason: fmt.Sprintf("%d workflows have the name %q; use the id of one", len(list), nameOrID)}
	}
	w, err := the(list, err)
	if err == nil {
		err = remember(ctx, s, []*freshet.Workflow{&w})
	}
	if err != nil {
		return freshet.Workflow{}, fmt.Errorf("find workflow %s: %w", nameOrID, err)
	}
	s.tryOpen(&w)
	return w, nil
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
