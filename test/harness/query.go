package harness

import (
	"bufio"
	wire "encoding/binary" // binary is the program under test
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// query runs one statement over a connection of its own and returns the rows, their columns joined by "|".
func (c *cluster) query(database, statement string) ([]string, error) {
	s, err := c.connect(database)
	if err != nil {
		return nil, err
	}
	defer s.conn.Close()
	return s.query(statement)
}

// session is one connection. It speaks as much of Postgres' protocol 3.0 as plain statements need.
type session struct {
	conn net.Conn
	in   *bufio.Reader
}

// connect opens a connection, which lasts no longer than Patience.
func (c *cluster) connect(database string) (*session, error) {
	conn, err := net.DialTimeout("tcp", c.address(), Patience)
	if err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(Patience))
	s := &session{conn: conn, in: bufio.NewReader(conn)}
	const version = "\x00\x03\x00\x00"
	s.send("", version+"user\x00"+superuser+"\x00database\x00"+database+"\x00\x00")
	if _, err := s.untilIdle(); err != nil {
		conn.Close()
		return nil, fmt.Errorf("connect to database %s: %w", database, err)
	}
	return s, nil
}

func (s *session) query(statement string) ([]string, error) {
	s.send("Q", statement+"\x00")
	rows, err := s.untilIdle()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", statement, err)
	}
	return rows, nil
}

// send writes a message; one that cannot be written shows when its answer is read.
func (s *session) send(kind, body string) {
	io.WriteString(s.conn, kind+string(wire.BigEndian.AppendUint32(nil, uint32(4+len(body))))+body)
}

// untilIdle reads messages until the server waits for the next one of ours.
func (s *session) untilIdle() (rows []string, err error) {
	for {
		kind, err2 := s.in.ReadByte()
		if err2 != nil {
			return nil, errors.Join(err, err2) // what the server said before it hung up says more
		}
		body, err2 := s.body()
		if err2 != nil {
			return nil, errors.Join(err, err2)
		}
		switch kind {
		case 'E':
			err = errors.New(message(body))
		case 'R':
			if len(body) != 4 || wire.BigEndian.Uint32(body) != 0 {
				return nil, errors.New("the server asks for a password")
			}
		case 'D':
			row, err := columns(body)
			if err != nil {
				return nil, err
			}
			rows = append(rows, strings.Join(row, "|"))
		case 'Z':
			return rows, err
		}
	}
}

// body reads what follows a message's kind.
func (s *session) body() ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(s.in, size[:]); err != nil {
		return nil, err
	}
	n := wire.BigEndian.Uint32(size[:])
	if n < 4 || n > 1<<20 {
		return nil, fmt.Errorf("a message of %d bytes", n)
	}
	body := make([]byte, n-4)
	_, err := io.ReadFull(s.in, body)
	return body, err
}

// message is the text for people of an error: the field M.
func message(body []byte) string {
	for field := range strings.SplitSeq(string(body), "\x00") {
		if text, ok := strings.CutPrefix(field, "M"); ok {
			return text
		}
	}
	return "an error without a message"
}

// columns are the values of a row; NULL is an empty one.
func columns(body []byte) ([]string, error) {
	short := errors.New("a row ends early")
	if len(body) < 2 {
		return nil, short
	}
	out := make([]string, wire.BigEndian.Uint16(body))
	body = body[2:]
	for i := range out {
		if len(body) < 4 {
			return nil, short
		}
		n := int32(wire.BigEndian.Uint32(body))
		body = body[4:]
		if n < 0 {
			continue
		}
		if int(n) > len(body) {
			return nil, short
		}
		out[i], body = string(body[:n]), body[n:]
	}
	return out, nil
}
