package upstream

import (
	"io"
	"net"
	"testing"
)

// A connection has one of the large buffers only while there is something in it that nobody has had: most streams wait most of the time.
func TestAConnectionThatWaitsHoldsNoBuffer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	raw, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	c := newConn(raw)
	if c.socket == nil {
		return // read without one, on systems of which sockets are not known so well
	}
	c.room = mostHeader
	for range 3 {
		if _, err := io.WriteString(server, "0123456789"); err != nil {
			t.Fatal(err)
		}
		p := make([]byte, 4)
		for had := 0; had < 10; {
			n, err := (*bounded)(c).Read(p)
			if err != nil {
				t.Fatal(err)
			}
			if had += n; (c.buffer == nil) != (len(c.ahead) == 0) {
				t.Errorf("after %d bytes, with %d read ahead: a buffer is held: %v", had, len(c.ahead), c.buffer != nil)
			}
		}
		if c.buffer != nil {
			t.Error("a connection that has been read holds a buffer")
		}
	}
}
