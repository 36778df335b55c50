package fakeopenai

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"strings"
)

// PNG is the picture that is always drawn: one pixel.
func PNG() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err) // nothing to write to can fail
	}
	return b.Bytes()
}

// pictureTokens is what the usage of one picture says: gpt-image-1's for a square of high quality.
const pictureTokens = 4160

func (s *Server) readPictures(c *Call) {
	c.Choices, c.Limited, c.Prompt = c.asked.choices(), true, s.textTokens(c.asked.Prompt)+int64(100*len(c.Files))
	c.Output = pictureTokens * c.Choices
}

// dated models draw pictures that are priced by piece, and report no usage.
func (e *exchange) dated() bool { return strings.HasPrefix(e.call.Model, "dall-e") }

func (e *exchange) pictureUsage() string {
	in, out := e.call.Prompt, pictureTokens*e.call.Choices
	return fmt.Sprintf(`{"input_tokens":%d,"input_tokens_details":{"image_tokens":0,"text_tokens":%d},"output_tokens":%d,"total_tokens":%d}`, in, in, out, in+out)
}

func (e *exchange) picturesPlain() (string, []byte) {
	picture := fmt.Sprintf(`{"b64_json":%s}`, quote(base64.StdEncoding.EncodeToString(PNG())))
	more := `,"background":"opaque","output_format":"png","quality":"high","size":"1024x1024","usage":` + e.pictureUsage()
	if e.dated() {
		more = ""
		if e.call.asked.word(e.call.asked.ResponseFormat) != "b64_json" {
			picture = `{"revised_prompt":"A dog.","url":"https://pictures.example.test/0.png"}`
		}
	}
	pictures := strings.TrimSuffix(strings.Repeat(picture+",", int(e.call.Choices)), ",")
	return "application/json", indented(fmt.Sprintf(`{"created":%d,"data":[%s]%s}`, created, pictures, more))
}

func (e *exchange) picturesEvents() [][]byte {
	kind := "image_generation"
	if strings.HasSuffix(e.call.Path, "/edits") {
		kind = "image_edit"
	}
	picture := fmt.Sprintf(`"b64_json":%s,"created_at":%d,"size":"1024x1024","quality":"high","background":"opaque","output_format":"png"`,
		quote(base64.StdEncoding.EncodeToString(PNG())), created)
	var out [][]byte
	for i := range e.call.asked.PartialImages {
		out = append(out, event(kind+".partial_image", `"partial_image_index":%d,%s`, i, picture))
	}
	return append(out, event(kind+".completed", `%s,"usage":%s`, picture, e.pictureUsage()))
}
