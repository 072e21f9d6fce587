package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"freshet"
	"freshet/internal/store"
	"freshet/internal/web"
)

func ingestCmd() *cobra.Command {
	var (
		windowEnd     string
		sources       []string
		force, asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "ingest",
		Short: "Poll once what is due by its cadence and exit; 1 when a source failed",
		Args:  exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			end := time.Now()
			if windowEnd != "" {
				var err error
				if end, err = time.Parse(time.RFC3339, windowEnd); err != nil {
					return usageError{fmt.Errorf("--window-end: %q cannot be used: it takes a time such as 2026-01-05T06:00:00Z", windowEnd)}
				}
			}
			return withStore(cmd, func(ctx context.Context, c *config, st *store.Store) error {
				var ids []freshet.ID
				for _, s := range sources {
					found, err := findSource(ctx, st, s)
					if err != nil {
						return err
					}
					ids = append(ids, found.Source.ID)
				}
				v, err := c.openVault(ctx, st)
				if err != nil {
					return err
				}
				log := c.logger(cmd.ErrOrStderr())
				retention(st, instanceName(), log).once(ctx)
				run := ingest{store: st, poll: c.scheduler(st, v, c.fetcher(), log, nil).RunRefresh}
				result, err := run.run(ctx, end, ids, force)
				if err != nil {
					return err
				}
				if err := printIngest(cmd, result, asJSON); err != nil {
					return err
				}
				return failedIngest(result)
			})
		},
	}
	cmd.Flags().StringVar(&windowEnd, "window-end", "", "the run's now, in RFC 3339 (default: the current time)")
	cmd.Flags().StringArrayVar(&sources, "source", nil, "only this source, by URL or id; may be repeated")
	cmd.Flags().BoolVar(&force, "force", false, "also what is not due by its cadence")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// ingest carries out ingest runs (S10), for the command and for the API.
type ingest struct {
	store *store.Store
	poll  func(ctx context.Context, refresh freshet.ID) error // until the refresh is finished
}

// run polls the sources that are due at end, all of them or those with the ids, and says what became of
// each. Skipped sources are not touched.
func (i ingest) run(ctx context.Context, end time.Time, ids []freshet.ID, force bool) (web.IngestResult, error) {
	all, err := i.store.Sources(ctx, store.SourceFilter{Hidden: true, IDs: ids})
	if err != nil {
		return web.IngestResult{}, err
	}
	polled, err := i.pollDue(ctx, dueForIngest(all, end, force))
	if err != nil {
		return web.IngestResult{}, err
	}
	result := web.IngestResult{WindowEnd: end.UTC(), Sources: make([]web.IngestSource, len(all))}
	for n, w := range all {
		row := web.IngestSource{URL: w.Source.URL, Status: freshet.ResultSkipped}
		if got, ok := polled[w.Source.ID]; ok {
			row = got
		}
		result.Sources[n] = row
	}
	return result, nil
}

// dueForIngest picks the sources that a run polls; with force all that are enabled.
func dueForIngest(all []store.Watched, end time.Time, force bool) []freshet.ID {
	var due []freshet.ID
	for _, w := range all {
		if s := w.Source; s.DueForIngest(end) || force && s.Enabled {
			due = append(due, s.ID)
		}
	}
	return due
}

// pollDue polls sources in one refresh. A source whose server asked for a pause is skipped with the
// reason.
func (i ingest) pollDue(ctx context.Context, due []freshet.ID) (map[freshet.ID]web.IngestSource, error) {
	rows := map[freshet.ID]web.IngestSource{}
	if len(due) == 0 {
		return rows, nil
	}
	now := time.Now()
	started, err := i.store.StartRefresh(ctx, freshet.ByIngest, due, now)
	if err != nil {
		return nil, err
	}
	for _, p := range started.PutOff {
		said := "put off: its server asked for a pause until " + p.Until.UTC().Format(time.RFC3339)
		rows[p.Source.ID] = web.IngestSource{URL: p.Source.URL, Status: freshet.ResultSkipped, Error: &said}
	}
	if err := i.poll(ctx, started.ID); err != nil {
		return nil, err
	}
	results, err := i.store.RefreshResults(ctx, started.ID)
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		row := web.IngestSource{URL: r.Source.URL, Status: r.Result, New: r.New}
		if r.Error != "" {
			row.Error = &r.Error
		}
		rows[r.Source.ID] = row
	}
	return rows, nil
}

func printIngest(cmd *cobra.Command, result web.IngestResult, asJSON bool) error {
	if asJSON {
		return writeJSON(cmd.OutOrStdout(), result)
	}
	rows := make([][]string, len(result.Sources))
	for i, s := range result.Sources {
		said := ""
		if s.Error != nil {
			said = ": " + *s.Error
		}
		rows[i] = []string{string(s.Status), strconv.Itoa(s.New), s.URL + said}
	}
	return table(cmd.OutOrStdout(), []string{"STATUS", "NEW", "SOURCE"}, rows)
}

// failedIngest is the error of a run in which a source failed.
func failedIngest(result web.IngestResult) error {
	var failed []string
	for _, s := range result.Sources {
		if s.Status == freshet.ResultError {
			failed = append(failed, s.URL)
		}
	}
	switch len(failed) {
	case 0:
		return nil
	case 1:
		return errors.New("1 source failed: " + clean(failed[0]))
	default:
		return fmt.Errorf("%d sources failed, among them %s", len(failed), clean(strings.Join(failed[:min(3, len(failed))], ", ")))
	}
}
