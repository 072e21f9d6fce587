package store

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"freshet"
	"freshet/internal/plain"
)

// snippetLength is how many characters of its text an item shows in the river.
const snippetLength = 300

var (
	insertItems = inserting("items", `id bigint, source_id bigint, in_river bigint, guid text, url text, canonical_url text, title text, snippet text,
		author text, image text, published_at bigint, ingested_at bigint, updated_at bigint`, "")
	updateItems   = updating("items", "id bigint, url text, canonical_url text, title text, snippet text, author text, image text, updated_at bigint")
	upsertBodies  = inserting("bodies", "item_id bigint, body text, enclosures text", "on conflict (item_id) do update set body = excluded.body, enclosures = excluded.enclosures")
	insertKeys    = inserting("item_keys", "key bytea, item_id bigint, has_guid bigint", "on conflict (key) do nothing")
	insertPosts   = inserting("posts", "source_id bigint, published_at bigint, ingested_at bigint, item_id bigint, guid text, url text, content_hash bytea, first_seen_at bigint", "on conflict do nothing")
	insertPending = inserting("search_pending", "item_id bigint", "on conflict do nothing")
)

// entry is an item that a post of the batch belongs to, as far as that must be known.
type entry struct {
	id                  freshet.ID
	source              freshet.ID // whose edits change it
	published, ingested time.Time  // its place
	inRiver             bool
}

func (e *entry) columns() []any {
	return []any{&e.id, &e.source, moment{&e.published}, moment{&e.ingested}, flag{&e.inRiver}}
}

// keyed is a row of item_keys.
type keyed struct {
	item    freshet.ID
	hasGUID bool
}

// carried names a post: one source's of one item.
type carried struct{ source, item freshet.ID }

// merge brings the new and edited posts of a batch together with the items that there are (D1, D3).
type merge struct {
	t   *tx
	now time.Time

	items map[freshet.ID]*entry
	keys  map[freshet.Key]keyed
	posts map[carried]freshet.ContentHash

	fresh  []freshet.Key // to be written, of keys
	guided [][]byte      // keys of items that have a guid since now
	joined []freshet.ID  // hidden items that a source of the river carries, too
	shown  []freshet.ID  // items that are new in the river

	newItems, newBodies, newPosts, pending *rows
	edits                                  map[carried]*freshet.Post // the last of each
}

var updatePosts = &bulk{
	row: "update posts set guid = $5, url = $6, content_hash = $7 where source_id = $1 and published_at = $2 and ingested_at = $3 and item_id = $4",
	arrays: `update posts p set guid = v.guid, url = v.url, content_hash = v.content_hash
 from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::bytea[]) v (source_id, published_at, ingested_at, item_id, guid, url, content_hash)
 where p.source_id = v.source_id and p.published_at = v.published_at and p.ingested_at = v.ingested_at and p.item_id = v.item_id`,
	kinds: []string{"bigint", "bigint", "bigint", "bigint", "text", "text", "bytea"},
}

// writePosts stores what the batch's posts bring: items, their keys and texts, posts. It counts on each
// turn and returns the items that are new in the river.
func (t *tx) writePosts(ctx context.Context, turns []*turn, now time.Time) ([]freshet.ID, error) {
	keys, n := keysOf(turns)
	if n == 0 {
		return nil, nil
	}
	m := &merge{
		t: t, now: now.UTC().Truncate(time.Millisecond),
		items: map[freshet.ID]*entry{}, keys: make(map[freshet.Key]keyed, len(keys)), posts: map[carried]freshet.ContentHash{},
		newItems: t.room(insertItems, n), newBodies: t.room(upsertBodies, n), newPosts: t.room(insertPosts, n), pending: t.room(insertPending, n),
		edits: map[carried]*freshet.Post{},
	}
	if err := m.readKeys(ctx, keys); err != nil {
		return nil, err
	}
	for _, u := range turns {
		for i, fate := range u.fates {
			switch fate {
			case freshet.New:
				m.add(u, &u.outcome.Posts[i])
			case freshet.Edited:
				m.edit(u, &u.outcome.Posts[i])
			}
		}
	}
	return m.shown, m.write(ctx)
}

