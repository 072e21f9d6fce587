package date

import "time"

// parseISO reads what begins with a year of four digits: RFC 3339, W3CDTF, ISO 8601 with and without
// hyphens, by week and by day of the year, year or month alone, a month's name in place of its number, the two
// Korean forms that feedparser knows. What follows a whole date and is no time of day is ignored.
func parseISO(s string) (time.Time, bool) {
	p := scan{s: s}
	var c civil
	if !p.isoDate(&c) {
		return time.Time{}, false
	}
	p.timeOfDay(&c)
	return c.time()
}

func (p *scan) isoDate(c *civil) bool {
	c.month, c.day = 1, 1
	n := p.digits()
	if n == 4 {
		c.year = p.number(4)
		return p.afterYear(c)
	}
	return p.compactDate(c, n)
}

// compactDate reads n digits without hyphens. Other numbers are no dates; those of ten digits are seconds since 1970.
func (p *scan) compactDate(c *civil, n int) bool {
	switch n {
	case 6:
		c.year, c.month, c.day = century(p.number(2)), p.number(2), p.number(2)
	case 7:
		c.year, c.day = p.number(4), p.number(3)
	case 8, 12, 14:
		c.year, c.month, c.day = p.number(4), p.number(2), p.number(2)
	default:
		return false
	}
	return c.month < 20 && (c.day < 40 || n == 7)
}

// century completes a year of two digits: 1990 to 2089.
func century(year int) int {
	if year < 90 {
		return 2000 + year
	}
	return 1900 + year
}

// afterYear reads month and day, as far as there are any.
func (p *scan) afterYear(c *civil) bool {
	switch sep := p.peek(); {
	case sep == 0:
		return true
	case sep|0x20 == 'w':
		return p.week(c)
	case sep|0x20 == 't' || sep == ' ':
		return true
	case sep == '-' || sep == '/' || sep == '.':
		p.i++
		return p.month(c, sep)
	}
	return p.korean(c)
}

func (p *scan) month(c *civil, sep byte) bool {
	n := p.digits()
	switch {
	case n == 0 && p.peek()|0x20 == 'w':
		return p.week(c)
	case n == 0:
		c.month = monthNamed(p.word())
		if c.month == 0 {
			return false
		}
	case n == 3 && (p.i+3 >= len(p.s) || p.s[p.i+3] != sep):
		c.day = p.number(3)
		return c.day >= 1 && c.day <= 366
	case n == 4:
		c.month, c.day = p.number(2), p.number(2)
		return c.month < 20 && c.day < 40
	case n > 4:
		return false
	default:
		c.month = p.number(n)
	}
	if p.accept(sep) {
		n := p.digits()
		if n < 1 || n > 3 {
			return false
		}
		c.day = p.number(n)
	}
	return c.month < 20 && c.day < 40
}

// week reads "W06-5" or "W065": week 1 is the one with January 4th, its first day is Monday.
func (p *scan) week(c *civil) bool {
	p.i++
	if p.digits() < 2 {
		return false
	}
	week, day := p.number(2), 1
	p.accept('-')
	if p.digits() > 0 {
		day = p.number(1)
	}
	if week < 1 || week > 53 || day < 1 || day > 7 {
		return false
	}
	fourth := time.Date(c.year, 1, 4, 0, 0, 0, 0, time.UTC)
	monday := 4 - (int(fourth.Weekday())+6)%7
	c.day = monday + (week-1)*7 + day - 1
	return true
}

// korean reads "2004년 05월 28일" after the year's digits; its times are those of Seoul.
func (p *scan) korean(c *civil) bool {
	if !p.take("년") {
		return false
	}
	p.spaces()
	month, ok := p.short()
	if !ok || !p.take("월") {
		return false
	}
	p.spaces()
	day, ok := p.short()
	if !ok || !p.take("일") {
		return false
	}
	c.month, c.day, c.zone = month, day, 9*3600
	return true
}

// timeOfDay reads what follows a date: T or white space, a time, a zone. It leaves c as it is if no time follows.
func (p *scan) timeOfDay(c *civil) {
	p.spaces()
	if p.peek()|0x20 == 't' {
		p.i++
	}
	p.spaces()
	afternoon := p.take("오후")
	if afternoon || p.take("오전") {
		c.zone = 9 * 3600
		p.spaces()
	}
	if p.clock(c) {
		p.spaces()
		p.half(c, afternoon)
		p.spaces()
	}
	if zone, ok := p.zone(); ok {
		c.zone = zone
	}
}

// clock reads "18:14", "18:14:55.1234", "181455" or "18".
func (p *scan) clock(c *civil) bool {
	n := p.digits()
	switch n {
	case 1, 2:
		c.hour = p.number(n)
		if !p.accept(':') {
			return true
		}
		c.minute, _ = p.short()
		if !p.accept(':') {
			return true
		}
		c.second, _ = p.short()
	case 4, 6:
		c.hour, c.minute = p.number(2), p.number(2)
		if n == 6 {
			c.second = p.number(2)
		}
	default:
		return false
	}
	if p.peek() == '.' || p.peek() == ',' {
		p.i++
		c.nano = p.fraction()
	}
	return true
}

// fraction takes the digits of a fraction and returns it in billionths.
func (p *scan) fraction() int {
	nano, unit := 0, 100_000_000
	for isDigit(p.peek()) {
		nano += int(p.s[p.i]-'0') * unit
		unit /= 10
		p.i++
	}
	return nano
}

// half reads am and pm, a.m. and p.m.
func (p *scan) half(c *civil, afternoon bool) {
	morning := p.takeHalf('a')
	afternoon = p.takeHalf('p') || afternoon
	switch {
	case morning && c.hour == 12:
		c.hour = 0
	case afternoon && c.hour < 12:
		c.hour += 12
	}
}

// takeHalf takes "am" or "a.m." when letter is 'a', if it comes next and no other letter follows.
func (p *scan) takeHalf(letter byte) bool {
	start := p.i
	if p.peek()|0x20 != letter {
		return false
	}
	p.i++
	dotted := p.accept('.')
	if p.peek()|0x20 == 'm' {
		p.i++
		if dotted {
			p.accept('.')
		}
		if !isLetter(p.peek()) {
			return true
		}
	}
	p.i = start
	return false
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
