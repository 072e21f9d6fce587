package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"freshet"
)

// Search finds in river order, and its work is bounded by the page, not by how common the words are:
//
// SQLite reads the matches of FTS5 by row number, so a text's row number is its place in the river
// (search_places). PostgreSQL's GIN has no order, so every text also holds the hour it was
// published as one more word, and a search asks for an hour, for four, for sixteen, and so on.
//
// With chosen sources their newest items are tried first: when they have few, or the words are
// common, that is all there is to read.

const (
	tried   = 1000 // how many of the chosen sources' items are tried
	atATime = 200
	fewRows = 20 // FTS5 looks this many up one by one sooner than it reads all matches between them
)

// found returns the newest items that hold the terms, at most limit.
func (s *Store) found(ctx context.Context, terms []term, sources []freshet.ID, where stretch, limit int) ([]freshet.Item, error) {
	if len(terms) == 0 {
		return nil, nil // nothing that could be found was asked for
	}
	if len(sources) > 0 {
		places, enough, err := s.tryNewest(ctx, terms, sources, where, limit)
		if err != nil {
			return nil, err
		}
		if enough {
			return s.itemsAt(ctx, places)
		}
	}
	search := s.searchSQLite
	if s.dialect.arrays {
		search = s.searchPostgres
	}
	places, err := search(ctx, terms, sources, where, limit)
	if err != nil {
		return nil, err
	}
	return s.itemsAt(ctx, places)
}

// tryNewest tries the newest items of the sources. It says whether that was enough: the page is full, or
// the sources have no more.
func (s *Store) tryNewest(ctx context.Context, terms []term, sources []freshet.ID, where stretch, limit int) (found []place, enough bool, err error) {
	places, err := s.placesOf(ctx, sources, where, tried)
	if err != nil {
		return nil, false, err
	}
	for part := range slices.Chunk(places, atATime) {
		hold, err := s.matching(ctx, terms, part)
		if err != nil {
			return nil, false, err
		}
		if found = append(found, hold...); len(found) >= limit {
			return found[:limit], true, nil
		}
	}
	return found, len(places) < tried, nil
}

// matching returns those of the places whose items hold the terms.
func (s *Store) matching(ctx context.Context, terms []term, places []place) ([]place, error) {
	ids := make([]int64, len(places))
	for i, p := range places {
		ids[i] = p.id
	}
	matching := s.matchingSQLite
	if s.dialect.arrays {
		matching = s.matchingPostgres
	}
	list, err := matching(ctx, terms, places, ids)
	if err != nil {
		return nil, err
	}
	hold := make(map[int64]bool, len(list))
	for _, id := range list {
		hold[id] = true
	}
	return slices.DeleteFunc(places, func(p place) bool { return !hold[p.id] }), nil
}

func (s *Store) matchingPostgres(ctx context.Context, terms []term, _ []place, ids []int64) ([]int64, error) {
	return all(ctx, s, number, "select item_id from search where item_id in ($1...) and doc @@ $2::text::tsquery", ids, tsQuery(terms))
}

func (s *Store) matchingSQLite(ctx context.Context, terms []term, places []place, ids []int64) ([]int64, error) {
	text := `select r.item_id from search s cross join search_places r on r.place = s.rowid
where s.search match $2 and s.rowid >= $3 and s.rowid < $4
and +s.rowid in (select place from search_places where item_id in ($1...))` // + : filter what is read, do not look it up
	if len(places) <= fewRows {
		text = `select r.item_id from search_places r cross join search s on s.rowid = r.place
where r.item_id in ($1...) and s.search match $2 and r.place >= $3 and r.place < $4`
	}
	newest, oldest := places[0].published, places[len(places)-1].published
	return all(ctx, s, number, text, ids, ftsQuery(terms), firstRow(oldest), firstRow(newest)+1<<slots)
}

// visible is what a search may show: the river, or whatever the chosen sources carried. The latter
// asks for the number of the item in a column, so that SQLite need not read the item first.
func visible(sources []freshet.ID, item, arg string) string {
	if len(sources) == 0 {
		return "i.in_river = 1"
	}
	return "exists (select 1 from posts p where p.item_id = " + item + " and p.source_id in (" + arg + "...))"
}

