package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"freshet"
)

// BriefingSource is a source that a briefing is to have. One that is there already is shared: it keeps its type,
// its configuration and its place in the river (W2).
type BriefingSource struct {
	NewSource
	Aggregate *bool // nil: its kind decides (B2)
}

const briefingColumns = "select id, name, owner, max_age, asked, created_at, updated_at from briefings "

func readBriefing(b *freshet.Briefing) []any {
	return []any{&b.ID, &b.Name, &b.Owner, span{&b.MaxAge}, span{&b.Interval}, moment{&b.CreatedAt}, moment{&b.UpdatedAt}}
}

// Briefings returns all briefings with their sources, by name.
func (s *Store) Briefings(ctx context.Context) ([]freshet.Briefing, error) {
	list, err := briefings(ctx, s, "")
	if err != nil {
		return nil, fmt.Errorf("list briefings: %w", err)
	}
	slices.SortFunc(list, func(a, b freshet.Briefing) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

// Briefing returns a briefing with its sources, else ErrNotFound.
func (s *Store) Briefing(ctx context.Context, id freshet.ID) (freshet.Briefing, error) {
	b, err := theBriefing(ctx, s, "where id = $1", id)
	if err != nil {
		return b, fmt.Errorf("read briefing %s: %w", id, err)
	}
	return b, nil
}

// FindBriefing returns the briefing that a person names by its name or its id.
func (s *Store) FindBriefing(ctx context.Context, nameOrID string) (freshet.Briefing, error) {
	id, _ := freshet.ParseID(nameOrID)
	b, err := theBriefing(ctx, s, "where name = $1 or id = $2 order by case name when $1 then 0 else 1 end", nameOrID, id)
	if err != nil {
		return b, fmt.Errorf("find briefing %s: %w", nameOrID, err)
	}
	return b, nil
}

func theBriefing(ctx context.Context, q querier, where string, args ...any) (freshet.Briefing, error) {
	return the(briefings(ctx, q, where, args...))
}

// briefings reads briefings with their sources, these by name.
func briefings(ctx context.Context, q querier, where string, args ...any) ([]freshet.Briefing, error) {
	list, err := all(ctx, q, readBriefing, briefingColumns+where, args...)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	ids, byID := make([]freshet.ID, len(list)), make(map[freshet.ID]*freshet.Briefing, len(list))
	for i := range list {
		ids[i], byID[list[i].ID] = list[i].ID, &list[i]
	}
	sources, err := watched(ctx, q, "where s.id in (select source_id from briefing_sources where briefing_id in ($1...))", ids)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(sources, func(a, b Watched) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Source.Name()), strings.ToLower(b.Source.Name())), cmp.Compare(a.Source.ID, b.Source.ID))
	})
	type link struct {
		briefing, source freshet.ID
		aggregate        *int64
		added            time.Time
	}
	links, err := all(ctx, q, func(l *link) []any { return []any{&l.briefing, &l.source, &l.aggregate, moment{&l.added}} },
		"select briefing_id, source_id, aggregate, added_at from briefing_sources where briefing_id in ($1...)", ids)
	bySource := map[freshet.ID][]link{}
	for _, l := range links {
		bySource[l.source] = append(bySource[l.source], l)
	}
	for _, w := range sources {
		for _, l := range bySource[w.Source.ID] {
			has := freshet.BriefingSource{Source: w.Source, AddedAt: l.added}
			if l.aggregate != nil {
				aggregate := *l.aggregate != 0
				has.Aggregate = &aggregate
			}
			byID[l.briefing].Sources = append(byID[l.briefing].Sources, has)
		}
	}
	return list, err
}

// AddBriefing adds a briefing with its sources. A name that another one has is a *freshet.FieldError.
func (s *Store) AddBriefing(ctx context.Context, b freshet.Briefing, sources []BriefingSource, now time.Time) (freshet.Briefing, error) {
	err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		if err := t.checkBriefing(ctx, &b); err != nil {
			return err
		}
		b.ID, b.CreatedAt, b.UpdatedAt = s.ids.Next(now), now, now
		if _, err := t.exec(ctx, "insert into briefings (id, name, owner, max_age, asked, created_at, updated_at) values ($1, $2, $3, $4, $5, $6, $7)",
			b.ID, b.Name, b.Owner, b.MaxAge, b.Interval, now, now); err != nil {
			return err
		}
		if err := t.addToBriefing(ctx, b.ID, sources, now); err != nil {
			return err
		}
		b, err = theBriefing(ctx, t, "where id = $1", b.ID)
		return err
	})
	if err != nil {
		return freshet.Briefing{}, fmt.Errorf("add briefing %s: %w", b.Name, err)
	}
	return b, nil
}

