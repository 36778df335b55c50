package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"mime/multipart"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost"
)

// aForm is a form with these fields, name and value in turns; a value that begins with @ is the content of a file.
func aForm(t testing.TB, fields ...string) (contentType string, body []byte) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		content, isFile := strings.CutPrefix(fields[i+1], "@")
		if !isFile {
			if err := w.WriteField(fields[i], content); err != nil {
				t.Fatal(err)
			}
			continue
		}
		part, err := w.CreateFormFile(fields[i], "a")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.Bytes()
}

// aSecond is a WAV file of a second.
func aSecond() string {
	b := []byte("RIFF....WAVEfmt \x10\x00\x00\x00")
	b = binary.LittleEndian.AppendUint16(b, 1) // PCM
	b = binary.LittleEndian.AppendUint16(b, 1) // channels
	b = binary.LittleEndian.AppendUint32(b, 8_000)
	b = binary.LittleEndian.AppendUint32(b, 8_000)
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = binary.LittleEndian.AppendUint16(b, 8)
	return string(b) + "data...." + strings.Repeat("\r\n", 4_000)
}

// aPicture is the head of a GIF file of 512 x 256 pixels.
const aPicture = "GIF89a\x00\x02\x00\x01\x00\x00\x00,\x00\x00\x00\x00\x00\x02\x00\x01"

func TestReadForms(t *testing.T) {
	for name, c := range map[string]struct {
		endpoint Endpoint
		fields   []string
		want     cost.Request
	}{
		"a transcription": {
			Transcriptions,
			[]string{"model", "m", "prompt", "Names: Ada", "file", "@" + aSecond(), "language", "de", "response_format", "json", "unheard_of", "text"},
			cost.Request{
				Text:        []cost.Text{text("Names: Ada"), {Part: cost.PartOther, S: "text"}},
				Transcribes: true, Audio: []cost.Audio{{Milliseconds: 1000, Measured: true}},
			},
		},
		"a translation": {Translations, []string{"file", "@" + aSecond(), "model", "m"}, cost.Request{Transcribes: true, Audio: []cost.Audio{{Milliseconds: 1000, Measured: true}}}},
		"an edit": {
			PictureEdits,
			[]string{"model", "m", "image[]", "@" + aPicture, "image[]", "@" + aPicture, "mask", "@x", "prompt", "a hat", "n", "2", "size", "1024x1536", "quality", "low", "input_fidelity", "high", "partial_images", "1", "stream", "true"},
			cost.Request{
				Text: texts("a hat"), Pictures: cost.Pictures{N: 2, Width: 1024, Height: 1536, Quality: cost.LowQuality, Partial: 1},
				Images: []cost.Image{{Width: 512, Height: 256, HighFidelity: true}, {Width: 512, Height: 256, HighFidelity: true}, {HighFidelity: true}},
			},
		},
		"a variant": {PictureVariants, []string{"model", "m", "image", "@" + aPicture}, cost.Request{Pictures: cost.Pictures{N: 1}, Images: []cost.Image{{Width: 512, Height: 256}}}},
	} {
		t.Run(name, func(t *testing.T) {
			contentType, body := aForm(t, c.fields...)
			req, err := Read(c.endpoint, contentType, body)
			if err != nil {
				t.Fatal(err)
			}
			c.want.Model, c.want.Choices, c.want.HasMaxOutput = "m", 1, true
			if diff := cmp.Diff(c.want, req.Cost); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
			if !c.endpoint.TakesForm() || req.Stream != (name == "an edit") {
				t.Errorf("stream %v", req.Stream)
			}
			// The model's name is written in its place, and nothing else changes.
			other := strings.Replace(string(body), "\r\n\r\nm\r\n", "\r\n\r\nanother\r\n", 1)
			if got := req.Edit(Edits{Model: "another", IncludeUsage: true, MaxOutput: 5, MostRuns: 5}); string(got) != other {
				t.Errorf("the edited form is\n%q, want\n%q", got, other)
			}
		})
	}
}

// OpenAI makes variations with one model only, so go-openai names none.
func TestReadFormWithoutAModel(t *testing.T) {
	contentType, body := aForm(t, "image", "@"+aPicture)
	req, err := Read(PictureVariants, contentType, body)
	if err != nil {
		t.Fatal(err)
	}
	if req.Model != "dall-e-2" || req.Cost.Model != "dall-e-2" {
		t.Errorf("the model is %q, and %q is charged", req.Model, req.Cost.Model)
	}
	if got := req.Edit(Edits{Model: "dall-e-2"}); string(got) != string(body) {
		t.Errorf("the form changed to %q", got)
	}
	named, err := Read(PictureVariants, contentType, req.Edit(Edits{Model: "another"}))
	if err != nil || named.Model != "another" || len(named.Cost.Images) != 1 {
		t.Errorf("with another model's name in it the form reads %+v, %v", named, err)
	}
}

