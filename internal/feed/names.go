package feed

import "bytes"

// vocabulary is what a namespace means to a feed reader.
type vocabulary uint8

const (
	foreign vocabulary = iota // nothing we know
	core                      // RSS in all its namespaces, and Atom
	rdf
	dublinCore
	dcTerms
	contentModule
	mediaRSS
	itunes
	syndication
	feedburner
	xhtml
)

// maxName is the longest local name or namespace that anything is known about.
const maxName = 64

// vocabularyOf tells a vocabulary by its namespace name, in any case, with or without a final
// slash or hash. It reports false for one it does not know.
func vocabularyOf(uri []byte) (v vocabulary, known bool) {
	var low [maxName]byte
	uri = bytes.TrimRight(bytes.TrimSpace(uri), "/#")
	if len(uri) > len(low) {
		return foreign, false
	}
	u := lower(low[:0], uri)
	switch string(u) {
	case "http://www.w3.org/2005/atom", "https://www.w3.org/2005/atom", "http://purl.org/atom/ns",
		"http://purl.org/rss/1.0", "http://my.netscape.com/rdf/simple/0.9", "http://channel.netscape.com/rdf/simple/0.9",
		"http://purl.org/net/rss1.1", "http://blogs.law.harvard.edu/tech/rss", "http://purl.org/rss/1.0/modules/rss091",
		"http://example.com/newformat", "http://example.com/necho", "http://purl.org/echo",
		"uri/of/echo/namespace", "http://purl.org/pie":
		return core, true
	case "http://www.w3.org/1999/02/22-rdf-syntax-ns":
		return rdf, true
	case "http://purl.org/dc/elements/1.1", "http://purl.org/dc/elements/1.0":
		return dublinCore, true
	case "http://purl.org/dc/terms":
		return dcTerms, true
	case "http://purl.org/rss/1.0/modules/content":
		return contentModule, true
	case "http://search.yahoo.com/mrss", "https://search.yahoo.com/mrss":
		return mediaRSS, true
	case "http://www.itunes.com/dtds/podcast-1.0.dtd", "https://www.itunes.com/dtds/podcast-1.0.dtd",
		"http://example.com/dtds/podcast-1.0.dtd":
		return itunes, true
	case "http://purl.org/rss/1.0/modules/syndication":
		return syndication, true
	case "http://rssnamespace.org/feedburner/ext/1.0":
		return feedburner, true
	case "http://www.w3.org/1999/xhtml":
		return xhtml, true
	}
	if bytes.Contains(u, []byte("backend.userland.com/rss")) {
		return core, true
	}
	return foreign, false
}

// vocabularyOfPrefix guesses from a prefix whose namespace is not declared, or is no namespace we know.
func vocabularyOfPrefix(prefix []byte) vocabulary {
	var low [maxName]byte
	if len(prefix) > len(low) {
		return foreign
	}
	switch string(lower(low[:0], prefix)) {
	case "":
		return core
	case "atom", "atom10", "atom03", "rss":
		return core
	case "rdf":
		return rdf
	case "dc":
		return dublinCore
	case "dcterms":
		return dcTerms
	case "content":
		return contentModule
	case "media":
		return mediaRSS
	case "itunes":
		return itunes
	case "sy":
		return syndication
	case "feedburner":
		return feedburner
	case "xhtml":
		return xhtml
	}
	return foreign
}

// element is what an element means, whatever its name in the format at hand.
type element uint8

const (
	unknown element = iota

	rootRSS
	rootRDF
	rootFeed
	channel
	entry

	title
	link
	guid
	author
	personName
	personEmail
	personURI
	contributor
	owner
	published
	updated
	created
	dcDate
	summary
	description
	content
	encoded
	body
	enclosure
	source
	image
	textInput
	opaque // a text construct that nobody asks for; its inner markup must not be taken for elements

	mediaGroup
	mediaContent
	mediaThumbnail
	mediaTitle
	mediaDescription
	itunesImage
	itunesSummary
	itunesSubtitle
	itunesTitle
	dcTitle
	dcDescription
	origLink

	ttl
	skipHours
	skipDays
	hour
	day
	updatePeriod
	updateFrequency

	elements
)

