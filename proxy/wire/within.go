package wire

import (
	"strings"

	"github.com/tokenfare/tokenfare/cost"
)

// foreignWithin are the members of a body that hold values for a server's own use, with those of them that are as foreign as any in the
// body itself: by the first it takes another template, or puts in more than is sent, as the function can that fills templates in (Hugging
// Face); the second go where kv_transfer_params do (vLLM).
var foreignWithin = map[string]*shape{
	"chat_template_kwargs": newShape("chat_template", "padding", "max_length", "tokenizer_kwargs"),
	"vllm_xargs":           newShape("kv_transfer_params", "ec_transfer_params"),
}

// otherValues reads an object of values for a server's own use, of which a template can show all.
func (r *reader) otherValues(foreign *shape) error {
	if r.next() != '{' {
		return r.countText(cost.PartOther)
	}
	start := r.start()
	err := r.object(foreign, func(name string) error {
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

// foreignFields are the fields of a form that are as foreign there as in JSON. Limits are not among them: what is said of a recording has one
// of its own, and nothing else that forms ask for is text.
var foreignFields = func() *shape {
	var names []string
	for _, name := range foreignMembers {
		if name != "max_tokens" && name != "max_completion_tokens" && name != "max_output_tokens" {
			names = append(names, name)
		}
	}
	return newShape(names...)
}()

// isForeignField reports whether a field of a form is foreign, or could be taken for such, or for a part of one.
func isForeignField(name string) bool {
	name, _, _ = strings.Cut(name, "[")
	return foreignFields.resembles(name) != ""
}