// checkBriefing refuses what cannot be kept, and a name that another briefing has.
func (t *tx) checkBriefing(ctx context.Context, b *freshet.Briefing) error {
	b.Name, b.Owner = strings.TrimSpace(clean(b.Name)), strings.TrimSpace(clean(b.Owner))
	if err := b.Check(); err != nil {
		return err
	}
	_, taken, err := one(ctx, t, id[freshet.ID], "select id from briefings where name = $1 and id <> $2", b.Name, b.ID)
	if err == nil && taken {
		err = &freshet.FieldError{Field: "name", Reason: "is the name of another briefing"}
	}
	return err
}

// EditBriefing reads a briefing, lets edit change its name, owner, age limit and interval, and writes it. What
// it asks of its sources takes effect at once. edit may be called more than once.
func (s *Store) EditBriefing(ctx context.Context, id freshet.ID, now time.Time, edit func(*freshet.Briefing) error) (freshet.Briefing, error) {
	return s.changeBriefing(ctx, "edit", id, now, func(ctx context.Context, t *tx, b freshet.Briefing) error {
		if err := edit(&b); err != nil {
			return err
		}
		if err := t.checkBriefing(ctx, &b); err != nil {
			return err
		}
		_, err := t.exec(ctx, "update briefings set name = $2, owner = $3, max_age = $4, asked = $5 where id = $1", b.ID, b.Name, b.Owner, b.MaxAge, b.Interval)
		if err != nil {
			return err
		}
		return t.ask(ctx, sourcesOf(b), now)
	})
}

// AddToBriefing adds sources to a briefing; of one that it has, Aggregate is set.
func (s *Store) AddToBriefing(ctx context.Context, id freshet.ID, sources []BriefingSource, now time.Time) (freshet.Briefing, error) {
	return s.changeBriefing(ctx, "add sources to", id, now, func(ctx context.Context, t *tx, b freshet.Briefing) error {
		return t.addToBriefing(ctx, id, sources, now)
	})
}

// RemoveFromBriefing takes a source out of a briefing, and away when nobody else wants it. Its articles stay.
// One that the briefing does not have is ErrNotFound.
func (s *Store) RemoveFromBriefing(ctx context.Context, id, source freshet.ID, now time.Time) (freshet.Briefing, error) {
	return s.changeBriefing(ctx, "remove a source from", id, now, func(ctx context.Context, t *tx, b freshet.Briefing) error {
		n, err := t.exec(ctx, "delete from briefing_sources where briefing_id = $1 and source_id = $2", id, source)
		if err == nil && n == 0 {
			err = freshet.ErrNotFound
		}
		if err != nil {
			return err
		}
		return t.ask(ctx, []freshet.ID{source}, now)
	})
}

// changeBriefing lets do change a briefing in one transaction and returns it as it is then.
func (s *Store) changeBriefing(ctx context.Context, verb string, id freshet.ID, now time.Time, do func(context.Context, *tx, freshet.Briefing) error) (freshet.Briefing, error) {
	var changed freshet.Briefing
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		b, err := theBriefing(ctx, t, "where id = $1 for update", id)
		if err != nil {
			return err
		}
		if err := do(ctx, t, b); err != nil {
			return err
		}
		if _, err := t.exec(ctx, "update briefings set updated_at = $2 where id = $1", id, now); err != nil {
			return err
		}
		changed, err = theBriefing(ctx, t, "where id = $1", id)
		return err
	})
	if err != nil {
		return freshet.Briefing{}, fmt.Errorf("%s briefing %s: %w", verb, id, err)
	}
	return changed, nil
}

// RemoveBriefing removes a briefing with its articles, and its sources where nobody else wants them.
func (s *Store) RemoveBriefing(ctx context.Context, id freshet.ID, now time.Time) error {
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		b, err := theBriefing(ctx, t, "where id = $1 for update", id)
		if err != nil {
			return err
		}
		if _, err := t.exec(ctx, "delete from briefings where id = $1", id); err != nil {
			return err
		}
		return t.ask(ctx, sourcesOf(b), now)
	})
	if err != nil {
		return fmt.Errorf("remove briefing %s: %w", id, err)
	}
	return nil
}

