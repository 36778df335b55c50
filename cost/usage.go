package cost

// Usage is what a call consumed, as the provider reported it or as we counted it. Details are parts of the totals and
// are never added to them. Reports come from outside and may say anything: Normal makes them possible.
type Usage struct {
	Input       int64 // every input token, cached or not, of whatever kind
	CachedInput int64 // the part of Input read from the provider's prompt cache
	CacheWrite  int64 // the part of Input written to the provider's prompt cache
	AudioInput  int64 // the part of Input that is audio
	ImageInput  int64 // the part of Input that is images
	CachedAudio int64 // the part of CachedInput that is audio
	CachedImage int64 // the part of CachedInput that is images

	Output      int64 // every output token, the hidden ones included
	Reasoning   int64 // the part of Output spent on hidden reasoning
	AudioOutput int64 // the part of Output that is audio
	ImageOutput int64 // the part of Output that is images

	Images       int64 // pictures made, where they are billed by piece
	Milliseconds int64 // length of audio, where it is billed by time
	Characters   int64 // characters to be spoken, where they are billed

	Fees NanoUSD // for tools that the provider ran

	Tier Tier // the service tier that the answer names
}

// Quantities are what a call consumed of each item: tokens, pictures, milliseconds (of PerSecond), characters. No unit
// is in two items.
type Quantities [Items]int64

// Normal is the nearest usage that can be true: no count is negative, and no parts are more than their whole. This is
// the one place that says so. Where parts contradict their whole, audio goes before images and images before text.
//
// Reports say how much was cached, and seldom of what kind. What is cached beyond the kinds reported is text as far as
// there is text, then images, then audio; what is written to the cache is text. Text is what prefixes are made of, and
// the kind with the least to gain from a cache, so the bill is rather too high than too low.
func (u Usage) Normal() Usage {
	n := Usage{
		Images: max(0, u.Images), Milliseconds: max(0, u.Milliseconds), Characters: max(0, u.Characters),
		Fees: max(0, u.Fees), Tier: u.Tier,
	}
	n.Input = max(0, u.Input)
	n.AudioInput = within(u.AudioInput, n.Input)
	n.ImageInput = within(u.ImageInput, n.Input-n.AudioInput)
	text := n.Input - n.AudioInput - n.ImageInput

	n.CachedInput = within(u.CachedInput, n.Input)
	n.CachedAudio = within(u.CachedAudio, min(n.AudioInput, n.CachedInput))
	n.CachedImage = within(u.CachedImage, min(n.ImageInput, n.CachedInput-n.CachedAudio))
	cachedText := n.CachedInput - n.CachedAudio - n.CachedImage
	if beyond := cachedText - text; beyond > 0 {
		images := min(beyond, n.ImageInput-n.CachedImage)
		n.CachedImage += images
		n.CachedAudio += beyond - images
		cachedText = text
	}
	n.CacheWrite = within(u.CacheWrite, text-cachedText)

	n.Output = max(0, u.Output)
	n.AudioOutput = within(u.AudioOutput, n.Output)
	n.ImageOutput = within(u.ImageOutput, n.Output-n.AudioOutput)
	n.Reasoning = within(u.Reasoning, n.Output-n.AudioOutput-n.ImageOutput)
	return n
}

// Quantities takes the usage apart into items. The kinds of input sum to the input of Normal, those of output to its
// output.
func (u Usage) Quantities() Quantities {
	u = u.Normal()
	cachedText := u.CachedInput - u.CachedAudio - u.CachedImage
	return Quantities{
		Input:            u.Input - u.AudioInput - u.ImageInput - cachedText - u.CacheWrite,
		CachedInput:      cachedText,
		CacheWrite:       u.CacheWrite,
		AudioInput:       u.AudioInput - u.CachedAudio,
		CachedAudioInput: u.CachedAudio,
		ImageInput:       u.ImageInput - u.CachedImage,
		CachedImageInput: u.CachedImage,
		Output:           u.Output - u.Reasoning - u.AudioOutput - u.ImageOutput,
		Reasoning:        u.Reasoning,
		AudioOutput:      u.AudioOutput,
		ImageOutput:      u.ImageOutput,
		PerImage:         u.Images,
		PerSecond:        u.Milliseconds,
		PerCharacter:     u.Characters,
	}
}

// Larger takes the larger of each figure of two reports, and the dearer tier: some providers report as they go.
func (u Usage) Larger(v Usage) Usage {
	return Usage{
		Input: max(u.Input, v.Input), CachedInput: max(u.CachedInput, v.CachedInput), CacheWrite: max(u.CacheWrite, v.CacheWrite),
		AudioInput: max(u.AudioInput, v.AudioInput), ImageInput: max(u.ImageInput, v.ImageInput),
		CachedAudio: max(u.CachedAudio, v.CachedAudio), CachedImage: max(u.CachedImage, v.CachedImage),
		Output: max(u.Output, v.Output), Reasoning: max(u.Reasoning, v.Reasoning),
		AudioOutput: max(u.AudioOutput, v.AudioOutput), ImageOutput: max(u.ImageOutput, v.ImageOutput),
		Images: max(u.Images, v.Images), Milliseconds: max(u.Milliseconds, v.Milliseconds), Characters: max(u.Characters, v.Characters),
		Fees: max(u.Fees, v.Fees), Tier: max(u.Tier, v.Tier),
	}
}

// within is n, no less than zero and no more than most.
func within(n, most int64) int64 { return min(max(0, n), most) }
