package freshet_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// docs/scenarios.md maps each scenario of the founding documents to tests that exist, the first of which runs on
// both databases.
func TestScenariosHaveTests(t *testing.T) {
	rows := scenarioRows(readFile(t, "docs/scenarios.md"))
	if len(rows) < 80 {
		t.Fatalf("the tables have %d rows; were they moved?", len(rows))
	}
	packages := map[string]*testPackage{}
	for _, row := range rows {
		if len(row.tests) == 0 {
			t.Errorf("%q has no test", row.name)
		}
		for i, test := range row.tests {
			if packages[test.folder] == nil {
				packages[test.folder] = testsOf(t, test.folder)
			}
			if problem := packages[test.folder].check(test, row.name, i == 0); problem != "" {
				t.Errorf("%q: %s %s", row.name, test, problem)
			}
		}
	}
}

// The founding documents lie beside the clone where there are any.
func TestScenariosAreThoseOfTheSeeds(t *testing.T) {
	seeds := map[string]string{}
	for _, number := range []string{"000", "001", "003", "004"} {
		files, _ := filepath.Glob("../shared/seeds/" + number + "_*.txt")
		if len(files) != 1 {
			t.Skip("SKIPPED: the founding documents are not beside the clone; docs/scenarios.md is not compared with them")
		}
		seeds[number] = readFile(t, files[0])
	}
	var want, got []string
	for _, number := range []string{"000", "003"} {
		for _, heading := range regexp.MustCompile(`(?m)^#### Scenario: (.+)$`).FindAllStringSubmatch(seeds[number], -1) {
			want = append(want, number+" "+strings.TrimSpace(heading[1]))
		}
	}
	for _, name := range triggerScenarios(seeds["004"]) {
		want = append(want, "004 "+name)
	}
	for _, row := range scenarioRows(readFile(t, "docs/scenarios.md")) {
		if row.words != "" {
			if !strings.Contains(seeds["001"], row.words) {
				t.Errorf("the words of %q are not in the document: %s", row.name, row.words)
			}
			continue
		}
		for _, number := range row.seeds {
			got = append(got, number+" "+row.name)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("docs/scenarios.md has\n%s\nthe documents have\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// triggerScenarios lists what seed 004 wants shown: its unit tests by name, its lists of things to test, its expected
// errors and edge cases, its criteria; but for the share of coverage, which is a measurement.
func triggerScenarios(seed string) (names []string) {
	add := func(part, pattern string) {
		for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(part, -1) {
			if !strings.Contains(match[1], "coverage") && !slices.Contains(names, match[1]) {
				names = append(names, match[1])
			}
		}
	}
	section := func(heading string) string {
		_, rest, _ := strings.Cut(seed, "\n"+heading+"\n")
		part, _, _ := strings.Cut(rest, "\n#")
		return part
	}
	add(seed, "(?m)^- `(test_\\w+)\\(\\)`")
	add(seed, `(?m)^- \[ \] (.+)$`)
	add(section("### Manual Testing"), `(?m)^\d+\. (.+)$`)
	add(section("### Edge Cases"), `(?m)^\d+\. \*\*(.+?):\*\*`)
	add(section("### Expected Errors"), `(?m)^\| (\w+(?: \w+)?) \| .+ \| (?:Increment|Retry)`)
	return names
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// scenarioRow is a row of docs/scenarios.md: of a scenario with the numbers of its documents, or of a rule with
// the words of its document.
type scenarioRow struct {
	name  string
	seeds []string
	words string
	tests []namedTest
}

// namedTest is a test as the table names it.
type namedTest struct {
	folder, function string
	subtest          string // "" for one with the scenario's name
	whole            bool   // the test has no subtest for it
}

func (n namedTest) String() string { return n.folder + " " + n.function }

// scenarioRows reads the rows "| name | seeds or words | `package Test`, `package Test/subtest`, `package Test()` |".
func scenarioRows(document string) (rows []scenarioRow) {
	for line := range strings.Lines(document) {
		cells := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), `\|`, "\x00"), "|")
		if len(cells) != 5 || strings.Trim(cells[1], " -") == "" {
			continue
		}
		for i := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), "\x00", "|")
		}
		if cells[1] == "scenario" || cells[1] == "rule" {
			continue
		}
		row := scenarioRow{name: cells[1], tests: namedTests(cells[3])}
		if numbers := strings.Split(cells[2], ", "); len(numbers[0]) == 3 {
			row.seeds = numbers
		} else {
			row.words = cells[2]
		}
		rows = append(rows, row)
	}
	return rows
}

