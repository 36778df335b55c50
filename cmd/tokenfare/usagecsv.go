package main

import (
	"encoding/csv"
	"strconv"
	"strings"
	"unicode/utf8"
)

// csv is the report as RFC 4180 has it: a line for each row, lines of a total left out, money as decimal dollars.
func (t usageTable) csv() string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	put := func(record []string) {
		if err := w.Write(record); err != nil {
			panic("BUG: a string builder that cannot be written to: " + err.Error())
		}
	}
	put(append(
		t.by.names(), "requests", "failed", "counted", "unreported", "retries",
		"input_tokens", "cached_input_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens", "images", "audio_milliseconds", "characters", "cost_usd",
		"refused", "running_requests", "running_input_tokens", "running_output_tokens", "running_cost_usd",
	))
	for _, l := range t.lines {
		var record []string
		for i := range t.by {
			record = append(record, inert(printable(l.values[i])))
		}
		numbers := func(list ...int64) {
			for _, n := range list {
				record = append(record, strconv.FormatInt(n, 10))
			}
		}
		s := l.sums
		numbers(s.Requests, s.Failed, s.Counted, s.Unreported, s.Retries)
		numbers(s.Input, s.CachedInput, s.CacheWrite, s.Output, s.Reasoning, s.Images, s.Milliseconds, s.Characters)
		record = append(record, decimal(s.Cost))
		if t.by.tellsRefusals() {
			numbers(l.refusals())
		} else {
			record = append(record, "")
		}
		numbers(l.running.Requests, l.running.Input, l.running.Output)
		put(append(record, decimal(l.running.Cost)))
	}
	w.Flush()
	return b.String()
}

// inert keeps a spreadsheet from taking a text for a formula: what would be one gets an apostrophe in front. Callers choose
// labels and names of models. Those of East Asia take the wide signs, too.
func inert(s string) string {
	if first, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, " ")); strings.ContainsRune("=+-@＝＋－＠", first) {
		return "'" + s
	}
	return s
}