func sourcesOf(b freshet.Briefing) []freshet.ID {
	ids := make([]freshet.ID, len(b.Sources))
	for i, s := range b.Sources {
		ids[i] = s.Source.ID
	}
	return ids
}

var upsertBriefingSources = inserting("briefing_sources", "briefing_id bigint, source_id bigint, aggregate bigint, added_at bigint",
	"on conflict (briefing_id, source_id) do update set aggregate = excluded.aggregate")

// addToBriefing adds sources that are new, hidden from the river, and links all to the briefing.
func (t *tx) addToBriefing(ctx context.Context, id freshet.ID, list []BriefingSource, now time.Time) error {
	sources := make([]NewSource, len(list))
	for i, s := range list {
		s.Hidden = true
		var err error
		if sources[i], err = s.checked(); err != nil {
			return inList(err, "sources", i)
		}
	}
	added, err := t.addSources(ctx, sources, now)
	if err != nil {
		return err
	}
	links, ids, linked := t.rows(upsertBriefingSources), make([]freshet.ID, 0, len(added)), map[freshet.ID]bool{}
	for i, a := range added {
		if linked[a.Source.ID] { // twice in one list
			continue
		}
		linked[a.Source.ID] = true
		var aggregate any
		if list[i].Aggregate != nil {
			aggregate = t.s.dialect.arg(*list[i].Aggregate)
		}
		links.add(id, a.Source.ID, aggregate, now)
		ids = append(ids, a.Source.ID)
	}
	if err := runAll(ctx, links); err != nil {
		return err
	}
	return t.ask(ctx, ids, now)
}

var updateAsked = updating("sources", "id bigint, briefing text, owner text")

// ask brings what briefings ask of sources up to date, their owner (S7) and, with serve, the next poll. A source that
// nobody wants any more is removed.
func (t *tx) ask(ctx context.Context, ids []freshet.ID, now time.Time) error {
	list, err := watched(ctx, t, "where s.id in ($1...) and s.removed_at is null order by s.id for update of p", ids)
	if err != nil {
		return err
	}
	by, err := t.briefingsOf(ctx, ids)
	if err != nil {
		return err
	}
	asked := t.rows(updateAsked)
	list = slices.DeleteFunc(list, func(w Watched) bool {
		policy, owner := freshet.JoinBriefings(by[w.Source.ID])
		if policy == w.Source.Briefing && owner == w.Source.Owner {
			return true
		}
		asked.add(w.Source.ID, textOf(policy), owner)
		return false
	})
	if err := runAll(ctx, asked); err != nil {
		return err
	}
	for _, w := range list {
		if err := t.serve(ctx, w.Source.ID, false, now); err != nil {
			return err
		}
	}
	return nil
}

// leaveBriefings takes a source out of all briefings.
func (t *tx) leaveBriefings(ctx context.Context, src *freshet.Source) error {
	if _, err := t.exec(ctx, "delete from briefing_sources where source_id = $1", src.ID); err != nil {
		return err
	}
	src.Briefing, src.Owner = freshet.BriefingPolicy{}, ""
	_, err := t.exec(ctx, "update sources set briefing = '', owner = '' where id = $1", src.ID)
	return err
}

// textOf writes what briefings ask, "" for nothing.
func textOf(p freshet.BriefingPolicy) string {
	if p == (freshet.BriefingPolicy{}) {
		return ""
	}
	return text(p)
}

// briefingsOf returns the briefings that have each source, the oldest first, without their sources.
func (t *tx) briefingsOf(ctx context.Context, sources []freshet.ID) (map[freshet.ID][]freshet.Briefing, error) {
	type row struct {
		source freshet.ID
		freshet.Briefing
	}
	list, err := all(ctx, t, func(r *row) []any { return append([]any{&r.source}, readBriefing(&r.Briefing)...) },
		`select l.source_id, b.id, b.name, b.owner, b.max_age, b.asked, b.created_at, b.updated_at
 from briefing_sources l join briefings b on b.id = l.briefing_id where l.source_id in ($1...) order by b.id`, sources)
	by := map[freshet.ID][]freshet.Briefing{}
	for _, r := range list {
		by[r.source] = append(by[r.source], r.Briefing)
	}
	return by, err
}

// inList names the field of an error as that of an entry of a list.
func inList(err error, list string, i int) error {
	var field *freshet.FieldError
	if !errors.As(err, &field) {
		return err
	}
	return &freshet.FieldError{Field: fmt.Sprintf("%s[%d].%s", list, i, field.Field), Reason: field.Reason}
}
