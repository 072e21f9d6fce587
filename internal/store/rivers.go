package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"freshet"
)

// SavedRiver is a filter of the river under a name.
type SavedRiver struct {
	Name      string
	Query     string // of the address that it stands for
	CreatedAt time.Time
}

const (
	maxRivers     = 100
	maxRiverName  = 60 // characters
	maxRiverQuery = 64 << 10
)

// Rivers returns the named rivers by name, whatever its case.
func (s *Store) Rivers(ctx context.Context) ([]SavedRiver, error) {
	list, err := all(ctx, s, riverColumns, selectRiver)
	if err != nil {
		return nil, fmt.Errorf("list rivers: %w", err)
	}
	slices.SortFunc(list, func(a, b SavedRiver) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), strings.Compare(a.Name, b.Name))
	})
	return list, nil
}

// SavedRiver returns the river of a name, or freshet.ErrNotFound.
func (s *Store) SavedRiver(ctx context.Context, name string) (SavedRiver, error) {
	r, err := the(all(ctx, s, riverColumns, selectRiver+" where name = $1", name))
	if err != nil {
		return r, fmt.Errorf("read river %q: %w", name, err)
	}
	return r, nil
}

const selectRiver = "select name, query, created_at from rivers"

func riverColumns(r *SavedRiver) []any { return []any{&r.Name, &r.Query, moment{&r.CreatedAt}} }

// SaveRiver keeps a filter under a name, in place of one that had it before. A name that cannot be used, or a
// river too many, is a *freshet.FieldError.
func (s *Store) SaveRiver(ctx context.Context, name, query string, now time.Time) (SavedRiver, error) {
	r := SavedRiver{strings.TrimSpace(name), query, now}
	if err := r.check(); err != nil {
		return r, err
	}
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		others, _, err := one(ctx, t, number, "select count(*) from rivers where name <> $1", r.Name)
		if err != nil {
			return err
		}
		if others >= maxRivers {
			return &freshet.FieldError{Field: "name", Reason: fmt.Sprintf("there are %d named rivers already; remove one first", others)}
		}
		_, err = t.exec(ctx, `insert into rivers (name, query, created_at) values ($1, $2, $3)
on conflict (name) do update set query = excluded.query`, r.Name, r.Query, r.CreatedAt)
		return err
	})
	if err != nil {
		return r, fmt.Errorf("save river %q: %w", r.Name, err)
	}
	return r, nil
}

func (r *SavedRiver) check() error {
	refuse := func(field, reason string) error { return &freshet.FieldError{Field: field, Reason: reason} }
	switch {
	case r.Name == "":
		return refuse("name", "give the river a name")
	case utf8.RuneCountInString(r.Name) > maxRiverName:
		return refuse("name", fmt.Sprintf("a name has at most %d characters", maxRiverName))
	case r.Name == "." || r.Name == ".." || strings.ContainsAny(r.Name, `/\`):
		return refuse("name", "a name is a part of an address, so it has no slash")
	case !isClean(r.Name) || strings.ContainsFunc(r.Name, unicode.IsControl):
		return refuse("name", "a name is one line of text")
	case r.Query == "":
		return refuse("filter", "choose something first: this is the whole river")
	case len(r.Query) > maxRiverQuery:
		return refuse("filter", "the filter is too long")
	}
	return nil
}

// RemoveRiver forgets a named river and where the reader was in it.
func (s *Store) RemoveRiver(ctx context.Context, name string) error {
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		n, err := t.exec(ctx, "delete from rivers where name = $1", name)
		if err == nil && n == 0 {
			err = freshet.ErrNotFound
		}
		if err == nil {
			_, err = t.exec(ctx, "delete from visits where river = $1", name)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("remove river %q: %w", name, err)
	}
	return nil
}
