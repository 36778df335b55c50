package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tokenfare/tokenfare/cost"
)

// suggest proposes the name someone meant: "write team", or the names there are.
func suggest(got string, names []string) string {
	if best := nearest(got, names); best != "" {
		return "did you mean " + best + "?"
	}
	return listed(names)
}

// listed names them all, or the first dozen.
func listed(names []string) string {
	if len(names) == 0 {
		return ""
	}
	sorted := slices.Sorted(slices.Values(names))
	if len(sorted) > 12 {
		return "the names there are: " + strings.Join(sorted[:12], ", ") + " and " + strconv.Itoa(len(sorted)-12) + " more"
	}
	return "the names there are: " + strings.Join(sorted, ", ")
}

// nearestModel proposes a model of the price list, or nothing: the list is too long to print.
func nearestModel(got string, catalog *cost.Catalog) string {
	var names []string
	for _, m := range catalog.Known() {
		names = append(names, m.Name)
	}
	if best := nearest(got, names); best != "" {
		return "did you mean " + best + "?"
	}
	return ""
}

// nearest returns the name that takes the fewest changes to reach, if they are few enough to be a slip.
func nearest(got string, names []string) string {
	fold := func(s string) string {
		return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(s))
	}
	best, least := "", max(1, min(3, len(got)/3))+1
	for _, n := range names {
		if d := distance(fold(got), fold(n), least); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance is the number of characters to insert, remove, replace or swap with their neighbour, or limit if it is
// that or more. Names longer than 64 bytes are not compared.
func distance(a, b string, limit int) int {
	if len(a) > 64 || len(b) > 64 || len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit)
}
