// Package trigger has the means by which a workflow looks at what a poll brought (SPEC.md W4): the language of
// its filters, and the part of a document that it watches.
//
// What follows from what is seen is decided by package freshet. It keeps compiled filters, as many as are in
// use, and nothing else; it fetches and stores nothing. No filter and no document makes it panic or run for
// long.
package trigger

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"freshet"
)

const (
	mostNodes    = 1000    // of a filter
	mostMemory   = 100_000 // units of the filter's language, of one run
	mostCompiled = 1000
)

// compile reads a filter: a condition of github.com/expr-lang/expr over the fields of an entry.
func compile(filter string) (*vm.Program, error) {
	return expr.Compile(filter, expr.Env(freshet.Entry{}), expr.AsBool(), expr.MaxNodes(mostNodes),
		expr.DisableBuiltin("repeat"), expr.DisableBuiltin("now"))
}

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
	passes, err := machine.Run(program, *e)
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
