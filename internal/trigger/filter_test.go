package trigger

import (
	"strings"
	"testing"

	"freshet"
)

var entry = freshet.Entry{
	Title: "Go 1.26 is released", Link: "https://go.dev/blog/go1.26", GUID: "tag:go.dev,2026:1", Published: "2026-02-17T12:00:00Z",
	Summary: "Today the Go team is happy", Author: "The Go team", Change: freshet.ChangeUpdated,
}

// The language of filters, as docs/workflows.md shows it.
func TestPasses(t *testing.T) {
	for filter, want := range map[string]bool{
		"":                           true,
		" \n":                        true,
		`title contains "Go"`:        true,
		`title contains "go"`:        false,
		`lower(title) contains "go"`: true,
		`title contains "Go" and not (author == "bot")`:                   true,
		`title contains "Rust" or summary contains "happy"`:               true,
		`link startsWith "https://go.dev/" && link endsWith "1.26"`:       true,
		`author in ["The Go team", "rsc"]`:                                true,
		`title matches "Go 1\\.[0-9]+"`:                                   true,
		`title matches "^[0-9]+$"`:                                        false,
		`guid != ""`:                                                      true,
		`change == "updated"`:                                             true,
		`change == "new"`:                                                 false,
		`date(published) > date("2026-01-01")`:                            true,
		`len(summary) > 100`:                                              false,
		`title contains "released" ? summary contains "happy" : false`:    true,
		`!(title contains "sponsored") and summary not contains "advert"`: true,
		// What cannot be judged passes: it is better seen than lost.
		`date(author) > date("2026-01-01")`: true,
		`int(title) > 3`:                    true,
	} {
		if reason := checkFilter(filter); reason != "" {
			t.Errorf("%q is refused: %s", filter, reason)
		}
		if got := new(Filters).Passes(filter, &entry); got != want {
			t.Errorf("%q: passes %t, want %t", filter, got, want)
		}
	}
}

// A filter that cannot be used is told so, and where; in use it would let everything pass.
func TestCheckFilter(t *testing.T) {
	for filter, want := range map[string]string{
		`title contains`:                                 "column",
		`colour == "red"`:                                "colour",
		`title`:                                          "bool",
		`title == 3`:                                     "mismatched types",
		"title contains \"a\" and\n(":                    "line 2",
		`now() > date(published)`:                        "now",
		`repeat(title, 1000) != ""`:                      "repeat",
		`any([1], # == 1)`:                               "loops",
		`any(1..300, any(1..300, # == 0))`:               "loops",
		`len(filter([title], # == "a")) == 1`:            "loops",
		`let x = title; x == "a"`:                        "variables",
		`title == "a"; true`:                             "variables",
		`title + title == "aa"`:                          "+",
		`(len(title) > 1 ? title : link) + "" != ""`:     "+",
		`title matches summary`:                          "pattern",
		`title matches "("`:                              "missing closing",
		`len(split(title, "")) > 1`:                      "split",
		`replace(title, "", title) == ""`:                "replace",
		strings.Repeat(`title == "a" or `, 400) + "true": "nodes",
	} {
		if got := checkFilter(filter); !strings.Contains(got, want) || !strings.Contains(got, "published") {
			t.Errorf("%.60q: %q lacks %q, or the fields", filter, got, want)
		}
		if !new(Filters).Passes(filter, &entry) {
			t.Errorf("%.60q holds an entry back", filter)
		}
	}
}

// Filters are compiled once, and not kept without end.
func TestFiltersAreKept(t *testing.T) {
	f := &Filters{}
	for i := range 3 * mostCompiled {
		filter := `title != "` + strings.Repeat("x", i) + `"`
		if first, second := f.program(filter), f.program(filter); first == nil || first != second {
			t.Fatal("compiled twice")
		}
	}
	if len(f.compiled) > mostCompiled {
		t.Errorf("%d filters are kept", len(f.compiled))
	}
}

// No text makes a filter panic or run for long, whatever the entry.
func FuzzFilter(f *testing.F) {
	for _, filter := range []string{
		`title contains "Go" and not (author in ["bot", "ad"])`, `title matches "(a|b)*c{2,9}" ? len(link) > 3 : change == "new"`,
		`date(published) > date("2026-01-01") + duration("24h")`, `any(1..300, any(1..300, any(1..300, # == 0)))`, `let x = title + title; x + x != ""`,
		`10 ** 400 > 5 and 1 / 0 == 0`, `title[0:5] == guid[-1:]`, `-(-(-(1))) < 0x1F`, "{\"a\": 1}.a == 1 ?? [nil][7]", `(((((((`, "\xff\x00", `int("9999999999999999999999") > 0`,
	} {
		f.Add(filter, "A title", "Some words.")
	}
	f.Fuzz(func(t *testing.T, filter, title, summary string) {
		if len(filter) > 10_000 {
			return // refused before it is compiled
		}
		e := entry
		e.Title, e.Summary = title, summary
		var filters Filters
		passes := filters.Passes(filter, &e)
		if again := filters.Passes(filter, &e); again != passes {
			t.Errorf("%q passes %t, then %t", filter, passes, again)
		}
		if reason := checkFilter(filter); reason != "" && !passes {
			t.Errorf("%q cannot be used (%s) and holds an entry back", filter, reason)
		}
	})
}

func BenchmarkPasses(b *testing.B) {
	var filters Filters
	for b.Loop() {
		filters.Passes(`title contains "Go" and not (author in ["bot", "ad"])`, &entry)
	}
}
