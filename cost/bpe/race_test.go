//go:build race

package bpe_test

const raceEnabled = true
