package web

import (
	"context"
	"errors"
	"time"

	"freshet"
	"freshet/internal/trigger"
)

// Rehearsal is what a workflow that is not kept would have fired.
type Rehearsal struct {
	Fetched       bool        `json:"fetched" doc:"The address was fetched for this; else it is what polls of the last seven days gave."`
	WouldFire     []Rehearsed `json:"would_fire" nullable:"false" doc:"Oldest first; the newest when there are many."`
	EntriesSeen   int         `json:"entries_seen"`
	EntriesPassed int         `json:"entries_passed" doc:"Of them, those that an execution would carry."`
	Problem       *string     `json:"problem" doc:"Why there is nothing to go by."`
}

// Rehearsed is an execution that a workflow would have made.
type Rehearsed struct {
	At   time.Time           `json:"at" doc:"When it would have been due."`
	Data freshet.TriggerData `json:"data"`
}

const (
	rehearsedSpan  = 7 * 24 * time.Hour
	rehearsedPosts = 1000
	rehearsedPolls = 100
	rehearsedSize  = 1 << 20 // of what would have fired, in bytes
	rehearsedWait  = 30 * time.Second
)

type rehearsalOutput struct{ Body Rehearsal }

func (s *Server) rehearseWorkflow(ctx context.Context, in *workflowBody) (*rehearsalOutput, error) {
	answer, err := s.rehearse(ctx, in.Body.definition(true))
	if err != nil {
		return nil, err
	}
	return &rehearsalOutput{Body: answer}, nil
}

// rehearse says what a definition would have fired.
func (s *Server) rehearse(ctx context.Context, d freshet.Definition) (Rehearsal, error) {
	d.Complete()
	d.Enabled = true
	answer := Rehearsal{}
	polls, err := s.rehearsed(ctx, &d, &answer)
	if err != nil {
		return answer, err
	}
	r := d.Rehearse(polls, trigger.Means())
	answer.EntriesSeen, answer.EntriesPassed = r.Seen, r.Passed
	answer.WouldFire = newestFired(r.Fired)
	return answer, nil
}

// rehearsed are the polls to go by: those of a feed that is known, else one that is made now.
func (s *Server) rehearsed(ctx context.Context, d *freshet.Definition, r *Rehearsal) ([]freshet.Outcome, error) {
	now := time.Now()
	w := freshet.Workflow{Definition: *d}
	known, err := s.Store.FindSource(ctx, d.Trigger.Config.URL)
	if err != nil && !errors.Is(err, freshet.ErrNotFound) {
		return nil, err
	}
	if err == nil && d.Trigger.Config.ContentType.Feed() {
		polls, err := s.Store.RecentPolls(ctx, known.Source.ID, now.Add(-rehearsedSpan), rehearsedPosts)
		if err != nil || len(polls) > 0 {
			return polls[max(0, len(polls)-rehearsedPolls):], err
		}
	}
	if until := known.Source.PutOff(known.Host, now); !until.IsZero() {
		r.Problem = given("Its server asked for a pause until " + until.UTC().Format(time.RFC3339) + ", so it was not fetched.")
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, rehearsedWait)
	defer cancel()
	src := freshet.Source{URL: d.Trigger.Config.URL, Host: freshet.HostOf(d.Trigger.Config.URL), Type: freshet.HTTP}
	if d.Trigger.Config.ContentType.Feed() {
		src.Type = freshet.RSS
	}
	src.Ask([]freshet.Workflow{w})
	o := s.Read(ctx, src)
	r.Fetched = true
	switch {
	case o.Failure != nil:
		r.Problem = &o.Failure.Sentence
		return nil, nil
	case len(o.Contents) > 0 && o.Contents[0].Fault != "":
		r.Problem = &o.Contents[0].Fault
		return nil, nil
	}
	return []freshet.Outcome{*o}, nil
}

// newestFired are as many of the newest as an answer has room for.
func newestFired(fired []freshet.Rehearsed) []Rehearsed {
	first, size := len(fired), 0
	for first > 0 {
		if size += len(freshet.MarshalData(fired[first-1].Data)); size > rehearsedSize {
			break
		}
		first--
	}
	list := make([]Rehearsed, 0, len(fired)-first)
	for _, f := range fired[first:] {
		list = append(list, Rehearsed{utc(f.At), f.Data})
	}
	return list
}
