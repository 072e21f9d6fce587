//go:build !unix

package deliver

import "os/exec"

// asGroup does nothing where there are no groups of processes.
func asGroup(*exec.Cmd) {}
