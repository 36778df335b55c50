// Package soak drives the built program for a long time, and with more at once than any other test: calls of every kind that are good,
// bad, cut off and slow, in front of an upstream that fails in every way, while the program is reconfigured, restarted and killed.
// In the end three accounts of every call are compared: the upstream's, the ledger's and that of the budgets.
//
//	go test ./test/soak                                   # some seconds
//	TOKENFARE_TEST=all go test ./test/soak                # a minute, as test/all.sh does
//	go test ./test/soak -run TestSoak -soak.for=8h -timeout 9h
//	go test ./test/soak -run TestSoak -soak.seed=17       # the same calls again
//	go test ./test/soak -run TestAbortStorm -soak.aborts=10000
//	go test ./test/soak -soak.tls=h2                      # or h1, or no: the seed says it otherwise
//
// What a call is, what its client does and what becomes of it upstream follows from the seed and the call's number, which stands in its
// prompt and in its label: so both ends know without a word between them, and a call that fails can be looked at by its number.
package soak
