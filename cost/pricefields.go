package cost

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// fileItems are the fields of a price file that are items of ours, whatever the model is used for.
var fileItems = map[string]Item{
	"input_cost_per_token":            Input,
	"cache_read_input_token_cost":     CachedInput,
	"input_cost_per_token_cache_hit":  CachedInput,
	"cache_creation_input_token_cost": CacheWrite,

	"input_cost_per_audio_token":        AudioInput,
	"cache_read_input_audio_token_cost": CachedAudioInput,
	"input_cost_per_image_token":        ImageInput,

	"output_cost_per_token":           Output,
	"output_cost_per_reasoning_token": Reasoning,
	"output_cost_per_audio_token":     AudioOutput,
	"output_cost_per_image_token":     ImageOutput,
	"output_cost_per_image":           PerImage,
}

// fileField takes the name of a field apart: cache_read_input_token_cost_above_272k_tokens_priority. A cache that is kept
// for an hour (_above_1hr) is another thing, which usage does not tell apart.
var fileField = regexp.MustCompile(`^([a-z_]+?)(?:_above_([0-9]{1,6})k_tokens)?(?:_(batches|flex|priority))?$`)

// fileCard reads what an entry says of its price. An error says why it cannot be metered.
func fileCard(name string, fields map[string]any) (Card, error) {
	var card Card
	for field, value := range fields {
		if err := card.readField(field, value, 0); err != nil {
			return Card{}, err
		}
	}
	if err := card.readSteps(fields["tiered_pricing"]); err != nil {
		return Card{}, err
	}
	if err := card.readUplift(fields); err != nil {
		return Card{}, err
	}
	if err := card.readUnits(name, fields); err != nil {
		return Card{}, err
	}
	card.mendWrites()
	if !card.Stated() {
		return Card{}, unmetered(fields)
	}
	return card, besides(fields)
}

// readField reads one field, if it is the price of an item. above is the threshold where its name has none.
func (c *Card) readField(field string, value any, above int64) error {
	parts := fileField.FindStringSubmatch(field)
	if parts == nil {
		return nil
	}
	item, ok := fileItems[parts[1]]
	if !ok || value == nil {
		return nil
	}
	if parts[2] != "" {
		thousands, err := strconv.ParseInt(parts[2], 10, 64)
		if err != nil {
			return fmt.Errorf("%s: %w", field, err)
		}
		above = thousands * 1000
	}
	rate, err := fileAmount(field, value)
	if err != nil {
		return err
	}
	c.column(parts[3]).Set(above, item, rate)
	return nil
}

// column is the one that a field's ending names.
func (c *Card) column(ending string) *Column {
	switch ending {
	case "batches":
		return &c.Batch
	case "flex":
		return &c.Flex
	case "priority":
		return &c.Priority
	default:
		return &c.Standard
	}
}

// readSteps reads a list of prices by size: {"range": [0, 256000], "input_cost_per_token": ...}.
func (c *Card) readSteps(list any) error {
	steps, _ := list.([]any)
	for _, step := range steps {
		fields, _ := step.(map[string]any)
		bounds, _ := fields["range"].([]any)
		if len(bounds) != 2 {
			return errors.New("tiered_pricing has a step without a range")
		}
		for field, value := range fields {
			if err := c.readField(field, value, fileLimit(bounds[0])); err != nil {
				return fmt.Errorf("tiered_pricing: %w", err)
			}
		}
	}
	return nil
}

func (c *Card) readUplift(fields map[string]any) error {
	for region, to := range map[string]*int64{"eu": &c.EU, "us": &c.US} {
		field := "regional_processing_uplift_multiplier_" + region
		if fields[field] == nil {
			continue
		}
		r, err := fileNumber(field, fields[field])
		if err != nil {
			return err
		}
		*to = roundedUp(r, tenThousandths)
	}
	return nil
}

// readUnits reads prices by piece, second and character, whose fields mean different things for different uses. Where a
// length has two prices they are two names of one: audio is heard or made, not both.
func (c *Card) readUnits(name string, fields map[string]any) error {
	mode, _ := fields["mode"].(string)
	set := func(item Item, names ...string) error {
		for _, field := range names {
			if fields[field] == nil {
				continue
			}
			rate, err := fileAmount(field, fields[field])
			if err != nil {
				return err
			}
			if had, ok := c.Standard.Rates[item]; !ok || rate > had {
				c.Standard.Set(0, item, rate)
			}
		}
		return nil
	}
	switch mode {
	case "audio_transcription":
		return set(PerSecond, "input_cost_per_second", "output_cost_per_second")
	case "audio_speech":
		if c.Standard.Rates[AudioOutput] <= 0 { // else it is what the tokens of a second come to
			if err := set(PerSecond, "output_cost_per_second"); err != nil {
				return err
			}
		}
		return set(PerCharacter, "input_cost_per_character", "output_cost_per_character")
	case "realtime":
		return set(ImageInput, "input_cost_per_image") // it is the price of an image token there
	case "image_generation", "image_edit":
		if err := set(PerImage, "input_cost_per_image"); err != nil {
			return err
		}
		if err := c.readPixels(name, fields); err != nil {
			return err
		}
	}
	if c.Standard.Rates[ImageOutput] > 0 {
		delete(c.Standard.Rates, PerImage) // it is what the tokens of a usual picture come to
	}
	return nil
}

// mendWrites takes out prices of cache writes that are lower than those of other input: no provider has such, and some
// entries have the price of reads there.
func (c *Card) mendWrites() {
	for _, column := range []*Column{&c.Standard, &c.Batch, &c.Flex, &c.Priority} {
		mend := func(rates map[Item]NanoUSD) {
			if write, ok := rates[CacheWrite]; ok && write < rates[Input] {
				delete(rates, CacheWrite)
			}
		}
		mend(column.Rates)
		for _, rates := range column.Long {
			mend(rates)
		}
	}
}

// unmetered says why an entry without any item of ours is skipped.
func unmetered(fields map[string]any) error {
	var priced []string
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if strings.Contains(field, "cost") {
			priced = append(priced, field)
		}
	}
	if len(priced) == 0 {
		return errors.New("it has no price")
	}
	return fmt.Errorf("it is priced by what is not metered here: %s", strings.Join(priced, ", "))
}

// besides says why an entry is skipped that bills more than what can be metered, on every call.
func besides(fields map[string]any) error {
	if request, ok := fields["input_cost_per_request"]; ok {
		if r, err := fileNumber("input_cost_per_request", request); err != nil || r.Sign() != 0 {
			return errors.New("it bills every request besides its tokens (input_cost_per_request)")
		}
	}
	if fields["litellm_provider"] == "perplexity" && fields["search_context_cost_per_query"] != nil {
		return errors.New("it bills its searches besides its tokens")
	}
	return nil
}
