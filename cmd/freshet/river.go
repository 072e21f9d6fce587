package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"freshet"
	"freshet/internal/store"
)

// itemView is an item as JSON; its names are the API's (SPEC.md section 6).
type itemView struct {
	ID           freshet.ID       `json:"id"`
	GUID         string           `json:"guid"`
	Title        string           `json:"title"`
	URL          string           `json:"url"`
	CanonicalURL string           `json:"canonical_url"`
	Snippet      string           `json:"snippet"`
	Author       *string          `json:"author"`
	PublishedAt  time.Time        `json:"published_at"`
	IngestedAt   time.Time        `json:"ingested_at"`
	Sources      []itemSourceView `json:"sources"`
}

type itemSourceView struct {
	FeedID freshet.ID `json:"feed_id"`
	Title  string     `json:"title"`
	URL    string     `json:"url"`
}

func viewOfItem(i freshet.Item) itemView {
	v := itemView{
		ID: i.ID, GUID: i.GUID, Title: i.Title, URL: i.URL, CanonicalURL: i.CanonicalURL, Snippet: i.Snippet,
		PublishedAt: i.PublishedAt.UTC(), IngestedAt: i.IngestedAt.UTC(), Sources: []itemSourceView{},
	}
	if i.Author != "" {
		v.Author = &i.Author
	}
	for _, s := range i.Sources {
		v.Sources = append(v.Sources, itemSourceView{s.SourceID, s.Title, s.URL})
	}
	return v
}

func riverCmd() *cobra.Command {
	var (
		since, text string
		sources     []string
		limit       int
		asJSON      bool
	)
	cmd := &cobra.Command{
		Use:   "river",
		Short: "Read the river in the terminal, newest first",
		Args:  exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			query := store.RiverQuery{Text: text, Limit: limit}
			if limit < 1 || limit > 1000 {
				return usageError{fmt.Errorf("--limit: %d cannot be used: it takes a number from 1 to 1000", limit)}
			}
			if since != "" {
				d, err := duration(since)
				if err != nil || d < 0 {
					return usageError{fmt.Errorf("--since: %q cannot be used: it takes a duration such as 24h or 7d", since)}
				}
				query.From = time.Now().Add(-d)
			}
			return withStore(cmd, func(ctx context.Context, _ *config, st *store.Store) error {
				for _, s := range sources {
					found, err := findSource(ctx, st, s)
					if err != nil {
						return err
					}
					query.Sources = append(query.Sources, found.Source.ID)
				}
				page, err := st.River(ctx, query)
				if err != nil {
					return err
				}
				if asJSON {
					views := make([]itemView, len(page.Items))
					for i, item := range page.Items {
						views[i] = viewOfItem(item)
					}
					return writeJSON(cmd.OutOrStdout(), map[string]any{"items": views})
				}
				return printRiver(cmd.OutOrStdout(), page.Items, time.Now())
			})
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "only items of so long ago, such as 24h or 7d")
	cmd.Flags().StringArrayVar(&sources, "source", nil, "only this source, by URL or id; may be repeated")
	cmd.Flags().IntVar(&limit, "limit", 50, "how many items, at most 1000")
	cmd.Flags().StringVarP(&text, "query", "q", "", "only items with these words")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// printRiver writes items under a line for each day, in local time.
func printRiver(w io.Writer, items []freshet.Item, now time.Time) error {
	t := terminalOf(w)
	var out strings.Builder
	today := ""
	for _, i := range items {
		at := i.PublishedAt.In(now.Location())
		if day := at.Format("Monday, 2 January 2006"); day != today {
			if today != "" {
				out.WriteString("\n")
			}
			out.WriteString(t.faint(day) + "\n")
			today = day
		}
		printItem(&out, t, i, at)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func printItem(out *strings.Builder, t terminal, i freshet.Item, at time.Time) {
	const indent = "       "
	room := 0
	if t.columns > 0 {
		room = max(20, t.columns-len(indent))
	}
	names := make([]string, len(i.Sources))
	for n, s := range i.Sources {
		names[n] = clean(s.Title)
	}
	title := cmp.Or(clean(i.Title), clean(i.Snippet), "(no title)")
	fmt.Fprintf(out, "%s  %s\n", at.Format("15:04"), t.bold(cut(title, room)))
	fmt.Fprintf(out, "%s%s\n", indent, cut(strings.Join(names, ", "), room))
	link := clean(i.URL)
	if link == "" {
		link = "(no link)"
	}
	fmt.Fprintf(out, "%s%s\n", indent, t.faint(link))
}
