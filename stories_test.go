package freshet_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/stories.md maps each acceptance criterion of the river's founding document to tests that exist: those of the
// second column start a browser, those of the third one without script.
func TestStoriesHaveTests(t *testing.T) {
	rows := storyRows(readFile(t, "docs/stories.md"))
	if len(rows) < 35 {
		t.Fatalf("the tables have %d rows; were they moved?", len(rows))
	}
	packages, plain := map[string]*testPackage{}, map[string]bool{}
	for _, row := range rows {
		for column, tests := range row.tests {
			if column == 0 && len(tests) == 0 {
				t.Errorf("%s, %q: no test in a browser", row.story, row.criterion)
			}
			for _, test := range tests {
				if packages[test.folder] == nil {
					packages[test.folder] = testsOf(t, test.folder)
				}
				if problem := packages[test.folder].checkColumn(test, row.criterion, column); problem != "" {
					t.Errorf("%s, %q: %s %s", row.story, row.criterion, test, problem)
				}
			}
		}
		plain[row.story] = plain[row.story] || len(row.tests[1]) > 0
	}
	for story, tested := range plain {
		if !tested && story != "" {
			t.Errorf("%s is not tested without script", story)
		}
	}
}

// The founding document lies beside the clone where there is one.
func TestStoriesAreThoseOfTheSeed(t *testing.T) {
	files, _ := filepath.Glob("../shared/seeds/002_*.txt")
	if len(files) != 1 {
		t.Skip("SKIPPED: the founding document is not beside the clone; docs/stories.md is not compared with it")
	}
	var want []storyRow
	story, criteria := "", false
	for line := range strings.Lines(readFile(t, files[0])) {
		if m := regexp.MustCompile(`^\*\*Story (.+)\*\*`).FindStringSubmatch(line); m != nil {
			story, criteria = m[1], false
		}
		criterion, found := strings.CutPrefix(line, "  - ")
		if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "#") {
			criteria = strings.HasPrefix(line, "- Acceptance criteria")
		}
		if criteria && found {
			want = append(want, storyRow{story: story, criterion: strings.TrimSpace(criterion)})
		}
	}
	if len(want) < 30 {
		t.Fatalf("%d criteria in the document", len(want))
	}
	same := func(a, b storyRow) bool { return a.story == b.story && a.criterion == b.criterion }
	ways := func(r storyRow) bool { return r.story == "" }
	if got := slices.DeleteFunc(storyRows(readFile(t, "docs/stories.md")), ways); !slices.EqualFunc(got, want, same) {
		t.Errorf("docs/stories.md has\n%+v\nthe document has\n%+v", got, want)
	}
}

// The check of the river's speed is one command, which the page on performance names.
func TestPerformanceCheckIsDocumented(t *testing.T) {
	if !regexp.MustCompile(`(?m)^perf:.*\n\t.*go test .*-run TestH1\b.* \./e2e$`).MatchString(readFile(t, "Makefile")) {
		t.Error(`"make perf" does not run e2e TestH1`)
	}
	if !strings.Contains(readFile(t, "docs/performance.md"), "make perf") {
		t.Error(`docs/performance.md does not name "make perf"`)
	}
}

// storyRow is an acceptance criterion with its tests: in a browser, without script, beneath the page; or, without a
// story, a way to read with its tests.
type storyRow struct {
	story, criterion string
	tests            [3][]namedTest
}

// storyRows reads the rows "| criterion | tests | tests | tests |" under headings "### Story ...", and "| way | tests |"
// elsewhere.
func storyRows(document string) (rows []storyRow) {
	story := ""
	for line := range strings.Lines(document) {
		if name, found := strings.CutPrefix(strings.TrimSpace(line), "### Story "); found {
			story = name
		}
		if strings.HasPrefix(line, "## ") {
			story = ""
		}
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 4 && len(cells) != 6 || strings.Trim(cells[1], " -") == "" {
			continue
		}
		row := storyRow{story: story, criterion: strings.TrimSpace(cells[1])}
		if row.criterion == "criterion" || row.criterion == "way" {
			continue
		}
		for i, cell := range cells[2 : len(cells)-1] {
			row.tests[i] = namedTests(cell)
		}
		rows = append(rows, row)
	}
	return rows
}

// checkColumn says what is wrong with a test of a column of the stories, "" for nothing.
func (p *testPackage) checkColumn(n namedTest, criterion string, column int) string {
	if problem := p.check(n, criterion, false); problem != "" {
		return problem
	}
	uses := map[string]bool{}
	p.gather(n.function, map[string]bool{}, uses)
	switch {
	case column == 0 && !uses["browse"]:
		return "starts no browser"
	case column == 1 && !uses["noScript"]:
		return "does not switch script off"
	}
	return ""
}

// The check finds what it is for.
func TestStoryTableIsRead(t *testing.T) {
	rows := storyRows("### Story X1: One\n\n| criterion | in a browser | without script | beneath |\n|---|---|---|---|\n| A b. | `e2e TestOne/with script` | | `x TestTwo()` |\n")
	if len(rows) != 1 || rows[0].story != "X1: One" || len(rows[0].tests[0]) != 1 || len(rows[0].tests[1]) != 0 || rows[0].tests[2][0].folder != "x" {
		t.Fatalf("rows %+v", rows)
	}
	browser := testsOf(t, "e2e")
	for problem, column := range map[string]int{"starts no browser": 0, "does not switch script off": 1, "": 2} {
		if got := browser.checkColumn(namedTest{function: "TestKilledDuringRefresh", whole: true}, "", column); got != problem {
			t.Errorf("column %d: %q, want %q", column, got, problem)
		}
	}
}
