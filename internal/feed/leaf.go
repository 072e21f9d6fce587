package feed

import (
	"bytes"
	"strings"
)

// leaf handles an element that is read in one step, up to its end tag.
func (r *reader) leaf(el element, t token) {
	switch r.in {
	case inEntry:
		r.entryLeaf(el, t)
	case inFeed, inDocument:
		r.feedLeaf(el, t)
	case inPerson:
		r.personLeaf(el, t)
	case inSkipHours:
		r.skipHour(r.capture(t, el, formText))
	case inSkipDays:
		r.skipDay(r.capture(t, el, formText))
	default:
		r.capture(t, el, formText)
	}
}

// feedLeaf handles a child of the feed.
func (r *reader) feedLeaf(el element, t token) {
	switch el {
	case title:
		r.setTitle(&r.feed, r.construct(t, el, formOpen))
	case dcTitle, itunesTitle, mediaTitle:
		r.feed.otherTitle.keep(r.capture(t, el, formOpen))
	case link:
		r.link(&r.feed, t)
	case guid:
		r.feed.guid = r.capture(t, el, formText)
	case ttl:
		r.setTTL(r.capture(t, el, formText))
	case updatePeriod:
		r.setPeriod(r.capture(t, el, formText))
	case updateFrequency:
		r.setFrequency(r.capture(t, el, formText))
	default:
		r.capture(t, el, formText)
	}
}

// entryLeaf handles a child of an entry.
func (r *reader) entryLeaf(el element, t token) {
	switch el {
	case title:
		r.setTitle(&r.item, r.construct(t, el, formOpen))
	case dcTitle, itunesTitle, mediaTitle:
		r.item.otherTitle.keep(r.capture(t, el, formOpen))
	case link:
		r.link(&r.item, t)
	case origLink:
		r.item.origLink = ref{value: r.capture(t, el, formText), base: r.base}
	case guid:
		r.guid(t)
	case published, updated, created, dcDate:
		r.date(el, r.capture(t, el, formText))
	case description, summary:
		r.setSummary(el, t)
	case content, encoded, body:
		r.setContent(el, t)
	case mediaDescription:
		if v := r.capture(t, el, formOpen); !v.blank() {
			r.item.mediaText = v
		}
	case dcDescription, itunesSummary:
		r.item.otherSummary.keep(r.capture(t, el, formOpen))
	case itunesSubtitle:
		r.item.subtitle.keep(r.capture(t, el, formOpen))
	case enclosure:
		r.enclosure(ref{value: value{b: r.href(), escaped: true}, base: r.base})
		r.capture(t, el, formText)
	case itunesImage:
		r.item.image.keep(ref{value: value{b: r.href(), escaped: true}, base: r.base})
		r.capture(t, el, formText)
	default:
		r.capture(t, el, formText)
	}
}

// personLeaf handles a child of an author.
func (r *reader) personLeaf(el element, t token) {
	v := r.capture(t, el, formText)
	switch el {
	case personName:
		r.person.name.keep(v)
	case personEmail:
		r.person.email.keep(v)
	}
}

// declared is the form that the type attribute of a text construct gives, and otherwise the form given.
func (r *reader) declared(otherwise form) form {
	if otherwise == formOpen && r.atom {
		otherwise = formText
	}
	t := r.attribute("type")
	if len(t) == 0 && (t == nil || !r.atom) {
		return otherwise
	}
	var low [maxName]byte
	if len(t) > len(low) {
		return otherwise
	}
	switch string(lower(low[:0], t)) {
	case "html", "text/html":
		return formHTML
	case "xhtml", "application/xhtml+xml":
		return formXHTML
	case "text", "plain", "text/plain":
		if r.atom {
			return formText
		}
		return formOpen
	}
	return formOpen
}

// construct takes the content of an element that may declare what kind of text it holds. A document of
// another kind inside it, such as a drawing, is no text.
func (r *reader) construct(t token, el element, otherwise form) value {
	f, encoded := r.declared(otherwise), r.isBase64()
	typ := r.attribute("type")
	v := r.capture(t, el, f)
	v.base64 = encoded
	if v.form == formXHTML && f == formOpen && isXML(typ) {
		return value{}
	}
	return v
}

