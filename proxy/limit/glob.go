package limit

// Glob reports whether name matches pattern, in which * stands for any run of characters (none included)
// and ? for exactly one; every other character stands for itself, case included. It backtracks to the last
// star only, so it takes at most len(pattern)·len(name) steps.
func Glob(pattern, name string) bool {
	p, n := 0, 0
	star, mark := -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, n
			p++
		case p < len(pattern) && pattern[p] == '?':
			p++
			n = nextRune(name, n)
		case p < len(pattern) && pattern[p] == name[n]:
			p, n = p+1, n+1
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// Overlap reports whether there is a name that both patterns match. It takes at most len(a)·len(b) steps.
func Overlap(a, b string) bool {
	as, bs := []rune(a), []rune(b)
	// last[j] and row[j]: some text is matched by the first i characters of a and by the first j of b.
	last, row := make([]bool, len(bs)+1), make([]bool, len(bs)+1)
	for i := range len(as) + 1 {
		for j := range len(bs) + 1 {
			switch {
			case i == 0 && j == 0:
				row[j] = true
			case i > 0 && as[i-1] == '*':
				row[j] = last[j] || j > 0 && row[j-1] // it matches nothing, or what the other's last character does
			case j > 0 && bs[j-1] == '*':
				row[j] = row[j-1] || i > 0 && last[j]
			default:
				row[j] = i > 0 && j > 0 && last[j-1] && (as[i-1] == bs[j-1] || as[i-1] == '?' || bs[j-1] == '?')
			}
		}
		last, row = row, last
	}
	return last[len(bs)]
}

// nextRune returns the index of the character after the one at i.
func nextRune(s string, i int) int {
	i++
	for i < len(s) && s[i]&0xC0 == 0x80 {
		i++
	}
	return i
}
