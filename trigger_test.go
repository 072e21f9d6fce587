package freshet

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// plainMeans let entries pass whose title contains the filter.
var plainMeans = Means{
	Passes:  func(filter string, e *Entry) bool { return strings.Contains(e.Title, filter) },
	Changes: func(before, after string) string { return "- " + before + "\n+ " + after },
}

// listed is a document with an entry for each name; "a/2" is the second version of a.
func listed(names ...string) *Outcome {
	o := &Outcome{At: noon}
	for _, name := range names {
		guid, version, _ := strings.Cut(name, "/")
		o.Posts = append(o.Posts, Post{GUID: guid, URL: "https://example.org/" + guid, Title: strings.TrimSpace(guid + " " + version), Published: noon})
	}
	return o
}

func refusal(sentence string) *Outcome {
	return &Outcome{At: noon, Failure: &Failure{Class: Transient, Code: "x", Sentence: sentence}}
}

func watchFor(change func(*Definition)) *Workflow {
	return &Workflow{Definition: workflowOf(change), State: WorkflowState{Waiting: true}}
}

// firing writes what fired: executions apart with |, entries with their change.
func firing(fired []TriggerData) string {
	var executions []string
	for _, data := range fired {
		var entries []string
		for _, e := range data.Items {
			entries = append(entries, strings.TrimSpace(e.GUID+" "+string(e.Change)))
		}
		executions = append(executions, strings.Join(entries, ","))
	}
	return strings.Join(executions, "|")
}

// W4: which entries fire, document after document.
func TestObserveEntries(t *testing.T) {
	on := func(changes ...Change) func(*Definition) {
		return func(d *Definition) { d.Trigger.Config.On = changes }
	}
	long := make([]string, 250)
	for i := range long {
		long[i] = fmt.Sprintf("e%d", i)
	}
	first100 := strings.Join(long[:100], ",")
	for name, test := range map[string]struct {
		change func(*Definition)
		polls  []*Outcome
		want   []string
	}{
		"the first poll: everything is new": {nil, []*Outcome{listed("b", "a")}, []string{"b,a"}},
		"the first poll: nothing is":        {func(d *Definition) { d.Trigger.Config.FirstPoll = FirstBaseline }, []*Outcome{listed("b", "a"), listed("c", "b", "a")}, []string{"", "c"}},
		"a baseline after failures":         {func(d *Definition) { d.Trigger.Config.FirstPoll = FirstBaseline }, []*Outcome{refusal("no"), listed("a"), listed("b", "a")}, []string{"", "", "b"}},
		"nothing new":                       {nil, []*Outcome{listed("a"), listed("a"), {At: noon, Unchanged: true}}, []string{"a", "", ""}},
		"another order":                     {nil, []*Outcome{listed("a", "b", "c"), listed("c", "a", "b")}, []string{"a,b,c", ""}},
		"an entry that comes back":          {nil, []*Outcome{listed("a", "b"), listed("b"), listed("a", "b")}, []string{"a,b", "", ""}},
		"twice in one document":             {nil, []*Outcome{listed("a", "a", "b", "a")}, []string{"a,b"}},
		"an edit":                           {nil, []*Outcome{listed("a"), listed("a/2")}, []string{"a", ""}},
		"an edit that is asked for":         {on(ChangeNew, ChangeUpdated), []*Outcome{listed("a", "b"), listed("a/2", "b"), listed("a/2", "b"), listed("a", "b")}, []string{"a,b", "a updated", "", "a updated"}},
		"edits alone":                       {on(ChangeUpdated), []*Outcome{listed("a"), listed("b", "a/2")}, []string{"", "a updated"}},
		"the first 100":                     {nil, []*Outcome{listed(long...), listed(long...)}, []string{first100, ""}},
		"what moves up into the first 100":  {nil, []*Outcome{listed(long...), listed(append([]string{long[150]}, long...)...)}, []string{first100, "e150"}},
		"a new one in a long document":      {nil, []*Outcome{listed(long...), listed(append([]string{"new"}, long...)...)}, []string{first100, "new"}},
		"entries after an empty document":   {nil, []*Outcome{listed("a"), listed(), listed("a", "b")}, []string{"a", "", "b"}},
		"entries after failures":            {nil, []*Outcome{listed("a"), refusal("no"), listed("b", "a")}, []string{"a", "", "b"}},
		"another id for the same words": {nil, []*Outcome{listed("a"), {At: noon, Posts: []Post{
			{GUID: "a?utm=1", URL: "https://example.org/a", Title: "a", Published: noon}}}}, []string{"a", ""}},
		"one id for all": {nil, []*Outcome{{At: noon, Posts: []Post{{GUID: "x", URL: "https://example.org/1"}, {GUID: "x", URL: "https://example.org/2"}}}}, []string{"x,x"}},
		"neither id nor link": {nil, []*Outcome{{At: noon, Posts: []Post{{Title: "One"}, {Title: "Two"}}}, {At: noon, Posts: []Post{{Title: "One"}}}},
			[]string{"urn:sha256:" + digest("One\n0001-01-01T00:00:00Z\n") + ",urn:sha256:" + digest("Two\n0001-01-01T00:00:00Z\n"), ""}},
		"a filter":                  {func(d *Definition) { d.Filter = "a" }, []*Outcome{listed("b"), listed("ab", "cd", "b")}, []string{"", "ab"}},
		"an execution for each":     {func(d *Definition) { d.Batch = BatchItem }, []*Outcome{listed("c", "b", "a"), listed("d", "c", "b", "a")}, []string{"a|b|c", "d"}},
		"an execution for each 100": {func(d *Definition) { d.Batch = BatchItem }, []*Outcome{listed("b", "a", "b")}, []string{"a|b"}},
	} {
		w := watchFor(test.change)
		for i, o := range test.polls {
			if got := firing(w.Observe(o, plainMeans).Fired); got != test.want[i] {
				t.Errorf("%s: poll %d fires %.200q, want %.200q", name, i+1, got, test.want[i])
			}
		}
	}
}

