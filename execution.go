package freshet

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Execution is one action carried out with one frozen input (W6). A workflow with several actions makes one for
// each; one without actions makes one that waits for a worker to fetch it.
type Execution struct {
	ID       ID
	Kind     ExecutionKind
	Workflow ID     // 0 for an alert
	Action   string // the id of the workflow's action, "" for a worker's; of an alert its number
	Source   ID
	State    ExecutionState
	Data     []byte // JSON; the same bytes at every attempt
	Items    int    // entries in it
	// DueAt is when something must be done: the next attempt, or, while it runs, the end of its lease. Zero when
	// it is over.
	DueAt     time.Time
	Owner     string // who carries it out
	Attempts  int    // begun so far; the last one's number
	Failures  int    // of them, since a person last asked for it, those that failed
	Abandoned int    // and those whose end nobody has seen
	LastError string
	CreatedAt time.Time
	DoneAt    time.Time // zero while it is not over
}

// ExecutionKind says why there is an execution.
type ExecutionKind string

const (
	KindTrigger ExecutionKind = "trigger" // something new appeared
	KindTest    ExecutionKind = "test"    // a person asked for one
	KindAlert   ExecutionKind = "alert"   // an event of the system that somebody wants to be told of (W8)
)

// ExecutionState is where an execution stands. docs/workflows.md draws how the states follow each other.
type ExecutionState string

const (
	Queued    ExecutionState = "queued"
	Running   ExecutionState = "running"
	Succeeded ExecutionState = "succeeded"
	Retrying  ExecutionState = "retrying"  // failed, and tried again at DueAt
	Dead      ExecutionState = "dead"      // failed for the last time; a person may retry it
	Cancelled ExecutionState = "cancelled" // its workflow or its action is gone
)

// ExecutionStates is every state, in the order in which people meet them.
var ExecutionStates = []ExecutionState{Queued, Running, Retrying, Succeeded, Dead, Cancelled}

// Over says that nothing more is done by itself.
func (s ExecutionState) Over() bool { return s == Succeeded || s == Dead || s == Cancelled }