// elementOf names the element by vocabulary and local name, in any case.
func elementOf(v vocabulary, local []byte) element {
	var low [maxName]byte
	if len(local) > len(low) {
		return unknown
	}
	name := lower(low[:0], local)
	switch v {
	case core:
		return coreElement(name)
	case rdf:
		if string(name) == "rdf" {
			return rootRDF
		}
	case dublinCore:
		return dublinCoreElement(name)
	case dcTerms:
		return termsElement(name)
	case contentModule:
		if string(name) == "encoded" {
			return encoded
		}
	case mediaRSS:
		return mediaElement(name)
	case itunes:
		return itunesElement(name)
	case syndication:
		return syndicationElement(name)
	case feedburner:
		return feedburnerElement(name)
	case xhtml:
		if string(name) == "body" {
			return body
		}
	}
	return unknown
}

func coreElement(name []byte) element {
	switch string(name) {
	case "rss":
		return rootRSS
	case "rdf":
		return rootRDF
	case "feed":
		return rootFeed
	case "channel":
		return channel
	case "item", "entry":
		return entry
	case "title":
		return title
	case "link":
		return link
	case "guid", "id":
		return guid
	case "author", "managingeditor":
		return author
	case "name":
		return personName
	case "email":
		return personEmail
	case "uri", "url", "homepage":
		return personURI
	case "contributor":
		return contributor
	case "published", "issued", "pubdate":
		return published
	case "updated", "modified", "lastbuilddate":
		return updated
	case "created":
		return created
	case "summary":
		return summary
	case "description":
		return description
	case "abstract":
		return description
	case "content":
		return content
	case "fullitem", "encoded":
		return encoded
	case "body":
		return body
	case "enclosure":
		return enclosure
	case "source":
		return source
	case "image":
		return image
	case "textinput":
		return textInput
	case "subtitle", "tagline", "rights", "copyright", "info":
		return opaque
	case "ttl":
		return ttl
	case "skiphours":
		return skipHours
	case "skipdays":
		return skipDays
	case "hour":
		return hour
	case "day":
		return day
	}
	return unknown
}

func dublinCoreElement(name []byte) element {
	switch string(name) {
	case "creator", "author":
		return author
	case "contributor":
		return contributor
	case "date":
		return dcDate
	case "title":
		return dcTitle
	case "description":
		return dcDescription
	case "rights":
		return opaque
	}
	return unknown
}

func termsElement(name []byte) element {
	switch string(name) {
	case "issued":
		return published
	case "modified":
		return updated
	case "created":
		return created
	}
	return unknown
}

func mediaElement(name []byte) element {
	switch string(name) {
	case "group":
		return mediaGroup
	case "content":
		return mediaContent
	case "thumbnail":
		return mediaThumbnail
	case "title":
		return mediaTitle
	case "description":
		return mediaDescription
	}
	return unknown
}

func itunesElement(name []byte) element {
	switch string(name) {
	case "author":
		return author
	case "owner":
		return owner
	case "name":
		return personName
	case "email":
		return personEmail
	case "image":
		return itunesImage
	case "summary":
		return itunesSummary
	case "subtitle":
		return itunesSubtitle
	case "title":
		return itunesTitle
	}
	return unknown
}

func syndicationElement(name []byte) element {
	switch string(name) {
	case "updateperiod":
		return updatePeriod
	case "updatefrequency":
		return updateFrequency
	}
	return unknown
}

func feedburnerElement(name []byte) element {
	switch string(name) {
	case "origlink":
		return origLink
	case "browserfriendly":
		return opaque
	}
	return unknown
}

// lower appends b to dst with ASCII letters in lower case.
func lower(dst, b []byte) []byte {
	for _, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// splitName cuts a qualified name at its colon.
func splitName(name []byte) (prefix, local []byte) {
	if i := bytes.IndexByte(name, ':'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return nil, name
}
