package test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
)

func (c *openaiGoMatrix) embed(ctx context.Context) (seen sdkSeen, err error) {
	answer, err := c.Embeddings.New(ctx, openai.EmbeddingNewParams{
		Model: c.ask.Model, Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: c.ask.Inputs}, EncodingFormat: openai.EmbeddingNewParamsEncodingFormat(c.ask.Format),
	})
	if err != nil {
		return seen, err
	}
	var data struct {
		Data []struct{ Embedding json.RawMessage }
	}
	if err := json.Unmarshal([]byte(answer.RawJSON()), &data); err != nil {
		return seen, err
	}
	for _, d := range data.Data { // openai-go does not decode base64 itself
		vector, err := sdkVector(d.Embedding)
		if err != nil {
			return seen, err
		}
		seen.Vectors = append(seen.Vectors, vector)
	}
	seen.Usage = answer.Usage.TotalTokens
	return seen, nil
}

func (c *openaiGoMatrix) media(ctx context.Context) (seen sdkSeen, err error) {
	picture := openai.File(bytes.NewReader(fakeopenai.PNG()), "picture.png", "image/png")
	recording := openai.File(bytes.NewReader(sdkRecording), "recording.wav", "audio/wav")
	n := openai.Int(int64(max(1, c.ask.N)))
	switch c.ask.Do {
	case "picture":
		answer, err := c.Images.Generate(ctx, openai.ImageGenerateParams{Model: c.ask.Model, Prompt: c.ask.Prompt, N: n})
		return seen.pictures(answer, err)
	case "pictureEdit":
		answer, err := c.Images.Edit(ctx, openai.ImageEditParams{Model: c.ask.Model, Prompt: c.ask.Prompt, Image: openai.ImageEditParamsImageUnion{OfFile: picture}})
		return seen.pictures(answer, err)
	case "pictureVariation":
		answer, err := c.Images.NewVariation(ctx, openai.ImageNewVariationParams{Model: c.ask.Model, Image: picture, ResponseFormat: openai.ImageNewVariationParamsResponseFormatB64JSON}) //nolint:staticcheck // it is deprecated, and people use it
		return seen.pictures(answer, err)
	case "pictureStream":
		err = drain(c.Images.GenerateStreaming(ctx, openai.ImageGenerateParams{Model: c.ask.Model, Prompt: c.ask.Prompt, PartialImages: openai.Int(2)}), func(event openai.ImageGenStreamEventUnion) {
			seen.Finish, seen.Usage = event.Type, event.Usage.TotalTokens
		})
	case "pictureEditStream":
		edit := openai.ImageEditParams{Model: c.ask.Model, Prompt: c.ask.Prompt, Image: openai.ImageEditParamsImageUnion{OfFile: picture}, PartialImages: openai.Int(2)}
		err = drain(c.Images.EditStreaming(ctx, edit), func(event openai.ImageEditStreamEventUnion) {
			b, decoding := base64.StdEncoding.DecodeString(event.B64JSON)
			seen.Finish, seen.Usage, seen.Sums = event.Type, event.Usage.TotalTokens, []string{sha(b)}
			if decoding != nil {
				seen.Sums = []string{decoding.Error()}
			}
		})
	case "speech", "speechStream":
		return c.speech(ctx)
	case "transcribe":
		answer, err := c.Audio.Transcriptions.New(ctx, openai.AudioTranscriptionNewParams{Model: c.ask.Model, File: recording, ResponseFormat: openai.AudioResponseFormat(c.ask.Format)})
		if err != nil {
			return seen, err
		}
		seen.Text = answer.Text
	case "transcribeStream":
		err = drain(c.Audio.Transcriptions.NewStreaming(ctx, openai.AudioTranscriptionNewParams{Model: c.ask.Model, File: recording}), func(event openai.TranscriptionStreamEventUnion) {
			seen.Text, seen.Finish = seen.Text+event.Delta, event.Type
		})
	case "translate":
		answer, err := c.Audio.Translations.New(ctx, openai.AudioTranslationNewParams{Model: c.ask.Model, File: recording}) //nolint:staticcheck // it is deprecated, and people use it
		if err != nil {
			return seen, err
		}
		seen.Text = answer.Text
	default:
		return c.stored(ctx)
	}
	return seen, err
}

func (s sdkSeen) pictures(answer *openai.ImagesResponse, err error) (sdkSeen, error) {
	if err != nil {
		return s, err
	}
	for _, d := range answer.Data {
		b, err := base64.StdEncoding.DecodeString(d.B64JSON)
		if err != nil {
			return s, err
		}
		s.Sums = append(s.Sums, sha(b))
	}
	s.Usage = answer.Usage.TotalTokens
	return s, nil
}

func (c *openaiGoMatrix) speech(ctx context.Context) (seen sdkSeen, err error) {
	p := openai.AudioSpeechNewParams{Model: c.ask.Model, Input: c.ask.Prompt, Voice: openai.AudioSpeechNewParamsVoiceUnion{OfString: openai.String("alloy")}}
	p.ResponseFormat = openai.AudioSpeechNewParamsResponseFormat(c.ask.Format)
	if c.ask.Do == "speechStream" {
		p.StreamFormat = openai.AudioSpeechNewParamsStreamFormatSSE
	}
	resp, err := c.Audio.Speech.New(ctx, p)
	if err != nil {
		return seen, err
	}
	defer resp.Body.Close()
	if c.ask.Do == "speech" {
		body, err := io.ReadAll(resp.Body)
		seen.Sums = []string{sha(body)}
		return seen, err
	}
	var all []byte
	type event struct {
		Audio []byte
		Usage struct {
			Total int64 `json:"total_tokens"`
		}
	}
	err = drain(ssestream.NewStream[event](ssestream.NewDecoder(resp), nil), func(e event) {
		all, seen.Usage = append(all, e.Audio...), e.Usage.Total
	})
	seen.Sums = []string{sha(all)}
	return seen, err
}
