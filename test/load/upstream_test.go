package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
)

// upstream says a word now and then on each stream, until all that are wanted are open and it is told to come to an end. It knows only the
// requests of this package.
type upstream struct {
	url    string
	caFile string // of its certificate; "" without TLS
	pace   time.Duration
	end    chan struct{} // closed: streams end after a few more words

	asked atomic.Int64
	mu    sync.Mutex
	words map[string]int // how many each stream has said in the end, by its name
}

// mark stands before a stream's name in its request.
const mark = `{"user":"`

func newUpstream(t testing.TB, pace time.Duration, over fakeopenai.Over) *upstream {
	t.Helper()
	u := &upstream{pace: pace, end: make(chan struct{}), words: map[string]int{}}
	if over != fakeopenai.Plain {
		server := httptest.NewUnstartedServer(http.HandlerFunc(u.handle))
		u.caFile = over.Start(t, server)
		u.url = server.URL + "/v1"
		t.Cleanup(server.Close)
		return u
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u.url = "http://" + l.Addr().String() + "/v1"
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for u.serve(c) == nil {
				}
			}()
		}
	}()
	return u
}

// serve answers one request.
func (u *upstream) serve(c net.Conn) error {
	name, err := readRequest(c)
	if err != nil {
		return err
	}
	u.asked.Add(1)
	if _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"); err != nil {
		return err
	}
	if err := u.answer(name, func(text []byte) error {
		_, err := fmt.Fprintf(c, "%x\r\n%s\r\n", len(text), text)
		return err
	}); err != nil {
		return err
	}
	_, err = io.WriteString(c, "0\r\n\r\n")
	return err
}

// handle answers one request over TLS.
func (u *upstream) handle(w http.ResponseWriter, r *http.Request) {
	name, err := nameIn(r.Body, int(r.ContentLength))
	if err != nil {
		return
	}
	u.asked.Add(1)
	w.Header().Set("Content-Type", "text/event-stream")
	if u.answer(name, func(text []byte) error {
		if _, err := w.Write(text); err != nil {
			return err
		}
		return http.NewResponseController(w).Flush()
	}) != nil {
		panic(http.ErrAbortHandler)
	}
}

// answer says all that a stream says.
func (u *upstream) answer(name string, say func(text []byte) error) error {
	tick := time.NewTicker(u.pace)
	defer tick.Stop()
	words, more := 0, 1<<30
	for end := u.end; more > 0; more-- {
		if err := say(word(name, words)); err != nil {
			return err
		}
		words++
		select {
		case <-tick.C:
		case <-end:
			end, more = nil, 3
		}
	}
	u.mu.Lock()
	u.words[name] = words
	u.mu.Unlock()
	return say(last(name, words))
}

// readRequest reads a request whole, keeps nothing of it, and returns the stream's name.
func readRequest(c net.Conn) (name string, err error) {
	r := bufio.NewReaderSize(c, 4<<10)
	length := -1
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return "", err
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(field, []byte("content-length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return "", err
			}
		}
		if len(bytes.TrimSpace(line)) == 0 {
			break
		}
	}
	return nameIn(r, length)
}

// nameIn reads a body of so many bytes whole, keeps nothing of it, and returns the stream's name.
func nameIn(r io.Reader, length int) (name string, err error) {
	head := make([]byte, len(mark)+nameLength)
	if length < len(head) {
		return "", errors.New("not a request of this test")
	}
	if _, err := io.ReadFull(r, head); err != nil {
		return "", err
	}
	if !bytes.HasPrefix(head, []byte(mark)) {
		return "", errors.New("not a request of this test")
	}
	_, err = io.CopyN(io.Discard, r, int64(length-len(head)))
	return string(head[len(mark):]), err
}

// nameLength is that of every stream's name.
const nameLength = 6

func nameOf(stream int) string { return fmt.Sprintf("s%05d", stream) }

// word is one event of a stream, unlike any other's.
func word(name string, n int) []byte {
	return fmt.Appendf(nil, "data: {\"id\":\"chatcmpl-%s\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"gpt-4.1-mini\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" %s.%d\"},\"finish_reason\":null}]}\n\n", name, name, n)
}

// last is what ends a stream that reports its usage.
func last(name string, words int) []byte {
	return fmt.Appendf(nil, "data: {\"id\":\"chatcmpl-%s\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"gpt-4.1-mini\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"+
		"data: {\"id\":\"chatcmpl-%s\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"gpt-4.1-mini\",\"choices\":[],\"usage\":{\"prompt_tokens\":50,\"completion_tokens\":%d,\"total_tokens\":%d}}\n\ndata: [DONE]\n\n",
		name, name, words, 50+words)
}

// whole is what a client gets of a stream that it asked for with its usage.
func whole(name string, words int) []byte {
	var out []byte
	for n := range words {
		out = append(out, word(name, n)...)
	}
	return append(out, last(name, words)...)
}
