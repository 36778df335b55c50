package proxy_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy"
)

func small(o *proxy.Options) { o.MaxBody, o.MaxBuffered = 4096, 8192 }

func TestBodiesAreBounded(t *testing.T) {
	h := newHouse(t, alice(t, "100000 tokens in total"), answerWith(200, plainAnswer(8, 3)), small)
	big := `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"` + strings.Repeat("word ", 1000) + `"}]}`
	post := func(body io.Reader, header ...string) answer {
		r, _ := http.NewRequest(http.MethodPost, h.url+"/v1/chat/completions", body)
		r.Header.Set("Authorization", "Bearer "+secret)
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		return h.do(r)
	}
	for _, c := range []struct {
		name   string
		got    answer
		status int
	}{
		{"declared", post(strings.NewReader(big)), 413},
		{"chunked", post(struct{ io.Reader }{strings.NewReader(big)}), 413},
		{"small, chunked", post(struct{ io.Reader }{strings.NewReader(hi)}), 200},
		{"compressed", post(strings.NewReader(hi), "Content-Encoding", "gzip"), 415},
		{"identity", post(strings.NewReader(hi), "Content-Encoding", "identity"), 200},
		{"empty", post(http.NoBody), 400},
	} {
		if c.got.status != c.status {
			t.Errorf("%s: %d %s", c.name, c.got.status, c.got.body)
		}
		if c.status != 200 {
			c.got.errorOf(t)
		}
	}
	if used := h.used("100000 tokens in total"); used != 22 {
		t.Errorf("charged %d tokens, want 22 for the two that passed", used)
	}
}

// TestAllBodiesTogetherAreBounded holds two bodies in memory, which is all there is room for; the third is turned away, and room
// comes back when the upstream's headers arrive.
func TestAllBodiesTogetherAreBounded(t *testing.T) {
	release := make(chan struct{})
	h := newHouse(t, alice(t, "1000000 tokens in total"), blockUntil(release, 8, 3), small)
	body := `{"model":"gpt-4o-mini","max_tokens":5,"messages":[{"role":"user","content":"` + strings.Repeat("x", 3900) + `"}]}`
	var running sync.WaitGroup
	for range 2 {
		running.Go(func() {
			if got := h.chat(body); got.status != 200 {
				t.Errorf("running call: %d %s", got.status, got.body)
			}
		})
		<-h.asked
	}
	if got := h.chat(body); got.status != 503 || !strings.Contains(got.body, "server_busy") {
		t.Errorf("third body: %d %s", got.status, got.body)
	}
	close(release)
	running.Wait()
	if got := h.chat(body); got.status != 200 {
		t.Errorf("after the others: %d %s", got.status, got.body)
	}
}

func TestASlowSenderIsCut(t *testing.T) {
	h := newHouse(t, alice(t, "1000 tokens in total"), answerWith(200, plainAnswer(8, 3)),
		func(o *proxy.Options) { o.BodyTimeout = 30 * time.Millisecond })
	reader, writer := io.Pipe()
	defer writer.Close()
	go io.WriteString(writer, `{"model":`)
	r, _ := http.NewRequest(http.MethodPost, h.url+"/v1/chat/completions", reader)
	r.Header.Set("Authorization", "Bearer "+secret)
	if got := h.do(r); got.err == nil && got.status != 408 {
		t.Errorf("%d %s", got.status, got.body)
	}
}
