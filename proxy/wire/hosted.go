package wire

import (
	"slices"

	"github.com/tokenfare/tokenfare/cost"
)

var (
	responseToolShape = newShape("type", "name", "function", "custom", "container", "environment", "vector_store_ids", "input_image_mask", "tools")
	containerShape    = newShape("type", "file_ids", "memory_limit", "container_id", "skills")
	maskShape         = newShape("image_url", "file_id")
)

// callersTools are run by the caller and cost nothing but tokens.
var callersTools = []string{"function", "custom", "local_shell", "apply_patch", "computer", "computer_use_preview", "namespace", "tool_search"}

// responseTools reads the tool definitions, those of tools that the provider runs included.
func (r *reader) responseTools() error {
	var elsewhere, where string
	return r.toolList(responseToolShape, func(kind *string, name string) error {
		switch name {
		case "type":
			return r.toolKind(kind)
		case "container":
			return r.container(&elsewhere)
		case "environment": // of a shell
			return r.container(&where)
		case "vector_store_ids":
			return r.stored(name)
		case "input_image_mask":
			return r.mask()
		case "tools": // of a namespace, which counts as a whole
			before := len(r.req.Cost.Tools)
			err := r.responseTools()
			r.req.Cost.Tools = r.req.Cost.Tools[:before]
			return err
		default:
			return r.skip()
		}
	}, func(kind string) error {
		callers := slices.Contains(callersTools, kind) || kind == "shell" && where == "local"
		if !callers {
			r.req.Cost.Hosted = append(r.req.Cost.Hosted, cost.Hosted{Type: kind})
		}
		where = ""
		return nil
	})
}

// container reads where code is to run: at the caller, or in a container that the provider makes for the call, of the size
// that it makes by default.
func (r *reader) container(kind *string) error {
	if r.next() == '"' {
		return r.stored("container")
	}
	if r.next() != '{' {
		return r.skip()
	}
	return r.object(containerShape, func(name string) error {
		switch name {
		case "type":
			return r.choice(func(word string) error {
				*kind = word
				return nil
			})
		case "file_ids":
			return r.refs(MountedRef)
		case "container_id", "skills":
			return r.stored(name)
		case "memory_limit":
			return r.choice(func(word string) error {
				if word != "1g" {
					return r.fail(CodeUnsupportedMember, `%s must be "1g": larger containers have other prices. Leave it out.`)
				}
				return nil
			})
		default:
			return r.skip()
		}
	})
}

// mask reads which part of a picture is to be made anew.
func (r *reader) mask() error {
	if r.next() != '{' {
		return r.skip()
	}
	return r.object(maskShape, func(name string) error {
		if name == "file_id" {
			return r.ref(PictureRef)
		}
		return r.skip()
	})
}
