package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// "go test ./..." hides what was skipped. This says it where it is seen: on the standard error of the go
// command, where the system lets us find it.
func TestSayWhatIsSkipped(t *testing.T) {
	var missing []string
	if os.Getenv("FRESHET_TEST_POSTGRES") == "" {
		missing = append(missing, "PostgreSQL (FRESHET_TEST_POSTGRES)")
	}
	browsers := []string{os.Getenv("FRESHET_TEST_CHROMIUM"), "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}
	if !slices.ContainsFunc(browsers, func(name string) bool { _, err := exec.LookPath(name); return err == nil }) {
		missing = append(missing, "a browser (FRESHET_TEST_CHROMIUM)")
	}
	if len(missing) == 0 {
		return
	}
	said := "SKIPPED: the tests that need " + strings.Join(missing, " and ") + `; "make test" brings what is missing`
	parent := fmt.Sprintf("/proc/%d", os.Getppid())
	if program, err := os.Readlink(parent + "/exe"); err == nil && filepath.Base(program) == "go" {
		if talk, err := os.OpenFile(parent+"/fd/2", os.O_WRONLY|os.O_APPEND, 0); err == nil {
			fmt.Fprintln(talk, said)
			talk.Close()
		}
	}
	t.Skip(said)
}
