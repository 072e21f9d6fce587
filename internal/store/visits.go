package store

import (
	"context"
	"fmt"
	"time"

	"freshet"
)

// settled is how long a visit that shows nothing new need not be written down again.
const settled = time.Minute

// ShowRiver notes that a river was shown, by its name, "" for the river of everything, and returns where the
// reader is in it. newest is the first item of its first page.
func (s *Store) ShowRiver(ctx context.Context, name string, newest freshet.Place, now time.Time) (freshet.Visit, error) {
	before, err := visit(ctx, s, name)
	if err != nil {
		return before, fmt.Errorf("read visit: %w", err)
	}
	after := before.Show(newest, now)
	if after.Seen == before.Seen && after.Line == before.Line && now.Sub(before.At) < settled {
		return before, nil
	}
	return s.changeVisit(ctx, name, func(v freshet.Visit) freshet.Visit { return v.Show(newest, now) })
}

// Visit returns where the reader is in a river.
func (s *Store) Visit(ctx context.Context, name string) (freshet.Visit, error) {
	v, err := visit(ctx, s, name)
	if err != nil {
		return v, fmt.Errorf("read visit: %w", err)
	}
	return v, nil
}

// ReachItem notes that the reader saw an item of a river. What has no such item or river is freshet.ErrNotFound.
func (s *Store) ReachItem(ctx context.Context, name string, id freshet.ID, now time.Time) error {
	item, err := the(all(ctx, s, itemColumns, itemsByID, []freshet.ID{id}))
	if err == nil && name != "" {
		_, err = s.SavedRiver(ctx, name)
	}
	if err == nil {
		_, err = s.changeVisit(ctx, name, func(v freshet.Visit) freshet.Visit { return v.Reach(item.Place(), now) })
	}
	if err != nil {
		return fmt.Errorf("reach item %s: %w", id, err)
	}
	return nil
}

func (s *Store) changeVisit(ctx context.Context, name string, change func(freshet.Visit) freshet.Visit) (v freshet.Visit, err error) {
	err = s.write(ctx, func(ctx context.Context, t *tx) error {
		before, err := visit(ctx, t, name)
		if err != nil {
			return err
		}
		v = change(before)
		_, err = t.exec(ctx, `insert into visits (river, seen, line, at) values ($1, $2, $3, $4)
on conflict (river) do update set seen = excluded.seen, line = excluded.line, at = excluded.at`,
			name, v.Seen.String(), v.Line.String(), v.At)
		return err
	})
	if err != nil {
		return v, fmt.Errorf("write visit: %w", err)
	}
	return v, nil
}

// visit reads a visit; the zero one when there was none, or when its places cannot be read any more.
func visit(ctx context.Context, q querier, name string) (v freshet.Visit, err error) {
	type row struct {
		seen, line string
		at         time.Time
	}
	r, found, err := one(ctx, q, func(r *row) []any { return []any{&r.seen, &r.line, moment{&r.at}} },
		"select seen, line, at from visits where river = $1", name)
	if err != nil || !found {
		return v, err
	}
	seen, wrong := freshet.ParsePlace(r.seen)
	line, wrongToo := freshet.ParsePlace(r.line)
	if wrong != nil || wrongToo != nil {
		return v, nil
	}
	return freshet.Visit{Seen: seen, Line: line, At: r.at}, nil
}
