package syndicate

import (
	"bufio"
	"cmp"
	"io"
	"strings"
	"unicode"

	"freshet"
)

// Markdown is the media type of what WriteArticles writes.
const Markdown = "text/markdown; charset=utf-8"

// WriteArticles writes articles of a briefing as Markdown (CommonMark), each under a heading with a link, and where and
// when it was published below. What a source wrote stays text: it cannot become markup or HTML (P2).
func WriteArticles(w io.Writer, title string, articles []freshet.Article) error {
	b := bufio.NewWriter(w)
	b.WriteString("# " + inline(title) + "\n")
	for i := range articles {
		a := &articles[i]
		heading := cmp.Or(inline(a.Title), "(no title)")
		if link := freshet.WebLink(a.URL); link != "" {
			heading = "[" + heading + "](<" + linked.Replace(link) + ">)"
		}
		b.WriteString("\n## " + heading + "\n\n")
		for _, from := range []string{a.Author, a.SourceName} {
			if from = inline(from); from != "" {
				b.WriteString(from + " · ")
			}
		}
		b.WriteString(a.PublishedAt.UTC().Format("Jan 2, 2006 15:04 UTC") + "\n")
		for line := range strings.Lines(a.Text) {
			if line = strings.TrimSpace(line); line == freshet.ArticleRule {
				b.WriteString("\n---\n")
			} else if line != "" {
				b.WriteString("\n" + paragraph(line) + "\n")
			}
		}
	}
	return b.Flush()
}

// linked keeps an address within the angle brackets of a link.
var linked = strings.NewReplacer("<", "%3C", ">", "%3E", "\\", "%5C", " ", "%20", "\n", "%0A", "\r", "%0D")

// escapes takes their meaning from the characters that have one within a line.
var escapes = strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<", "\\<", ">", "\\>", "~", "\\~", "|", "\\|", "&", "\\&")

// inline is a text on one line, without characters that only a terminal would obey.
func inline(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
	return escapes.Replace(strings.Join(strings.Fields(text), " "))
}

// paragraph is a line of text that begins no list, heading or other block.
func paragraph(line string) string {
	line = inline(line)
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	switch {
	case strings.HasPrefix(line, "#"), strings.HasPrefix(line, "-"), strings.HasPrefix(line, "+"), strings.HasPrefix(line, "="), strings.HasPrefix(line, ":"):
		return "\\" + line
	case digits > 0 && digits < len(line) && (line[digits] == '.' || line[digits] == ')'):
		return line[:digits] + "\\" + line[digits:]
	}
	return line
}

// WriteArticleFeed writes articles of a briefing as a feed; self is its address or another name of its own.
func (f Format) WriteArticleFeed(w io.Writer, b *freshet.Briefing, self string, articles []freshet.Article) error {
	c := Channel{Title: b.Name, Self: self, Updated: b.CreatedAt}
	for i := range articles {
		if articles[i].CreatedAt.After(c.Updated) {
			c.Updated = articles[i].CreatedAt
		}
	}
	return f.Write(w, c, func(yield func(*freshet.Item) bool) {
		for i := range articles {
			a := &articles[i]
			if !yield(&freshet.Item{ID: a.ID, GUID: "urn:freshet:article:" + a.ID.String(), Title: a.Title, URL: a.URL, Snippet: a.Text, Author: a.Author,
				PublishedAt: a.PublishedAt, UpdatedAt: a.CreatedAt, Sources: []freshet.ItemSource{{SourceID: a.Source, Title: a.SourceName}}}) {
				return
			}
		}
	})
}
