package plain

import (
	"bytes"
	"strings"
)

// LooksLikeHTML reports whether the text of an element that may hold either text or HTML (an RSS title) is
// recognisably HTML: it has an end tag or a character reference, and names no other tags and references than
// the text of HTML has. The rule is that of Python's feedparser.
func LooksLikeHTML(s []byte) bool {
	found := false
	for {
		i := bytes.IndexAny(s, "<&")
		if i < 0 {
			return found
		}
		var ok, proof bool
		if s[i] == '<' {
			ok, proof = looksLikeTag(s[i+1:])
		} else {
			ok, proof = looksLikeReference(s[i+1:])
		}
		if !ok {
			return false
		}
		found = found || proof
		s = s[i+1:]
	}
}

// looksLikeTag judges what follows "<": ok unless it is a tag of another language, proof if it
// is an end tag.
func looksLikeTag(s []byte) (ok, proof bool) {
	ends := len(s) > 0 && s[0] == '/'
	if ends {
		s = s[1:]
	}
	n := word(s)
	if n == 0 {
		return true, false
	}
	if kindOf(s[:n]) == unknown || !inText(s[:n]) {
		return false, false
	}
	return true, ends && n < len(s) && s[n] == '>'
}

// inText reports whether an element of HTML is one of its text: who writes <title> or <script> in a headline
// writes about them.
func inText(name []byte) bool {
	for _, not := range []string{"html", "head", "title", "base", "link", "meta", "style", "script", "template", "body",
		"iframe", "frame", "frameset", "noframes", "object", "embed", "applet", "param", "svg", "math"} {
		if strings.EqualFold(string(name), not) {
			return false
		}
	}
	return true
}

// looksLikeReference judges what follows "&": ok unless it is a reference that HTML does not
// have, proof if it is one that it has.
func looksLikeReference(s []byte) (ok, proof bool) {
	numeric := len(s) > 0 && s[0] == '#'
	if numeric {
		s = s[1:]
	}
	n := word(s)
	if n == 0 || n == len(s) || s[n] != ';' {
		return true, false
	}
	return numeric || n <= longestName && find(s[:n]) != nil, true
}

// word is the length of the letters, digits and underscores that s begins with.
func word(s []byte) int {
	n := 0
	for n < len(s) && (isAlnum(s[n]) || s[n] == '_' || s[n] >= 0x80) {
		n++
	}
	return n
}
