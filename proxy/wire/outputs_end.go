package wire

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// end appends the events that finish what is open, and returns all items as they are then, in their order: what a provider writes whose
// model has reached its limit.
func (o *outputs) end(dst []byte, write func(dst []byte, kind string, members []member) []byte) (_, all []byte) {
	all = []byte{'['}
	for _, place := range slices.Sorted(maps.Keys(o.items)) {
		item := o.items[place]
		if len(item.members) == 0 {
			continue
		}
		if !item.done {
			dst = item.end(dst, place, write)
		}
		if len(all) > 1 {
			all = append(all, ',')
		}
		all = append(all, object(item.members)...)
	}
	return dst, append(all, ']')
}

// end appends what finishes an item.
func (i *output) end(dst []byte, place int64, write func(dst []byte, kind string, members []member) []byte) []byte {
	kind, id := stringOf(i.members, "type"), valueOf(i.members, "id")
	event := func(name string, members ...member) {
		of := []member{{"output_index", strconv.AppendInt(nil, place, 10)}}
		if len(id) > 0 {
			of = append([]member{{"item_id", id}}, of...)
		}
		dst = write(dst, name, append(of, members...))
	}
	i.endParts(event)
	pieced := itemKindOf([]byte(kind)) == piecedItem
	for name, p := range pieceKinds {
		if p.list != "" || p.of != kind || i.bare {
			continue
		}
		said := marshal(string(i.said))
		if len(i.said) == 0 {
			if begun := valueOf(i.members, p.member); len(begun) > 0 && begun[0] == '"' {
				said = begun
			}
		}
		if i.members = withMember(i.members, p.member, said); i.hasSaid {
			continue
		}
		done := []member{{p.member, said}}
		if called := valueOf(i.members, "name"); kind == "function_call" && len(called) > 0 {
			done = append([]member{{"name", called}}, done...)
		}
		event(name+".done", done...)
	}
	if pieced || valueOf(i.members, "status") != nil && strings.HasSuffix(kind, "_call") && kind != "apply_patch_call" && kind != "image_generation_call" {
		i.members = withMember(i.members, "status", []byte(`"incomplete"`))
	}
	if pieced { // of others nobody has seen more than that they have begun
		id = nil
		event("response.output_item.done", member{"item", object(i.members)})
	}
	return dst
}

// endParts finishes the parts of an item, and puts them into it.
func (i *output) endParts(event func(name string, members ...member)) {
	lists := map[string][]byte{}
	places := slices.SortedFunc(maps.Keys(i.parts), func(a, b partPlace) int {
		if n := strings.Compare(b.list, a.list); n != 0 { // summaries come first
			return n
		}
		return int(min(1, max(-1, a.index-b.index)))
	})
	for _, place := range places {
		part := i.parts[place]
		at := member{place.list + "_index", strconv.AppendInt(nil, place.index, 10)}
		if !part.done {
			part.end(at, event)
			name := "response.content_part.done"
			if place.list == "summary" {
				name = "response.reasoning_summary_part.done"
			}
			event(name, at, member{"part", object(part.members)})
		}
		list := lists[place.list]
		if list != nil {
			list = append(list, ',')
		}
		lists[place.list] = append(list, object(part.members)...)
	}
	for _, name := range []string{"summary", "content"} {
		if list := lists[name]; list != nil {
			i.members = withMember(i.members, name, append(append([]byte{'['}, list...), ']'))
		}
	}
}

// end puts into a part what was said of it, and says that this is all.
func (p *outputPart) end(at member, event func(name string, members ...member)) {
	if len(p.annotations) > 0 {
		notes := []byte{'['}
		for n, note := range p.annotations {
			if n > 0 {
				notes = append(notes, ',')
			}
			notes = append(notes, note...)
		}
		p.members = withMember(p.members, "annotations", append(notes, ']'))
	}
	of := stringOf(p.members, "type")
	for name, kind := range pieceKinds {
		if kind.list+"_index" != at.name || kind.of != of {
			continue
		}
		said := marshal(stringOf(p.members, kind.member) + string(p.said))
		p.members = withMember(p.members, kind.member, said)
		if p.hasSaid {
			continue
		}
		done := []member{at, {kind.member, said}}
		if of == "output_text" {
			done = append(done, member{"logprobs", []byte("[]")})
		}
		event(name+".done", done...)
	}
}

// valueOf is the value of a member; nil: there is none.
func valueOf(members []member, name string) []byte {
	for _, m := range members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// stringOf is that of a member that is a string.
func stringOf(members []member, name string) (value string) {
	if text := valueOf(members, name); len(text) > 0 && text[0] == '"' && json.Unmarshal(text, &value) != nil {
		return ""
	}
	return value
}
