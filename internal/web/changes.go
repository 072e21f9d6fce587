package web

import "strings"

// change is a line of what changed in a page.
type change struct {
	Kind                  string // "gone", "new" or "" for a remark
	Before, Edited, After string // the line, with the part that is another than in the line it stands for
}

// readChanges reads the lines of freshet.SplitChanges. Of two that stand for each other it finds what was edited.
func readChanges(text string) (list []change) {
	if text == "" {
		return nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if gone, ok := strings.CutPrefix(line, "- "); ok {
			list = append(list, change{Kind: "gone", Before: gone})
			continue
		}
		added, ok := strings.CutPrefix(line, "+ ")
		if !ok {
			list = append(list, change{Before: line})
			continue
		}
		c := change{Kind: "new", Before: added}
		if last := len(list) - 1; last >= 0 && list[last].Kind == "gone" {
			list[last], c = edited(list[last].Before, added)
		}
		list = append(list, c)
	}
	return list
}

// edited finds the words that differ between two versions of a line; those that have little in common differ as a
// whole.
func edited(before, after string) (gone, added change) {
	old, new := strings.SplitAfter(before, " "), strings.SplitAfter(after, " ")
	head := 0
	for head < min(len(old), len(new)) && old[head] == new[head] {
		head++
	}
	tail := 0
	for tail < min(len(old), len(new))-head && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	if 2*(head+tail) < max(len(old), len(new)) {
		head, tail = 0, 0
	}
	cut := func(kind string, words []string) change {
		if head+tail == 0 {
			return change{Kind: kind, Before: strings.Join(words, "")}
		}
		part := strings.Join(words[head:len(words)-tail], "")
		marked := strings.TrimRight(part, " ")
		return change{kind, strings.Join(words[:head], ""), marked, part[len(marked):] + strings.Join(words[len(words)-tail:], "")}
	}
	return cut("gone", old), cut("new", new)
}
