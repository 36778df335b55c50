package countbench

import (
	"os"
	"path/filepath"
	"testing"
)

// kind is a kind of text that prompts are made of.
type kind struct {
	name     string
	patterns []string // its files in the larger set of samples
	fixture  string   // the file in testdata that stands in for them
}

var kinds = []kind{
	{"English", []string{"book_en-US.txt", "fortune_law.txt"}, "english.txt"},
	{"Go", []string{"code_*.go.txt"}, "code.txt"},
	{"JSON", []string{"json_*.txt"}, "json.txt"},
	{"Chinese", []string{"book_zh-*.txt", "man_zh_*.txt"}, "chinese.txt"},
	{"Japanese", []string{"book_ja-*.txt", "man_ja_*.txt"}, "japanese.txt"},
	{"Arabic", []string{"book_ar-*.txt"}, "arabic.txt"},
	{"Russian", []string{"book_ru-*.txt", "man_ru_*.txt"}, "russian.txt"},
	{"Hindi", []string{"names_hi.txt"}, "hindi.txt"},
}

// samples is where the larger set of samples stands, beside the repository and
// no part of it.
var samples = filepath.Join("..", "..", "..", "shared", "data", "tokens", "files")

// texts returns the samples of a kind, or the fixture where there are none.
func (k kind) texts(tb testing.TB) (texts []string) {
	tb.Helper()
	for _, pattern := range k.patterns {
		files, err := filepath.Glob(filepath.Join(samples, pattern))
		if err != nil {
			tb.Fatal(err)
		}
		for _, file := range files {
			texts = append(texts, read(tb, file))
		}
	}
	if len(texts) == 0 {
		texts = k.fixtureTexts(tb)
	}
	return texts
}

func (k kind) fixtureTexts(tb testing.TB) []string {
	tb.Helper()
	return []string{read(tb, filepath.Join("testdata", k.fixture))}
}

func read(tb testing.TB, file string) string {
	tb.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func size(texts []string) (bytes int) {
	for _, text := range texts {
		bytes += len(text)
	}
	return bytes
}

// always is the same texts each round.
func always(texts ...string) func(round int) []string {
	return func(int) []string { return texts }
}
