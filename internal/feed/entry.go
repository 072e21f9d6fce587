package feed

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"freshet/internal/date"
)

// ref is an address that is not yet resolved.
type ref struct {
	value
	base string
	text bool // it is the content of an element, where many write "&amp;" escaped twice
}

func (r *ref) keep(other ref) {
	if len(r.b) == 0 {
		*r = other
	}
}

func (v *value) keep(other value) {
	if v.blank() {
		*v = other
	}
}

// file is an enclosure whose strings are not yet kept.
type file struct {
	url    ref
	typ    value
	length int64
}

// person is the author at hand.
type person struct {
	of                where // what it is the author of
	text, name, email value
	end               int // of the text in scratch, when it was put together there
}

// fields are what an entry or a feed was found to have, as parts of the document.
type fields struct {
	title, otherTitle     value
	titleDepth            int
	link, otherLink       ref
	origLink, image       ref
	guid                  value
	isGUID, notPermalink  bool
	author                value // a name or an address, in "mail (name)" or another form
	authorName            value
	summary, otherSummary value
	mediaText, subtitle   value
	content, otherContent value
	hasContent            bool

	published, updated, date, created time.Time

	enclosures, media []file
}

func (f *fields) reset() {
	*f = fields{enclosures: f.enclosures[:0], media: f.media[:0]}
}

// date keeps a time by the element it stands in.
func (r *reader) date(el element, v value) {
	if len(v.b) == 0 {
		return
	}
	t, ok := date.Parse(view(bytes.TrimSpace(r.convert.characters(v))))
	if !ok {
		return
	}
	switch el {
	case published:
		r.item.published = t
	case updated:
		r.item.updated = t
	case created:
		r.item.created = t
	default:
		r.item.date = t
	}
}

// view is b as a string. Its bytes must not change as long as the string is used.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// enclosure keeps the file that an element's attributes name.
func (r *reader) enclosure(url ref) {
	if r.in == inEntry && len(r.item.enclosures) < maxFiles {
		r.item.enclosures = append(r.item.enclosures, r.file(url))
	}
}

// maxFiles is how many enclosures, and how many media, of one entry are kept.
const maxFiles = 256

// media keeps the file of media:content or media:thumbnail.
func (r *reader) media(el element) {
	if r.in != inEntry || len(r.item.media) >= maxFiles {
		return
	}
	f := r.file(ref{value: value{b: r.href(), escaped: true}, base: r.base})
	if len(f.url.b) == 0 {
		return
	}
	if el == mediaThumbnail || bytes.HasPrefix(f.typ.b, []byte("image/")) || equalFold(r.attribute("medium"), []byte("image")) {
		r.item.image.keep(f.url)
	}
	r.item.media = append(r.item.media, f)
}

// file is the file at an address, as the attributes at hand describe it.
func (r *reader) file(url ref) file {
	length := r.attribute("length")
	if length == nil {
		length = r.attribute("filesize")
	}
	f := file{url: url, typ: value{b: r.attribute("type"), escaped: true}}
	if length = bytes.TrimSpace(length); len(length) > 0 {
		if n, err := strconv.ParseInt(string(length), 10, 64); err == nil && n > 0 {
			f.length = n
		}
	}
	return f
}

// finishPerson keeps the author whose element ended, if it is the first with a name or an address.
func (r *reader) finishPerson() {
	p := &r.person
	if r.in != inPerson || p.of != inEntry {
		return
	}
	if r.item.author.blank() && r.item.authorName.blank() {
		switch {
		case !p.name.blank():
			r.item.authorName = p.name
		case !p.email.blank():
			r.item.author = p.email
		default:
			r.item.author = p.text
		}
	}
}

// span is a string in the making: a part of the buffer.
type span struct{ from, to int }

func (s span) of(all string) string { return all[s.from:s.to] }

// maxChunk is how many bytes the strings of several entries share.
const maxChunk = 32 << 10

// shortStrings is how many bytes the strings of an entry have, but for its bodies.
const shortStrings = 512

// startStrings makes room for some n bytes of strings, behind those that are kept already.
func (r *reader) startStrings(n int) {
	r.buf = r.buf[len(r.buf):]
	if cap(r.buf) < n {
		r.buf = make([]byte, 0, max(n, min(maxChunk, len(r.doc)-r.entryStart)))
	}
}

