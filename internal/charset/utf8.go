package charset

import (
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// repair makes bytes that are mostly UTF-8 valid: a stray byte is read as windows-1252, a
// character cut off by the end of the document is dropped. Valid UTF-8 is not copied.
func repair(doc []byte) []byte {
	if utf8.Valid(doc) {
		return doc
	}
	text := make([]byte, 0, len(doc)+len(doc)/16+16)
	for i := 0; i < len(doc); {
		n := validPrefix(doc[i:])
		text = append(text, doc[i:i+n]...)
		i += n
		if i == len(doc) || !utf8.FullRune(doc[i:]) {
			break
		}
		text = utf8.AppendRune(text, charmap.Windows1252.DecodeByte(doc[i]))
		i++
	}
	return text
}

// validPrefix is the length of the valid UTF-8 that doc begins with.
func validPrefix(doc []byte) int {
	for i := 0; i < len(doc); {
		if doc[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(doc[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(doc)
}

// mostlyUTF8 reports whether a document has no more stray bytes than characters of several bytes in
// UTF-8. A character cut off by the end is not counted.
func mostlyUTF8(doc []byte) bool {
	chars, stray := 0, 0
	for i := 0; i < len(doc); {
		if doc[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(doc[i:])
		switch {
		case r != utf8.RuneError || n > 1:
			chars++
		case !utf8.FullRune(doc[i:]):
			return chars >= stray
		default:
			stray++
		}
		i += n
	}
	return chars >= stray
}
