package plain

import (
	"sort"
	"unicode/utf8"
)

// longestName and longestBare bound the search for a named reference: CounterClockwiseContourIntegral, Agrave.
const (
	longestName = 31
	longestBare = 6
)

// Unescape appends s to dst with its character references decoded, and leaves everything else
// as it is. It reads references the way browsers do in attribute values, which suits XML too: a name
// without semicolon counts only when neither a letter, a digit nor "=" follows, so the
// address "?a=1&copy=2" stays whole. No reference yields NUL, half a surrogate pair, or an ASCII control
// character but white space. References to 128 to 159 are left as the C1 control characters they name, for Repair needs
// them; Append and Fold read them as windows-1252.
func Unescape(dst, s []byte) []byte {
	for i := 0; i < len(s); {
		j := i + indexAmp(s[i:])
		dst = append(dst, s[i:j]...)
		if j == len(s) {
			break
		}
		first, second, n := reference(s[j+1:], true)
		if n == 0 {
			dst = append(dst, '&')
		} else {
			dst = appendReference(dst, first, second)
		}
		i = j + 1 + n
	}
	return dst
}

func appendReference(dst []byte, first, second rune) []byte {
	if first < ' ' && !isSpace(byte(first)) || first == 0x7f {
		return dst
	}
	dst = utf8.AppendRune(dst, first)
	if second != 0 {
		dst = utf8.AppendRune(dst, second)
	}
	return dst
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// reference decodes the character reference whose text follows the ampersand. n is the number of
// bytes that belong to it, 0 if it is none; second is 0 unless it stands for two characters.
// attribute selects the stricter rule for names without semicolon, see Unescape.
func reference(s []byte, attribute bool) (first, second rune, n int) {
	if len(s) < 2 {
		return 0, 0, 0
	}
	switch s[0] {
	case '#':
		first, n = numeric(s)
		return first, 0, n
	case 'l':
		if s[1] == 't' && len(s) > 2 && s[2] == ';' {
			return '<', 0, 3
		}
	case 'g':
		if s[1] == 't' && len(s) > 2 && s[2] == ';' {
			return '>', 0, 3
		}
	case 'a':
		if s[1] == 'm' && len(s) > 3 && s[2] == 'p' && s[3] == ';' {
			return '&', 0, 4
		}
	case 'q':
		if s[1] == 'u' && len(s) > 4 && s[2] == 'o' && s[3] == 't' && s[4] == ';' {
			return '"', 0, 5
		}
	case 'n':
		if s[1] == 'b' && len(s) > 4 && s[2] == 's' && s[3] == 'p' && s[4] == ';' {
			return 0xa0, 0, 5
		}
	}
	return byName(s, attribute)
}

func byName(s []byte, attribute bool) (first, second rune, n int) {
	end := 0
	for end < len(s) && end <= longestName && isAlnum(s[end]) {
		end++
	}
	if end < len(s) && s[end] == ';' {
		if ref := find(s[:end]); ref != nil {
			return ref.first, ref.second, end + 1
		}
	}
	if attribute {
		if end < len(s) && s[end] == '=' || end > longestBare {
			return 0, 0, 0
		}
		if ref := find(s[:end]); ref != nil && ref.bare {
			return ref.first, ref.second, end
		}
		return 0, 0, 0
	}
	for n = min(end, longestBare); n > 1; n-- {
		if ref := find(s[:n]); ref != nil && ref.bare {
			return ref.first, ref.second, n
		}
	}
	return 0, 0, 0
}

// find looks a name up, nil if there is no such reference.
func find(name []byte) *named {
	i := sort.Search(len(references), func(i int) bool { return references[i].name >= string(name) })
	if i < len(references) && references[i].name == string(name) {
		return &references[i]
	}
	return nil
}

func isAlnum(c byte) bool { return isLetter(c) || isDigit(c) }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// numeric decodes "#8217;" and "#x2019;", with or without the semicolon.
func numeric(s []byte) (r rune, n int) {
	base, i := rune(10), 1
	if s[1]|0x20 == 'x' {
		base, i = 16, 2
	}
	start := i
	for ; i < len(s); i++ {
		d := digit(s[i])
		if d >= base {
			break
		}
		// Beyond Unicode it only has to stay there.
		if r <= utf8.MaxRune {
			r = r*base + d
		}
	}
	if i == start {
		return 0, 0
	}
	if i < len(s) && s[i] == ';' {
		i++
	}
	return standardized(r), i
}

// digit is the value of a hexadecimal digit, 99 for anything else.
func digit(c byte) rune {
	switch {
	case isDigit(c):
		return rune(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return 99
}

// standardized is U+FFFD for a number that is no character. NUL stays: in HTML it is U+FFFD as well, in XML nothing.
func standardized(r rune) rune {
	if r > utf8.MaxRune || r >= 0xd800 && r < 0xe000 {
		return utf8.RuneError
	}
	return r
}