func TestReadFormRefuses(t *testing.T) {
	contentType, whole := aForm(t, "model", "m", "file", "@abc")
	changed := func(old, now string) string {
		if !strings.Contains(string(whole), old) {
			t.Fatalf("there is no %q in %q", old, whole)
		}
		return strings.Replace(string(whole), old, now, 1)
	}
	fields := func(f ...string) func() (string, string) {
		return func() (string, string) {
			kind, body := aForm(t, f...)
			return kind, string(body)
		}
	}
	as := func(kind, body string) func() (string, string) {
		return func() (string, string) { return kind, body }
	}
	const disposition = "--B\r\nContent-Disposition: form-data; name="
	const plain = disposition + "\"model\"\r\n\r\nm\r\n" + disposition + "\"file\"\r\n\r\nabc\r\n--B--"
	for _, like := range []string{"multipart/form-data; charset=UTF-8; boundary=B", `Multipart/Form-Data;boundary="B";charset="utf-8"`} {
		if req, err := Read(Transcriptions, like, []byte(plain)); err != nil || req.ContentType != "multipart/form-data; boundary=B" {
			t.Errorf("%s: %+v, %v", like, req, err)
		}
	}
	for _, end := range []string{"", "\r\n", " \t\r\n\r\n"} {
		if _, err := Read(Transcriptions, "multipart/form-data; boundary=B", []byte(plain+end)); err != nil {
			t.Fatalf("with %q behind it: %v", end, err)
		}
	}
	// Whoever ends a head at a bare LF reads the model "dear".
	const hidden = disposition + "\"model\"\n\ndear\r\n" + disposition + "\"x\"\r\n\r\nchep\r\n" + disposition + "\"file\"\r\n\r\nabc\r\n--B--"
	for name, c := range map[string]struct {
		form        func() (contentType, body string)
		code, param string
	}{
		"JSON":                 {as("application/json", `{"model":"m"}`), CodeInvalidForm, ""},
		"no boundary":          {as("multipart/form-data", string(whole)), CodeInvalidForm, ""},
		"another boundary":     {as("multipart/form-data; boundary=x", string(whole)), CodeInvalidForm, ""},
		"an encoded boundary":  {as(contentType+`; boundary*=utf-8''BB`, string(whole)), CodeInvalidForm, ""},
		"a boundary in pieces": {as(contentType+"; boundary*0=BB", string(whole)), CodeInvalidForm, ""},
		"only an encoded one":  {as(strings.Replace(contentType, "boundary=", "boundary*=utf-8''", 1), string(whole)), CodeInvalidForm, ""},
		"two boundaries":       {as(contentType+"; Boundary=BB", string(whole)), CodeInvalidForm, ""},
		"a parameter":          {as(contentType+"; encoding=utf-8", string(whole)), CodeInvalidForm, ""},
		"two charsets":         {as(contentType+"; charset=utf-8; charset=utf-8", string(whole)), CodeInvalidForm, ""},
		"a bare line end":      {as(contentType, changed("\r\n\r\nm", "\nContent-Type: text/plain\r\n\r\nm")), CodeInvalidForm, ""},
		"a line that goes on":  {as(contentType, changed(`; name="model"`, ";\r\n name=\"model\"")), CodeInvalidForm, ""},
		"a longer boundary":    {as("multipart/form-data; boundary=B", "--BC\r\n"+plain), CodeInvalidForm, ""},
		"blanks behind it":     {as("multipart/form-data; boundary=B", strings.Replace(plain, "--B\r", "--B \r", 1)), CodeInvalidForm, ""},
		"a part in a head":     {as("multipart/form-data; boundary=B", hidden), CodeInvalidForm, ""},
		"a cut form":           {as(contentType, string(whole[:len(whole)-40])), CodeInvalidForm, ""},
		"bare line ends":       {as(contentType, strings.ReplaceAll(string(whole), "\r\n", "\n")), CodeInvalidForm, ""},
		"something before":     {as(contentType, "preamble\r\n"+string(whole)), CodeInvalidForm, ""},
		"something behind":     {as("multipart/form-data; boundary=B", plain+"\r\nepilogue"), CodeInvalidForm, ""},
		"a part behind":        {as("multipart/form-data; boundary=B", plain+"\r\n"+plain), CodeInvalidForm, ""},
		"an end that goes on":  {as("multipart/form-data; boundary=B", plain+"0"), CodeInvalidForm, ""},
		"a bare CR behind":     {as("multipart/form-data; boundary=B", plain+"\r"), CodeInvalidForm, ""},
		"an encoding":          {as(contentType, changed("\r\n\r\nm", "\r\nContent-Transfer-Encoding: base64\r\n\r\nbQ==")), CodeInvalidForm, ""},
		"a name in RFC 2231":   {as(contentType, changed(`name="model"`, `name*=UTF-8''model`)), CodeInvalidForm, ""},
		"a file in no name":    {as(contentType, strings.Replace(changed(`name="model"`, `name="x"; filename=""`), "\r\nm\r\n", "\r\nm\r\n", 1)), CodeInvalidForm, "x"},
		"another name encoded": {as(contentType, changed(`name="model"`, `name="x"; NAME*=UTF-8''model`)), CodeInvalidForm, ""},
		"two names":            {as(contentType, changed(`name="model"`, `name="x"; name="model"`)), CodeInvalidForm, ""},
		"no name":              {as(contentType, changed(`; name="model"`, ``)), CodeInvalidForm, ""},
		"a model in a file":    {fields("model", "@m", "file", "@x"), CodeInvalidForm, "model"},
		"a file elsewhere":     {fields("model", "m", "file", "@x", "other", "@x"), CodeInvalidForm, "other"},
		"no model":             {fields("file", "@x"), CodeMissingMember, "model"},
		"no file":              {fields("model", "m"), CodeMissingMember, "file"},
		"an empty model":       {fields("model", "", "file", "@x"), CodeInvalidValue, "model"},
		"a model of two lines": {fields("model", "a\r\nb", "file", "@x"), CodeInvalidValue, "model"},
		"two models":           {fields("model", "m", "model", "n", "file", "@x"), CodeDuplicateMember, "model"},
		"a look-alike":         {fields("model", "m", "Model", "n", "file", "@x"), CodeAmbiguousMember, "Model"},
		"a stream of words":    {fields("model", "m", "stream", "yes", "file", "@x"), CodeInvalidValue, "stream"},
		"not UTF-8":            {fields("model", "m", "prompt", "\xff", "file", "@x"), CodeInvalidForm, "prompt"},
		"many fields":          {fields(many()...), CodeInvalidForm, ""},
		"many of one name":     {fields(slices.Repeat([]string{"include[]", "x"}, maxFields+1)...), CodeInvalidForm, ""},
	} {
		t.Run(name, func(t *testing.T) {
			kind, body := c.form()
			_, err := Read(Transcriptions, kind, []byte(body))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want an *Error", err)
			}
			if e.Code != c.code || e.Param != c.param {
				t.Errorf("got code %q, param %q, want %q, %q (%s)", e.Code, e.Param, c.code, c.param, e.Message)
			}
		})
	}
}

