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
	return r.definitions(func(kind string, _ bool) error { return r.typed(kind) })
}

// itemTools reads the tool definitions that an item brings along. They are as good as those of the request itself, for as
// long as the item is a part of the prompt: where it is stored, in calls that do not show it, too.
func (r *reader) itemTools(it *item) error {
	return r.definitions(func(kind string, hosted bool) error {
		if hosted && r.req.lingers == nil {
			r.req.lingers = r.fail(CodeUnsupportedMember, "%s is a tool that the provider runs, in an item that is stored: calls that go on from it could not be metered. "+
				`Name the tool in "tools" of each call that is to have it, or say "store": false, without a conversation.`)
		}
		if it.untyped == nil {
			it.untyped = r.typed(kind)
		}
		return nil
	})
}

// definitions reads tool definitions. judge is told of each tool what kind it is, and whether the provider runs it.
func (r *reader) definitions(judge func(kind string, hosted bool) error) error {
	where := ""
	return r.toolList(responseToolShape, func(kind *string, name string) error {
		switch name {
		case "type":
			return r.toolKind(kind)
		case "container":
			return r.container()
		case "environment":
			return r.environment(&where)
		case "vector_store_ids":
			return r.stored(name)
		case "input_image_mask":
			return r.mask()
		case "tools": // of a namespace, which counts as a whole
			before := len(r.req.Cost.Tools)
			err := r.definitions(judge)
			r.req.Cost.Tools = r.req.Cost.Tools[:before]
			return err
		default:
			return r.skip()
		}
	}, func(kind string) error {
		hosted := kind != "" && !slices.Contains(callersTools, kind) && (kind != "shell" || where != "local")
		if hosted {
			r.req.Cost.Hosted = append(r.req.Cost.Hosted, cost.Hosted{Type: kind})
		}
		where = ""
		return judge(kind, hosted)
	})
}

// environment reads where a shell is to run, or what a computer is, which is a word.
func (r *reader) environment(where *string) error {
	if r.next() == '"' {
		return r.skip()
	}
	at, err := r.place()
	if *where = at.kind; err != nil || at.kind == "local" { // the caller has the skills
		return err
	}
	return at.skills
}

// container reads where code is to run.
func (r *reader) container() error {
	if r.next() == '"' {
		return r.stored("container")
	}
	at, err := r.place()
	if err != nil {
		return err
	}
	return at.skills
}

// A place is where code is to run.
type place struct {
	kind   string
	skills error // why it must not have those it names, unless the caller has them
}

// place reads where code is to run: at the caller, or in a container that the provider makes for the call, of the size that it
// makes by default.
func (r *reader) place() (at place, err error) {
	if r.next() != '{' {
		return at, r.skip()
	}
	err = r.object(containerShape, func(name string) error {
		switch name {
		case "type":
			return r.choice(func(word string) error {
				at.kind = word
				return nil
			})
		case "file_ids":
			return r.refs(MountedRef)
		case "container_id":
			return r.stored(name)
		case "skills":
			if null, err := r.null(); null || err != nil {
				return err
			}
			at.skills = r.stored(name)
			return r.skip()
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
	return at, err
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