// isXML reports whether a media type is that of an XML document.
func isXML(typ []byte) bool {
	low := lower(make([]byte, 0, maxName), typ[:min(len(typ), maxName)])
	return bytes.HasSuffix(low, []byte("+xml")) || bytes.HasSuffix(low, []byte("/xml"))
}

// isBase64 reports whether a text construct says that its content is encoded: Atom 0.3's mode, or a
// type in Atom 1.0 that is neither text nor XML.
func (r *reader) isBase64() bool {
	if equalFold(r.attribute("mode"), []byte("base64")) {
		return true
	}
	t := strings.ToLower(string(r.attribute("type")))
	switch t {
	case "", "text", "html", "xhtml", "plain":
		return false
	}
	return !strings.HasPrefix(t, "text/") && !strings.HasSuffix(t, "+xml") && !strings.HasSuffix(t, "/xml")
}

// link handles a link: an address in an attribute with its relation, or in the content.
func (r *reader) link(f *fields, t token) {
	rel, typ := r.attribute("rel"), r.attribute("type")
	to := ref{value: value{b: r.href(), escaped: true}, base: r.base}
	inside := r.capture(t, link, formText)
	if f == &r.feed && len(r.out.Entries) > 0 && !f.link.blank() {
		return // it is that of an entry that ended early
	}
	if len(to.b) == 0 {
		to.text = true
		if to.value = inside; inside.blank() {
			return
		}
		if f.link.blank() {
			f.link = to
		}
	}
	switch {
	case len(rel) == 0 || isRelation(rel, "alternate"):
		if r.isPage(typ) {
			f.link = to
		} else {
			f.otherLink.keep(to)
		}
	case isRelation(rel, "enclosure"):
		r.enclosure(to)
	}
}

// isRelation compares a link relation, which may be written as IANA's address for it.
func isRelation(rel []byte, name string) bool {
	return strings.EqualFold(string(rel), name) ||
		len(rel) > len(name) && strings.EqualFold(string(rel), "http://www.iana.org/assignments/relation/"+name)
}

// isPage reports whether a link's type is that of a page for people.
func (r *reader) isPage(t []byte) bool {
	return len(t) == 0 || equalFold(t, []byte("text/html")) || equalFold(t, []byte("html")) ||
		equalFold(t, []byte("application/xhtml+xml")) || equalFold(t, []byte("xhtml"))
}

// guid handles an identity. One that is an address is the link of an entry without any.
func (r *reader) guid(t token) {
	permalink := r.attribute("ispermalink")
	v := r.capture(t, guid, formText)
	if v.blank() {
		return
	}
	if r.item.isGUID && !r.item.notPermalink && isWeb(bytes.TrimSpace(r.item.guid.b)) {
		r.item.otherLink.keep(ref{value: r.item.guid})
	}
	r.item.notPermalink = len(permalink) > 0 && !equalFold(permalink, []byte("true"))
	r.item.guid, r.item.isGUID = v, true
}

// setTitle keeps the first title, unless one comes that is less deep inside the entry.
func (r *reader) setTitle(f *fields, v value) {
	if depth := len(r.frames); !v.blank() && (f.title.blank() || depth < f.titleDepth) {
		f.title, f.titleDepth = v, depth
	}
}

// setSummary handles a description or summary. A second one is the body, where no other is.
func (r *reader) setSummary(el element, t token) {
	if !r.item.summary.blank() && !r.item.hasContent {
		r.setContent(el, t)
		return
	}
	otherwise := formOpen
	if el == description {
		otherwise = formHTML
	}
	r.item.summary = r.construct(t, el, otherwise)
}

// setContent handles a body. Of several the longest counts.
func (r *reader) setContent(el element, t token) {
	var v value
	switch el {
	case encoded:
		v = r.construct(t, el, formHTML)
	case body:
		v = r.capture(t, el, formXHTML)
	default:
		v = r.construct(t, el, formOpen)
	}
	r.item.hasContent = true
	if len(v.b) > len(r.item.content.b) {
		r.item.content = v
	}
}