// digest is the name that an entry is given which has none.
func digest(text string) string { return NewContent(Part{}, "", text).Hash[:32] }

// W4: an entry as executions carry it.
func TestEntryOf(t *testing.T) {
	post := Post{GUID: " g ", URL: "https://example.org/", Title: strings.Repeat("é", 2001), Text: strings.Repeat("ü", 501), Author: "A", Published: noon.In(time.FixedZone("", 3600))}
	got := entryOf("id", &post, "")
	if got.GUID != "g" || got.Title != strings.Repeat("é", 2000) || got.Summary != strings.Repeat("ü", 500) || got.Published != "2026-02-17T12:00:00Z" || got.Author != "A" || got.Change != "" {
		t.Errorf("entry %+v", got)
	}
	if bare := entryOf("id", &Post{}, ChangeUpdated); bare != (Entry{GUID: "id", Change: ChangeUpdated}) {
		t.Errorf("of nothing: %+v", bare)
	}
}

// W4, E3: what of a document fires.
func TestObserveContent(t *testing.T) {
	part := Part{Selector: "main"}
	document := func(text string) *Outcome {
		return &Outcome{At: noon, Contents: []Content{NewContent(Part{}, "", "all"), NewContent(part, "", text)}}
	}
	missing := &Outcome{At: noon, Contents: []Content{{Part: part, Fault: "There is no main."}}}
	type step struct {
		o        *Outcome
		fires    string // the content, "" for nothing
		changes  string
		failures int
	}
	for name, test := range map[string]struct {
		first FirstPoll
		steps []step
	}{
		"what changes fires": {FirstAll, []step{
			{document("one"), "one", "", 0}, {document("one"), "", "", 0}, {document("two"), "two", "- one\n+ two", 0}, {document("one"), "one", "- two\n+ one", 0}}},
		"a baseline does not": {FirstBaseline, []step{{document("one"), "", "", 0}, {document("two"), "two", "- one\n+ two", 0}}},
		"unchanged does not":  {FirstAll, []step{{document("one"), "one", "", 0}, {&Outcome{At: noon, Unchanged: true}, "", "", 0}}},
		"a part that is not there is a failure": {FirstAll, []step{
			{document("one"), "one", "", 0}, {missing, "", "", 1}, {missing, "", "", 2}, {document("one"), "", "", 0}}},
		"another's part says nothing": {FirstAll, []step{{&Outcome{At: noon, Contents: []Content{NewContent(Part{}, "", "all")}}, "", "", 0}, {document("one"), "one", "", 0}}},
	} {
		w := watchFor(func(d *Definition) {
			d.Trigger.Config.ContentType, d.Trigger.Config.Part, d.Trigger.Config.FirstPoll = ContentHTTP, part, test.first
		})
		for i, s := range test.steps {
			fired := w.Observe(s.o, plainMeans).Fired
			content, changes := "", ""
			if len(fired) == 1 && fired[0].Content != nil {
				content, changes = *fired[0].Content, fired[0].Changes
				if fired[0].ContentHash != NewContent(part, "", content).Hash || fired[0].ContentType != ContentHTTP {
					t.Errorf("%s: step %d fires %+v", name, i+1, fired[0])
				}
			}
			if content != s.fires || changes != s.changes || len(fired) > 1 || w.State.Failures != s.failures {
				t.Errorf("%s: step %d fires %q with %q, %d failures; want %+v", name, i+1, content, changes, w.State.Failures, s)
			}
		}
	}
}

