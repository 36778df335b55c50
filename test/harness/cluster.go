package harness

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// superuser is the only role of a cluster.
const superuser = "tokenfare"

// cluster is a Postgres server's data and the process that serves them.
type cluster struct {
	bin  string   // holds initdb and postgres
	as   *account // nil: who runs the tests
	dir  string   // holds data and log
	port int

	process *os.Process   // of the last start
	exited  chan struct{} // closed when it has ended
	err     error         // of waiting for it; read after exited is closed
}

// create makes the data and starts the server.
func (c *cluster) create(bin string) error {
	c.bin = bin
	as, err := serverAccount()
	if err != nil {
		return err
	}
	c.as = as
	if c.dir, err = c.as.directory(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	initdb := c.command(ctx, "initdb", syscall.SIGKILL, "-D", "data", "-U", superuser, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("make a Postgres cluster with %s: %w\n%s", initdb.Path, err, out)
	}
	// Somebody else may take the port between the look and the start.
	for range 3 {
		if c.port, err = freePort(); err != nil {
			return err
		}
		if err = c.start(); err == nil {
			return nil
		}
	}
	return err
}

// command is a program of the server's, in the cluster's directory; it gets a signal when the test process ends before it.
func (c *cluster) command(ctx context.Context, name string, orphaned syscall.Signal, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, name), args...)
	cmd.Dir = c.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"} // nothing like PGOPTIONS
	tie(cmd, orphaned, c.as)
	return cmd
}

// start serves the cluster and returns when it accepts connections.
func (c *cluster) start() error {
	log, err := os.OpenFile(filepath.Join(c.dir, "log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := c.command(context.Background(), "postgres", syscall.SIGQUIT, "-D", "data", "-p", strconv.Itoa(c.port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
		"-c", "shared_buffers=16MB", "-c", "max_connections=50")
	cmd.Stdout, cmd.Stderr = log, log // files, not pipes: those would be waited for until the last of its processes is gone

	started, exited := make(chan error), make(chan struct{})
	go func() {
		// A child that is tied to its parent is tied to the thread that started it, which must not end sooner.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			c.err = cmd.Wait()
			close(exited)
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	c.process, c.exited = cmd.Process, exited
	return c.awaitReady(log.Name())
}

func (c *cluster) awaitReady(log string) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(Patience)
	for !c.ready() {
		select {
		case <-tick.C:
		case <-c.exited:
			text, _ := os.ReadFile(log)
			return fmt.Errorf("the Postgres server ended as it started: %w\n%s", c.err, tail(string(text), 20))
		case <-deadline:
			c.process.Kill()
			<-c.exited
			text, _ := os.ReadFile(log)
			return fmt.Errorf("the Postgres server accepts no connections after %s\n%s", Patience, tail(string(text), 20))
		}
	}
	return nil
}

// ready reports whether the server accepts connections. It says so in the eighth line of a file, next to its process id
// in the first; asking the port could reach somebody else's server.
func (c *cluster) ready() bool {
	text, err := os.ReadFile(filepath.Join(c.dir, "data", "postmaster.pid"))
	if err != nil {
		return false
	}
	lines := strings.Split(string(text), "\n")
	return len(lines) >= 8 && lines[0] == strconv.Itoa(c.process.Pid) && strings.TrimSpace(lines[7]) == "ready"
}

// running reports whether the process of the last start has not ended.
func (c *cluster) running() bool {
	if c.process == nil {
		return false
	}
	select {
	case <-c.exited:
		return false
	default:
		return true
	}
}

// end sends the server a signal that ends it and waits until it has ended.
func (c *cluster) end(how syscall.Signal) error {
	if c.process == nil {
		return nil
	}
	if err := c.process.Signal(how); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the Postgres server: %w", err)
	}
	select {
	case <-c.exited:
	case <-time.After(Patience):
		c.process.Kill()
		<-c.exited
		return fmt.Errorf("the Postgres server still ran %s after %s", Patience, how)
	}
	if c.err != nil {
		return fmt.Errorf("the Postgres server ended: %w", c.err)
	}
	return nil
}

// discard ends the server at once and removes its data.
func (c *cluster) discard() error {
	return errors.Join(c.end(syscall.SIGQUIT), os.RemoveAll(c.dir))
}

func (c *cluster) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)) }

// Port is a port that a program can be given, ended and given again: nobody else is handed it meanwhile.
func Port(t testing.TB) int {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// freePort is a port below those that systems hand out by themselves: nobody is given it while the server is stopped.
func freePort() (int, error) {
	for range 100 {
		port := 20000 + rand.IntN(10000)
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			l.Close()
			return port, nil
		}
	}
	return 0, errors.New("a hundred ports between 20000 and 29999 of 127.0.0.1 are taken")
}
