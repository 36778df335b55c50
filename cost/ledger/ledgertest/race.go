//go:build race

package ledgertest

// usualSchedules is small under the race detector, which makes them slow and has little to find in them.
const usualSchedules = 500
