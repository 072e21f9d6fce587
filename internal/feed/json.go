package feed

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// isJSON reports whether the document begins the way a JSON text does, which no XML does.
func isJSON(doc []byte) bool {
	for i, c := range doc {
		if !isSpace(c) {
			rest := skipSpace(doc[i+1:])
			return c == '{' && (len(rest) == 0 || rest[0] == '"' || rest[0] == '}') || c == '[' && len(rest) > 0 && rest[0] == '{'
		}
	}
	return false
}

// parseJSON reads a JSON Feed (version 1 or 1.1), with loose types: a number is taken where a string should
// be, an author may be a name alone. Of two members with the same name the last one counts.
func parseJSON(doc []byte, o Options) (*Document, error) {
	j := jsonReader{jsonScanner: jsonScanner{b: doc}}
	j.reader = reader{scanner: scanner{doc: doc}, o: o, out: &Document{}, base: o.URL, in: inEntry}
	j.convert = converter{limit: o.MaxText, keepMarkup: o.KeepMarkup}
	j.document()
	if !j.isFeed {
		return nil, &NotFeed{Kind: "a JSON document of another kind"}
	}
	if j.broken {
		j.out.note("the document ends before its end, or is broken")
	}
	j.finishFeed()
	if j.convert.cut {
		j.out.note("a text longer than " + strconv.Itoa(o.MaxText) + " bytes was cut")
	}
	return j.out, nil
}

// jsonReader reads the members of a JSON Feed into the same fields as those of XML.
type jsonReader struct {
	jsonScanner
	reader
}

func (j *jsonReader) document() {
	for ok := j.into('{'); ok && j.more('}'); {
		switch key := j.key(); string(key) {
		case "version":
			j.version(j.string(formText).b)
		case "title":
			j.feed.title = j.string(formText)
		case "home_page_url":
			j.feed.link = j.address()
		case "items":
			j.isFeed = true
			j.items()
		default:
			j.skip()
		}
	}
}

// version takes "https://jsonfeed.org/version/1.1".
func (j *jsonReader) version(v []byte) {
	if i := bytes.Index(v, []byte("jsonfeed.org/version/")); i >= 0 {
		j.isFeed = true
		j.out.Format = "json1"
		if bytes.HasPrefix(v[i+len("jsonfeed.org/version/"):], []byte("1.1")) {
			j.out.Format = "json11"
		}
	}
}

func (j *jsonReader) items() {
	if j.out.Format == "" {
		j.out.Format = "json"
	}
	for ok := j.into('['); ok && j.more(']') && !j.full; {
		if j.peek() != '{' {
			j.skip()
			continue
		}
		j.item.reset()
		j.entry()
		j.finishEntry()
		j.unescaped = j.unescaped[:0]
	}
	if j.full {
		j.stop()
	}
}

func (j *jsonReader) entry() {
	f := &j.item
	for ok := j.into('{'); ok && j.more('}'); {
		switch key := j.key(); string(key) {
		case "id":
			f.guid = j.string(formText)
		case "url":
			f.link = j.address()
		case "external_url":
			f.otherLink = j.address()
		case "title":
			f.title = j.string(formText)
		case "content_html":
			if v := j.string(formHTML); !v.blank() {
				f.content = v
			}
		case "content_text":
			f.otherContent = j.string(formText)
		case "summary":
			f.summary = j.string(formText)
		case "image":
			f.image = j.address()
		case "banner_image":
			banner := j.address()
			f.image.keep(banner)
		case "date_published":
			j.date(published, j.string(formText))
		case "date_modified":
			j.date(updated, j.string(formText))
		case "author", "authors":
			j.authors()
		case "attachments":
			j.attachments()
		default:
			j.skip()
		}
	}
	f.content.keep(f.otherContent)
}

// authors takes the first name out of a list of authors, one author, or a name.
func (j *jsonReader) authors() {
	switch j.peek() {
	case '[':
		for ok := j.into('['); ok && j.more(']'); {
			if j.peek() == '[' {
				j.skip()
			} else {
				j.authors()
			}
		}
	case '{':
		for ok := j.into('{'); ok && j.more('}'); {
			if string(j.key()) == "name" {
				j.item.authorName.keep(j.string(formText))
			} else {
				j.skip()
			}
		}
	default:
		j.item.authorName.keep(j.string(formText))
	}
}

func (j *jsonReader) attachments() {
	for ok := j.into('['); ok && j.more(']'); {
		var f file
		for ok := j.into('{'); ok && j.more('}'); {
			switch string(j.key()) {
			case "url":
				f.url = j.address()
			case "mime_type":
				f.typ = j.string(formText)
			case "size_in_bytes":
				size, err := strconv.ParseFloat(string(j.string(formText).b), 64)
				if err == nil && size > 0 && size < 1<<62 {
					f.length = int64(size)
				}
			default:
				j.skip()
			}
		}
		if len(j.item.enclosures) < maxFiles {
			j.item.enclosures = append(j.item.enclosures, f)
		}
	}
}

