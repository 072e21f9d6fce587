// Package feed reads the bytes of a feed into entries: RSS 0.90 to 2.0, RDF, Atom 0.3 and 1.0, CDF
// and JSON Feed, in any encoding, and the broken documents that feed readers are expected to
// survive (SPEC.md E1). It finds the feeds that a web page names (Links).
//
// It keeps what later decisions need: the fields of an entry as plain text, absolute addresses,
// times in UTC, and the publisher's hints about how often to come back (F3). It does not decide
// what is new (E5, E7), nor which entries are the same article (D1).
//
// Documents are hostile: everything is bounded by Options, nothing takes more than linear time, and what
// was readable is returned with a sentence about what was not. No tree is built and nothing is reflected on.
package feed

import (
	"fmt"
	"io"
	"strings"
	"time"

	"freshet/internal/charset"
)

// Document is what a feed says of itself, and its entries in the order of the document.
type Document struct {
	// Format is the format and version, such as "rss20", "rss10", "atom10", "json11".
	Format string
	// Title is plain text.
	Title string
	// SiteURL is the absolute address of the web site that the feed belongs to.
	SiteURL string

	// TTL is RSS's ttl; UpdatePeriod is sy:updatePeriod divided by sy:updateFrequency. 0 when not said.
	TTL, UpdatePeriod time.Duration
	// SkipHours has bit h set when the hour h in UTC is to be skipped; SkipDays bit 0 is Sunday.
	SkipHours uint32
	SkipDays  uint8

	Entries []Entry
	// Partial says in a sentence what is missing; "" when the document was read whole.
	Partial string
}

// Entry is one entry of a feed. Its strings are valid UTF-8 without NUL; those that the feed does not give
// are empty, times it does not give are zero.
type Entry struct {
	// GUID is RSS's guid, Atom's id, RDF's rdf:about or JSON's id, as written; Permalink says that it is RSS's
	// kind of guid that is also the entry's address.
	GUID      string
	Permalink bool
	// URL is the absolute address of the article: feedburner:origLink, the link that is the alternate, or a
	// guid that is an address.
	URL string
	// Title and Author are plain text. Author is the name of the first author who has one, else an e-mail address.
	Title, Author string
	// Published falls back to Updated; Updated is what the entry says of its last change.
	Published, Updated time.Time
	// Summary and Content are plain text, or HTML with Options.KeepMarkup.
	Summary, Content string
	// Enclosures are RSS's enclosures, Atom's links of that kind and JSON's attachments.
	Enclosures []Enclosure
	// Media are the contents and thumbnails of Media RSS.
	Media []Enclosure
	// Image is the address of a picture for the entry.
	Image string
}

// Text returns the body: the content, or else the summary (E1).
func (e *Entry) Text() string {
	if e.Content != "" {
		return e.Content
	}
	return e.Summary
}

// Enclosure is a file that goes with an entry. Length is in bytes, 0 when not said.
type Enclosure struct {
	URL, Type string
	Length    int64
}

// Options say where a document comes from and how much of it is wanted. The zero value works.
type Options struct {
	// URL is the address of the document; relative addresses resolve against it.
	URL string
	// ContentType is the Content-Type header it came with.
	ContentType string
	// KeepMarkup leaves bodies as HTML; else they are turned into plain text.
	KeepMarkup bool
	// MaxEntries is how many entries are read (10,000).
	MaxEntries int
	// MaxText is how many bytes a body, a title or another value may have (1 MiB).
	MaxText int
	// MaxOutput is how many bytes all values together may have (64 MiB).
	MaxOutput int
	// MaxBytes is how much Read takes from its reader (64 MiB).
	MaxBytes int64
}

func (o Options) withDefaults() Options {
	o.URL = cleanURL(o.URL)
	if o.MaxEntries <= 0 {
		o.MaxEntries = 10_000
	}
	if o.MaxText <= 0 {
		o.MaxText = 1 << 20
	}
	if o.MaxOutput <= 0 {
		o.MaxOutput = 64 << 20
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 64 << 20
	}
	return o
}

// NotFeed is the error for a document that is no feed at all.
type NotFeed struct {
	// Kind says what it is instead: "web page", "empty document", "JSON document", ...
	Kind string
	// Links are the feeds that a web page names.
	Links []Link
}

// Error says what the document is and, when it names feeds, which.
func (e *NotFeed) Error() string {
	s := "this is " + e.Kind + ", not a feed"
	for i, l := range e.Links {
		switch {
		case i == 0:
			s += "; its feeds are " + l.URL
		case i < 5:
			s += ", " + l.URL
		}
	}
	if n := len(e.Links) - 5; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}

// Parse reads a document. Its only error is *NotFeed: of any feed it returns what could be read.
// The result does not refer to doc.
func Parse(doc []byte, o Options) (*Document, error) {
	o = o.withDefaults()
	decoded, _, err := charset.UTF8(doc, o.ContentType)
	if err != nil {
		return nil, &NotFeed{Kind: "a binary document"}
	}
	if isJSON(decoded) {
		return parseJSON(decoded, o)
	}
	return parseXML(decoded, o)
}

// Read reads a document from r, whole, and parses it. The error is r's, or *NotFeed.
func Read(r io.Reader, o Options) (*Document, error) {
	o = o.withDefaults()
	doc, err := io.ReadAll(io.LimitReader(r, o.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read feed: %w", err)
	}
	long := int64(len(doc)) > o.MaxBytes
	if long {
		doc = doc[:o.MaxBytes]
	}
	d, err := Parse(doc, o)
	if err == nil && long {
		d.note(fmt.Sprintf("only the first %d bytes were read", o.MaxBytes))
	}
	return d, err
}

// note adds a sentence about what is missing.
func (d *Document) note(sentence string) {
	switch {
	case d.Partial == "":
		d.Partial = sentence
	case !strings.Contains(d.Partial, sentence):
		d.Partial += "; " + sentence
	}
}
