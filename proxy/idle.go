package proxy

import (
	"context"
	"io"
	"sync/atomic"
	"time"
)

// idleBody ends an answer whose upstream sends nothing for too long. Any byte counts as life, keep-alive comments included. Only the
// time counts in which it is read: a client may take its time, and so may a budget that an answer draws on.
type idleBody struct {
	io.ReadCloser
	limit  time.Duration
	cancel context.CancelCauseFunc
	before func() error // called before it waits, by the goroutine that reads, if it tells; nil: nobody wants to know
	tells  bool         // it says when it waits, and whoever finds something there pays for no timer
	waits  bool         // the timer runs
	timer  *time.Timer
	fired  atomic.Bool
}

// waiter is a body that can tell when reading it has to wait for the upstream.
type waiter interface{ BeforeWaiting(do func() error) }

func newIdleBody(body io.ReadCloser, limit time.Duration, cancel context.CancelCauseFunc) *idleBody {
	b := &idleBody{ReadCloser: body, limit: limit, cancel: cancel}
	var from waiter
	if from, b.tells = body.(waiter); b.tells {
		from.BeforeWaiting(func() error {
			if b.before != nil {
				if err := b.before(); err != nil {
					return err
				}
			}
			b.wait()
			return nil
		})
	}
	return b
}

func (b *idleBody) wait() {
	b.waits = true
	if b.timer != nil {
		b.timer.Reset(b.limit)
		return
	}
	b.timer = time.AfterFunc(b.limit, func() {
		b.fired.Store(true)
		b.cancel(errIdle)
	})
}

func (b *idleBody) Read(p []byte) (int, error) {
	if !b.tells {
		b.wait()
	}
	n, err := b.ReadCloser.Read(p)
	if b.waits {
		b.waits = false
		b.timer.Stop()
	}
	if err != nil && b.fired.Load() {
		err = errIdle
	}
	return n, err
}
