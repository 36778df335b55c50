package wire

import (
	"cmp"
	"slices"
	"strconv"
)

// Edits are the changes to make to a request on its way to the upstream. Zero fields leave the body alone.
type Edits struct {
	// Model is the name the upstream knows the model by.
	Model string
	// IncludeUsage asks for the usage event at the end of a stream. It is ignored when the answer is not streamed,
	// where providers refuse stream_options, and where an endpoint reports usage anyway.
	IncludeUsage bool
	// MaxOutput is the most tokens each choice may have. Where the caller gave a limit, in one member or two, it
	// replaces the number in each; otherwise the limit is written as OutputMember. Where an endpoint has no output, it is
	// ignored.
	MaxOutput int64
	// OutputMember is the member to write an output limit as: "max_completion_tokens" or "max_tokens" for chat. What the
	// endpoint does not know stands for the one it prefers.
	OutputMember string
	// RenameLimit writes a limit that the caller gave under the other name as OutputMember, for an upstream that knows
	// only that one.
	RenameLimit bool
	// NotStored has the provider store nothing, where it would do so by default.
	NotStored bool
	// MostRuns is how often the provider may run tools, where the caller does not say (max_tool_calls).
	MostRuns int64
}

// LimitMember is the member that an output limit is written as: prefer if the endpoint knows it, else the one that it
// does; empty if it knows none.
func (r *Request) LimitMember(prefer string) string {
	if prefer != "" && prefer == r.members[1] {
		return prefer
	}
	return r.members[0]
}

// A splice replaces a span of the body.
type splice struct {
	at   span
	text string
}

// Edit returns the body with the edits in it and every other byte as it came: the same slice if there is nothing to do,
// otherwise a new one. Reading the result gives the values asked for. It may be called more than once; each call starts
// from the body that was read.
func (r *Request) Edit(e Edits) []byte {
	parts := r.EditParts(e)
	if len(parts) == 1 {
		return parts[0]
	}
	return slices.Concat(parts...)
}

// EditParts is [Request.Edit] in parts, which share their memory with the body that was read.
func (r *Request) EditParts(e Edits) [][]byte {
	var splices []splice
	if e.Model != "" && e.Model != r.Model {
		splices = append(splices, r.spliceModel(e.Model))
	}
	if e.IncludeUsage && r.Stream && r.UsageOption && !r.IncludeUsage {
		splices = append(splices, r.spliceUsage())
	}
	if e.MaxOutput > 0 && r.members[0] != "" {
		splices = append(splices, r.spliceLimit(e)...)
	}
	if e.RenameLimit {
		splices = append(splices, r.renameLimit(e.OutputMember)...)
	}
	if e.MostRuns > 0 && r.runs && (!r.mostRuns.present || r.mostRuns.null) {
		splices = append(splices, r.spliceRuns(e.MostRuns))
	}
	if e.NotStored && r.Stores {
		splices = append(splices, r.spliceStore())
	}
	return spliced(r.body, splices)
}

// spliceModel writes the model's name.
func (r *Request) spliceModel(name string) splice {
	switch {
	case r.form && r.model == (span{}):
		return splice{span{}, r.delimiter + "\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\n" + name + "\r\n"}
	case r.form:
		return splice{r.model, name}
	case r.model == (span{}):
		return r.insert(`"model":` + quote(name))
	default:
		return splice{r.model, quote(name)}
	}
}

// spliceUsage writes include_usage: true into whatever there is of stream_options.
func (r *Request) spliceUsage() splice {
	const ask = `"include_usage":true`
	switch o := r.options; {
	case !o.present:
		return r.insert(`"stream_options":{` + ask + `}`)
	case o.null:
		return splice{o.value, `{` + ask + `}`}
	case o.usagePresent:
		return splice{o.usage, `true`}
	case o.empty:
		return splice{span{o.open, o.open}, ask}
	default:
		return splice{span{o.open, o.open}, ask + `,`}
	}
}

// spliceLimit writes the output limit. A null that is left behind beside it means absent to every parser; one that
// stands alone is overwritten, name and all.
func (r *Request) spliceLimit(e Edits) []splice {
	value := strconv.FormatInt(e.MaxOutput, 10)
	var splices []splice
	given := false
	for _, limit := range r.limits {
		if limit.present && !limit.null {
			given = true
			if limit.n != e.MaxOutput {
				splices = append(splices, splice{limit.value, value})
			}
		}
	}
	if given {
		return splices
	}
	want, other := r.limits[0], r.limits[1]
	member := r.members[0]
	if e.OutputMember != "" && e.OutputMember == r.members[1] {
		want, other, member = other, want, r.members[1]
	}
	switch {
	case want.present:
		return []splice{{want.value, value}}
	case other.present:
		return []splice{{span{other.name.start, other.value.end}, quote(member) + `:` + value}}
	default:
		return []splice{r.insert(quote(member) + `:` + value)}
	}
}

// renameLimit makes a limit known by the name of member, unless it is already. A null under that name gets the other's.
func (r *Request) renameLimit(member string) []splice {
	want, other, was := r.limits[0], r.limits[1], r.members[1]
	if member == r.members[1] {
		want, other, was = other, want, r.members[0]
	}
	switch {
	case !other.present || other.null || want.present && !want.null:
		return nil
	case want.present:
		return []splice{{other.name, quote(member)}, {want.name, quote(was)}}
	default:
		return []splice{{other.name, quote(member)}}
	}
}

// spliceRuns writes how often the provider may run tools.
func (r *Request) spliceRuns(n int64) splice {
	value := strconv.FormatInt(n, 10)
	if r.mostRuns.present {
		return splice{r.mostRuns.value, value}
	}
	return r.insert(`"max_tool_calls":` + value)
}

// insert puts a member first. It is never the only one: a body that was read has a prompt.
func (r *Request) insert(member string) splice {
	return splice{span{r.open, r.open}, member + `,`}
}

func spliced(body []byte, splices []splice) [][]byte {
	slices.SortStableFunc(splices, func(a, b splice) int { return cmp.Compare(a.at.start, b.at.start) })
	parts := make([][]byte, 0, 2*len(splices)+1)
	done := 0
	for _, s := range splices {
		parts = append(parts, body[done:s.at.start], []byte(s.text))
		done = s.at.end
	}
	return append(parts, body[done:])
}

func quote(s string) string { return string(appendQuoted(nil, s)) }
