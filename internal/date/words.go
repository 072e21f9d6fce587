package date

import "time"

// parseWords reads dates with a month's name: RFC 822, asctime and all that is like them. The parts may come in any
// order and with any punctuation; words that mean nothing are passed over.
func parseWords(s string) (time.Time, bool) {
	p := scan{s: s}
	var d words
	for !p.done() && !d.whole {
		if !p.part(&d) {
			return time.Time{}, false
		}
	}
	switch {
	case d.whole:
		return d.time()
	case d.month == 0 || d.day == 0 || d.year == 0 || !d.exists():
		return time.Time{}, false
	case d.hour > 24 || d.minute > 59 || d.second > 60 || d.hour == 24 && d.minute+d.second > 0:
		return time.Time{}, false
	}
	return d.time()
}

// words is what was understood so far.
type words struct {
	civil
	timed bool // the time of day is known
	zoned bool // an offset is known, which counts more than a name
	whole bool // a date in ISO form followed the weekday
}

// part takes the next part; it returns false if that makes the whole no date.
func (p *scan) part(d *words) bool {
	switch c := p.peek(); {
	case c == '(':
		p.comment()
	case isDigit(c):
		return p.numeral(d)
	case isLetter(c) || c >= 0x80:
		p.name(d)
	case (c == '+' || c == '-') && d.timed && !d.zoned:
		if zone, ok := p.offset(); ok {
			d.civil.zone, d.zoned = zone, true
		} else {
			p.i++
		}
	default:
		p.i++
	}
	return true
}

// comment passes over what stands in parentheses.
func (p *scan) comment() {
	for !p.done() && !p.accept(')') {
		p.i++
	}
}

// numeral takes a day, a year or a time of day.
func (p *scan) numeral(d *words) bool {
	n := p.digits()
	switch {
	case p.i+n < len(p.s) && p.s[p.i+n] == ':' && n <= 2 && !d.timed:
		d.timed = p.clock(&d.civil)
		p.spaces()
		p.half(&d.civil, false)
	case n == 4 && d.year == 0 && d.day == 0 && d.month == 0:
		// "Fri, 2006/09/15 08:19:53 EDT"
		if d.whole = p.isoDate(&d.civil); !d.whole {
			return false
		}
		p.timeOfDay(&d.civil)
	case n <= 2 && d.day == 0:
		d.day = p.number(n)
		return d.day > 0
	case n == 4 && d.year == 0:
		d.year = p.number(4)
		return d.year > 0
	case n <= 2 && d.year == 0:
		d.year = century(p.number(n))
	case d.year == 0:
		return false
	default:
		p.i += n
	}
	return true
}

// name takes a word: a month, a zone, or nothing of interest.
func (p *scan) name(d *words) {
	start := p.i
	word := p.word()
	if d.month == 0 {
		if d.month = monthNamed(word); d.month > 0 {
			return
		}
	}
	if !d.timed || d.zoned {
		return
	}
	p.i = start
	if zone, ok := p.zone(); ok {
		d.civil.zone, d.zoned = zone, true
		return
	}
	p.word()
}
