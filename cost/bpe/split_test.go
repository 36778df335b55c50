package bpe

import (
	"slices"
	"strings"
	"testing"
)

// checkSplits gives the pieces of one text in each encoding, joined by dots. They are what tiktoken itself makes of it.
func checkSplits(t *testing.T, o200k, cl100k, p50k string) {
	t.Helper()
	for name, want := range map[string]string{"o200k": o200k, "cl100k": cl100k, "p50k": p50k} {
		text, pieces := strings.ReplaceAll(want, "·", ""), strings.Split(want, "·")
		if text != strings.ReplaceAll(o200k, "·", "") {
			t.Fatalf("the pieces %+q are of another text than %+q", want, o200k)
		}
		if got := splitAll(splitters[name], text); !slices.Equal(got, pieces) {
			t.Errorf("%s splits %+q into %+q, want %+q", name, text, got, pieces)
		}
		if got := referenceSplit(references[name], text); !slices.Equal(got, pieces) {
			t.Errorf("the reference for %s splits %+q into %+q, want %+q", name, text, got, pieces)
		}
	}
}

func TestSplitWords(t *testing.T) {
	checkSplits(t, "Hello· world·,· it's· ·7· o·'clock", "Hello· world·,· it·'s· ·7· o·'clock", "Hello· world·,· it·'s· 7· o·'·clock")
	checkSplits(t, "get·HTTPServer·URL·.", "getHTTPServerURL·.", "getHTTPServerURL·.")
	checkSplits(t, "a·(b·)·\tc", "a·(b·)·\tc", "a·(·b·)·\t·c")
	checkSplits(t, "ǅa·Bǅc", "ǅaBǅc", "ǅaBǅc")
	checkSplits(t, " a· · b", " a· · b", " a· · b")
}

// Only the straight apostrophe makes a contraction, and in p50k only small letters do.
func TestSplitContractionsOfAnyCase(t *testing.T) {
	checkSplits(t, "I'll· WE'VE· ab'S· '·x", "I·'ll· WE·'VE· ab·'S· '·x", "I·'ll· WE·'·VE· ab·'·S· '·x")
	checkSplits(t, "'tis· '·Tis", "'t·is· '·Tis", "'t·is· '·Tis")
	checkSplits(t, "a·'l", "a·'l", "a·'·l")
	checkSplits(t, "a·'", "a·'", "a·'")
	checkSplits(t, "a·'r", "a·'r", "a·'·r")
	checkSplits(t, "'LLc", "'LL·c", "'·LLc")
	checkSplits(t, "x'd·'M", "x·'d·'M", "x·'d·'·M")
	checkSplits(t, "ab·’s", "ab·’s", "ab·’·s")
}

// Case folding counts U+017F, the long s, as an s; p50k folds no case. U+0140 shares the first byte of the long s.
func TestSplitLongS(t *testing.T) {
	checkSplits(t, "a'ſ·b", "a·'ſ·b", "a·'·ſb")
	checkSplits(t, "'ſb", "'ſ·b", "'·ſb")
	checkSplits(t, "a·'ŀ", "a·'ŀ", "a·'·ŀ")
	checkSplits(t, "a· '·ſ", "a· '·ſ", "a· '·ſ")
}

// A mark is part of a word in o200k, and punctuation elsewhere.
func TestSplitMarks(t *testing.T) {
	checkSplits(t, "a\u0301b\u0301's", "a·\u0301b·\u0301'·s", "a·\u0301·b·\u0301'·s")
	checkSplits(t, "!\u0301a", "!\u0301·a", "!\u0301·a")
	checkSplits(t, "!!\u0301\n·\u0301·A", "!!\u0301\n·\u0301A", "!!\u0301·\n·\u0301·A")
	checkSplits(t, " \u0301·AB", " \u0301·AB", " \u0301·AB")
	checkSplits(t, "\u0301·AB", "\u0301AB", "\u0301·AB")
	checkSplits(t, "\u0301's", "\u0301'·s", "\u0301'·s")
	checkSplits(t, "\n·\u0301a", "\n·\u0301a", "\n·\u0301·a")
	checkSplits(t, "7·\u0301·7", "7·\u0301·7", "7·\u0301·7")
	checkSplits(t, "\u200d\u0301", "\u200d\u0301", "\u200d\u0301")
}

// Letters without case may both begin and end a word of o200k, so that a capital behind them begins the next one.
func TestSplitCaselessBeforeUpper(t *testing.T) {
	checkSplits(t, "中·A", "中A", "中A")
	checkSplits(t, "中Ab", "中Ab", "中Ab")
	checkSplits(t, "AB中·CD", "AB中CD", "AB中CD")
	checkSplits(t, "A中's·B", "A中·'s·B", "A中·'s·B")
	checkSplits(t, "\u1d43·B", "\u1d43B", "\u1d43B")
	checkSplits(t, "中ABC中·D", "中ABC中D", "中ABC中D")
	checkSplits(t, " 中·A", " 中A", " 中A")
	checkSplits(t, "Ab·C", "AbC", "AbC")
}

// The last character of a run goes with what is behind it only if something is.
func TestSplitWhitespaceAtTheEnd(t *testing.T) {
	checkSplits(t, "a·\n·  ", "a·\n·  ", "a·\n  ")
	checkSplits(t, "a·  ", "a·  ", "a·  ")
	checkSplits(t, "a· \n", "a· \n", "a· \n")
	checkSplits(t, "a·\t", "a·\t", "a·\t")
	checkSplits(t, "  ", "  ", "  ")
	checkSplits(t, "a·\r\n \r", "a·\r\n \r", "a·\r\n \r")
	checkSplits(t, "a·\n\n", "a·\n\n", "a·\n\n")
}

