package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Patience is how long the harness waits for something that must happen.
const Patience = 30 * time.Second

// detector is what a program's race detector is told: to go on after a race, to end with a status of its own, and not to wait a second
// at each exit for races of goroutines that outlive main. Programs end hundreds of times here, and have stopped what they run by then.
const detector = "GORACE=halt_on_error=0 exitcode=66 atexit_sleep_ms=20"

// Program is the running program.
type Program struct {
	URL   string // of the proxy, without /v1
	Admin string // of the admin listener

	HTTP *http.Client // keeps enough idle connections for a load test; never decodes or retries

	binary string
	cmd    *exec.Cmd
	log    *logs
	dir    string
	env    []string
	config string
	term   sync.Once   // SIGTERM is sent once: a second one means "at once"
	over   atomic.Bool // it was killed, or its end was looked at
	exited chan struct{}
	err    error // of Wait; read after exited is closed
}

// Start writes the configuration, starts the program and waits until it is ready. It stops with the test, which fails
// unless the program then exits with status 0 and has reported no data race and no panic.
func Start(t testing.TB, c Config) *Program {
	t.Helper()
	return StartYAML(t, c.YAML())
}

// StartYAML is Start with a configuration file of the test's own making.
func StartYAML(t testing.TB, yaml string, env ...string) *Program {
	t.Helper()
	return start(t, Binary(t), yaml, env)
}

// StartPlain is StartYAML of a program without the race detector, for a test that measures its memory: the detector takes several times as
// much, so that a bound which allows for it bounds little.
func StartPlain(t testing.TB, yaml string, env ...string) *Program {
	t.Helper()
	return start(t, built(t, plain), yaml, env)
}

func start(t testing.TB, binary, yaml string, env []string) *Program {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &Program{binary: binary, dir: dir, env: env, config: config}
	return p.Restart(t)
}

// Restart starts a program that has ended once more, in the same directory and with the same configuration file.
func (p *Program) Restart(t testing.TB) *Program {
	t.Helper()
	p = p.Relaunch(t)
	p.awaitReady(t)
	return p
}

// Relaunch is Restart without waiting until the program is ready.
func (p *Program) Relaunch(t testing.TB) *Program {
	t.Helper()
	next := run(t, exec.Command(p.binary, "serve", "-config", p.config), p.dir, p.env)
	next.binary, next.dir, next.env, next.config = p.binary, p.dir, p.env, p.config
	return next
}

// StartWithin is Start of a program that may have so many files open.
func StartWithin(t testing.TB, files int, c Config) *Program {
	t.Helper()
	return StartYAMLWithin(t, files, c.YAML())
}

// StartYAMLWithin is StartWithin with a configuration file of the test's own making.
func StartYAMLWithin(t testing.TB, files int, yaml string) *Program {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	p := run(t, exec.Command("sh", "-c", `ulimit -n "$1" && shift && exec "$@"`, "sh", strconv.Itoa(files), Binary(t), "serve", "-config", config), dir, nil)
	p.awaitReady(t)
	return p
}

// Launch starts the program with arguments of the test's choice, in dir, and stops it with the test. It does not wait:
// AwaitListening does.
func Launch(t testing.TB, dir string, env []string, args ...string) *Program {
	t.Helper()
	return run(t, exec.Command(Binary(t), args...), dir, env)
}

func run(t testing.TB, cmd *exec.Cmd, dir string, env []string) *Program {
	t.Helper()
	p := &Program{log: newLogs(), exited: make(chan struct{}), HTTP: &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 2000, DisableCompression: true,
	}}}
	p.cmd = cmd
	p.cmd.Dir = dir
	p.cmd.Env = append(append(os.Environ(), env...), detector)
	p.cmd.Stdout, p.cmd.Stderr = p.log.out(), p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() {
		p.HTTP.CloseIdleConnections()
		p.Stop(t)
		for _, sign := range []string{"WARNING: DATA RACE", "panic:", "goroutine 1 [", "BUG:"} {
			if before, after, found := strings.Cut(p.log.String(), sign); found {
				line := before[strings.LastIndexByte(before, '\n')+1:]
				t.Errorf("the program printed %q:\n%s%s%.4000s", sign, line, sign, after)
			}
		}
		if t.Failed() {
			t.Logf("the program's stderr:\n%s", tail(p.log.String(), 40))
		}
	})
	return p
}

// AwaitListening waits for the log line that names the address of a listener, "proxy" or "admin", and returns the
// address.
func (p *Program) AwaitListening(t testing.TB, listener string) string {
	t.Helper()
	line := p.AwaitLog(t, "listening on "+listener, func(l Line) bool {
		return l.String("msg") == "listening" && l.String("listener") == listener
	})
	return line.String("addr")
}

