package harness

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"sync"
)

// Line is one structured log line.
type Line map[string]any

// String is a member of the line, "" when it is absent or no string.
func (l Line) String(name string) string {
	s, _ := l[name].(string)
	return s
}

// logs collects what the program writes.
type logs struct {
	mu     sync.Mutex
	err    bytes.Buffer
	stdout bytes.Buffer
	more   chan struct{} // closed and replaced at every write
}

func newLogs() *logs { return &logs{more: make(chan struct{})} }

// Write takes the program's standard error.
func (l *logs) Write(p []byte) (int, error) { return l.append(&l.err, p) }

// out takes the program's standard output.
func (l *logs) out() io.Writer {
	return writerFunc(func(p []byte) (int, error) { return l.append(&l.stdout, p) })
}

func (l *logs) append(to *bytes.Buffer, p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.more)
	l.more = make(chan struct{})
	return to.Write(p)
}

func (l *logs) changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.more
}

// lines are the complete structured lines so far.
func (l *logs) lines() []Line {
	var out []Line
	for text := range strings.Lines(l.String()) {
		var line Line
		if json.Unmarshal([]byte(text), &line) == nil {
			out = append(out, line)
		}
	}
	return out
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err.String()
}

func (l *logs) printed() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stdout.String()
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
