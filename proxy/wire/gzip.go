package wire

import (
	"compress/gzip"
	"errors"
	"io"
)

// Bounds of what a compressed body may grow to. Answers shrink to a tenth at best; deflate itself can make a thousandth of
// what says nothing, and would have us unpack it for hours.
const (
	maxUnpacked = 64 << 20 // bytes that any body may have
	maxGrowth   = 200      // bytes for each that came, beyond maxUnpacked
)

var errGrowth = errors.New("the upstream's compressed answer unpacks to far more than an answer can hold")

// Gunzip unpacks a body as it is read (RFC 1952), no further ahead than it must. It holds some 50 KiB. A body that grows
// beyond all measure is an error.
func Gunzip(body io.ReadCloser) io.ReadCloser {
	g := &gunzip{body: body}
	g.in.from = body
	return g
}

type gunzip struct {
	body io.ReadCloser
	in   counted
	zip  *gzip.Reader // nil: nothing was read yet
	out  int64
}

// counted counts what is read.
type counted struct {
	from io.Reader
	n    int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.zip == nil {
		zip, err := gzip.NewReader(&g.in)
		if err != nil {
			return 0, notPacked(err)
		}
		g.zip = zip
	}
	n, err := g.zip.Read(p)
	if g.out += int64(n); g.out > maxUnpacked && g.out/maxGrowth > g.in.n {
		return 0, errGrowth
	}
	return n, err
}

func (g *gunzip) Close() error { return g.body.Close() }

// notPacked keeps the end of an empty body from looking like the end of a whole one.
func notPacked(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
