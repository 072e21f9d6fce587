// Package plain turns markup into plain text (SPEC.md E1, E2): tags stripped as a browser would
// show the text, character references decoded, white space folded.
//
// It reads in one pass without a tree. Block elements and br break words, inline elements do not;
// script, style, template, comments, processing instructions and the doctype vanish. Broken
// markup costs the broken tag and no more. Whatever comes in, the result is valid UTF-8 without
// control characters, its only white space single spaces between words.
//
// It keeps nothing. It does not sanitise HTML for showing it as HTML, and lays nothing out: no lists, no tables,
// no addresses of links.
package plain

import (
	"bytes"
	"math"
)

// Text returns the plain text of HTML.
func Text(html string) string {
	return string(Append(nil, []byte(html), 0))
}

// Append appends the plain text of HTML to dst, at most limit bytes of it if limit is positive.
func Append(dst, html []byte, limit int) []byte {
	s := scanner{src: html, out: newWriter(dst, limit)}
	s.scan(&htmlClasses)
	return s.out.dst
}

// AppendEscaped is Append for HTML that stands escaped in XML character data ("&lt;p&gt;"): it
// decodes and strips in one pass. Tags that are not escaped are stripped as well. References that spell out UTF-8 byte by
// byte ("&Atilde;&copy;") are repaired, see Repair.
func AppendEscaped(dst, xml []byte, limit int) []byte {
	s := scanner{src: xml, out: newWriter(dst, limit), escaped: true}
	s.scan(&htmlClasses)
	if s.twice {
		return Append(dst, Repair(Unescape(nil, xml)), limit)
	}
	return s.out.dst
}

// Fold appends text that is no markup to dst, with its white space folded and control characters
// removed, at most limit bytes of it if limit is positive.
func Fold(dst, text []byte, limit int) []byte {
	s := scanner{src: text, out: newWriter(dst, limit)}
	s.scan(&textClasses)
	return s.out.dst
}

func newWriter(dst []byte, limit int) writer {
	if limit <= 0 || limit > math.MaxInt-len(dst) {
		return writer{dst: dst, start: len(dst), end: math.MaxInt}
	}
	return writer{dst: dst, start: len(dst), end: len(dst) + limit}
}

// indexAmp is the index of the next ampersand, or the length of s.
func indexAmp(s []byte) int {
	if i := bytes.IndexByte(s, '&'); i >= 0 {
		return i
	}
	return len(s)
}
