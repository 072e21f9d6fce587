package freshet_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The table of docs/architecture.md says which packages there are and what each may import of ours; the
// code must agree.
func TestArchitecture(t *testing.T) {
	allowed := importTable(readFile(t, "docs/architecture.md"))
	if len(allowed) < 10 {
		t.Fatalf("the table has %d packages; was it moved?", len(allowed))
	}
	actual := ourImports(t)
	for name, imports := range actual {
		may, documented := allowed[name]
		if !documented {
			t.Errorf("%s is not in the table of docs/architecture.md", name)
			continue
		}
		for _, imported := range imports {
			if !slices.Contains(may, imported) && !slices.Contains(may, "all") {
				t.Errorf("%s imports %s; docs/architecture.md allows %v", name, imported, may)
			}
		}
	}
	for name := range allowed {
		if _, exists := actual[name]; !exists {
			t.Errorf("docs/architecture.md lists %s, which has no code", name)
		}
	}
}

// importTable reads the rows "| `package` | sentence | `import`, `import` |".
func importTable(document string) map[string][]string {
	allowed := map[string][]string{}
	for line := range strings.Lines(document) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`") {
			continue
		}
		name := strings.Trim(cells[1], " `")
		allowed[name] = []string{}
		for imported := range strings.SplitSeq(cells[3], ",") {
			if imported = strings.Trim(imported, " `"); imported != "none" {
				allowed[name] = append(allowed[name], imported)
			}
		}
	}
	return allowed
}

// ourImports returns what each package of the module imports of the module, tests left out.
func ourImports(t *testing.T) map[string][]string {
	found := map[string][]string{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != "." && !ofTheModule(file) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		name := nameOf(path.Dir(filepath.ToSlash(file)))
		if _, seen := found[name]; !seen {
			found[name] = []string{}
		}
		for _, imported := range importsOf(t, file) {
			if !slices.Contains(found[name], imported) {
				found[name] = append(found[name], imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// ofTheModule says whether a folder may hold packages of this module.
func ofTheModule(folder string) bool {
	name := filepath.Base(folder)
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return name != "testdata" && !strings.HasPrefix(name, ".") && err != nil
}

// importsOf returns what a file imports of the module.
func importsOf(t *testing.T, file string) []string {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var ours []string
	for _, spec := range parsed.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		if imported == "freshet" {
			ours = append(ours, imported)
		} else if inside, ok := strings.CutPrefix(imported, "freshet/"); ok {
			ours = append(ours, inside)
		}
	}
	return ours
}

// nameOf is a package's name in the table: its folder, or the module for the root.
func nameOf(folder string) string {
	if folder == "." {
		return "freshet"
	}
	return folder
}

func TestImportTable(t *testing.T) {
	got := importTable("| package | is for | imports of ours |\n|---|---|---|\n| `a/b` | sentence | `c`, `d` |\n| `e` | other | none |\ntext | `f` |\n")
	if len(got) != 2 || !slices.Equal(got["a/b"], []string{"c", "d"}) || len(got["e"]) != 0 {
		t.Errorf("read %v", got)
	}
}
