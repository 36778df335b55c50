package ledgertest

import (
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// The frozen ledger is what a program of schema version 1 wrote, see testdata/schema1.sql of each store. What follows is what
// it was told, to the last figure. It is never edited: what an old ledger says stays.

// made is an ID that the writer of the frozen ledger made, at an instant of the year 2026 in UTC: "03-09 23:30:00.5".
func made(at string) ledger.ID {
	t, err := time.Parse("2006-01-02 15:04:05", "2026-"+at)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return ledger.At(t)
}

var (
	aliceChat  = ledger.Series{Key: "alice", Groups: "eng,research", Endpoint: "/v1/chat/completions", Upstream: "openai"}
	bobChat    = ledger.Series{Key: "bob", Groups: "ops", Endpoint: "/v1/chat/completions", Upstream: "openai"}
	bobImages  = ledger.Series{Key: "bob", Groups: "ops", Endpoint: "/v1/images/generations", Upstream: "azure"}
	bobListens = ledger.Series{Key: "bob", Groups: "ops", Endpoint: "/v1/audio/transcriptions", Upstream: "openai"}

	dollarsOfMonth = ledger.Budget{Name: "key alice: dollars each month", Unit: "dollars"}
	tokensOfGroup  = ledger.Budget{Name: "group eng: tokens each day", Unit: "tokens"}
	inputOfAlice   = ledger.Budget{Name: "key alice: uncached input tokens each day", Unit: "uncached input tokens"} // observes
	requestsOfBob  = ledger.Budget{Name: "key bob: requests each day", Unit: "requests"}
	dollarsOfBob   = ledger.Budget{Name: "key bob: dollars in total", Unit: "dollars"}
	outputOfBob    = ledger.Budget{Name: "key bob: output tokens each hour", Unit: "output tokens"} // observes
	inputOfBob     = ledger.Budget{Name: "key bob: input tokens each hour", Unit: "input tokens"}   // observes
)

// ofAlice are charges to the budgets of one key, but for those of nothing.
func ofAlice(dollars, tokens, input int64) []ledger.Charge {
	return some(ledger.Charge{Budget: dollarsOfMonth, N: dollars}, ledger.Charge{Budget: tokensOfGroup, N: tokens}, ledger.Charge{Budget: inputOfAlice, Late: input})
}

// ofBob are those of the other.
func ofBob(requests, dollars, output, input int64) []ledger.Charge {
	return some(ledger.Charge{Budget: requestsOfBob, N: requests}, ledger.Charge{Budget: dollarsOfBob, N: dollars},
		ledger.Charge{Budget: outputOfBob, Late: output}, ledger.Charge{Budget: inputOfBob, Late: input})
}

func some(all ...ledger.Charge) (list []ledger.Charge) {
	for _, c := range all {
		if c.N != 0 || c.Late != 0 {
			list = append(list, c)
		}
	}
	return list
}

// unended is the exchange of the frozen ledger that has no end row, and the end row by which it is charged when the ledger is
// opened, but for its Seq.
func unended() (open ledger.Exchange, end ledger.End) {
	id := made("03-10 12:07:00")
	open = ledger.Exchange{
		Begin: ledger.Begin{
			Exchange: id, Series: bobChat, Model: "gpt-5", Stream: true, Price: "p2",
			Estimate: cost.Estimate{Input: 500, MaxOutput: 100, ByPart: [cost.Parts]int64{cost.PartMessages: 500}},
			Most:     cost.Usage{Input: 500, Output: 100}, Reserved: 1_625_000, Charges: ofBob(1, 1_625_000, 100, 500),
		},
		Draws: []ledger.Draw{{Exchange: id, Step: 1, More: cost.Usage{Output: 200}, Reserved: 2_000_000, Charges: ofBob(0, 2_000_000, 200, 0)}},
	}
	end = ledger.End{
		Exchange: id, Ending: ledger.Crashed, Basis: ledger.Unreported, Usage: cost.Usage{Input: 500, Output: 300}, Cost: 3_625_000,
		Charges: ofBob(1, 3_625_000, 300, 500),
	}
	for i, c := range open.Begin.Charges { // where it began, and only what was drawn later
		end.Charges[i].N, end.Charges[i].Late = end.Charges[i].N+c.Late, end.Charges[i].Late-c.Late
	}
	return open, end
}

// amended are the frozen corrections, in the order of their exchanges.
func amended() []ledger.Correction {
	return []ledger.Correction{
		{ // of one whose rows were dropped before
			Exchange: made("02-27 10:05:00"), Seq: made("03-10 10:30:00"), Series: bobChat, Model: "gpt-5", Served: "gpt-5-2025-08-07",
			Was: ledger.Counted, Basis: ledger.Reported, Usage: cost.Usage{Output: 10, Reasoning: 8}, Cost: 100_000, Reason: "bill",
			Charges: []ledger.Charge{{Budget: dollarsOfBob, N: 100_000}, {Budget: outputOfBob, N: 10}},
		},
		{
			Exchange: made("03-10 09:00:00"), Seq: made("03-10 09:40:00"), Series: aliceChat, Model: "gpt-4o-mini", Label: "nightly",
			Was: ledger.Counted, Basis: ledger.Reported, Usage: cost.Usage{Output: 5}, Cost: 3_000, Reason: "bill",
			Charges: []ledger.Charge{{Budget: dollarsOfMonth, N: 3_000}, {Budget: tokensOfGroup, N: 5}},
		},
		{ // not in the frozen sums
			Exchange: made("03-10 09:00:00"), Seq: made("03-10 12:05:40"), Series: aliceChat, Model: "gpt-4o-mini", Label: "nightly",
			Was: ledger.Reported, Basis: ledger.Reported, Usage: cost.Usage{Input: -8, Output: -1}, Cost: -1_800, Reason: "by hand",
			Charges: []ledger.Charge{{Budget: dollarsOfMonth, N: -1_800}, {Budget: tokensOfGroup, N: -9}, {Budget: inputOfAlice, N: -8}},
		},
		{
			Exchange: made("03-10 09:10:00"), Seq: made("03-10 12:04:00"), Series: aliceChat, Model: "gpt-5",
			Was: ledger.Unreported, Basis: ledger.Reported, Usage: cost.Usage{Output: -650, AudioOutput: -100}, Cost: -6_500_000, Reason: "bill",
			Charges: []ledger.Charge{{Budget: dollarsOfMonth, N: -6_500_000}, {Budget: tokensOfGroup, N: -650}},
		},
	}
}
