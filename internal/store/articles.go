package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"freshet"
)

// ArticleQuery chooses articles of a briefing.
type ArticleQuery struct {
	Briefing  freshet.ID
	Processed bool // those that were acknowledged, instead of those that were not
	Limit     int  // 0 for maxArticles
}

const (
	maxArticles  = 1000
	articleBytes = 32 << 20 // of texts in one answer
)

const articleColumns = `select a.id, a.briefing_id, a.source_id, coalesce(s.title, ''), coalesce(s.feed_title, ''), coalesce(s.url, ''),
 a.title, a.url, a.author, a.body, a.published_at, a.created_at, a.processed_at
 from articles a left join sources s on s.id = a.source_id where a.briefing_id = $1 and a.processed_at is `

// Articles returns the articles of a briefing, those that wait the newest first, those that were acknowledged the last
// acknowledged first; more says that there are others.
func (s *Store) Articles(ctx context.Context, q ArticleQuery) (list []freshet.Article, more bool, err error) {
	limit := cmp.Or(min(q.Limit, maxArticles), maxArticles)
	text := articleColumns + "null order by a.published_at desc, a.id desc limit $2"
	if q.Processed {
		text = articleColumns + "not null order by a.processed_at desc, a.id desc limit $2"
	}
	rows, err := s.query(ctx, text, q.Briefing, limit+1)
	if err != nil {
		return nil, false, fmt.Errorf("read articles of briefing %s: %w", q.Briefing, err)
	}
	defer rows.Close()
	left := articleBytes
	for rows.Next() {
		var a freshet.Article
		var from freshet.Source
		if err := rows.Scan(&a.ID, &a.Briefing, &a.Source, &from.Title, &from.FeedTitle, &from.URL, &a.Title, &a.URL, &a.Author, &a.Text,
			moment{&a.PublishedAt}, moment{&a.CreatedAt}, moment{&a.ProcessedAt}); err != nil {
			return nil, false, fmt.Errorf("read articles of briefing %s: %w", q.Briefing, err)
		}
		if left -= len(a.Text); len(list) == limit || left < 0 && len(list) > 0 {
			return list, true, nil
		}
		if from.URL != "" {
			a.SourceName = from.Name()
		}
		list = append(list, a)
	}
	if err := rows.Err(); err != nil {
		return nil, false, fmt.Errorf("read articles of briefing %s: %w", q.Briefing, err)
	}
	return list, false, nil
}

// Acknowledge marks articles of a briefing as processed, all that wait when ids is nil, and returns how many of them
// were not before. What is no article of the briefing, or not any more, is left out: doing it twice is harmless.
func (s *Store) Acknowledge(ctx context.Context, briefing freshet.ID, ids []freshet.ID, now time.Time) (int, error) {
	n := 0
	err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		text, args := "update articles set processed_at = $2 where briefing_id = $1 and processed_at is null", []any{briefing, now}
		if ids != nil {
			text, args = text+" and id in ($3...)", append(args, ids)
		}
		n, err = t.exec(ctx, text, args...)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("acknowledge articles of briefing %s: %w", briefing, err)
	}
	return n, nil
}

// cleanBriefings removes some of what is past the age limits of briefings, at most limit rows: articles that nobody
// acknowledged, and the posts of hidden sources that no article stands for, with their items. Articles that were acknowledged
// stay, and so does what the river shows (D8).
func (s *Store) cleanBriefings(ctx context.Context, now time.Time, limit int) (int, error) {
	list, err := briefings(ctx, s, "")
	if err != nil {
		return 0, err
	}
	for _, b := range list {
		if n, err := s.cleanArticles(ctx, &b, now, limit); n > 0 || err != nil {
			return n, err
		}
	}
	cleaned := map[freshet.ID]bool{}
	for _, b := range list {
		for _, has := range b.Sources {
			if has.Source.InRiver || cleaned[has.Source.ID] {
				continue
			}
			cleaned[has.Source.ID] = true
			before := now.Add(-s.settings.Policy(has.Source).MaxAge)
			if n, err := s.removePosts(ctx, has.Source.ID, before, limit); n > 0 || err != nil {
				return n, err
			}
		}
	}
	return 0, nil
}

const (
	staleArticles  = "select id from articles where briefing_id = $1 and processed_at is null and published_at < $2 and "
	removeArticles = "delete from articles where id in ($1...) and processed_at is null"
)

// cleanArticles removes articles that nobody acknowledged and that are past the age limit of their source.
func (s *Store) cleanArticles(ctx context.Context, b *freshet.Briefing, now time.Time, limit int) (int, error) {
	var own []freshet.ID // sources with a limit of their own
	for _, has := range b.Sources {
		if has.Source.Config.MaxArticleAgeDays == nil {
			continue
		}
		own = append(own, has.Source.ID)
		n, err := s.removeOld(ctx, staleArticles+"source_id = $3 order by published_at limit $4", removeArticles,
			[]any{b.ID, b.Window(has, now).From, has.Source.ID, limit})
		if n > 0 || err != nil {
			return n, err
		}
	}
	return s.removeOld(ctx, staleArticles+"source_id not in ($3...) order by published_at limit $4", removeArticles,
		[]any{b.ID, now.Add(-b.MaxAge), own, limit})
}

// unlinkedPosts are the items of source $1's posts before $2 that no article stands for. What the river shows stays.
const unlinkedPosts = `select p.item_id from posts p join items i on i.id = p.item_id
 where p.source_id = $1 and p.published_at < $2 and i.in_river = 0
 and not exists (select 1 from post_articles a where a.source_id = p.source_id and a.item_id = p.item_id) limit $3`

// removePosts removes old posts of a source that no article stands for, and the items that nothing else carries.
func (s *Store) removePosts(ctx context.Context, source freshet.ID, before time.Time, limit int) (int, error) {
	items, err := all(ctx, s, number, unlinkedPosts, source, before, limit)
	if err != nil || len(items) == 0 {
		return 0, err
	}
	n := 0
	err = s.write(ctx, func(ctx context.Context, t *tx) error {
		// The condition again: since the look an article may stand for one.
		n, err = t.exec(ctx, `delete from posts where source_id = $1 and published_at < $2 and item_id in ($3...)
 and not exists (select 1 from post_articles a where a.source_id = posts.source_id and a.item_id = posts.item_id)`, source, before, items)
		if err != nil {
			return err
		}
		return t.removeCarriedByNone(ctx, items)
	})
	return n, err
}

// removeCarriedByNone removes those of the items that no source has a post of.
func (t *tx) removeCarriedByNone(ctx context.Context, items []int64) error {
	items, err := all(ctx, t, number, "select id from items where id in ($1...) and not exists (select 1 from posts p where p.item_id = items.id)", items)
	if err != nil || len(items) == 0 {
		return err
	}
	_, err = t.removeRows(ctx, removeItems, items)
	return err
}
