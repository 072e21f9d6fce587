package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"freshet"
	"freshet/internal/store"
)

// workflowsView lists the workflows with their state and their last execution (U4).
type workflowsView struct {
	layout
	Rows    []workflowRow
	Notices []freshet.Notice
}

// workflowRow is one workflow with what the page says of it.
type workflowRow struct {
	freshet.Workflow
	Is   string // "on", "failing", "off" or "paused"
	Last *freshet.Execution
}

// stateOf says in a word how a workflow is.
func stateOf(w *freshet.Workflow) string {
	switch {
	case !w.Enabled && w.DisabledReason != "":
		return "off"
	case !w.Enabled:
		return "paused"
	case w.State.Failures > 0:
		return "failing"
	default:
		return "on"
	}
}

const noticesShown = 5

func (s *Server) workflowsPage(w http.ResponseWriter, r *http.Request) error {
	l, err := s.newLayout(r, "workflows", "Workflows")
	if err != nil {
		return err
	}
	page := workflowsView{layout: l}
	list, err := s.Store.Workflows(r.Context())
	if err != nil {
		return err
	}
	for i := range list {
		row := workflowRow{Workflow: list[i], Is: stateOf(&list[i])}
		last, err := s.Store.Executions(r.Context(), store.ExecutionQuery{Workflow: list[i].ID, Limit: 1})
		if err != nil {
			return err
		}
		if len(last) > 0 {
			row.Last = &last[0]
		}
		page.Rows = append(page.Rows, row)
	}
	if page.Notices, err = s.Store.Notices(r.Context(), noticesShown); err != nil {
		return err
	}
	return render(w, http.StatusOK, "workflows", page)
}

// workflowView is one workflow, or the form of a new one: how it is, its form, what it has delivered.
type workflowView struct {
	layout
	Workflow   *freshet.Workflow // nil for a new one
	Is         string
	Reason     string // why its next poll is when it is
	NextPollAt time.Time
	Form       *workflowForm
	Warnings   []string
	Secrets    []madeSecret
	Rehearsal  *rehearsalShown
	Editing    bool // the form is being filled in
	Executions []freshet.Execution
	Older      freshet.ID
}

// rehearsalShown is what a workflow would have done, for people.
type rehearsalShown struct {
	Rehearsal
	Days  int
	First string // the first payload
}

const executionsShown = 50

func (s *Server) newWorkflowPage(w http.ResponseWriter, r *http.Request) error {
	return s.renderWorkflow(w, r, http.StatusOK, nil, newWorkflowForm(r.URL.Query().Get("url")), nil)
}

// workflowBefore is the workflow that the path names, nil when it names none.
func (s *Server) workflowBefore(r *http.Request) (*freshet.Workflow, error) {
	text := cmp.Or(r.PathValue("id"), r.PostForm.Get("id"))
	if text == "" {
		return nil, nil
	}
	id, err := freshet.ParseID(text)
	if err != nil {
		return nil, err
	}
	flow, err := s.Store.Workflow(r.Context(), id)
	return &flow, err
}

func (s *Server) workflowPage(w http.ResponseWriter, r *http.Request) error {
	flow, err := s.workflowBefore(r)
	if err != nil {
		return err
	}
	return s.renderWorkflow(w, r, http.StatusOK, flow, workflowFormOf(&flow.Definition), nil)
}

// renderWorkflow shows a workflow with a form, which may be another than its own.
func (s *Server) renderWorkflow(w http.ResponseWriter, r *http.Request, status int, flow *freshet.Workflow, form *workflowForm, more func(*workflowView)) error {
	title := "New workflow"
	if flow != nil {
		title = flow.Name
	}
	l, err := s.newLayout(r, "workflows", title)
	if err != nil {
		return err
	}
	page := workflowView{layout: l, Workflow: flow, Form: form}
	if len(form.Wrong) > 0 {
		page.Problem = needALook("Nothing was saved", form.Wrong)
	}
	if flow != nil {
		if err := s.addState(r, &page); err != nil {
			return err
		}
	}
	if more != nil {
		more(&page)
	}
	return render(w, status, "workflow", page)
}

