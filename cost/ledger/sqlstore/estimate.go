package sqlstore

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// figure is a member of an estimate's JSON.
type figure struct {
	name string
	n    *int64
}

// figuresOf are those that are no parts of the input. Most are 0, and not written then.
func figuresOf(e *cost.Estimate) [9]figure {
	return [...]figure{
		{"max_output", &e.MaxOutput},
		{"beyond", &e.Beyond},
		{"pictures", &e.Pictures},
		{"milliseconds", &e.Milliseconds},
		{"characters", &e.Characters},
		{"hosted_calls", &e.HostedCalls},
		{"hosted_tokens", &e.HostedTokens},
		{"hosted_fee", (*int64)(&e.HostedFee)},
		{"fees", (*int64)(&e.Fees)},
	}
}

// estimateOf is JSON of an estimate: its basis, its tokens by part, how far each part can be trusted where that is less than
// exactly, and what else it says.
func estimateOf(e cost.Estimate) string {
	b := append(make([]byte, 0, 96), `{"basis":"`...)
	b = append(append(b, e.Basis.String()...), '"')
	number := func(name string, n int64) {
		if n != 0 {
			b = append(append(append(b, `,"`...), name...), `":`...)
			b = strconv.AppendInt(b, n, 10)
		}
	}
	for p, n := range e.ByPart {
		number(cost.Part(p).String(), n)
	}
	for _, f := range figuresOf(&e) {
		number(f.name, *f.n)
	}
	open := `,"basis_of":{"`
	for p, basis := range e.BasisOf {
		if basis != cost.Exact {
			b = append(append(append(b, open...), cost.Part(p).String()...), `":"`...)
			b = append(append(b, basis.String()...), '"')
			open = `,"`
		}
	}
	if open == `,"` {
		b = append(b, '}')
	}
	return string(append(b, '}'))
}

// readEstimate reads what estimateOf wrote. Parts that are not known any more count as others.
func readEstimate(column string) (e cost.Estimate, err error) {
	var members map[string]any
	decoder := json.NewDecoder(strings.NewReader(column))
	decoder.UseNumber()
	if err := decoder.Decode(&members); err != nil {
		return e, fmt.Errorf("%w: estimate %.40q: %w", ledger.ErrCorrupt, column, err)
	}
	e.Basis = basisNamed(members["basis"])
	delete(members, "basis")
	if of, ok := members["basis_of"].(map[string]any); ok {
		for name, basis := range of {
			e.BasisOf[partOf(name)] = basisNamed(basis)
		}
	}
	delete(members, "basis_of")
	for _, f := range figuresOf(&e) {
		if *f.n, err = integer(members[f.name]); err != nil {
			return e, fmt.Errorf("%w: estimate: %s: %w", ledger.ErrCorrupt, f.name, err)
		}
		delete(members, f.name)
	}
	for name, v := range members {
		n, err := integer(v)
		if err != nil {
			return e, fmt.Errorf("%w: estimate: %s: %w", ledger.ErrCorrupt, name, err)
		}
		e.ByPart[partOf(name)] += n
		e.Input += n
	}
	return e, nil
}

// integer is the number of a JSON member, 0 if it is none.
func integer(v any) (int64, error) {
	if n, ok := v.(json.Number); ok {
		return n.Int64()
	}
	return 0, nil
}

// basisNamed is a basis by its name, the weakest if it is not known any more.
func basisNamed(name any) cost.Basis {
	basis := cost.Exact
	for basis < cost.Assumed && basis.String() != name {
		basis++
	}
	return basis
}

func partOf(name string) cost.Part {
	for p := range cost.Parts {
		if cost.Part(p).String() == name {
			return cost.Part(p)
		}
	}
	return cost.PartOther
}
