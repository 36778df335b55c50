package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// patience is how long a server may take to start or to end.
const patience = 30 * time.Second

// process is a server under measurement.
type process struct {
	addr string // where it serves
	cmd  *exec.Cmd
	in   io.Closer // closed to end a role
	done chan struct{}
	work []int // processes that do the work for this one; empty: it does it itself
}

// startRole starts this program again as one of its roles.
func startRole(role string, args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(self, append([]string{rolePrefix + role}, args...)...), done: make(chan struct{})}
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.in = in
	line, err := bufio.NewReader(out).ReadString('\n')
	go p.wait()
	if err != nil {
		p.stop() //nolint:errcheck // that it did not start is what there is to say
		return nil, fmt.Errorf("the %s server did not start: %w", role, err)
	}
	p.addr = strings.TrimSpace(line)
	return p, nil
}

func (p *process) wait() {
	p.cmd.Wait() //nolint:errcheck // how it ended is in ProcessState
	close(p.done)
}

// stop ends the server and waits for it.
func (p *process) stop() error {
	if p.in != nil {
		p.in.Close()
	} else if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.done:
	case <-time.After(patience):
		p.cmd.Process.Kill() //nolint:errcheck // it is the last resort
		<-p.done
		return fmt.Errorf("%s did not end within %s of being told to", p.cmd.Path, patience)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("%s ended with status %d", p.cmd.Path, code)
	}
	return nil
}

// tick is the unit of /proc/PID/stat: USER_HZ, which is 100 on every architecture Go runs Linux on.
const tick = 10 * time.Millisecond

// pids are the processes that are measured.
func (p *process) pids() []int { return append([]int{p.cmd.Process.Pid}, p.work...) }

// cpu is the processor time the process has used, with those that work for it.
func (p *process) cpu() (sum time.Duration, err error) {
	for _, pid := range p.pids() {
		took, err := cpuOf(pid)
		if err != nil {
			return 0, err
		}
		sum += took
	}
	return sum, nil
}

// cpuOf is the processor time a process and its ended children have used: utime, stime, cutime and cstime of proc_pid_stat(5). Zero
// where there is no /proc.
func cpuOf(pid int) (time.Duration, error) {
	stat, err := read(pid, "stat")
	if stat == nil || err != nil {
		return 0, err
	}
	// The second field is the program's name in parentheses and may hold anything; the third follows the last parenthesis.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const third = 3
	if len(fields) <= 17-third {
		return 0, fmt.Errorf("/proc/%d/stat is too short", pid)
	}
	var ticks int64
	for _, field := range fields[14-third : 17-third+1] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read /proc/%d/stat: %w", pid, err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}

// resetPeak makes peak count from now on.
func (p *process) resetPeak() error {
	if runtime.GOOS != "linux" {
		return nil
	}
	var errs []error
	for _, pid := range p.pids() {
		errs = append(errs, os.WriteFile(path(pid, "clear_refs"), []byte("5"), 0)) // 5 resets VmHWM, see proc_pid_clear_refs(5)
	}
	return errors.Join(errs...)
}

// peak is the most memory the process has had resident since resetPeak, in bytes, with those that work for it.
func (p *process) peak() (sum int64, err error) {
	for _, pid := range p.pids() {
		n, err := peakOf(pid)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// peakOf is the most memory a process has had resident. Zero where there is no /proc.
func peakOf(pid int) (int64, error) {
	status, err := read(pid, "status")
	if status == nil || err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	number, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
	kib, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read VmHWM of /proc/%d/status: %w", pid, err)
	}
	return kib << 10, nil
}

func read(pid int, file string) ([]byte, error) {
	if runtime.GOOS != "linux" {
		return nil, nil
	}
	return os.ReadFile(path(pid, file))
}

func path(pid int, file string) string { return fmt.Sprintf("/proc/%d/%s", pid, file) }
