// Package trigger has the means by which a workflow looks at what a poll brought (SPEC.md W4): the language of
// its filters, and the part of a document that it watches.
//
// What follows from what is seen is decided by package freshet. It keeps compiled filters, as many as are in
// use, and nothing else; it fetches and stores nothing. No filter and no document makes it panic or run for
// long.
package trigger

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"

	"freshet"
)

const (
	mostNodes    = 1000    // of a filter
	mostMemory   = 100_000 // units of the filter's language, of one run
	mostCompiled = 1000
)

// fields are what a filter sees of an entry.
type fields struct {
	Title     string `expr:"title"`
	Link      string `expr:"link"`
	GUID      string `expr:"guid"`
	Author    string `expr:"author"`
	Summary   string `expr:"summary"`
	Published string `expr:"published"`
	Change    string `expr:"change"`
}

func fieldsOf(e *freshet.Entry) fields {
	return fields{e.Title, e.Link, e.GUID, e.Author, e.Summary, e.Published, string(cmp.Or(e.Change, freshet.ChangeNew))}
}

// functions are those that a filter may use. Each takes time in proportion to its input and returns no more.
var functions = []string{
	"len", "lower", "upper", "trim", "trimPrefix", "trimSuffix", "hasPrefix", "hasSuffix", "indexOf", "lastIndexOf",
	"int", "float", "string", "abs", "ceil", "floor", "round", "min", "max", "date", "duration",
}

// compile reads a filter: a condition of github.com/expr-lang/expr over the fields of an entry, without what
// could take long.
func compile(filter string) (*vm.Program, error) {
	options := []expr.Option{expr.Env(fields{}), expr.AsBool(), expr.MaxNodes(mostNodes), expr.DisableAllBuiltins()}
	for _, name := range functions {
		options = append(options, expr.EnableBuiltin(name))
	}
	program, err := expr.Compile(filter, options...)
	if err != nil {
		return nil, err
	}
	bounds := &bounded{}
	root := program.Node()
	ast.Walk(&root, bounds)
	if bounds.fault != "" {
		return nil, errors.New(bounds.fault)
	}
	return program, nil
}

// bounded looks for what a short filter could spend any time on, whatever the memory it may take: loops within
// loops, texts that grow, and patterns that come from a feed.
type bounded struct{ fault string }

// Visit looks at one node.
func (b *bounded) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.PredicateNode:
		b.fault = "there are no loops such as any and filter"
	case *ast.VariableDeclaratorNode, *ast.SequenceNode:
		b.fault = "it must be one condition, without variables"
	case *ast.BinaryNode:
		_, fixed := n.Right.(*ast.StringNode)
		switch {
		case n.Operator == "+" && isText(n):
			b.fault = "texts cannot be joined with +"
		case n.Operator == "matches" && !fixed:
			b.fault = "the pattern of matches must be a text in quotes"
		}
	}
}

func isText(n ast.Node) bool { return n.Type() != nil && n.Type().Kind() == reflect.String }

// Check returns every field of a definition that cannot be used, the filter included (W1).
func Check(d *freshet.Definition) freshet.FieldErrors {
	bad := d.Check()
	if reason := checkFilter(d.Filter); reason != "" {
		bad = append(bad, freshet.FieldError{Field: "filter", Reason: reason})
	}
	if c := d.Trigger.Config; c.JSONPath != "" {
		if _, err := parsePath(c.JSONPath); err != nil {
			bad = append(bad, freshet.FieldError{Field: "trigger.config.json_path", Reason: "cannot be read: " + err.Error()})
		}
	}
	return bad
}

var position = regexp.MustCompile(`\((\d+):(\d+)\)`)

// checkFilter says why a filter cannot be used, "" when it can.
func checkFilter(filter string) string {
	if strings.TrimSpace(filter) == "" {
		return ""
	}
	_, err := compile(filter)
	if err == nil {
		return ""
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	reason := strings.TrimSpace(position.ReplaceAllString(first, ""))
	if at := position.FindStringSubmatch(err.Error()); at != nil {
		reason = fmt.Sprintf("%s (line %s, column %s)", reason, at[1], at[2])
	}
	return "cannot be used: " + reason +
		`. It is a condition such as title contains "Go" and not (author == "bot"), over title, link, guid, author, summary, published and change`
}

// Filters runs filters; each is compiled once. It may be used from many goroutines.
type Filters struct {
	mu       sync.Mutex
	compiled map[string]*vm.Program // nil for one that does not compile
}

// Passes says whether a filter lets an entry through. One that it cannot judge passes: it is better seen than
// lost.
func (f *Filters) Passes(filter string, e *freshet.Entry) bool {
	if strings.TrimSpace(filter) == "" {
		return true
	}
	program := f.program(filter)
	if program == nil {
		return true
	}
	machine := vm.VM{MemoryBudget: mostMemory}
	passes, err := machine.Run(program, fieldsOf(e))
	ok, isBool := passes.(bool)
	return err != nil || !isBool || ok
}

func (f *Filters) program(filter string) *vm.Program {
	f.mu.Lock()
	defer f.mu.Unlock()
	program, known := f.compiled[filter]
	if !known {
		program, _ = compile(filter)
		if f.compiled == nil || len(f.compiled) >= mostCompiled {
			f.compiled = map[string]*vm.Program{}
		}
		f.compiled[filter] = program
	}
	return program
}
