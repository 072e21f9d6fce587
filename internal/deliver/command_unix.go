//go:build unix

package deliver

import (
	"os/exec"
	"syscall"
)

// asGroup lets the end of a program's time end what it started, too.
func asGroup(program *exec.Cmd) {
	program.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	program.Cancel = func() error { return syscall.Kill(-program.Process.Pid, syscall.SIGKILL) }
}
