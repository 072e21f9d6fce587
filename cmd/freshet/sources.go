package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"freshet"
	"freshet/internal/discover"
	"freshet/internal/fetch"
	"freshet/internal/opml"
	"freshet/internal/store"
)

func sourcesCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "sources", Short: "Add, list, change and remove sources; import and export OPML"}
	group(cmd, sourcesAddCmd(), sourcesListCmd(), sourcesEditCmd(), sourcesRmCmd(), sourcesImportCmd(), sourcesExportCmd())
	return cmd
}

// sourceView is a source as JSON; its names are the API's (SPEC.md section 6).
type sourceView struct {
	ID                  freshet.ID     `json:"id"`
	URL                 string         `json:"url"`
	Title               string         `json:"title"`
	Type                freshet.Type   `json:"type"`
	Folder              string         `json:"folder,omitempty"`
	Enabled             bool           `json:"enabled"`
	DisabledReason      string         `json:"disabled_reason,omitempty"`
	Status              freshet.Health `json:"status"`
	ConsecutiveFailures int            `json:"consecutive_failures"`
	LastError           *string        `json:"last_error"`
	LastPolledAt        *time.Time     `json:"last_polled_at"`
	LastSuccessAt       *time.Time     `json:"last_success_at"`
	NextPollAt          *time.Time     `json:"next_poll_at"`
	NextPollReason      string         `json:"next_poll_reason"`
	Config              freshet.Config `json:"config"`
	Cursor              freshet.Cursor `json:"cursor"`
}

