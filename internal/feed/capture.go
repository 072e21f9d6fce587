package feed

import (
	"bytes"

	"freshet/internal/plain"
)

// capture takes the content of the element that t opened, up to its end tag. Nearly all contents are
// characters alone, or one CDATA section, and are not copied.
func (r *reader) capture(t token, el element, f form) value {
	if t.empty {
		return value{form: f}
	}
	if v, ok := r.captureCharacters(t.name, f); ok {
		if f == formXHTML {
			v.form = formText // markup that is escaped is none
		}
		return v
	}
	start := r.pos
	end, closed := r.contentEnd(t.name, el)
	if r.pos = end; closed {
		r.endTag()
	}
	return r.assemble(r.doc[start:end], f)
}

// captureCharacters is capture for the plain cases; it reports false for others and takes nothing.
func (r *reader) captureCharacters(name []byte, f form) (value, bool) {
	b := r.doc[r.pos:]
	i := bytes.IndexByte(b, '<')
	if i < 0 {
		return value{}, false
	}
	if n := endTagLength(b[i:], name); n > 0 {
		r.pos += i + n
		return value{b: b[:i], form: f, escaped: true}, true
	}
	if !hasCDATA(b[i:]) || len(bytes.TrimSpace(b[:i])) > 0 {
		return value{}, false
	}
	section, n := r.cdata(b[i:])
	at := i + n
	for at < len(b) && isSpace(b[at]) {
		at++
	}
	if n := endTagLength(b[at:], name); n > 0 {
		r.pos += at + n
		return value{b: section, form: f}, true
	}
	return value{}, false
}

// endTagLength is the length of "</name>" at the beginning of b, 0 when something else is there.
func endTagLength(b, name []byte) int {
	n := len(name) + 2
	if len(b) <= n || b[0] != '<' || b[1] != '/' || !equalFold(b[2:n], name) {
		return 0
	}
	for n < len(b) && isSpace(b[n]) {
		n++
	}
	if n < len(b) && b[n] == '>' {
		return n + 1
	}
	return 0
}

// equalFold is bytes.EqualFold for names of ASCII, quicker.
func equalFold(a, b []byte) bool {
	return len(a) == len(b) && (bytes.Equal(a, b) || bytes.EqualFold(a, b))
}

// contentEnd is the offset where the content of the element ends, and whether its end tag is there. An
// element that has no end tag before its entry ends, ends early, see earlyEnd.
func (r *reader) contentEnd(name []byte, el element) (end int, closed bool) {
	if r.pos < r.unclosed[el] {
		return r.earlyEnd(name)
	}
	depth := 1
	for i := r.pos; ; {
		j := bytes.IndexByte(r.doc[i:], '<')
		if j < 0 {
			r.unclosed[el] = len(r.doc)
			return r.earlyEnd(name)
		}
		i += j
		b := r.doc[i:]
		switch {
		case len(b) > 1 && b[1] == '/':
			n := nameLength(b[2:])
			if equalFold(b[2:2+n], name) {
				if depth--; depth == 0 {
					return i, true
				}
			} else if r.closesAround(b[2:2+n]) && !endsNext(b[2+n:], name) {
				r.unclosed[el] = i + 1
				return r.earlyEnd(name)
			}
			i += 2 + n
		case len(b) > 1 && b[1] == '!':
			i += r.passed(b)
		default:
			n := nameLength(b[1:])
			switch {
			case n > 0 && equalFold(b[1:1+n], name):
				if !selfClosing(b[1+n:]) {
					depth++
				}
			case n > 0 && r.in != inDocument && equalFold(b[1:1+n], r.entryName):
				r.unclosed[el] = i + 1
				return r.earlyEnd(name)
			}
			i += 1 + n
		}
	}
}

// endsNext reports whether the next mark in b is the end tag of this name: what came before it was astray.
func endsNext(b, name []byte) bool {
	i := bytes.IndexByte(b, '<')
	return i >= 0 && endTagLength(b[i:], name) > 0
}

// selfClosing reports whether b, the rest of a start tag, ends with "/>".
func selfClosing(b []byte) bool {
	for i, c := range b {
		switch c {
		case '>':
			return i > 0 && b[i-1] == '/'
		case '<':
			return false
		}
	}
	return false
}

