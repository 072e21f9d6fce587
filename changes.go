package freshet

import "strings"

const (
	changesHead = "Changed since the last version:\n"
	changesTail = "\nNow it reads:\n"
)

// TellChanges is the text of a page that changed: the lines that differ, each marked with "- " or "+ ", then the
// whole as it reads now.
func TellChanges(changes, now string) string { return changesHead + changes + changesTail + now }

// SplitChanges takes a text of TellChanges apart; any other text has no changes.
func SplitChanges(text string) (changes, now string) {
	told, found := strings.CutPrefix(text, changesHead)
	if !found {
		return "", text
	}
	if changes, now, found = strings.Cut(told, changesTail); !found {
		return "", text
	}
	return changes, now
}