func viewOf(w store.Watched, settings freshet.Settings, now time.Time) sourceView {
	s := w.Source
	v := sourceView{
		ID: s.ID, URL: s.URL, Title: s.Name(), Type: s.Type, Folder: s.Folder,
		Enabled: s.Enabled, DisabledReason: s.DisabledReason, Status: s.Health(), ConsecutiveFailures: s.Failures,
		LastPolledAt: timeOrNull(s.LastPollAt), LastSuccessAt: timeOrNull(s.LastSuccessAt), NextPollAt: timeOrNull(s.NextPollAt),
		NextPollReason: s.Explain(settings.Policy(s), w.Host, now), Config: s.Config, Cursor: s.Cursor.Shown(),
	}
	if s.LastFailure != nil {
		v.LastError = &s.LastFailure.Sentence
	}
	return v
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// printSource writes one source for people.
func printSource(w io.Writer, v sourceView) error {
	t := terminalOf(w)
	_, err := fmt.Fprintf(w, "%s\n%s\n%s, %s; id %s\n%s\n", t.bold(clean(v.Title)), clean(v.URL), v.Type, v.Status, v.ID, clean(v.NextPollReason))
	return err
}

// sourceFlags are the properties of a source that people set.
type sourceFlags struct {
	title, folder string
	cadence       float64
	selector      string
	ignore        []string
	items         bool
}

func (f *sourceFlags) add(cmd *cobra.Command, cadence string) {
	cmd.Flags().StringVar(&f.title, "title", "", "name to show instead of the feed's own")
	cmd.Flags().StringVar(&f.folder, "folder", "", "folder to file it under")
	cmd.Flags().Float64Var(&f.cadence, "cadence", 0, cadence)
	cmd.Flags().StringVar(&f.selector, "selector", "", "CSS selector of what counts of a page")
	cmd.Flags().StringArrayVar(&f.ignore, "ignore", nil, "what of a page does not count: a CSS selector, or /a regular expression/ for lines; may be repeated")
	cmd.Flags().BoolVar(&f.items, "items", false, "a change is an item, for the type http")
}

// config returns a configuration with what was given changed.
func (f *sourceFlags) config(c freshet.Config, given func(name string) bool) freshet.Config {
	if given("cadence") {
		c.Cadence = &freshet.Cadence{Mode: "interval", EveryMinutes: f.cadence}
	}
	if given("selector") {
		c.Selector = strings.TrimSpace(f.selector)
	}
	if given("ignore") {
		c.Ignore = slices.DeleteFunc(f.ignore, func(rule string) bool { return rule == "" })
	}
	if given("items") {
		c.Items = f.items
	}
	return c
}

func sourcesAddCmd() *cobra.Command {
	var (
		flags        sourceFlags
		kind         string
		asIs, asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "add URL",
		Short: "Add a feed, or the feed of a site, and print it",
		Args:  exactly(1, "one URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(types, freshet.Type(kind)) {
				return usageError{fmt.Errorf("--type: %q cannot be used: it takes one of %q", kind, types)}
			}
			source := store.NewSource{
				Type: freshet.Type(kind), URL: args[0], Title: flags.title, Folder: flags.folder,
				Config: flags.config(freshet.Config{}, cmd.Flags().Changed), AtOnce: true,
			}
			return withStore(cmd, func(ctx context.Context, c *config, st *store.Store) error {
				if source.Type == freshet.RSS && freshet.NamesAccount(source.URL) {
					source.Type = freshet.Twitter
				}
				if source.Type == freshet.RSS && !asIs {
					found, err := choose(ctx, cmd.ErrOrStderr(), c.fetcher(), args[0])
					if err != nil {
						return err
					}
					source.URL = found
				}
				now := time.Now()
				added, err := st.AddSource(ctx, source, now)
				if err != nil {
					return addError(err)
				}
				if source.Type == freshet.Twitter {
					if err := c.warnOfToken(ctx, st, cmd.ErrOrStderr()); err != nil {
						return err
					}
				}
				view := viewOf(added, c.Settings, now)
				if asJSON {
					return writeJSON(cmd.OutOrStdout(), view)
				}
				return printSource(cmd.OutOrStdout(), view)
			})
		},
	}
	flags.add(cmd, "minutes between polls")
	cmd.Flags().StringVar(&kind, "type", string(freshet.RSS), "what it is: rss for any feed, website for a page's text, http for whether anything changed, twitter for an X account (@name)")
	cmd.Flags().BoolVar(&asIs, "no-discover", false, "add the address as it is, without looking for a feed there")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// addError says what to do about a source that was refused.
func addError(err error) error {
	if known, ok := errors.AsType[*freshet.DuplicateError](err); ok {
		return fmt.Errorf("%w (%s)", err, known.Existing.URL)
	}
	return err
}

// choose finds the feed behind a pasted address. It returns the address itself when it cannot be looked at
// now, and an error with the choices when there are several feeds.
func choose(ctx context.Context, talk io.Writer, client *fetch.Client, pasted string) (string, error) {
	found, err := find(ctx, client, pasted)
	if failure, ok := errors.AsType[*freshet.Failure](err); ok {
		switch {
		case failure.Code == "not_a_feed":
			return "", fmt.Errorf("%s --no-discover adds the address all the same", failure.Sentence)
		case failure.Code != "address" && freshet.WebLink(pasted) != "":
			fmt.Fprintf(talk, "freshet: added without a look at it: %s\n", clean(failure.Sentence))
			return pasted, nil
		}
	}
	if err != nil {
		return "", err
	}
	if len(found) == 1 {
		return found[0].URL, nil
	}
	fmt.Fprintf(talk, "%s has %d feeds. Type one of:\n", clean(pasted), len(found))
	for _, f := range found {
		fmt.Fprintf(talk, "  freshet sources add --no-discover %s   # %s\n", quoted(f.URL), clean(f.Title))
	}
	return "", silentError{}
}

// find looks for feeds behind an address.
func find(ctx context.Context, client *fetch.Client, pasted string) ([]discover.Candidate, error) {
	return discover.Find(ctx, func(ctx context.Context, url string) (*fetch.Response, error) {
		return client.Get(ctx, fetch.Request{URL: url})
	}, pasted)
}

// quoted is a word as a shell takes it.
func quoted(s string) string {
	s = clean(s)
	if !strings.ContainsAny(s, "&?*;|<>()$`\\\"' []{}!#~") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func sourcesListCmd() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the sources with their health and next poll",
		Args:  exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withStore(cmd, func(ctx context.Context, c *config, st *store.Store) error {
				all, err := st.Sources(ctx, store.SourceFilter{Hidden: true})
				if err != nil {
					return err
				}
				return printSources(cmd.OutOrStdout(), all, c.Settings, time.Now(), asJSON)
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func printSources(w io.Writer, all []store.Watched, settings freshet.Settings, now time.Time, asJSON bool) error {
	views := make([]sourceView, len(all))
	rows := make([][]string, len(all))
	for i, source := range all {
		v := viewOf(source, settings, now)
		views[i] = v
		rows[i] = []string{v.ID.String(), string(v.Status), until(source.Source.NextPollAt, now), cut(clean(v.Title), 40), v.URL}
	}
	if asJSON {
		return writeJSON(w, map[string]any{"sources": views})
	}
	return table(w, []string{"ID", "STATUS", "NEXT", "NAME", "URL"}, rows)
}

// until says how far off a time is.
func until(t, now time.Time) string {
	switch d := t.Sub(now); {
	case t.IsZero():
		return "never"
	case d <= 0:
		return "due"
	case d < time.Minute:
		return "in " + freshet.Span(d.Round(time.Second))
	default:
		return "in " + freshet.Span(d.Round(time.Minute))
	}
}

func sourcesEditCmd() *cobra.Command {
	var (
		flags           sourceFlags
		retry           string
		delay           float64
		enable, disable bool
		asJSON          bool
	)
	cmd := &cobra.Command{
		Use:   "edit URL|ID",
		Short: "Change a source: only what is given changes",
		Args:  exactly(1, "one URL or id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := cmd.Flags().Changed
			return withStore(cmd, func(ctx context.Context, c *config, st *store.Store) error {
				found, err := findSource(ctx, st, args[0])
				if err != nil {
					return err
				}
				now := time.Now()
				edited, err := st.EditSource(ctx, found.Source.ID, now, func(w *store.Watched) error {
					s := &w.Source
					if given("title") {
						s.Title = flags.title
					}
					if given("folder") {
						s.Folder = flags.folder
					}
					s.Config = flags.config(s.Config, given)
					if flags.cadence == 0 && given("cadence") {
						s.Config.Cadence = nil
					}
					if given("retry") {
						s.Config.Retry = freshet.Retry(retry)
					}
					if given("delay") {
						s.Config.PollDelaySeconds = &delay
					}
					if err := s.Config.Check(); err != nil {
						return err
					}
					switch {
					case enable:
						*s = s.Enable(w.Host, now)
					case disable:
						*s = s.Disable("Switched off by hand.")
					case given("cadence") || given("retry"):
						*s = s.Reschedule(c.Policy(*s), w.Host, now)
					}
					return nil
				})
				if err != nil {
					return err
				}
				view := viewOf(edited, c.Settings, now)
				if asJSON {
					return writeJSON(cmd.OutOrStdout(), view)
				}
				return printSource(cmd.OutOrStdout(), view)
			})
		},
	}
	flags.add(cmd, "minutes between polls; 0 brings the default back")
	cmd.Flags().StringVar(&retry, "retry-strategy", "", "how the wait grows while it fails: ladder, exponential, or nothing for the default")
	cmd.Flags().Float64Var(&delay, "delay", 0, "seconds to wait after each request to its host")
	cmd.Flags().BoolVar(&enable, "enable", false, "poll it again; its failures are forgotten")
	cmd.Flags().BoolVar(&disable, "disable", false, "stop polling it; its items stay")
	cmd.MarkFlagsMutuallyExclusive("enable", "disable")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// findSource finds a source by address or id and says how to add one that is none.
func findSource(ctx context.Context, st *store.Store, urlOrID string) (store.Watched, error) {
	found, err := st.FindSource(ctx, urlOrID)
	if errors.Is(err, freshet.ErrNotFound) {
		return found, fmt.Errorf("%s is no source here (freshet sources list)", urlOrID)
	}
	return found, err
}

func sourcesRmCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "rm URL|ID...",
		Short: "Remove sources; their items stay until retention takes them",
		Args:  atLeastOne("a URL or id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withStore(cmd, func(ctx context.Context, _ *config, st *store.Store) error {
				for _, arg := range args {
					found, err := findSource(ctx, st, arg)
					if err != nil {
						return err
					}
					if err := st.RemoveSource(ctx, found.Source.ID, time.Now()); err != nil {
						return err
					}
					fmt.Fprintf(cmd.ErrOrStderr(), "Removed %s.\n", clean(found.Source.Name()))
				}
				return nil
			})
		},
	}
}

// maxOutlines bounds how many feeds one file may add.
const maxOutlines = 100_000

func sourcesImportCmd() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Add the feeds of an OPML file (- for standard input)",
		Args:  exactly(1, "one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			outlines, err := readOPML(cmd, args[0])
			if err != nil {
				return err
			}
			return withStore(cmd, func(ctx context.Context, _ *config, st *store.Store) error {
				result, err := importOutlines(ctx, st, outlines, time.Now())
				if err != nil {
					return err
				}
				if asJSON {
					return writeJSON(cmd.OutOrStdout(), result)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%d added, %d known, %d refused\n", result.Added, result.Known, len(result.Refused))
				for _, r := range result.Refused {
					fmt.Fprintf(cmd.OutOrStdout(), "refused %s: %s\n", clean(r.URL), clean(r.Reason))
				}
				return nil
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// imported is what became of the feeds of a list.
type imported struct {
	Added   int       `json:"added"`
	Known   int       `json:"known"`
	Refused []refused `json:"refused"`
}

type refused struct {
	URL    string `json:"url"`
	Reason string `json:"reason"`
}

// importOutlines adds the feeds of a list; their first polls spread over the interval (S4).
func importOutlines(ctx context.Context, st *store.Store, outlines []opml.Outline, now time.Time) (imported, error) {
	result := imported{Refused: []refused{}}
	var sources []store.NewSource
	for _, o := range outlines {
		source := store.NewSource{Type: freshet.RSS, URL: o.URL, Title: o.Title, Folder: o.Folder, SiteURL: o.SiteURL}
		if err := source.Check(); err != nil {
			result.Refused = append(result.Refused, refused{o.URL, err.Error()})
			continue
		}
		sources = append(sources, source)
	}
	all, err := st.AddSources(ctx, sources, now)
	for _, added := range all {
		if added.Known {
			result.Known++
		} else {
			result.Added++
		}
	}
	return result, err
}

func readOPML(cmd *cobra.Command, name string) ([]opml.Outline, error) {
	in, err := openInput(cmd, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	outlines, err := opml.Read(in, maxOutlines)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return outlines, nil
}

func sourcesExportCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "export",
		Short: "Print the sources as OPML",
		Args:  exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withStore(cmd, func(ctx context.Context, _ *config, st *store.Store) error {
				all, err := st.Sources(ctx, store.SourceFilter{})
				if err != nil {
					return err
				}
				var outlines []opml.Outline
				for _, w := range all {
					s := w.Source
					outlines = append(outlines, opml.Outline{Title: s.Name(), URL: s.URL, SiteURL: s.SiteURL, Folder: s.Folder})
				}
				return opml.Write(cmd.OutOrStdout(), "Freshet", outlines)
			})
		},
	}
}