// MarshalData freezes the input of an execution. It writes < and & as they are.
func MarshalData(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte("{}") // there is nothing in it that JSON has no words for
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Attempt is how one try to carry an execution out ended.
type Attempt struct {
	N          int
	StartedAt  time.Time
	Took       time.Duration
	Status     int       // of the HTTP answer; 0 when there is none
	Error      string    // a sentence; "" after a success
	Answer     string    // the beginning of what the receiver said
	RetryAfter time.Time // when the receiver wants to be asked again; zero when it does not say
	Final      bool      // another try cannot help
	Gone       bool      // the receiver does not want to be asked again (410): its action is switched off
	Abandoned  bool      // whoever made it did not live to tell
}

// Delivery is an execution that was claimed, with what is needed to carry it out.
type Delivery struct {
	Execution
	WorkflowName string
	Do           Action // as the workflow has it now
}

// Attempted is how the attempt at a claimed execution ended.
type Attempted struct {
	Execution ID
	Attempt
}

// retryDelays are the waits after each failed attempt: the table of Standard Webhooks 1.0. After the last
// attempt the execution is dead.
var retryDelays = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

const (
	// retryJitter is the part of a wait by which it may be longer, so that what failed together does not
	// come back together.
	retryJitter = 0.2
	// mostAbandoned is how many attempts may end unseen: more mean that the attempt itself kills who makes it.
	mostAbandoned = 20
	// mostRetryAfter bounds how long a receiver can put off an attempt.
	mostRetryAfter = 24 * time.Hour
)

// NoReason is the error of an attempt that a worker gave up without a word.
const NoReason = "The worker gave no reason."

// Claim begins an attempt: it is counted before it is made, and its owner has until the lease's end (W6).
func (e Execution) Claim(owner string, lease time.Duration, now time.Time) Execution {
	e.State, e.Owner = Running, owner
	e.Attempts++
	e.DueAt = now.Add(lease)
	return e
}

// Finish ends an attempt. random is in [0, 1) and lengthens the wait before the next (W6).
func (e Execution) Finish(a Attempt, random float64, now time.Time) Execution {
	e.Owner, e.LastError = "", a.Error
	switch {
	case a.Abandoned:
		e.Abandoned++
		if e.Abandoned > mostAbandoned {
			return e.over(Dead, now)
		}
		e.State, e.DueAt = Retrying, now
		return e
	case a.Error == "":
		return e.over(Succeeded, now)
	}
	e.Failures++
	if a.Final || a.Gone || e.Failures > len(retryDelays) {
		return e.over(Dead, now)
	}
	wait := retryDelays[e.Failures-1]
	e.State = Retrying
	e.DueAt = now.Add(wait + time.Duration(random*retryJitter*float64(wait)))
	if until := a.PutOff(now); until.After(e.DueAt) {
		e.DueAt = until
	}
	return e
}

// PutOff is until when the receiver wants nothing, a day at most; zero when it does not say.
func (a *Attempt) PutOff(now time.Time) time.Time {
	if most := now.Add(mostRetryAfter); a.RetryAfter.After(most) {
		return most
	}
	return a.RetryAfter
}

func (e Execution) over(s ExecutionState, now time.Time) Execution {
	e.State, e.Owner, e.DueAt, e.DoneAt = s, "", time.Time{}, now
	return e
}

// Retry begins anew what is over or waits: as a person asks for it (W6). The id stays, so that a receiver that
// has it already knows.
func (e Execution) Retry(now time.Time) Execution {
	e.State, e.DueAt, e.DoneAt = Queued, now, time.Time{}
	e.Failures, e.Abandoned = 0, 0 // the numbers of attempts go on
	return e
}

// Cancel ends what need not be carried out any more.
func (e Execution) Cancel(reason string, now time.Time) Execution {
	if e.State.Over() {
		return e
	}
	e.LastError = reason
	return e.over(Cancelled, now)
}

// secretPrefix is how signing secrets begin (Standard Webhooks 1.0).
const secretPrefix = "whsec_"

// SigningKey returns the bytes of a webhook's secret: whsec_ and 24 to 64 bytes in base64.
func SigningKey(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(secret, secretPrefix)
	if !ok {
		return nil, fmt.Errorf("must begin with %s", secretPrefix)
	}
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, errors.New("must be base64 after " + secretPrefix)
	}
	if len(key) < 24 || len(key) > 64 {
		return nil, errors.New("must stand for 24 to 64 bytes")
	}
	return key, nil
}

// NewSecret writes key as a webhook's secret.
func NewSecret(key []byte) string { return secretPrefix + base64.StdEncoding.EncodeToString(key) }

// Notice is an event of the system that people may want to know of (W8).
type Notice struct {
	ID       ID
	At       time.Time
	Kind     NoticeKind
	Workflow ID
	Title    string
	Text     string
}

// NoticeKind is the kind of a notice.
type NoticeKind string

const (
	WorkflowDisabled  NoticeKind = "workflow_disabled"
	WorkflowRecovered NoticeKind = "workflow_recovered"
	ActionDisabled    NoticeKind = "action_disabled"
	ExecutionDead     NoticeKind = "execution_dead"
)

// NewNotice words what happened to a workflow.
func NewNotice(kind NoticeKind, w *Workflow, detail string, now time.Time) Notice {
	title := map[NoticeKind]string{
		WorkflowDisabled:  "Workflow switched off: ",
		WorkflowRecovered: "Workflow works again: ",
		ActionDisabled:    "Action switched off: ",
		ExecutionDead:     "Not delivered: ",
	}[kind]
	text := "Workflow: " + w.Name + "\nAddress: " + w.Trigger.Config.URL
	if w.State.Failures > 0 {
		text += fmt.Sprintf("\nFailures in a row: %d", w.State.Failures)
	}
	if detail != "" {
		text += "\n" + detail
	}
	return Notice{At: now, Kind: kind, Workflow: w.ID, Title: title + w.Name, Text: text}
}
