package opml

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Write writes a list in OPML 2.0, folder by folder, in the order given within each. It does not close w.
func Write(w io.Writer, title string, outlines []Outline) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<opml version=\"2.0\">\n  <head><title>%s</title></head>\n  <body>\n", escaped(title))
	sorted := slices.Clone(outlines)
	slices.SortStableFunc(sorted, func(a, b Outline) int {
		return slices.CompareFunc(path(a), path(b), cmp.Compare[string])
	})
	var open []string
	for _, o := range sorted {
		open = enter(b, open, path(o))
		writeFeed(b, o, len(open))
	}
	enter(b, open, nil)
	fmt.Fprint(b, "  </body>\n</opml>\n")
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write OPML: %w", err)
	}
	return nil
}

// path splits a folder into the names of its outlines.
func path(o Outline) []string {
	return strings.FieldsFunc(o.Folder, func(r rune) bool { return r == '/' })
}

// enter closes and opens folders until those of want are open.
func enter(b *bufio.Writer, open, want []string) []string {
	same := 0
	for same < len(open) && same < len(want) && open[same] == want[same] {
		same++
	}
	for i := len(open); i > same; i-- {
		fmt.Fprintf(b, "%s</outline>\n", indent(i-1))
	}
	for i := same; i < len(want); i++ {
		name := escaped(want[i])
		fmt.Fprintf(b, "%s<outline text=\"%s\" title=\"%s\">\n", indent(i), name, name)
	}
	return want
}

func writeFeed(b *bufio.Writer, o Outline, depth int) {
	name := escaped(cmp.Or(o.Title, o.URL))
	fmt.Fprintf(b, "%s<outline type=\"rss\" text=\"%s\" title=\"%s\" xmlUrl=\"%s\"", indent(depth), name, name, escaped(o.URL))
	if o.SiteURL != "" {
		fmt.Fprintf(b, " htmlUrl=\"%s\"", escaped(o.SiteURL))
	}
	fmt.Fprint(b, "/>\n")
}

func indent(depth int) string { return strings.Repeat("  ", depth+2) }

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder does not fail
	return b.String()
}
