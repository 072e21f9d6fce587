package syndicate

import (
	"bufio"
	"encoding/xml"
	"io"
	"iter"
	"time"

	"freshet"
)

// document writes XML. The first error stays in the buffer and shows when it is flushed.
type document struct{ *bufio.Writer }

func begin(w io.Writer) document {
	d := document{bufio.NewWriter(w)}
	d.WriteString(`<?xml version="1.0" encoding="utf-8"?>` + "\n")
	return d
}

// text writes an element that holds text. Characters that XML does not know become U+FFFD.
func (d document) text(name, text string) {
	d.WriteString("<" + name + ">")
	d.escape(text)
	d.WriteString("</" + name + ">\n")
}

// given is text for what may be missing.
func (d document) given(name, text string) {
	if text != "" {
		d.text(name, text)
	}
}

func (d document) escape(text string) { _ = xml.EscapeText(d, []byte(text)) }

// link writes an empty element with an address and what follows it.
func (d document) link(rest, address string) {
	if address == "" {
		return
	}
	d.WriteString(`<link ` + rest + ` href="`)
	d.escape(address)
	d.WriteString("\"/>\n")
}

func writeAtom(w io.Writer, c Channel, items iter.Seq[*freshet.Item]) error {
	d := begin(w)
	d.WriteString(`<feed xmlns="http://www.w3.org/2005/Atom">` + "\n")
	d.text("title", c.Title)
	d.text("id", c.Self)
	d.text("updated", stamp(c.Updated))
	d.link(`rel="self"`, c.Self)
	d.link(`rel="alternate" type="text/html"`, c.Home)
	seen := ids{}
	for i := range items {
		d.WriteString("<entry>\n")
		d.text("title", i.Title)
		d.text("id", seen.of(i))
		d.text("published", stamp(i.PublishedAt))
		d.text("updated", stamp(i.UpdatedAt))
		d.link(`rel="alternate"`, freshet.WebLink(i.URL))
		d.WriteString("<author>")
		d.text("name", nameOf(i))
		d.WriteString("</author>\n")
		d.given("summary", i.Snippet)
		d.WriteString("</entry>\n")
	}
	d.WriteString("</feed>\n")
	return d.Flush()
}

// nameOf is the author; Atom wants one, so the source stands in.
func nameOf(i *freshet.Item) string {
	if i.Author != "" {
		return i.Author
	}
	return source(i)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func writeRSS(w io.Writer, c Channel, items iter.Seq[*freshet.Item]) error {
	d := begin(w)
	d.WriteString(`<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>` + "\n")
	d.text("title", c.Title)
	d.text("link", c.Home)
	d.text("description", c.Title)
	d.WriteString(`<atom:link rel="self" type="application/rss+xml" href="`)
	d.escape(c.Self)
	d.WriteString("\"/>\n")
	d.text("lastBuildDate", c.Updated.UTC().Format(time.RFC1123Z))
	seen := ids{}
	for i := range items {
		d.WriteString("<item>\n")
		d.text("title", escaped(i.Title)) // readers take it for markup, as they do the description
		d.given("link", freshet.WebLink(i.URL))
		d.WriteString(`<guid isPermaLink="false">`)
		d.escape(seen.of(i))
		d.WriteString("</guid>\n")
		d.text("pubDate", i.PublishedAt.UTC().Format(time.RFC1123Z))
		d.given("dc:creator", nameOf(i))
		if i.Snippet != "" {
			d.text("description", escaped(i.Snippet))
		}
		d.WriteString("</item>\n")
	}
	d.WriteString("</channel></rss>\n")
	return d.Flush()
}
