package feed

import (
	"bytes"
	"strings"

	"freshet/internal/plain"
)

// Link is a feed that a web page names, or may mean by a link to it.
type Link struct {
	URL   string // absolute, but for a page that says nothing of its own address
	Title string // plain text
	Type  string // media type that the page gives, in lower case
}

// maxLinks is how many feeds of a page are returned.
const maxLinks = 64

// Links finds the feeds of a web page: first those it declares (<link rel="alternate">), in its
// order; then links (<a>) whose address or text looks like that of a feed. base is the page's address.
func Links(page []byte, base string) []Link {
	p := pageReader{scanner: scanner{doc: page}, base: cleanURL(base), seen: make(map[string]bool)}
	for len(p.declared)+len(p.candidates) < maxLinks {
		switch p.next() {
		case startTag:
			p.start(&p.tok)
		case endOfDocument:
			return append(p.declared, p.candidates...)
		}
	}
	return append(p.declared, p.candidates...)
}

// pageReader looks for feeds in the tags of a web page.
type pageReader struct {
	scanner
	base                 string
	based                bool // the page has said what its base is
	attrs                []attr
	declared, candidates []Link
	seen                 map[string]bool
}

func (p *pageReader) start(t *token) {
	var low [8]byte
	if len(t.name) > len(low) {
		return
	}
	switch string(lower(low[:0], t.name)) {
	case "base":
		p.attrs = attributes(p.attrs[:0], t.attrs)
		if href := p.attribute("href"); href != "" && !p.based {
			p.base, p.based = string(resolve(nil, p.base, []byte(href))), true
		}
	case "link":
		p.attrs = attributes(p.attrs[:0], t.attrs)
		p.link()
	case "a":
		p.attrs = attributes(p.attrs[:0], t.attrs)
		p.anchor()
	case "script", "style":
		p.skip(t.name)
	}
}

// skip goes to the end tag of an element whose content is no markup.
func (p *pageReader) skip(name []byte) {
	for {
		i := bytes.Index(p.doc[p.pos:], []byte("</"))
		if i < 0 {
			p.pos = len(p.doc)
			return
		}
		p.pos += i
		if rest := p.doc[p.pos+2:]; len(rest) >= len(name) && bytes.EqualFold(rest[:len(name)], name) {
			return
		}
		p.pos += 2
	}
}

// link takes a <link> that declares a feed.
func (p *pageReader) link() {
	typ := strings.ToLower(strings.TrimSpace(cutAt(p.attribute("type"), ";")))
	alternate := false
	for _, rel := range strings.Fields(p.attribute("rel")) {
		alternate = alternate || strings.EqualFold(rel, "alternate") || strings.EqualFold(rel, "feed")
	}
	if alternate && isFeedType(typ) {
		p.declared = p.add(p.declared, typ, p.attribute("title"))
	}
}

// isFeedType reports whether a media type is that of a feed.
func isFeedType(typ string) bool {
	switch typ {
	case "application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml",
		"application/x.atom+xml", "application/x-atom+xml", "application/xml", "text/xml", "text/rss+xml",
		"text/atom+xml", "text/rdf+xml", "application/json":
		return true
	}
	return false
}

// anchor takes an <a> that seems to lead to a feed.
func (p *pageReader) anchor() {
	href := p.attribute("href")
	if !looksLikeFeedPath(href) {
		return
	}
	label := ""
	if p.next() == text {
		label = plain.Text(string(p.tok.body[:min(len(p.tok.body), 256)]))
	} else {
		p.pos = p.tok.start
	}
	p.candidates = p.add(p.candidates, "", label)
}

// looksLikeFeedPath reports whether an address ends the way feeds' addresses do.
func looksLikeFeedPath(href string) bool {
	path := strings.ToLower(strings.TrimRight(cutAt(href, "?#"), "/"))
	last := path[strings.LastIndexByte(path, '/')+1:]
	switch last {
	case "feed", "feeds", "rss", "atom", "rdf", "feed.json", "rss.php", "atom.php":
		return true
	case "index.xml", "feed.xml", "rss.xml", "atom.xml", "index.rdf":
		return true
	}
	for _, suffix := range [...]string{".rss", ".atom", ".rdf"} {
		if strings.HasSuffix(last, suffix) {
			return true
		}
	}
	return strings.HasPrefix(strings.ToLower(href), "feed:")
}

// add appends the link that the attributes at hand hold, unless it is there or is no web address.
func (p *pageReader) add(list []Link, typ, title string) []Link {
	href := strings.TrimSpace(p.attribute("href"))
	if rest, ok := strings.CutPrefix(href, "feed:"); ok {
		if href = rest; strings.HasPrefix(rest, "//") {
			href = "http:" + rest
		}
	}
	if href == "" {
		return list
	}
	url := string(appendClean(nil, resolve(nil, p.base, []byte(href))))
	relative := p.base == "" && url != "" && schemeLength([]byte(url)) == 0
	if !isWeb([]byte(url)) && !relative || p.seen[url] {
		return list
	}
	p.seen[url] = true
	return append(list, Link{URL: url, Title: plain.Text(title), Type: typ})
}

// attribute is the value of an attribute with its references decoded, cut to a length that is of use.
func (p *pageReader) attribute(name string) string {
	for i := range p.attrs {
		if a := &p.attrs[i]; strings.EqualFold(string(a.name), name) {
			return strings.ToValidUTF8(string(plain.Unescape(nil, a.value[:min(len(a.value), 4096)])), "")
		}
	}
	return ""
}
