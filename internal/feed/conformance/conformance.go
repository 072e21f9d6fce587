// Package conformance scores the feed reader against what a reference reader gets out of the same
// documents (SPEC.md E1). The documents and goldens lie outside of the repository; the rules by which values
// are compared are those of the README beside them.
//
// It keeps nothing and decides nothing about feeds: a document that is read differently on
// purpose is listed in docs/feeds.md.
package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"freshet/internal/feed"
)

// Golden is what the reference reader gets out of a document.
type Golden struct {
	Count *bool `json:"count"`
	Feed  struct {
		Title *string  `json:"title"`
		Link  []string `json:"link"`
	} `json:"feed"`
	Entries  []GoldenEntry `json:"entries"`
	Disputed [][2]any      `json:"disputed"`
}

// GoldenEntry is an entry of a golden. Where it has a list, any of its values is right; null and an empty
// list are not checked.
type GoldenEntry struct {
	GUID        []string    `json:"guid"`
	URL         []string    `json:"url"`
	Title       *string     `json:"title"`
	Author      []string    `json:"author"`
	PublishedAt *string     `json:"published_at"`
	UpdatedAt   *string     `json:"updated_at"`
	Summary     []TextHash  `json:"summary_text"`
	Content     []TextHash  `json:"content_text"`
	Enclosures  []Enclosure `json:"enclosures"`
	Media       []string    `json:"media"`
	Also        []string    `json:"also"`
}

// TextHash stands for a text: its length and hash when squashed, and how it begins.
type TextHash struct {
	N      int    `json:"n"`
	SHA256 string `json:"sha256"`
	Head   string `json:"head"`
}

// Enclosure is a file of a golden's entry.
type Enclosure struct{ URL, Type string }

// source is a line of the manifest.
type source struct {
	Category    string `json:"category"`
	URL         string `json:"url"`
	ContentType string `json:"content_type"`
}

// Miss is a value that does not agree.
type Miss struct {
	Document, Field string
	Entry           int // -1 for the feed
	Got, Want       string
}

// String shows the miss in a line.
func (m Miss) String() string {
	return fmt.Sprintf("%s [%d] %s: got %.150q, want %.150s", m.Document, m.Entry, m.Field, m.Got, m.Want)
}

// Result is the score of one document.
type Result struct {
	Name, Category string
	Checks         int
	Read           bool
	Misses         []Miss
}

// Fields is the share of the checks that passed.
func (r Result) Fields() float64 {
	if !r.Read || r.Checks == 0 {
		return 0
	}
	return float64(r.Checks-len(r.Misses)) / float64(r.Checks)
}

// Dir finds the documents: the folder beside the repository, looked for from the working directory
// upwards. ok is false when it is not there.
func Dir() (dir string, ok bool) {
	at, err := os.Getwd()
	if err != nil {
		return "", false
	}
	for {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			dir = filepath.Join(at, "..", "shared", "conformance", "feeds")
			if _, err := os.Stat(filepath.Join(dir, "goldens.json")); err == nil {
				return dir, true
			}
		}
		if filepath.Dir(at) == at {
			return dir, false
		}
		at = filepath.Dir(at)
	}
}

// Run scores every document in dir, in the order of their names.
func Run(dir string) ([]Result, error) {
	var goldens map[string]Golden
	var sources map[string]source
	if err := load(filepath.Join(dir, "goldens.json"), &goldens); err != nil {
		return nil, err
	}
	if err := load(filepath.Join(dir, "manifest.json"), &sources); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(goldens))
	for name := range goldens {
		names = append(names, name)
	}
	sort.Strings(names)
	results := make([]Result, 0, len(names))
	for _, name := range names {
		doc, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		src, golden := sources[name], goldens[name]
		d, _ := feed.Parse(doc, feed.Options{URL: src.URL, ContentType: src.ContentType}) // Score counts what cannot be read
		r := Score(name, d, &golden)
		r.Category = src.Category
		results = append(results, r)
	}
	return results, nil
}

func load(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// Group names the group that a category is counted in.
func Group(category string) string {
	switch category {
	case "amp", "base", "lang":
		return "atom"
	case "real-rdf":
		return "rdf"
	case "chardet":
		return "encoding"
	case "entities":
		return "illformed"
	}
	for _, prefix := range []string{"validator", "real"} {
		if strings.HasPrefix(category, prefix+"-") {
			return prefix
		}
	}
	return category
}

// Groups are the groups that make up the overall score, in the order of the table; Aside are
// those that are reported apart.
var (
	Groups = []string{"rss", "atom", "rdf", "namespaces", "dates", "encoding", "illformed", "validator", "fixture", "real", "json"}
	Aside  = []string{"cdf", "sanitize"}
)

// Total is the score of several documents.
type Total struct {
	Documents, Read, Perfect int
	fields                   float64
}

// Fields is the mean share of fields that agree, in percent.
func (t Total) Fields() float64 { return 100 * t.fields / float64(max(1, t.Documents)) }

// PerfectShare is the share of documents without a miss, in percent.
func (t Total) PerfectShare() float64 { return 100 * float64(t.Perfect) / float64(max(1, t.Documents)) }

func (t *Total) add(r Result) {
	t.Documents++
	t.fields += r.Fields()
	if r.Read {
		t.Read++
	}
	if r.Read && len(r.Misses) == 0 {
		t.Perfect++
	}
}

// Table sums the results up by group, and over all: the mean of the groups, and the share of perfect documents.
type Table struct {
	ByGroup map[string]*Total
	All     Total   // every document that counts
	Fields  float64 // mean of the groups, in percent
}

// Summarize makes the table.
func Summarize(results []Result) Table {
	t := Table{ByGroup: make(map[string]*Total)}
	for _, r := range results {
		g := Group(r.Category)
		if t.ByGroup[g] == nil {
			t.ByGroup[g] = &Total{}
		}
		t.ByGroup[g].add(r)
	}
	n := 0
	for _, g := range Groups {
		if total := t.ByGroup[g]; total != nil {
			t.Fields += total.Fields()
			n++
		}
	}
	t.Fields /= float64(max(1, n))
	for _, r := range results {
		if g := Group(r.Category); g != "cdf" && g != "sanitize" {
			t.All.add(r)
		}
	}
	return t
}

// String is the table for people.
func (t Table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s %9s %9s %9s %9s\n", "group", "documents", "read", "fields %", "perfect %")
	line := func(name string, total Total, fields float64) {
		fmt.Fprintf(&b, "%-12s %9d %9d %9.2f %9.2f\n", name, total.Documents, total.Read, fields, total.PerfectShare())
	}
	for _, g := range Groups {
		if total := t.ByGroup[g]; total != nil {
			line(g, *total, total.Fields())
		}
	}
	line("overall", t.All, t.Fields)
	for _, g := range Aside {
		if total := t.ByGroup[g]; total != nil {
			line("("+g+")", *total, total.Fields())
		}
	}
	return b.String()
}