// passed is the length of the CDATA section, comment or declaration that b begins with.
func (r *reader) passed(b []byte) int {
	switch {
	case hasCDATA(b):
		_, n := r.cdata(b)
		return n
	case bytes.HasPrefix(b, []byte("<!--")):
		return r.comment(b)
	}
	return 2
}

// closesAround reports whether an end tag of this name ends something that the element is part of: the entry or the
// feed. No markup inside an entry has such names.
func (r *reader) closesAround(name []byte) bool {
	if len(name) == 0 {
		return false
	}
	switch name[0] | 0x20 {
	case 'i', 'e', 'c', 'f', 'r', 'a':
	default:
		return false
	}
	for i := len(r.frames) - 1; i >= 0; i-- {
		f := &r.frames[i]
		if f.el != unknown && f.el <= entry && equalFold(f.name, name) {
			return true
		}
	}
	return false
}

// earlyEnd is where an element without end tag ends: at the next element that cannot be part of its
// content, or an end tag that nothing in the content opened.
func (r *reader) earlyEnd(name []byte) (end int, closed bool) {
	open := 0
	for i := r.pos; ; {
		j := bytes.IndexByte(r.doc[i:], '<')
		if j < 0 {
			r.cut = true
			return len(r.doc), false
		}
		i += j
		b := r.doc[i:]
		switch {
		case len(b) > 1 && b[1] == '/':
			n := nameLength(b[2:])
			if equalFold(b[2:2+n], name) {
				return i, true
			}
			if open == 0 || r.closesAround(b[2:2+n]) {
				return i, false
			}
			open--
			i += 2 + n
		case len(b) > 1 && b[1] == '!':
			i += r.passed(b)
		default:
			n := nameLength(b[1:])
			if n > 0 && r.element(b[1:1+n]) != unknown {
				return i, false
			}
			if n > 0 && !isVoid(b[1:1+n]) && !selfClosing(b[1+n:]) {
				open++
			}
			i += 1 + n
		}
	}
}

// isVoid reports whether HTML has no end tag for the element.
func isVoid(name []byte) bool {
	var low [8]byte
	if len(name) > len(low) {
		return false
	}
	switch string(lower(low[:0], name)) {
	case "br", "hr", "img", "input", "wbr", "area", "base", "col", "embed", "meta", "param", "track":
		return true
	}
	return false
}

// assemble makes a value of content that may hold markup, CDATA sections and comments. Before the
// first tag characters are decoded; from there on the content is markup and stays as it is.
func (r *reader) assemble(b []byte, f form) value {
	if f == formXHTML && bytes.IndexByte(b, '<') < 0 {
		return value{b: b, form: formXHTML}
	}
	start := len(r.scratch)
	s := scanner{doc: b}
	markup := f == formXHTML
	for s.next() != endOfDocument {
		t := &s.tok
		switch {
		case t.kind == startTag || t.kind == endTag:
			if _, local := splitName(t.name); !markup && equalFold(local, []byte("div")) {
				continue // a wrapper around text of the type that was declared
			}
			markup = true
			r.scratch = appendTag(r.scratch, b[t.start:s.pos], t)
		case t.kind == text && markup:
			r.scratch = append(r.scratch, t.body...)
		case t.kind == text:
			r.scratch = r.appendDecoded(r.scratch, t.body)
		case markup:
			r.scratch = appendAsHTML(r.scratch, t.body)
		default:
			r.scratch = append(r.scratch, t.body...)
		}
	}
	if markup {
		f = formXHTML
	}
	return value{b: r.scratch[start:len(r.scratch):len(r.scratch)], form: f}
}

// appendDecoded appends characters with their references decoded.
func (r *reader) appendDecoded(dst, b []byte) []byte {
	if r.convert.entities != nil {
		b = r.convert.expand(b)
	}
	return plain.Unescape(dst, b)
}

// appendTag appends a tag without the prefix of its name, which HTML does not know.
func appendTag(dst, tag []byte, t *token) []byte {
	prefix, local := splitName(t.name)
	if len(prefix) == 0 {
		return append(dst, tag...)
	}
	dst = append(dst, '<')
	if t.kind == endTag {
		dst = append(dst, '/')
	}
	dst = append(dst, local...)
	return append(dst, tag[bytes.Index(tag, t.name)+len(t.name):]...)
}
