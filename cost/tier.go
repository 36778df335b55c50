package cost

// Tier is the service tier a call was served in: the provider's word for how fast, how surely and for how much.
type Tier uint8

// The tiers, from the cheapest to the dearest as they are priced today.
const (
	Unstated Tier = iota // the answer does not say: priced as the dearest that the call may have been
	Batch
	Flex
	Standard
	Priority
	OtherTier // a word we do not know: priced as the dearest we do
)

// ParseTier reads the word for a tier in an answer. "default" is the standard tier, and so is "scale": its capacity is
// paid for in advance, and what a call costs is its share. "auto" asks and does not tell.
func ParseTier(s string) Tier {
	switch s {
	case "", "auto":
		return Unstated
	case "default", "standard", "scale":
		return Standard
	case "batch":
		return Batch
	case "flex":
		return Flex
	case "priority":
		return Priority
	default:
		return OtherTier
	}
}

// String is the tier's word in configurations, price lists and logs.
func (t Tier) String() string {
	switch t {
	case Unstated:
		return "unstated"
	case Batch:
		return "batch"
	case Flex:
		return "flex"
	case Standard:
		return "default"
	case Priority:
		return "priority"
	default:
		return "other"
	}
}
