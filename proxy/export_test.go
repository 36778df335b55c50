package proxy

// EndingNames are the names of all endings, in the order of their table.
func EndingNames() []string {
	var names []string
	for _, row := range endings {
		names = append(names, row.name)
	}
	return names
}

// Remembered is of how many refused requests the estimate is known.
func (s *Server) Remembered() int {
	s.memo.mu.Lock()
	defer s.memo.mu.Unlock()
	return len(s.memo.known)
}
