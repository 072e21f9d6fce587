// Testreport reads the output of "go test -json" and prints a line for each package, the output of what
// failed, and at the end what was skipped and why, which "go test" keeps to itself. It exits with 1 when
// something failed.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

func main() {
	if !report(os.Stdin, os.Stdout) {
		os.Exit(1)
	}
}

// event is a line of test2json, or of the go command about a build.
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64
}

// tally is what has been read so far.
type tally struct {
	out            io.Writer
	output         map[string]*strings.Builder // by package and test, until it ends
	builds         strings.Builder
	passed, failed int
	skipped        []string
}

// report prints the events of in and says whether nothing failed.
func report(in io.Reader, out io.Writer) bool {
	t := &tally{out: out, output: map[string]*strings.Builder{}}
	began := time.Now()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(out, lines.Text())
			continue
		}
		t.take(e)
	}
	fmt.Fprintf(out, "\n%d passed, %d failed, %d skipped in %s\n", t.passed, t.failed, len(t.skipped), time.Since(began).Round(time.Second))
	for _, s := range t.skipped {
		fmt.Fprintln(out, "SKIPPED", s)
	}
	if lines.Err() != nil {
		fmt.Fprintln(out, "read test output:", lines.Err())
	}
	return t.failed == 0 && lines.Err() == nil
}

func (t *tally) take(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		t.builds.WriteString(e.Output)
	case "build-fail":
		fmt.Fprint(t.out, t.builds.String())
		t.builds.Reset()
	case "output":
		if t.output[key] == nil {
			t.output[key] = &strings.Builder{}
		}
		t.output[key].WriteString(e.Output)
	case "pass", "fail", "skip":
		said := ""
		if b := t.output[key]; b != nil {
			said = b.String()
			delete(t.output, key)
		}
		if e.Test == "" {
			t.endPackage(e, said)
		} else {
			t.endTest(e, said)
		}
	}
}

func (t *tally) endTest(e event, said string) {
	switch e.Action {
	case "pass":
		t.passed++
	case "fail":
		t.failed++
		fmt.Fprintf(t.out, "FAIL %s %s\n%s", e.Package, e.Test, said)
	case "skip":
		t.skipped = append(t.skipped, fmt.Sprintf("%s %s: %s", e.Package, e.Test, reason(said)))
	}
}

// endPackage prints the package's line. A package may fail without a test that does: it does not
// build, or it panics or exits.
func (t *tally) endPackage(e event, said string) {
	switch e.Action {
	case "fail":
		t.failed++
		fmt.Fprintf(t.out, "FAIL %s\n%s", e.Package, said)
	case "pass":
		fmt.Fprintf(t.out, "ok   %s %.1fs\n", e.Package, e.Elapsed)
	}
}

// reason is what a test said when it skipped: the line that names its place in a file.
func reason(said string) string {
	for line := range strings.Lines(said) {
		if _, why, ok := strings.Cut(line, "_test.go:"); ok {
			_, why, _ = strings.Cut(why, ": ")
			return strings.TrimSpace(why)
		}
	}
	return "no reason given"
}
