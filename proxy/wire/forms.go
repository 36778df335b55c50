package wire

import (
	"fmt"

	"github.com/tokenfare/tokenfare/cost"
)

// The forms, by endpoint.
var forms = map[Endpoint]*form{
	Transcriptions:  recordingForm,
	Translations:    recordingForm,
	PictureEdits:    pictureForm("prompt", ""),
	PictureVariants: pictureForm("image", "dall-e-2"), // OpenAI's API reference: there is no other that makes them
}

// recordingForm is for what is said in a recording.
var recordingForm = &form{
	shape: newShape("file", "model", "prompt", "language", "response_format", "stream", "temperature", "include[]",
		"timestamp_granularities[]", "chunking_strategy", "known_speaker_names[]", "known_speaker_references[]"),
	prompt: "file",
	file: func(f *formReader, name string, content []byte) bool {
		if name == "file" {
			f.req.Cost.Audio = append(f.req.Cost.Audio, cost.AudioOfFile(content))
		}
		return name == "file"
	},
	field: func(f *formReader, name, value string) (bool, error) {
		facts := &f.req.Cost
		var err error
		switch name {
		case "prompt", "known_speaker_names[]":
			facts.Text = append(facts.Text, cost.Text{Part: cost.PartMessages, S: value})
		case "known_speaker_references[]": // data: URLs of short recordings
			facts.Audio = append(facts.Audio, cost.AudioOf([]byte(value)))
		case "stream":
			f.req.Stream, err = f.boolean(name, value)
		case "language", "response_format", "temperature", "include[]", "timestamp_granularities[]":
			return len(value) <= plainID, nil // they select
		default:
			return false, nil
		}
		return true, err
	},
	end: func(f *formReader) { f.req.Cost.Transcribes = true },
}

// pictureForm is for pictures to be made from others.
func pictureForm(prompt, model string) *form {
	return &form{
		shape: newShape("image", "image[]", "mask", "model", "prompt", "n", "size", "quality", "background", "input_fidelity",
			"moderation", "output_format", "output_compression", "partial_images", "response_format", "stream", "style", "user"),
		prompt: prompt, model: model,
		file: func(f *formReader, name string, content []byte) bool {
			known := name == "image" || name == "image[]" || name == "mask"
			if known {
				f.req.Cost.Images = append(f.req.Cost.Images, cost.ImageOfFile(content, cost.AutoDetail))
			}
			return known
		},
		field: pictureField,
		end: func(f *formReader) {
			facts := &f.req.Cost
			facts.Pictures.N = max(1, facts.Pictures.N)
			for i := range facts.Images {
				facts.Images[i].HighFidelity = f.fidelity
			}
		},
	}
}

// pictureField takes a field of a form that asks for pictures.
func pictureField(f *formReader, name, value string) (bool, error) {
	facts := &f.req.Cost.Pictures
	var err error
	switch name {
	case "prompt":
		f.req.Cost.Text = append(f.req.Cost.Text, cost.Text{Part: cost.PartMessages, S: value})
	case "n":
		facts.N, err = f.integer(name, value, 1, maxPictures)
	case "partial_images":
		facts.Partial, err = f.integer(name, value, 0, maxPreviews)
	case "stream":
		f.req.Stream, err = f.boolean(name, value)
	case "size":
		var ok bool
		if facts.Width, facts.Height, ok = parseSize(value); !ok {
			err = badRequest(CodeInvalidValue, name, fmt.Sprintf(`"size" must be "auto" or width x height in pixels, as in "1024x1536", each at most %d.`, maxSide))
		}
	case "quality":
		facts.Quality = cost.QualityNamed(value)
	case "input_fidelity":
		f.fidelity = value != "low"
	case "background", "moderation", "output_format", "output_compression", "response_format", "style", "user":
		return len(value) <= plainID, nil // they select
	default:
		return false, nil
	}
	return true, err
}