// string reads a value that should be a string. A number or a truth value is taken as it is written;
// null and lists are nothing.
func (j *jsonReader) string(f form) value {
	switch j.peek() {
	case '"':
		return value{b: j.quoted(), form: f}
	case '{', '[', 'n':
		j.skip()
		return value{form: f}
	}
	start := j.at
	j.skip()
	return value{b: bytes.TrimSpace(j.b[start:j.at]), form: f}
}

// address reads an address.
func (j *jsonReader) address() ref { return ref{value: j.string(formText), base: j.base} }

// jsonScanner walks through a JSON text. It accepts more than JSON; at what it cannot pass it stops, and
// from then on every loop ends.
type jsonScanner struct {
	b         []byte
	at        int
	broken    bool
	unescaped []byte // strings that held escapes
}

func (s *jsonScanner) stop() { s.at = len(s.b) }

// peek is the first byte of the next value, 0 at the end.
func (s *jsonScanner) peek() byte {
	for s.at < len(s.b) && isSpace(s.b[s.at]) {
		s.at++
	}
	if s.at >= len(s.b) {
		s.broken = true
		return 0
	}
	return s.b[s.at]
}

// into goes into the object or array that mark opens. Another value is passed over, and into reports false.
func (s *jsonScanner) into(mark byte) bool {
	if s.peek() != mark {
		s.skip()
		return false
	}
	s.at++
	return true
}

// more reports whether there is another member or element before the closing mark, which it takes.
func (s *jsonScanner) more(closing byte) bool {
	for {
		switch c := s.peek(); c {
		case 0:
			return false
		case ',':
			s.at++
		case '}', ']':
			if s.at++; c != closing {
				s.broken = true
				s.stop()
			}
			return false
		default:
			return true
		}
	}
}

// key reads the name of a member and its colon.
func (s *jsonScanner) key() []byte {
	if s.peek() != '"' {
		s.broken = true
		s.stop()
		return nil
	}
	key := s.quoted()
	if s.peek() == ':' {
		s.at++
	}
	return key
}

// skip passes over a value, whatever is in it.
func (s *jsonScanner) skip() {
	depth := 0
	for {
		switch c := s.peek(); c {
		case 0:
			return
		case '"':
			s.at += stringLength(s.b[s.at:])
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			if depth == 0 {
				return
			}
			depth--
			s.at++
		case ',', ':':
			if depth == 0 && c == ',' {
				return
			}
			s.at++
		default:
			for s.at < len(s.b) && !isSpace(s.b[s.at]) && bytes.IndexByte([]byte(",:{}[]\""), s.b[s.at]) < 0 {
				s.at++
			}
		}
		if depth == 0 {
			return
		}
	}
}

// stringLength is the length of the string, quotes included, that b begins with; that of b when it has no end.
func stringLength(b []byte) int {
	for i := 1; i < len(b); {
		j := bytes.IndexAny(b[i:], "\"\\")
		if j < 0 {
			break
		}
		if i += j; b[i] == '"' {
			return i + 1
		}
		i += 2
	}
	return len(b)
}

// quoted reads a string. It is a part of the text, or of unescaped when it holds escapes.
func (s *jsonScanner) quoted() []byte {
	n := stringLength(s.b[s.at:])
	raw := s.b[s.at : s.at+n]
	s.at += n
	if n < 2 || raw[n-1] != '"' {
		s.broken = true
		raw = raw[1:]
	} else {
		raw = raw[1 : n-1]
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	start := len(s.unescaped)
	s.unescaped = appendUnescaped(s.unescaped, raw)
	return s.unescaped[start:len(s.unescaped):len(s.unescaped)]
}

// appendUnescaped appends a string with its escapes decoded. NUL is left out, half a surrogate pair is U+FFFD.
func appendUnescaped(dst, b []byte) []byte {
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 || i+1 >= len(b) {
			return append(dst, b...)
		}
		dst = append(dst, b[:i]...)
		c := b[i+1]
		b = b[i+2:]
		switch c {
		case 'n':
			dst = append(dst, '\n')
		case 't':
			dst = append(dst, '\t')
		case 'r':
			dst = append(dst, '\r')
		case 'b', 'f':
			dst = append(dst, ' ')
		case 'u':
			var r rune
			if r, b = codePoint(b); r != 0 {
				dst = utf8.AppendRune(dst, r)
			}
		default:
			dst = append(dst, c)
		}
	}
}

// codePoint reads what follows "\u", which may be a surrogate pair, and returns the rest.
func codePoint(b []byte) (rune, []byte) {
	r, ok := hex4(b)
	if !ok {
		return 'u', b
	}
	b = b[4:]
	if utf16.IsSurrogate(r) {
		if len(b) >= 6 && b[0] == '\\' && b[1] == 'u' {
			if low, ok := hex4(b[2:]); ok {
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					return pair, b[6:]
				}
			}
		}
		return utf8.RuneError, b
	}
	return r, b
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 16)
	return rune(n), err == nil
}
