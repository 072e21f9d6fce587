package date

import "unicode/utf8"

// scan reads a string from front to back.
type scan struct {
	s string
	i int
}

func (p *scan) done() bool { return p.i >= len(p.s) }

// peek is the next byte, 0 at the end.
func (p *scan) peek() byte {
	if p.done() {
		return 0
	}
	return p.s[p.i]
}

// accept takes c if it comes next.
func (p *scan) accept(c byte) bool {
	if p.peek() != c || p.done() {
		return false
	}
	p.i++
	return true
}

// take takes text if it comes next.
func (p *scan) take(text string) bool {
	if len(p.s)-p.i < len(text) || p.s[p.i:p.i+len(text)] != text {
		return false
	}
	p.i += len(text)
	return true
}

func (p *scan) spaces() {
	for c := p.peek(); c == ' ' || c >= '\t' && c <= '\r'; c = p.peek() {
		p.i++
	}
}

// digits counts the digits that come next.
func (p *scan) digits() int {
	n := 0
	for p.i+n < len(p.s) && isDigit(p.s[p.i+n]) {
		n++
	}
	return n
}

// number takes n digits, which must be there.
func (p *scan) number(n int) int {
	v := 0
	for ; n > 0; n-- {
		v = v*10 + int(p.s[p.i]-'0')
		p.i++
	}
	return v
}

// short takes a number of one or two digits; ok is false if there is none or a longer one.
func (p *scan) short() (v int, ok bool) {
	n := p.digits()
	if n < 1 || n > 2 {
		return 0, false
	}
	return p.number(n), true
}

// word takes the letters that come next, ASCII or not.
func (p *scan) word() string {
	start := p.i
	for c := p.peek(); c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf; c = p.peek() {
		p.i++
	}
	return p.s[start:p.i]
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
