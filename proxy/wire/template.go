package wire

import "github.com/tokenfare/tokenfare/cost"

// templateValues reads what a server's template is to be filled in with, besides the messages. A template can show all of it.
func (r *reader) templateValues() error {
	if r.next() != '{' {
		return r.countText(cost.PartOther)
	}
	start := r.start()
	err := r.object(templateShape, func(name string) error {
		if name != "" {
			return r.foreign()
		}
		return r.skip()
	})
	if err != nil {
		return err
	}
	text, err := r.compactFrom(start)
	if err == nil {
		r.count(cost.PartOther, text)
	}
	return err
}
