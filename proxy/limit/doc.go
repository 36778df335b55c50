// Package limit reads and prints the sentences in which budgets are written:
//
//	200k tokens per minute, burst 600k     refills steadily; up to 600k at once
//	60 requests in any minute              never more, wherever one starts counting
//	$50 each month                         a calendar quota: starts again on the 1st
//	$10 each month on gpt-5-pro*           only what these models spend
//	4k output tokens per request           a cap on each single call
//	8 at once                              calls that run at the same time
//	$100 in total, until 2027-01-01        never refills; no longer holds from that day on
//
// The grammar, in which case does not matter except in model names:
//
//	AMOUNT [UNIT] WHEN [on MODEL-GLOB…] [, burst AMOUNT] [, observe only] [, until DATE]
//
//	AMOUNT  200k, 1.5m, 2b, 1_000, 60; dollars carry their sign: $50, $0.25
//	UNIT    tokens, input tokens, uncached input tokens, output tokens, requests;
//	        before "at once" it goes without saying: requests
//	WHEN    per P, in any P           P: second, minute, hour, day or a multiple ("5 minutes")
//	        each hour, day, week, month, quarter
//	        per request, in total, at once
//	DATE    2027-01-31
//
// What raises a limit for a while is a sentence, too, an Extra:
//
//	+$20 until 2027-01-31                  raises the key's one calendar or total limit in dollars
//	+1m tokens each month until 2027-01-31 on gpt-5*
//
//	+AMOUNT [UNIT] [each PERIOD | in total] until DATE [on MODEL-GLOB…]
//
// The same sentence is what people write in the configuration and what they read
// in a refusal, so a Limit keeps the words it was written in (Text), has one
// canonical spelling (String), an explanation (Plain) and a name for the counter
// behind it (ID) that survives a change of amount.
//
// The package knows nothing of callers, counters or clocks, and enforces nothing.
package limit