// A long document is cut for the execution, and its hash is that of the whole.
func TestNewContent(t *testing.T) {
	long := strings.Repeat("é", mostContent) // two bytes each
	c := NewContent(Part{}, "", long)
	if !c.Cut || len(c.Text) > mostContent || len(c.Text) < mostContent-1 || c.Hash != NewContent(Part{}, "", long+"").Hash || c.Hash == NewContent(Part{}, "", c.Text).Hash {
		t.Errorf("cut %t, %d bytes, hash %s", c.Cut, len(c.Text), c.Hash)
	}
	if c := NewContent(Part{}, "given", "x"); c.Hash != "given" || c.Cut {
		t.Errorf("hash %s, cut %t", c.Hash, c.Cut)
	}
}

// W8: failures count, four in a row switch off, a success resets.
func TestObserveFailures(t *testing.T) {
	w := watchFor(nil)
	for i := 1; i <= 3; i++ {
		if seen := w.Observe(refusal("It hangs."), plainMeans); seen.Disabled || !w.Enabled || w.State.Failures != i || w.State.LastError != "It hangs." || !w.State.CheckedAt.Equal(noon) {
			t.Fatalf("failure %d: %+v, %+v", i, seen, w.State)
		}
	}
	w.Observe(&Outcome{At: noon, Unchanged: true}, plainMeans)
	if w.State.Failures != 0 || w.State.LastError != "" {
		t.Errorf("a 304 is a success: %+v", w.State)
	}
	for range 3 {
		w.Observe(refusal("It hangs."), plainMeans)
	}
	if seen := w.Observe(refusal("It hangs."), plainMeans); !seen.Disabled || w.Enabled || w.State.Resting || w.Wanted() || !strings.Contains(w.DisabledReason, "4") || !strings.Contains(w.DisabledReason, "It hangs.") {
		t.Errorf("the fourth: %+v, %+v", seen, w)
	}
	if seen := w.Observe(refusal("It hangs."), plainMeans); seen.Disabled {
		t.Error("switched off twice: two notices")
	}
}

func TestObserveRecovery(t *testing.T) {
	w := watchFor(func(d *Definition) { d.OnRecovery = Resume })
	for range 6 {
		w.Observe(refusal("It hangs."), plainMeans)
	}
	if w.Enabled || !w.State.Resting || !w.Wanted() || w.State.Failures != 6 {
		t.Fatalf("resting: %+v", w)
	}
	seen := w.Observe(listed("a"), plainMeans)
	if !seen.Recovered || !w.Enabled || w.State.Resting || w.State.Failures != 0 || firing(seen.Fired) != "a" {
		t.Errorf("its address answers: %+v, %+v", seen, w)
	}
	if seen := w.Observe(listed("a"), plainMeans); seen.Recovered {
		t.Error("recovered twice")
	}
}

func TestGatherEntries(t *testing.T) {
	data := TriggerData{Items: []Entry{{GUID: "old"}}}
	if !data.Gather([]Entry{{GUID: "b"}, {GUID: "a"}}) || firing([]TriggerData{data}) != "b,a,old" {
		t.Errorf("gathered %s", firing([]TriggerData{data}))
	}
	if data.Gather(make([]Entry, mostGathered)) || len(data.Items) != 3 {
		t.Errorf("%d items: more than an execution carries", len(data.Items))
	}
}