// finishEntry turns the fields into an entry.
func (r *reader) finishEntry() {
	if r.full {
		return
	}
	if len(r.out.Entries) >= r.o.MaxEntries {
		r.full = true
		r.out.note("only the first " + strconv.Itoa(r.o.MaxEntries) + " entries were read")
		return
	}
	f := &r.item
	r.startStrings(shortStrings + len(f.summary.b) + len(f.content.b))
	e := Entry{Published: f.published, Updated: f.updated}
	e.Permalink = f.isGUID && !f.notPermalink && isWeb(bytes.TrimSpace(f.guid.b))
	guid := r.literal(f.guid)
	url := r.entryURL(guid)
	title := r.text(f.title, f.otherTitle)
	author := r.author()
	image := r.address(f.image)
	summary := r.body(f.summary)
	content := r.body(f.content)
	if summary.from == summary.to && content.from == content.to {
		summary = r.otherSummary()
	}
	files := r.files()

	all := view(r.buf) // nothing is written there again
	e.GUID, e.URL, e.Title, e.Author, e.Image = guid.of(all), url.of(all), title.of(all), author.of(all), image.of(all)
	e.Summary, e.Content = summary.of(all), content.of(all)
	e.Enclosures, e.Media = enclosures(all, f.enclosures, files), enclosures(all, f.media, files[2*len(f.enclosures):])
	e.setTimes(f)
	r.keep(e)
	r.spend(len(all))
	r.scratch = r.scratch[:r.feedEnd]
}

// keep adds an entry. The first one tells about how many there will be.
func (r *reader) keep(e Entry) {
	if r.out.Entries == nil && r.pos > r.entryStart {
		guess := 1 + (len(r.doc)-r.entryStart)/(r.pos-r.entryStart)
		r.out.Entries = make([]Entry, 0, min(guess, r.o.MaxEntries, 64))
	}
	r.out.Entries = append(r.out.Entries, e)
}

// setTimes fills in what the entry does not say from what it does.
func (e *Entry) setTimes(f *fields) {
	for _, t := range [...]time.Time{f.updated, f.date, f.created} {
		if e.Published.IsZero() {
			e.Published = t
		}
	}
	if e.Updated.IsZero() {
		e.Updated = f.date
	}
}

// spend counts what was kept, and ends the reading when it is too much.
func (r *reader) spend(n int) {
	if r.o.MaxOutput -= n; r.o.MaxOutput < 0 {
		r.full = true
		r.out.note("the document holds more text than is kept")
	}
}

// entryURL is the address of the article.
func (r *reader) entryURL(guid span) span {
	f := &r.item
	links := [...]ref{f.origLink, f.link, {value: f.guid}, f.otherLink}
	if !isWeb(bytes.TrimSpace(f.origLink.b)) {
		links[0], links[3] = ref{}, f.origLink
		links[3].keep(f.otherLink)
	}
	if f.notPermalink || !isWeb(r.buf[guid.from:guid.to]) {
		links[2] = ref{}
	}
	for _, to := range links {
		if s := r.address(to); s.from < s.to {
			return s
		}
	}
	return span{}
}

func (r *reader) since(start int) span { return span{start, len(r.buf)} }

func (r *reader) literal(v value) span {
	start := len(r.buf)
	r.buf = r.convert.literal(r.buf, v)
	return r.since(start)
}

func (r *reader) body(v value) span {
	start := len(r.buf)
	r.buf = r.convert.body(r.buf, v)
	return r.since(start)
}

// text is the first of the values that is not empty.
func (r *reader) text(values ...value) span {
	start := len(r.buf)
	for _, v := range values {
		if r.buf = r.convert.text(r.buf, v); len(r.buf) > start {
			break
		}
	}
	return r.since(start)
}

// address is the absolute form of an address.
func (r *reader) address(to ref) span {
	start := len(r.buf)
	if len(to.b) > 0 {
		b := r.convert.characters(to.value)
		if !isClean(b) {
			b = appendClean(nil, b)
		}
		if to.text && bytes.IndexByte(b, '&') >= 0 {
			b = bytes.ReplaceAll(b, []byte("&amp;"), []byte("&"))
		}
		r.buf = resolve(r.buf, to.base, b)
		r.buf = r.convert.bounded(r.buf, start)
	}
	return r.since(start)
}

// otherSummary is the text that modules have for an entry, first that which was meant to be its text.
func (r *reader) otherSummary() span {
	f := &r.item
	for _, v := range [...]value{f.otherSummary, f.mediaText, f.subtitle} {
		if !v.blank() {
			return r.body(v)
		}
	}
	return span{}
}

// author is the name of the author.
func (r *reader) author() span {
	if f := &r.item; f.authorName.blank() {
		start := len(r.buf)
		r.buf = r.convert.text(r.buf, guessed(f.author))
		name := authorName(r.buf[start:])
		n := copy(r.buf[start:], name)
		r.buf = r.buf[:start+n]
		return r.since(start)
	}
	return r.text(guessed(r.item.authorName))
}

