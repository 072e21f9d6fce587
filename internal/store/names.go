package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"freshet"
)

// SourceName is what a filter offers of a source.
type SourceName struct {
	ID   freshet.ID
	Name string
}

// SourceNames returns at most limit sources of the river whose name holds a text in any case, by name, and those
// that are chosen whatever they are called.
func (s *Store) SourceNames(ctx context.Context, part string, chosen []freshet.ID, limit int) ([]SourceName, error) {
	list, err := all(ctx, s, func(src *freshet.Source) []any {
		return []any{&src.ID, &src.Title, &src.FeedTitle, &src.URL}
	}, "select id, title, feed_title, url from sources where in_river = 1 and removed_at is null or id in ($1...)", chosen)
	if err != nil {
		return nil, fmt.Errorf("list the names of sources: %w", err)
	}
	part = strings.ToLower(part)
	var names []SourceName
	for i := range list {
		name := list[i].Name()
		if slices.Contains(chosen, list[i].ID) || strings.Contains(strings.ToLower(name), part) {
			names = append(names, SourceName{list[i].ID, name})
		}
	}
	first := func(n SourceName) int {
		if slices.Contains(chosen, n.ID) {
			return 0
		}
		return 1
	}
	slices.SortFunc(names, func(a, b SourceName) int {
		return cmp.Or(cmp.Compare(first(a), first(b)), strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.ID, b.ID))
	})
	return names[:min(len(names), limit+len(chosen))], nil
}

// Groups are the folders and the types that sources of the river have.
type Groups struct {
	Folders []string
	Types   []freshet.Type
}

// Groups returns what sources can be grouped by, in order.
func (s *Store) Groups(ctx context.Context) (g Groups, err error) {
	type group struct {
		folder string
		kind   freshet.Type
	}
	list, err := all(ctx, s, func(g *group) []any { return []any{&g.folder, &g.kind} },
		"select distinct folder, type from sources where in_river = 1 and removed_at is null")
	if err != nil {
		return g, fmt.Errorf("list folders: %w", err)
	}
	for _, one := range list {
		if one.folder != "" {
			g.Folders = append(g.Folders, one.folder)
		}
		g.Types = append(g.Types, one.kind)
	}
	slices.Sort(g.Folders)
	slices.Sort(g.Types)
	g.Folders, g.Types = slices.Compact(g.Folders), slices.Compact(g.Types)
	return g, nil
}
