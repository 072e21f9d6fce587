package plain

import "unicode/utf8"

// windows1252 is what bytes 128 to 159 mean there; five are not assigned and stay control characters.
var windows1252 = [32]rune{
	'€', 0x81, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0x8d, 'Ž', 0x8f,
	0x90, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0x9d, 'ž', 'Ÿ',
}

// Repair returns text with an error of publishers undone: UTF-8 that was taken for ISO 8859-1 and encoded again
// ("Ã©" for "é"). It acts only if that explains the whole text; text in order is returned as it is, without
// a copy. The rule is that of Python's feedparser.
func Repair(text []byte) []byte {
	first := 0
	for first < len(text) && text[first] < utf8.RuneSelf {
		first++
	}
	if !twiceEncoded(text[first:]) {
		return text
	}
	once := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= utf8.RuneSelf {
			if c != 0xc2 && c != 0xc3 || i+1 == len(text) {
				return text
			}
			i++
			c = c<<6 | text[i]&0x3f
		}
		once = append(once, c)
	}
	if !utf8.Valid(once) {
		return text
	}
	return once
}

// twiceEncoded reports whether s begins with two characters below U+0100 that, as bytes, begin a character of UTF-8.
func twiceEncoded(s []byte) bool {
	return len(s) >= 4 && s[0] == 0xc3 && beginsUTF8(rune(s[1]&0x3f|0xc0)) && s[2] == 0xc2
}

// beginsUTF8 and continuesUTF8 report what a character below U+0100 would be as a byte.
func beginsUTF8(r rune) bool    { return r >= 0xc2 && r <= 0xf4 }
func continuesUTF8(r rune) bool { return r >= 0x80 && r < 0xc0 }
