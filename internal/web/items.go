package web

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"freshet"
)

// Item is one entry of the river as the API shows it.
type Item struct {
	ID           freshet.ID   `json:"id"`
	GUID         *string      `json:"guid"`
	Title        *string      `json:"title"`
	URL          *string      `json:"url" doc:"Always http or https; null when the entry has no address that can be opened."`
	CanonicalURL *string      `json:"canonical_url"`
	Snippet      *string      `json:"snippet"`
	Author       *string      `json:"author"`
	Image        *string      `json:"image"`
	PublishedAt  time.Time    `json:"published_at" doc:"Its place in the river."`
	IngestedAt   time.Time    `json:"ingested_at"`
	UpdatedAt    time.Time    `json:"updated_at"`
	Sources      []ItemSource `json:"sources" nullable:"false" doc:"Every feed that carried it, the first one first."`
}

// ItemSource is a feed that carried an item.
type ItemSource struct {
	FeedID freshet.ID `json:"feed_id"`
	Title  string     `json:"title"`
	URL    string     `json:"url" doc:"The feed's address."`
}

// ItemDetail is an item with its text and what each feed gave.
type ItemDetail struct {
	Item
	Text       string              `json:"text" doc:"Plain text."`
	Enclosures []freshet.Enclosure `json:"enclosures" nullable:"false"`
	Posts      []Post              `json:"posts" nullable:"false" doc:"The item as each feed gave it."`
}

// Post is an item as one feed gave it.
type Post struct {
	FeedID      freshet.ID `json:"feed_id"`
	FeedTitle   string     `json:"feed_title"`
	GUID        *string    `json:"guid"`
	URL         *string    `json:"url"`
	FirstSeenAt time.Time  `json:"first_seen_at"`
}

type itemsInput struct {
	FeedIDs   []string `query:"feed_ids,explode" doc:"Only these feeds; comma separated or repeated."`
	StartDate string   `query:"start_date" example:"2026-02-16" doc:"Published then or later: a date or an RFC 3339 time."`
	EndDate   string   `query:"end_date" example:"2026-02-16" doc:"Published then or earlier; a date means its whole day, in UTC."`
	Folders   []string `query:"folders,explode" doc:"The feeds of these folders, too; repeated."`
	Types     []string `query:"types,explode" doc:"Of those only feeds of these types; repeated." enum:"rss,website,http,twitter"`
	Days      int      `query:"days" minimum:"0" maximum:"3660" doc:"Published today (1), or within so many days, in UTC. A start or an end counts before it."`
	Q         string   `query:"q" maxLength:"500" doc:"Words that title or text contain."`
	Paging
}

type itemsOutput struct {
	Body struct {
		Items      []Item  `json:"items" nullable:"false"`
		NextCursor *string `json:"next_cursor" doc:"null on the last page."`
	}
}

func (s *Server) listItems(ctx context.Context, in *itemsInput) (*itemsOutput, error) {
	q, err := riverQuery(in, time.Now())
	if err != nil {
		return nil, err
	}
	page, err := s.Store.River(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &itemsOutput{}
	out.Body.Items = make([]Item, len(page.Items))
	for i := range page.Items {
		out.Body.Items[i] = item(&page.Items[i])
	}
	if page.More {
		out.Body.NextCursor = given(page.Next.String())
	}
	return out, nil
}

type itemInput struct {
	ID string `path:"id"`
}

type itemOutput struct{ Body ItemDetail }

func (s *Server) getItem(ctx context.Context, in *itemInput) (*itemOutput, error) {
	id, err := idOf("item", in.ID)
	if err != nil {
		return nil, err
	}
	found, err := s.Store.Item(ctx, id)
	if err != nil {
		return nil, err
	}
	d := ItemDetail{Item: item(&found.Item), Text: found.Body, Enclosures: found.Enclosures, Posts: make([]Post, len(found.Sources))}
	if d.Enclosures == nil {
		d.Enclosures = []freshet.Enclosure{}
	}
	for i := range found.Sources {
		p := &found.Sources[i]
		d.Posts[i] = Post{p.SourceID, p.Title, text(&p.GUID), link(&p.URL), p.FirstSeen.UTC()}
	}
	return &itemOutput{d}, nil
}

// maxFeedIDs bounds a filter.
const maxFeedIDs = 5000

func feedIDs(lists []string) ([]freshet.ID, error) {
	var ids []freshet.ID
	for _, list := range lists {
		for part := range strings.SplitSeq(list, ",") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			id, err := freshet.ParseID(part)
			if err != nil {
				return nil, invalidField("query.feed_ids", "this is no id of a feed", part)
			}
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) > maxFeedIDs {
		return nil, invalidField("query.feed_ids", fmt.Sprintf("at most %d feeds can be chosen", maxFeedIDs), nil)
	}
	return ids, nil
}

// date reads a time or a day; the end of a range means the whole day (D6).
func date(location, value string, end bool) (time.Time, error) {
	if value = strings.TrimSpace(value); value == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.DateOnly, value); err == nil {
		if end {
			t = t.AddDate(0, 0, 1).Add(-time.Millisecond)
		}
		return t, nil
	}
	t, err := time.Parse(time.RFC3339, strings.Replace(value, " ", "+", 1)) // a + that was not escaped
	if err != nil {
		return t, invalidField(location, "write a date as 2026-02-16 or a time as 2026-02-16T09:30:00Z", short(value))
	}
	return t.UTC(), nil
}

func item(i *freshet.Item) Item {
	out := Item{
		ID: i.ID, GUID: text(&i.GUID), Title: text(&i.Title), URL: link(&i.URL), CanonicalURL: link(&i.CanonicalURL),
		Snippet: text(&i.Snippet), Author: text(&i.Author), Image: link(&i.Image),
		PublishedAt: i.PublishedAt.UTC(), IngestedAt: i.IngestedAt.UTC(), UpdatedAt: i.UpdatedAt.UTC(),
		Sources: make([]ItemSource, len(i.Sources)),
	}
	for n := range i.Sources {
		from := &i.Sources[n]
		out.Sources[n] = ItemSource{from.SourceID, from.Title, shownURL(from.SourceURL)}
	}
	return out
}

// text is nil for what is missing, without a copy.
func text(s *string) *string {
	if *s == "" {
		return nil
	}
	return s
}

// link is nil for what no page may link to (P2).
func link(s *string) *string {
	if isWeb(*s, "https://") || isWeb(*s, "http://") {
		return s
	}
	return nil
}

func isWeb(s, scheme string) bool {
	return len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme)
}