// AwaitLog waits for a log line that matches and returns it.
func (p *Program) AwaitLog(t testing.TB, what string, match func(Line) bool) Line {
	t.Helper()
	deadline := time.After(Patience)
	for {
		more := p.log.changed()
		for _, l := range p.log.lines() {
			if match(l) {
				return l
			}
		}
		select {
		case <-more:
		case <-p.exited:
			t.Fatalf("the program exited (%v) before it logged: %s\n%s", p.err, what, p.log)
		case <-deadline:
			t.Fatalf("no log line in %s: %s\n%s", Patience, what, p.log)
		}
	}
}

func (p *Program) awaitReady(t testing.TB) {
	t.Helper()
	p.URL = "http://" + p.AwaitListening(t, "proxy")
	p.Admin = "http://" + p.AwaitListening(t, "admin")
	for _, base := range []string{p.URL, p.Admin} {
		Eventually(t, base+"/readyz answers 200", func() bool {
			resp, err := p.HTTP.Get(base + "/readyz")
			if err != nil {
				return false
			}
			defer resp.Body.Close()
			return resp.StatusCode == http.StatusOK
		})
	}
}

// Freeze holds the program up in the middle of whatever it does, and returns when it stands still. Thaw lets it go on.
func (p *Program) Freeze(t testing.TB) {
	t.Helper()
	p.Signal(t, syscall.SIGSTOP)
	Eventually(t, "the program stands still", func() bool {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range tasks { // none, where there is no /proc
			stat, err := os.ReadFile(task)
			if err != nil {
				continue // it has just ended
			}
			// The state follows the name in parentheses, which may hold anything; see proc_pid_stat(5).
			if state := stat[bytes.LastIndexByte(stat, ')')+1:]; !bytes.HasPrefix(state, []byte(" T ")) {
				return false
			}
		}
		return true
	})
}

// Thaw lets a program go on that Freeze has held up.
func (p *Program) Thaw(t testing.TB) {
	t.Helper()
	p.Signal(t, syscall.SIGCONT)
}

// Kill ends the program at once, in the middle of whatever it does, and returns when it has ended.
func (p *Program) Kill(t testing.TB) {
	t.Helper()
	p.over.Store(true)
	p.Signal(t, syscall.SIGKILL)
	<-p.exited
}

// Stop sends SIGTERM and fails the test unless the program exits with status 0. Stopping twice is harmless, and so is stopping one
// that has ended another way that the test wanted.
func (p *Program) Stop(t testing.TB) {
	t.Helper()
	if p.over.Load() {
		return
	}
	p.Terminate(t)
	p.WantExit(t, 0)
}

// Terminate sends SIGTERM, once, and returns at once.
func (p *Program) Terminate(t testing.TB) {
	t.Helper()
	p.term.Do(func() { p.Signal(t, syscall.SIGTERM) })
}

// WantExit waits for the program's end and checks its exit status.
func (p *Program) WantExit(t testing.TB, status int) {
	t.Helper()
	defer p.over.Store(true)
	select {
	case <-p.exited:
	case <-time.After(Patience):
		p.cmd.Process.Signal(syscall.SIGQUIT) // prints where it hangs
		<-p.exited
		t.Errorf("the program still ran %s after it was told to stop", Patience)
		return
	}
	var exit *exec.ExitError
	switch {
	case p.err == nil && status == 0:
	case errors.As(p.err, &exit) && exit.ExitCode() == status:
	default:
		t.Errorf("the program ended with %v, want exit status %d", p.err, status)
	}
}

// Exited is closed when the program has ended.
func (p *Program) Exited() <-chan struct{} { return p.exited }

// Signal sends a signal to the program.
func (p *Program) Signal(t testing.TB, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
}

// Rewrite replaces the configuration file.
func (p *Program) Rewrite(t testing.TB, yaml string) {
	t.Helper()
	if err := os.WriteFile(p.config, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Stderr is everything the program has logged.
func (p *Program) Stderr() string { return p.log.String() }

// Stdout is everything the program has printed.
func (p *Program) Stdout() string { return p.log.printed() }

// PID is the number of the program's process.
func (p *Program) PID() int { return p.cmd.Process.Pid }

// Run runs a command of the program to its end and returns what it printed and its exit status.
func Run(t testing.TB, dir string, env []string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	return RunFor(t, Patience, dir, env, args...)
}

// RunFor is Run for what may take longer, or must not take so long.
func RunFor(t testing.TB, patience time.Duration, dir string, env []string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, Binary(t), args...)
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), env...), detector)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// Eventually polls until the condition holds and fails the test when it does not in time.
func Eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(Patience)
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within %s: %s", Patience, what)
		}
	}
}

func tail(s string, lines int) string {
	all := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
