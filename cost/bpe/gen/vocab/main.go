// Vocab writes the tables that cost/bpe embeds: for each vocabulary, how every token is made of two others.
//
//	go run ./gen/vocab -out tables
//
// The vocabularies come from github.com/pkoukk/tiktoken-go-loader, which holds OpenAI's files as they are. A table is
// 256 bytes, those of the first tokens, and then seven for every other token in the order of merging, the low byte first.
// They hold three numbers of other tokens, 18 bits each: its left part, its right part, and the longest that it begins
// with, from the low bits on.
package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	loader "github.com/pkoukk/tiktoken-go-loader"
)

var names = []string{"o200k_base", "cl100k_base", "p50k_base", "r50k_base"}

func main() {
	out := flag.String("out", "tables", "`FOLDER` to write to")
	flag.Parse()
	for _, name := range names {
		if err := write(name, filepath.Join(*out, name+".bin")); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			os.Exit(1)
		}
	}
}

func write(name, file string) error {
	ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe("/" + name + ".tiktoken")
	if err != nil {
		return err
	}
	table, err := tableOf(ranks)
	if err != nil {
		return err
	}
	return os.WriteFile(file, table, 0o644)
}

// tableOf numbers the tokens in the order of their ranks, without gaps.
func tableOf(ranks map[string]int) ([]byte, error) {
	tokens := slices.SortedFunc(maps.Keys(ranks), func(a, b string) int { return ranks[a] - ranks[b] })
	if len(tokens) > 1<<18 {
		return nil, fmt.Errorf("%d tokens are more than 18 bits can number", len(tokens))
	}
	number := make(map[string]int, len(tokens))
	for i, token := range tokens {
		number[token] = i
	}
	var table bytes.Buffer
	for i, token := range tokens {
		if i < 256 {
			if len(token) != 1 {
				return nil, fmt.Errorf("token %d is %q: the first 256 must be the single bytes", i, token)
			}
			table.WriteString(token)
			continue
		}
		parts, err := halves(token, number)
		if err != nil {
			return nil, fmt.Errorf("token %d, %q: %w", i, token, err)
		}
		shorter := token[:len(token)-1]
		for !has(number, shorter) {
			shorter = shorter[:len(shorter)-1]
		}
		bits := uint64(number[parts[0]]) | uint64(number[parts[1]])<<18 | uint64(number[shorter])<<36
		table.Write(binary.LittleEndian.AppendUint64(nil, bits)[:7])
	}
	return table.Bytes(), nil
}

func has(number map[string]int, token string) bool {
	_, ok := number[token]
	return ok
}

// halves merges the bytes of a token until two parts are left, as if it were not in the vocabulary itself.
func halves(token string, number map[string]int) (parts []string, err error) {
	for i := range len(token) {
		parts = append(parts, token[i:i+1])
	}
	for len(parts) > 2 {
		best, at := number[token], -1
		for i := range len(parts) - 1 {
			if n, ok := number[parts[i]+parts[i+1]]; ok && n < best {
				best, at = n, i
			}
		}
		if at < 0 {
			return nil, errors.New("merging does not lead to it")
		}
		parts[at] += parts[at+1]
		parts = slices.Delete(parts, at+1, at+2)
	}
	return parts, nil
}
