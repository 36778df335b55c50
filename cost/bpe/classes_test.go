package bpe

import (
	"testing"
	"unicode"
)

// As many as Unicode's list of characters has, edition 16.0.
func TestRunesOfEachClass(t *testing.T) {
	want := map[class]int{
		classUpper:    1858 + 31,           // Lu, Lt
		classLower:    2258,                // Ll
		classCaseless: 404 + 136_477,       // Lm, Lo
		classMark:     2020 + 468 + 13,     // Mn, Mc, Me
		classNumber:   760 + 236 + 915,     // Nd, Nl, No
		classSpace:    17 + 1 + 1 + 6 - 2,  // Zs, Zl, Zp and the controls that are White_Space, but for
		classNewline:  2,                   // CR and LF
		classOther:    unicode.MaxRune + 1, // all the rest
	}
	got := map[class]int{classOther: 0}
	for r := range rune(unicode.MaxRune + 1) {
		got[classOf(r)]++
	}
	for c, n := range want {
		if c != classOther {
			want[classOther] -= n
		}
	}
	for c, n := range want {
		if got[c] != n {
			t.Errorf("%d runes of class %d, want %d", got[c], c, n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("classes %v", got)
	}
}

func TestWhiteSpace(t *testing.T) {
	white := map[rune]bool{0x20: true, 0x85: true, 0xa0: true, 0x1680: true, 0x2028: true, 0x2029: true, 0x202f: true, 0x205f: true, 0x3000: true}
	for _, from := range []rune{0x09, 0x2000} {
		for r := from; r <= 0x0d || 0x2000 <= r && r <= 0x200a; r++ {
			white[r] = true
		}
	}
	for r := range rune(unicode.MaxRune + 1) {
		c := classOf(r)
		if c&classWhite != 0 != white[r] {
			t.Errorf("%U has class %d", r, c)
		}
		if c == classNewline != (r == '\n' || r == '\r') {
			t.Errorf("%U has class %d", r, c)
		}
	}
}

// Go's tables are of Unicode 15.0, whose characters are the same in 16.0 while some are new. A later Go may know characters
// that 16.0 does not.
func TestClassesAgainstGo(t *testing.T) {
	const older = "15.0.0"
	added := map[string]int{}
	for r := range rune(unicode.MaxRune + 1) {
		c := classOf(r)
		if c == goClass(r) || unicode.Version != older && c == classOther {
			continue
		}
		if !unicode.Is(unicode.Cn, r) { // Go knows it as another
			t.Errorf("%U has class %d, and in Go's tables %d", r, c, goClass(r))
		}
		switch {
		case c&classLetter != 0:
			added["letters"]++
		case c == classMark:
			added["marks"]++
		case c == classNumber:
			added["numbers"]++
		default:
			t.Errorf("%U has class %d, and in Go's tables %d", r, c, goClass(r))
		}
	}
	if unicode.Version == older && (added["letters"] != 4924 || added["marks"] != 51 || added["numbers"] != 80) {
		t.Errorf("added since Unicode 15.0: %v", added)
	}
}

func goClass(r rune) class {
	switch {
	case r == '\n' || r == '\r':
		return classNewline
	case unicode.Is(unicode.White_Space, r):
		return classSpace
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return classUpper
	case unicode.Is(unicode.Ll, r):
		return classLower
	case unicode.IsLetter(r):
		return classCaseless
	case unicode.IsMark(r):
		return classMark
	case unicode.IsNumber(r):
		return classNumber
	default:
		return classOther
	}
}

func TestClassAtEveryRune(t *testing.T) {
	for r := range rune(unicode.MaxRune + 1) {
		if 0xd800 <= r && r < 0xe000 {
			continue
		}
		text := "a" + string(r) + "a"
		if c, size := classAt(text, 1); c != classOf(r) || size != len(text)-2 {
			t.Fatalf("%U: class %d of %d bytes", r, c, size)
		}
	}
}

func TestTablesAreSmall(t *testing.T) {
	if size := len(classIndex) + len(classBlocks); size > 40<<10 {
		t.Errorf("%d bytes of tables", size)
	}
}

func BenchmarkClass(b *testing.B) {
	for name, text := range map[string]string{"ascii": "a1 ?", "cyrillic": "язык", "chinese": "語言模型", "emoji": "😀🎉"} {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); {
				_, size := classAt(text, i)
				if i += size; i == len(text) {
					i = 0
				}
			}
		})
	}
}
