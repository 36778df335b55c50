package proxy_test

import (
	"net/http"
	"strings"
	"testing"
)

// formNaming is a form that asks for one picture, with the parts between this boundary.
func formNaming(model, boundary string) string {
	var b strings.Builder
	for _, field := range []string{"name=\"model\"\r\n\r\n" + model, "name=\"prompt\"\r\n\r\na hat", "name=\"image\"; filename=\"a\"\r\n\r\nx"} {
		b.WriteString("--" + boundary + "\r\nContent-Disposition: form-data; " + field + "\r\n")
	}
	return b.String() + "--" + boundary + "--\r\n"
}

// postForm sends a form to be edited, or a file.
func (h *house) postForm(path, contentType, body string) answer {
	h.t.Helper()
	r, err := http.NewRequest(http.MethodPost, h.url+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	r.Header.Set("Content-Type", contentType)
	return h.do(r)
}

// TestAFormHasOneBoundary: what is metered is what the upstream reads, by a header that leaves no choice.
func TestAFormHasOneBoundary(t *testing.T) {
	h := newHouse(t, alice(t, "100000 tokens in total"), answerWith(200, `{"data":[]}`))
	two := formNaming("gpt-image-1", "BB") + formNaming("gpt-image-1.5", "CC")
	for _, contentType := range []string{
		"multipart/form-data; boundary=CC; boundary*=utf-8''BB",
		"multipart/form-data; boundary*0=BB; boundary=CC",
		"multipart/form-data; boundary*=utf-8''BB",
		"multipart/form-data; boundary=BB; Boundary=CC",
	} {
		got := h.postForm("/v1/images/edits", contentType, two)
		if _, _, _, code := got.errorOf(t); got.status != http.StatusBadRequest || code != "invalid_form" {
			t.Errorf("%s: %d %s", contentType, got.status, got.body)
		}
	}
	if len(h.asked) > 0 {
		t.Fatal("a form with two boundaries went upstream")
	}
	for contentType, want := range map[string]string{
		"Multipart/Form-Data;BOUNDARY=BB ;":        "multipart/form-data; boundary=BB",
		`multipart/form-data; boundary="B(B) :/?"`: `multipart/form-data; boundary="B(B) :/?"`,
	} {
		body := formNaming("gpt-image-1", strings.Trim(strings.TrimPrefix(want, "multipart/form-data; boundary="), `"`))
		if got := h.postForm("/v1/images/edits", contentType, body); got.status != http.StatusOK {
			t.Errorf("%s: %d %s", contentType, got.status, got.body)
			continue
		}
		if got := (<-h.asked).Header["Content-Type"]; len(got) != 1 || got[0] != want {
			t.Errorf("%s went upstream as %q", contentType, got)
		}
	}
}

// TestAnUploadsTypeMayBeInCapitals, and goes upstream as what it is.
func TestAnUploadsTypeMayBeInCapitals(t *testing.T) {
	v := freshVault(t)
	form := "--BB\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nuser_data\r\n" +
		"--BB\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\ntext\r\n--BB--\r\n"
	if got := v.as(secret, "POST", "/v1/files", form, "Content-Type", "Multipart/Form-Data; Boundary=BB"); got.status != http.StatusOK {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := (<-v.asked).Header.Get("Content-Type"); got != "multipart/form-data; boundary=BB" {
		t.Errorf("it went upstream as %q", got)
	}
	if got := v.as(secret, "POST", "/v1/files", form, "Content-Type", "multipart/form-data; boundary=CC; boundary*=utf-8''BB"); got.status != http.StatusBadRequest {
		t.Errorf("with two boundaries: %d %s", got.status, got.body)
	}
}
