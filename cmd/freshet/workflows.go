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
	"freshet/internal/web"
)

func workflowsCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "workflows", Short: "Add, list, test, switch and remove workflows"}
	group(cmd, workflowsListCmd(), workflowsShowCmd(), workflowsAddCmd(), workflowsTestCmd(),
		workflowsSwitchCmd("enable", "Switch workflows on; their failures are forgotten", true),
		workflowsSwitchCmd("disable", "Switch workflows off", false), workflowsRmCmd())
	return cmd
}

// findWorkflow finds a workflow by name or id and says where the names are.
func findWorkflow(ctx context.Context, st *store.Store, nameOrID string) (freshet.Workflow, error) {
	w, err := st.FindWorkflow(ctx, nameOrID)
	if errors.Is(err, freshet.ErrNotFound) {
		return w, fmt.Errorf("%s is no workflow here (freshet workflows list)", nameOrID)
	}
	return w, err
}

// chosenWorkflow is the workflow of the flag --workflow; without one, a workflow whose id is 0, which stands for any.
func chosenWorkflow(ctx context.Context, st *store.Store, nameOrID string) (freshet.Workflow, error) {
	if nameOrID == "" {
		return freshet.Workflow{}, nil
	}
	return findWorkflow(ctx, st, nameOrID)
}

// withWorkflow does something with the workflow of a name or id.
func withWorkflow(cmd *cobra.Command, nameOrID string, do func(context.Context, *store.Store, *freshet.Workflow) error) error {
	return withStore(cmd, func(ctx context.Context, _ *config, st *store.Store) error {
		w, err := findWorkflow(ctx, st, nameOrID)
		if err != nil {
			return err
		}
		return do(ctx, st, &w)
	})
}

