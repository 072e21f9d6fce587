package reader

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"freshet"
	"freshet/internal/feed"
	"freshet/internal/fetch"
)

// readRSS reads a feed of any format (E1). Work is avoided in this order: a 304, the same body as
// last time, and only then a document to parse.
func readRSS(t *turn, ctx context.Context, s freshet.Source) *freshet.Outcome {
	c := s.Cursor
	o, resp := t.get(ctx, fetch.Request{URL: s.URL, ETag: c.ETag, LastModified: c.LastModified, ValidatorsFrom: c.ValidatorsFrom})
	if resp == nil {
		return o
	}
	defer resp.Release()
	o.BodyHash = hashOf(resp.Body)
	if o.BodyHash == c.BodyHash {
		o.Unchanged = true
		if o.Partial = c.Partial; o.Partial != "" {
			o.ETag, o.LastModified = "", ""
		}
		return o
	}
	var err error
	read := func() {
		err = readFeed(o, resp, s)
		watchParts(ctx, o, resp, s)
	}
	if !t.whileParsing(ctx, len(resp.Body), read) {
		return failed(freshet.Transient, "stopped", "The fetch was stopped.")
	}
	if err != nil {
		o.Failure = notFeed(err)
	}
	return o
}

func hashOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// readFeed parses a document into the outcome.
func readFeed(o *freshet.Outcome, resp *fetch.Response, s freshet.Source) error {
	d, err := feed.Parse(resp.Body, feed.Options{URL: resp.FinalURL, ContentType: resp.ContentType})
	if err != nil {
		return err
	}
	o.Title, o.SiteURL, o.Partial = d.Title, d.SiteURL, d.Partial
	if d.Partial != "" {
		// What was missing is asked for again, not answered with a 304 (F4).
		o.ETag, o.LastModified = "", ""
	}
	o.Hints = freshet.Hints{SkipHours: d.SkipHours, SkipDays: d.SkipDays}.
		Lengthened(d.TTL, "ttl").
		Lengthened(d.UpdatePeriod, "sy:updatePeriod")
	o.Posts = make([]freshet.Post, len(d.Entries))
	for i := range d.Entries {
		o.Posts[i] = post(&d.Entries[i])
	}
	freshet.Identify(o.Posts, s.ID, s.Host)
	return nil
}

func post(e *feed.Entry) freshet.Post {
	p := freshet.Post{
		GUID: e.GUID, URL: e.URL, Title: e.Title, Author: e.Author, Text: e.Text(), Image: e.Image,
		Published: e.Published, Updated: e.Updated,
	}
	for _, f := range e.Enclosures {
		p.Enclosures = append(p.Enclosures, freshet.Enclosure{URL: f.URL, Type: f.Type, Length: f.Length})
	}
	return p
}

// namedFeeds is how many feeds of a web page a failure names, and how long their addresses may be.
const (
	namedFeeds  = 3
	namedLength = 200
)

// notFeed says what an address gives instead of a feed and, when that names feeds, which.
func notFeed(err error) *freshet.Failure {
	f := &freshet.Failure{Class: freshet.Transient, Code: "not_a_feed"}
	var other *feed.NotFeed
	if !errors.As(err, &other) {
		f.Sentence = "This is not a feed: " + err.Error() + "."
		return f
	}
	f.Sentence = "This address gives " + other.Kind + ", not a feed."
	var named []string
	for _, l := range other.Links {
		if u := fetch.Redact(l.URL); len(u) <= namedLength && len(named) < namedFeeds {
			named = append(named, u)
		}
	}
	switch len(named) {
	case 0:
	case 1:
		f.Sentence += " The page names this feed: " + named[0]
	default:
		f.Sentence += " The page names these feeds: " + strings.Join(named, ", ")
	}
	return f
}
