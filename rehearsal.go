package freshet

import "time"

// Rehearsal is what a workflow would have made of what a source gave.
type Rehearsal struct {
	Fired  []Rehearsed // oldest first
	Seen   int         // entries
	Passed int         // of them, those that an execution carries
}

// Rehearsed is an execution that a workflow would have made.
type Rehearsed struct {
	At   time.Time // when it would have been due
	Data TriggerData
}

// Rehearse shows the definition polls, the oldest first, as if all in them were new: what FirstPoll asks for does
// not count. It filters and batches as the workflow would (W4).
func (d Definition) Rehearse(polls []Outcome, m Means) (r Rehearsal) {
	w := Workflow{Definition: d}
	for i := range polls {
		o := &polls[i]
		for _, data := range w.Observe(o, m).Fired {
			r.Passed += len(data.Items)
			r.fire(&d, o.At, data)
		}
		if d.Trigger.Config.ContentType.Feed() {
			r.Seen += len(o.Posts)
		}
	}
	return r
}

// fire adds an execution, or its entries to the one whose window is open.
func (r *Rehearsal) fire(d *Definition, at time.Time, data TriggerData) {
	if d.Batch != BatchWindow || data.Content != nil {
		r.Fired = append(r.Fired, Rehearsed{at, data})
		return
	}
	if n := len(r.Fired); n > 0 && r.Fired[n-1].At.After(at) && r.Fired[n-1].Data.Gather(data.Items) {
		return
	}
	r.Fired = append(r.Fired, Rehearsed{at.Add(d.Window()), data})
}

// Sample is the data of an execution that a person asks for as a test: of the newest that the workflow was given,
// else made up (W6).
func (w *Workflow) Sample(polls []Outcome, m Means) TriggerData {
	c := w.Trigger.Config
	data := TriggerData{Type: "poll", ContentType: c.ContentType}
	if !c.ContentType.Feed() {
		text := w.Memory.kept()
		if text == "" {
			text = "This is a test. The document that is watched comes here."
		}
		content := NewContent(c.Part, "", text)
		data.Content, data.ContentHash, data.Cut = &content.Text, content.Hash, content.Cut
		return data
	}
	if fired := w.Rehearse(polls, m).Fired; len(fired) > 0 {
		return fired[len(fired)-1].Data
	}
	data.Items = []Entry{{Title: "A test of the workflow " + w.Name, Link: c.URL, GUID: "urn:freshet:test", Summary: "The entries that appear come here."}}
	return data
}
