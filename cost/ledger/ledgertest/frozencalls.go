package ledgertest

import (
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// aliceCalls are those of one key that have ended, in the order in which they began.
func aliceCalls() []ledger.Exchange {
	return []ledger.Exchange{
		{
			Begin: ledger.Begin{
				Exchange: made("03-09 23:30:00"), Series: aliceChat, Model: "gpt-4o-mini", Label: "nightly", Stream: true, Price: "p1",
				Estimate: cost.Estimate{Input: 120, MaxOutput: 400, ByPart: [cost.Parts]int64{cost.PartMessages: 100, cost.PartOverhead: 20}},
				Most:     cost.Usage{Input: 120, Output: 400}, Reserved: 258_000, Charges: ofAlice(258_000, 520, 120),
			},
			End: &ledger.End{
				Exchange: made("03-09 23:30:00"), Seq: made("03-09 23:30:02.5"), Status: 200, Ending: "complete", Basis: ledger.Reported,
				Usage: cost.Usage{Input: 118, CachedInput: 64, Output: 210, Tier: cost.Standard}, Cost: 138_900,
				Took: 2500 * time.Millisecond, FirstToken: 310_005 * time.Microsecond, UpstreamID: "req_8f14e45fceea167a", Charges: ofAlice(138_900, 328, 54),
			},
		},
		{ // it used more than was reserved, and ended on another day
			Begin: ledger.Begin{
				Exchange: made("03-09 23:50:00"), Series: aliceChat, Model: "gpt-5", Price: "p2",
				Estimate: cost.Estimate{
					Input: 900, MaxOutput: 1000, Basis: cost.Assumed,
					ByPart:  [cost.Parts]int64{cost.PartMessages: 500, cost.PartTools: 250, cost.PartSchema: 100, cost.PartOther: 50},
					BasisOf: [cost.Parts]cost.Basis{cost.PartTools: cost.Formula, cost.PartSchema: cost.Approximate},
				},
				Most: cost.Usage{Input: 900, Output: 1000}, Reserved: 11_125_000, Charges: ofAlice(11_125_000, 1900, 900),
			},
			End: &ledger.End{
				Exchange: made("03-09 23:50:00"), Seq: made("03-10 00:10:00.25"), Status: 200, Ending: "complete", Basis: ledger.Reported, Served: "gpt-5-2025-08-07",
				Usage: cost.Usage{Input: 950, CachedInput: 512, CacheWrite: 128, Output: 1400, Reasoning: 1100}, Cost: 15_000_000, Took: 20*time.Minute + 250*time.Millisecond,
				Charges: []ledger.Charge{{Budget: dollarsOfMonth, N: 11_125_000, Late: 3_875_000}, {Budget: tokensOfGroup, N: 1900, Late: 450}, {Budget: inputOfAlice, Late: 438}},
			},
		},
		{
			Begin: ledger.Begin{
				Exchange: made("03-10 09:00:00"), Series: aliceChat, Model: "gpt-4o-mini", Label: "nightly", Retry: 2, Stream: true, Price: "p1",
				Estimate: cost.Estimate{Input: 50, MaxOutput: 200, ByPart: [cost.Parts]int64{cost.PartMessages: 50}},
				Most:     cost.Usage{Input: 50, Output: 200}, Reserved: 127_500, Charges: ofAlice(127_500, 250, 50),
			},
			End: &ledger.End{
				Exchange: made("03-10 09:00:00"), Seq: made("03-10 09:00:01"), Status: 200, Ending: "broken_stream", Basis: ledger.Counted,
				Usage: cost.Usage{Input: 48, Output: 20}, Cost: 19_200, Took: time.Second, FirstToken: 200 * time.Millisecond, Charges: ofAlice(19_200, 68, 48),
			},
		},
		{
			Begin: ledger.Begin{
				Exchange: made("03-10 09:10:00"), Series: aliceChat, Model: "gpt-5", Stream: true, Price: "p2",
				Estimate: cost.Estimate{
					Input: 300, MaxOutput: 500, Beyond: 7, Basis: cost.Formula,
					ByPart:      [cost.Parts]int64{cost.PartMessages: 80, cost.PartFiles: 100, cost.PartPrediction: 20, cost.PartHosted: 100},
					HostedCalls: 2, HostedFee: 10_000_000, HostedTokens: 50, Fees: 20_000_000,
				},
				Most: cost.Usage{Input: 300, Output: 500}, Reserved: 5_375_000, Charges: ofAlice(5_375_000, 800, 300),
			},
			Draws: []ledger.Draw{
				{Exchange: made("03-10 09:10:00"), Step: 1, More: cost.Usage{Output: 500}, Reserved: 5_000_000, Charges: ofAlice(5_000_000, 500, 0)},
				{Exchange: made("03-10 09:10:00"), Step: 2, More: cost.Usage{Output: 250, AudioOutput: 100}, Reserved: 2_500_000, Charges: ofAlice(2_500_000, 250, 0)},
			},
			End: &ledger.End{
				Exchange: made("03-10 09:10:00"), Seq: made("03-10 09:12:00"), Ending: "broken", Basis: ledger.Unreported,
				Usage: cost.Usage{Input: 300, Output: 1250, AudioOutput: 100}, Cost: 12_875_000, Took: 2 * time.Minute, Charges: ofAlice(12_875_000, 1550, 300),
			},
		},
		{ // the process that served it died, and the next one ended it
			Begin: ledger.Begin{
				Exchange: made("03-10 10:00:00"), Series: aliceChat, Model: "gpt-5", Price: "p2",
				Estimate: cost.Estimate{Input: 40, MaxOutput: 60, ByPart: [cost.Parts]int64{cost.PartMessages: 40}},
				Most:     cost.Usage{Input: 40, Output: 60}, Reserved: 650_000, Charges: ofAlice(650_000, 100, 40),
			},
			Draws: []ledger.Draw{{Exchange: made("03-10 10:00:00"), Step: 1, More: cost.Usage{Output: 60}, Reserved: 600_000, Charges: ofAlice(600_000, 60, 0)}},
			End: &ledger.End{
				Exchange: made("03-10 10:00:00"), Seq: made("03-10 10:02:00"), Ending: ledger.Crashed, Basis: ledger.Unreported,
				Usage: cost.Usage{Input: 40, Output: 120}, Cost: 1_250_000, Charges: ofAlice(1_250_000, 160, 40),
			},
		},
		{ // not in the frozen sums
			Begin: ledger.Begin{
				Exchange: made("03-10 12:06:00"), Series: aliceChat, Model: "gpt-4o-mini", Label: "nightly", Retry: 1, Price: "p1",
				Estimate: cost.Estimate{Input: 64, MaxOutput: 16, ByPart: [cost.Parts]int64{cost.PartMessages: 64}},
				Most:     cost.Usage{Input: 64, Output: 16}, Reserved: 19_200, Charges: ofAlice(19_200, 80, 64),
			},
			End: &ledger.End{
				Exchange: made("03-10 12:06:00"), Seq: made("03-10 12:06:01"), Status: 200, Ending: "complete", Basis: ledger.Reported,
				Usage: cost.Usage{Input: 64, Output: 9}, Cost: 15_000, Took: time.Second, Charges: ofAlice(15_000, 73, 64),
			},
		},
	}
}

// bobCalls are those of the other.
func bobCalls() []ledger.Exchange {
	return []ledger.Exchange{
		{
			Begin: ledger.Begin{
				Exchange: made("03-10 09:20:00"), Series: bobChat, Model: "gpt-4o-mini", Price: "p1",
				Estimate: cost.Estimate{Input: 10, MaxOutput: 20, ByPart: [cost.Parts]int64{cost.PartMessages: 10}},
				Most:     cost.Usage{Input: 10, Output: 20}, Reserved: 13_500, Charges: ofBob(1, 13_500, 20, 10),
			},
			End: &ledger.End{
				Exchange: made("03-10 09:20:00"), Seq: made("03-10 09:20:00.4"), Status: 429, Ending: "refused", Basis: ledger.Nothing,
				Took: 400 * time.Millisecond, FirstToken: 390 * time.Millisecond, UpstreamID: "req_c9f0f895fb98ab91",
			},
		},
		{
			Begin: ledger.Begin{
				Exchange: made("03-10 09:30:00"), Series: bobChat, Model: "gpt-5", Label: "évaluation “Ω”", Price: "p2",
				Estimate: cost.Estimate{Input: 700, MaxOutput: 300, ByPart: [cost.Parts]int64{cost.PartMessages: 700}},
				Most:     cost.Usage{Input: 700, Output: 300}, Reserved: 3_875_000, Charges: ofBob(1, 3_875_000, 300, 700),
			},
			End: &ledger.End{
				Exchange: made("03-10 09:30:00"), Seq: made("03-10 09:30:03"), Status: 200, Ending: "complete", Basis: ledger.Distrusted,
				Usage: cost.Usage{Input: 700, Output: 300}, Cost: 3_875_000, Took: 3 * time.Second, Charges: ofBob(1, 3_875_000, 300, 700),
			},
		},
		{
			Begin: ledger.Begin{
				Exchange: made("03-10 09:45:00"), Series: bobImages, Model: "gpt-image-1", Price: "p2",
				Estimate: cost.Estimate{Input: 40, MaxOutput: 2200, Basis: cost.Formula, ByPart: [cost.Parts]int64{cost.PartMessages: 10, cost.PartImages: 30}, Pictures: 2},
				Most:     cost.Usage{Input: 40, ImageInput: 30, Output: 2200, ImageOutput: 2200, Images: 2}, Reserved: 90_000_000, Charges: ofBob(1, 90_000_000, 2200, 40),
			},
			End: &ledger.End{
				Exchange: made("03-10 09:45:00"), Seq: made("03-10 09:45:20"), Status: 200, Ending: "complete", Basis: ledger.Reported,
				Usage: cost.Usage{Input: 38, CachedInput: 12, ImageInput: 28, CachedImage: 12, Output: 2000, ImageOutput: 2000, Images: 2, Fees: 10_000_000, Tier: cost.Priority},
				Cost:  81_000_000, Took: 20 * time.Second, Charges: ofBob(1, 81_000_000, 2000, 38),
			},
		},
		{
			Begin: ledger.Begin{
				Exchange: made("03-10 09:50:00"), Series: bobListens, Model: "whisper-1",
				Estimate: cost.Estimate{Input: 25, ByPart: [cost.Parts]int64{cost.PartAudio: 25}, Milliseconds: 61_500, Characters: 400},
				Most:     cost.Usage{Input: 25, CachedInput: 5, CacheWrite: 2, AudioInput: 25, Output: 50, Reasoning: 1, Milliseconds: 61_500, Characters: 400},
				Reserved: 6_150_000, Charges: ofBob(1, 6_150_000, 50, 25),
			},
			End: &ledger.End{
				Exchange: made("03-10 09:50:00"), Seq: made("03-10 09:50:04"), Status: 200, Ending: "complete", Basis: ledger.Reported,
				Usage: cost.Usage{Input: 25, CachedInput: 5, AudioInput: 25, CachedAudio: 5, Output: 31, Milliseconds: 61_500, Characters: 388},
				Cost:  6_100_000, Took: 4 * time.Second, Charges: ofBob(1, 6_100_000, 31, 25),
			},
		},
		{ // not in the frozen sums
			Begin: ledger.Begin{
				Exchange: made("03-10 12:05:00"), Series: bobChat, Model: "gpt-4o-mini", Label: "évaluation “Ω”", Stream: true, Price: "p1",
				Estimate: cost.Estimate{Input: 33, MaxOutput: 90, ByPart: [cost.Parts]int64{cost.PartMessages: 33}},
				Most:     cost.Usage{Input: 33, Output: 90}, Reserved: 58_950, Charges: ofBob(1, 58_950, 90, 33),
			},
			End: &ledger.End{
				Exchange: made("03-10 12:05:00"), Seq: made("03-10 12:05:01"), Status: 200, Ending: "broken_stream", Basis: ledger.Counted,
				Usage: cost.Usage{Input: 33, Output: 45}, Cost: 31_950, Took: time.Second, FirstToken: 250 * time.Millisecond, Charges: ofBob(1, 31_950, 45, 33),
			},
		},
	}
}
