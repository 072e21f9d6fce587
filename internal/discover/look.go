package discover

import (
	"cmp"
	"context"
	"errors"
	"time"

	"freshet"
	"freshet/internal/feed"
)

// Finding is a word for what lies at an address.
type Finding string

const (
	Works   Finding = "works"
	Moved   Finding = "moved"   // for good, and a feed is there
	Page    Finding = "page"    // that names feeds
	Trouble Finding = "trouble" // nothing was found out that lasts: try again later
	Dead    Finding = "dead"    // nothing that can be subscribed to
)

// Sight is what one request to an address found.
type Sight struct {
	Finding Finding
	URL     string // to subscribe to, where there is a feed: where it moved to, else as it was asked
	Title   string
	Entries int
	Newest  time.Time        // of its entries; zero when none has a date
	Feeds   []feed.Link      // that a page names
	Failure *freshet.Failure // of Trouble and Dead
}

// Look asks for an address once and says what is there: the check of a list before it is subscribed to.
func Look(ctx context.Context, get Get, address string) Sight {
	resp, err := get(ctx, address)
	if err != nil {
		return failed(err)
	}
	defer resp.Release()
	doc, err := parse(resp)
	if err != nil {
		return notFeed(err)
	}
	s := Sight{Finding: Works, URL: address, Title: doc.Title, Entries: len(doc.Entries)}
	if resp.MovedTo != "" && freshet.NormalizedURL(resp.MovedTo) != freshet.NormalizedURL(address) {
		s.Finding, s.URL = Moved, resp.MovedTo
	}
	for i := range doc.Entries {
		if at := doc.Entries[i].Published; at.After(s.Newest) {
			s.Newest = at
		}
	}
	return s
}

// failed is the sight of an address that gave no document.
func failed(err error) Sight {
	var f *freshet.Failure
	if !errors.As(err, &f) {
		f = &freshet.Failure{Class: freshet.Transient, Code: "internal", Sentence: sentence(err)}
	}
	if f.Class == freshet.Permanent {
		return Sight{Finding: Dead, Failure: f}
	}
	return Sight{Finding: Trouble, Failure: f}
}

// notFeed is the sight of a document that is no feed.
func notFeed(err error) Sight {
	var other *feed.NotFeed
	kind, s := "", Sight{Finding: Dead}
	if errors.As(err, &other) {
		kind = other.Kind
		for _, l := range other.Links {
			if !isAPI(l) {
				s.Feeds = append(s.Feeds, l)
			}
		}
	}
	if len(s.Feeds) > 0 {
		s.Finding = Page
		return s
	}
	s.Failure = &freshet.Failure{Class: freshet.Permanent, Code: "not_a_feed", Sentence: "This is " + cmp.Or(kind, "a document") + ", not a feed."}
	return s
}
