package feed

import (
	"bytes"
	"strconv"
	"strings"

	"freshet/internal/plain"
)

// where is the part of a feed that the reader is in.
type where uint8

const (
	inDocument where = iota
	inFeed
	inEntry
	inPerson // the author of a feed or an entry
	inAside  // image, text input, source, owner, contributor: nothing of it is the feed's or the entry's
	inSkipHours
	inSkipDays
)

// maxDepth is how many open elements are remembered. When there are more, those without a meaning are forgotten.
const maxDepth = 128

// maxBase is how long a base address may get by xml:base inside xml:base.
const maxBase = 1024

// frame is an open element.
type frame struct {
	name     []byte
	el       element
	in       where  // around it
	base     string // around it
	bindings int    // how many there were around it
	unclosed bool   // it has no end tag: see endsUnclosed
}

// binding is a namespace declaration that is in scope.
type binding struct {
	prefix     []byte
	vocabulary vocabulary
}

// reader reads an XML feed: tokens in, entries out. What an element means depends on its name
// (names.go) and on where it stands.
type reader struct {
	scanner
	o       Options
	out     *Document
	convert converter

	frames   []frame
	bindings []binding
	base     string
	in       where

	attrs      []attr
	isFeed     bool   // an element was seen that only feeds have
	atom       bool   // types of text are declared, not to be guessed
	root       []byte // name of the first element
	entryName  []byte
	entryStart int
	unclosed   [elements]int // no element of the kind that begins before this offset has an end tag
	frequency  int
	full       bool // a bound was reached: nothing more is read

	feed, item fields
	person     person
	scratch    []byte // values that had to be put together
	feedEnd    int    // where the feed's own values end in scratch, and those of the entry at hand begin
	buf        []byte // strings of the entry at hand
	spans      []span
}

// parseXML reads an XML feed, which is in UTF-8.
func parseXML(doc []byte, o Options) (*Document, error) {
	r := reader{scanner: scanner{doc: doc}, o: o, out: &Document{}, base: o.URL}
	r.frames, r.bindings, r.attrs = make([]frame, 0, 16), make([]binding, 0, 16), make([]attr, 0, 16)
	r.convert = converter{limit: o.MaxText, keepMarkup: o.KeepMarkup, entities: declaredEntities(doc)}
	r.read()
	if !r.isFeed {
		return nil, r.notFeed()
	}
	return r.out, nil
}

// read goes through the tokens. It stops early when a bound is reached.
func (r *reader) read() {
	for !r.full {
		for r.pos < len(r.doc) && isSpace(r.doc[r.pos]) {
			r.pos++
		}
		switch r.next() {
		case startTag:
			r.start(r.tok)
		case endTag:
			r.end(r.tok.name)
		case text, cdata:
			r.characters(&r.tok)
		case endOfDocument:
			r.finish()
			return
		}
	}
	r.finish()
}

// finish closes what is open and says what was missing.
func (r *reader) finish() {
	cut := !r.full && (r.cut || r.feedIsOpen())
	r.unwind(0)
	r.finishFeed()
	if cut {
		r.out.note("the document ends before its end")
	}
	if r.convert.cut {
		r.out.note("a text longer than " + strconv.Itoa(r.o.MaxText) + " bytes was cut")
	}
}

// feedIsOpen reports whether the root of the feed, or an entry, was not closed.
func (r *reader) feedIsOpen() bool {
	for i := range r.frames {
		if el := r.frames[i].el; el != unknown && el <= entry {
			return true
		}
	}
	return false
}

// element names the element with this qualified name.
func (r *reader) element(name []byte) element {
	prefix, local := splitName(name)
	return elementOf(r.vocabulary(prefix), local)
}

// vocabulary is what the prefix is bound to, or what it usually is.
func (r *reader) vocabulary(prefix []byte) vocabulary {
	for i := len(r.bindings) - 1; i >= 0; i-- {
		if b := &r.bindings[i]; equalFold(b.prefix, prefix) {
			return b.vocabulary
		}
	}
	return vocabularyOfPrefix(prefix)
}

