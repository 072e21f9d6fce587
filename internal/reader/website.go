package reader

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"freshet"
	"freshet/internal/fetch"
	"freshet/internal/page"
)

// pageAccept asks for a page and not for the feed that some sites give at the same address.
const pageAccept = "text/html, application/xhtml+xml;q=0.9, text/plain;q=0.5, */*;q=0.1"

// readWebsite reads a web page (E2): one post for each text that it has had.
func readWebsite(t *turn, ctx context.Context, s freshet.Source) *freshet.Outcome {
	rules, err := page.NewRules(s.Config)
	if err != nil {
		return failed(freshet.Transient, "config", "Its selector or ignore rules cannot be used: "+err.Error()+".")
	}
	c := s.Cursor
	request := fetch.Request{URL: s.URL, Accept: pageAccept}
	// Other rules may find another text in the same body, so it is asked for and read again.
	sameRules := c.Document != nil && c.Document.Rules == rulesOf(s.Config)
	if sameRules {
		request.ETag, request.LastModified, request.ValidatorsFrom = c.ETag, c.LastModified, c.ValidatorsFrom
	}
	o, resp := t.get(ctx, request)
	if resp == nil {
		return o
	}
	defer resp.Release()
	o.BodyHash = hashOf(resp.Body)
	if sameRules && o.BodyHash == c.BodyHash {
		o.Unchanged = true
		return o
	}
	var a *page.Article
	read := func() {
		a, o.Failure = page.Parse(ctx, resp.Body, page.Options{URL: resp.FinalURL, ContentType: resp.ContentType, Rules: rules})
		watchParts(ctx, o, resp, s)
	}
	if !t.whileParsing(ctx, len(resp.Body), read) {
		return failed(freshet.Transient, "stopped", "The fetch was stopped.")
	}
	if o.Failure == nil {
		readPage(o, a, s, len(resp.Body))
	}
	return o
}

// readPage turns an article into the outcome's post. A text that is another than the last one's is a post of its
// own: it leads with what changed, and its time is now, unless the page names a newer one than we have seen.
func readPage(o *freshet.Outcome, a *page.Article, s freshet.Source, size int) {
	last := s.Cursor.Document
	hash := sha256.Sum256([]byte(a.Text))
	d := &freshet.Document{Hash: hex.EncodeToString(hash[:]), Status: o.Status, Size: size, Rules: rulesOf(s.Config)}
	d.Keep(a.Text)
	o.Document, o.Title, o.SiteURL = d, a.PageTitle, a.URL

	post := freshet.Post{
		GUID: versionID(freshet.CanonicalURL(a.URL), d.Hash), URL: a.URL, Title: a.Title, Author: a.Author,
		Text: a.Text, Image: a.Image, Published: a.Published, Updated: a.Modified,
	}
	if last != nil && last.Hash != d.Hash {
		if !a.Published.After(lastFetch(s.Cursor)) {
			post.Published = time.Time{}
		}
		if kept := last.Kept(); kept != "" && last.Rules == d.Rules {
			if changes := page.Changes(kept, a.Text); changes != "" {
				post.Text = freshet.TellChanges(changes, a.Text)
			}
		}
	}
	o.Posts = []freshet.Post{post}
	freshet.Identify(o.Posts, s.ID, s.Host)
	o.Posts[0].Hash = hash // what changed is shown with the content, but is no part of it (E7)
}

func lastFetch(c freshet.Cursor) time.Time {
	if c.LastFetchAt == nil {
		return time.Time{}
	}
	return *c.LastFetchAt
}

// rulesOf is a short name for the rules by which a page is read, "" when there are none.
func rulesOf(c freshet.Config) string {
	if c.Selector == "" && len(c.Ignore) == 0 {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", c.Selector, c.Ignore))
	return hex.EncodeToString(sum[:8])
}

// versionID is a GUID for one version of what lies at an address: a UUID of version 8 made of a SHA-256
// (RFC 9562, 5.8), so that each is an item of its own, and the same wherever it is read.
func versionID(url, version string) string {
	sum := sha256.Sum256([]byte(url + "\x00" + version))
	id := sum[:16]
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