// A run of white space is one piece up to its last newline, whatever stands between the newlines.
func TestSplitNewlineSpaceNewline(t *testing.T) {
	checkSplits(t, "\n \n", "\n \n", "\n \n")
	checkSplits(t, "a·\n \n·b", "a·\n \n·b", "a·\n ·\n·b")
	checkSplits(t, "\n\t\n· · b", "\n\t\n· · b", "\n\t\n · b")
	checkSplits(t, " \n· b", " \n· b", " \n· b")
	checkSplits(t, "\r\n\r\n· · x", "\r\n\r\n· · x", "\r\n\r\n · x")
	checkSplits(t, "\n \n \n", "\n \n \n", "\n \n \n")
}

func TestSplitWhiteSpaceOfUnicode(t *testing.T) {
	checkSplits(t, "a·\u0085b", "a·\u0085b", "a·\u0085·b")
	checkSplits(t, "a·\u0085·\u0085b", "a·\u0085·\u0085b", "a·\u0085·\u0085·b")
	checkSplits(t, "a·\u3000·\u3000b", "a·\u3000·\u3000b", "a·\u3000·\u3000·b")
	checkSplits(t, "\u00a0·!", "\u00a0·!", "\u00a0·!")
	checkSplits(t, "\u2028\u2029· ·1", "\u2028\u2029· ·1", "\u2028\u2029· 1")
	checkSplits(t, "\u1680\n", "\u1680\n", "\u1680\n")
	checkSplits(t, "\u2003· !", "\u2003· !", "\u2003· !")
	checkSplits(t, "\u202f·\u205f·9", "\u202f·\u205f·9", "\u202f·\u205f·9")
}

// Neither the byte order mark nor separators of ASCII are white space.
func TestSplitNoWhiteSpace(t *testing.T) {
	checkSplits(t, "a·\ufeffb", "a·\ufeffb", "a·\ufeff·b")
	checkSplits(t, "\ufeff\ufeff", "\ufeff\ufeff", "\ufeff\ufeff")
	checkSplits(t, "\u200b· a", "\u200b· a", "\u200b· a")
	checkSplits(t, "\u180e\u180e", "\u180e\u180e", "\u180e\u180e")
	checkSplits(t, "\x1c\x1f·1", "\x1c\x1f·1", "\x1c\x1f·1")
	checkSplits(t, "\ufeff\n", "\ufeff\n", "\ufeff·\n")
	checkSplits(t, "\x00\x7f", "\x00\x7f", "\x00\x7f")
}

// Characters that Unicode 16 added, or 15.1. Those who do not know them see punctuation.
func TestSplitLettersOfUnicode16(t *testing.T) {
	checkSplits(t, "\u1c89's", "\u1c89·'s", "\u1c89·'s")
	checkSplits(t, "\U000105c0's·\U000105c0", "\U000105c0·'s·\U000105c0", "\U000105c0·'s·\U000105c0")
	checkSplits(t, "A\U00016d40'll", "A\U00016d40·'ll", "A\U00016d40·'ll")
	checkSplits(t, "\U00010d50\U00010d70", "\U00010d50\U00010d70", "\U00010d50\U00010d70")
	checkSplits(t, "\u0897a'd", "\u0897a·'d", "\u0897·a·'d")
	checkSplits(t, "\U00010d41\U00010d42\U00010d43·\U00010d44", "\U00010d41\U00010d42\U00010d43·\U00010d44", "\U00010d41\U00010d42\U00010d43\U00010d44")
	checkSplits(t, "!\ua7cb", "!\ua7cb", "!·\ua7cb")
}

// Only o200k lets a slash follow the newlines behind punctuation.
func TestSplitSlashAfterNewline(t *testing.T) {
	checkSplits(t, "!\r\n/\r\n/·a", "!\r\n·/\r\n·/a", "!·\r·\n·/·\r·\n·/·a")
	checkSplits(t, "!/\n/·b", "!/\n·/b", "!/·\n·/·b")
	checkSplits(t, "\n·/", "\n·/", "\n·/")
	checkSplits(t, "//\n//·x", "//\n·//·x", "//·\n·//·x")
	checkSplits(t, "-\n· \n·/", "-\n· \n·/", "-·\n ·\n·/")
	checkSplits(t, "!\u0301·/\n·\u0301", "!\u0301/\n·\u0301", "!\u0301/·\n·\u0301")
}

// Numbers of any kind go by three characters, but p50k does not bound them.
func TestSplitDigits(t *testing.T) {
	checkSplits(t, "123·456·7", "123·456·7", "1234567")
	checkSplits(t, "12٣·٤5", "12٣·٤5", "12٣٤5")
	checkSplits(t, "123·4· ·567·8", "123·4· ·567·8", "1234· 5678")
	checkSplits(t, " ·²³¹·½ⅫⅣ", " ·²³¹·½ⅫⅣ", " ²³¹½ⅫⅣ")
	checkSplits(t, "a·123·4·b", "a·123·4·b", "a·1234·b")
	checkSplits(t, "\u0661\u0662٣·٤", "\u0661\u0662٣·٤", "\u0661\u0662٣٤")
}

// Private use, unassigned and symbols are punctuation.
func TestSplitSymbols(t *testing.T) {
	checkSplits(t, "\U0010ffff\ue000", "\U0010ffff\ue000", "\U0010ffff\ue000")
	checkSplits(t, "\u0378", "\u0378", "\u0378")
	checkSplits(t, "😀😀'·s", "😀😀'·s", "😀😀'·s")
	checkSplits(t, " 😀", " 😀", " 😀")
}
