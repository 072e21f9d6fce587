package plain

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// Classes of bytes. Those up to three may stand inside a run that is copied as a whole.
const (
	ordinary  = iota
	two       // begins a character of two bytes that is no white space
	three     // begins one of three bytes
	wide      // begins another character, or is none: look closer
	space     // ASCII white space
	control   // other ASCII control characters
	tag       // <
	ampersand // &
)

var (
	textClasses = classes(false)
	htmlClasses = classes(true)
)

func classes(markup bool) (t [256]uint8) {
	for c := range t {
		switch {
		case isSpace(byte(c)):
			t[c] = space
		case c < ' ' || c == 0x7f:
			t[c] = control
		case c < 0x80:
			t[c] = ordinary
		case c >= 0xc3 && c <= 0xdf:
			t[c] = two
		case c >= 0xe4 && c <= 0xec || c == 0xee:
			t[c] = three
		default:
			t[c] = wide
		}
	}
	if markup {
		t['<'], t['&'] = tag, ampersand
	}
	return t
}

// scanner reads markup once from front to back.
type scanner struct {
	src     []byte
	out     writer
	escaped bool // src is XML character data whose references give the markup
	twice   bool // its references may be UTF-8 encoded twice

	// What was searched to the end in vain is not searched again: time stays linear.
	noSingle, noDouble, noComment, noCDATA, noTemplate bool

	noTagEnd bool // a tag did not end outside its quotes
	noAngle  bool // there is no > at all any more
}

func (s *scanner) scan(class *[256]uint8) {
	src := s.src
	for i := 0; i < len(src) && !s.out.full && !s.twice; {
		switch class[src[i]] {
		case space:
			s.out.gap = true
			i++
		case control:
			i++
		case tag:
			i = s.markup(i + 1)
		case ampersand:
			i = s.reference(i + 1)
		default:
			if j := runEnd(src, i, class); j > i {
				s.out.text(src[i:j])
				i = j
			} else {
				r, n := utf8.DecodeRune(src[i:])
				s.out.rune(r)
				i += n
			}
		}
	}
}

// runEnd is the end of the text at start that can be copied as it stands: words with single spaces between.
func runEnd(src []byte, start int, class *[256]uint8) int {
	i := start
run:
	for i < len(src) {
		switch c := src[i]; class[c] {
		case ordinary:
			i++
			if len(src)-i >= 8 && class[src[i]] == ordinary {
				i += ordinaryPrefix(src[i:])
			}
		case space:
			if c != ' ' || i == start || src[i-1] == ' ' {
				break run
			}
			i++
		case two:
			if i+1 >= len(src) || src[i+1]&0xc0 != 0x80 {
				break run
			}
			i += 2
		case three:
			if i+2 >= len(src) || src[i+1]&0xc0 != 0x80 || src[i+2]&0xc0 != 0x80 {
				break run
			}
			i += 3
		case wide:
			r, n := utf8.DecodeRune(src[i:])
			if r < 0xa0 || r == utf8.RuneError || unicode.IsSpace(r) {
				break run
			}
			i += n
		default:
			break run
		}
	}
	if i > start && src[i-1] == ' ' {
		i--
	}
	return i
}

// ordinaryPrefix is a length of what s begins with that is ASCII, no markup, and has single spaces only. It looks at eight
// bytes at a time: in each byte of a word the highest bit tells whether it is special.
func ordinaryPrefix(s []byte) int {
	const (
		ones = 0x0101010101010101
		high = 0x8080808080808080
	)
	n := 0
	for len(s)-n >= 8 {
		w := binary.LittleEndian.Uint64(s[n:])
		less, amp, del, blank := w^ones*'<', w^ones*'&', w^ones*0x7f, w^ones*' '
		blank = (blank - ones) &^ blank & high
		special := (w-ones*' ')&^w | (less-ones)&^less | (amp-ones)&^amp | (del-ones)&^del | w | blank&(blank<<8)
		if special &= high; special != 0 {
			return n + bits.TrailingZeros64(special)/8
		}
		n += 8
		if n < len(s) && s[n] == ' ' {
			return n
		}
	}
	return n
}

