package conformance

import (
	"path/filepath"
	"testing"
	"time"

	"freshet/internal/feed"
)

// The sample in the repository is read without a miss.
func TestSample(t *testing.T) {
	results, err := Run(filepath.Join("..", "testdata", "sample"))
	if err != nil {
		t.Fatal(err)
	}
	if len(results) < 50 {
		t.Errorf("only %d documents", len(results))
	}
	for _, r := range results {
		for _, m := range r.Misses {
			t.Error(m)
		}
	}
}

// The bars are those that the feed reader was built to: 99.5% of fields, 98% of documents, no group below 97%.
func TestDevelopmentHalf(t *testing.T) {
	dir, ok := Dir()
	if !ok {
		t.Skip("SKIPPED: the conformance documents are not beside the repository: ", dir)
	}
	results, err := Run(dir)
	if err != nil {
		t.Fatal(err)
	}
	table := Summarize(results)
	t.Logf("\n%s", table)
	if table.All.Read != table.All.Documents {
		t.Errorf("%d of %d documents were read", table.All.Read, table.All.Documents)
	}
	if table.Fields < 99.5 || table.All.PerfectShare() < 98 {
		t.Errorf("%.2f%% of fields and %.2f%% of documents agree, want 99.5 and 98", table.Fields, table.All.PerfectShare())
	}
	for _, group := range Groups {
		if total := table.ByGroup[group]; total == nil || total.Fields() < 97 {
			t.Errorf("group %s is below 97%%: %+v", group, total)
		}
	}
}

func TestURL(t *testing.T) {
	for _, c := range []struct{ a, b string }{
		{"HTTP://Example.ORG:80", "http://example.org/"},
		{"https://example.org:443/a%7Eb", "https://example.org/a~b"},
		{"http://example.org/a b", "http://example.org/a%20b"},
		{"http://bücher.example/", "http://xn--bcher-kva.example/"},
	} {
		if URL(c.a) != URL(c.b) {
			t.Errorf("%s and %s differ: %s, %s", c.a, c.b, URL(c.a), URL(c.b))
		}
	}
	if URL("http://example.org/a") == URL("http://example.org/A") {
		t.Error("the case of a path does not count")
	}
}

func TestSquash(t *testing.T) {
	if got := Squash(" a\u00a0b\u00ad\u200b\tc\u2329"); got != "abc\u27e8" {
		t.Errorf("got %q", got)
	}
}

// Each kind of miss is seen.
func TestScoreFindsMisses(t *testing.T) {
	title, at := "Right", "2026-01-02T03:04:05Z"
	g := Golden{Entries: []GoldenEntry{{
		GUID: []string{"1"}, URL: []string{"http://example.org/"}, Title: &title, Author: []string{"A", "B"},
		PublishedAt: &at, UpdatedAt: &at, Content: []TextHash{{N: 4, SHA256: "88d4266fd4e6338d13b845fcf289579d"}},
		Enclosures: []Enclosure{{URL: "http://example.org/1", Type: "audio/mpeg"}},
	}}}
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	right := feed.Entry{
		GUID: "1", URL: "http://EXAMPLE.org", Title: "Right", Author: "A, B", Published: when, Updated: when, Content: "ab cd",
		Enclosures: []feed.Enclosure{{URL: "http://example.org/1", Type: "AUDIO/mpeg"}},
	}
	if r := Score("x", &feed.Document{Entries: []feed.Entry{right}}, &g); len(r.Misses) > 0 || r.Checks != 9 {
		t.Errorf("all is right, but %d checks: %v", r.Checks, r.Misses)
	}
	if r := Score("x", &feed.Document{Entries: []feed.Entry{{Enclosures: []feed.Enclosure{{URL: "http://example.org/2"}}}}}, &g); len(r.Misses) != 8 {
		t.Errorf("all but the number is wrong, but %v", r.Misses)
	}
	if r := Score("x", nil, &g); r.Read || r.Fields() != 0 {
		t.Errorf("not read at all, but %+v", r)
	}
}
