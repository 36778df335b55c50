package proxy

import (
	"net/http"
	"strings"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

// unpack deals with an answer that is compressed although we asked for one that is not: it reaches the client unpacked, whatever that can
// read, as what is in it must be read, and its errors may quote what nobody must see. Other codings pass unread.
func (x *exchange) unpack(resp *http.Response) {
	switch coding := resp.Header.Get("Content-Encoding"); {
	case coding == "" || strings.EqualFold(coding, "identity"):
	case !isGzip(resp.Header):
		x.coded, x.unreadable = true, true
	default:
		unpacked(resp)
	}
}

func isGzip(h http.Header) bool {
	codings := h.Values("Content-Encoding")
	return len(codings) == 1 && (strings.EqualFold(codings[0], "gzip") || strings.EqualFold(codings[0], "x-gzip")) // RFC 9110, section 8.4.1.3
}

// unpacked replaces a compressed body by what it holds.
func unpacked(resp *http.Response) {
	resp.Body = wire.Gunzip(resp.Body)
	resp.ContentLength = -1
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
}