// addState gathers how a workflow is and what it has delivered.
func (s *Server) addState(r *http.Request, page *workflowView) error {
	flow := page.Workflow
	page.Is, page.Warnings = stateOf(flow), flow.Warnings()
	page.Back = "/workflows/" + flow.ID.String()
	watched, err := s.Store.Source(r.Context(), flow.Source)
	if err != nil && !errors.Is(err, freshet.ErrNotFound) {
		return err
	}
	if err == nil {
		page.NextPollAt = watched.Source.NextPollAt
		page.Reason = watched.Source.Explain(s.Store.Settings().Policy(watched.Source), watched.Host, page.Now)
	}
	q := store.ExecutionQuery{Workflow: flow.ID, Limit: executionsShown + 1}
	if before, err := freshet.ParseID(r.URL.Query().Get("before")); err == nil {
		q.Before = before
	}
	if page.Executions, err = s.Store.Executions(r.Context(), q); err != nil {
		return err
	}
	if len(page.Executions) > executionsShown {
		page.Executions = page.Executions[:executionsShown]
		page.Older = page.Executions[executionsShown-1].ID
	}
	return nil
}

// sendWorkflow carries out the form: it saves, rehearses, or gives it another action to fill in.
func (s *Server) sendWorkflow(w http.ResponseWriter, r *http.Request) error {
	flow, err := s.workflowBefore(r)
	if err != nil {
		return err
	}
	form := readWorkflowForm(r.PostForm)
	switch r.PostForm.Get("do") {
	case "action":
		form.addAction()
		return s.renderWorkflow(w, r, http.StatusOK, flow, form, func(p *workflowView) { p.Editing = true })
	case "rehearse":
		return s.rehearseForm(w, r, flow, form)
	}
	d := form.definition(flow)
	if len(form.Wrong) > 0 {
		return s.renderWorkflow(w, r, http.StatusUnprocessableEntity, flow, form, nil)
	}
	var saved freshet.Workflow
	if flow == nil {
		saved, err = s.Store.AddWorkflow(r.Context(), d, time.Now())
	} else {
		saved, err = s.Store.ReplaceWorkflow(r.Context(), flow.ID, d, time.Now())
	}
	var bad freshet.FieldErrors
	if errors.As(err, &bad) {
		for _, b := range bad {
			form.blame(b, nil)
		}
		return s.renderWorkflow(w, r, http.StatusUnprocessableEntity, flow, form, nil)
	}
	if err != nil {
		return err
	}
	s.Kick()
	if secrets := secretsMade(&saved, flow); len(secrets) > 0 {
		return s.renderWorkflow(w, r, http.StatusOK, &saved, workflowFormOf(&saved.Definition), func(p *workflowView) {
			p.Notice, p.Secrets = notices["saved"], secrets
		})
	}
	return backTo(w, r, "/workflows/"+saved.ID.String(), "saved")
}

// madeSecret is that of a webhook that was just made: it is shown once.
type madeSecret struct {
	Action string // its name
	Secret string
}

// secretsMade are the secrets of webhooks that were just made.
func secretsMade(saved, before *freshet.Workflow) (list []madeSecret) {
	var known []freshet.Action
	if before != nil {
		known = before.Actions
	}
	fresh := NewSecrets(saved, known...)
	for i := range saved.Actions {
		if a := &saved.Actions[i]; fresh[a.Secret] {
			list = append(list, madeSecret{a.Name(), a.Secret})
		}
	}
	return list
}

