package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/bpe"
)

const countHelp = `Count the tokens of files, as wc counts words.

  tokenfare count prompt.txt                     with the vocabulary of the current models, o200k_base
  tokenfare count -model gpt-4 a.txt b.txt       with that of a model
  tokenfare count -encoding cl100k_base a.txt    with this one
  some-program | tokenfare count -               what comes in on standard input
  tokenfare count -json *.md                     a line of JSON for each file

Text is counted as it stands: what a request adds around messages is not in it, see "tokenfare estimate". Names of special
tokens are text. A byte that is not UTF-8 counts as U+FFFD.

Flags:
`

func runCount(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("count", flag.ContinueOnError)
	flags.SetOutput(stderr)
	model := flags.String("model", "", "count as this `MODEL` does")
	name := flags.String("encoding", "", "count with this `ENCODING`: "+strings.Join(bpe.Names(), ", "))
	asJSON := flags.Bool("json", false, "print a line of JSON for each file: file, tokens, bytes, encoding, and guess where the vocabulary is one")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), countHelp)
		flags.PrintDefaults()
	}
	files, code, proceed := interspersed(flags, args, stdout)
	switch {
	case !proceed:
		return code
	case len(files) == 0:
		fmt.Fprintln(stderr, "tokenfare count: name the files to count, or - for standard input")
		return 2
	case *model != "" && *name != "":
		fmt.Fprintln(stderr, "tokenfare count: -model and -encoding say the same: give one of them")
		return 2
	}
	encoding, guess, err := encodingFor(*model, *name, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "tokenfare count: %v\n", err)
		return 1
	}
	return countFiles(files, encoding, guess, *asJSON, stdin, stdout, stderr)
}

// encodingFor returns the encoding that was asked for, and says so if it is a guess.
func encodingFor(model, name string, stderr io.Writer) (_ *bpe.Encoding, guess bool, _ error) {
	if name == "" {
		catalog, err := cost.DefaultCatalog()
		if err != nil {
			return nil, false, err
		}
		facts := catalog.Model(model)
		guess = model != "" && !facts.KnownEncoding
		if name = facts.Encoding; guess {
			fmt.Fprintf(stderr, "tokenfare count: the vocabulary of model %q is not known; counting with %s, which is an estimate\n", model, name)
		}
	}
	if same := sameEncoding[name]; same != "" {
		name = same
	}
	encoding, err := bpe.New(name)
	return encoding, guess, err
}

// sameEncoding are encodings that differ from one of ours in their special tokens alone, which text never has.
var sameEncoding = map[string]string{"gpt2": "r50k_base", "p50k_edit": "p50k_base", "o200k_harmony": "o200k_base"}

// counted is a line of output.
type counted struct {
	File     string `json:"file"`
	Tokens   int64  `json:"tokens"`
	Bytes    int64  `json:"bytes"`
	Encoding string `json:"encoding"`
	Guess    bool   `json:"guess,omitempty"` // the model's own vocabulary is not known
}

// countFiles counts all the files that can be read, and returns 1 if one cannot.
func countFiles(files []string, encoding *bpe.Encoding, guess, asJSON bool, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	total := counted{File: "total"}
	print := func(c counted) {
		if asJSON {
			line, _ := json.Marshal(c) // strings and numbers alone
			fmt.Fprintf(stdout, "%s\n", line)
		} else {
			fmt.Fprintf(stdout, "%8d %s\n", c.Tokens, c.File)
		}
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if file == "-" {
			text, err = io.ReadAll(stdin)
		}
		if err != nil {
			fmt.Fprintf(stderr, "tokenfare count: %v\n", err)
			code = 1
			continue
		}
		c := counted{file, encoding.Count(string(text)), int64(len(text)), encoding.Name(), guess}
		total.Tokens += c.Tokens
		print(c)
	}
	if len(files) > 1 && !asJSON {
		print(total)
	}
	return code
}
