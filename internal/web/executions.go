package web

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"freshet"
	"freshet/internal/store"
)

// Execution is one action carried out with one frozen input, as the API shows it (W6).
type Execution struct {
	ID         freshet.ID             `json:"id" doc:"Also the idempotency key of what is sent."`
	Kind       freshet.ExecutionKind  `json:"kind" enum:"trigger,test,alert"`
	WorkflowID *freshet.ID            `json:"workflow_id" doc:"null for an alert."`
	Action     *string                `json:"action" doc:"The id of the workflow's action; null for one that a worker fetches."`
	SourceID   *freshet.ID            `json:"source_id"`
	State      freshet.ExecutionState `json:"state" enum:"queued,running,succeeded,retrying,dead,cancelled"`
	Items      int                    `json:"items" doc:"Entries that it carries."`
	Tries      int                    `json:"tries" doc:"Attempts that have begun; also the number of the last one."`
	DueAt      *time.Time             `json:"due_at" doc:"The next attempt or, while it runs, the end of its lease; null when it is over."`
	LastError  *string                `json:"last_error"`
	CreatedAt  time.Time              `json:"created_at"`
	DoneAt     *time.Time             `json:"done_at"`
}

// ExecutionDetail is an execution with its input and its attempts.
type ExecutionDetail struct {
	Execution
	Data     json.RawMessage `json:"data" doc:"The trigger data; the same at every attempt."`
	Attempts []Attempt       `json:"attempts" nullable:"false" doc:"Those that have ended, the first one first."`
}

// Attempt is how one try to carry an execution out ended.
type Attempt struct {
	N         int       `json:"n"`
	StartedAt time.Time `json:"started_at"`
	TookMS    int64     `json:"took_ms"`
	Status    *int      `json:"status" doc:"Of the HTTP answer; null when there was none."`
	Error     *string   `json:"error" doc:"null after a success."`
	Answer    *string   `json:"answer" doc:"The beginning of what the receiver said."`
}

// ShowExecution is an execution as the API and the command line show it.
func ShowExecution(e *freshet.Execution) Execution {
	out := Execution{
		ID: e.ID, Kind: e.Kind, Action: given(e.Action), State: e.State, Items: e.Items, Tries: e.Attempts,
		DueAt: when(e.DueAt), LastError: given(e.LastError), CreatedAt: utc(e.CreatedAt), DoneAt: when(e.DoneAt),
	}
	if e.Workflow != 0 {
		out.WorkflowID = &e.Workflow
	}
	if e.Source != 0 {
		out.SourceID = &e.Source
	}
	return out
}

// ShowExecutionDetail is ShowExecution with data and attempts.
func ShowExecutionDetail(e *freshet.Execution, attempts []freshet.Attempt) ExecutionDetail {
	d := ExecutionDetail{Execution: ShowExecution(e), Data: e.Data, Attempts: make([]Attempt, len(attempts))}
	for i := range attempts {
		a := &attempts[i]
		d.Attempts[i] = Attempt{N: a.N, StartedAt: utc(a.StartedAt), TookMS: a.Took.Milliseconds(), Error: given(a.Error), Answer: given(a.Answer)}
		if a.Status != 0 {
			d.Attempts[i].Status = &a.Status
		}
	}
	return d
}

// ExecutionsPage asks for a page of executions.
type ExecutionsPage struct {
	State string `query:"state" enum:"queued,running,succeeded,retrying,dead,cancelled"`
	Paging
}

type executionsOutput struct {
	Body struct {
		Executions []Execution `json:"executions" nullable:"false"`
		NextCursor *string     `json:"next_cursor" doc:"null on the last page."`
	}
}

func (s *Server) listExecutions(ctx context.Context, in *struct {
	Workflow string `query:"workflow" doc:"Only of the workflow with this id."`
	ExecutionsPage
}) (*executionsOutput, error) {
	var workflow freshet.ID
	if in.Workflow != "" {
		var err error
		if workflow, err = freshet.ParseID(in.Workflow); err != nil {
			return nil, invalidField("query.workflow", "this is no id of a workflow", in.Workflow)
		}
	}
	return s.executionsOf(ctx, workflow, in.ExecutionsPage)
}

