package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"freshet"
	"freshet/internal/store"
)

// whyView is a source with its last polls and its host, as JSON.
type whyView struct {
	sourceView
	Policy    freshet.Rules `json:"policy"`
	LastPolls []pollView    `json:"last_polls"`
	Host      hostView      `json:"host"`

	rules []freshet.Line
}

type pollView struct {
	At     time.Time      `json:"at"`
	Result freshet.Result `json:"result"`
	Status int            `json:"status,omitempty"`
	New    int            `json:"new"`
	TookMS int64          `json:"took_ms"`
}

type hostView struct {
	Name        string     `json:"name"`
	PausedUntil *time.Time `json:"paused_until"`
}

func whyCmd() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "why URL|ID",
		Short: "Say when a source is polled next, and why then",
		Args:  exactly(1, "one URL or id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withStore(cmd, func(ctx context.Context, c *config, st *store.Store) error {
				found, err := findSource(ctx, st, args[0])
				if err != nil {
					return err
				}
				now := time.Now()
				why := explain(found, c.Settings, now)
				if asJSON {
					return writeJSON(cmd.OutOrStdout(), why)
				}
				return printWhy(cmd.OutOrStdout(), why, now)
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// explain gathers what there is to say about a source's schedule (S8).
func explain(w store.Watched, settings freshet.Settings, now time.Time) whyView {
	p := settings.Policy(w.Source)
	why := whyView{
		sourceView: viewOf(w, settings, now), Policy: p.Rules(), rules: p.Lines(),
		LastPolls: []pollView{}, Host: hostView{Name: w.Host.Name},
	}
	if w.Host.Cooling(now) {
		why.Host.PausedUntil = timeOrNull(w.Host.NotBefore)
	}
	for _, p := range w.Source.History.Polls() {
		why.LastPolls = append(why.LastPolls, pollView{p.At, p.Result, p.Status, p.New, p.Took.Milliseconds()})
	}
	return why
}

func printWhy(w io.Writer, why whyView, now time.Time) error {
	if err := printSource(w, why.sourceView); err != nil {
		return err
	}
	if why.NextPollAt != nil {
		fmt.Fprintf(w, "next poll: %s (%s)\n", until(*why.NextPollAt, now), why.NextPollAt.Format(time.RFC3339))
	}
	if why.LastError != nil {
		fmt.Fprintf(w, "last error: %s\n", clean(*why.LastError))
	}
	if err := printRules(w, why.rules); err != nil || len(why.LastPolls) == 0 {
		return err
	}
	fmt.Fprintln(w)
	var rows [][]string
	for _, p := range why.LastPolls {
		status := ""
		if p.Status != 0 {
			status = strconv.Itoa(p.Status)
		}
		rows = append(rows, []string{p.At.Format(time.RFC3339), string(p.Result), status, strconv.Itoa(p.New), fmt.Sprintf("%d ms", p.TookMS)})
	}
	return table(w, []string{"POLLED", "RESULT", "STATUS", "NEW", "TOOK"}, rows)
}

// printRules writes what holds for a source, and who says so (S8).
func printRules(w io.Writer, lines []freshet.Line) error {
	fmt.Fprintln(w)
	var rows [][]string
	for _, l := range lines {
		rows = append(rows, []string{l.What, l.Says, clean(string(l.From))})
	}
	return table(w, []string{"RULE", "VALUE", "FROM"}, rows)
}
