//go:build !race

package limitertest

const usualHistories = 2000
