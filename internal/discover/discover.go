// Package discover finds the feeds that a pasted address means (SPEC.md U2, E1, F5): the address itself when
// it is a feed; else what its form says on sites whose habits are known, what the page declares, or what lies
// at a few common places. Every candidate is read before it is offered, so that a person can choose by its newest titles.
//
// It keeps nothing and stores nothing. It asks one request after the other, a dozen or so at most, never one
// twice, and stops where a host asks for a pause. The requests are made by its caller.
package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"freshet"
	"freshet/internal/feed"
	"freshet/internal/fetch"
)

// Candidate is a feed that was found and read.
type Candidate struct {
	URL     string   // to subscribe to
	Title   string   // plain text: the feed's own title, else the page's name for it, else its host
	Type    string   // format and version, such as "rss20", "atom10", "json11"
	Titles  []string // of the three newest entries
	Entries int
}

// Get makes one fetch. Its error is a *freshet.Failure, as fetch.Client's is.
type Get = func(ctx context.Context, url string) (*fetch.Response, error)

// maxRead is how many of the feeds that a page declares are read.
const maxRead = 5

// Find returns the feeds that a pasted address means, in the order of the page that declares them. Its
// error is a *freshet.Failure whose sentence says why there is none.
func Find(ctx context.Context, get Get, pasted string) ([]Candidate, error) {
	u, guessed, err := readAddress(pasted)
	if err != nil {
		return nil, &freshet.Failure{Class: freshet.Permanent, Code: "address", Sentence: sentence(err)}
	}
	f := &finder{get: get, user: u.User, origin: originOf(u), tried: map[string]bool{}}
	if err := f.find(ctx, u, guessed); err != nil && len(f.found) == 0 {
		return nil, err
	}
	return f.found, nil
}

