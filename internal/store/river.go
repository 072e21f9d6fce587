package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"freshet"
)

// RiverQuery asks for one page of the river (D4 to D6). The zero value asks for the newest items.
type RiverQuery struct {
	Sources  []freshet.ID   // items that one of these carried; none for all that are in the river
	Folders  []string       // or a source of one of these folders
	Types    []freshet.Type // whose source is of one of these types
	From, To time.Time      // published within, both ends included; zero leaves an end open
	Text     string         // all words, "words in a row", -without, begin*; blank for no search
	After    freshet.Place  // where the last page ended; zero for the newest
	Limit    int            // 1 to 1000; 0 for 200
}

const (
	defaultPage = 200
	maxPage     = 1000
)

// RiverPage is a part of the river, newest first.
type RiverPage struct {
	Items []freshet.Item
	Next  freshet.Place // where the next page goes on; zero unless More
	More  bool
}

// River returns one page. What only hidden sources carried (W2) does not show, nor do their names,
// unless those very sources were asked for.
func (s *Store) River(ctx context.Context, q RiverQuery) (RiverPage, error) {
	if q.Limit = min(q.Limit, maxPage); q.Limit <= 0 {
		q.Limit = defaultPage
	}
	sources, narrowed, err := s.Chosen(ctx, q)
	if err != nil {
		return RiverPage{}, err
	}
	if narrowed && len(sources) == 0 {
		return RiverPage{}, nil
	}
	q.Sources = sources
	items, err := s.items(ctx, q, q.Limit+1)
	if err != nil {
		return RiverPage{}, fmt.Errorf("read river: %w", err)
	}
	page := RiverPage{Items: items}
	if len(items) > q.Limit {
		page.Items, page.More = items[:q.Limit], true
		page.Next = page.Items[q.Limit-1].Place()
	}
	if err := s.nameSources(ctx, page.Items, q.Sources); err != nil {
		return RiverPage{}, fmt.Errorf("read the sources of items: %w", err)
	}
	return page, nil
}

// Chosen returns the sources whose items a query wants, those that were removed included; narrowed is false when it
// wants those of all.
func (s *Store) Chosen(ctx context.Context, q RiverQuery) (ids []freshet.ID, narrowed bool, err error) {
	if len(q.Folders) == 0 && len(q.Types) == 0 {
		return q.Sources, len(q.Sources) > 0, nil
	}
	types := make([]string, len(q.Types))
	for i, kind := range q.Types {
		types[i] = string(kind)
	}
	anywhere := len(q.Sources) == 0 && len(q.Folders) == 0
	ids, err = all(ctx, s, id[freshet.ID], chosenSources, q.Sources, q.Folders, anywhere, types, len(types) == 0)
	if err != nil {
		return nil, true, fmt.Errorf("read the sources of a filter: %w", err)
	}
	return ids, true, nil
}

const chosenSources = `select id from sources where (id in ($1...) or in_river = 1 and (folder in ($2...) or $3 = 1)) and (type in ($4...) or $5 = 1)`

// items returns at most limit items, without their sources.
func (s *Store) items(ctx context.Context, q RiverQuery, limit int) ([]freshet.Item, error) {
	where := q.stretch()
	if strings.TrimSpace(q.Text) != "" {
		return s.found(ctx, parseSearch(q.Text), q.Sources, where, limit)
	}
	if len(q.Sources) > 0 {
		places, err := s.placesOf(ctx, q.Sources, where, limit)
		if err != nil {
			return nil, err
		}
		return s.itemsAt(ctx, places)
	}
	return all(ctx, s, itemColumns, newestItems, where.since, where.published, where.ingested, where.id, limit)
}

const (
	selectItem = `select i.id, i.source_id, i.guid, i.url, i.canonical_url, i.title, i.snippet, i.author, i.image,
	i.published_at, i.ingested_at, i.updated_at from items i`

	newestItems = selectItem + `
where i.in_river = 1 and i.published_at >= $1 and (i.published_at, i.ingested_at, i.id) < ($2, $3, $4)
order by i.published_at desc, i.ingested_at desc, i.id desc limit $5`

	itemsByID = selectItem + ` where i.id in ($1...) order by i.published_at desc, i.ingested_at desc, i.id desc`
)

func itemColumns(i *freshet.Item) []any {
	return []any{&i.ID, &i.Source, &i.GUID, &i.URL, &i.CanonicalURL, &i.Title, &i.Snippet, &i.Author, &i.Image,
		moment{&i.PublishedAt}, moment{&i.IngestedAt}, moment{&i.UpdatedAt}}
}

