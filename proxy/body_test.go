package proxy_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy"
)

// small has room for two bodies, for which the next waits some milliseconds.
func small(o *proxy.Options) {
	o.MaxBody, o.MaxBuffered, o.BodyTimeout = 4096, 8192, 200*time.Millisecond
}

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

// TestAllBodiesTogetherAreBounded: one caller can hold half of the room, all together all of it, and room comes back when the
// upstream's headers arrive.
func TestAllBodiesTogetherAreBounded(t *testing.T) {
	release := make(chan struct{})
	spec := alice(t, "1000000 tokens in total")
	for _, name := range []string{"bob", "carol"} {
		spec.Keys = append(spec.Keys, proxy.KeySpec{Name: name, Hashes: [][32]byte{sha256.Sum256([]byte(name))}})
	}
	h := newHouse(t, spec, blockUntil(release, 8, 3), small)
	body := `{"model":"gpt-4o-mini","max_tokens":5,"messages":[{"role":"user","content":"` + strings.Repeat("x", 3900) + `"}]}`
	as := func(key string) answer { return h.chat(body, "Authorization", "Bearer "+key) }
	busy := func(who string, got answer) {
		if got.status != 503 || !strings.Contains(got.body, "server_busy") {
			t.Errorf("%s: %d %s", who, got.status, got.body)
		}
	}
	var running sync.WaitGroup
	hold := func(key string) {
		running.Go(func() {
			if got := as(key); got.status != 200 {
				t.Errorf("running call: %d %s", got.status, got.body)
			}
		})
		<-h.asked
	}
	hold(secret)
	busy("alice's second body", as(secret))
	hold("bob")
	busy("carol, when there is no room at all", as("carol"))
	close(release)
	running.Wait()
	for _, key := range []string{secret, "bob", "carol"} {
		if got := as(key); got.status != 200 {
			t.Errorf("after the others: %d %s", got.status, got.body)
		}
	}
}

// TestBodiesWaitForRoom: what finds none is not refused if there is some in time, and may then take as long to come as if it had not waited.
func TestBodiesWaitForRoom(t *testing.T) {
	release := make(chan struct{})
	h := newHouse(t, alice(t, "1000000 tokens in total"), blockUntil(release, 8, 3), func(o *proxy.Options) { o.MaxBody, o.MaxBuffered = 4096, 8192 })
	body := `{"model":"gpt-4o-mini","max_tokens":5,"messages":[{"role":"user","content":"` + strings.Repeat("x", 3900) + `"}]}`
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got := h.chat(body); got.status != 200 {
				t.Errorf("%d %s", got.status, got.body)
			}
		})
	}
	<-h.asked
	select {
	case <-h.asked:
		t.Error("one caller has more than half of the room")
	default:
	}
	close(release)
	for range 19 {
		<-h.asked
	}
	all.Wait()
	if held := h.metric("tokenfare_buffered_body_bytes"); held != 0 {
		t.Errorf("%v bytes are held in the end", held)
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

// TestABodyThatNeverComesHoldsNothing: whoever announces a body and stays silent is answered, and then let go.
func TestABodyThatNeverComesHoldsNothing(t *testing.T) {
	h := newHouse(t, alice(t, "1000 tokens in total"), answerWith(200, upstreamModels),
		func(o *proxy.Options) { o.StrayTimeout, o.BodyTimeout = 50*time.Millisecond, 50*time.Millisecond })
	address := strings.TrimPrefix(h.url, "http://")
	for _, head := range []string{
		"POST /v1/chat/completions HTTP/1.1\r\nAuthorization: Bearer nobody", "POST /v1/files HTTP/1.1", "GET /healthz HTTP/1.1",
		"POST /v1/chat/completions HTTP/1.1\r\nAuthorization: Bearer " + secret, "GET /v1/models HTTP/1.1\r\nAuthorization: Bearer " + secret,
	} {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "%s\r\nHost: x\r\nContent-Length: 9\r\n\r\n", head)
		all, err := io.ReadAll(c) // until the server lets go
		if err != nil || !strings.HasPrefix(string(all), "HTTP/1.1 ") {
			t.Errorf("%q: %v after %q", head, err, all)
		}
		c.Close()
	}
}
