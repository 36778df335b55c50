package proxy

import (
	"mime"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

// decimal is a number as people and programs write one.
var decimal = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// FuzzAnswerHeaders: headers of upstreams are read as what they say, or not at all. No wait is negative or longer than an hour, what is
// passed on of one is a number or a date to come, ids are short and printable, and how an answer is read depends on its media type alone.
func FuzzAnswerHeaders(f *testing.F) {
	for _, seed := range [][4]string{
		{"20", "1500", "req_1-2:3/4.5", "application/json"},
		{"Sun, 22 Nov 2026 10:00:30 GMT", "", "", "text/event-stream; charset=utf-8"},
		{"Sunday, 22-Nov-26 10:59:30 GMT", "-1", "a b", "Text/Event-Stream"},
		{"Sun Nov 22 12:00:00 2026", "0.5", strings.Repeat("x", 129), "audio/mpeg"},
		{"9223372036854775807", "9223372036854775807", strings.Repeat("x", 128), "application/problem+json;x=\"\\\"\""},
		{"-9223372036854775808", "99999999999999999999", "r\x00", "application/json; charset"},
		{"Mon, 01 Jan 0001 00:00:00 GMT", "1e3", "\u00e9", "text/event-stream;text/event-stream"},
		{"Fri, 31 Dec 9999 23:59:59 GMT", "0x1p9", "<script>", "application/json, text/plain"},
		{"NaN", "Inf", "a\nb", ";"},
		{"1_000", "-0", "", "*/*"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, after, millis, id, media string) {
		h := http.Header{"Retry-After": {after}, "Retry-After-Ms": {millis}, "Content-Type": {media}}
		wait := retryAfter(h, now)
		if wait < 0 || wait > time.Hour {
			t.Errorf("%q and %q are a wait of %s", after, millis, wait)
		}
		if at, err := http.ParseTime(after); err == nil && retryAfter(http.Header{"Retry-After": {after}}, now) != min(max(0, at.Sub(now)), time.Hour) {
			t.Errorf("%q is %s after %s, and a wait of %s", after, at.Sub(now), now, wait)
		}
		judgeWait(t, after, now)
		judgeWait(t, millis, now)

		if got := plainID(id); got != "" && got != id || len(got) > 128 || strings.ContainsFunc(got, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"'<>&\`, r) }) {
			t.Errorf("the id %q is taken for %q", id, got)
		}
		judgeFraming(t, h, media)
	})
}

// judgeWait fails the test if a wait is passed on that clients may read as something else.
func judgeWait(t *testing.T, wait string, now time.Time) {
	t.Helper()
	number, _ := strconv.ParseFloat(wait, 64)
	at, failed := http.ParseTime(wait)
	passes := plainWait([]string{wait}, now)
	switch {
	case failed == nil && passes != at.After(now):
		t.Errorf("%q is a date, %s after now, and passes: %v", wait, at.Sub(now), passes)
	case passes && failed != nil && (!decimal.MatchString(wait) || number < 0 || number > 1e9):
		t.Errorf("%q is no wait, and is passed on", wait)
	case len(wait) > 0 && len(wait) < 9 && strings.Trim(wait, "0123456789") == "" && !passes:
		t.Errorf("%q is a number, and is not passed on", wait)
	}
	if plainWait([]string{wait, wait}, now) || plainWait(nil, now) {
		t.Errorf("%q is passed on twice, or nothing is", wait)
	}
}

// judgeFraming compares how an answer is read with what the standard library reads of its media type.
func judgeFraming(t *testing.T, h http.Header, said string) {
	t.Helper()
	media, _, err := mime.ParseMediaType(said)
	stream := err == nil && media == "text/event-stream"
	json := err == nil && (media == "application/json" || strings.HasSuffix(media, "+json"))
	for _, e := range []wire.Endpoint{wire.Chat, wire.Speech, wire.Transcriptions, wire.Translations} {
		want := wire.AnswerOptions{Endpoint: e, Stream: stream}
		if !stream && !json {
			want.Bytes = e == wire.Speech
			want.Text = e == wire.Transcriptions || e == wire.Translations
		}
		if got := framing(e, h); !reflect.DeepEqual(got, want) {
			t.Errorf("an answer of %v as %q is read as %+v, want %+v", e, said, got, want)
		}
	}
}
