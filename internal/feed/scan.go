package feed

import "bytes"

// tokenKind says what the scanner found.
type tokenKind uint8

const (
	endOfDocument tokenKind = iota
	text                    // characters with their references, between two marks
	cdata                   // characters without references
	startTag
	endTag
	nothing // a comment, a declaration, an instruction
)

// token is one mark or one run of characters. Its slices are parts of the document.
type token struct {
	kind  tokenKind
	empty bool   // a start tag that ends with "/>"
	start int    // offset of the first byte
	name  []byte // qualified name of a tag, as written
	attrs []byte // what stands between the name and the end of a start tag
	body  []byte // the characters of text and cdata
}

// maxAttributes is how many attributes of one tag are looked at; the others are passed over.
const maxAttributes = 128

// scanner cuts a document into tokens. It accepts anything: what is no mark is text. Comments,
// processing instructions and declarations are passed over.
//
// A search for a closing mark that failed is remembered, so that a document of openings is still
// read in linear time.
type scanner struct {
	doc []byte
	pos int
	tok token // what next found
	cut bool  // the document ended inside a mark

	noCDATAEnd, noCommentEnd, noPIEnd, noDouble, noSingle, noTagEnd bool

	noSubset int // no internal subset that begins before this offset has an end
}

// next finds the next token, and puts it in tok.
func (s *scanner) next() tokenKind {
	for s.pos < len(s.doc) {
		if s.doc[s.pos] != '<' || !opensMark(s.doc[s.pos:]) {
			return s.text()
		}
		if kind := s.mark(); kind != nothing {
			return kind
		}
	}
	s.tok.kind, s.tok.start = endOfDocument, s.pos
	return endOfDocument
}

// text takes the characters up to the next mark. There is at least one, be it a '<' that opens none.
func (s *scanner) text() tokenKind {
	start := s.pos
	for i := start + 1; ; i++ {
		j := bytes.IndexByte(s.doc[i:], '<')
		if j < 0 {
			s.pos = len(s.doc)
			break
		}
		if i += j; opensMark(s.doc[i:]) {
			s.pos = i
			break
		}
	}
	s.tok.kind, s.tok.start, s.tok.body = text, start, s.doc[start:s.pos]
	return text
}

// opensMark reports whether b, which begins with '<', begins a mark and is not a bare "less than".
func opensMark(b []byte) bool {
	if len(b) < 2 {
		return false
	}
	switch c := b[1]; c {
	case '/':
		return len(b) > 2 && (isNameStart(b[2]) || b[2] == '>')
	case '!', '?':
		return true
	default:
		return isNameStart(c)
	}
}

// mark reads the mark at pos. What carries nothing is passed over.
func (s *scanner) mark() tokenKind {
	switch b := s.doc[s.pos:]; b[1] {
	case '/':
		return s.endTag()
	case '?':
		s.pos += s.length(b, "?>", &s.noPIEnd)
		return nothing
	case '!':
		return s.declaration(b)
	}
	return s.startTag()
}

// length is the length of a mark that ends with the closing mark given. One without an end is
// taken to end at the next '>', or with the document.
func (s *scanner) length(b []byte, closing string, missing *bool) int {
	if !*missing {
		if i := bytes.Index(b[2:], []byte(closing)); i >= 0 {
			return 2 + i + len(closing)
		}
		*missing = true
	}
	if s.noTagEnd {
		return len(b)
	}
	if i := bytes.IndexByte(b, '>'); i >= 0 {
		return i + 1
	}
	s.noTagEnd, s.cut = true, true
	return len(b)
}

// declaration passes over comments and declarations; a CDATA section is a token.
func (s *scanner) declaration(b []byte) tokenKind {
	switch {
	case hasCDATA(b):
		content, n := s.cdata(b)
		s.tok.kind, s.tok.start, s.tok.body = cdata, s.pos, content
		s.pos += n
		return cdata
	case len(b) >= 4 && b[2] == '-' && b[3] == '-':
		s.pos += s.comment(b)
	default:
		s.pos += s.doctype(b)
	}
	return nothing
}

// hasCDATA reports whether b begins a CDATA section.
func hasCDATA(b []byte) bool {
	return len(b) >= 9 && b[1] == '!' && b[2] == '[' && string(b[3:9]) == "CDATA["
}

// cdata returns the characters of the CDATA section that b begins with, and its length. What a
// section without an end should hold nobody knows: it has no characters and takes the document with it.
func (s *scanner) cdata(b []byte) (content []byte, n int) {
	if !s.noCDATAEnd {
		if i := bytes.Index(b[9:], []byte("]]>")); i >= 0 {
			return b[9 : 9+i], 9 + i + 3
		}
	}
	s.noCDATAEnd, s.cut = true, true
	return nil, len(b)
}

// comment is the length of a comment, which "<!-->" is as well.
func (s *scanner) comment(b []byte) int {
	if len(b) >= 5 && b[4] == '>' {
		return 5
	}
	return s.length(b, "-->", &s.noCommentEnd)
}

// doctype is the length of a declaration, with the declarations in its brackets.
func (s *scanner) doctype(b []byte) int {
	for i := 2; i < len(b); i++ {
		switch b[i] {
		case '>':
			return i + 1
		case '[':
			if j := s.internalSubset(b[i:]); j > 0 {
				return i + j
			}
		case '<':
			return i
		}
	}
	s.cut = true
	return len(b)
}