func (s *Server) listWorkflowExecutions(ctx context.Context, in *struct {
	ID string `path:"id"`
	ExecutionsPage
}) (*executionsOutput, error) {
	w, err := s.workflow(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return s.executionsOf(ctx, w.ID, in.ExecutionsPage)
}

// executionsOf is a page of the executions of a workflow, or of all with 0.
func (s *Server) executionsOf(ctx context.Context, workflow freshet.ID, in ExecutionsPage) (*executionsOutput, error) {
	q := store.ExecutionQuery{Workflow: workflow, State: freshet.ExecutionState(in.State), Limit: in.Limit + 1}
	var err error
	if in.Cursor != "" {
		if q.Before, err = freshet.ParseID(in.Cursor); err != nil {
			return nil, brokenCursor(in.Cursor)
		}
	}
	list, err := s.Store.Executions(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &executionsOutput{}
	if len(list) > in.Limit {
		list = list[:in.Limit]
		out.Body.NextCursor = given(list[in.Limit-1].ID.String())
	}
	out.Body.Executions = make([]Execution, len(list))
	for i := range list {
		out.Body.Executions[i] = ShowExecution(&list[i])
	}
	return out, nil
}

type executionPath struct {
	ID string `path:"id"`
}

type executionDetailOutput struct{ Body ExecutionDetail }

type executionOutput struct{ Body Execution }

func (s *Server) getExecution(ctx context.Context, in *executionPath) (*executionDetailOutput, error) {
	id, err := idOf("execution", in.ID)
	if err != nil {
		return nil, err
	}
	e, attempts, err := s.Store.Execution(ctx, id)
	if err != nil {
		return nil, err
	}
	return &executionDetailOutput{ShowExecutionDetail(&e, attempts)}, nil
}

func (s *Server) retryExecution(ctx context.Context, in *executionPath) (*executionOutput, error) {
	return s.changeExecution(ctx, in.ID, s.Store.RetryExecution)
}

func (s *Server) cancelExecution(ctx context.Context, in *executionPath) (*executionOutput, error) {
	return s.changeExecution(ctx, in.ID, s.Store.CancelExecution)
}

// changeExecution does one thing to an execution and wakes whoever waits for it.
func (s *Server) changeExecution(ctx context.Context, path string, change func(context.Context, freshet.ID, time.Time) (freshet.Execution, error)) (*executionOutput, error) {
	id, err := idOf("execution", path)
	if err != nil {
		return nil, err
	}
	e, err := change(ctx, id, time.Now())
	if err != nil {
		return nil, err
	}
	s.Kick()
	s.Bell.Ring()
	return &executionOutput{ShowExecution(&e)}, nil
}

// Leased is an execution that a worker carries out.
type Leased struct {
	ID         freshet.ID      `json:"id"`
	Attempt    int             `json:"attempt" doc:"Goes into the answer: ack and nack are for this attempt."`
	WorkflowID freshet.ID      `json:"workflow_id"`
	Workflow   string          `json:"workflow" doc:"The workflow's name."`
	Data       json.RawMessage `json:"data" doc:"The trigger data; the same at every attempt."`
	LeaseUntil time.Time       `json:"lease_until" doc:"Without ack or nack until then, it goes to whoever asks next."`
}

// ShowLeased is a claimed execution as the API and the command line show it.
func ShowLeased(d *freshet.Delivery) Leased {
	return Leased{ID: d.ID, Attempt: d.Attempts, WorkflowID: d.Workflow, Workflow: d.WorkflowName, Data: d.Data, LeaseUntil: utc(d.DueAt)}
}

type leaseInput struct {
	Body struct {
		Workflow     *string `json:"workflow,omitempty" nullable:"true" doc:"Its id; null for any workflow without actions."`
		Limit        int     `json:"limit,omitempty" minimum:"1" maximum:"100" default:"1"`
		LeaseSeconds int     `json:"lease_seconds,omitempty" minimum:"10" maximum:"3600" default:"60"`
		WaitSeconds  int     `json:"wait_seconds,omitempty" minimum:"0" maximum:"30" doc:"Wait for something to come."`
	}
}

type leaseOutput struct {
	Body struct {
		Executions []Leased `json:"executions" nullable:"false"`
	}
}

// worker is the owner of what workers lease: which one it is, nobody needs to know.
const worker = "worker"

// leaseExecutions hands out executions of workflows without actions, and waits for the first for as long as was asked.
func (s *Server) leaseExecutions(ctx context.Context, in *leaseInput) (*leaseOutput, error) {
	b := &in.Body
	workflow, err := s.leasable(ctx, b.Workflow)
	if err != nil {
		return nil, err
	}
	rung, stop := s.Bell.Listen()
	defer stop()
	end := time.Now().Add(time.Duration(b.WaitSeconds) * time.Second)
	out := &leaseOutput{}
	out.Body.Executions = []Leased{}
	for {
		now := time.Now()
		next, err := s.Store.NextLease(ctx, workflow)
		if err != nil {
			return nil, err
		}
		if !next.IsZero() && !next.After(now) {
			leased, err := s.Store.LeaseExecutions(ctx, worker, workflow, b.Limit, time.Duration(b.LeaseSeconds)*time.Second, now)
			if err != nil {
				return nil, err
			}
			for i := range leased {
				out.Body.Executions = append(out.Body.Executions, ShowLeased(&leased[i]))
			}
		}
		if len(out.Body.Executions) > 0 || !now.Before(end) {
			return out, nil
		}
		select {
		case <-rung:
		case <-time.After(leaseWait(next, end, now)):
		case <-s.done:
			return out, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// leaseWait is how long a worker waits before it looks again: until something is due, or the end of its patience.
func leaseWait(next, end, now time.Time) time.Duration {
	wait := end.Sub(now)
	if !next.IsZero() {
		wait = min(wait, max(next.Sub(now), time.Second)) // what is due and not handed out waits for another
	}
	return wait
}

// leasable says whether a worker can carry out a workflow's executions, 0 for any.
func (s *Server) leasable(ctx context.Context, id *string) (freshet.ID, error) {
	if id == nil {
		return 0, nil
	}
	parsed, err := freshet.ParseID(*id)
	if err != nil {
		return 0, invalidField("body.workflow", "this is no id of a workflow", short(*id))
	}
	_, err = s.Store.Workflow(ctx, parsed)
	return parsed, err
}

type ackInput struct {
	ID   string `path:"id"`
	Body struct {
		Attempt int `json:"attempt" minimum:"1" doc:"The attempt that was leased."`
	}
}

func (s *Server) ackExecution(ctx context.Context, in *ackInput) (*executionOutput, error) {
	return s.endLease(ctx, in.ID, freshet.Attempt{N: in.Body.Attempt})
}

type nackInput struct {
	ID   string `path:"id"`
	Body struct {
		Attempt           int    `json:"attempt" minimum:"1" doc:"The attempt that was leased."`
		Error             string `json:"error,omitempty" maxLength:"2000"`
		RetryAfterSeconds int    `json:"retry_after_seconds,omitempty" minimum:"0" maximum:"86400" doc:"Not before then; it may be later."`
	}
}

func (s *Server) nackExecution(ctx context.Context, in *nackInput) (*executionOutput, error) {
	b := &in.Body
	a := freshet.Attempt{N: b.Attempt, Error: cmp.Or(b.Error, freshet.NoReason)}
	if b.RetryAfterSeconds > 0 {
		a.RetryAfter = time.Now().Add(time.Duration(b.RetryAfterSeconds) * time.Second)
	}
	return s.endLease(ctx, in.ID, a)
}

func (s *Server) endLease(ctx context.Context, path string, a freshet.Attempt) (*executionOutput, error) {
	return s.changeExecution(ctx, path, func(ctx context.Context, id freshet.ID, now time.Time) (freshet.Execution, error) {
		return s.Store.EndLease(ctx, id, a, now)
	})
}
