package freshet

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// WorkflowState is what polls leave of a workflow (W3).
type WorkflowState struct {
	CheckedAt   time.Time
	ContentHash string // of the document or the part that is watched; "" for feeds
	Failures    int    // in a row
	LastError   string
	// Waiting: no poll has shown the workflow its document since it began to watch.
	Waiting bool
	// Resting: switched off by failures, and switched on again by the first success (W8).
	Resting bool
}

// failuresToDisable is how many failing polls in a row switch a workflow off (W8).
const failuresToDisable = 4

const (
	mostEntries = 100 // of a document (W4)
	mostSummary = 500 // characters (W4)
	mostTitle   = 2000
	mostContent = 256 << 10 // bytes of a document that an execution carries
)

// Entry is one entry of a feed as an execution carries it (W4).
type Entry struct {
	Title     string `json:"title"`
	Link      string `json:"link"`
	GUID      string `json:"guid"`
	Published string `json:"published"` // RFC 3339, "" when the feed says none
	Summary   string `json:"summary"`
	Author    string `json:"author,omitempty"`
	Change    Change `json:"change,omitempty"` // "updated" for one that was seen before
}

// Content is the document of a source, or a part of it, as a poll found it.
type Content struct {
	Part
	Hash  string // SHA-256
	Text  string // its beginning, when it is long
	Cut   bool   // Text is not all
	Fault string // why there is none, a sentence; "" when there is
}

// NewContent makes the content of a text that was found. hash is "" for that of the text itself.
func NewContent(p Part, hash, text string) Content {
	if hash == "" {
		sum := sha256.Sum256([]byte(text))
		hash = hex.EncodeToString(sum[:])
	}
	c := Content{Part: p, Hash: hash, Text: text}
	if len(text) > mostContent {
		c.Text, c.Cut = strings.Clone(strings.ToValidUTF8(text[:mostContent], "")), true
	}
	return c
}

// TriggerData is what an execution is given (W5).
type TriggerData struct {
	Type        string      `json:"type"`
	ContentType ContentType `json:"content_type"`
	Items       []Entry     `json:"items,omitzero"`
	Content     *string     `json:"content,omitempty"`
	ContentHash string      `json:"content_hash,omitempty"`
	// Changes are lines that begin with "- " or "+ ": what differs from the content before.
	Changes string `json:"changes,omitempty"`
	// Cut says that the content is longer than what is carried.
	Cut bool `json:"cut,omitempty"`
}

// mostGathered is how many entries an execution of a window carries.
const mostGathered = 1000

// Gather puts newer entries before those that are there, unless they become too many; it says whether it did.
func (t *TriggerData) Gather(newer []Entry) bool {
	if len(newer)+len(t.Items) > mostGathered {
		return false
	}
	t.Items = slices.Concat(newer, t.Items)
	return true
}

// Means is what Workflow.Observe needs and package freshet has no library for.
type Means struct {
	// Passes says whether the workflow's filter lets an entry through. One that it cannot judge passes: it
	// is better seen than lost.
	Passes func(text string, e *Entry) bool
	// Changes says in lines what differs between two texts.
	Changes func(before, after string) string
}

// Observed is what a poll means for a workflow.
type Observed struct {
	Fired     []TriggerData // each an execution, oldest first
	Disabled  bool          // by this poll
	Recovered bool          // switched on again by this poll
	Remembers bool          // Memory changed
}

// Observe moves the workflow on by an outcome of its source (W2 to W5, W8). Memory must have been read when
// the outcome has a document.
func (w *Workflow) Observe(o *Outcome, m Means) (seen Observed) {
	w.State.CheckedAt = o.At
	content := o.content(w)
	switch {
	case o.Failure != nil && content == nil: // a document that is no feed is still a document
		seen.Disabled = w.observeFailure(o.Failure.Sentence)
		return seen
	case content != nil && content.Fault != "":
		seen.Disabled = w.observeFailure(content.Fault)
		return seen
	}
	if w.State.Resting {
		w.Enable()
		seen.Recovered = true
	}
	w.State.Failures, w.State.LastError = 0, ""
	if o.Unchanged {
		return seen
	}
	quiet := w.State.Waiting && w.Trigger.Config.FirstPoll == FirstBaseline
	if _, document := w.Part(); document {
		if content != nil {
			w.observeContent(content, quiet, m, &seen)
		}
		return seen
	}
	w.State.Waiting = false
	most := mostEntries
	if quiet {
		most = len(o.Posts) // all that is there is known
	}
	entries := w.Memory.sort(o.Posts, w.Trigger.Config.On, most)
	seen.Remembers = true
	if !quiet {
		seen.Fired = w.fire(entries, m)
	}
	return seen
}

// observeFailure counts a failure and says whether it switched the workflow off (W8).
func (w *Workflow) observeFailure(sentence string) (disabled bool) {
	w.State.Failures++
	w.State.LastError = sentence
	if !w.Enabled || w.State.Failures < failuresToDisable {
		return false
	}
	w.Disable(fmt.Sprintf("%d polls in a row failed. The last: %s", w.State.Failures, sentence))
	w.State.Resting = w.OnRecovery == Resume
	return true
}

func (w *Workflow) observeContent(c *Content, quiet bool, m Means, seen *Observed) {
	w.State.Waiting = false
	if c.Hash == w.State.ContentHash {
		return
	}
	before := w.Memory.kept()
	w.State.ContentHash = c.Hash
	w.Memory.keep(c.Text)
	seen.Remembers = true
	if quiet {
		return
	}
	data := TriggerData{Type: "poll", ContentType: w.Trigger.Config.ContentType, Content: &c.Text, ContentHash: c.Hash, Cut: c.Cut}
	if before != "" {
		data.Changes = m.Changes(before, c.Text)
	}
	seen.Fired = []TriggerData{data}
}

// fire makes executions of the entries that pass, as the workflow batches them.
func (w *Workflow) fire(entries []Entry, m Means) []TriggerData {
	if w.Filter != "" {
		entries = slices.DeleteFunc(entries, func(e Entry) bool { return !m.Passes(w.Filter, &e) })
	}
	if len(entries) == 0 {
		return nil
	}
	data := TriggerData{Type: "poll", ContentType: w.Trigger.Config.ContentType, Items: entries}
	if w.Batch != BatchItem {
		return []TriggerData{data}
	}
	slices.Reverse(entries) // feeds begin with the newest
	each := make([]TriggerData, len(entries))
	for i := range entries {
		each[i] = data
		each[i].Items = entries[i : i+1]
	}
	return each
}

// content returns what the outcome has of the part that a workflow watches.
func (o *Outcome) content(w *Workflow) *Content {
	part, document := w.Part()
	if !document {
		return nil
	}
	for i := range o.Contents {
		if o.Contents[i].Part.Equal(part) {
			return &o.Contents[i]
		}
	}
	return nil
}

func entryOf(id string, p *Post, change Change) Entry {
	e := Entry{
		Title: cut(p.Title, mostTitle), Link: p.URL, GUID: cmp.Or(strings.TrimSpace(p.GUID), id),
		Summary: cut(p.Text, mostSummary), Author: p.Author, Change: change,
	}
	if !p.Published.IsZero() {
		e.Published = p.Published.UTC().Format(time.RFC3339)
	}
	return e
}

// cut returns the first n characters of a text.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
