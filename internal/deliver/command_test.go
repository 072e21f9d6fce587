//go:build unix

package deliver

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"freshet"
)

func runCommand(t *testing.T, within time.Duration, argv ...string) freshet.Attempt {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	d := delivery("")
	d.Do = freshet.Action{Type: freshet.Command, Command: argv}
	return command{allowed: true}.Do(ctx, d)
}

func TestCommand(t *testing.T) {
	data := string(delivery("").Data)
	t.Setenv("FRESHET_TOKEN", "hunter22")
	for name, c := range map[string]struct {
		argv        []string
		error, says string
	}{
		"gets the data":             {[]string{"cat"}, "", data},
		"arguments are not shelled": {[]string{"echo", "$HOME; ls `pwd` *"}, "", "$HOME; ls `pwd` *"},
		"is told which":             {[]string{"sh", "-c", "echo $FRESHET_EXECUTION $FRESHET_ATTEMPT $FRESHET_WORKFLOW $FRESHET_WORKFLOW_NAME"}, "", "1234567890123 3 42 News"},
		"gets no secrets":           {[]string{"sh", "-c", "echo token=$FRESHET_TOKEN"}, "", "token="},
		"does not read":             {[]string{"true"}, "", ""},
		"fails":                     {[]string{"sh", "-c", "echo oops >&2; exit 3"}, "sh ended with exit code 3.", "oops"},
		"is killed":                 {[]string{"sh", "-c", "kill -9 $$"}, "sh was ended by a signal.", ""},
		"is not there":              {[]string{"/nowhere/at-all"}, "There is no program at-all.", ""},
		"is not there in PATH":      {[]string{"no-such-program-here"}, "There is no program no-such-program-here.", ""},
		"is no program":             {[]string{"/etc/passwd"}, "passwd may not be run.", ""},
		"none is named":             {nil, "The action names no program.", ""},
	} {
		if a := runCommand(t, 10*time.Second, c.argv...); a.Error != c.error || a.Answer != c.says {
			t.Errorf("%s: %+v, want %q and %q", name, a, c.error, c.says)
		}
	}
}

func TestCommandIsBounded(t *testing.T) {
	if a := runCommand(t, 10*time.Second, "sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x"); a.Error != "" || len(a.Answer) != mostAnswer {
		t.Errorf("a flood of output: %q and %d bytes", a.Error, len(a.Answer))
	}
	// What it started ends with it, and does not write on.
	file := filepath.Join(t.TempDir(), "alive")
	a := runCommand(t, 200*time.Millisecond, "sh", "-c", "(sleep 1; touch "+file+") & sleep 60")
	if !strings.Contains(a.Error, "did not end within 15 s") {
		t.Errorf("%+v", a)
	}
	list, err := filepath.Glob("/proc/*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range list {
		if env, err := os.ReadFile(name); err == nil && strings.Contains(string(env), "FRESHET_EXECUTION=1234567890123") {
			t.Errorf("%s still runs", filepath.Dir(name))
		}
	}
}
