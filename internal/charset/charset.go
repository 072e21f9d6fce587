// Package charset turns documents in any encoding into valid UTF-8 (SPEC.md E1): feeds with UTF8,
// web pages with PageUTF8.
//
// What counts, in this order: a byte order mark; the pattern of zero bytes that UTF-16 and UTF-32 leave, or an XML
// declaration in EBCDIC; the bytes themselves when they are UTF-8, whatever was declared; the charset of HTTP; the
// XML declaration (for pages, meta elements); a guess from the frequency of letters; windows-1252. Python's feedparser
// goes the same way, except that it asks last whether the bytes are UTF-8 and so garbles documents that declare an
// encoding they do not use.
//
// NUL vanishes here. Other control characters stay, for the readers know best what to do with them
// (package plain removes them). The encoding named in an XML declaration stays as it was and no longer
// applies. The package keeps nothing.
package charset

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"golang.org/x/text/encoding"
)

// ErrBinary is returned for documents that are no text in any encoding: images, archives.
var ErrBinary = errors.New("document is binary, not text")

// UTF8 returns a feed as UTF-8, and the name of the encoding it was in. contentType is the header's
// value, empty when there was none. Valid UTF-8 is returned as it is, without a copy.
func UTF8(doc []byte, contentType string) (text []byte, name string, err error) {
	return decode(doc, httpLabel(contentType), declaredLabel)
}

// PageUTF8 is UTF8 for a web page, whose meta elements may name the encoding.
func PageUTF8(doc []byte, contentType string) (text []byte, name string, err error) {
	return decode(doc, httpLabel(contentType), metaLabel)
}

func decode(doc []byte, http string, inside func([]byte) string) ([]byte, string, error) {
	if name, mark := byteOrderMark(doc); mark > 0 {
		return unicodeText(doc[mark:], name)
	}
	if name := zeroPattern(doc); name != "" {
		return unicodeText(doc, name)
	}
	if isEBCDIC(doc) {
		return finish(ebcdicOf(doc), doc)
	}
	if isBinary(doc) {
		return nil, "", ErrBinary
	}
	return eightBit(doc, [2]string{http, inside(doc)})
}

// eightBit decodes what is a superset of ASCII or wraps other characters in escapes.
func eightBit(doc []byte, labels [2]string) ([]byte, string, error) {
	declared := make([]named, 0, len(labels)+1)
	for _, label := range labels {
		if enc := lookup(label); enc.Encoding != nil {
			declared = append(declared, enc)
		}
	}
	if hasEscapes(doc) {
		declared = append(declared, lookup("iso-2022-jp"))
	}
	valid := utf8.Valid(doc)
	for _, enc := range declared {
		if valid && !enc.hides(doc) {
			continue
		}
		if text, clean := attempt(enc, doc); clean {
			return dropNUL(text), enc.name, nil
		}
	}
	switch {
	case valid:
		return dropNUL(doc), "utf-8", nil
	case mostlyUTF8(doc):
		return dropNUL(repair(doc)), "utf-8", nil
	}
	if len(declared) > 0 && !declared[0].multibyte {
		return finish(declared[0], doc)
	}
	if enc, ok := guess(doc); ok {
		return finish(enc, doc)
	}
	if len(declared) > 0 {
		return finish(declared[0], doc)
	}
	return finish(lookup("windows-1252"), doc)
}

// finish decodes with an encoding that has no rival left: what it does not have becomes U+FFFD.
func finish(enc named, doc []byte) ([]byte, string, error) {
	text, _ := attempt(enc, doc)
	return dropNUL(text), enc.name, nil
}

// attempt decodes doc; clean means that hardly a byte had no meaning.
func attempt(enc named, doc []byte) (text []byte, clean bool) {
	text, err := enc.NewDecoder().Bytes(doc)
	if err != nil {
		return repair(doc), false
	}
	bad := bytes.Count(text, []byte("\ufffd"))
	return text, bad == 0 || bad*50 < highBytes(doc)
}

func highBytes(doc []byte) (n int) {
	for _, c := range doc {
		if c >= utf8.RuneSelf {
			n++
		}
	}
	return n
}

// dropNUL removes NUL characters, without a copy if there are none.
func dropNUL(text []byte) []byte {
	if bytes.IndexByte(text, 0) < 0 {
		return text
	}
	return bytes.ReplaceAll(text, []byte{0}, nil)
}

// named is an encoding under its canonical name.
type named struct {
	encoding.Encoding
	name      string
	multibyte bool // of East Asia
}

// hides reports that a document which is valid UTF-8 may still be in this encoding: one that
// escapes from ASCII, or one of East Asia, whose characters would take three bytes in UTF-8.
func (n named) hides(doc []byte) bool {
	switch n.name {
	case "iso-2022-jp":
		return bytes.IndexByte(doc, 0x1b) >= 0
	case "hz-gb-2312":
		return bytes.Contains(doc, []byte("~{"))
	}
	if !n.multibyte {
		return false
	}
	high := false
	for _, c := range doc {
		if c >= 0xe0 {
			return false
		}
		high = high || c >= utf8.RuneSelf
	}
	return high
}

// hasEscapes reports the escapes to JIS X 0208 that ISO-2022-JP consists of, declared or not.
func hasEscapes(doc []byte) bool {
	if i := bytes.IndexByte(doc, 0x1b); i >= 0 {
		return bytes.Contains(doc[i:], []byte("\x1b$B")) || bytes.Contains(doc[i:], []byte("\x1b$@"))
	}
	return false
}

// isBinary reports whether the beginning of a document is full of control characters.
func isBinary(doc []byte) bool {
	head := doc[:min(len(doc), 1024)]
	n := 0
	for _, c := range head {
		if c < ' ' && (c < '\t' || c > '\r') && c != 0x1b {
			n++
		}
	}
	return n*10 > len(head) && n > 8
}