// keysOf returns the identities of all posts that are new or edited, and how many posts that are.
func keysOf(turns []*turn) (keys [][]byte, posts int) {
	for _, u := range turns {
		for i, fate := range u.fates {
			if fate != freshet.New && fate != freshet.Edited {
				continue
			}
			posts++
			k := &u.outcome.Posts[i].Keys
			for _, key := range []*freshet.Key{&k.GUID, &k.URL, &k.Own} {
				if *key != (freshet.Key{}) {
					keys = append(keys, key[:])
				}
			}
		}
	}
	return keys, posts
}

func (m *merge) readKeys(ctx context.Context, keys [][]byte) error {
	type row struct {
		key []byte
		keyed
	}
	list, err := all(ctx, m.t, func(r *row) []any { return []any{&r.key, &r.item, flag{&r.hasGUID}} },
		"select key, item_id, has_guid from item_keys where key in ($1 keys...)", keys)
	if err != nil || len(list) == 0 {
		return err
	}
	ids := make([]freshet.ID, 0, len(list))
	for _, r := range list {
		m.keys[freshet.Key(r.key)] = r.keyed
		ids = append(ids, r.item)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	items, err := all(ctx, m.t, (*entry).columns, "select id, source_id, published_at, ingested_at, in_river from items where id in ($1...)", ids)
	if err != nil {
		return err
	}
	for i := range items {
		m.items[items[i].id] = &items[i]
	}
	type post struct {
		carried
		hash freshet.ContentHash
	}
	posts, err := all(ctx, m.t, func(p *post) []any { return []any{&p.item, &p.source, digest{&p.hash}} },
		"select item_id, source_id, content_hash from posts where item_id in ($1...)", ids)
	for _, p := range posts {
		m.posts[p.carried] = p.hash
	}
	return err
}

// find returns the item that a post belongs to (D1): by guid; else by address when the item has no guid
// or the post has none. It returns nil when there is none.
func (m *merge) find(k *freshet.Keys) *entry {
	none := freshet.Key{}
	if k.GUID != none {
		if found, ok := m.keys[k.GUID]; ok {
			return m.items[found.item]
		}
	}
	if k.URL != none {
		if found, ok := m.keys[k.URL]; ok && (k.GUID == none || !found.hasGUID) {
			return m.items[found.item]
		}
	}
	if k.Own != none {
		if found, ok := m.keys[k.Own]; ok {
			return m.items[found.item]
		}
	}
	return nil
}

// add stores a new post: under the item that it belongs to, else as an item of its own. Where the source
// carried that item before, the window had forgotten it and it is an edit at most.
func (m *merge) add(u *turn, post *freshet.Post) {
	e := m.find(&post.Keys)
	if e == nil {
		e = m.create(u, post)
	} else if hash, ok := m.posts[carried{u.before.ID, e.id}]; ok {
		if hash != post.Hash {
			m.edit(u, post)
		}
		return
	}
	u.New++
	m.learn(e, &post.Keys)
	if u.before.InRiver && !e.inRiver {
		e.inRiver = true
		m.joined, m.shown = append(m.joined, e.id), append(m.shown, e.id)
	}
	m.posts[carried{u.before.ID, e.id}] = post.Hash
	m.newPosts.add(u.before.ID, e.published, e.ingested, e.id, post.GUID, post.URL, post.Hash[:], m.now)
}

// create makes an item of a post, which gives it its words and its place (D3, D4).
func (m *merge) create(u *turn, post *freshet.Post) *entry {
	e := &entry{id: m.t.s.ids.Next(m.now), source: u.before.ID, published: freshet.RiverTime(post.Published, m.now), ingested: m.now, inRiver: u.before.InRiver}
	m.items[e.id] = e
	m.newItems.add(e.id, e.source, e.inRiver, post.GUID, post.URL, freshet.CanonicalURL(post.URL), post.Title, snippet(post),
		post.Author, post.Image, e.published, e.ingested, m.now)
	m.newBodies.add(e.id, post.Text, enclosures(post))
	m.pending.add(e.id)
	if e.inRiver {
		m.shown = append(m.shown, e.id)
	}
	u.NewItems++
	return e
}

// learn notes the identities of an item that a post adds.
func (m *merge) learn(e *entry, k *freshet.Keys) {
	hasGUID := k.GUID != freshet.Key{}
	for _, key := range []*freshet.Key{&k.GUID, &k.URL, &k.Own} {
		known, ok := m.keys[*key]
		switch {
		case *key == freshet.Key{}:
		case !ok:
			m.keys[*key] = keyed{e.id, hasGUID}
			m.fresh = append(m.fresh, *key)
		case hasGUID && !known.hasGUID && known.item == e.id:
			m.keys[*key] = keyed{e.id, true}
			m.guided = append(m.guided, key[:])
		}
	}
}

// edit notes another version of a post. An item that retention took does not come back (D7a).
func (m *merge) edit(u *turn, post *freshet.Post) {
	e := m.find(&post.Keys)
	if e == nil {
		return
	}
	c := carried{u.before.ID, e.id}
	if _, ok := m.posts[c]; !ok {
		return
	}
	u.Edited++
	m.posts[c], m.edits[c] = post.Hash, post
}

// write writes what was noted. Keys go in order, so that two transactions do not wait for each other;
// one that another transaction wrote meanwhile means that its item is there by now.
func (m *merge) write(ctx context.Context) error {
	if err := runAll(ctx, m.newItems, m.newBodies); err != nil {
		return err
	}
	slices.SortFunc(m.fresh, func(a, b freshet.Key) int { return bytes.Compare(a[:], b[:]) })
	keys := m.t.room(insertKeys, len(m.fresh))
	for i := range m.fresh {
		key := m.keys[m.fresh[i]]
		keys.add(m.fresh[i][:], key.item, key.hasGUID)
	}
	if n, err := keys.run(ctx); err != nil || n < len(m.fresh) {
		return cmp.Or(err, errAgain)
	}
	if err := runAll(ctx, m.newPosts); err != nil {
		return err
	}
	if len(m.guided) > 0 {
		if _, err := m.t.exec(ctx, "update item_keys set has_guid = 1 where key in ($1 keys...)", m.guided); err != nil {
			return err
		}
	}
	if len(m.joined) > 0 {
		if _, err := m.t.exec(ctx, "update items set in_river = 1 where id in ($1...)", m.joined); err != nil {
			return err
		}
	}
	if err := m.writeEdits(ctx); err != nil {
		return err
	}
	return runAll(ctx, m.pending)
}

// writeEdits updates what each source gave, and the item itself where the source is the item's own (D3).
func (m *merge) writeEdits(ctx context.Context) error {
	items, bodies, posts := m.t.rows(updateItems), m.t.rows(upsertBodies), m.t.rows(updatePosts)
	order := slices.SortedFunc(maps.Keys(m.edits), func(a, b carried) int {
		return cmp.Or(cmp.Compare(a.item, b.item), cmp.Compare(a.source, b.source))
	})
	for _, c := range order {
		e, post := m.items[c.item], m.edits[c]
		posts.add(c.source, e.published, e.ingested, c.item, post.GUID, post.URL, post.Hash[:])
		if e.source == c.source {
			items.add(c.item, post.URL, freshet.CanonicalURL(post.URL), post.Title, snippet(post), post.Author, post.Image, m.now)
			bodies.add(c.item, post.Text, enclosures(post))
			m.pending.add(c.item)
		}
	}
	return runAll(ctx, items, bodies, posts)
}

func snippet(post *freshet.Post) string { return plain.Snippet(post.Text, snippetLength) }

func enclosures(post *freshet.Post) string {
	if len(post.Enclosures) == 0 {
		return "[]"
	}
	return text(post.Enclosures)
}
