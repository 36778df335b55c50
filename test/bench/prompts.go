package main

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// userMark begins the "user" member of every request: "pace-", milliseconds between events and before the answer (three digits
// each), its number, with dashes between.
const userMark = `"user":"pace-`

// author writes requests. The words depend on the request's number alone, and no two numbers give the same prompt. It belongs to
// one connection.
type author struct {
	source rand.PCG
	random *rand.Rand
}

func newAuthor() *author {
	a := &author{}
	a.random = rand.New(&a.source)
	return a
}

// appendBody writes the request of a workload. extra is further members, each with its comma behind it.
func (a *author) appendBody(to []byte, w *workload, number []byte, extra string) []byte {
	n, _ := strconv.ParseUint(string(number), 10, 64) // it is our own
	a.source.Seed(n, 0x70726f6d7074)
	to = append(to, `{"model":"gpt-4o-mini",`+userMark...)
	for _, d := range [...]time.Duration{w.pace, w.think} {
		ms := d.Milliseconds()
		to = append(to, byte('0'+ms/100%10), byte('0'+ms/10%10), byte('0'+ms%10), '-')
	}
	to = append(to, number...)
	to = append(to, `",`...)
	to = append(to, extra...)
	if w.stream {
		to = append(to, `"stream":true,`...)
	}
	if w.usage {
		to = append(to, `"stream_options":{"include_usage":true},`...)
	}
	to = append(to, `"temperature":0.2,"messages":[{"role":"system","content":"You are a careful assistant in the accounts department. `+
		`Answer in plain English, in at most three short paragraphs, and say so when the figures do not add up."},{"role":"user","content":"`...)
	to = a.appendProse(to, w.prompt)
	return append(to, `"}]}`...)
}

// appendProse writes about size bytes of text, already escaped for JSON.
func (a *author) appendProse(to []byte, size int) []byte {
	for end := len(to) + size - 60; len(to) < end; { // half a sentence less: it ends with a whole one
		to = a.appendSentence(to, sentences[a.random.IntN(len(sentences))])
		if a.random.IntN(6) == 0 {
			to = append(to, `\n\n`...)
		} else {
			to = append(to, ' ')
		}
	}
	return to
}

// appendSentence fills the gaps of a sentence: <n>ame, <p>lace, <t>hing, <a>djective, <v>erb, <d>igits, <m>oney, <h>ex.
func (a *author) appendSentence(to []byte, sentence string) []byte {
	for {
		before, rest, gap := strings.Cut(sentence, "<")
		to = append(to, before...)
		if !gap {
			return to
		}
		switch rest[0] {
		case 'n':
			to = append(to, a.one(names)...)
		case 'p':
			to = append(to, a.one(places)...)
		case 't':
			to = append(to, a.one(things)...)
		case 'a':
			to = append(to, a.one(adjectives)...)
		case 'v':
			to = append(to, a.one(verbs)...)
		case 'd':
			to = strconv.AppendInt(to, a.random.Int64N(5000), 10)
		case 'm':
			to = strconv.AppendFloat(to, float64(a.random.Int64N(9_000_000))/100, 'f', 2, 64)
		case 'h':
			to = strconv.AppendUint(to, uint64(a.random.Uint32()), 16)
		}
		sentence = rest[2:]
	}
}

func (a *author) one(words []string) string { return words[a.random.IntN(len(words))] }
