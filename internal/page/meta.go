package page

import (
	"net"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/publicsuffix"

	"freshet/internal/date"
)

// meta is what a page says about itself.
type meta struct {
	own       *url.URL // where the page came from
	base      *url.URL // what links resolve against
	title     string   // of <title>
	h1        string
	headings  map[string]bool   // the first h1 and h2 elements, folded
	named     map[string]string // the first of each meta element that is not blank, by name or property
	canonical string
	lang      string
	ld        linked
	time      time.Time // of a time element
	marked    bool      // that element says that it is the time of publication
}

// article is what is said, without the text.
func (m *meta) article() *Article {
	a := &Article{
		PageTitle: m.title, Author: m.first("name:author", "property:article:author"), SiteName: m.siteName(),
		URL: m.address(), Language: m.language(), Published: m.published(), Modified: m.modified(),
	}
	a.Title = m.headline(a.SiteName)
	for _, image := range []string{m.first("og:image", "og:image:url", "twitter:image"), m.ld.image} {
		if a.Image = m.link(image); a.Image != "" {
			break
		}
	}
	return a
}

// first is the first of the named meta elements.
func (m *meta) first(names ...string) string {
	for _, name := range names {
		if v := m.named[name]; v != "" {
			return v
		}
	}
	return ""
}

func (m *meta) siteName() string {
	if s := m.first("og:site_name", "application-name"); s != "" {
		return s
	}
	return m.ld.site
}

// published takes the linked data's word first, then that of meta elements, then a time element's.
func (m *meta) published() time.Time {
	for _, s := range []string{m.ld.published, m.first("article:published_time", "og:article:published_time", "og:published_time",
		"datepublished", "date", "dc.date", "dc.date.issued", "dcterms.issued", "dcterms.date", "dcterms.created", "citation_publication_date",
		"citation_date", "parsely-pub-date", "sailthru.date", "publishdate", "publish_date", "pubdate", "article:published"), m.ld.pagePublished} {
		if t, ok := date.Parse(s); ok {
			return t
		}
	}
	return m.time
}

func (m *meta) modified() time.Time {
	for _, s := range []string{m.ld.modified, m.first("article:modified_time", "og:updated_time", "datemodified", "dcterms.modified", "last-modified")} {
		if t, ok := date.Parse(s); ok {
			return t
		}
	}
	return time.Time{}
}

func (m *meta) language() string {
	for _, s := range []string{m.lang, m.first("content-language", "og:locale", "dc.language", "dcterms.language"), m.ld.language} {
		s = strings.ReplaceAll(strings.TrimSpace(s), "_", "-")
		if len(s) >= 2 && len(s) <= 35 && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789-") == "" {
			return s
		}
	}
	return ""
}

// address is the canonical link when it is believed, else where the page came from. A page speaks for its own
// site only, or it could pass for another's article; and where every page of a site names the front page it
// means nothing.
func (m *meta) address() string {
	own := *m.own
	own.Fragment, own.RawFragment = "", ""
	link := m.link(m.canonical)
	if link == "" {
		return address(&own)
	}
	u, err := url.Parse(link)
	if err != nil || !sameSite(u.Hostname(), own.Hostname()) || isRoot(u) && !isRoot(&own) {
		return address(&own)
	}
	u.Fragment, u.RawFragment = "", ""
	return address(u)
}

func isRoot(u *url.URL) bool { return (u.Path == "" || u.Path == "/") && u.RawQuery == "" }

// sameSite says whether two hosts belong to one registered domain.
func sameSite(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if a == b {
		return true
	}
	if net.ParseIP(a) != nil || net.ParseIP(b) != nil {
		return false
	}
	siteA, err := publicsuffix.EffectiveTLDPlusOne(a)
	if err != nil {
		return false
	}
	siteB, err := publicsuffix.EffectiveTLDPlusOne(b)
	return err == nil && siteA == siteB
}

// link resolves an address; "" for what is none of http's.
func (m *meta) link(ref string) string {
	ref = strings.TrimSpace(ref)
	if ref == "" || len(ref) > maxLink {
		return ""
	}
	u, err := m.base.Parse(ref)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return address(u)
}

