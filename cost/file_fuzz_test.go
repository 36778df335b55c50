package cost_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/cost"
)

// Whatever a file is, it is never less than its size says, as a whole or in base64, and never a panic.
func FuzzFileTokens(f *testing.F) {
	for _, file := range []string{
		"", "%PDF-", "PK\x03\x04", "PK\x05\x06", page(packed("", shown("a\\)b(c)"))), page(stream("/Filter/AHx", "3C776f>")), page(stream("/Filter/A85", "<~z87cURDZ~>")),
		page(packed("/Subtype/Form", "/A Do"), "<</A 4 0 R/Kids[1 0 R 2 0 R]/Count 9/ActualText(x)>>"), page(packed("", "beginbfchar <01> <D83DDE00> endbfchar /Span /P BDC")),
		zipOf(f, zip.Deflate, "a.xml", "<a b='c'>d</a><![CDATA[e]]>"), zipOf(f, zip.Store, "a.iwa", "x"), "%PDF-" + zipOf(f, zip.Deflate, "s.xml", "<c t='s'><v>0</v></c><si>x</si>"),
		"%PDF-1 1 0 obj<</#46ilter/Fl>>stream\nendstream", "stream\n obj endstream 5 % 0 R", strings.Repeat("<<", 99) + "%PDF-",
		ole("Workbook", biff(1, texts(50, "a text", "another"), 0, 1, 1), true), biff(2, texts(50, "a"), 0),
		zipOf(f, zip.Deflate, "a.docx", zipOf(f, zip.Deflate, "a.xml", "<a>b</a>", "a.pdf", page(packed("", shown("a"))))),
	} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		least := int64(len(file)+1) / 2
		if !bytes.Contains(file[:min(len(file), 1<<10)], []byte("%PDF-")) && !bytes.Contains(file, []byte("endstream")) {
			least = int64(len(file))
		}
		n := cost.RawFileTokens(file)
		if n < least || n > max(unread, int64(len(file))) {
			t.Fatalf("%d tokens in %d bytes", n, len(file))
		}
		text := base64.StdEncoding.EncodeToString(file)
		if got := cost.FileTokens([]byte("data:;base64," + text)); got != n {
			t.Fatalf("%d tokens in base64, %d as it is", got, n)
		}
		if got := cost.FileTokens(file); got < 0 {
			t.Fatalf("%d tokens in what may be base64", got)
		}
	})
}

// A text that a document shows has no more tokens than the document is taken for, however it is packed.
func TestFilesHoldTheirText(t *testing.T) {
	estimator := cost.NewEstimator()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"word ", "a", "\t", "1234567", "...", "ZQ", "\x00", "ÿ", "{}", "é"}), 1, 3000).Draw(t, "text"), "")
		counted := estimator.Estimate(cost.Request{Text: []cost.Text{{S: text}}, HasMaxOutput: true}, cost.Model{Encoding: "o200k_base", KnownEncoding: true})
		var b bytes.Buffer
		w, _ := flate.NewWriter(&b, rapid.IntRange(-2, 9).Draw(t, "level"))
		fmt.Fprintf(w, "%s", shown(text))
		w.Close()
		for _, file := range []string{
			page(packed("", shown(text))), page(stream("/Filter/FlateDecode", "\x78\x01"+b.String())), page(stream("", shown(text))), page("null", "<<"+stream("/X/Y", shown(text))),
			zipOf(nil, zip.Deflate, "a.xml", "<a>"+text+"</a>"), zipOf(nil, zip.Deflate, "a.xml", "<a>x</a>", "b.txt", text), zipOf(nil, zip.Store, "a.xml", text),
		} {
			if n := cost.RawFileTokens([]byte(file)); n < counted.Input {
				t.Fatalf("%d tokens in %d bytes, which show %d", n, len(file), counted.Input)
			}
		}
	})
}

// However a file is made, the work is bounded by its size.
func TestFilesAreReadInBoundedTime(t *testing.T) {
	const size = 1 << 18
	fill := func(head, s string) string { return head + strings.Repeat(s, (size-len(head))/len(s)) }
	empty := "\x00\x00\x00\xff\xff" // a block of nothing
	for name, file := range map[string]string{
		"streams":           fill("%PDF-", "stream\n"),
		"streams of others": fill("%PDF-", "stream\n\x78\x9c\x00\x00\x00\xff\xff"),
		"blocks of nothing": fill("%PDF-"+strings.Repeat("stream\n\x78\x9c", 99), empty),
		"names":             fill("%PDF-", "/"), "names of forms": fill("%PDF-", "/Subtype/Form stream/A 0 0 R/A Do"),
		"comments": fill("%PDF-", "5 %"), "long comments": fill("%PDF-", strings.Repeat("5 %", 300)+"\n"),
		"strings": fill("%PDF-", "/ActualText("), "lists": fill("%PDF-", "/Kids["), "contents": fill("%PDF-", "/Contents 1 0 R"),
		"letters": fill("%PDF-", "/A85 stream\n"), "tables": fill("%PDF-", "beginbfchar<00"), "dictionaries": fill("%PDF-", "<<"),
		"entries":          fill("PK\x03\x04", "PK\x03\x04\x14\x00\x00\x00\x00\x00"+strings.Repeat("\xff", 12)+"\x00\x00\x00\x00"),
		"deflated entries": fill("PK\x03\x04", "PK\x03\x04\x14\x00\x00\x00\x08\x00"+strings.Repeat("\x00", 16)+empty),
		"tags":             zipOf(t, zip.Store, "a.xml", fill("<a>", "<a b='")), "cells": zipOf(t, zip.Store, "a.xml", fill("<a>", "</v>")),
		"texts": zipOf(t, zip.Store, "a.xml", fill("<a>", "</si>")), "values": zipOf(t, zip.Store, "a.xml", fill("<c t='s'>", "<v>0</v>")),
		"old tables": fill("\x09\x08\x00\x00", "\xfd\x00\x0a\x00abcdefghij"), "old texts": fill("\x09\x08\x00\x00\xfc\x00\x08\x0012345678", "\x3c\x00\x03\x00\x00\x00\x00"),
		"chapters": zipOf(t, zip.Store, "a.xml", fill("<spine", "idref='")),
	} {
		began := time.Now()
		n := cost.RawFileTokens([]byte(file))
		t.Logf("%s: %d tokens in %v", name, n, time.Since(began))
		if n < int64(len(file))/2 {
			t.Errorf("%s: %d tokens", name, n)
		}
	}
}
