package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"freshet"
	"freshet/internal/store"
	"freshet/internal/syndicate"
	"freshet/internal/web"
)

func briefingComposeCmd() *cobra.Command {
	var (
		format      string
		asJSON, ack bool
	)
	cmd := &cobra.Command{
		Use:   "compose NAME|ID",
		Short: "Turn new posts into articles and print all that wait",
		Args:  exactly(1, "one name or id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := articleWriters[format]
			if !ok {
				return usageError{fmt.Errorf("--format: %q cannot be used: it takes md, json, atom or rss", format)}
			}
			if asJSON {
				write = articleWriters["json"]
			}
			return withBriefing(cmd, args[0], func(ctx context.Context, st *store.Store, b *freshet.Briefing) error {
				return compose(ctx, cmd, st, b, write, ack)
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", "md", "how to print them: md for Markdown, json, atom or rss")
	cmd.Flags().BoolVar(&ack, "ack", false, "acknowledge what was printed: it is not printed again")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func compose(ctx context.Context, cmd *cobra.Command, st *store.Store, b *freshet.Briefing, write articleWriter, ack bool) error {
	made, err := st.Compose(ctx, b.ID, time.Now())
	if err != nil {
		return err
	}
	list, more, err := st.Articles(ctx, store.ArticleQuery{Briefing: b.ID})
	if err != nil {
		return err
	}
	if err := write(cmd.OutOrStdout(), b, list); err != nil {
		return err
	}
	if made.More || more {
		fmt.Fprintln(cmd.ErrOrStderr(), "freshet: there is more: acknowledge these, then compose again")
	}
	if !ack {
		return nil
	}
	ids := make([]freshet.ID, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	_, err = st.Acknowledge(ctx, b.ID, ids, time.Now())
	return err
}

// articleWriter prints articles.
type articleWriter func(io.Writer, *freshet.Briefing, []freshet.Article) error

var articleWriters = map[string]articleWriter{
	"md": func(w io.Writer, b *freshet.Briefing, list []freshet.Article) error {
		return syndicate.WriteArticles(w, b.Name, list)
	},
	"json": func(w io.Writer, _ *freshet.Briefing, list []freshet.Article) error {
		return writeJSON(w, map[string]any{"articles": web.ShowArticles(list)})
	},
	"atom": writeArticleFeed("atom"),
	"rss":  writeArticleFeed("rss"),
}

func writeArticleFeed(format string) articleWriter {
	return func(w io.Writer, b *freshet.Briefing, list []freshet.Article) error {
		return syndicate.Formats[format].WriteArticleFeed(w, b, "urn:freshet:briefing:"+b.ID.String(), list)
	}
}

func briefingAckCmd() *cobra.Command {
	every := false
	cmd := &cobra.Command{
		Use:   "ack NAME|ID [ARTICLE...]",
		Short: "Acknowledge articles by id: they are kept for good and not composed again",
		Args:  atLeastOne("a name or id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if every == (len(args) > 1) {
				return usageError{errors.New("takes ids of articles, or --all")}
			}
			ids, err := articleIDs(args[1:])
			if err != nil {
				return err
			}
			return withBriefing(cmd, args[0], func(ctx context.Context, st *store.Store, b *freshet.Briefing) error {
				n, err := st.Acknowledge(ctx, b.ID, ids, time.Now())
				if err != nil {
					return err
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "%d acknowledged.\n", n)
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&every, "all", false, "all that wait")
	return cmd
}

// articleIDs reads ids; none is nil.
func articleIDs(args []string) (ids []freshet.ID, err error) {
	for _, arg := range args {
		id, err := freshet.ParseID(strings.TrimSpace(arg))
		if err != nil {
			return nil, usageError{fmt.Errorf("%q is no id of an article", arg)}
		}
		ids = append(ids, id)
	}
	return ids, nil
}