func (s *Store) itemsAt(ctx context.Context, places []place) ([]freshet.Item, error) {
	if len(places) == 0 {
		return nil, nil
	}
	ids := make([]int64, len(places))
	for i, p := range places {
		ids[i] = p.id
	}
	return all(ctx, s, itemColumns, itemsByID, ids)
}

// placesOf returns the places of the newest items of some sources. It looks at a stretch of time
// that widens until it holds enough: then the work is bounded by the page and the number of
// sources, however much they have posted. As long as a stretch holds fewer items than there are sources, its
// items are gone through; then each source is asked for its own.
func (s *Store) placesOf(ctx context.Context, sources []freshet.ID, where stretch, limit int) ([]place, error) {
	read := func(text string, part stretch) ([]place, error) {
		return all(ctx, s, placeColumns, text, sources, part.since, part.published, part.ingested, part.id, limit)
	}
	part, err := s.newestOf(ctx, where, limit)
	for n := limit; err == nil && n < len(sources); n *= 4 {
		places, err := read(placesOfItems, part)
		if err != nil || len(places) == limit || part.since <= where.since {
			return places, err
		}
		part, err = s.newestOf(ctx, where, 4*n)
	}
	if err != nil {
		return nil, err
	}
	if part.since <= where.since {
		return read(placesOfSources, where)
	}
	newest, err := s.newest(ctx)
	if err != nil {
		return nil, err
	}
	const most = 1024 * time.Hour
	span := time.Duration(min(most.Milliseconds(), min(newest, where.published)-part.since)) * time.Millisecond
	var places []place
	for part := range where.widening(newest, max(time.Minute, span), most) {
		places, err = read(placesOfSources, part)
		if err != nil || len(places) == limit {
			return places, err
		}
	}
	return places, nil
}

const placesOfSources = `select distinct published_at, ingested_at, item_id from posts
where source_id in ($1...) and published_at >= $2 and (published_at, ingested_at, item_id) < ($3, $4, $5)
order by published_at desc, ingested_at desc, item_id desc limit $6`

// placesOfItems finds the same by going through the items. The plus keeps SQLite from asking for each source in turn.
const (
	placesOfItems = "select i.published_at, i.ingested_at, i.id from items i where i.in_river = 1 and " + carriedBy +
		" union all select i.published_at, i.ingested_at, i.id from items i where i.in_river = 0 and " + carriedBy +
		" order by 1 desc, 2 desc, 3 desc limit $6"
	carriedBy = `i.published_at >= $2 and i.published_at <= $3 and (i.published_at, i.ingested_at, i.id) < ($3, $4, $5)
and exists (select 1 from posts p where p.item_id = i.id and +p.source_id in ($1...))`
)

// newestOf returns the newer end of a stretch that holds about n items, or the whole when it has fewer; n hidden
// ones are as good.
func (s *Store) newestOf(ctx context.Context, where stretch, n int) (stretch, error) {
	since, _, err := one(ctx, s, number, nthNewest, where.since, where.published, n-1)
	where.since = since
	return where, err
}

const (
	nthNewest = "select coalesce(max(published_at), $1) from (select * from (" + nthItem + "1" + nthItemOrder + ") shown union all select * from (" +
		nthItem + "0" + nthItemOrder + ") hidden) both_kinds"
	nthItem      = "select published_at from items where published_at >= $1 and published_at <= $2 and in_river = "
	nthItemOrder = " order by published_at desc limit 1 offset $3"
)

// place is a freshet.Place in the numbers of the tables.
type place struct{ published, ingested, id int64 }

func placeColumns(p *place) []any { return []any{&p.published, &p.ingested, &p.id} }

// riverOrder orders places as the river does, the newest first (D4).
func riverOrder(a, b place) int {
	return cmp.Or(cmp.Compare(b.published, a.published), cmp.Compare(b.ingested, a.ingested), cmp.Compare(b.id, a.id))
}

// stretch is a part of the river: before a place and published since a time, in milliseconds.
type stretch struct {
	place
	since int64
}

// stretch returns where the page lies: before the cursor and not after To, since From.
func (q RiverQuery) stretch() stretch {
	where := stretch{place{math.MaxInt64, math.MaxInt64, math.MaxInt64}, math.MinInt64}
	if !q.To.IsZero() {
		where.published = q.To.UnixMilli()
	}
	if !q.From.IsZero() {
		where.since = q.From.UnixMilli()
	}
	if q.After != (freshet.Place{}) {
		after := place{q.After.PublishedAt.UnixMilli(), q.After.IngestedAt.UnixMilli(), int64(q.After.ID)}
		if riverOrder(where.place, after) < 0 {
			where.place = after
		}
	}
	return where
}

