package deliver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"freshet"
)

// command runs a program of the operator's with the trigger data on its standard input (W7). There is no shell,
// and of our own environment, which may hold secrets, it gets only what programs need to run at all.
type command struct{ allowed bool }

// inherited are the variables that a command gets from us.
var inherited = []string{"PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT"}

func (c command) Do(ctx context.Context, d freshet.Delivery) freshet.Attempt {
	if !c.allowed {
		return final("Commands are not allowed here. Whoever runs Freshet can allow them with --allow-commands (FRESHET_ALLOW_COMMANDS=true).")
	}
	if len(d.Do.Command) == 0 {
		return final("The action names no program.")
	}
	var said output
	body, _ := bodyOf(d)
	program := exec.CommandContext(ctx, d.Do.Command[0], d.Do.Command[1:]...)
	program.Env = environment(d)
	program.Stdin = bytes.NewReader(body)
	program.Stdout, program.Stderr = &said, &said
	program.WaitDelay = time.Second // for what it left behind and that holds its output open
	asGroup(program)
	err := program.Run()
	a := freshet.Attempt{Answer: kept(said.text)}
	a.Error = ending(ctx, err, filepath.Base(d.Do.Command[0]))
	return a
}

// environment is what a command is told beside its input.
func environment(d freshet.Delivery) []string {
	env := []string{
		"FRESHET_EXECUTION=" + d.ID.String(), "FRESHET_ATTEMPT=" + strconv.Itoa(d.Attempts),
		"FRESHET_WORKFLOW=" + d.Workflow.String(), "FRESHET_WORKFLOW_NAME=" + d.WorkflowName,
	}
	for _, name := range inherited {
		if text, set := os.LookupEnv(name); set {
			env = append(env, name+"="+text)
		}
	}
	return env
}

// ending says why a program did not do well, "" when it did.
func ending(ctx context.Context, err error, name string) string {
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return ""
	case ctx.Err() != nil:
		return fmt.Sprintf("%s did not end within %d s and was stopped.", name, Timeout/time.Second)
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return fmt.Sprintf("%s ended with exit code %d.", name, exit.ExitCode())
	case exit != nil:
		return fmt.Sprintf("%s was ended by a signal.", name)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return fmt.Sprintf("There is no program %s.", name)
	case errors.Is(err, os.ErrPermission):
		return fmt.Sprintf("%s may not be run.", name)
	}
	return fmt.Sprintf("%s could not be run.", name)
}

// output keeps the beginning of what a program says and takes the rest.
type output struct{ text []byte }

func (o *output) Write(p []byte) (int, error) {
	o.text = append(o.text, p[:min(len(p), mostAnswer-len(o.text))]...)
	return len(p), nil
}