// A rehearsal filters and batches as the workflow would.
func TestRehearse(t *testing.T) {
	at := func(minutes int, names ...string) Outcome {
		o := *listed(names...)
		o.At = noon.Add(time.Duration(minutes) * time.Minute)
		return o
	}
	window := func(d *Definition) { d.Batch, d.WindowMinutes = BatchWindow, 30 }
	for name, test := range map[string]struct {
		change       func(*Definition)
		polls        []Outcome
		want         string // minute:execution
		seen, passed int
	}{
		"nothing":                     {nil, nil, "", 0, 0},
		"an execution for each poll":  {nil, []Outcome{at(0, "a"), at(15, "c", "b"), at(30)}, "0:a 15:c,b", 3, 3},
		"a baseline does not count":   {func(d *Definition) { d.Trigger.Config.FirstPoll = FirstBaseline }, []Outcome{at(0, "a")}, "0:a", 1, 1},
		"one that is off":             {func(d *Definition) { d.Enabled = false }, []Outcome{at(0, "a")}, "0:a", 1, 1},
		"a filter":                    {func(d *Definition) { d.Filter = "a" }, []Outcome{at(0, "ab", "b"), at(15, "c")}, "0:ab", 3, 1},
		"an execution for each entry": {func(d *Definition) { d.Batch = BatchItem }, []Outcome{at(0, "b", "a")}, "0:a 0:b", 2, 2},
		"a window":                    {window, []Outcome{at(0, "a"), at(15, "b"), at(29, "c"), at(30, "d"), at(59, "e"), at(90, "f")}, "30:c,b,a 60:e,d 120:f", 6, 6},
		"a window that is full": {window, []Outcome{at(0, "a"), func() Outcome {
			o := at(1)
			for i := range mostEntries {
				o.Posts = append(o.Posts, Post{GUID: fmt.Sprint(i)})
			}
			return o
		}()}, "30:" + strings.Join(hundred(), ",") + ",a", 101, 101},
	} {
		r := workflowOf(test.change).Rehearse(test.polls, plainMeans)
		var got []string
		for _, f := range r.Fired {
			got = append(got, fmt.Sprintf("%d:%s", int(f.At.Sub(noon).Minutes()), firing([]TriggerData{f.Data})))
		}
		if strings.Join(got, " ") != test.want || r.Seen != test.seen || r.Passed != test.passed {
			t.Errorf("%s: %.300q of %d seen, %d passed; want %.300q, %d, %d", name, got, r.Seen, r.Passed, test.want, test.seen, test.passed)
		}
	}
	r := workflowOf(func(d *Definition) { d.Trigger.Config.ContentType = ContentHTTP }).Rehearse(
		[]Outcome{{At: noon, Contents: []Content{NewContent(Part{}, "", "now")}}}, plainMeans)
	if len(r.Fired) != 1 || *r.Fired[0].Data.Content != "now" || r.Seen != 0 {
		t.Errorf("a document: %+v", r)
	}
}

func hundred() (names []string) {
	for i := range mostEntries {
		names = append(names, fmt.Sprint(i))
	}
	return names
}

func TestSample(t *testing.T) {
	feed := watchFor(func(d *Definition) { d.Filter = "a" })
	if got := feed.Sample([]Outcome{*listed("a1"), *listed("a3", "a2", "b")}, plainMeans); firing([]TriggerData{got}) != "a3,a2" {
		t.Errorf("the newest poll: %s", firing([]TriggerData{got}))
	}
	if got := feed.Sample([]Outcome{*listed("b")}, plainMeans); len(got.Items) != 1 || got.Items[0].Title == "" || got.Type != "poll" || got.ContentType != ContentRSS {
		t.Errorf("nothing passes: %+v", got)
	}
	page := watchFor(func(d *Definition) { d.Trigger.Config.ContentType = ContentHTTP })
	if got := page.Sample(nil, plainMeans); got.Content == nil || *got.Content == "" || got.ContentHash == "" {
		t.Errorf("a document that nobody has seen: %+v", got)
	}
	page.Observe(&Outcome{At: noon, Contents: []Content{NewContent(Part{}, "", "12 left")}}, plainMeans)
	if got := page.Sample(nil, plainMeans); *got.Content != "12 left" || got.ContentHash != page.State.ContentHash {
		t.Errorf("a document: %+v", got)
	}
}
