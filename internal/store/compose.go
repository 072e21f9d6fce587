package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"freshet"
)

const (
	// composeAtOnce and composeBytes bound what one Compose takes: posts, and bytes of their texts.
	composeAtOnce = 1000
	composeBytes  = 16 << 20
)

// Composition is what Compose made.
type Composition struct {
	Articles int  // new ones
	Posts    int  // that they, or articles that were there, stand for now
	More     bool // posts are left for another Compose
}

// Compose turns the posts of a briefing that no article stands for yet into articles, the newest first if there
// are too many for once (B2, B3). Composing again without new posts makes nothing.
func (s *Store) Compose(ctx context.Context, id freshet.ID, now time.Time) (Composition, error) {
	var c Composition
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		b, err := theBriefing(ctx, t, "where id = $1 for update", id) // two at once would make an article twice
		if err != nil {
			return err
		}
		waiting, more, err := t.waiting(ctx, &b, now)
		if err != nil {
			return err
		}
		c = Composition{Posts: len(waiting), More: more}
		c.Articles, err = t.writeArticles(ctx, b.Compose(waiting), now)
		return err
	})
	if err != nil {
		return Composition{}, fmt.Errorf("compose briefing %s: %w", id, err)
	}
	return c, nil
}

// waitingPosts are the posts of source $1 that briefing $5 takes (freshet.Window) and has no article for: published
// since $2; and, since $3 when it joined, either published or first seen later. What the first fetch of a source
// of the river ($4) brought is history as well: for hidden sources FinishPolls has left that out.
const waitingPosts = `select p.item_id, p.content_hash, p.published_at, p.url from posts p
 where p.source_id = $1 and p.published_at >= $2
 and (p.published_at >= $3 or p.first_seen_at > $3 and ($4 = 0 or p.first_seen_at > (select min(f.first_seen_at) from posts f where f.source_id = $1)))
 and not exists (select 1 from post_articles a where a.briefing_id = $5 and a.source_id = $1 and a.item_id = p.item_id)
 order by p.published_at desc, p.ingested_at desc, p.item_id desc limit $6`

// waiting returns the posts of a briefing that no article stands for, the newest first, and whether more are left.
func (t *tx) waiting(ctx context.Context, b *freshet.Briefing, now time.Time) (posts []freshet.Waiting, more bool, err error) {
	for _, has := range b.Sources {
		w, since := b.Window(has, now), int64(0)
		if !w.Since.IsZero() {
			since = w.Since.UnixMilli()
		}
		found, err := all(ctx, t, func(p *freshet.Waiting) []any {
			p.Source = has.Source.ID
			return []any{&p.Item, digest{&p.Hash}, moment{&p.PublishedAt}, &p.URL}
		}, waitingPosts, has.Source.ID, w.From, since, has.Source.InRiver, b.ID, composeAtOnce+1)
		if err != nil {
			return nil, false, err
		}
		posts = append(posts, found...)
	}
	if len(posts) == 0 {
		return nil, false, nil
	}
	slices.SortFunc(posts, func(p, q freshet.Waiting) int {
		return cmp.Or(q.PublishedAt.Compare(p.PublishedAt), cmp.Compare(p.Source, q.Source), cmp.Compare(q.Item, p.Item))
	})
	if more = len(posts) > composeAtOnce; more {
		posts = posts[:composeAtOnce]
	}
	if err := t.knownArticles(ctx, b.ID, posts); err != nil {
		return nil, false, err
	}
	n, err := t.readTexts(ctx, posts)
	return posts[:n], more || n < len(posts), err
}

// knownArticles notes the articles that stand for the same content or item already (B3).
func (t *tx) knownArticles(ctx context.Context, briefing freshet.ID, posts []freshet.Waiting) error {
	items, hashes := make([]freshet.ID, len(posts)), make([][]byte, len(posts))
	for i := range posts {
		items[i], hashes[i] = posts[i].Item, posts[i].Hash[:]
	}
	type known struct {
		item, article freshet.ID
		hash          freshet.ContentHash
	}
	list, err := all(ctx, t, func(k *known) []any { return []any{&k.item, &k.article, digest{&k.hash}} },
		`select item_id, article_id, content_hash from post_articles where briefing_id = $1 and item_id in ($2...)
 union select item_id, article_id, content_hash from post_articles where briefing_id = $1 and content_hash in ($3 keys...)`, briefing, items, hashes)
	byItem, byHash := map[freshet.ID]freshet.ID{}, map[freshet.ContentHash]freshet.ID{}
	for _, k := range list {
		byItem[k.item], byHash[k.hash] = k.article, k.article
	}
	for i := range posts {
		posts[i].Article = cmp.Or(byHash[posts[i].Hash], byItem[posts[i].Item])
	}
	return err
}

// readTexts reads what posts say that no article stands for, and returns how many posts are within bounds.
func (t *tx) readTexts(ctx context.Context, posts []freshet.Waiting) (n int, err error) {
	lengths, err := all(ctx, t, func(s *said) []any { return []any{&s.item, &s.title, &s.author, &s.bytes} },
		"select i.id, i.title, i.author, octet_length(b.body) from items i join bodies b on b.item_id = i.id where i.id in ($1...)", unknownItems(posts))
	if err != nil {
		return 0, err
	}
	items := byItem(lengths)
	for left := composeBytes; n < len(posts); n++ {
		if left -= items[posts[n].Item].bytes; left < 0 && n > 0 {
			break
		}
	}
	texts, err := all(ctx, t, func(s *said) []any { return []any{&s.item, &s.text} }, "select item_id, body from bodies where item_id in ($1...)", unknownItems(posts[:n]))
	bodies := byItem(texts)
	for i := range posts[:n] {
		p := &posts[i]
		p.Title, p.Author, p.Text = items[p.Item].title, items[p.Item].author, bodies[p.Item].text
	}
	return n, err
}

// said is what an item says.
type said struct {
	item                freshet.ID
	title, author, text string
	bytes               int
}

func byItem(list []said) map[freshet.ID]said {
	items := make(map[freshet.ID]said, len(list))
	for _, s := range list {
		items[s.item] = s
	}
	return items
}

// unknownItems are the items of posts that no article stands for.
func unknownItems(posts []freshet.Waiting) (items []freshet.ID) {
	for _, p := range posts {
		if p.Article == 0 {
			items = append(items, p.Item)
		}
	}
	return items
}

var (
	insertArticles = inserting("articles", `id bigint, briefing_id bigint, source_id bigint, title text, url text, author text, body text,
		published_at bigint, created_at bigint`, "")
	insertPostArticles = inserting("post_articles", "briefing_id bigint, source_id bigint, item_id bigint, article_id bigint, content_hash bytea", "")
)

// writeArticles writes what was composed and returns how many articles are new.
func (t *tx) writeArticles(ctx context.Context, list []freshet.Composed, now time.Time) (made int, err error) {
	articles, links := t.rows(insertArticles), t.rows(insertPostArticles)
	for _, c := range list {
		if c.ID == 0 {
			c.ID = t.s.ids.Next(now)
			articles.add(c.ID, c.Briefing, c.Source, c.Title, c.URL, c.Author, c.Text, c.PublishedAt, now)
			made++
		}
		for _, p := range c.Posts {
			links.add(c.Briefing, p.Source, p.Item, c.ID, p.Hash[:])
		}
	}
	return made, runAll(ctx, articles, links)
}
