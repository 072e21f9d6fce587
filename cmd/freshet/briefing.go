package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"freshet"
	"freshet/internal/fetch"
	"freshet/internal/store"
	"freshet/internal/web"
)

func briefingCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "briefing", Short: "Gather the posts of chosen sources into articles, on demand"}
	group(cmd, briefingListCmd(), briefingShowCmd(), briefingAddCmd(), briefingEditCmd(), briefingRmCmd(), briefingComposeCmd(), briefingAckCmd())
	return cmd
}

// findBriefing finds a briefing by name or id and says where names are.
func findBriefing(ctx context.Context, st *store.Store, nameOrID string) (freshet.Briefing, error) {
	b, err := st.FindBriefing(ctx, nameOrID)
	if errors.Is(err, freshet.ErrNotFound) {
		return b, fmt.Errorf("%s is no briefing here (freshet briefing list)", nameOrID)
	}
	return b, err
}

// withBriefing does something with the briefing of a name or id.
func withBriefing(cmd *cobra.Command, nameOrID string, do func(context.Context, *store.Store, *freshet.Briefing) error) error {
	return withStore(cmd, func(ctx context.Context, _ *config, st *store.Store) error {
		b, err := findBriefing(ctx, st, nameOrID)
		if err != nil {
			return err
		}
		return do(ctx, st, &b)
	})
}

