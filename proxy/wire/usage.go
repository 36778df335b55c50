package wire

import (
	"errors"
	"math"
	"strconv"

	"github.com/tokenfare/tokenfare/cost"
)

// usageSum gathers usage objects: of each figure it keeps the largest, since some providers report as they go.
type usageSum struct {
	usage    cost.Usage
	reported bool // a usage object was understood
	invalid  bool // there was one that cannot be true
}

// add takes the text of a usage object. One without any figure says nothing.
func (u *usageSum) add(text []byte) {
	usage, figures, err := parseUsage(text)
	switch {
	case err != nil:
		u.invalid = true
	case figures:
		u.merge(usageSum{usage: usage, reported: true})
	}
}

func (u *usageSum) merge(other usageSum) {
	u.reported = u.reported || other.reported
	u.invalid = u.invalid || other.invalid
	u.usage = u.usage.Larger(other.usage)
}

// final is the usage in its normal form. Some providers report cached input beside the input rather than inside it;
// without this, subtracting it would give credit.
func (u *usageSum) final() cost.Usage { return u.usage.Normal() }

var errUsage = errors.New("usage figures must be plain whole numbers")

// parseUsage reads a usage object, in the words of chat completions or in those of the other endpoints. The output is the larger of
// what is said to be it and what the total leaves beside the input: some providers leave reasoning out of the former only. A
// recording may be billed by its length alone, in seconds.
func parseUsage(text []byte) (u cost.Usage, figures bool, err error) {
	var total, hasPrompt, completion, milliseconds int64
	r := newReader(text, nil) // a usage is no request
	defer r.release()
	if r.next() != '{' {
		return u, false, errUsage
	}
	err = r.members(func(name string) error {
		switch name {
		case "prompt_tokens", "input_tokens":
			hasPrompt = 1
			return r.figure(&u.Input, &figures)
		case "completion_tokens", "output_tokens":
			return r.figure(&completion, &figures)
		case "seconds":
			return r.seconds(&milliseconds, &figures)
		case "total_tokens":
			return r.figure(&total, &figures)
		case "prompt_tokens_details", "input_tokens_details", "input_token_details":
			return r.details(func(name string) *int64 {
				switch name {
				case "cached_tokens":
					return &u.CachedInput
				case "cache_write_tokens":
					return &u.CacheWrite
				case "audio_tokens":
					return &u.AudioInput
				case "image_tokens":
					return &u.ImageInput
				}
				return nil
			})
		case "completion_tokens_details", "output_tokens_details", "output_token_details":
			return r.details(func(name string) *int64 {
				switch name {
				case "reasoning_tokens":
					return &u.Reasoning
				case "audio_tokens":
					return &u.AudioOutput
				case "image_tokens":
					return &u.ImageOutput
				}
				return nil
			})
		default:
			return r.skip()
		}
	})
	if hasPrompt == 0 {
		u.Input = max(0, total-completion)
	}
	u.Output = max(completion, total-u.Input)
	u.Milliseconds = milliseconds
	return u, figures, err
}

// seconds reads a length in seconds, or null, into milliseconds.
func (r *reader) seconds(into *int64, found *bool) error {
	if null, err := r.null(); null || err != nil {
		return err
	}
	if r.next() != '0' {
		return errUsage
	}
	at, err := r.scalar()
	if err != nil {
		return err
	}
	const longest = 1e9
	s, err := strconv.ParseFloat(string(r.body[at.start:at.end]), 64)
	if err != nil || s < 0 || s > longest {
		return errUsage
	}
	*into, *found = max(*into, int64(math.Ceil(1000*s))), true
	return nil
}

// details reads the figures of a details object, or null. into says where those go that matter.
func (r *reader) details(into func(name string) *int64) error {
	if null, err := r.null(); null || err != nil {
		return err
	}
	if r.next() != '{' {
		return errUsage
	}
	return r.members(func(name string) error {
		if figure := into(name); figure != nil {
			var any bool
			return r.figure(figure, &any)
		}
		return r.skip()
	})
}

// figure reads a number of tokens, or null. Of a repeated member it keeps the largest.
func (r *reader) figure(into *int64, found *bool) error {
	if null, err := r.null(); null || err != nil {
		return err
	}
	if r.next() != '0' {
		return errUsage
	}
	at, err := r.scalar()
	if err != nil {
		return err
	}
	n, ok := plainInteger(r.body[at.start:at.end])
	if !ok {
		return errUsage
	}
	*into, *found = max(*into, n), true
	return nil
}
