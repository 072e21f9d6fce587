package main

import (
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// terminal is where people read: how wide it is and whether it shows colours.
type terminal struct {
	columns int // 0 when w is no terminal: nothing is cut
	colour  bool
}

// terminalOf looks at where output goes.
func terminalOf(w io.Writer) terminal {
	file, ok := w.(*os.File)
	if !ok {
		return terminal{}
	}
	columns := columnsOf(file)
	return terminal{columns, columns > 0 && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// bold and faint mark text where colours are shown.
func (t terminal) bold(s string) string  { return t.mark("1", s) }
func (t terminal) faint(s string) string { return t.mark("2", s) }

func (t terminal) mark(code, s string) string {
	if !t.colour || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// clean takes out of a text from outside what would steer a terminal: control characters and those that
// turn the direction of writing. White space becomes one space.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == unicode.ReplacementChar || !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// cut shortens s to so many columns; 0 leaves it whole.
func cut(s string, columns int) string {
	if columns <= 0 {
		return s
	}
	used, end := 0, 0
	for i, r := range s {
		used += columnsOfRune(r)
		if used > columns {
			return strings.TrimRight(s[:end], " ") + "…"
		}
		if used < columns { // leaves one for the ellipsis
			end = i + len(string(r))
		}
	}
	return s
}

// pad fills s up to so many columns.
func pad(s string, columns int) string {
	return s + strings.Repeat(" ", max(0, columns-columnsOfText(s)))
}

func columnsOfText(s string) int {
	used := 0
	for _, r := range s {
		used += columnsOfRune(r)
	}
	return used
}

func columnsOfRune(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
