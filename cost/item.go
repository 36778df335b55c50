package cost

// Item is one line of a bill: a kind of thing that has a price of its own. Every token of a call, and every unit that is
// not a token, belongs to exactly one of them.
type Item uint8

// The items. Prices are in nano-dollars per million of the item's unit, which is a token except where it says otherwise.
const (
	Input            Item = iota // text that was neither read from nor written to the provider's cache, and what has no other kind
	CachedInput                  // text read from the cache
	CacheWrite                   // text written to the cache
	AudioInput                   // audio that was not read from the cache
	CachedAudioInput             // audio read from the cache
	ImageInput                   // images that were not read from the cache
	CachedImageInput             // images read from the cache
	Output                       // text, and what has no other kind
	Reasoning                    // text that is made and not shown
	AudioOutput                  // speech
	ImageOutput                  // pictures, where they are billed by token
	PerImage                     // pictures made, where they are billed by piece; the unit is one picture
	PerSecond                    // audio heard or made, where it is billed by length; the unit is a second
	PerCharacter                 // text to be spoken, where it is billed by length; the unit is a character

	// Items is the number of items: the length of Rates and of Quantities.
	Items = int(PerCharacter) + 1
)

var itemNames = [Items]string{
	"input", "cached_input", "cache_write", "audio_input", "cached_audio_input", "image_input", "cached_image_input",
	"output", "reasoning", "audio_output", "image_output", "per_image", "per_second", "per_character",
}

// String is the item's name, as it stands in configurations and price lists.
func (i Item) String() string {
	if int(i) >= Items {
		return "unknown"
	}
	return itemNames[i]
}

// ItemNamed finds an item by the name that String gives it.
func ItemNamed(name string) (Item, bool) {
	for i, n := range itemNames {
		if n == name {
			return Item(i), true
		}
	}
	return 0, false
}

// IsInput reports whether the item is a kind of input token.
func (i Item) IsInput() bool { return i <= CachedImageInput }

// IsOutput reports whether the item is a kind of output token.
func (i Item) IsOutput() bool { return i >= Output && i <= ImageOutput }

// PerUnit reports whether people state its price for one unit ($0.04 a picture) rather than for a million.
func (i Item) PerUnit() bool { return i >= PerImage }

// parent is the item whose price holds where an item has none: what is known of no special price costs what the rest of
// its kind costs. Items without a parent are free where they have no price.
func (i Item) parent() (Item, bool) {
	switch i {
	case CachedInput, CacheWrite, AudioInput, ImageInput:
		return Input, true
	case CachedAudioInput:
		return AudioInput, true
	case CachedImageInput:
		return ImageInput, true
	case Reasoning, AudioOutput, ImageOutput:
		return Output, true
	default:
		return 0, false
	}
}
