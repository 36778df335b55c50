package cost

// tokens is what all of the file comes to.
func (d *pdf) tokens() int64 {
	numbers := map[int64]bool{}
	sum := pdfSum{pdf: d, byNumber: map[int64][]*pdfStream{}, sums: map[string]int64{}, open: map[string]bool{}}
	for i := range d.streams {
		s := &d.streams[i]
		if s.kind == pdfUnshown && d.seen(s) {
			return unreadable
		}
		for _, number := range s.numbers {
			numbers[number] = true
			if s.kind != pdfUnshown {
				sum.byNumber[number] = append(sum.byNumber[number], s)
			}
		}
	}
	for number, times := range d.contents {
		names, row := d.rows[number]
		if times > 1 && (row || !numbers[number]) || names { // a list that several pages have, or of other things as well
			return unreadable
		}
	}
	text, marked, again := int64(0), int64(0), d.again()
	for i := range d.streams {
		s := &d.streams[i]
		if s.kind == pdfUnshown {
			continue
		}
		times := max(1, d.times(s))
		if d.isLook(s) {
			times = saturatingMul(times, again)
		}
		text = saturatingAdd(text, saturatingMul(times, sum.stream(s)))
		marked = saturatingAdd(marked, saturatingMul(times, s.marked))
	}
	if d.unreadable {
		return unreadable
	}
	n := saturatingMul(text, max(1, d.widest))
	n = saturatingAdd(n, saturatingMul(marked, d.said))
	pages := max(d.pages, d.count)
	if d.count == 0 { // readers follow the lists, of which there are others as well
		pages = max(pages, d.kids)
	}
	return min(unreadable, saturatingAdd(n, saturatingMul(pages, DefaultImageTokens)))
}

// times is how often a stream is the content of a page, or in an array.
func (d *pdf) times(s *pdfStream) (most int64) {
	for _, number := range s.numbers {
		most = max(most, d.shows[number], d.glued(s, number))
	}
	return most
}

// seen reports whether what is nothing but a picture, a font or a table may be the content of a page after all.
func (d *pdf) seen(s *pdfStream) bool {
	for _, number := range s.numbers {
		if d.shows[number] > 0 || !s.table && d.glued(s, number) > 0 {
			return true
		}
	}
	return false
}

// glued is times for what other numbers a stream may have: a reader that is told to begin within its number, 94, takes it for 4.
// None refers to it by the number that it seems to have, then.
func (d *pdf) glued(s *pdfStream, number int64) (most int64) {
	const ten = 10
	if d.referred[number] {
		return 0
	}
	for unit := int64(ten); unit <= number; unit *= ten {
		other := number % unit
		if most = max(most, d.contents[other]); s.first == 0 && s.kind != pdfUnshown { // it has no objects
			most = max(most, d.shows[other])
		}
		d.unreadable = d.unreadable || s.kind == pdfForm && d.forms[other]
	}
	return most
}

// isLook reports whether a stream is what an annotation looks like.
func (d *pdf) isLook(s *pdfStream) bool {
	for _, number := range s.numbers {
		if d.looks[number] {
			return true
		}
	}
	return false
}

// again is how often an annotation may be on pages: in a list more than once, or in a list that is.
func (d *pdf) again() int64 {
	lists, most := int64(1), int64(1)
	for number, times := range d.annotated {
		if _, row := d.rows[number]; row {
			lists = max(lists, times)
		} else {
			most = max(most, times)
		}
	}
	for number := range d.hasLook {
		most = max(most, d.inRows[number])
	}
	return saturatingMul(lists, most)
}

// mostForms is how many forms are looked into that show each other, one in the other: documents have a handful.
const mostForms = 100

// pdfSum adds up what streams show with all that they show of others.
type pdfSum struct {
	*pdf
	byNumber map[int64][]*pdfStream
	sums     map[string]int64 // of what has a name
	open     map[string]bool  // names that are being summed
}

// step takes the time that one form takes: a file may give each of many forms many names.
func (p *pdfSum) step() {
	const bytesAStep = 16
	if p.left -= bytesAStep; p.left < 0 {
		p.unreadable = true
	}
}

func (p *pdfSum) stream(s *pdfStream) int64 {
	n := s.shown
	for name, times := range s.forms {
		if p.step(); p.unreadable {
			return 0
		}
		n = saturatingAdd(n, saturatingMul(times, p.name(name)))
	}
	return n
}

// name is the most that the streams of a name show.
func (p *pdfSum) name(name string) (most int64) {
	if n, ok := p.sums[name]; ok {
		return n
	}
	if len(p.open) == mostForms {
		p.unreadable = true
		return 0
	}
	if p.open[name] { // it shows itself
		p.unreadable = p.unreadable || len(p.named[name]) > 0
		return 0
	}
	p.open[name] = true
	for _, number := range p.named[name] {
		if p.step(); p.unreadable {
			break
		}
		n := int64(0)
		for _, s := range p.byNumber[number] {
			n = saturatingAdd(n, p.stream(s))
		}
		most = max(most, n)
	}
	delete(p.open, name)
	p.sums[name] = most
	return most
}