func briefingListCmd() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the briefings",
		Args:  exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withStore(cmd, func(ctx context.Context, _ *config, st *store.Store) error {
				list, err := st.Briefings(ctx)
				if err != nil {
					return err
				}
				views, rows := make([]web.Briefing, len(list)), make([][]string, len(list))
				for i := range list {
					b := &list[i]
					views[i] = web.ShowBriefing(b)
					rows[i] = []string{b.ID.String(), strconv.Itoa(len(b.Sources)), freshet.Span(b.MaxAge), cmp.Or(b.Owner, "-"), b.Name}
				}
				if asJSON {
					return writeJSON(cmd.OutOrStdout(), map[string]any{"briefings": views})
				}
				return table(cmd.OutOrStdout(), []string{"ID", "SOURCES", "AGE", "OWNER", "NAME"}, rows)
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func briefingShowCmd() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "show NAME|ID",
		Short: "Show a briefing and its sources",
		Args:  exactly(1, "one name or id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withBriefing(cmd, args[0], func(_ context.Context, _ *store.Store, b *freshet.Briefing) error {
				return printBriefing(cmd.OutOrStdout(), b, asJSON)
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func printBriefing(w io.Writer, b *freshet.Briefing, asJSON bool) error {
	view := web.ShowBriefing(b)
	if asJSON {
		return writeJSON(w, view)
	}
	about := "posts of the last " + freshet.Span(b.MaxAge)
	if b.Interval > 0 {
		about += ", polled every " + freshet.Span(b.Interval) + " or more often"
	}
	if b.Owner != "" {
		about += ", owned by " + clean(b.Owner)
	}
	if _, err := fmt.Fprintf(w, "%s\n%s; id %s\n", terminalOf(w).bold(clean(b.Name)), about, b.ID); err != nil || len(b.Sources) == 0 {
		return err
	}
	rows := make([][]string, len(view.Sources))
	for i, s := range view.Sources {
		articles := "one each"
		if s.Aggregates {
			articles = "one of all"
		}
		rows[i] = []string{s.FeedID.String(), string(s.Status), articles, cut(clean(s.Title), 40), s.URL}
	}
	return table(w, []string{"ID", "STATUS", "ARTICLES", "NAME", "URL"}, rows)
}

// briefingFlags are the properties of a briefing that people set.
type briefingFlags struct {
	owner     string
	days      float64
	interval  float64
	kind      string
	aggregate string
}

func (f *briefingFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.owner, "owner", "", "with whose credentials its sources are polled")
	cmd.Flags().Float64Var(&f.days, "max-age", 7, "days after which posts are left out")
	cmd.Flags().Float64Var(&f.interval, "interval", 0, "minutes between polls of its sources; 0 for what holds anyway")
	cmd.Flags().StringVar(&f.kind, "type", "", "what the added sources are: rss, website, http or twitter (default: rss, and twitter for @names)")
	cmd.Flags().StringVar(&f.aggregate, "aggregate", "auto", "one article of all posts of each added source: always, never, or auto for X accounts and nitter hosts")
}

// change sets what was given.
func (f *briefingFlags) change(b *freshet.Briefing, given func(name string) bool) {
	if given("owner") {
		b.Owner = f.owner
	}
	if given("max-age") {
		b.MaxAge = time.Duration(f.days * float64(24*time.Hour))
	}
	if given("interval") {
		b.Interval = time.Duration(f.interval * float64(time.Minute))
	}
}

// sources are addresses as a briefing has them.
func (f *briefingFlags) sources(urls []string) ([]store.BriefingSource, error) {
	var aggregate *bool
	if i := slices.Index([]string{"never", "always"}, f.aggregate); i >= 0 {
		always := i == 1
		aggregate = &always
	} else if f.aggregate != "auto" {
		return nil, usageError{fmt.Errorf("--aggregate: %q cannot be used: it takes always, never or auto", f.aggregate)}
	}
	if f.kind != "" && !slices.Contains(types, freshet.Type(f.kind)) {
		return nil, usageError{fmt.Errorf("--type: %q cannot be used: it takes one of %q", f.kind, types)}
	}
	list := make([]store.BriefingSource, len(urls))
	for i, raw := range urls {
		if freshet.Type(f.kind) != freshet.Twitter && !freshet.NamesAccount(raw) {
			u, _, err := fetch.CheckURL(raw)
			if err != nil {
				return nil, err
			}
			raw = u.String()
		}
		list[i] = store.BriefingSource{Aggregate: aggregate, NewSource: store.NewSource{Type: freshet.Type(f.kind), URL: raw, AtOnce: true}}
	}
	return list, nil
}

func briefingAddCmd() *cobra.Command {
	var flags briefingFlags
	asJSON := false
	cmd := &cobra.Command{
		Use:   "add NAME [URL...]",
		Short: "Add a briefing with its sources; those that are new do not show in the river",
		Args:  atLeastOne("a name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			sources, err := flags.sources(args[1:])
			if err != nil {
				return err
			}
			b := freshet.NewBriefing(args[0], "")
			flags.change(&b, cmd.Flags().Changed)
			return withStore(cmd, func(ctx context.Context, _ *config, st *store.Store) error {
				added, err := st.AddBriefing(ctx, b, sources, time.Now())
				if err != nil {
					return err
				}
				return printBriefing(cmd.OutOrStdout(), &added, asJSON)
			})
		},
	}
	flags.add(cmd)
	jsonFlag(cmd, &asJSON)
	return cmd
}

func briefingEditCmd() *cobra.Command {
	var (
		flags       briefingFlags
		name        string
		add, remove []string
		asJSON      bool
	)
	cmd := &cobra.Command{
		Use:   "edit NAME|ID",
		Short: "Change a briefing: only what is given changes",
		Args:  exactly(1, "one name or id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			sources, err := flags.sources(add)
			if err != nil {
				return err
			}
			return withBriefing(cmd, args[0], func(ctx context.Context, st *store.Store, found *freshet.Briefing) error {
				taken, err := sourcesOf(ctx, st, found, remove)
				if err != nil {
					return err
				}
				b, err := st.EditBriefing(ctx, found.ID, time.Now(), func(b *freshet.Briefing) error {
					if cmd.Flags().Changed("name") {
						b.Name = name
					}
					flags.change(b, cmd.Flags().Changed)
					return nil
				})
				if err == nil && len(sources) > 0 {
					b, err = st.AddToBriefing(ctx, b.ID, sources, time.Now())
				}
				for _, id := range taken {
					if err == nil {
						b, err = st.RemoveFromBriefing(ctx, b.ID, id, time.Now())
					}
				}
				if err != nil {
					return err
				}
				return printBriefing(cmd.OutOrStdout(), &b, asJSON)
			})
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&name, "name", "", "another name")
	cmd.Flags().StringArrayVar(&add, "add", nil, "a source to add, by URL; may be repeated")
	cmd.Flags().StringArrayVar(&remove, "remove", nil, "a source to take out, by URL or id; may be repeated")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// sourcesOf finds sources of a briefing by address or id.
func sourcesOf(ctx context.Context, st *store.Store, b *freshet.Briefing, urlsOrIDs []string) ([]freshet.ID, error) {
	var ids []freshet.ID
	for _, name := range urlsOrIDs {
		if freshet.NamesAccount(name) {
			name = freshet.AccountURL(name)
		}
		found, err := findSource(ctx, st, name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(b.Sources, func(s freshet.BriefingSource) bool { return s.Source.ID == found.Source.ID }) {
			return nil, fmt.Errorf("%s is no source of %s", name, b.Name)
		}
		ids = append(ids, found.Source.ID)
	}
	return ids, nil
}

func briefingRmCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "rm NAME|ID...",
		Short: "Remove briefings with their articles, and their sources where nobody else wants them",
		Args:  atLeastOne("a name or id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withStore(cmd, func(ctx context.Context, _ *config, st *store.Store) error {
				for _, arg := range args {
					b, err := findBriefing(ctx, st, arg)
					if err != nil {
						return err
					}
					if err := st.RemoveBriefing(ctx, b.ID, time.Now()); err != nil {
						return err
					}
					fmt.Fprintf(cmd.ErrOrStderr(), "Removed %s.\n", clean(b.Name))
				}
				return nil
			})
		},
	}
}
