package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a program that was started here and is stopped here, by its id.
type process struct {
	*exec.Cmd
	log  string
	done chan struct{}
}

func start(folder, name string, env []string, program string, args ...string) (*process, error) {
	log, err := os.Create(filepath.Join(folder, name+".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd, log.Name(), make(chan struct{})}
	go func() { cmd.Wait(); close(p.done) }()
	return p, nil
}

// stop ends the process, politely first.
func (p *process) stop() {
	p.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(15 * time.Second):
		p.Process.Kill()
		<-p.done
	}
}

// ready waits until the process accepts connections on a port of 127.0.0.1.
func (p *process) ready(ctx context.Context, port int) error {
	for {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return conn.Close()
		}
		select {
		case <-p.done:
			said, _ := os.ReadFile(p.log)
			return fmt.Errorf("%s ended: %s", p.Path, said)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// freePort asks the system for a port that nobody listens on.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// ticks is the unit of times in /proc, USER_HZ, which is 100 on every Linux that Go runs on.
const ticks = 100

// cpu is the processor time of a process and of its children that ended, in seconds.
func cpu(pid int) (float64, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, after, ok := bytes.Cut(stat, []byte(") ")) // the name may hold spaces
	fields := strings.Fields(string(after))
	if !ok || len(fields) < 15 {
		return 0, errors.New("cannot read /proc/PID/stat")
	}
	sum := 0
	for _, field := range fields[11:15] { // utime, stime, cutime, cstime
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return float64(sum) / ticks, nil
}

// treeCPU is the processor time of a process, its children, and those of its children that ended.
func treeCPU(pid int) float64 {
	if pid == 0 {
		return 0
	}
	sum, _ := cpu(pid)
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for child := range strings.FieldsSeq(string(children)) {
		if id, err := strconv.Atoi(child); err == nil {
			sum += treeCPU(id)
		}
	}
	return sum
}

// memory is a figure of /proc/PID/status, such as VmRSS or VmHWM, in MB.
func memory(pid int, figure string) float64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		name, rest, _ := strings.Cut(line, ":")
		if fields := strings.Fields(rest); name == figure && len(fields) == 2 {
			kb, _ := strconv.Atoi(fields[0])
			return float64(kb) / 1024
		}
	}
	return 0
}
