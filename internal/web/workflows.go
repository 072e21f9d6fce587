package web

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"freshet"
	"freshet/internal/store"
	"freshet/internal/trigger"
)

// Workflow is a workflow as the API shows it: its definition without what is secret in it, and what became of it.
type Workflow struct {
	ID freshet.ID `json:"id" readOnly:"true"`
	freshet.Definition
	SourceID       freshet.ID    `json:"source_id" readOnly:"true" doc:"The source that its address is."`
	Warnings       []string      `json:"warnings" readOnly:"true" nullable:"false" doc:"What was accepted but should be known."`
	DisabledReason *string       `json:"disabled_reason" readOnly:"true" doc:"Why it was switched off, other than by hand."`
	State          WorkflowState `json:"state" readOnly:"true"`
	NextPollAt     *time.Time    `json:"next_poll_at" readOnly:"true"`
	NextPollReason string        `json:"next_poll_reason" readOnly:"true" doc:"Why its address is polled then."`
	CreatedAt      time.Time     `json:"created_at" readOnly:"true"`
	UpdatedAt      time.Time     `json:"updated_at" readOnly:"true"`
}

// WorkflowState is what polls left of a workflow (W3).
type WorkflowState struct {
	LastCheckedAt       *time.Time `json:"last_checked_at"`
	LastContentHash     *string    `json:"last_content_hash" doc:"Of the document or the part that is watched; null for feeds."`
	SeenItemIDs         []string   `json:"seen_item_ids,omitzero" nullable:"false" doc:"The newest 500, newest first; not in lists of workflows."`
	ConsecutiveFailures int        `json:"consecutive_failures"`
	LastError           *string    `json:"last_error"`
}

// ShowWorkflow is a workflow as the API and the command line show it. The secrets in shown are not hidden.
func ShowWorkflow(ctx context.Context, st *store.Store, w *freshet.Workflow, shown map[string]bool) (Workflow, error) {
	list, err := ShowWorkflows(ctx, st, []freshet.Workflow{*w}, shown)
	if err != nil {
		return Workflow{}, err
	}
	return list[0], nil
}

// ShowWorkflows shows many. The source of one that is switched off may have been removed.
func ShowWorkflows(ctx context.Context, st *store.Store, list []freshet.Workflow, shown map[string]bool) ([]Workflow, error) {
	ids := make([]freshet.ID, len(list))
	for i := range list {
		ids[i] = list[i].Source
	}
	watched, err := st.Sources(ctx, store.SourceFilter{Hidden: true, Removed: true, IDs: ids})
	if err != nil {
		return nil, err
	}
	sources := make(map[freshet.ID]*store.Watched, len(watched))
	for i := range watched {
		sources[watched[i].Source.ID] = &watched[i]
	}
	all, now := make([]Workflow, len(list)), time.Now()
	for i := range list {
		all[i] = shownWorkflow(&list[i], sources[list[i].Source], st.Settings(), shown, now)
	}
	return all, nil
}

func shownWorkflow(w *freshet.Workflow, source *store.Watched, settings freshet.Settings, shown map[string]bool, now time.Time) Workflow {
	out := Workflow{
		ID: w.ID, Definition: w.Definition, SourceID: w.Source, Warnings: w.Warnings(), DisabledReason: given(w.DisabledReason),
		State: WorkflowState{
			LastCheckedAt: when(w.State.CheckedAt), LastContentHash: given(w.State.ContentHash), SeenItemIDs: w.Memory.IDs,
			ConsecutiveFailures: w.State.Failures, LastError: given(w.State.LastError),
		},
		CreatedAt: utc(w.CreatedAt), UpdatedAt: utc(w.UpdatedAt),
	}
	if out.Warnings == nil {
		out.Warnings = []string{}
	}
	out.Actions = make([]freshet.Action, len(w.Actions))
	for i, a := range w.Actions {
		out.Actions[i] = a.Shown()
		if shown[a.Secret] {
			out.Actions[i].Secret = a.Secret
		}
	}
	if out.NextPollReason = "The workflow is switched off."; w.Wanted() {
		src := &source.Source
		out.NextPollAt, out.NextPollReason = when(src.NextPollAt), src.Explain(settings.Policy(*src), source.Host, now)
	}
	return out
}

// NewSecrets are the signing secrets of a workflow that none of the actions before had.
func NewSecrets(w *freshet.Workflow, before ...freshet.Action) map[string]bool {
	fresh := map[string]bool{}
	for _, a := range w.Actions {
		fresh[a.Secret] = a.Secret != ""
	}
	for _, a := range before {
		delete(fresh, a.Secret)
	}
	return fresh
}

// WorkflowInput is a definition as W1 has it. A workflow that an answer showed may be sent back as it is: what is no part
// of the definition is not looked at.
type WorkflowInput struct {
	Workflow
	Enabled *bool `json:"enabled,omitempty" doc:"true unless it says otherwise; left out of a change it stays as it is."`
}

