package feed

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"freshet/internal/plain"
)

// form says how the characters of a value are meant.
type form uint8

const (
	formText  form = iota // plain text
	formOpen              // plain text or HTML, as it looks (RSS titles)
	formHTML              // HTML
	formXHTML             // markup that stands in the document itself
)

// value is the content of an element, not yet turned into text: a part of the document, or of the
// reader's scratch when it had to be put together.
type value struct {
	b       []byte
	form    form
	escaped bool // references of XML are still to be decoded
	base64  bool
}

// blank reports whether there is nothing in it but white space.
func (v value) blank() bool {
	for _, c := range v.b {
		if !isSpace(c) {
			return false
		}
	}
	return true
}

// converter turns values into the strings of an entry.
type converter struct {
	limit      int
	keepMarkup bool
	entities   map[string][]byte // declared in the document
	cut        bool              // a value was longer than limit
	tmp        []byte
}

// body appends the value as plain text, or as HTML where markup is kept.
func (c *converter) body(dst []byte, v value) []byte {
	if !c.keepMarkup {
		return c.text(dst, v)
	}
	start := len(dst)
	if v.form == formHTML && v.escaped && !v.base64 && c.entities == nil {
		dst = plain.Unescape(dst, bytes.TrimSpace(v.b))
		if b := dst[start:]; isClean(b) && len(repaired(b)) == len(b) {
			return c.bounded(dst, start)
		}
		dst = dst[:start]
	}
	b := c.decoded(v)
	if v.form == formText || v.form == formOpen && !plain.LooksLikeHTML(b) {
		dst = appendAsHTML(dst, bytes.TrimSpace(b))
	} else {
		dst = appendClean(dst, bytes.TrimSpace(b))
	}
	return c.bounded(dst, start)
}

// text appends the value as plain text.
func (c *converter) text(dst []byte, v value) []byte {
	start := len(dst)
	if v.form == formHTML && v.escaped && !v.base64 && c.entities == nil {
		dst = plain.AppendEscaped(dst, repaired(v.b), c.limit+1)
		return c.bounded(dst, start)
	}
	b := c.decoded(v)
	if v.form == formText || v.form == formOpen && !plain.LooksLikeHTML(b) {
		dst = plain.Fold(dst, b, c.limit+1)
	} else {
		dst = plain.Append(dst, b, c.limit+1)
	}
	return c.bounded(dst, start)
}

// literal appends the characters of a value that is neither text nor markup: a guid, an address, a date.
func (c *converter) literal(dst []byte, v value) []byte {
	start := len(dst)
	dst = appendClean(dst, bytes.TrimSpace(c.characters(v)))
	for len(dst) > start && isSpace(dst[len(dst)-1]) { // that control characters hid
		dst = dst[:len(dst)-1]
	}
	return c.bounded(dst, start)
}

// characters is decoded for a value that should hold no markup: where it does, without the tags.
func (c *converter) characters(v value) []byte {
	b := c.decoded(v)
	if v.form == formXHTML {
		b = plain.Append(nil, b, c.limit)
	}
	return b
}

// decoded returns the characters of the value: references of XML and base64 decoded, text in twice encoded UTF-8
// repaired. It is valid until the next call.
func (c *converter) decoded(v value) []byte {
	b := v.b
	if v.escaped && bytes.IndexByte(b, '&') >= 0 {
		if c.entities != nil {
			b = c.expand(b)
		}
		c.tmp = plain.Unescape(c.tmp[:0], b)
		b = c.tmp
	}
	if v.base64 {
		b = decodeBase64(b)
	}
	return repaired(b)
}

// expand replaces references to entities that the document declares. Their values hold no such
// references, and the result is bounded: nothing grows out of hand.
func (c *converter) expand(b []byte) []byte {
	var out []byte
	for len(b) > 0 && len(out) <= c.limit {
		i := bytes.IndexByte(b, '&')
		if i < 0 {
			break
		}
		n := nameLength(b[i+1:])
		replacement, ok := c.entities[string(b[i+1:i+1+n])]
		if !ok || i+1+n >= len(b) || b[i+1+n] != ';' {
			out = append(out, b[:i+1]...)
			b = b[i+1:]
			continue
		}
		out = append(append(out, b[:i]...), replacement...)
		b = b[i+2+n:]
	}
	return append(out, b...)
}

