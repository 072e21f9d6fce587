package freshet_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
)

// Programs branch on the codes of failures: the comment that lists them must have all that the code gives.
func TestFailureCodesAreListed(t *testing.T) {
	source, err := os.ReadFile("failure.go")
	if err != nil {
		t.Fatal(err)
	}
	given := failureCodes(t)
	for _, known := range []string{"timeout", "not_a_page", "not_a_feed", "internal", "dns"} {
		if given[known] == "" {
			t.Errorf("the search for codes finds no %q; has it gone blind?", known)
		}
	}
	for code, where := range given {
		if !strings.Contains(string(source), strconv.Quote(code)) {
			t.Errorf("%s gives the code %q, which Failure.Code does not list", where, code)
		}
	}
}

// failureCodes finds the codes that are written out in our packages, each with a place where it is.
func failureCodes(t *testing.T) map[string]string {
	given, fset := map[string]string{}, token.NewFileSet()
	add := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if code, err := strconv.Unquote(lit.Value); err == nil && code != "" {
				given[code] = fset.Position(lit.Pos()).String()
			}
		}
	}
	packages := map[string][]*ast.File{}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		packages[path.Dir(name)] = append(packages[path.Dir(name)], file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, files := range packages {
		eachCode(files, add)
	}
	return given
}

// eachCode calls found for what a package makes the code of a failure: in a literal, by assignment, and as the
// argument of a function of its own whose parameter is called so.
func eachCode(files []*ast.File, found func(ast.Expr)) {
	codeAt := map[string]int{}
	inspect(files, func(n ast.Node) {
		if f, ok := n.(*ast.FuncDecl); ok {
			at := 0
			for _, field := range f.Type.Params.List {
				for _, name := range field.Names {
					if name.Name == "code" {
						codeAt[f.Name.Name] = at
					}
					at++
				}
			}
		}
	})
	inspect(files, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if !isFailure(n.Type) {
				break
			}
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && kv.Key.(*ast.Ident).Name == "Code" {
					found(kv.Value)
				}
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if s, ok := left.(*ast.SelectorExpr); ok && s.Sel.Name == "Code" && i < len(n.Rhs) {
					found(n.Rhs[i])
				}
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok {
				if at, has := codeAt[f.Name]; has && at < len(n.Args) {
					found(n.Args[at])
				}
			}
		}
	})
}

func inspect(files []*ast.File, see func(ast.Node)) {
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool { see(n); return true })
	}
}

func isFailure(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "Failure"
	case *ast.SelectorExpr:
		return e.Sel.Name == "Failure"
	}
	return false
}
