package upstream_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

var errBroken = errors.New("broken")

// mustRedactAlike reads a stream as plainlyRedacted does and as RedactErrors does: each read must give the same bytes and error, and
// each event that is judged must have the same words in it.
func mustRedactAlike(t interface{ Fatalf(string, ...any) }, tb testing.TB, stream string, cut func() int) {
	isError := func(event []byte) bool { return bytes.Contains(event, []byte("error")) }
	var cuts []int
	want := &plainlyRedacted{
		Reader: io.MultiReader(&cutReader{stream, func() int { n := cut(); cuts = append(cuts, n); return n }}, iotest.ErrReader(errBroken)),
		sought: []string{streamKey, "org-", "proj_"}, isError: isError,
	}
	again := func() int { n := cuts[0]; cuts = cuts[1:]; return n }
	got := redacting(tb, io.MultiReader(&cutReader{stream, again}, iotest.ErrReader(errBroken)))
	wanted, read := make([]byte, 32<<10), make([]byte, 32<<10)
	for i := 0; ; i++ {
		n, err := want.Read(wanted)
		m, gotErr := got.Read(read)
		if !bytes.Equal(read[:m], wanted[:n]) || !errors.Is(gotErr, err) {
			t.Fatalf("read %d of %.200q: %d bytes (%v), want %d (%v):\n%.200q, want\n%.200q", i, stream, m, gotErr, n, err, read[:m], wanted[:n])
		}
		if err != nil {
			return
		}
	}
}

func TestRedactErrorsAsThePlainWay(t *testing.T) {
	words := []string{
		"error", streamKey, `sk\u002dsk\\u002Dsecret`, `\u0073`, `\`, `"`, "org-", "org-abcdef7", " proj_a_b-c_d", "nor", "sk-", "s", "sk-sk-secre", "cret", "data: x", "\n", "\n\n", "\r\n", "\r", "\r\n\r\n", "\r\r",
	}
	rapid.Check(t, func(rt *rapid.T) {
		stream := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 40).Draw(rt, "stream"), "")
		most := rapid.IntRange(1, 60).Draw(rt, "longest piece")
		mustRedactAlike(rt, t, stream, func() int { return rapid.IntRange(1, most).Draw(rt, "cut") })
	})
}

// Events about as long as those that are too long to be judged, with the key at their beginning and at their end.
func TestRedactErrorsAsThePlainWayInLongEvents(t *testing.T) {
	for _, size := range []int{1<<20 - 40_000, 1 << 20, 1<<20 + 40, 5 << 19} {
		for _, end := range []string{"\n\n", "\r\n\r\n"} {
			long := strings.Repeat("data: y\n", size/8)
			stream := fmt.Sprintf("data: a\n\ndata: error %s%s%s error%s", long, streamKey, end, end)
			mustRedactAlike(t, t, stream+streamKey+end+streamKey, func() int { return 32 << 10 })
		}
	}
}

func FuzzRedactErrors(f *testing.F) {
	f.Add("data: error "+streamKey+"\n\ndata: "+streamKey+"\r\n\r\nsk-sk-", uint64(1))
	f.Add("\r\n\r\n\r\r\n\n\n\r\n\rerror sk-s", uint64(2))
	f.Fuzz(func(t *testing.T, stream string, pattern uint64) {
		mustRedactAlike(t, t, strings.ReplaceAll(stream, "K", streamKey), func() int {
			pattern = pattern*6364136223846793005 + 1442695040888963407
			return 1 + int(pattern>>59)
		})
	})
}

// BenchmarkRedactErrors passes a stream of 200 events, an event a read and in pieces as a busy connection gives them. The key is as
// long as a project's.
func BenchmarkRedactErrors(b *testing.B) {
	const event = `data: {"id":"chatcmpl-CcXs1vV0bT9aPq3rKk2mJ5nYh8dWe","object":"chat.completion.chunk","created":1763700000,"model":"gpt-4o-mini-2024-07-18",` +
		`"system_fingerprint":"fp_560af6e559","choices":[{"index":0,"delta":{"content":" tasks"},"logprobs":null,"finish_reason":null}]}` + "\n\n"
	stream := strings.Repeat(event, 200)
	for _, piece := range []struct {
		name string
		size int
	}{{"events", len(event)}, {"pieces", 4 << 10}} {
		b.Run(piece.name, func(b *testing.B) {
			u := upstreamWith(b, "sk-proj-"+strings.Repeat("aB3-dE5_gH7i", 13))
			p := make([]byte, 32<<10)
			b.SetBytes(int64(len(stream)))
			b.ReportAllocs()
			for b.Loop() {
				r := u.RedactErrors(io.NopCloser(&cutReader{stream, func() int { return piece.size }}), func([]byte) bool { return false })
				for {
					if _, err := r.Read(p); err != nil {
						break
					}
				}
			}
		})
	}
}
