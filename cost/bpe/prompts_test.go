package bpe_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// What prompts are made of: office prose, lists, some JSON and some code, as people paste them. <n>ames, <w>ords, <d>igits and <h>ex
// numbers differ.
var sentences = []string{
	"<n> wrote on the <d>th that the <w> <w> for <n> had to be <w> before anyone could say what it would cost. ",
	"Please compare the <w> of <n> with last year's, and tell me where more than $<d>.50 went missing. ",
	"\"We never <w> that <w>,\" said <n>; \"it was <w> from the beginning, and $<d> was far too much for it.\"\n\n",
	"- <w>: <d> pieces at $<d>.99 each, <w> by <n>\n- <w>: <d> pieces at $<d> each, <w> by <n>\n",
	"{\"id\": \"<h><h>\", \"customer\": \"<n>\", \"amount\": <d>.25, \"items\": [<d>, <d>, <d>], \"status\": \"<w>\"}\n",
	"func total(rows []<w>) (sum float64) {\n\tfor _, r := range rows {\n\t\tif r.City == \"<n>\" { sum += r.Amount }\n\t}\n\treturn sum // was <d>\n}\n",
	"I don't think it's <n>'s fault; they'd have <w> it if the <w> hadn't been so <w>, wouldn't they? ",
	"See https://intranet.example.com/<n>/<w>?ref=<h>&page=<d> for the <w> version, which <n> <w> in spring. ",
	"Could you draft a short, friendly letter to <n> that explains why the <w> was <w>, without promising anything about the <w> <w>? ",
	"WHERE t.city = '<n>' AND t.amount > <d> AND t.note NOT LIKE '%<w>%' ORDER BY t.created_at DESC LIMIT <d>;\n",
}

var (
	gapNames = strings.Fields(`Abernathy Adeyemi Andersson Banerjee Bertolucci Castellanos Dąbrowski Delacroix Eriksen Fitzgerald Gallagher Haverkamp
		Hernández Ishikawa Jovanović Kowalczyk Lindqvist Macpherson Nakamura Oyelaran Papadopoulos Quigley Rasmussen Sørensen Underwood Whitcombe
		Yılmaz Zimmermann Aberdeen Bratislava Chattanooga Düsseldorf Edinburgh Fukuoka Gdańsk Innsbruck Kaohsiung Ljubljana Nottingham Québec`)
	gapWords = strings.Fields(`allowance appraisal blueprint brochure calendar certificate consignment contract correspondence dashboard deposit
		estimate forecast freight guarantee inventory invoice itinerary ledger maintenance manifest memorandum negotiation overdraft packaging
		paperwork pension prospectus quotation rebate reimbursement renovation scaffolding schedule settlement shipment spreadsheet stationery
		abundant ambiguous bureaucratic comprehensive conspicuous duplicate elaborate expensive fragile handwritten illegible intermittent
		irreversible meticulous negligible obsolete overdue plausible questionable redundant seasonal superfluous unanimous unprecedented
		acknowledged amended archived assembled cancelled catalogued commissioned countersigned dismantled earmarked forwarded harmonised
		inspected itemised mislaid overlooked photocopied postponed reconciled refurbished relabelled rescheduled scrutinised shredded`)
)

// prompt is about size bytes of text, another one for each number.
func prompt(number uint64, size int) string {
	random := rand.New(rand.NewPCG(number, 1))
	var b strings.Builder
	for b.Len() < size {
		sentence := sentences[random.IntN(len(sentences))]
		for {
			before, rest, gap := strings.Cut(sentence, "<")
			b.WriteString(before)
			if !gap {
				break
			}
			switch rest[0] {
			case 'n':
				b.WriteString(gapNames[random.IntN(len(gapNames))])
			case 'w':
				b.WriteString(gapWords[random.IntN(len(gapWords))])
			case 'd':
				fmt.Fprint(&b, random.IntN(5000))
			case 'h':
				fmt.Fprintf(&b, "%x", random.Uint32())
			}
			sentence = rest[2:]
		}
	}
	return b.String()
}

// BenchmarkCountPrompts counts prompts of which no two are alike: as fast as they come, and as a server does that has done other
// things since the last one, so that of the processor's caches little is left.
func BenchmarkCountPrompts(b *testing.B) {
	enc := encoding(b, "o200k_base")
	other := make([]byte, 4<<20)
	for _, c := range []struct {
		name    string
		size    int
		between int
	}{
		{"1kB/at-once", 1_000, 0},
		{"1kB/between", 1_000, 512 << 10},
		{"1kB/cold", 1_000, len(other)},
		{"20kB/at-once", 20_000, 0},
		{"20kB/between", 20_000, 512 << 10},
		{"20kB/cold", 20_000, len(other)},
	} {
		prompts := make([]string, 2_000_000/c.size)
		for i := range prompts {
			prompts[i] = prompt(uint64(i), c.size)
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var spent time.Duration
			i, bytes := 0, 0
			for b.Loop() {
				for at := 0; at < c.between; at += 64 {
					other[at]++
				}
				text := strings.Clone(prompts[i%len(prompts)]) // as if it had just been read
				began := time.Now()
				enc.Count(text)
				spent += time.Since(began)
				i++
				bytes += len(text)
			}
			b.ReportMetric(float64(spent.Nanoseconds())/float64(i), "ns/count")
			b.ReportMetric(float64(bytes)/float64(i), "bytes/count")
		})
	}
}