// bounded cuts what was appended after start to the limit, at a character's beginning.
func (c *converter) bounded(dst []byte, start int) []byte {
	if len(dst)-start <= c.limit {
		return dst
	}
	c.cut = true
	end := start + c.limit
	for end > start && !utf8.RuneStart(dst[end]) {
		end--
	}
	return dst[:end]
}

// isClean reports whether appendClean leaves b as it is.
func isClean(b []byte) bool { return firstControl(b) == len(b) && indexC1(b) == len(b) }

// appendClean appends b without control characters other than white space.
func appendClean(dst, b []byte) []byte {
	if indexC1(b) < len(b) {
		b = appendWindows1252(nil, b)
	}
	for {
		i := firstControl(b)
		dst = append(dst, b[:i]...)
		if i == len(b) {
			return dst
		}
		b = b[i+1:]
	}
}

// firstControl is the index of the first control character that is not white space, or the length of b.
func firstControl(b []byte) int {
	i := 0
	for i+8 <= len(b) && !mayHoldControl(binary.LittleEndian.Uint64(b[i:])) {
		i += 8
	}
	for i < len(b) && !isControl(b[i]) {
		i++
	}
	return i
}

// each repeats a byte through a word; highBits is the highest bit of each byte.
const (
	each     = 0x0101010101010101
	highBits = 0x80 * each
)

// mayHoldControl reports whether a byte of the word is below 9, between 14 and 31, or 127. It may err on the side of
// yes.
func mayHoldControl(w uint64) bool {
	low := w &^ highBits
	between := (0x9f*each - low) & (low + 0x72*each)
	return ((w-9*each)|between|(w+each))&^w&highBits != 0
}

func isControl(c byte) bool { return c < 9 || c > 13 && c < ' ' || c == 0x7f }

// appendAsHTML appends plain text as HTML.
func appendAsHTML(dst, b []byte) []byte {
	for {
		i := bytes.IndexAny(b, "<>&")
		if i < 0 {
			return appendClean(dst, b)
		}
		dst = appendClean(dst, b[:i])
		switch b[i] {
		case '<':
			dst = append(dst, "&lt;"...)
		case '>':
			dst = append(dst, "&gt;"...)
		default:
			dst = append(dst, "&amp;"...)
		}
		b = b[i+1:]
	}
}

// repaired is plain.Repair for text that seldom needs it: none without the byte that begins what was encoded twice.
func repaired(b []byte) []byte {
	if bytes.IndexByte(b, 0xc2) < 0 {
		return b
	}
	return plain.Repair(b)
}

// appendWindows1252 appends b with U+0080 to U+009F, which nobody means, read as the windows-1252 bytes they come from.
func appendWindows1252(dst, b []byte) []byte {
	for {
		i := indexC1(b)
		dst = append(dst, b[:i]...)
		if i == len(b) {
			return dst
		}
		dst = utf8.AppendRune(dst, charmap.Windows1252.DecodeByte(b[i+1]))
		b = b[i+2:]
	}
}

// indexC1 is the index of the first character from U+0080 to U+009F, or the length of b.
func indexC1(b []byte) int {
	for from := 0; ; {
		i := bytes.IndexByte(b[from:], 0xc2)
		if i < 0 || from+i+1 >= len(b) {
			return len(b)
		}
		if from += i; b[from+1] < 0xa0 {
			return from
		}
		from += 2
	}
}

// decodeBase64 decodes b, passing over what is not of the alphabet; b comes back as it was when
// it is no base64 or does not hold text.
func decodeBase64(b []byte) []byte {
	out := make([]byte, 0, len(b)*3/4)
	var bits uint32
	digits, padding := 0, 0
	for _, c := range b {
		d := base64Digit(c)
		switch {
		case c == '=':
			padding++
			continue
		case d < 0:
			continue
		}
		bits = bits<<6 | uint32(d)
		if digits++; digits%4 == 0 {
			out = append(out, byte(bits>>16), byte(bits>>8), byte(bits))
		}
	}
	switch digits % 4 {
	case 1:
		return b
	case 2:
		out = append(out, byte(bits>>4))
	case 3:
		out = append(out, byte(bits>>10), byte(bits>>2))
	}
	if digits%4 > 0 && padding < 4-digits%4 || !utf8.Valid(out) {
		return b
	}
	return out
}

func base64Digit(c byte) int {
	switch {
	case c >= 'A' && c <= 'Z':
		return int(c - 'A')
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 26
	case c >= '0' && c <= '9':
		return int(c-'0') + 52
	case c == '+':
		return 62
	case c == '/':
		return 63
	}
	return -1
}