// rehearseForm shows what the form's workflow would have done.
func (s *Server) rehearseForm(w http.ResponseWriter, r *http.Request, flow *freshet.Workflow, form *workflowForm) error {
	d := form.definition(flow)
	if len(form.Wrong) > 0 {
		return s.renderWorkflow(w, r, http.StatusUnprocessableEntity, flow, form, func(p *workflowView) {
			p.Problem = needALook("It cannot be tried yet", form.Wrong)
		})
	}
	answer, err := s.rehearse(r.Context(), d)
	if err != nil {
		return err
	}
	return s.renderWorkflow(w, r, http.StatusOK, flow, form, func(p *workflowView) {
		p.Rehearsal = &rehearsalShown{Rehearsal: answer, Days: int(rehearsedSpan / (24 * time.Hour))}
		if n := len(answer.WouldFire); n > 0 {
			p.Rehearsal.First = indented(answer.WouldFire[n-1].Data)
		}
	})
}

// indented is JSON for people.
func indented(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSpace(b.String())
}

// pressWorkflow carries out a button of a workflow: what is in the path's last part.
func (s *Server) pressWorkflow(w http.ResponseWriter, r *http.Request) error {
	id, err := freshet.ParseID(r.PathValue("id"))
	if err != nil {
		return err
	}
	back := cmp.Or(r.PostForm.Get("back"), "/workflows/"+id.String())
	switch r.PathValue("do") {
	case "enable":
		_, err = s.Store.SwitchWorkflow(r.Context(), id, true, time.Now())
		return s.changed(w, r, err, back, "enabled")
	case "disable":
		_, err = s.Store.SwitchWorkflow(r.Context(), id, false, time.Now())
		return s.changed(w, r, err, back, "disabled")
	case "delete":
		return s.changed(w, r, s.Store.DeleteWorkflow(r.Context(), id, time.Now()), "/workflows", "deleted")
	case "test":
		flow, err := s.Store.Workflow(r.Context(), id)
		if err == nil {
			_, err = s.sendTest(r.Context(), &flow)
		}
		return s.changed(w, r, err, "/workflows/"+id.String(), "tested")
	default:
		return freshet.ErrNotFound
	}
}

// executionView is one execution: where it stands, every attempt, what it carries.
type executionView struct {
	layout
	freshet.Execution
	Name     string // of its workflow
	Action   *freshet.Action
	Attempts []freshet.Attempt
	Payload  string
}

func (s *Server) executionPage(w http.ResponseWriter, r *http.Request) error {
	id, err := freshet.ParseID(r.PathValue("id"))
	if err != nil {
		return err
	}
	e, attempts, err := s.Store.Execution(r.Context(), id)
	if err != nil {
		return err
	}
	l, err := s.newLayout(r, "workflows", "Execution "+id.String())
	if err != nil {
		return err
	}
	page := executionView{layout: l, Execution: e, Name: "a workflow that was deleted", Attempts: attempts, Payload: indented(json.RawMessage(e.Data))}
	if e.Kind == freshet.KindAlert {
		page.Name = "an alert"
	}
	flow, err := s.Store.Workflow(r.Context(), e.Workflow)
	switch {
	case err == nil:
		page.Name, page.Action = flow.Name, flow.Action(e.Action)
	case !errors.Is(err, freshet.ErrNotFound):
		return err
	}
	page.Waiting = !e.State.Over()
	return render(w, http.StatusOK, "execution", page)
}

// pressExecution carries out a button of an execution.
func (s *Server) pressExecution(w http.ResponseWriter, r *http.Request) error {
	id, err := freshet.ParseID(r.PathValue("id"))
	if err != nil {
		return err
	}
	switch r.PathValue("do") {
	case "retry":
		_, err = s.Store.RetryExecution(r.Context(), id, time.Now())
		return s.changed(w, r, err, "/executions/"+id.String(), "retried")
	case "cancel":
		_, err = s.Store.CancelExecution(r.Context(), id, time.Now())
		return s.changed(w, r, err, "/executions/"+id.String(), "cancelled")
	default:
		return freshet.ErrNotFound
	}
}
