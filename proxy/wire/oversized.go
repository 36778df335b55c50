package wire

import (
	"regexp"
	"strconv"
	"strings"
)

// demand finds what an error says of a limit and of a call: "Request too large for gpt-4o on tokens per min (TPM): Limit 10000,
// Requested 16000.", and with what is in use in between where that is what the call has to wait for.
var demand = regexp.MustCompile(`\bLimit:? ([0-9][0-9,]*)\b.*?\bRequested:? ([0-9][0-9,]*)\b`)

// Oversized reports whether the text of a 429 says that the call asks for more than a limit of the account ever allows. No wait would
// help it, and calls that ask for less may have room. A text that does not say it says nothing of the kind.
func Oversized(body []byte) bool {
	found := demand.FindSubmatch(body)
	if found == nil {
		return false
	}
	limit, err := strconv.ParseInt(strings.ReplaceAll(string(found[1]), ",", ""), 10, 64)
	if err != nil {
		return false
	}
	requested, err := strconv.ParseInt(strings.ReplaceAll(string(found[2]), ",", ""), 10, 64)
	return err == nil && requested > limit
}
