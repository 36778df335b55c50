package proxy_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
)

// An upstream that compresses although it was asked not to: its usage is read, and the client gets what it can read.
func TestGzipAlthoughIdentityWasAsked(t *testing.T) {
	const event, usage, done = `data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}` + "\n\n", `data: {"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":3,"total_tokens":11}}` + "\n\n", "data: [DONE]\n\n"
	quiet := strings.Replace(hi, "{", `{"stream":true,`, 1)
	asked := strings.Replace(hi, "{", `{"stream":true,"stream_options":{"include_usage":true},`, 1)
	for _, c := range []struct {
		name, body, accept, media, answer, want string
	}{
		{"plain, the client reads gzip", hi, "gzip, deflate", "application/json", plainAnswer(8, 3), plainAnswer(8, 3)},
		{"plain, it reads anything", hi, "br;q=1, *;q=0.5", "application/json", plainAnswer(8, 3), plainAnswer(8, 3)},
		{"plain, it reads no gzip", hi, "identity", "application/json", plainAnswer(8, 3), plainAnswer(8, 3)},
		{"plain, it declines gzip", hi, "gzip;q=0, *", "application/json", plainAnswer(8, 3), plainAnswer(8, 3)},
		{"stream, usage asked for", asked, "gzip", "text/event-stream", event + usage + done, event + usage + done},
		{"stream, usage asked for, no gzip", asked, "identity", "text/event-stream", event + usage + done, event + usage + done},
		{"stream, usage withheld", quiet, "gzip", "text/event-stream", event + usage + done, event + done},
	} {
		t.Run(c.name, func(t *testing.T) {
			packed := zipped(c.answer)
			h := newHouse(t, alice(t, "1000 tokens in total"), func(w http.ResponseWriter, r *http.Request) {
				if coding := r.Header.Get("Accept-Encoding"); coding != "identity" {
					t.Errorf("the upstream is asked for %q", coding)
				}
				w.Header().Set("Content-Encoding", "gzip")
				w.Header().Set("Content-Type", c.media)
				io.WriteString(w, packed)
			})
			got := h.chat(c.body, "Accept-Encoding", c.accept)
			if got.status != 200 || got.body != c.want || got.header.Get("Content-Encoding") != "" {
				t.Errorf("%d %v %q, want %q", got.status, got.header, got.body, c.want)
			}
			if used := h.settledSoon("1000 tokens in total", 11); used != 11 {
				t.Errorf("charged %d, want the reported 11", used)
			}
		})
	}
}

// zipped is text as gzip packs it.
func zipped(text string) string {
	var packed strings.Builder
	zip := gzip.NewWriter(&packed)
	_, _ = io.WriteString(zip, text) // a Builder takes everything
	_ = zip.Close()
	return packed.String()
}

// An error that is compressed keeps what it says.
func TestGzippedErrorIsRead(t *testing.T) {
	h := newHouse(t, alice(t, "1000 tokens in total"), func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTeapot)
		zip := gzip.NewWriter(w)
		io.WriteString(zip, `{"error":{"message":"Teapot.","type":"teapot","param":null,"code":"teapot"}}`)
		zip.Close()
	})
	if got := h.chat(hi, "Accept-Encoding", "gzip"); got.status != http.StatusTeapot || !strings.Contains(got.body, "Teapot.") || got.header.Get("Content-Encoding") != "" {
		t.Errorf("%d %v %q", got.status, got.header, got.body)
	}
}

// An answer that says it is compressed and is not breaks off, and is charged whole.
func TestGzipThatIsNone(t *testing.T) {
	h := newHouse(t, alice(t, "1000 tokens in total"), func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, plainAnswer(8, 3))
	})
	if got := h.chat(hi, "Accept-Encoding", "identity"); got.err == nil && got.status == 200 {
		t.Errorf("%d %q", got.status, got.body)
	}
	if used := h.settledSoon("1000 tokens in total", reserved); used != reserved {
		t.Errorf("charged %d, want all %d reserved", used, reserved)
	}
}
