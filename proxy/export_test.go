package proxy

// EndingNames are the names of all endings, in the order of their table.
func EndingNames() []string {
	var names []string
	for _, row := range endings {
		names = append(names, row.name)
	}
	return names
}