// Resolve names every field of the definition that cannot be used, beside those that have the wrong form.
func (in *WorkflowInput) Resolve(_ huma.Context, at *huma.PathBuffer) (wrong []error) {
	if reflect.ValueOf(in.Definition).IsZero() {
		return nil // there is no such body, and that has been said
	}
	d := in.definition(true)
	d.Complete()
	for _, e := range trigger.Check(&d) {
		var action int
		if n, _ := fmt.Sscanf(e.Field, "actions[%d]", &action); n == 1 && d.Actions[action].Masked() {
			continue // it is checked with the secrets that it had
		}
		wrong = append(wrong, &huma.ErrorDetail{Location: at.String() + "." + e.Field, Message: e.Reason})
	}
	return wrong
}

// definition is what was sent, with actions of its own.
func (in *WorkflowInput) definition(enabled bool) freshet.Definition {
	d := in.Definition
	if d.Enabled = enabled; in.Enabled != nil {
		d.Enabled = *in.Enabled
	}
	d.Actions = append([]freshet.Action(nil), d.Actions...)
	return d
}

type workflowBody struct{ Body WorkflowInput }

type workflowPath struct {
	ID string `path:"id"`
}

type workflowOutput struct {
	Location string `header:"Location"`
	Body     Workflow
}

type workflowsOutput struct {
	Body struct {
		Workflows []Workflow `json:"workflows" nullable:"false"`
	}
}

func (s *Server) listWorkflows(ctx context.Context, _ *struct{}) (*workflowsOutput, error) {
	list, err := s.Store.Workflows(ctx)
	if err != nil {
		return nil, err
	}
	out := &workflowsOutput{}
	out.Body.Workflows, err = ShowWorkflows(ctx, s.Store, list, nil)
	return out, err
}

func (s *Server) getWorkflow(ctx context.Context, in *workflowPath) (*workflowOutput, error) {
	w, err := s.workflow(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return s.showWorkflow(ctx, &w, nil)
}

func (s *Server) addWorkflow(ctx context.Context, in *workflowBody) (*workflowOutput, error) {
	d := in.Body.definition(true)
	w, err := s.Store.AddWorkflow(ctx, d, time.Now())
	if err != nil {
		return nil, err
	}
	s.Kick()
	out, err := s.showWorkflow(ctx, &w, NewSecrets(&w, d.Actions...))
	if err == nil {
		out.Location = "/api/workflows/" + w.ID.String()
	}
	return out, err
}

func (s *Server) replaceWorkflow(ctx context.Context, in *struct {
	ID   string `path:"id"`
	Body WorkflowInput
}) (*workflowOutput, error) {
	before, err := s.workflow(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	d := in.Body.definition(before.Enabled)
	w, err := s.Store.ReplaceWorkflow(ctx, before.ID, d, time.Now())
	if err != nil {
		return nil, err
	}
	s.Kick()
	return s.showWorkflow(ctx, &w, NewSecrets(&w, append(d.Actions, before.Actions...)...))
}

func (s *Server) deleteWorkflow(ctx context.Context, in *workflowPath) (*struct{}, error) {
	w, err := s.workflow(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return nil, s.Store.DeleteWorkflow(ctx, w.ID, time.Now())
}

func (s *Server) switchWorkflow(ctx context.Context, in *struct {
	ID   string `path:"id"`
	Body struct {
		Enabled bool `json:"enabled"`
	}
}) (*workflowOutput, error) {
	w, err := s.workflow(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if w, err = s.Store.SwitchWorkflow(ctx, w.ID, in.Body.Enabled, time.Now()); err != nil {
		return nil, err
	}
	s.Kick()
	return s.showWorkflow(ctx, &w, nil)
}

type testOutput struct {
	Body struct {
		ExecutionIDs []freshet.ID `json:"execution_ids" nullable:"false" doc:"One for each action; one for a worker when there is none."`
	}
}

func (s *Server) testWorkflow(ctx context.Context, in *workflowPath) (*testOutput, error) {
	w, err := s.workflow(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	made, err := s.sendTest(ctx, &w)
	if err != nil {
		return nil, err
	}
	out := &testOutput{}
	for i := range made {
		out.Body.ExecutionIDs = append(out.Body.ExecutionIDs, made[i].ID)
	}
	return out, nil
}

// sendTest makes executions of a workflow with its newest entries.
func (s *Server) sendTest(ctx context.Context, w *freshet.Workflow) ([]freshet.Execution, error) {
	data, err := s.Store.SampleData(ctx, w)
	if err != nil {
		return nil, err
	}
	made, err := s.Store.TestWorkflow(ctx, w.ID, data, time.Now())
	if err != nil {
		return nil, err
	}
	s.Kick()
	s.Bell.Ring() // workers may wait for it
	return made, nil
}

// workflow finds a workflow by the id of a path.
func (s *Server) workflow(ctx context.Context, id string) (freshet.Workflow, error) {
	parsed, err := idOf("workflow", id)
	if err != nil {
		return freshet.Workflow{}, err
	}
	return s.Store.Workflow(ctx, parsed)
}

func (s *Server) showWorkflow(ctx context.Context, w *freshet.Workflow, shown map[string]bool) (*workflowOutput, error) {
	body, err := ShowWorkflow(ctx, s.Store, w, shown)
	if err != nil {
		return nil, err
	}
	out := &workflowOutput{Body: body}
	if out.Body.State.SeenItemIDs == nil {
		out.Body.State.SeenItemIDs = []string{}
	}
	return out, nil
}
