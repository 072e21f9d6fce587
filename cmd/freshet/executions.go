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
	"freshet/internal/store"
	"freshet/internal/web"
)

func executionsCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "executions", Short: "List, show and retry what workflows made"}
	group(cmd, executionsListCmd(), executionsShowCmd(), executionsRetryCmd())
	return cmd
}

func executionsListCmd() *cobra.Command {
	var (
		workflow, state string
		limit           int
		asJSON          bool
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List executions, newest first",
		Args:  exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			q := store.ExecutionQuery{State: freshet.ExecutionState(state), Limit: limit}
			if state != "" && !slices.Contains(freshet.ExecutionStates, q.State) {
				return usageError{fmt.Errorf("--state: %q cannot be used: it takes one of %q", state, freshet.ExecutionStates)}
			}
			if limit < 1 || limit > 1000 {
				return usageError{errors.New("--limit: it takes a number from 1 to 1000")}
			}
			return withStore(cmd, func(ctx context.Context, _ *config, st *store.Store) error {
				of, err := chosenWorkflow(ctx, st, workflow)
				if err != nil {
					return err
				}
				q.Workflow = of.ID
				list, err := st.Executions(ctx, q)
				if err != nil {
					return err
				}
				return printExecutions(ctx, st, cmd.OutOrStdout(), list, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&workflow, "workflow", "", "only of this workflow: its name or id")
	cmd.Flags().StringVar(&state, "state", "", "only in this state: queued, running, retrying, succeeded, dead or cancelled")
	cmd.Flags().IntVar(&limit, "limit", 50, "how many, at most 1000")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func printExecutions(ctx context.Context, st *store.Store, w io.Writer, list []freshet.Execution, asJSON bool) error {
	if asJSON {
		shown := make([]web.Execution, len(list))
		for i := range list {
			shown[i] = web.ShowExecution(&list[i])
		}
		return writeJSON(w, map[string]any{"executions": shown})
	}
	workflows, err := st.Workflows(ctx)
	if err != nil {
		return err
	}
	names := map[freshet.ID]string{0: "(alert)"}
	for i := range workflows {
		names[workflows[i].ID] = cut(clean(workflows[i].Name), 30)
	}
	rows := make([][]string, len(list))
	for i := range list {
		e := &list[i]
		rows[i] = []string{e.ID.String(), string(e.State), e.CreatedAt.UTC().Format(time.RFC3339), cmp.Or(names[e.Workflow], "(deleted)"), e.Action,
			strconv.Itoa(e.Items), strconv.Itoa(e.Attempts), e.LastError}
	}
	return table(w, []string{"ID", "STATE", "CREATED", "WORKFLOW", "ACTION", "ITEMS", "TRIES", "LAST ERROR"}, rows)
}

func executionsShowCmd() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show an execution with its data and attempts",
		Args:  exactly(1, "one id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return eachExecution(cmd, args, func(ctx context.Context, st *store.Store, id freshet.ID) error {
				e, attempts, err := st.Execution(ctx, id)
				if err != nil {
					return err
				}
				if asJSON {
					return writeJSON(cmd.OutOrStdout(), web.ShowExecutionDetail(&e, attempts))
				}
				return printExecution(cmd.OutOrStdout(), &e, attempts)
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func printExecution(w io.Writer, e *freshet.Execution, attempts []freshet.Attempt) error {
	fmt.Fprintf(w, "%s\n%s, created %s\n", terminalOf(w).bold(e.ID.String()), e.State, e.CreatedAt.UTC().Format(time.RFC3339))
	if !e.State.Over() {
		fmt.Fprintf(w, "due: %s\n", until(e.DueAt, time.Now()))
	}
	fmt.Fprintf(w, "data: %s\n", clean(string(e.Data)))
	if len(attempts) == 0 {
		return nil
	}
	rows := make([][]string, len(attempts))
	for i, a := range attempts {
		status := ""
		if a.Status != 0 {
			status = strconv.Itoa(a.Status)
		}
		rows[i] = []string{strconv.Itoa(a.N), a.StartedAt.UTC().Format(time.RFC3339), status, fmt.Sprintf("%d ms", a.Took.Milliseconds()), a.Error}
	}
	fmt.Fprintln(w)
	return table(w, []string{"TRY", "STARTED", "STATUS", "TOOK", "ERROR"}, rows)
}

func executionsRetryCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "retry ID...",
		Short: "Have executions carried out again, at once",
		Args:  atLeastOne("an id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return eachExecution(cmd, args, func(ctx context.Context, st *store.Store, id freshet.ID) error {
				_, err := st.RetryExecution(ctx, id, time.Now())
				if err == nil {
					fmt.Fprintf(cmd.ErrOrStderr(), "%s is tried again.\n", id)
				}
				return err
			})
		},
	}
}

// eachExecution does one thing to each of the executions and says so when there is none of an id.
func eachExecution(cmd *cobra.Command, ids []string, do func(context.Context, *store.Store, freshet.ID) error) error {
	return withStore(cmd, func(ctx context.Context, _ *config, st *store.Store) error {
		for _, text := range ids {
			id, err := freshet.ParseID(text)
			if err == nil {
				err = do(ctx, st, id)
			}
			if errors.Is(err, freshet.ErrNotFound) {
				return fmt.Errorf("%s is no execution here (freshet executions list)", clean(text))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
