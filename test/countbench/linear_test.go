package countbench

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

const megabyte = 1_000_000

// prose is English that does not repeat itself: what the comments of Go's
// standard library say. A short text again and again would be counted by what
// the processor remembers of it, in half of the time.
func prose(tb testing.TB, length int) string {
	tb.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		tb.Fatal(err)
	}
	var b strings.Builder
	err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(root)), "src"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || b.Len() >= length || filepath.Ext(path) != ".go" {
			return err
		}
		source, err := os.ReadFile(path)
		for line := range strings.Lines(string(source)) {
			if comment, ok := strings.CutPrefix(line, "// "); ok {
				b.WriteString(comment)
			}
		}
		return err
	})
	if err != nil || b.Len() < length {
		tb.Fatalf("%d bytes of comments, %v", b.Len(), err)
	}
	return strings.ToValidUTF8(b.String()[:length], "")
}

// hostile are texts of so many bytes that a counter may take far too long for;
// the first of them is what the others are measured by. Of some characters the
// vocabularies have runs of many lengths, which makes them hard: dashes, stars,
// and the spaces of padded lines.
func hostile(tb testing.TB, length int) []text {
	tb.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	bytes := func(n int, next func() byte) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = next()
		}
		return string(b)
	}
	anyByte := func() byte { return byte(random.Uint32()) }
	runes := func(next func() rune) string {
		var b strings.Builder
		for b.Len() < length {
			b.WriteRune(next())
		}
		return b.String()
	}
	repeat := func(unit string) string { return strings.Repeat(unit, length/len(unit)+1) }
	common := common(tb)
	const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	return []text{
		{"English", prose(tb, length)},
		{"one-letter", repeat("a")},
		{"another-letter", repeat("Z")},
		{"spaces", repeat(" ")},
		{"newlines", repeat("\n")},
		{"spaces-and-newlines", repeat(" \n")},
		{"random-bytes", bytes(length, anyByte)},
		{"random-characters", runes(func() rune {
			for {
				if r := rune(random.IntN(unicode.MaxRune + 1)); r < 0xd800 || r > 0xdfff {
					return r
				}
			}
		})},
		{"base64", base64.StdEncoding.EncodeToString([]byte(bytes(length/4*3, anyByte)))},
		{"CJK-rare-characters", runes(func() rune { return rune(0x4e00 + random.IntN(0x9fa5-0x4e00)) })},
		{"CJK-common-characters", runes(func() rune { return common[random.IntN(len(common))] })},
		{"one-CJK-character", repeat("日")},
		{"ab", repeat("ab")},
		{"random-letters", bytes(length, func() byte { return 'a' + byte(random.IntN(26)) })},
		{"digits", bytes(length, func() byte { return '0' + byte(random.IntN(10)) })},
		{"punctuation", bytes(length, func() byte { return punctuation[random.IntN(len(punctuation))] })},
		{"carets", repeat("^")},
		{"dashes", repeat("-")},
		{"stars", repeat("*")},
		{"equals-signs", repeat("=")},
		{"slashes", repeat("/")},
		{"tabs", repeat("\t")},
		{"dashes-and-a-mark-in-turns", repeat(strings.Repeat("-", 201) + "!")},
		{"combining-marks", repeat("\u0301")},
		{"emoji", repeat("🎉")},
		{"NUL", repeat("\x00")},
		{"padded-lines", repeat(strings.Repeat(" ", 107) + "\n")},
		{"mixed-runs", repeat(strings.Repeat("#", 40) + strings.Repeat("/", 10) + strings.Repeat("#", 38) + "\t" +
			strings.Repeat(" ", 121) + strings.Repeat("\t", 26) + "\n")},
		{"other-mixed-runs", repeat("\n\n\t" + strings.Repeat(" ", 49) + strings.Repeat("~", 51) + "/////\n")},
	}
}

type text struct{ name, text string }

// common are the characters of the Chinese texts.
func common(tb testing.TB) []rune {
	tb.Helper()
	all := []rune(strings.Join(kinds[3].texts(tb), ""))
	return slices.DeleteFunc(all, func(r rune) bool { return !unicode.Is(unicode.Han, r) })
}

// BenchmarkLinear is how long ours takes for a megabyte of this and that, next
// to a megabyte of English in the same rounds.
func BenchmarkLinear(b *testing.B) {
	texts := hostile(b, megabyte)
	for _, encoding := range encodings {
		b.Run(encoding, func(b *testing.B) {
			count := libraries[0].counter(b, encoding)
			var subjects []*subject
			for _, t := range texts {
				subjects = append(subjects, &subject{name: t.name, count: count, texts: always(t.text)})
			}
			takeTurns(subjects, min(rounds(), 9))
			for i, s := range subjects {
				b.Run(s.name, func(b *testing.B) {
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(median(s.cpu)/1e6*megabyte/float64(len(texts[i].text)), "cpu-ms/MB")
					b.ReportMetric(slices.Min(s.cpu)/1e6*megabyte/float64(len(texts[i].text)), "least-cpu-ms/MB")
					b.ReportMetric(ratio(s.cpu, subjects[0].cpu), "x-of-English")
					b.ReportMetric(s.allocs, "allocs/count")
				})
			}
		})
	}
}

// BenchmarkFlood is how long ours takes for a request body of 5 MB that is one
// letter, again and again.
func BenchmarkFlood(b *testing.B) {
	flood := always(strings.Repeat("a", 5*megabyte))
	for _, encoding := range encodings {
		b.Run(encoding, func(b *testing.B) {
			s := &subject{name: libraries[0].name, count: libraries[0].counter(b, encoding), texts: flood}
			takeTurns([]*subject{s}, min(rounds(), 15))
			b.Run(s.name, func(b *testing.B) {
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(median(s.cpu)/1e6, "cpu-ms/count")
				b.ReportMetric(slices.Min(s.cpu)/1e6, "least-cpu-ms/count")
				b.ReportMetric(s.allocs, "allocs/count")
			})
		})
	}
}

// BenchmarkGrowth has every contender count one letter so many times. Each
// doubling should double the time.
func BenchmarkGrowth(b *testing.B) {
	const encoding = "o200k_base"
	for _, n := range []int{5_000, 10_000, 20_000, 40_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := newComparison(b, encoding, always(strings.Repeat("a", n)))
			takeTurns(c.subjects, min(rounds(), 3))
			c.report(b)
		})
	}
}

// TestTimeIsLinear is the same with room for the race detector and for whatever
// else the machine does: the slowest of them takes some fifteen times as long as
// English, and up to fifty under the detector. Times that grow with the square
// are many thousands of times that.
func TestTimeIsLinear(t *testing.T) {
	const most = 1000
	texts := hostile(t, megabyte)
	for _, encoding := range encodings {
		count := libraries[0].counter(t, encoding)
		least := func(text string) float64 {
			s := &subject{count: count, times: 1, texts: always(text)}
			for round := range 3 {
				s.turn(round)
			}
			return slices.Min(s.cpu) / float64(len(text))
		}
		english := least(texts[0].text)
		for _, h := range texts[1:] {
			x := least(h.text) / english
			t.Logf("%s: %s takes %.1f times as long as English", encoding, h.name, x)
			if x > most {
				t.Errorf("%s: %s takes %.0f times as long as English, want at most %d", encoding, h.name, x, most)
			}
		}
	}
}
