package sqlstore

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// other are the figures of a usage that have no column of their own: few exchanges have any.
type other struct {
	AudioInput   int64 `json:"audio_input,omitempty"`
	ImageInput   int64 `json:"image_input,omitempty"`
	CachedAudio  int64 `json:"cached_audio,omitempty"`
	CachedImage  int64 `json:"cached_image,omitempty"`
	AudioOutput  int64 `json:"audio_output,omitempty"`
	ImageOutput  int64 `json:"image_output,omitempty"`
	Images       int64 `json:"images,omitempty"`
	Milliseconds int64 `json:"milliseconds,omitempty"`
	Characters   int64 `json:"characters,omitempty"`
	Fees         int64 `json:"fees,omitempty"`
	Tier         uint8 `json:"tier,omitempty"`
	// Of a reservation; elsewhere they have columns.
	CachedInput int64 `json:"cached,omitempty"`
	CacheWrite  int64 `json:"cache_write,omitempty"`
	Reasoning   int64 `json:"reasoning,omitempty"`
}

// otherOf returns the JSON of such figures, "" if there are none.
func otherOf(u cost.Usage, columns bool) string {
	o := other{
		u.AudioInput, u.ImageInput, u.CachedAudio, u.CachedImage, u.AudioOutput, u.ImageOutput,
		u.Images, u.Milliseconds, u.Characters, int64(u.Fees), uint8(u.Tier), 0, 0, 0,
	}
	if !columns {
		o.CachedInput, o.CacheWrite, o.Reasoning = u.CachedInput, u.CacheWrite, u.Reasoning
	}
	if o == (other{}) {
		return ""
	}
	b, err := json.Marshal(o)
	if err != nil {
		panic("BUG: integers that JSON cannot hold: " + err.Error())
	}
	return string(b)
}

// into adds the figures to a usage.
func (o other) into(u *cost.Usage) {
	u.AudioInput, u.ImageInput, u.CachedAudio, u.CachedImage = o.AudioInput, o.ImageInput, o.CachedAudio, o.CachedImage
	u.AudioOutput, u.ImageOutput = o.AudioOutput, o.ImageOutput
	u.Images, u.Milliseconds, u.Characters = o.Images, o.Milliseconds, o.Characters
	u.Fees, u.Tier = cost.NanoUSD(o.Fees), cost.Tier(o.Tier)
	u.CachedInput += o.CachedInput
	u.CacheWrite += o.CacheWrite
	u.Reasoning += o.Reasoning
}

func readOther(column string, u *cost.Usage) error {
	if column == "" {
		return nil
	}
	var o other
	if err := json.Unmarshal([]byte(column), &o); err != nil {
		return fmt.Errorf("%w: other figures %.40q: %w", ledger.ErrCorrupt, column, err)
	}
	o.into(u)
	return nil
}

// chargesOf is JSON of charges: a list for each with the budget's number, N, and Late if there is any.
func (t *tx) chargesOf(charges []ledger.Charge) string {
	b := append(make([]byte, 0, 24*len(charges)+2), '[')
	for i, c := range charges {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		b = strconv.AppendInt(b, t.budget(c.Budget), 10)
		b = strconv.AppendInt(append(b, ','), c.N, 10)
		if c.Late != 0 {
			b = strconv.AppendInt(append(b, ','), c.Late, 10)
		}
		b = append(b, ']')
	}
	return string(append(b, ']'))
}

// readCharges reads what chargesOf wrote. It is called for every row of the last hours when a program begins, so it reads nothing else.
func readCharges(column string, budgets map[int64]ledger.Budget) ([]ledger.Charge, error) {
	corrupt := func() ([]ledger.Charge, error) {
		return nil, fmt.Errorf("%w: charges %.40q", ledger.ErrCorrupt, column)
	}
	rest, ok := strings.CutPrefix(column, "[")
	if !ok || !strings.HasSuffix(rest, "]") {
		return corrupt()
	}
	var charges []ledger.Charge
	for rest = rest[:len(rest)-1]; rest != ""; {
		var one string
		if one, rest, ok = strings.Cut(rest, "]"); !ok {
			return corrupt()
		}
		opening := "["
		if charges != nil {
			opening = ",["
		}
		if one, ok = strings.CutPrefix(one, opening); !ok {
			return corrupt()
		}
		var numbers [3]int64
		n := 0
		for number := range strings.SplitSeq(one, ",") {
			if n == len(numbers) {
				return corrupt()
			}
			var err error
			if numbers[n], err = strconv.ParseInt(number, 10, 64); err != nil {
				return corrupt()
			}
			n++
		}
		if n < 2 {
			return corrupt()
		}
		charges = append(charges, ledger.Charge{Budget: budgets[numbers[0]], N: numbers[1], Late: numbers[2]})
	}
	return charges, nil
}
