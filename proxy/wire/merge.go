package wire

// MergeModels returns list with those entries of another model list appended that keep wants and list has not got. Entries
// keep their bytes.
func MergeModels(list, from []byte, keep func(id string) bool) ([]byte, error) {
	into, err := readModels(list)
	if err != nil {
		return nil, err
	}
	other, err := readModels(from)
	if err != nil {
		return nil, err
	}
	there := make(map[string]bool, len(into.entries)+len(other.entries))
	for _, entry := range into.entries {
		there[entry.id] = true
	}
	out := append(make([]byte, 0, len(list)+len(from)), list[:into.end]...)
	for _, entry := range other.entries {
		if there[entry.id] || !keep(entry.id) {
			continue
		}
		if into.items > 0 {
			out = append(out, ',')
		}
		out = append(out, entry.json...)
		there[entry.id] = true
		into.items++
	}
	return append(out, list[into.end:]...), nil
}
