package plain

import "strings"

// Snippet shortens plain text to at most max characters, an ellipsis included. It cuts between words unless that
// would cost more than half of the text.
func Snippet(text string, max int) string {
	if max <= 0 {
		return ""
	}
	if characters(text, max) == len(text) {
		return text
	}
	cut := characters(text, max-1)
	short := text[:cut]
	if text[cut] != ' ' {
		if space := strings.LastIndexByte(short, ' '); space >= cut/2 {
			short = short[:space]
		}
	}
	return strings.TrimRight(short, " .,;:-–—") + "…"
}

// characters is the length in bytes of the first n characters of text.
func characters(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}
