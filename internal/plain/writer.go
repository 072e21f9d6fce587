package plain

import (
	"unicode"
	"unicode/utf8"
)

// writer collects words, with one space between them, up to a length.
type writer struct {
	dst        []byte
	start, end int  // len(dst) before the first word, and at most
	gap        bool // white space or a block's edge came since the last word
	full       bool // end is reached: nothing more is written
}

// text writes what is folded already: it neither begins nor ends with white space.
func (w *writer) text(s []byte) {
	if w.gap {
		w.gap = false
		if len(w.dst) > w.start {
			if len(w.dst)+1 >= w.end {
				w.full = true
				return
			}
			w.dst = append(w.dst, ' ')
		}
	}
	if room := w.end - len(w.dst); len(s) > room {
		w.full = true
		s = whole(s[:room])
	}
	w.dst = append(w.dst, s...)
	if w.full {
		w.trim()
	}
}

// trim removes the space that a cut left at the end.
func (w *writer) trim() {
	if n := len(w.dst); n > w.start && w.dst[n-1] == ' ' {
		w.dst = w.dst[:n-1]
	}
}

// rune writes one character: white space becomes a gap, C1 controls are meant as windows-1252,
// other control characters vanish.
func (w *writer) rune(r rune) {
	if r >= 0x80 && r < 0xa0 {
		r = windows1252[r-0x80]
	}
	switch {
	case unicode.IsSpace(r):
		w.gap = true
	case r < ' ' || r >= 0x7f && r < 0xa0:
	default:
		var buf [utf8.UTFMax]byte
		w.text(buf[:utf8.EncodeRune(buf[:], r)])
	}
}

// whole cuts an incomplete character off the end.
func whole(s []byte) []byte {
	for i := 1; i <= utf8.UTFMax && i <= len(s); i++ {
		if c := s[len(s)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(s[len(s)-i:]) {
				return s[:len(s)-i]
			}
			break
		}
	}
	return s
}