// widening yields growing parts of the stretch from its newer end on: first, then four times as much, up
// to most, and at last the whole. Nothing is newer than newest.
func (w stretch) widening(newest int64, first, most time.Duration) iter.Seq[stretch] {
	return func(yield func(stretch) bool) {
		if newest < w.published {
			w.place = place{newest, math.MaxInt64, math.MaxInt64}
		}
		for span := first; span <= most; span *= 4 {
			part := stretch{w.place, w.published - span.Milliseconds()}
			if part.since <= w.since {
				break
			}
			if !yield(part) {
				return
			}
		}
		yield(w)
	}
}

// newest returns when the newest item was published, hidden ones included; 0 when there is none.
func (s *Store) newest(ctx context.Context) (int64, error) {
	n, _, err := one(ctx, s, number, newestItem)
	return n, err
}

const newestItem = `select coalesce(max(newest), 0) from (
	select max(published_at) as newest from items where in_river = 1
	union all select max(published_at) from items where in_river = 0) both_kinds`

// nameSources gives the items their sources, those that were removed included, first seen first.
func (s *Store) nameSources(ctx context.Context, items []freshet.Item, asked []freshet.ID) error {
	if len(items) == 0 {
		return nil
	}
	at := make(map[freshet.ID]int, len(items))
	ids := make([]freshet.ID, len(items))
	for i := range items {
		ids[i], at[items[i].ID] = items[i].ID, i
	}
	carried, err := all(ctx, s, carrierColumns, sourcesOfItems, ids)
	if err != nil {
		return err
	}
	for _, c := range carried {
		if c.source.InRiver || slices.Contains(asked, c.SourceID) {
			item := &items[at[c.item]]
			item.Sources = append(item.Sources, c.named())
		}
	}
	return nil
}

const sourcesOfItems = `select p.item_id, p.source_id, p.guid, p.url, p.first_seen_at, s.title, s.feed_title, s.url, s.in_river
from posts p join sources s on s.id = p.source_id where p.item_id in ($1...) order by p.first_seen_at, p.source_id`

// carrier is a source that carried an item.
type carrier struct {
	freshet.ItemSource
	item   freshet.ID
	source freshet.Source // what names it
}

func carrierColumns(c *carrier) []any {
	return []any{&c.item, &c.SourceID, &c.GUID, &c.URL, moment{&c.FirstSeen},
		&c.source.Title, &c.source.FeedTitle, &c.source.URL, flag{&c.source.InRiver}}
}

// named returns the reference with the name of its source.
func (c *carrier) named() freshet.ItemSource {
	c.Title, c.SourceURL = c.source.Name(), c.source.URL
	return c.ItemSource
}

// ItemDetail is an item with all that is kept of it.
type ItemDetail struct {
	freshet.Item
	Body       string
	Enclosures []freshet.Enclosure
}

// Item returns one item with its stored text and all its sources, or freshet.ErrNotFound.
func (s *Store) Item(ctx context.Context, id freshet.ID) (ItemDetail, error) {
	detail, err := s.item(ctx, id)
	if err != nil {
		return ItemDetail{}, fmt.Errorf("read item %s: %w", id, err)
	}
	return detail, nil
}

func (s *Store) item(ctx context.Context, id freshet.ID) (ItemDetail, error) {
	item, err := the(all(ctx, s, itemColumns, itemsByID, []freshet.ID{id}))
	if err != nil {
		return ItemDetail{}, err
	}
	type text struct {
		body       string
		enclosures []byte
	}
	kept, found, err := one(ctx, s, func(t *text) []any { return []any{&t.body, &t.enclosures} },
		"select body, enclosures from bodies where item_id = $1", id)
	if err != nil {
		return ItemDetail{}, err
	}
	detail := ItemDetail{Item: item, Body: kept.body}
	if found {
		if err := json.Unmarshal(kept.enclosures, &detail.Enclosures); err != nil {
			return ItemDetail{}, fmt.Errorf("read its enclosures: %w", err)
		}
	}
	carried, err := all(ctx, s, carrierColumns, sourcesOfItems, []freshet.ID{id})
	for i := range carried {
		detail.Sources = append(detail.Sources, carried[i].named())
	}
	return detail, err
}