// guessed is a value of no declared form: markup in the document itself stays what it is.
func guessed(v value) value {
	if v.form != formXHTML {
		v.form = formOpen
	}
	return v
}

// authorName takes the name out of "mail (name)", "name <mail>" and "name (mail)"; without a name it is the address.
func authorName(s []byte) []byte {
	at := bytes.IndexByte(s, '@')
	if at < 0 {
		return s
	}
	from, to := at, at+1
	for from > 0 && isMailByte(s[from-1]) {
		from--
	}
	for to < len(s) && isMailByte(s[to]) {
		to++
	}
	if from == at || !bytes.Contains(s[at:to], []byte(".")) {
		return s
	}
	name := append(append(make([]byte, 0, len(s)), s[:from]...), s[to:]...)
	for _, empty := range [...]string{"()", "<>", "[]"} {
		name = bytes.ReplaceAll(name, []byte(empty), nil)
	}
	name = bytes.TrimSpace(name)
	name = bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimPrefix(name, []byte("(")), []byte(")")))
	if len(name) == 0 {
		return s[from:to]
	}
	return name
}

func isMailByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c == '+'
}

// files appends the strings of all files; there are two spans for each, address and type.
func (r *reader) files() []span {
	f := &r.item
	spans := r.spans[:0]
	for _, list := range [...][]file{f.enclosures, f.media} {
		for i := range list {
			spans = append(spans, r.address(list[i].url), r.literal(list[i].typ))
		}
	}
	r.spans = spans
	return spans
}

func enclosures(all string, files []file, spans []span) []Enclosure {
	if len(files) == 0 {
		return nil
	}
	out := make([]Enclosure, 0, len(files))
	for i := range files {
		if url := spans[2*i].of(all); url != "" {
			out = append(out, Enclosure{URL: url, Type: spans[2*i+1].of(all), Length: files[i].length})
		}
	}
	return out
}

// finishFeed fills in what the feed says of itself.
func (r *reader) finishFeed() {
	f := &r.feed
	r.startStrings(shortStrings)
	title := r.text(f.title, f.otherTitle)
	site := r.address(f.link)
	if site.from == site.to {
		site = r.address(f.otherLink)
	}
	if site.from == site.to && isWeb(bytes.TrimSpace(f.guid.b)) {
		site = r.literal(f.guid)
	}
	all := view(r.buf) // nothing is written there again
	r.out.Title, r.out.SiteURL = title.of(all), site.of(all)
	if r.frequency > 1 {
		r.out.UpdatePeriod /= time.Duration(r.frequency)
	}
}

// setTTL takes RSS's ttl, in minutes.
func (r *reader) setTTL(v value) {
	if n := r.number(v); n > 0 && n <= maxMinutes {
		r.out.TTL = time.Duration(n) * time.Minute
	}
}

// maxMinutes is ten years: what is longer is no hint.
const maxMinutes = 10 * 366 * 24 * 60

// setPeriod takes sy:updatePeriod.
func (r *reader) setPeriod(v value) {
	const day = 24 * time.Hour
	switch strings.ToLower(string(bytes.TrimSpace(v.b))) {
	case "hourly":
		r.out.UpdatePeriod = time.Hour
	case "daily":
		r.out.UpdatePeriod = day
	case "weekly":
		r.out.UpdatePeriod = 7 * day
	case "monthly":
		r.out.UpdatePeriod = 30 * day
	case "yearly":
		r.out.UpdatePeriod = 365 * day
	}
}

// setFrequency takes sy:updateFrequency: so many times in the period.
func (r *reader) setFrequency(v value) {
	if n := r.number(v); n > 0 {
		r.frequency = n
	}
}

// skipHour takes an hour of skipHours; 24 is the same as 0.
func (r *reader) skipHour(v value) {
	if n := r.number(v); n >= 0 && n <= 24 {
		r.out.SkipHours |= 1 << (n % 24)
	}
}

// skipDay takes a day of skipDays, by its English name.
func (r *reader) skipDay(v value) {
	name := string(bytes.TrimSpace(v.b))
	for d := time.Sunday; d <= time.Saturday; d++ {
		if strings.EqualFold(name, d.String()) {
			r.out.SkipDays |= 1 << d
		}
	}
}

// number is the whole number that a value holds, -1 when it holds none.
func (r *reader) number(v value) int {
	n, err := strconv.Atoi(string(bytes.TrimSpace(v.b)))
	if err != nil || n < 0 {
		return -1
	}
	return n
}
