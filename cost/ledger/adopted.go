package ledger

// adopter is a store that several writers share, and that ends what those leave which die.
type adopter interface {
	// Adopted tells how many exchanges of other writers were ended by this store, and what keeps it from more at the moment.
	Adopted() (exchanges int64, trouble error)
}

// adopted is what was told last.
type adopted struct {
	exchanges int64
	trouble   bool
}

// tellAdopted tells what the store has ended since it was told last.
func (w *Writer) tellAdopted() {
	store, ok := w.store.(adopter)
	if !ok {
		return
	}
	n, trouble := store.Adopted()
	if more := n - w.told.exchanges; more > 0 {
		w.options.Log.Warn("ledger", "unfinished_calls_of_others", more, "charged", "all they had reserved, as their process is gone")
	}
	if trouble != nil && !w.told.trouble {
		w.options.Log.Error("what other processes left unfinished cannot be charged", "error", trouble)
	}
	w.told = adopted{n, trouble != nil}
}
