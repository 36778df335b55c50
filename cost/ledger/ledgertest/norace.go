//go:build !race

package ledgertest

const usualSchedules = 5000
