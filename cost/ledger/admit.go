package ledger

import "fmt"

// mortal is a store whose writer others take for dead when it has been silent for long.
type mortal interface {
	// Living reports that nobody can have done so yet.
	Living() bool
}

// Admit returns nil if something new may be spent: the ledger can be written, or its writer serves without. Else the error
// matches [ErrUnavailable]. A process that others may have taken for dead spends nothing until it knows that none has: what it
// begins meanwhile could not be recorded.
func (w *Writer) Admit() error {
	if w.options.Serve {
		return nil
	}
	if err := w.Err(); err != nil {
		return err
	}
	if store, ok := w.store.(mortal); ok && !store.Living() {
		return fmt.Errorf("%w: this process was silent for so long that others may have taken it for dead", ErrUnavailable)
	}
	return nil
}