// reference reads what follows an ampersand and returns where to go on.
func (s *scanner) reference(i int) int {
	first, second, n := reference(s.src[i:], s.escaped)
	if s.escaped && n > 0 {
		switch first {
		case '<':
			return s.markup(i + n)
		case '&':
			i += n
			first, second, n = reference(s.src[i:], false)
		case 0: // no character of XML, unlike one of HTML
			return i + n
		default:
			s.twice = s.twice || beginsUTF8(first) && s.continues(i+n)
		}
	}
	if n == 0 {
		s.out.text([]byte{'&'})
		return i
	}
	if first == 0 {
		first = utf8.RuneError
	}
	s.out.rune(first)
	if second != 0 {
		s.out.rune(second)
	}
	return i + n
}

// continues reports whether the reference at i, if there is one, continues a character of UTF-8.
func (s *scanner) continues(i int) bool {
	if i >= len(s.src) || s.src[i] != '&' {
		return false
	}
	r, _, n := reference(s.src[i+1:], true)
	return n > 0 && continuesUTF8(r)
}

// markup reads what follows "<" at i and returns where to go on.
func (s *scanner) markup(i int) int {
	var c, next byte
	if i < len(s.src) {
		c = s.src[i]
	}
	if i+1 < len(s.src) {
		next = s.src[i+1]
	}
	switch {
	case isLetter(c):
		return s.element(i, i, true)
	case c == '/' && isLetter(next):
		return s.element(i, i+1, false)
	case c == '!':
		return s.declaration(i + 1)
	case c == '?' || c == '/' && next != 0:
		return s.bogus(i)
	}
	s.out.text([]byte{'<'})
	return i
}

// element reads a tag whose name begins at name; begin is what follows its "<".
func (s *scanner) element(begin, name int, opens bool) int {
	i := name
	for i < len(s.src) && isNameByte(s.src[i]) {
		i++
	}
	kind := kindOf(s.src[name:i])
	end := s.tagEnd(i)
	if end < 0 {
		next := s.cutOff(i)
		if kind == unknown || next < 0 {
			s.out.text([]byte{'<'})
			return begin
		}
		return next
	}
	switch {
	case kind == block:
		s.out.gap = true
	case kind == hidden && opens:
		return s.hiddenEnd(s.src[name:i], end)
	}
	return end
}

// cutOff returns where the text goes on after a tag without end: at the next tag, if any. Without a value of an
// attribute nobody meant a tag, as in "x<y" or "write <a href="; then it returns -1.
func (s *scanner) cutOff(i int) int {
	valued, equals := false, false // there is a value; the last character was "="
	for i < len(s.src) {
		c, n := s.at(i)
		if c == '<' {
			break
		}
		if !isSpace(c) {
			valued = valued || equals
			equals = c == '='
		}
		i += n
	}
	if !valued {
		return -1
	}
	return i
}

// isNameByte reports whether a tag's name goes on.
func isNameByte(c byte) bool {
	return isAlnum(c) || c == ':' || c == '-' || c == '_' || c == '.'
}

// at is the character at i, which may be escaped, as a byte (beyond ASCII any letter will do), and its width. Loops
// call it for ampersands only.
func (s *scanner) at(i int) (c byte, n int) {
	if c = s.src[i]; c != '&' || !s.escaped {
		return c, 1
	}
	r, _, n := reference(s.src[i+1:], true)
	switch {
	case n == 0:
		return '&', 1
	case r >= utf8.RuneSelf:
		return 'x', n + 1
	}
	return byte(r), n + 1
}

// tagEnd returns the index after the ">" that ends the tag whose attributes begin at i, -1 if none does.
// A quote that is never closed, or closed by the opening quote of a later tag, does not hide it.
func (s *scanner) tagEnd(i int) int {
	if s.noTagEnd {
		return s.angle(i)
	}
	var last byte // before white space
	for j := i; j < len(s.src); {
		c, n := s.src[j], 1
		if c == '&' {
			c, n = s.at(j)
		}
		j += n
		switch {
		case c == '>':
			return j
		case (c == '"' || c == '\'') && last == '=':
			end, inside := s.quoteEnd(j, c)
			if inside > 0 && !s.endsValue(end) {
				return inside
			}
			j = end
			last = c
		case !isSpace(c):
			last = c
		}
	}
	s.noTagEnd = true
	return s.angle(i)
}

// endsValue reports whether what comes at i may follow the closing quote of an attribute's value.
func (s *scanner) endsValue(i int) bool {
	if i == len(s.src) {
		return true
	}
	c, _ := s.at(i)
	return isSpace(c) || c == '>' || c == '/'
}

