package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

var (
	ledgerSize = flag.Int("exchanges", 20_000, "exchanges in the ledger of BenchmarkUsage")
	ledgerKept = flag.String("ledger", "", "`FILE` of that ledger, which is made if it is not there and left there; empty: a temporary one")
)

// made is a ledger as a department makes one in 90 days: 200 keys in 21 groups, some of which call far more than others, more
// by day than by night, 5 models, and for some keys up to 8 labels.
type made struct {
	random *rand.Rand
	series [][]ledger.Series // of each key
	labels [][]string        // likewise
	models []string
	pick   *rand.Zipf
	card   ledger.PriceCard
}

func newMade() *made {
	m := &made{
		random: rand.New(rand.NewPCG(1, 2)), card: ledger.PriceCard{Version: "p1", Card: `{"input":0.25,"output":2}`},
		models: []string{"gpt-5-mini", "gpt-5.6", "gpt-4.1", "text-embedding-3-large", "house-llm"},
	}
	for k := range 200 {
		s := ledger.Series{Key: fmt.Sprintf("key-%03d", k), Groups: fmt.Sprintf("everyone,team-%02d", k%20), Endpoint: "chat/completions", Upstream: "openai"}
		list := []ledger.Series{s}
		if k%4 == 0 {
			s.Endpoint = "responses"
			list = append(list, s)
		}
		m.series = append(m.series, list)
		var labels []string
		for l := range k % 9 {
			labels = append(labels, fmt.Sprintf("job-%d", (k+l)%40))
		}
		m.labels = append(m.labels, append(labels, ""))
	}
	m.pick = rand.NewZipf(m.random, 1.1, 8, uint64(len(m.series)-1))
	return m
}

// busy is how much more is called at an hour of the day than at the quietest.
func busy(hour int) float64 { return 1 + 4*math.Exp(-math.Pow(float64(hour)-13, 2)/18) }

// exchange is one that began at an instant and has ended.
func (m *made) exchange(at time.Time) ledger.Exchange {
	k := int(m.pick.Uint64())
	series := m.series[k][m.random.IntN(len(m.series[k]))]
	input, output := 200+int64(m.random.ExpFloat64()*4000), 1+int64(m.random.ExpFloat64()*400)
	charges := func(tokens, money int64) []ledger.Charge {
		return []ledger.Charge{
			{Budget: ledger.Budget{Name: "key " + series.Key + ": tokens per minute", Unit: "tokens"}, N: tokens},
			{Budget: ledger.Budget{Name: "key " + series.Key + ": dollars each month", Unit: "dollars"}, N: money},
			{Budget: ledger.Budget{Name: "group everyone: dollars each month", Unit: "dollars"}, N: money},
		}
	}
	money := input*250 + output*2000
	x := ledger.Exchange{Begin: ledger.Begin{
		Exchange: ledger.At(at), Series: series, Model: m.models[min(m.random.IntN(9), m.random.IntN(len(m.models)))],
		Label: m.labels[k][m.random.IntN(len(m.labels[k]))], Stream: m.random.IntN(3) > 0, Price: m.card.Version,
		Estimate: cost.Estimate{Input: input, MaxOutput: 4096, ByPart: [cost.Parts]int64{cost.PartMessages: input}},
		Most:     cost.Usage{Input: input, Output: 4096}, Reserved: cost.NanoUSD(input*250 + 4096*2000),
		Charges: charges(input+4096, input*250+4096*2000),
	}}
	e := &ledger.End{
		Exchange: x.Begin.Exchange, Seq: ledger.At(at.Add(5 * time.Second)), Status: 200, Ending: "complete", Basis: ledger.Reported,
		Usage: cost.Usage{Input: input, CachedInput: input / 3, Output: output, Reasoning: output / 4}, Cost: cost.NanoUSD(money),
		Took: time.Duration(m.random.IntN(9000)) * time.Millisecond, FirstToken: 400 * time.Millisecond,
		UpstreamID: "req_0123456789abcdef", Charges: charges(input+output, money),
	}
	switch m.random.IntN(100) {
	case 0, 1:
		e.Status, e.Ending, e.Basis, e.Usage, e.Cost, e.Charges = 500, "upstream_error", ledger.Nothing, cost.Usage{}, 0, nil
	case 2:
		e.Ending, e.Basis = "broken_stream", ledger.Counted
	}
	x.End = e
	return x
}

