package ledger

// Admit returns nil if something new may be spent: the ledger can be written, or its writer serves without. Else the error
// matches [ErrUnavailable].
func (w *Writer) Admit() error {
	if w.options.Serve {
		return nil
	}
	return w.Err()
}