// searchPostgres widens a stretch of hours until it holds enough.
func (s *Store) searchPostgres(ctx context.Context, terms []term, sources []freshet.ID, where stretch, limit int) ([]place, error) {
	newest, err := s.newest(ctx)
	if err != nil {
		return nil, err
	}
	text := matchesPostgres + visible(sources, "i.id", "$7") + matchesPostgresOrder
	query := tsQuery(terms)
	var places []place
	for part := range where.widening(newest, time.Hour, mostHours*time.Hour) {
		args := []any{query + hoursQuery(part), part.since, part.published, part.ingested, part.id, limit}
		if len(sources) > 0 {
			args = append(args, sources)
		}
		places, err = all(ctx, s, placeColumns, text, args...)
		if err != nil || len(places) == limit {
			return places, err
		}
	}
	return places, nil
}

const (
	matchesPostgres = `with found as materialized (select item_id from search where doc @@ $1::text::tsquery)
select i.published_at, i.ingested_at, i.id from found join items i on i.id = found.item_id
where i.published_at >= $2 and (i.published_at, i.ingested_at, i.id) < ($3, $4, $5) and `
	matchesPostgresOrder = " order by i.published_at desc, i.ingested_at desc, i.id desc limit $6"
)

// mostHours is how many hours a search names one by one.
const mostHours = 64

// hourWord is the word for the hour that a text was published in. It is none that a person can ask for.
func hourWord(hour int64) string { return "'@" + strconv.FormatInt(hour, 10) + "'" }

func hourOf(published int64) int64 { return floorDiv(published, time.Hour.Milliseconds()) }

// hoursQuery limits a tsquery to the hours of a stretch, when those are few.
func hoursQuery(w stretch) string {
	first, last := hourOf(w.since), hourOf(w.published)
	if last-first > mostHours || last < first {
		return ""
	}
	var hours []string
	for h := last; h >= first; h-- {
		hours = append(hours, hourWord(h))
	}
	return " & (" + strings.Join(hours, " | ") + ")"
}

// slots is how many bits of a row number tell the texts of one second apart.
const slots = 18

// firstRow is the least row number of texts published in the second of a time.
func firstRow(published int64) int64 {
	const most = 1 << 52
	return floorDiv(min(max(published, -most), most), 1000) << slots
}

func floorDiv(a, b int64) int64 {
	if a%b < 0 {
		return a/b - 1
	}
	return a / b
}

// searchSQLite reads matches by row number, which is river order to the second; the texts of the last
// second are read to the end and put in exact order.
func (s *Store) searchSQLite(ctx context.Context, terms []term, sources []freshet.ID, where stretch, limit int) ([]place, error) {
	text := matchesSQLite + visible(sources, "r.item_id", "$9") + matchesSQLiteOrder
	query := ftsQuery(terms)
	read := func(first, last int64, limit int) ([]row, error) {
		args := []any{query, first, last, where.since, where.published, where.ingested, where.id, limit}
		if len(sources) > 0 {
			args = append(args, sources)
		}
		return all(ctx, s, rowColumns, text, args...)
	}
	rows, err := read(firstRow(where.since), firstRow(where.published)+1<<slots-1, limit)
	if err != nil {
		return nil, err
	}
	if len(rows) == limit {
		last := rows[limit-1].number
		same, err := read(last>>slots<<slots, last-1, 1<<slots)
		if err != nil {
			return nil, err
		}
		rows = append(rows, same...)
	}
	places := make([]place, len(rows))
	for i := range rows {
		places[i] = rows[i].place
	}
	slices.SortFunc(places, riverOrder)
	return places[:min(len(places), limit)], nil
}

const (
	matchesSQLite = `select i.published_at, i.ingested_at, i.id, r.place
from search s cross join search_places r on r.place = s.rowid cross join items i on i.id = r.item_id
where s.search match $1 and s.rowid >= $2 and s.rowid <= $3
and i.published_at >= $4 and (i.published_at, i.ingested_at, i.id) < ($5, $6, $7) and `
	matchesSQLiteOrder = " order by s.rowid desc limit $8"
)

// row is a match with its row number in FTS5.
type row struct {
	place
	number int64
}

func rowColumns(r *row) []any { return append(placeColumns(&r.place), &r.number) }

// maxBatch keeps the transaction of IndexText short, whatever it is asked for.
const maxBatch = 1000

