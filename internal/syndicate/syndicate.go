// Package syndicate writes a view of the river as a feed: Atom 1.0 (RFC 4287), RSS 2.0 or JSON Feed 1.1 (SPEC.md
// section 9: every view is a feed). Each item is written as it comes; nothing is kept but the ids that were given out.
//
// It does not choose items and does not fetch. Texts are plain, so nothing of a source is passed on as markup (P2).
package syndicate

import (
	"io"
	"iter"
	"net/url"
	"strings"
	"time"

	"freshet"
)

// Channel is what a feed says of itself.
type Channel struct {
	Title   string
	Home    string // address of the page that shows the same
	Self    string // address of the feed
	Updated time.Time
}

// Format is a way to write a feed.
type Format struct {
	MediaType string
	Write     func(w io.Writer, c Channel, items iter.Seq[*freshet.Item]) error
}

// Formats are the formats by the suffix of an address.
var Formats = map[string]Format{
	"atom": {"application/atom+xml; charset=utf-8", writeAtom},
	"rss":  {"application/rss+xml; charset=utf-8", writeRSS},
	"json": {"application/feed+json; charset=utf-8", writeJSON},
}

// ids gives each item of a feed an id of its own.
type ids map[string]bool

// of is the item's guid where that is an address or another URI, and was not given out before.
func (seen ids) of(i *freshet.Item) string {
	id := i.GUID
	if u, err := url.Parse(id); err != nil || u.Scheme == "" || strings.ContainsAny(id, " \t\r\n<>\"") || seen[id] {
		id = "urn:freshet:item:" + i.ID.String()
	}
	seen[id] = true
	return id
}

// source is the name of the source that brought an item first.
func source(i *freshet.Item) string {
	if len(i.Sources) == 0 {
		return ""
	}
	return i.Sources[0].Title
}
