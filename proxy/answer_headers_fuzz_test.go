package proxy

import (
	"math/big"
	"mime"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

// seconds are a number in digits, decimal one with a fraction.
var (
	seconds = regexp.MustCompile(`^[0-9]{1,9}$`)
	decimal = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]+)?$`)
)

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
		judgeWait(t, headRetryAfter, after, now)
		judgeWait(t, headRetryMillis, millis, now)

		if got := plainID(id); got != "" && got != id || len(got) > 128 || strings.ContainsFunc(got, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"'<>&\`, r) }) {
			t.Errorf("the id %q is taken for %q", id, got)
		}
		judgeFraming(t, h, media)
	})
}

// judgeWait fails the test if a wait is passed on that clients may read as something else, or one is not that all read alike.
func judgeWait(t *testing.T, name, value string, now time.Time) {
	t.Helper()
	at, failed := http.ParseTime(value)
	dated := failed == nil && name == headRetryAfter && at.After(now)
	wait, passed := plainWait(name, []string{value}, now)
	number, up := new(big.Rat), new(big.Rat)
	if decimal.MatchString(value) {
		number.SetString(value)
	}
	up.SetString(passed)
	more := new(big.Rat).Sub(up, number)
	switch {
	case dated != (passed != "" && passed == value && failed == nil):
		t.Errorf("%s %q is a date, %s after now, and passes as %q", name, value, at.Sub(now), passed)
	case dated:
	case passed != "" && (strings.Trim(passed, "0123456789") != "" || !decimal.MatchString(value) || name == headRetryAfter && !seconds.MatchString(value)):
		t.Errorf("%s %q passes as %q", name, value, passed)
	case passed != "" && (number.Sign() <= 0 || more.Sign() < 0 || more.Cmp(big.NewRat(1, 1)) >= 0):
		t.Errorf("%s %q passes as %q, which is not rounded up", name, value, passed)
	case passed == "" && seconds.MatchString(value) && number.Sign() > 0:
		t.Errorf("%s %q is a number, and is not passed on", name, value)
	}
	if (wait > 0) != (passed != "") {
		t.Errorf("%s %q is a wait of %s, and passes as %q", name, value, wait, passed)
	}
	for _, values := range [][]string{{value, value}, nil} {
		if _, passed := plainWait(name, values, now); passed != "" {
			t.Errorf("%q is passed on as %q", values, passed)
		}
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
