package proxy

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

// unpack deals with an answer that is compressed although we asked for one that is not. What is in it must be read: a plain one
// reaches a client that can read gzip as it is, and all others unpacked. So does a stream, whoever reads it: its errors may quote what
// nobody must see. Other codings pass unread.
func (x *exchange) unpack(resp *http.Response, how *wire.AnswerOptions) {
	switch coding := resp.Header.Get("Content-Encoding"); {
	case coding == "" || strings.EqualFold(coding, "identity"):
	case !isGzip(resp.Header):
		x.unreadable = true // nothing in it can be counted
	case x.takesGzip && !how.Stream && !x.notices():
		how.Gzip = true
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

// takesGzip reports whether a client says that it can read gzip (RFC 9110, section 12.5.3).
func takesGzip(h http.Header) bool {
	stars := false
	for _, list := range h.Values("Accept-Encoding") {
		for element := range strings.SplitSeq(list, ",") {
			coding, weight, _ := strings.Cut(element, ";")
			_, q, weighted := strings.Cut(weight, "=")
			wanted := true
			if weighted {
				n, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
				wanted = err == nil && n > 0
			}
			switch coding = strings.ToLower(strings.TrimSpace(coding)); coding {
			case "gzip", "x-gzip":
				return wanted
			case "*":
				stars = wanted
			}
		}
	}
	return stars
}
