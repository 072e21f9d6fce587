package reader

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"freshet"
	"freshet/internal/fetch"
)

// readHTTP looks whether what lies at an address has changed (E3). Its cursor has hash, status and size; a
// change is an item only where the source asks for it.
func readHTTP(t *turn, ctx context.Context, s freshet.Source) *freshet.Outcome {
	c := s.Cursor
	o, resp := t.get(ctx, fetch.Request{URL: s.URL, ETag: c.ETag, LastModified: c.LastModified, ValidatorsFrom: c.ValidatorsFrom, Accept: "*/*"})
	if resp == nil {
		return o
	}
	defer resp.Release()
	o.BodyHash = hashOf(resp.Body)
	if o.BodyHash == c.BodyHash {
		o.Unchanged = true
		return o
	}
	if !t.whileParsing(ctx, len(resp.Body), func() { watchParts(ctx, o, resp, s) }) {
		return failed(freshet.Transient, "stopped", "The fetch was stopped.")
	}
	o.Document = &freshet.Document{Hash: o.BodyHash, Status: resp.Status, Size: len(resp.Body)}
	// A move drops the body's hash with the validators; the document's outlives it.
	if s.Config.Items && (c.Document == nil || c.Document.Hash != o.BodyHash) {
		o.Posts = []freshet.Post{changePost(resp.FinalURL, c.Document, o.Document, time.Now().UTC())}
		freshet.Identify(o.Posts, s.ID, s.Host)
	}
	return o
}

// changePost is the item that a change makes. The time in it keeps apart two changes to the same content.
func changePost(address string, before, after *freshet.Document, now time.Time) freshet.Post {
	text := fmt.Sprintf("Seen at %s.\nStatus %d, %d bytes, SHA-256 %s.\n", now.Format("2006-01-02 15:04:05 UTC"), after.Status, after.Size, after.Hash)
	if before == nil {
		text += "Not seen before."
	} else {
		text += fmt.Sprintf("Before: status %d, %d bytes, SHA-256 %s.", before.Status, before.Size, before.Hash)
	}
	return freshet.Post{GUID: versionID(address, text), URL: address, Title: "Changed: " + hostAndPath(address), Text: text}
}

// hostAndPath is an address without what may be secret in it.
func hostAndPath(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host + strings.TrimSuffix(u.Path, "/")
}
