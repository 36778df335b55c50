package ledgertest

import (
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// frozenHourSums are those of the frozen ledger, with what its own tables of sums have not got yet.
func frozenHourSums() map[ledger.Hour]ledger.Sums {
	in := func(hour string, s ledger.Series, model, served, label string) ledger.Hour {
		return ledger.Hour{Start: made(hour + ":00:00").Time().Unix(), Series: s, Model: model, Served: served, Label: label}
	}
	const evaluation = "évaluation “Ω”"
	return map[ledger.Hour]ledger.Sums{
		in("02-27 10", aliceChat, "gpt-4o-mini", "", ""):         {Requests: 1, Input: 30, Output: 70, Cost: 46_500},
		in("02-27 10", bobChat, "gpt-5", "gpt-5-2025-08-07", ""): {Requests: 1, Input: 200, Output: 100, Reasoning: 8, Cost: 1_250_000},

		in("03-09 23", aliceChat, "gpt-4o-mini", "", "nightly"): {Requests: 1, Input: 118, CachedInput: 64, Output: 210, Cost: 138_900},
		in("03-09 23", aliceChat, "gpt-5", "gpt-5-2025-08-07", ""): {
			Requests: 1, Input: 950, CachedInput: 512, CacheWrite: 128, Output: 1400, Reasoning: 1100, Cost: 15_000_000,
		},

		in("03-10 09", aliceChat, "gpt-4o-mini", "", "nightly"): {Requests: 1, Retries: 1, Input: 40, Output: 24, Cost: 20_400},
		in("03-10 09", aliceChat, "gpt-5", "", ""):              {Requests: 1, Input: 300, Output: 600, Cost: 6_375_000},
		in("03-10 09", bobChat, "gpt-4o-mini", "", ""):          {Requests: 1, Failed: 1},
		in("03-10 09", bobChat, "gpt-5", "", evaluation):        {Requests: 1, Unreported: 1, Input: 700, Output: 300, Cost: 3_875_000},
		in("03-10 09", bobImages, "gpt-image-1", "", ""):        {Requests: 1, Input: 38, CachedInput: 12, Output: 2000, Images: 2, Cost: 81_000_000},
		in("03-10 09", bobListens, "whisper-1", "", ""): {
			Requests: 1, Input: 25, CachedInput: 5, Output: 31, Milliseconds: 61_500, Characters: 388, Cost: 6_100_000,
		},

		in("03-10 10", aliceChat, "gpt-5", "", ""): {Requests: 1, Unreported: 1, Input: 40, Output: 120, Cost: 1_250_000},

		in("03-10 12", aliceChat, "gpt-4o-mini", "", "nightly"): {Requests: 1, Retries: 1, Input: 64, Output: 9, Cost: 15_000},
		in("03-10 12", bobChat, "gpt-4o-mini", "", evaluation):  {Requests: 1, Counted: 1, Input: 33, Output: 45, Cost: 31_950},
	}
}

// frozenDaySums are those by day of UTC and series.
func frozenDaySums() map[ledger.Hour]ledger.Sums {
	on := func(day string, s ledger.Series) ledger.Hour {
		return ledger.Hour{Start: made(day + " 00:00:00").Time().Unix(), Series: s}
	}
	return map[ledger.Hour]ledger.Sums{
		on("02-27", aliceChat): {Requests: 1, Input: 30, Output: 70, Cost: 46_500},
		on("02-27", bobChat):   {Requests: 1, Input: 200, Output: 100, Reasoning: 8, Cost: 1_250_000},
		on("03-09", aliceChat): {Requests: 2, Input: 1068, CachedInput: 576, CacheWrite: 128, Output: 1610, Reasoning: 1100, Cost: 15_138_900},
		on("03-10", aliceChat): {Requests: 4, Unreported: 1, Retries: 2, Input: 444, Output: 753, Cost: 7_660_400},
		on("03-10", bobChat):   {Requests: 3, Failed: 1, Unreported: 1, Counted: 1, Input: 733, Output: 345, Cost: 3_906_950},
		on("03-10", bobImages): {Requests: 1, Input: 38, CachedInput: 12, Output: 2000, Images: 2, Cost: 81_000_000},
		on("03-10", bobListens): {
			Requests: 1, Input: 25, CachedInput: 5, Output: 31, Milliseconds: 61_500, Characters: 388, Cost: 6_100_000,
		},
	}
}

// slotSum is what a budget was charged in a quarter of an hour.
type slotSum struct {
	slot ledger.Slot
	n    int64
}

// frozenSpent are what budgets were charged of exchanges that have ended.
func frozenSpent() (list []slotSum) {
	in := func(b ledger.Budget, at string, n int64) {
		list = append(list, slotSum{ledger.Slot{Budget: b, Start: made(at + ":00").Time().Unix()}, n})
	}
	in(dollarsOfMonth, "02-27 10:00", 46_500)
	in(dollarsOfMonth, "03-09 23:30", 138_900)
	in(dollarsOfMonth, "03-09 23:45", 11_125_000)
	in(dollarsOfMonth, "03-10 00:00", 3_875_000)
	in(dollarsOfMonth, "03-10 09:00", 6_395_400)
	in(dollarsOfMonth, "03-10 10:00", 1_250_000)
	in(dollarsOfMonth, "03-10 12:00", 15_000)

	in(tokensOfGroup, "02-27 10:00", 100)
	in(tokensOfGroup, "03-09 23:30", 328)
	in(tokensOfGroup, "03-09 23:45", 1900)
	in(tokensOfGroup, "03-10 00:00", 450)
	in(tokensOfGroup, "03-10 09:00", 964)
	in(tokensOfGroup, "03-10 10:00", 160)
	in(tokensOfGroup, "03-10 12:00", 73)

	in(inputOfAlice, "02-27 10:00", 30)
	in(inputOfAlice, "03-09 23:30", 54)
	in(inputOfAlice, "03-10 00:00", 438)
	in(inputOfAlice, "03-10 09:00", 340)
	in(inputOfAlice, "03-10 10:00", 40)
	in(inputOfAlice, "03-10 12:00", 64)

	in(requestsOfBob, "02-27 10:00", 1)
	in(requestsOfBob, "03-10 09:30", 1)
	in(requestsOfBob, "03-10 09:45", 2)
	in(requestsOfBob, "03-10 12:00", 1)

	in(dollarsOfBob, "02-27 10:00", 1_250_000)
	in(dollarsOfBob, "03-10 09:30", 3_875_000)
	in(dollarsOfBob, "03-10 09:45", 87_100_000)
	in(dollarsOfBob, "03-10 12:00", 31_950)

	in(outputOfBob, "02-27 10:00", 100)
	in(outputOfBob, "03-10 09:30", 300)
	in(outputOfBob, "03-10 09:45", 2031)
	in(outputOfBob, "03-10 12:00", 45)

	in(inputOfBob, "02-27 10:00", 200)
	in(inputOfBob, "03-10 09:30", 700)
	in(inputOfBob, "03-10 09:45", 63)
	in(inputOfBob, "03-10 12:00", 33)
	return list
}

// frozenTotals are what budgets were charged in all, and on the last day, with what the exchange that is open has reserved.
func frozenTotals() map[ledger.Budget][2]int64 {
	return map[ledger.Budget][2]int64{
		dollarsOfMonth: {22_845_800, 11_535_400},
		tokensOfGroup:  {3975, 1647},
		inputOfAlice:   {966, 882},
		requestsOfBob:  {6, 5},
		dollarsOfBob:   {95_881_950, 94_631_950},
		outputOfBob:    {2776, 2676},
		inputOfBob:     {1496, 1296},
	}
}
