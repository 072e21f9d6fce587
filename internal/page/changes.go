package page

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"freshet/internal/plain"
)

const (
	mostChanges = 40  // lines that Changes shows
	longestLine = 300 // characters of a line that it shows
	margin      = 60  // bytes of an edited line that are shown before and after what changed
)

// Changes says in lines what differs between two texts: "- " before what is gone, "+ " before what is new. It
// is "" when they have no line in common, and so are not two versions of one text.
func Changes(before, after string) string {
	old, new := strings.Split(before, "\n"), strings.Split(after, "\n")
	gone, added, common := differing(old, new)
	if common == 0 {
		return ""
	}
	var hunks []string
	i, j := 0, 0
	for i < len(old) || j < len(new) {
		var minus, plus []string
		for ; i < len(old) && gone[i]; i++ {
			minus = append(minus, old[i])
		}
		for ; j < len(new) && added[j]; j++ {
			plus = append(plus, new[j])
		}
		hunks = append(hunks, hunk(minus, plus)...)
		i, j = i+1, j+1 // past a line that both have
	}
	switch more := len(hunks) - mostChanges; {
	case len(hunks) == 0:
		return "Only the order of its lines changed."
	case more > 1:
		hunks = append(hunks[:mostChanges], fmt.Sprintf("… and %d more", more))
	}
	return strings.Join(hunks, "\n")
}

// differing marks the lines that one text has more often than the other, and counts those that both have. A line
// that only moved is in both.
func differing(old, new []string) (gone, added []bool, common int) {
	left := make(map[string]int, len(old))
	for _, line := range old {
		left[line]++
	}
	added = make([]bool, len(new))
	for j, line := range new {
		if left[line] > 0 {
			left[line]--
			common++
		} else {
			added[j] = true
		}
	}
	gone = make([]bool, len(old))
	for i := len(old) - 1; i >= 0; i-- {
		if left[old[i]] > 0 {
			left[old[i]]--
			gone[i] = true
		}
	}
	return gone, added, common
}

// hunk shows lines that were replaced by others in their place, pair by pair.
func hunk(minus, plus []string) []string {
	var out []string
	for k := range max(len(minus), len(plus)) {
		switch {
		case k >= len(plus):
			out = append(out, "- "+plain.Snippet(minus[k], longestLine))
		case k >= len(minus):
			out = append(out, "+ "+plain.Snippet(plus[k], longestLine))
		default:
			before, after := edit(minus[k], plus[k])
			out = append(out, "- "+plain.Snippet(before, longestLine), "+ "+plain.Snippet(after, longestLine))
		}
	}
	return out
}

// edit cuts two versions of a line down to where they differ, with some words around it.
func edit(before, after string) (string, string) {
	head := 0
	for head < len(before) && head < len(after) && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < min(len(before), len(after))-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	if head+tail < 2*margin {
		return before, after
	}
	from := startOfWord(before, head-margin)
	return around(before, from, tail), around(after, from, tail)
}

// around is a line from a position on until some words before its last bytes.
func around(line string, from, tail int) string {
	to := endOfWord(line, len(line)-tail+margin)
	shown := line[from:to]
	if from > 0 {
		shown = "… " + shown
	}
	if to < len(line) {
		shown += " …"
	}
	return shown
}

// startOfWord moves a position back to where a word begins, or a character.
func startOfWord(s string, at int) int {
	if at <= 0 {
		return 0
	}
	if space := strings.LastIndexByte(s[:at], ' '); space >= at-margin {
		return space + 1
	}
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	return at
}

// endOfWord moves a position on to where a word ends, or a character.
func endOfWord(s string, at int) int {
	if at >= len(s) {
		return len(s)
	}
	if space := strings.IndexByte(s[at:], ' '); space >= 0 && space <= margin {
		return at + space
	}
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return at
}