// start handles a start tag.
func (r *reader) start(t token) {
	bindings, base := len(r.bindings), r.base
	if r.attrs = r.attrs[:0]; len(t.attrs) > 0 {
		r.attrs = attributes(r.attrs, t.attrs)
		r.declare()
	}
	if r.root == nil {
		r.root = t.name
	}
	el := r.element(t.name)
	if i := r.ended(el); i >= 0 {
		r.unwind(i)
		bindings, base = len(r.bindings), r.base
		r.declare()
	}
	in := r.in
	switch {
	case !r.opens(el):
		r.leaf(el, t)
	case t.empty || in == inPerson && isVoid(t.name):
		r.enter(el, t)
		r.leave(el)
	default:
		r.push(frame{name: t.name, el: el, in: in, base: base, bindings: bindings, unclosed: r.isUnclosed(el, t.name)})
		r.enter(el, t)
		return
	}
	r.in, r.bindings, r.base = in, r.bindings[:bindings], base
}

// opens reports whether the element holds others that matter. The rest is read in one step.
func (r *reader) opens(el element) bool {
	switch el {
	case unknown, rootRSS, rootRDF, rootFeed, channel, entry, author, contributor, owner, source, image, textInput,
		mediaGroup, mediaContent, mediaThumbnail, skipHours, skipDays:
		return true
	case body:
		return r.in != inEntry
	}
	return false
}

// declare takes xml:base and namespace declarations from the attributes.
func (r *reader) declare() {
	for _, a := range r.attrs {
		switch {
		case len(a.name) >= 5 && equalFold(a.name[:5], []byte("xmlns")):
			r.bind(a)
		case equalFold(a.name, []byte("xml:base")) || equalFold(a.name, []byte("base")):
			if b := r.resolved(a.value); len(b) > 0 && len(b) <= maxBase {
				r.base = string(b)
			}
		}
	}
}

// bind takes "xmlns" or "xmlns:prefix".
func (r *reader) bind(a attr) {
	var prefix []byte
	if len(a.name) > 6 && a.name[5] == ':' {
		prefix = a.name[6:]
	} else if len(a.name) > 5 {
		return
	}
	if len(r.bindings) >= 4*maxDepth {
		return
	}
	v, known := vocabularyOf(a.value)
	if !known {
		v = vocabularyOfPrefix(prefix)
	}
	r.bindings = append(r.bindings, binding{prefix: prefix, vocabulary: v})
}

// push remembers an open element.
func (r *reader) push(f frame) {
	if len(r.frames) >= maxDepth {
		r.forget(func(el element) bool { return el == unknown })
	}
	if len(r.frames) >= maxDepth {
		r.forget(func(el element) bool { return el != entry })
	}
	r.frames = append(r.frames, f)
}

// forget drops open elements. Their end tags will close nothing.
func (r *reader) forget(drop func(element) bool) {
	kept := r.frames[:0]
	for _, f := range r.frames {
		if !drop(f.el) {
			kept = append(kept, f)
		}
	}
	r.frames = kept
}

// innermost is the open element that the reader is right in; unknown when it is forgotten.
func (r *reader) innermost() element {
	if len(r.frames) == 0 {
		return unknown
	}
	return r.frames[len(r.frames)-1].el
}

// end handles an end tag: it closes the innermost open element of its name, and all that are open inside.
func (r *reader) end(name []byte) {
	for i := len(r.frames) - 1; i >= 0; i-- {
		if equalFold(r.frames[i].name, name) {
			r.unwind(i)
			return
		}
	}
}

// unwind closes elements until n are open.
func (r *reader) unwind(n int) {
	for len(r.frames) > n {
		f := r.frames[len(r.frames)-1]
		r.frames = r.frames[:len(r.frames)-1]
		r.leave(f.el)
		r.in, r.base = f.in, f.base
		r.bindings = r.bindings[:f.bindings]
	}
}

// ended is the place of the open element, among those that have no end tag, that ends where el begins; -1 when none does.
// Entries do not nest, so that an open one ends at the next.
func (r *reader) ended(el element) int {
	if el != entry && r.in != inPerson && r.in != inAside {
		return -1
	}
	for i := range r.frames {
		if f := &r.frames[i]; f.el == entry && el == entry || f.unclosed && endsUnclosed(f.el, el) {
			return i
		}
	}
	return -1
}

// isUnclosed reports whether the element at hand, a person or something aside, has no end tag before its entry ends. What
// is inside such an element is not looked at again, so that time stays linear.
func (r *reader) isUnclosed(el element, name []byte) bool {
	if r.in == inPerson || r.in == inAside {
		return false
	}
	switch el {
	case author, contributor, owner, source, image, textInput:
		_, closed := r.contentEnd(name, el)
		return !closed
	}
	return false
}