// IndexText indexes the texts of the next items that wait for it, at most limit, in one short
// transaction, and returns how many. Ingest only names the items (search_pending): to index their
// texts costs more than all else that is written of them. Those who follow are told, because only now a
// search finds the items.
func (s *Store) IndexText(ctx context.Context, limit int, now time.Time) (int, error) {
	done := 0
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		// Naming an item again waits for this transaction, so that no edit is lost.
		pending, err := all(ctx, t, number, `delete from search_pending where item_id in (
			select item_id from search_pending order by item_id limit $1 for update skip locked) returning item_id`, min(limit, maxBatch))
		if err != nil || len(pending) == 0 {
			done = 0
			return err
		}
		done = len(pending)
		t.emit(freshet.EventTexts, textsEvent{done}, now)
		if s.dialect.arrays {
			return indexPostgres(ctx, t, pending)
		}
		return indexSQLite(ctx, t, pending)
	})
	if err != nil {
		return 0, fmt.Errorf("index texts for search: %w", err)
	}
	return done, nil
}

// item whose text is indexed.
type itemText struct {
	place
	title, body string
	number      sql.NullInt64 // its row in FTS5, if it has one
	known       bool          // to FTS5, which is spared the look for a row that cannot be there
}

// words calls yield for every word of title and body, as many as are indexed.
func (i *itemText) words(yield func(n int, word []byte)) {
	n := 0
	for _, text := range []string{i.title, i.body} {
		for word := range words(text[:min(len(text), maxText)]) {
			if n++; n > maxWords {
				return
			}
			yield(n, word)
		}
	}
}

func indexPostgres(ctx context.Context, t *tx, pending []int64) error {
	texts, err := all(ctx, t, func(i *itemText) []any { return append(placeColumns(&i.place), &i.title, &i.body) },
		`select i.published_at, i.ingested_at, i.id, i.title, coalesce(b.body, '') from items i
		left join bodies b on b.item_id = i.id where i.id in ($1...) order by i.id for key share of i`, pending)
	if err != nil {
		return err
	}
	ids, docs := make([]int64, len(texts)), make([]string, len(texts))
	var doc []byte
	for n := range texts {
		doc = append(doc[:0], hourWord(hourOf(texts[n].published))...)
		texts[n].words(func(position int, word []byte) {
			doc = append(append(doc, " '"...), word...)
			doc = strconv.AppendInt(append(doc, "':"...), int64(position), 10)
		})
		ids[n], docs[n] = texts[n].id, string(doc)
	}
	_, err = t.exec(ctx, `insert into search (item_id, doc)
		select item_id, doc::tsvector from unnest($1::bigint[], $2::text[]) as texts (item_id, doc)
		on conflict (item_id) do update set doc = excluded.doc`, ids, docs)
	return err
}

func indexSQLite(ctx context.Context, t *tx, pending []int64) error {
	texts, err := all(ctx, t, func(i *itemText) []any { return append(placeColumns(&i.place), &i.title, &i.body, &i.number) },
		`select i.published_at, i.ingested_at, i.id, i.title, coalesce(b.body, ''), r.place from items i
		left join bodies b on b.item_id = i.id left join search_places r on r.item_id = i.id where i.id in ($1...)`, pending)
	if err != nil {
		return err
	}
	// FTS5 wants its rows in order: it flushes what it has gathered when a row number goes back.
	slices.SortFunc(texts, func(a, b itemText) int { return riverOrder(b.place, a.place) })
	for i := range texts {
		if err := placeText(ctx, t, &texts[i]); err != nil {
			return err
		}
	}
	slices.SortFunc(texts, func(a, b itemText) int { return int(a.number.Int64 - b.number.Int64) })
	var doc []byte
	for i := range texts {
		doc = append(doc[:0], everyItem...)
		texts[i].words(func(_ int, word []byte) { doc = append(append(doc, ' '), word...) })
		insert := "insert into search (rowid, doc) values ($1, $2)"
		if texts[i].known {
			insert = "insert or replace into search (rowid, doc) values ($1, $2)"
		}
		if _, err := t.exec(ctx, insert, texts[i].number.Int64, string(doc)); err != nil {
			return err
		}
	}
	return nil
}

// placeText gives a text that has none a row number among those of its second.
func placeText(ctx context.Context, t *tx, text *itemText) error {
	if text.known = text.number.Valid; text.known {
		return nil
	}
	first := firstRow(text.published)
	last, _, err := one(ctx, t, number, "select coalesce(max(place), $1 - 1) from search_places where place >= $1 and place < $2", first, first+1<<slots)
	if err != nil {
		return err
	}
	text.number = sql.NullInt64{Int64: last + 1, Valid: true}
	_, err = t.exec(ctx, "insert into search_places (place, item_id) values ($1, $2)", last+1, text.id)
	return err
}
