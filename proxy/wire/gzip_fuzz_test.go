package wire

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"testing"
)

// FuzzGunzip compares with compress/gzip: however a body is cut, the same is unpacked, to an end of the same kind.
func FuzzGunzip(f *testing.F) {
	whole := packed(f, "data: {\"a\":1}\n\n", "data: [DONE]\n\n")
	for _, seed := range []string{
		whole, whole[:len(whole)-5], whole + whole, whole + "x", packed(f), "", "\x1f\x8b", "\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\xff\x05\x00a", "plain text",
		whole[:14] + "\xff" + whole[15:],
	} {
		f.Add([]byte(seed), uint64(len(seed)))
	}
	f.Fuzz(func(t *testing.T, body []byte, pattern uint64) {
		if len(body) > 16<<10 {
			return // it may grow a thousand times
		}
		want, wantErr := unzipped(body)
		for _, from := range []io.Reader{bytes.NewReader(body), &cutter{body, pattern}} {
			got, err := io.ReadAll(Gunzip(io.NopCloser(from)))
			if !bytes.Equal(got, want) || (err == nil) != (wantErr == nil) {
				t.Fatalf("%d bytes and %v, want %d and %v", len(got), err, len(want), wantErr)
			}
		}
	})
}

// unzipped is what compress/gzip makes of a body. One that is empty is not a whole one.
func unzipped(body []byte) ([]byte, error) {
	zip, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, errors.Join(errors.New("not packed"), err)
	}
	return io.ReadAll(zip)
}
