package opml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"freshet/internal/charset"
)

// Read returns the feeds of a list in its order, at most max of them. What it refuses it refuses
// with an *Error; an error of r is returned as it is.
func Read(r io.Reader, max int) ([]Outline, error) {
	text, err := decoded(r)
	if err != nil {
		return nil, err
	}
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Strict = false
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	l := list{max: min(max, MaxOutlines)}
	if err := l.read(d); err != nil {
		return nil, located(err, d)
	}
	return l.outlines, nil
}

// located adds the line to what is wrong with the document.
func located(err error, d *xml.Decoder) error {
	line, _ := d.InputPos()
	var syntax *xml.SyntaxError
	var ours *Error
	switch {
	case errors.As(err, &syntax):
		return &Error{syntax.Line, "this is not well-formed XML: " + syntax.Msg}
	case errors.As(err, &ours) && ours.Line == 0:
		return &Error{line, ours.Reason}
	default:
		return err
	}
}

// list is what has been read so far.
type list struct {
	max      int
	seen     int // outlines, folders included
	outlines []Outline
	folders  []string // of the open outlines, "" for one that is a feed
	inside   bool     // of the opml element
	whole    bool     // its end has come
	depth    int      // of open elements
}

func (l *list) read(d *xml.Decoder) error {
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return l.end()
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			err = l.start(t)
		case xml.EndElement:
			l.close(t)
		}
		if err != nil {
			return err
		}
	}
}

func (l *list) start(e xml.StartElement) error {
	name := e.Name.Local
	if !l.inside {
		if !strings.EqualFold(name, "opml") {
			return &Error{Reason: fmt.Sprintf("this is not an OPML document: it begins with <%s>", shorten(name))}
		}
		l.inside = true
	}
	if l.depth++; l.depth > maxDepth {
		return &Error{Reason: fmt.Sprintf("elements lie more than %d deep in each other", maxDepth)}
	}
	if strings.EqualFold(name, "outline") {
		return l.outline(e.Attr)
	}
	return nil
}

func (l *list) close(e xml.EndElement) {
	l.depth = max(l.depth-1, 0)
	switch {
	case strings.EqualFold(e.Name.Local, "opml"):
		l.whole = true
	case strings.EqualFold(e.Name.Local, "outline") && len(l.folders) > 0:
		l.folders = l.folders[:len(l.folders)-1]
	}
}

// end refuses a document that stopped early: half a list looks like a whole one to whoever imports it.
func (l *list) end() error {
	switch {
	case !l.inside:
		return &Error{Reason: "this is not an OPML document: it holds no element"}
	case !l.whole:
		return &Error{Reason: "the document ends before </opml>: it was cut short"}
	}
	return nil
}

func (l *list) outline(attrs []xml.Attr) error {
	if l.seen++; l.seen > l.max {
		return &Error{Reason: fmt.Sprintf("the list has more than %d entries", l.max)}
	}
	a := attributes(attrs)
	if a.url == "" {
		l.folders = append(l.folders, a.name())
		return nil
	}
	l.outlines = append(l.outlines, Outline{Title: a.name(), URL: a.url, SiteURL: a.site, Folder: l.folder(a.category)})
	l.folders = append(l.folders, "")
	return nil
}

// folder is where an outline lies: below its parents, else in the first of its categories.
func (l *list) folder(category string) string {
	var names []string
	for _, name := range l.folders {
		if name != "" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		first, _, _ := strings.Cut(category, ",")
		return strings.Trim(strings.TrimSpace(first), "/")
	}
	return strings.Join(names, "/")
}

type named struct{ title, text, url, site, category string }

// name prefers title, which programs that write both fill with the feed's own.
func (a named) name() string {
	if a.title != "" {
		return a.title
	}
	return a.text
}

// attributes reads an outline's attributes in whatever case they are written.
func attributes(attrs []xml.Attr) named {
	var a named
	plainURL, kind := "", ""
	for _, attr := range attrs {
		value := cut(strings.TrimSpace(attr.Value))
		switch strings.ToLower(attr.Name.Local) {
		case "title":
			a.title = value
		case "text":
			a.text = value
		case "xmlurl", "feedurl":
			a.url = value
		case "htmlurl":
			a.site = value
		case "url":
			plainURL = value
		case "type":
			kind = strings.ToLower(value)
		case "category":
			a.category = value
		}
	}
	if a.url == "" && (kind == "rss" || kind == "atom" || kind == "feed") {
		a.url = plainURL
	}
	return a
}

// cut bounds an attribute; nothing longer is a name or an address.
func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	end := maxText
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

func shorten(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "..."
	}
	return s
}

// decoded reads the document whole and returns it in UTF-8, without the characters that XML forbids.
func decoded(r io.Reader) ([]byte, error) {
	doc, err := io.ReadAll(&limited{r: r, left: MaxBytes})
	if err != nil {
		return nil, err
	}
	text, _, err := charset.UTF8(doc, "")
	switch {
	case err != nil:
		return nil, &Error{Reason: "this is not an OPML document: " + err.Error()}
	case len(text) > MaxBytes:
		return nil, errTooLarge
	case bytes.ContainsFunc(text, forbidden):
		return bytes.Map(allowed, text), nil
	default:
		return text, nil
	}
}

func forbidden(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff
}

func allowed(r rune) rune {
	if forbidden(r) {
		return ' '
	}
	return r
}

var errTooLarge = &Error{Reason: fmt.Sprintf("the document is larger than %d MiB", MaxBytes>>20)}

// limited fails, and does not end, at its limit: a shortened list would look like a whole one.
type limited struct {
	r    io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p[:min(int64(len(p)), l.left+1)])
	if l.left -= int64(n); l.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
