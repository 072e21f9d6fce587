package syndicate

import (
	"bufio"
	"encoding/json"
	"html"
	"io"
	"iter"

	"freshet"
)

// escaped is plain text as markup.
func escaped(text string) string { return html.EscapeString(text) }

// jsonItem is an item of JSON Feed 1.1.
type jsonItem struct {
	ID        string       `json:"id"`
	URL       string       `json:"url,omitempty"`
	Title     string       `json:"title,omitempty"`
	Text      string       `json:"content_text"`
	Image     string       `json:"image,omitempty"`
	Published string       `json:"date_published"`
	Modified  string       `json:"date_modified"`
	Authors   []jsonAuthor `json:"authors,omitempty"`
	Tags      []string     `json:"tags,omitempty"` // the sources that carried it
}

type jsonAuthor struct {
	Name string `json:"name"`
}

func writeJSON(w io.Writer, c Channel, items iter.Seq[*freshet.Item]) error {
	b := bufio.NewWriter(w)
	head, err := json.Marshal(struct {
		Version string `json:"version"`
		Title   string `json:"title"`
		Home    string `json:"home_page_url,omitempty"`
		Self    string `json:"feed_url"`
	}{"https://jsonfeed.org/version/1.1", c.Title, c.Home, c.Self})
	if err != nil {
		return err
	}
	b.Write(head[:len(head)-1])
	b.WriteString(`,"items":[`)
	seen, comma := ids{}, ""
	for i := range items {
		entry := jsonItem{ID: seen.of(i), URL: freshet.WebLink(i.URL), Title: i.Title, Text: i.Snippet, Image: freshet.WebLink(i.Image),
			Published: stamp(i.PublishedAt), Modified: stamp(i.UpdatedAt)}
		if name := nameOf(i); name != "" {
			entry.Authors = []jsonAuthor{{name}}
		}
		for _, from := range i.Sources {
			entry.Tags = append(entry.Tags, from.Title)
		}
		line, err := json.Marshal(entry)
		if err != nil {
			return err
		}
		b.WriteString(comma)
		b.Write(line)
		comma = ",\n"
	}
	b.WriteString("]}\n")
	return b.Flush()
}
