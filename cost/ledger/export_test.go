package ledger

// KeepLate puts the rows of a ticket's group into the journal, as one does who saw that they were neither there nor in the store, and whom
// the machine made wait since.
func KeepLate(t Ticket) {
	t.writer.keeping <- struct{}{}
	defer func() { <-t.writer.keeping }()
	t.writer.keep(t.group)
}