func sentence(err error) string {
	s := err.Error()
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// finder looks for the feeds of one address.
type finder struct {
	get    Get
	user   *url.Userinfo // for the pasted host only
	origin string

	tried   map[string]bool // by normalized URL
	found   []Candidate
	entries [][]feed.Entry // of found, to tell feeds with the same content
	failed  []string       // why declared feeds could not be read, each with its address
}

// find goes from the surest place to the least sure one and stops at the first that has a feed.
func (f *finder) find(ctx context.Context, u *url.URL, guessed bool) error {
	if err := f.readAll(ctx, links(known(u)...)); err != nil || len(f.found) > 0 {
		return err
	}
	f.failed = nil
	resp, err := f.fetch(ctx, u.String())
	if err != nil && guessed && mayBePlain(err) {
		plain := *u
		plain.Scheme = "http"
		u, f.origin = &plain, originOf(&plain)
		resp, err = f.fetch(ctx, u.String())
	}
	if err != nil {
		return err
	}
	page, err := f.readPage(resp, u.String())
	if err != nil || len(f.found) > 0 {
		return err
	}
	if len(page.links) > 0 {
		if err := f.readAll(ctx, page.links); err != nil || len(f.found) > 0 {
			return err
		}
		return f.nothing("The page at %s names feeds, but none of them can be read: %s.", u, strings.Join(f.failed[:min(len(f.failed), 3)], "; "))
	}
	places := commonPlaces(page.at)
	for _, place := range places {
		if err := f.readAll(ctx, links(place)); err != nil || len(f.found) > 0 {
			return err
		}
	}
	return f.nothing("No feed was found: %s is %s that names none, and there is none at the usual places.", u, page.kind)
}

func links(urls ...string) []feed.Link {
	var ls []feed.Link
	for _, u := range urls {
		ls = append(ls, feed.Link{URL: u})
	}
	return ls
}

// mayBePlain reports whether a site that nobody called https may speak plain http only.
func mayBePlain(err error) bool {
	var f *freshet.Failure
	return errors.As(err, &f) && (f.Code == "connect" || f.Code == "tls" || f.Code == "protocol")
}

// nothing is the failure of a search that found no feed.
func (f *finder) nothing(format string, at *url.URL, rest ...any) error {
	args := append([]any{shown(at.String())}, rest...)
	return &freshet.Failure{Class: freshet.Transient, Code: "not_a_feed", Sentence: fmt.Sprintf(format, args...)}
}

// shown is an address as a sentence names it.
func shown(address string) string {
	const most = 200
	address = fetch.Redact(address)
	if len(address) > most {
		return strings.ToValidUTF8(address[:most], "") + "..."
	}
	return address
}

// webPage is what an answer holds that is no feed.
type webPage struct {
	kind  string
	links []feed.Link
	at    *url.URL
}

// readPage takes an answer for a feed, or returns what else it is.
func (f *finder) readPage(resp *fetch.Response, asked string) (webPage, error) {
	defer resp.Release()
	doc, err := parse(resp)
	if err == nil {
		f.add(doc, resp, asked, "")
		return webPage{}, nil
	}
	at, parseErr := url.Parse(resp.FinalURL)
	if parseErr != nil {
		return webPage{}, &freshet.Failure{Class: freshet.Transient, Code: "internal", Sentence: "The page has no address."}
	}
	page := webPage{kind: "a document", at: at}
	var other *feed.NotFeed
	if errors.As(err, &other) {
		page.kind = other.Kind
		for _, l := range other.Links {
			if !isAPI(l) {
				page.links = append(page.links, l)
			}
		}
	}
	return page, nil
}

// isAPI recognises what WordPress declares beside its feeds.
func isAPI(l feed.Link) bool {
	return strings.Contains(l.URL, "/wp-json/") || strings.Contains(l.URL, "/oembed")
}

func parse(resp *fetch.Response) (*feed.Document, error) {
	return feed.Parse(resp.Body, feed.Options{URL: resp.FinalURL, ContentType: resp.ContentType})
}

// readAll reads links, as many as are allowed, and adds those that are feeds. Its error ends the search.
func (f *finder) readAll(ctx context.Context, ls []feed.Link) error {
	read := 0
	for _, l := range ls {
		if read == maxRead {
			break
		}
		address := f.withUser(l.URL)
		if f.tried[freshet.NormalizedURL(address)] {
			continue
		}
		read++
		resp, err := f.fetch(ctx, address)
		if err != nil {
			if ends(ctx, err) {
				return err
			}
			f.failed = append(f.failed, shown(l.URL)+": "+strings.TrimSuffix(err.Error(), "."))
			continue
		}
		doc, err := parse(resp)
		if err == nil {
			f.add(doc, resp, address, l.Title)
		} else {
			var other *feed.NotFeed
			if errors.As(err, &other) {
				f.failed = append(f.failed, shown(l.URL)+" is "+other.Kind)
			}
		}
		resp.Release()
	}
	return nil
}

// ends reports whether asking on would be rude or in vain.
func ends(ctx context.Context, err error) bool {
	var f *freshet.Failure
	return ctx.Err() != nil || errors.As(err, &f) && f.CoolHost
}

// fetch asks for an address once.
func (f *finder) fetch(ctx context.Context, address string) (*fetch.Response, error) {
	f.tried[freshet.NormalizedURL(address)] = true
	resp, err := f.get(ctx, address)
	if err != nil {
		return nil, err
	}
	f.tried[freshet.NormalizedURL(resp.FinalURL)] = true
	return resp, nil
}

// withUser gives the credentials of the pasted address to other addresses of the same host.
func (f *finder) withUser(address string) string {
	u, err := url.Parse(address)
	if err != nil || f.user == nil || u.User != nil || originOf(u) != f.origin {
		return address
	}
	u.User = f.user
	return u.String()
}

func originOf(u *url.URL) string { return u.Scheme + "://" + u.Host }

// add notes a feed unless one with the same content was found before.
func (f *finder) add(doc *feed.Document, resp *fetch.Response, asked, name string) {
	if slices.ContainsFunc(f.entries, func(other []feed.Entry) bool { return same(other, doc.Entries) }) {
		return
	}
	address := cmp.Or(resp.MovedTo, asked)
	title := cmp.Or(doc.Title, name)
	if u, err := url.Parse(resp.FinalURL); err == nil && title == "" {
		title = u.Hostname()
	}
	f.entries = append(f.entries, doc.Entries)
	f.found = append(f.found, Candidate{
		URL: address, Title: title, Type: doc.Format, Titles: newest(doc.Entries), Entries: len(doc.Entries),
	})
}

// compared is how many entries two feeds must share at their top to be the same in two formats, though
// one is longer than the other.
const compared = 5

// same reports whether two feeds list the same articles.
func same(a, b []feed.Entry) bool {
	n := min(len(a), len(b))
	if n == 0 || len(a) != len(b) && n < compared {
		return false
	}
	for i := range n {
		if article(&a[i]) != article(&b[i]) {
			return false
		}
	}
	return true
}

func article(e *feed.Entry) string {
	return cmp.Or(freshet.CanonicalURL(e.URL), e.GUID, e.Title)
}

// newest returns the titles of the three newest entries; where they have no dates, of the first three.
func newest(entries []feed.Entry) []string {
	order := make([]*feed.Entry, len(entries))
	for i := range entries {
		order[i] = &entries[i]
	}
	slices.SortStableFunc(order, func(a, b *feed.Entry) int { return b.Published.Compare(a.Published) })
	var titles []string
	for _, e := range order {
		if t := label(e); t != "" && len(titles) < 3 {
			titles = append(titles, t)
		}
	}
	return titles
}

// label is an entry's title or, where there is none, how its text begins.
func label(e *feed.Entry) string {
	const most = 100
	s := cmp.Or(e.Title, e.Text())
	if r := []rune(s[:min(len(s), 4*most)]); len(r) > most {
		return strings.TrimSpace(string(r[:most])) + "..."
	}
	return s
}
