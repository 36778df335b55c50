package main

import (
	"bufio"
	"io"
	"sync"
	"time"
)

// flushEvery is how long a log line may stay in memory.
const flushEvery = 200 * time.Millisecond

// bufferedWriter gathers log lines and writes them on a timer: a system call for every request would be felt. It is safe for
// concurrent use.
type bufferedWriter struct {
	mu   sync.Mutex
	w    *bufio.Writer // guarded by mu
	to   io.Writer
	stop chan struct{}
	done chan struct{}
}

func newBufferedWriter(w io.Writer) *bufferedWriter {
	b := &bufferedWriter{w: bufio.NewWriterSize(w, 64<<10), to: w, stop: make(chan struct{}), done: make(chan struct{})}
	go b.run()
	return b
}

// Write keeps p until the next flush, or until there is too much of it.
func (b *bufferedWriter) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, err := b.w.Write(p)
	return n, b.forgiveLocked(err)
}

// Close writes what is left and ends the timer.
func (b *bufferedWriter) Close() error {
	close(b.stop)
	<-b.done
	return b.flush()
}

func (b *bufferedWriter) run() {
	defer close(b.done)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = b.flush() // where logs cannot be written there is nobody to tell
		case <-b.stop:
			return
		}
	}
}

func (b *bufferedWriter) flush() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.forgiveLocked(b.w.Flush())
}

// forgiveLocked drops the lines that could not be written: a bufio.Writer that failed once would stay silent for ever, also
// when the disk has room again.
func (b *bufferedWriter) forgiveLocked(err error) error {
	if err != nil {
		b.w.Reset(b.to)
	}
	return err
}