// endsUnclosed reports whether an element without end tag ends where the next begins, since it cannot hold that.
func endsUnclosed(open, next element) bool {
	switch next {
	case unknown:
		return false
	case personName, personEmail, personURI:
		return open == source
	case title, link, description:
		return open != image && open != textInput
	}
	return true
}

// enter handles the start of an element that holds others.
func (r *reader) enter(el element, t token) {
	switch el {
	case rootRSS, rootRDF, rootFeed, channel:
		r.enterFeed(el)
	case entry:
		r.isFeed = r.isFeed || !isPageRoot(r.root)
		r.in = inEntry
		r.entryName, r.entryStart = t.name, t.start
		r.item.reset()
		r.feedEnd = len(r.scratch)
		r.item.link = ref{value: value{b: r.attribute("href"), escaped: true}, base: r.base}
		r.item.guid = value{b: r.about(), escaped: true}
		r.date(updated, value{b: r.attribute("lastmod"), escaped: true})
	case author:
		if r.in == inFeed || r.in == inEntry {
			r.person = person{of: r.in}
			r.in = inPerson
		} else if r.in != inPerson {
			r.in = inAside
		}
	case mediaContent, mediaThumbnail:
		r.media(el)
	case contributor, owner, source, image, textInput:
		r.in = inAside
	case skipHours:
		r.in = inSkipHours
	case skipDays:
		r.in = inSkipDays
	}
}

// enterFeed notes what kind of feed the root is.
func (r *reader) enterFeed(el element) {
	if r.in == inEntry || r.in == inPerson || r.in == inAside {
		return
	}
	r.isFeed = r.isFeed || el != rootRDF
	if el != rootRDF && el != rootRSS {
		r.in = inFeed
	}
	if href := r.attribute("href"); len(href) > 0 {
		r.feed.link = ref{value: value{b: href, escaped: true}, base: r.base}
	}
	if r.out.Format == "" || el == rootRSS {
		r.out.Format, r.atom = r.format(el)
	}
}

// leave handles the end of an element that holds others.
func (r *reader) leave(el element) {
	switch el {
	case entry:
		r.finishEntry()
	case author:
		r.finishPerson()
	}
}

// characters handles text outside of the elements that are read in one step: only persons have some.
func (r *reader) characters(t *token) {
	if r.in != inPerson {
		return
	}
	p, v := &r.person, value{b: t.body, escaped: t.kind == text}
	switch {
	case p.text.blank():
		p.text = v
	case v.blank() || r.innermost() != author:
	case p.end == 0:
		start := len(r.scratch)
		r.scratch = append(r.scratch, r.convert.decoded(p.text)...)
		p.appendText(r, start, v)
	case p.end == len(r.scratch):
		p.appendText(r, p.end-len(p.text.b), v)
	}
}

// appendText adds a part to a person's text, which begins at start in scratch and goes to its end.
func (p *person) appendText(r *reader, start int, part value) {
	r.scratch = append(r.scratch, r.convert.decoded(part)...)
	p.end = len(r.scratch)
	p.text = value{b: r.scratch[start:p.end:p.end]}
}

// attribute is the value of the attribute with this name in lower case, nil when it is not there.
func (r *reader) attribute(name string) []byte {
	for i := range r.attrs {
		if a := &r.attrs[i]; len(a.name) == len(name) && (string(a.name) == name || strings.EqualFold(string(a.name), name)) {
			return a.value
		}
	}
	return nil
}

// about is rdf:about.
func (r *reader) about() []byte {
	for i := range r.attrs {
		if prefix, local := splitName(r.attrs[i].name); len(prefix) > 0 && equalFold(local, []byte("about")) {
			return r.attrs[i].value
		}
	}
	return nil
}

// href is the address that an element carries, under the names that feeds use for it.
func (r *reader) href() []byte {
	for _, name := range [...]string{"url", "uri", "href"} {
		if v := r.attribute(name); len(v) > 0 {
			return v
		}
	}
	return nil
}

// resolved is the absolute form of an address in an attribute.
func (r *reader) resolved(v []byte) []byte {
	if bytes.IndexByte(v, '&') >= 0 {
		v = plain.Unescape(nil, v)
	}
	return resolve(nil, r.base, v)
}