// A recording counts, whatever is said of the name of its file.
func TestAFormsFileNeedsNoName(t *testing.T) {
	contentType, body := aForm(t, "model", "m", "file", "@"+aSecond())
	for _, name := range []string{``, `; filename=""`, `; filename="a*b.wav"`, `; filename*=UTF-8''gr%C3%BC%C3%9Fe.wav`} {
		req, err := Read(Transcriptions, contentType, bytes.Replace(body, []byte(`; filename="a"`), []byte(name), 1))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if a := req.Cost.Audio; len(a) != 1 || a[0].Milliseconds != 1000 {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

func many() (fields []string) {
	for i := range maxFields + 1 {
		fields = append(fields, strings.Repeat("x", i+1), "")
	}
	return fields
}

// FuzzReadForm holds the reader against mime/multipart's own reading of a form.
func FuzzReadForm(f *testing.F) {
	for _, fields := range [][]string{
		{"model", "m", "file", "@" + aSecond()[:60]},
		{"image[]", "@" + aPicture, "prompt", "a", "n", "2", "model", "m", "image[]", "@x"},
		{"image", "@" + aPicture, "size", "256x256"},
		{"file", "@" + aSecond()[:60], "model", "m", "stream", "true", "include[]", "logprobs", "include[]", "x", "known_speaker_references[]", "data:audio/wav;base64,UklGRg=="},
	} {
		contentType, body := aForm(f, fields...)
		f.Add(contentType, body)
	}
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		for _, e := range []Endpoint{Transcriptions, PictureEdits, PictureVariants} {
			req, err := Read(e, contentType, body)
			if err != nil {
				var refusal *Error
				if !errors.As(err, &refusal) || refusal.Code == "" || refusal.Message == "" {
					t.Fatalf("not a whole refusal: %v", err)
				}
				continue
			}
			boundary := contentType[strings.Index(strings.ToLower(contentType), "boundary=")+len("boundary="):]
			if plain := strings.Trim(boundary, `"`); plain == boundary && !strings.ContainsAny(boundary, ";\\ ") {
				std, err := multipart.NewReader(bytes.NewReader(body), boundary).ReadForm(1 << 20)
				if err == nil && len(std.Value["model"]) == 0 && forms[e].model != "" {
					std.Value["model"] = []string{forms[e].model}
				}
				if err != nil || len(std.Value["model"]) != 1 || std.Value["model"][0] != req.Model {
					t.Fatalf("mime/multipart reads %+v (%v), not the model %q", std, err, req.Model)
				}
			}
			again, err := Read(e, contentType, req.Edit(Edits{Model: "other"}))
			if err != nil || again.Model != "other" {
				t.Fatalf("the edited form is not read: %v", err)
			}
		}
	})
}