func workflowsListCmd() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the workflows with their state",
		Args:  exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withStore(cmd, func(ctx context.Context, _ *config, st *store.Store) error {
				list, err := st.Workflows(ctx)
				if err != nil {
					return err
				}
				shown, err := web.ShowWorkflows(ctx, st, list, nil)
				if err != nil {
					return err
				}
				if asJSON {
					return writeJSON(cmd.OutOrStdout(), map[string]any{"workflows": shown})
				}
				return printWorkflows(cmd.OutOrStdout(), shown, time.Now())
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func printWorkflows(w io.Writer, list []web.Workflow, now time.Time) error {
	rows := make([][]string, len(list))
	for i := range list {
		f := &list[i]
		next := "never"
		if f.NextPollAt != nil {
			next = until(*f.NextPollAt, now)
		}
		rows[i] = []string{f.ID.String(), conditionOf(f), next, cut(clean(f.Name), 40), f.Trigger.Config.URL}
	}
	return table(w, []string{"ID", "STATE", "NEXT", "NAME", "URL"}, rows)
}

// conditionOf says in a word how a workflow is.
func conditionOf(f *web.Workflow) string {
	switch {
	case !f.Enabled:
		return "off"
	case f.State.ConsecutiveFailures > 0:
		return "failing"
	default:
		return "on"
	}
}

func workflowsShowCmd() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "show NAME|ID",
		Short: "Show a workflow: what it does, how it is, when its address is polled next",
		Args:  exactly(1, "one name or id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withWorkflow(cmd, args[0], func(ctx context.Context, st *store.Store, w *freshet.Workflow) error {
				shown, err := web.ShowWorkflow(ctx, st, w, nil)
				if err != nil {
					return err
				}
				return printWorkflow(cmd, shown, "", asJSON)
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// printWorkflow writes one workflow; what should be known of it is talk, so that it is seen beside JSON, too. ofSecrets is
// said beside each secret.
func printWorkflow(cmd *cobra.Command, f web.Workflow, ofSecrets string, asJSON bool) error {
	for _, warning := range f.Warnings {
		fmt.Fprintf(cmd.ErrOrStderr(), "freshet: %s\n", clean(warning))
	}
	out := cmd.OutOrStdout()
	if asJSON {
		return writeJSON(out, f)
	}
	c := f.Trigger.Config
	fmt.Fprintf(out, "%s\n%s\n%s every %s, %s; id %s\n", terminalOf(out).bold(clean(f.Name)), clean(c.URL), c.ContentType, freshet.Span(f.Every()), conditionOf(&f), f.ID)
	if f.Filter != "" {
		fmt.Fprintf(out, "filter: %s\n", clean(f.Filter))
	}
	for i := range f.Actions {
		a := &f.Actions[i]
		fmt.Fprintf(out, "action %s: %s\n", a.ID, clean(strings.Join(append([]string{string(a.Type), a.URL}, a.Command...), " ")))
		if a.Secret != "" {
			fmt.Fprintf(out, "  secret: %s%s\n", a.Secret, ofSecrets)
		}
		if a.Disabled != "" {
			fmt.Fprintf(out, "  switched off: %s\n", clean(a.Disabled))
		}
	}
	if len(f.Actions) == 0 {
		fmt.Fprintln(out, "no action: freshet queue pull fetches what it makes")
	}
	if f.DisabledReason != nil {
		fmt.Fprintf(out, "switched off: %s\n", clean(*f.DisabledReason))
	} else if f.State.LastError != nil {
		fmt.Fprintf(out, "failed %d times in a row: %s\n", f.State.ConsecutiveFailures, clean(*f.State.LastError))
	}
	_, err := fmt.Fprintln(out, clean(f.NextPollReason))
	return err
}

func workflowsAddCmd() *cobra.Command {
	var (
		flags  workflowFlags
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "add --url URL [--webhook URL]...",
		Short: "Add a workflow and print it; a webhook's secret is shown only now",
		Args:  exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.file == "" && flags.d.Trigger.Config.URL == "" {
				return usageError{errors.New("--url or --file is needed")}
			}
			d, err := flags.definition(cmd)
			if err != nil {
				return err
			}
			return withStore(cmd, func(ctx context.Context, _ *config, st *store.Store) error {
				w, err := st.AddWorkflow(ctx, d, time.Now())
				if err != nil {
					return definitionError(err)
				}
				shown, err := web.ShowWorkflow(ctx, st, &w, web.NewSecrets(&w, d.Actions...))
				if err != nil {
					return err
				}
				return printWorkflow(cmd, shown, " (shown only now; the receiver needs it)", asJSON)
			})
		},
	}
	flags.add(cmd)
	for _, name := range []string{"url", "name", "webhook", "queue", "notify", "command", "filter"} {
		cmd.MarkFlagsMutuallyExclusive("file", name)
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func workflowsTestCmd() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "test NAME|ID",
		Short: "Have the server carry out a workflow's actions once, with its newest entries",
		Args:  exactly(1, "one name or id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withWorkflow(cmd, args[0], func(ctx context.Context, st *store.Store, w *freshet.Workflow) error {
				data, err := st.SampleData(ctx, w)
				if err != nil {
					return err
				}
				made, err := st.TestWorkflow(ctx, w.ID, data, time.Now())
				if err != nil {
					return err
				}
				if !asJSON {
					fmt.Fprintln(cmd.ErrOrStderr(), "The server carries it out; freshet executions show ID tells how that went.")
				}
				return printExecutions(ctx, st, cmd.OutOrStdout(), made, asJSON)
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func workflowsSwitchCmd(name, short string, on bool) *cobra.Command {
	return &cobra.Command{
		Use:   name + " NAME|ID...",
		Short: short,
		Args:  atLeastOne("a name or id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return eachWorkflow(cmd, args, "Switched "+map[bool]string{true: "on", false: "off"}[on], func(ctx context.Context, st *store.Store, id freshet.ID) error {
				_, err := st.SwitchWorkflow(ctx, id, on, time.Now())
				return err
			})
		},
	}
}

func workflowsRmCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "rm NAME|ID...",
		Short: "Remove workflows; what waits to be delivered is cancelled",
		Args:  atLeastOne("a name or id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return eachWorkflow(cmd, args, "Removed", func(ctx context.Context, st *store.Store, id freshet.ID) error {
				return st.DeleteWorkflow(ctx, id, time.Now())
			})
		},
	}
}

// eachWorkflow does one thing to each of the named workflows and says so.
func eachWorkflow(cmd *cobra.Command, names []string, done string, do func(context.Context, *store.Store, freshet.ID) error) error {
	return withStore(cmd, func(ctx context.Context, _ *config, st *store.Store) error {
		for _, name := range names {
			w, err := findWorkflow(ctx, st, name)
			if err != nil {
				return err
			}
			if err := do(ctx, st, w.ID); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%s %s.\n", done, clean(w.Name))
		}
		return nil
	})
}