// fill makes the ledger at path.
func (m *made) fill(ctx context.Context, path string, exchanges int, until time.Time) error {
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		return err
	}
	defer store.Close()
	past, err := store.Resume(ctx)
	if err != nil {
		return err
	}
	const days, perBatch = 90, 10_000
	at := until.Add(-days * 24 * time.Hour)
	gap := 0.0 // between two exchanges at the quietest
	for hour := range 24 {
		gap += busy(hour) / 24 * float64(until.Sub(at)) / float64(exchanges)
	}
	for batch := int64(1); exchanges > 0; batch++ {
		var list []ledger.Exchange
		b := &ledger.Batch{Slot: past.Slot, Number: past.Batch + batch, Prices: []ledger.PriceCard{m.card}}
		for range min(exchanges, perBatch) {
			at = at.Add(max(time.Microsecond, time.Duration(gap*m.random.ExpFloat64()/busy(at.Hour()))))
			list = append(list, m.exchange(at))
		}
		for i := range list {
			b.Begins, b.Ends = append(b.Begins, &list[i].Begin), append(b.Ends, list[i].End)
		}
		for range len(list) / 200 {
			b.Refusals = append(b.Refusals, ledger.Refusal{
				Hour: ledger.HourOf(at), Key: m.series[m.pick.Uint64()][0].Key, Model: m.models[m.random.IntN(len(m.models))], Code: "rate_limit_exceeded", N: 1,
			})
		}
		b.Rolled = ledger.RollOf(list, nil)
		exchanges -= len(list)
		if err := store.Commit(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// madeLedger returns the path of the ledger that the flags ask for.
func madeLedger(b *testing.B) string {
	b.Helper()
	path := *ledgerKept
	if path == "" {
		path = filepath.Join(b.TempDir(), "usage.db")
	}
	if _, err := os.Stat(path); err == nil {
		return path
	}
	began := time.Now()
	if err := newMade().fill(b.Context(), path, *ledgerSize, time.Now().Truncate(time.Hour)); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d exchanges, %d MB, made in %s", *ledgerSize, info.Size()>>20, time.Since(began).Round(time.Second))
	return path
}

// BenchmarkUsage is of a small ledger by default. One of ten million exchanges takes minutes to make, and is kept:
//
//	go test -run=- -bench=Usage -benchtime=1x -timeout=1h ./cmd/tokenfare -args -exchanges=10000000 -ledger=/var/tmp/usage.db
func BenchmarkUsage(b *testing.B) {
	path := madeLedger(b)
	zone := filepath.Join(b.TempDir(), "config.yaml")
	if err := os.WriteFile(zone, []byte("timezone: America/New_York\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, since := range []string{"7d", "90d"} {
		for _, args := range [][]string{
			{"-by", "key"}, {"-by", "group"}, {"-by", "label"}, {"-by", "day,model"}, {"-by", "day,model", "-config", zone}, {"-by", "day,key,label", "-csv"},
		} {
			b.Run(since+"/"+strings.ReplaceAll(strings.Join(args, "_"), zone, "New_York"), func(b *testing.B) {
				for b.Loop() {
					var errs bytes.Buffer
					if code := dispatch(b.Context(), append([]string{"usage", "-ledger", "sqlite:" + path, "-since", since}, args...), io.Discard, &errs); code != 0 {
						b.Fatal(errs.String())
					}
				}
			})
		}
	}
}
