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

// FirstOf is the upstream, and the name it has for the model, that a caller's calls for a model go to first which name that key for the
// provider's cache.
func (p *Policy) FirstOf(model, caller, cacheKey string) string {
	r := p.pool(model).order(caller, cacheKey, model)[0]
	return r.upstream.Name + "/" + r.As
}

// Uncounting takes the estimator away, so that whatever counts a prompt panics, and returns what puts it back. Nothing may be called
// meanwhile that is not to be seen.
func (s *Server) Uncounting() (again func()) {
	estimator := s.options.Estimator
	s.options.Estimator = nil
	return func() { s.options.Estimator = estimator }
}
