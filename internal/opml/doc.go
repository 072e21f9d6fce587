// Package opml reads and writes subscription lists (OPML 1.0 and 2.0), which every feed reader
// exports and imports (SPEC.md sections 6 and 11).
//
// What other programs write is rarely what the format says, so reading is lenient about spelling,
// encodings, entities and illegal characters, and strict about size, depth and number. It does not
// judge addresses: whoever adds them does.
package opml

import "fmt"

// Outline is one feed of a list.
type Outline struct {
	Title   string
	URL     string // of the feed, as written
	SiteURL string
	Folder  string // names of the outlines around it, joined with "/"
}

// Limits of what is read.
const (
	MaxOutlines = 20_000  // feeds and folders
	MaxBytes    = 8 << 20 // after decoding to UTF-8 as well
	maxDepth    = 64
	maxText     = 4096 // bytes of one attribute
)

// Error says why a document is no list that can be used.
type Error struct {
	Line   int // 1 for the first; 0 when it is about the document as a whole
	Reason string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return "read OPML: " + e.Reason
	}
	return fmt.Sprintf("read OPML, line %d: %s", e.Line, e.Reason)
}
