package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// errDeaf says that the store neither answers nor stops when it is told to.
var errDeaf = errors.New("it does not answer, and does not stop when it is told to")

// answerCalls calls the store for attempt until there are no more calls. It is one goroutine for all of them, as a new one would
// have to grow its stack for each.
func (w *Writer) answerCalls() {
	for call := range w.calls {
		call()
	}
}

// attempt calls the store. One that does not answer for as long as a ticket waits is as good as none, and said to be so. After
// the limit it is told to stop, but waited for nevertheless: two commits at once might be one too many. Only when ctx has ended
// that comes to an end, too, and the store is not called again.
func (w *Writer) attempt(ctx context.Context, limit time.Duration, call func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answer := make(chan error, 1)
	w.calls <- func() { answer <- call(limited) }
	patience := time.NewTimer(w.options.Patience)
	defer patience.Stop()
	ended, last := ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case err := <-answer:
			return err
		case <-patience.C:
			w.unavailable(fmt.Errorf("it has not answered for %s", w.options.Patience))
		case <-ended:
			ended, last = nil, time.After(lastChances)
		case <-last:
			w.deaf = true
			return errDeaf
		}
	}
}
