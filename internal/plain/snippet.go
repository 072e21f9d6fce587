package plain

import (
	"strings"
	"unicode/utf8"
)

// Snippet shortens plain text to at most max characters, an ellipsis included, at the end of a word unless
// the last word would take more than half with it.
func Snippet(text string, max int) string {
	if max <= 0 {
		return ""
	}
	// One character before the cut is kept for the ellipsis.
	cut, count := 0, 0
	for i := range text {
		if count == max-1 {
			cut = i
		}
		if count == max {
			break
		}
		count++
	}
	if count < max || utf8.RuneCountInString(text[cut:]) <= 1 {
		return text
	}
	short := text[:cut]
	if text[cut] != ' ' {
		if space := strings.LastIndexByte(short, ' '); space > cut/2 {
			short = short[:space]
		}
	}
	return strings.TrimRight(short, " ,;:.–—-") + "…"
}
