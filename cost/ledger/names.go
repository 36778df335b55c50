package ledger

// Labels and model names come from callers, and hourly sums are kept for ever: beyond so many in one hour, those of a key are
// summed up under one name. The rows keep the names.
const (
	mostNames  = 500
	otherNames = "(other)"
)

// names remembers which labels and models a key has used in an hour.
type names struct {
	hour int64
	seen map[nameOf]int // 1: seen; of the empty name: how many there are
}

type nameOf struct{ key, kind, name string }

// fold returns the name under which something is summed up.
func (n *names) fold(hour int64, key, kind, name string) string {
	if hour > n.hour || n.seen == nil {
		n.hour, n.seen = hour, map[nameOf]int{}
	}
	if name == "" {
		return ""
	}
	if n.seen[nameOf{key, kind, name}] > 0 {
		return name
	}
	count := nameOf{key, kind, ""}
	if n.seen[count] >= mostNames {
		return otherNames
	}
	n.seen[count]++
	n.seen[nameOf{key, kind, name}] = 1
	return name
}