// quoteEnd returns the index after the quote that closes the value at i (i itself if none does) and
// the index after the first ">" inside, 0 if there is none.
func (s *scanner) quoteEnd(i int, quote byte) (end, inside int) {
	missed := &s.noDouble
	if quote == '\'' {
		missed = &s.noSingle
	}
	if *missed {
		return i, 0
	}
	if !s.escaped {
		if n := bytes.IndexByte(s.src[i:], quote); n >= 0 {
			if angle := bytes.IndexByte(s.src[i:i+n], '>'); angle >= 0 {
				inside = i + angle + 1
			}
			return i + n + 1, inside
		}
		*missed = true
		return i, 0
	}
	for j := i; j < len(s.src); {
		c, n := s.src[j], 1
		if c == '&' {
			c, n = s.at(j)
		}
		j += n
		switch {
		case c == quote:
			return j, inside
		case c == '>' && inside == 0:
			inside = j
		}
	}
	*missed = true
	return i, 0
}

// angle returns the index after the next ">", quoted or not, -1 if there is none.
func (s *scanner) angle(i int) int {
	if s.noAngle {
		return -1
	}
	for i < len(s.src) {
		c, n := s.at(i)
		i += n
		if c == '>' {
			return i
		}
	}
	s.noAngle = true
	return -1
}

// declaration reads what follows "<!": a comment, a CDATA section, or something else that is not shown.
func (s *scanner) declaration(i int) int {
	rest := s.src[i:]
	switch {
	case bytes.HasPrefix(rest, []byte("--")):
		return s.comment(i + 2)
	case bytes.HasPrefix(rest, []byte("[CDATA[")):
		return s.cdata(i + len("[CDATA["))
	}
	return s.bogus(i)
}

// comment returns the index after the comment whose text begins at i.
func (s *scanner) comment(i int) int {
	// <!--> and <!---> are whole comments: the dashes that open may close.
	for j := i - 2; !s.noComment; {
		k := bytes.Index(s.src[j:], []byte("--"))
		if k < 0 {
			s.noComment = true
			break
		}
		j += k + 1
		end := j + 1
		if end < len(s.src) && s.src[end] == '!' && end > i+1 {
			end++
		}
		if end < len(s.src) {
			if c, n := s.at(end); c == '>' {
				return end + n
			}
		}
	}
	return s.bogus(i)
}

// cdata reads the markup of a CDATA section that begins at i. HTML has none, and browsers lose half of
// its text; it comes from feeds that wrap twice.
func (s *scanner) cdata(i int) int {
	for j := i; !s.noCDATA; {
		k := bytes.Index(s.src[j:], []byte("]]"))
		if k < 0 {
			s.noCDATA = true
			break
		}
		j += k + 1
		if j+1 >= len(s.src) {
			break
		}
		if c, n := s.at(j + 1); c == '>' {
			inner := scanner{src: s.src[i : j-1], out: s.out, escaped: s.escaped}
			inner.scan(&htmlClasses)
			s.out, s.twice = inner.out, inner.twice
			return j + 1 + n
		}
	}
	return i
}

// bogus skips to the next ">": processing instructions, doctypes, conditional sections, unclosed comments.
func (s *scanner) bogus(i int) int {
	if end := s.angle(i); end >= 0 {
		return end
	}
	return len(s.src)
}

// hiddenEnd returns the index after the end tag of the hidden element whose content begins at i.
func (s *scanner) hiddenEnd(name []byte, i int) int {
	template := len(name) == len("template")
	if template && s.noTemplate {
		return i
	}
	for j := i; ; {
		k := bytes.IndexByte(s.src[j:], '/')
		if k < 0 {
			break
		}
		j += k + 1
		if end := j + len(name); s.isEndTag(j, end, name) {
			if after := s.tagEnd(end); after >= 0 {
				return after
			}
			return len(s.src)
		}
	}
	if template {
		s.noTemplate = true
		return i
	}
	return len(s.src)
}

// isEndTag reports whether src[i:end] is the name of an end tag, "</" before it.
func (s *scanner) isEndTag(i, end int, name []byte) bool {
	if end > len(s.src) || !bytes.EqualFold(s.src[i:end], name) || end < len(s.src) && isNameByte(s.src[end]) {
		return false
	}
	before := s.src[:i-1]
	return bytes.HasSuffix(before, []byte("<")) ||
		s.escaped && (bytes.HasSuffix(before, []byte("&lt;")) || bytes.HasSuffix(before, []byte("&#60;")) ||
			bytes.HasSuffix(before, []byte("&#x3c;")) || bytes.HasSuffix(before, []byte("&#x3C;")))
}
