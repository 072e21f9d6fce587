package feed

import (
	"bytes"
	"strings"
)

// maxEntities and maxEntity bound the entities that a document may declare, and their length.
const (
	maxEntities = 128
	maxEntity   = 1024
)

// declaredEntities are the entities that the document type declaration declares with a value that
// is characters alone: none that refers to others, so that nothing can multiply (billion laughs).
func declaredEntities(doc []byte) map[string][]byte {
	head := doc[:firstElement(doc)]
	var entities map[string][]byte
	for len(entities) < maxEntities {
		i := bytes.Index(head, []byte("<!ENTITY"))
		if i < 0 {
			break
		}
		head = head[i+len("<!ENTITY"):]
		name, value, ok := entityDeclaration(head)
		if !ok {
			continue
		}
		if entities == nil {
			entities = make(map[string][]byte)
		}
		if _, again := entities[string(name)]; !again {
			entities[string(name)] = value
		}
	}
	return entities
}

// firstElement is the offset of the first start tag, or the length of the document.
func firstElement(doc []byte) int {
	for i := 0; ; i++ {
		j := bytes.IndexByte(doc[i:], '<')
		if j < 0 {
			return len(doc)
		}
		if i += j; i+1 < len(doc) && isNameStart(doc[i+1]) {
			return i
		}
	}
}

// entityDeclaration reads a name and a value in quotes.
func entityDeclaration(b []byte) (name, value []byte, ok bool) {
	rest := skipSpace(b)
	n := nameLength(rest)
	if n == 0 || len(rest) == len(b) {
		return nil, nil, false
	}
	name, rest = rest[:n], skipSpace(rest[n:])
	if len(rest) < 2 || rest[0] != '"' && rest[0] != '\'' {
		return nil, nil, false
	}
	end := bytes.IndexByte(rest[1:min(len(rest), maxEntity+2)], rest[0])
	if end < 0 {
		return nil, nil, false
	}
	value = rest[1 : 1+end]
	return name, value, isHarmless(value)
}

// isHarmless reports whether an entity's value holds no markup, and no references but to characters by number.
func isHarmless(value []byte) bool {
	for i, c := range value {
		switch {
		case c == '<' || c == '%':
			return false
		case c == '&' && (i+1 >= len(value) || value[i+1] != '#'):
			return false
		}
	}
	return true
}

// format names the format by its root element, and tells whether types of text are declared there.
func (r *reader) format(el element) (name string, atom bool) {
	version := strings.TrimSpace(string(r.attribute("version")))
	switch el {
	case rootRDF:
		if bytes.Contains(r.namespaces(), []byte("my.netscape.com/rdf/simple/0.9")) {
			return "rss090", false
		}
		return "rss10", false
	case rootFeed:
		return atomFormat(version, r.namespaces()), true
	case channel:
		return "rss", false
	}
	switch version {
	case "0.91", "0.92", "0.93", "0.94":
		return "rss0" + version[2:], false
	}
	if strings.HasPrefix(version, "2") {
		return "rss20", false
	}
	return "rss", false
}

func atomFormat(version string, namespaces []byte) string {
	switch {
	case bytes.Contains(namespaces, []byte("www.w3.org/2005/atom")):
		return "atom10"
	case version == "0.3" || bytes.Contains(namespaces, []byte("purl.org/atom/ns")):
		return "atom03"
	}
	return "atom"
}

// namespaces are the namespace declarations of the element at hand, in lower case.
func (r *reader) namespaces() []byte {
	var all []byte
	for _, a := range r.attrs {
		if len(a.name) >= 5 && equalFold(a.name[:5], []byte("xmlns")) {
			all = append(lower(all, a.value), ' ')
		}
	}
	return all
}

// notFeed says what a document is that is no feed.
func (r *reader) notFeed() *NotFeed {
	_, root := splitName(r.root)
	e := &NotFeed{Kind: "a document without markup"}
	switch name := strings.ToLower(string(root)); {
	case len(bytes.TrimSpace(r.doc)) == 0:
		e.Kind = "an empty document"
	case isPageRoot(r.root) || isDoctypeHTML(r.doc):
		e.Kind = "a web page"
	case name == "opml":
		e.Kind = "a list of feeds (OPML)"
	case name == "urlset" || name == "sitemapindex":
		e.Kind = "a sitemap"
	case len(name) > 0 && len(name) <= maxName:
		e.Kind = "a document of another kind (<" + name + ">)"
	}
	if e.Kind == "a web page" || bytes.Contains(r.doc, []byte("<link")) {
		e.Links = Links(r.doc, r.o.URL)
	}
	return e
}

// isPageRoot reports whether a document whose first element has this name is a web page.
func isPageRoot(name []byte) bool {
	return equalFold(name, []byte("html")) || equalFold(name, []byte("head")) || equalFold(name, []byte("body"))
}

// isDoctypeHTML reports whether the document declares itself to be HTML.
func isDoctypeHTML(doc []byte) bool {
	head := bytes.ToLower(doc[:min(len(doc), 1024)])
	return bytes.Contains(head, []byte("<!doctype html"))
}
