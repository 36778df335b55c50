package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tokenfare/tokenfare/test/harness"
)

// client holds one stream.
type client struct {
	name string
	got  []byte
	err  error
}

// longest is how long a stream may take.
const longest = 20 * time.Minute

// filler is what prompts are made of: ordinary text, as other text is counted at other speeds.
const filler = "The quick brown fox jumps over the lazy dog, and nobody has asked it why; it was in 1927, or so. "

// run opens the stream with a prompt of so many bytes, says when the first of its words has come, and reads it to its end.
func (c *client) run(address string, prompt int, opened func()) {
	var once sync.Once
	defer once.Do(opened)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		c.err = err
		return
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(longest))
	if c.err = send(conn, address, c.name, prompt); c.err != nil {
		return
	}
	resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 1<<10), nil)
	if err != nil {
		c.err = fmt.Errorf("no answer: %w", err)
		return
	}
	defer resp.Body.Close()
	buffer := make([]byte, 1<<10)
	for {
		n, err := resp.Body.Read(buffer)
		c.got = append(c.got, buffer[:n]...)
		if n > 0 {
			once.Do(opened)
		}
		switch {
		case errors.Is(err, io.EOF) && resp.StatusCode == http.StatusOK:
			return
		case errors.Is(err, io.EOF):
			c.err = fmt.Errorf("status %d", resp.StatusCode)
			return
		case err != nil:
			c.err = err
			return
		}
	}
}

// send writes the request piece by piece: a thousand prompts of a megabyte are not held here at once.
func send(conn net.Conn, address, name string, prompt int) error {
	before := mark + name + `","model":"gpt-4.1-mini","stream":true,"stream_options":{"include_usage":true},"max_completion_tokens":2000,"messages":[{"role":"user","content":"`
	const after = `"}]}`
	key := []string{harness.Alice, harness.Bob}[name[len(name)-1]%2] // each may have half of what bodies may take
	w := bufio.NewWriterSize(conn, 4<<10)
	fmt.Fprintf(w, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		address, key, len(before)+prompt+len(after))
	io.WriteString(w, before)
	for left := prompt; left > 0; left -= min(left, len(filler)) {
		io.WriteString(w, filler[:min(left, len(filler))])
	}
	io.WriteString(w, after)
	return w.Flush()
}

// check says what is wrong with the stream that the client has, if anything is.
func (c *client) check(words int) error {
	if c.err != nil {
		return fmt.Errorf("%w, after %d bytes: %.300s", c.err, len(c.got), c.got)
	}
	want := whole(c.name, words)
	if bytes.Equal(c.got, want) {
		return nil
	}
	at := 0
	for at < min(len(c.got), len(want)) && c.got[at] == want[at] {
		at++
	}
	return fmt.Errorf("it differs from what was sent at byte %d of %d: %s", at, len(want), strings.ToValidUTF8(string(c.got[at:min(at+100, len(c.got))]), "?"))
}