// maxLink and maxValue bound an address and what a meta element says, in bytes.
const (
	maxLink  = 4 << 10
	maxValue = 2 << 10
)

// readMeta gathers what the page says about itself.
func readMeta(doc *html.Node, own *url.URL) *meta {
	m := &meta{own: own, base: own, named: map[string]string{}, headings: map[string]bool{}}
	m.walk(doc, false)
	return m
}

func (m *meta) walk(n *html.Node, aside bool) {
	if n.Type == html.ElementNode {
		aside = m.element(n, aside)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		m.walk(c, aside)
	}
}

// element notes what one element says; aside says that it stands beside the content.
func (m *meta) element(n *html.Node, aside bool) bool {
	switch n.DataAtom {
	case atom.Html:
		m.lang = attr(n, "lang")
	case atom.Base:
		m.rebase(attr(n, "href"))
	case atom.Title:
		if m.title == "" && n.Namespace == "" {
			m.title = short(rawText(n))
		}
	case atom.Meta:
		m.meta(n)
	case atom.Link:
		if m.canonical == "" && strings.EqualFold(strings.TrimSpace(attr(n, "rel")), "canonical") {
			m.canonical = attr(n, "href")
		}
	case atom.H1, atom.H2:
		if !aside {
			m.heading(n)
		}
	case atom.Script:
		if strings.EqualFold(strings.TrimSpace(attr(n, "type")), "application/ld+json") {
			m.ld.read(rawText(n))
		}
	case atom.Time:
		m.timeElement(n, aside)
	case atom.Nav, atom.Aside, atom.Footer, atom.Form:
		return true
	}
	return aside
}

// mostHeadings is how many headings are looked at.
const mostHeadings = 20

// heading notes a heading: its first line, for one that is not closed runs on.
func (m *meta) heading(n *html.Node) {
	if len(m.headings) >= mostHeadings {
		return
	}
	line, _, _ := strings.Cut(textOf(n), "\n")
	if line = short(line); line == "" {
		return
	}
	m.headings[fold(line)] = true
	if m.h1 == "" && n.DataAtom == atom.H1 {
		m.h1 = line
	}
}

// rebase follows a base element; links resolve against it.
func (m *meta) rebase(href string) {
	if u, err := m.own.Parse(strings.TrimSpace(href)); href != "" && err == nil && u.Host != "" {
		m.base = u
	}
}

// meta notes a meta element under all its names. Name and property are one thing to most writers, but the
// order of authors is told by which it was.
func (m *meta) meta(n *html.Node) {
	value := short(attr(n, "content"))
	if value == "" {
		return
	}
	for _, key := range []string{"name", "property", "itemprop", "http-equiv"} {
		for name := range strings.FieldsSeq(strings.ToLower(attr(n, key))) {
			for _, name := range []string{name, key + ":" + name} {
				if _, known := m.named[name]; !known && len(name) < 100 && len(m.named) < 1000 {
					m.named[name] = value
				}
			}
		}
	}
}

// timeElement takes the first time of the content, unless another says that it is the publication's.
func (m *meta) timeElement(n *html.Node, aside bool) {
	if aside || m.marked {
		return
	}
	marked := attr(n, "itemprop") == "datePublished" || hasAttr(n, "pubdate") || strings.Contains(attr(n, "class"), "publish")
	if !marked && (!m.time.IsZero() || !inContent(n)) {
		return
	}
	if t, ok := date.Parse(attr(n, "datetime")); ok {
		m.time, m.marked = t, marked
	}
}

// inContent says whether an element lies in an article or in the main part of the page.
func inContent(n *html.Node) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.DataAtom == atom.Article || p.DataAtom == atom.Main {
			return true
		}
	}
	return false
}

func hasAttr(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

// rawText is the text directly in an element, as it stands.
func rawText(n *html.Node) string {
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// short folds a value into one line and leaves out what is too long to be one.
func short(s string) string {
	if s = strings.Join(strings.Fields(lines(s)), " "); len(s) > maxValue {
		return ""
	}
	return s
}
