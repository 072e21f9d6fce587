package store

import (
	"context"
	"slices"
	"time"

	"freshet"
)

// move writes a source that a permanent redirect took to another address (F3). Where that address is a
// source already the two become one.
func (t *tx) move(ctx context.Context, u *turn, now time.Time) error {
	src := &u.Source
	list, err := watched(ctx, t, "where s.normalized_url = $1 and s.id <> $2 for update of p", src.NormalizedURL, src.ID)
	if err != nil {
		return err
	}
	if len(list) > 0 && list[0].Source.RemovedAt.IsZero() {
		return t.join(ctx, u, &list[0], now)
	}
	if len(list) > 0 { // removed once: what it has given belongs to the one that came to its address
		if err := t.handOver(ctx, list[0].Source.ID, src.ID); err != nil {
			return err
		}
		if _, err := t.exec(ctx, "update workflows set source_id = $2 where source_id = $1", list[0].Source.ID, src.ID); err != nil {
			return err
		}
		if _, err := t.exec(ctx, "delete from sources where id = $1", list[0].Source.ID); err != nil {
			return err
		}
	}
	hosts, err := t.hosts(ctx, []string{src.Host}, now)
	if err != nil {
		return err
	}
	u.Host = hosts[src.Host]
	src.UpdatedAt = now
	if src.Enabled {
		src.NextPollAt = later(src.NextPollAt, u.Host.NotBefore)
	}
	t.emitFeed(src, now)
	homes := t.rows(updateHome)
	homes.addHome(&u.Watched)
	if err := runAll(ctx, homes); err != nil {
		return err
	}
	return t.saveSource(ctx, &u.Watched)
}

// join merges a source into the one that is at its new address and removes it. The one that stays is
// enabled and in the river if either was: nobody loses what they follow.
func (t *tx) join(ctx context.Context, u *turn, into *Watched, now time.Time) error {
	src, other := &u.Source, &into.Source
	if err := t.handOver(ctx, src.ID, other.ID); err != nil {
		return err
	}
	if !other.Enabled {
		*other = other.Enable(into.Host, now)
		other.Seq++
	}
	if src.InRiver && !other.InRiver {
		other.InRiver = true
		if err := t.showItems(ctx, other.ID); err != nil {
			return err
		}
	}
	if other.Title == "" {
		other.Title = src.Title
	}
	if err := t.passOn(ctx, src, other); err != nil {
		return err
	}
	other.UpdatedAt = now
	if err := t.saveSource(ctx, into); err != nil {
		return err
	}
	if err := t.ask(ctx, []freshet.ID{other.ID}, now); err != nil {
		return err
	}
	t.emitFeed(other, now)
	reason := "It moved to " + src.URL + ", which is a source already."
	src.URL, src.NormalizedURL, src.Host, src.MovedFrom = u.before.URL, u.before.NormalizedURL, u.before.Host, u.before.MovedFrom
	src.DisabledReason = reason
	return t.remove(ctx, &u.Watched, now)
}

// passOn lets the workflows of one source watch another.
func (t *tx) passOn(ctx context.Context, from, to *freshet.Source) error {
	n, err := t.exec(ctx, "update workflows set source_id = $2 where source_id = $1", from.ID, to.ID)
	if err != nil || n == 0 {
		return err
	}
	list, err := workflows(ctx, t, "where w.source_id = $1", to.ID)
	if err != nil {
		return err
	}
	from.Ask(nil)
	to.Ask(list)
	to.Forget() // they may not have seen what is there
	return nil
}

// handOver gives one source's posts, and what it is known to have given, to another.
func (t *tx) handOver(ctx context.Context, from, to freshet.ID) error {
	for _, text := range []string{
		`insert into posts (source_id, published_at, ingested_at, item_id, guid, url, content_hash, first_seen_at)
 select $2, published_at, ingested_at, item_id, guid, url, content_hash, first_seen_at from posts where source_id = $1 on conflict do nothing`,
		"update items set source_id = $2 where source_id = $1 and id in (select item_id from posts where source_id = $1)",
		`insert into briefing_sources (briefing_id, source_id, aggregate, added_at)
 select briefing_id, $2, aggregate, added_at from briefing_sources where source_id = $1 on conflict do nothing`,
		`insert into post_articles (briefing_id, source_id, item_id, article_id, content_hash)
 select briefing_id, $2, item_id, article_id, content_hash from post_articles where source_id = $1 on conflict do nothing`,
	} {
		if _, err := t.exec(ctx, text, from, to); err != nil {
			return err
		}
	}
	if _, err := t.exec(ctx, "delete from posts where source_id = $1", from); err != nil {
		return err
	}
	windows, err := t.windows(ctx, []freshet.ID{from, to})
	if err != nil || len(windows[from]) == 0 {
		return err
	}
	seen := t.rows(upsertSeen)
	seen.add(to, []byte(slices.Concat(windows[to], windows[from])))
	return runAll(ctx, seen)
}