// internalSubset is the length of "[ ... ]>" with its white space, 0 when b is none. It ends at
// the first element, so that a bracket that is never closed takes nothing with it.
func (s *scanner) internalSubset(b []byte) int {
	at := len(s.doc) - len(b)
	if at < s.noSubset {
		return 0
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case ']':
			rest := skipSpace(b[i+1:])
			if len(rest) > 0 && rest[0] == '>' {
				return len(b) - len(rest) + 1
			}
			i = len(b) - len(rest) - 1
		case '<':
			if i+1 < len(b) && b[i+1] != '!' && b[i+1] != '?' {
				s.noSubset = at + i
				return 0
			}
		}
	}
	s.noSubset = len(s.doc)
	return 0
}

// endTag reads "</name ...>".
func (s *scanner) endTag() tokenKind {
	start := s.pos
	end := start + 2 + nameLength(s.doc[start+2:])
	s.tok.kind, s.tok.start, s.tok.name = endTag, start, s.doc[start+2:end]
	s.pos = end
	for s.pos < len(s.doc) && s.doc[s.pos] != '<' {
		s.pos++
		if s.doc[s.pos-1] == '>' {
			break
		}
	}
	if end == start+2 {
		return nothing
	}
	return endTag
}

// startTag reads "<name ...>".
func (s *scanner) startTag() tokenKind {
	at := s.pos + 1 + nameLength(s.doc[s.pos+1:])
	end := at
	if at < len(s.doc) && s.doc[at] != '>' {
		end = s.tagEnd(at)
	}
	t := &s.tok
	t.kind, t.start, t.name, t.attrs, t.empty = startTag, s.pos, s.doc[s.pos+1:at], s.doc[at:end], false
	if k := end - 1; k >= at && s.doc[k] == '/' {
		t.attrs, t.empty = s.doc[at:k], true
	}
	s.pos = end
	switch {
	case end == len(s.doc):
		s.cut = true
	case s.doc[end] == '>':
		s.pos++
	}
	return startTag
}

// tagEnd is the offset of the '>' that ends the tag whose name ended at i, of the '<' of the next
// mark when it has none, or of the document's end. Values in quotes may hold either; a quote without a
// partner, or with one after which no attribute can follow, is no quote.
func (s *scanner) tagEnd(i int) int {
	for i < len(s.doc) {
		switch c := s.doc[i]; c {
		case '>', '<':
			return i
		case '"', '\'':
			j := s.quoteEnd(i, c)
			if j < 0 {
				return s.bareTagEnd(i)
			}
			i = j
		}
		i++
	}
	return i
}

// quoteEnd is the offset of the quote that ends the value opened at i, -1 when there is none.
func (s *scanner) quoteEnd(i int, quote byte) int {
	missing := &s.noDouble
	if quote == '\'' {
		missing = &s.noSingle
	}
	if *missing {
		return -1
	}
	n := bytes.IndexByte(s.doc[i+1:], quote)
	if n < 0 {
		*missing = true
		return -1
	}
	j := i + 1 + n
	if j+1 < len(s.doc) && !attributeMayFollow(s.doc[j+1:]) {
		return -1
	}
	return j
}

// attributeMayFollow reports whether b, what comes after a closing quote, can be the rest of a tag.
func attributeMayFollow(b []byte) bool {
	switch b[0] {
	case '>', '/', '<', '?', ' ', '\t', '\r', '\n', '"', '\'':
		return true
	}
	n := nameLength(b)
	return n > 0 && n < len(b) && b[n] == '='
}

// bareTagEnd ends a tag with broken quotes at the first '>' or '<'.
func (s *scanner) bareTagEnd(i int) int {
	for i < len(s.doc) && s.doc[i] != '>' && s.doc[i] != '<' {
		i++
	}
	return i
}

// attr is one attribute; its value still holds its references.
type attr struct{ name, value []byte }

// attributes cuts the inner part of a start tag into attributes, appended to dst.
func attributes(dst []attr, b []byte) []attr {
	for len(dst) < maxAttributes {
		for len(b) > 0 && !isNameStart(b[0]) {
			b = b[1:]
		}
		n := nameLength(b)
		if n == 0 {
			break
		}
		a := attr{name: b[:n]}
		b = b[n:]
		if rest := skipSpace(b); len(rest) > 0 && rest[0] == '=' {
			a.value, b = attributeValue(skipSpace(rest[1:]))
		}
		dst = append(dst, a)
	}
	return dst
}

// attributeValue cuts a value in quotes or without from the front of b.
func attributeValue(b []byte) (value, rest []byte) {
	if len(b) > 0 && (b[0] == '"' || b[0] == '\'') {
		if n := bytes.IndexByte(b[1:], b[0]); n >= 0 {
			return b[1 : 1+n], b[n+2:]
		}
		b = b[1:]
	}
	n := 0
	for n < len(b) && !isSpace(b[n]) {
		n++
	}
	return b[:n], b[n:]
}

const (
	nameStartByte = 1 << iota
	nameByte
	spaceByte
)

var byteClass = func() (class [256]uint8) {
	for c := range class {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == ':', c >= 0x80:
			class[c] = nameStartByte | nameByte
		case c >= '0' && c <= '9', c == '-', c == '.':
			class[c] = nameByte
		case c == ' ', c >= '\t' && c <= '\r':
			class[c] = spaceByte
		}
	}
	return class
}()

func isNameStart(c byte) bool { return byteClass[c]&nameStartByte != 0 }

func isSpace(c byte) bool { return byteClass[c]&spaceByte != 0 }

// skipSpace returns b from its first byte on that is no white space.
func skipSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	return b
}

// nameLength is the length of the name that b begins with, 0 when it begins with none.
func nameLength(b []byte) int {
	if len(b) == 0 || !isNameStart(b[0]) {
		return 0
	}
	n := 1
	for n < len(b) && byteClass[b[n]]&nameByte != 0 {
		n++
	}
	return n
}