func namedTests(cell string) (tests []namedTest) {
	for _, quoted := range regexp.MustCompile("`([^` ]+) ([^`]+)`").FindAllStringSubmatch(cell, -1) {
		n := namedTest{folder: quoted[1], function: quoted[2]}
		if n.folder == "freshet" {
			n.folder = "."
		}
		n.function, n.whole = strings.CutSuffix(n.function, "()")
		n.function, n.subtest, _ = strings.Cut(n.function, "/")
		tests = append(tests, n)
	}
	return tests
}

// testPackage is the functions of a package's test files, by name.
type testPackage struct {
	functions map[string]*ast.FuncDecl
}

func testsOf(t *testing.T, folder string) *testPackage {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Errorf("%s has no tests (%v)", folder, err)
	}
	p := &testPackage{functions: map[string]*ast.FuncDecl{}}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				p.functions[f.Name.Name] = f
			}
		}
	}
	return p
}

// check says what is wrong with a test that the table names, "" for nothing.
func (p *testPackage) check(n namedTest, scenario string, both bool) string {
	if p.functions[n.function] == nil || !strings.HasPrefix(n.function, "Test") {
		return "does not exist"
	}
	texts := map[string]bool{}
	p.gather(n.function, texts, map[string]bool{})
	if both && !texts["postgres"] && !texts["PostgreSQL"] {
		return "comes first and does not run on both databases"
	}
	want := n.subtest
	if want == "" {
		want = scenario
	}
	named := func(text string) bool { return text == want || strings.HasPrefix(text, want+"/") }
	if !n.whole && !slices.ContainsFunc(slices.Collect(maps.Keys(texts)), named) {
		return fmt.Sprintf("has no subtest %q", want)
	}
	return ""
}

// gather collects the strings in a function and in the functions that it uses.
func (p *testPackage) gather(function string, texts, seen map[string]bool) {
	if seen[function] || p.functions[function] == nil {
		return
	}
	seen[function] = true
	ast.Inspect(p.functions[function], func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				texts[text] = true
			}
		case *ast.Ident:
			p.gather(n.Name, texts, seen)
		}
		return true
	})
}

// The check finds what it is for.
func TestScenarioTableIsRead(t *testing.T) {
	rows := scenarioRows("| scenario | seeds | tests |\n|---|---|---|\n| A b | 000, 003 | `internal/x TestOne`, `freshet TestTwo/sub test`, `x TestThree()` |\n| C | ok\\|partial | |\n")
	if len(rows) != 2 || rows[1].words != "ok|partial" || len(rows[1].tests) != 0 || !slices.Equal(rows[0].seeds, []string{"000", "003"}) {
		t.Fatalf("rows %+v", rows)
	}
	want := []namedTest{{"internal/x", "TestOne", "", false}, {".", "TestTwo", "sub test", false}, {"x", "TestThree", "", true}}
	if !slices.Equal(rows[0].tests, want) {
		t.Errorf("tests %+v, want %+v", rows[0].tests, want)
	}
	ours := testsOf(t, ".")
	for problem, n := range map[string]namedTest{
		"does not exist":    {function: "TestNothing"},
		"has no subtest":    {function: "TestDue", subtest: "made " + "up"},
		"on both databases": {function: "TestDue", whole: true},
	} {
		if got := ours.check(n, "A b", strings.Contains(problem, "both")); !strings.Contains(got, problem) {
			t.Errorf("%+v: %q, want %q", n, got, problem)
		}
	}
	if got := ours.check(namedTest{function: "TestDue"}, "Disabled source never polled", false); got != "" {
		t.Errorf("a good one: %s", got)
	}
}
