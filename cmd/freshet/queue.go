package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"freshet"
	"freshet/internal/store"
	"freshet/internal/web"
)

func queueCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "queue", Short: "Carry out, as a worker, what workflows without actions made"}
	group(cmd, queuePullCmd(), queueAckCmd(), queueNackCmd())
	return cmd
}

// worker is the owner of what workers lease.
const worker = "worker"

func queuePullCmd() *cobra.Command {
	var (
		workflow    string
		limit       int
		wait, lease time.Duration
		asJSON      bool
	)
	cmd := &cobra.Command{
		Use:   "pull",
		Short: "Fetch executions, one a line; each is yours until its lease ends",
		Args:  exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case limit < 1 || limit > 100:
				return usageError{errors.New("--limit: it takes a number from 1 to 100")}
			case lease < 10*time.Second || lease > time.Hour:
				return usageError{errors.New("--lease: it takes a time from 10s to 1h")}
			case wait < 0:
				return usageError{errors.New("--wait: it takes a time such as 30s")}
			}
			return withStore(cmd, func(ctx context.Context, _ *config, st *store.Store) error {
				of, err := chosenWorkflow(ctx, st, workflow)
				if err != nil {
					return err
				}
				pulled, err := pull(ctx, st, of.ID, limit, lease, time.Now().Add(wait))
				if err != nil {
					return err
				}
				if len(pulled) == 0 && len(of.Actions) > 0 {
					fmt.Fprintf(cmd.ErrOrStderr(), "%s has actions, so its executions are sent and wait for no worker.\n", clean(workflow))
				}
				return printPulled(cmd.OutOrStdout(), pulled, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&workflow, "workflow", "", "only of this workflow: its name or id")
	cmd.Flags().IntVar(&limit, "limit", 1, "how many, at most 100")
	cmd.Flags().DurationVar(&wait, "wait", 0, "how long to wait for the first one")
	cmd.Flags().DurationVar(&lease, "lease", time.Minute, "how long they are yours")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each as a line of JSON, with its data")
	return cmd
}

// pull leases executions, and waits until the end for the first one.
func pull(ctx context.Context, st *store.Store, workflow freshet.ID, limit int, lease time.Duration, end time.Time) ([]freshet.Delivery, error) {
	for {
		now := time.Now()
		next, err := st.NextLease(ctx, workflow)
		if err != nil {
			return nil, err
		}
		if !next.IsZero() && !next.After(now) {
			pulled, err := st.LeaseExecutions(ctx, worker, workflow, limit, lease, now)
			if err != nil || len(pulled) > 0 {
				return pulled, err
			}
		}
		if !now.Before(end) {
			return nil, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(min(time.Second, end.Sub(now))):
		}
	}
}

func printPulled(w io.Writer, pulled []freshet.Delivery, asJSON bool) error {
	rows := make([][]string, len(pulled))
	for i := range pulled {
		leased := web.ShowLeased(&pulled[i])
		if asJSON {
			if err := json.NewEncoder(w).Encode(leased); err != nil {
				return err
			}
		}
		rows[i] = []string{leased.ID.String(), fmt.Sprint(leased.Attempt), leased.LeaseUntil.Format(time.RFC3339), leased.Workflow, string(leased.Data)}
	}
	if asJSON || len(rows) == 0 {
		return nil
	}
	return table(w, []string{"ID", "TRY", "YOURS UNTIL", "WORKFLOW", "DATA"}, rows)
}

func queueAckCmd() *cobra.Command {
	attempt := 0
	cmd := &cobra.Command{
		Use:   "ack ID --attempt N",
		Short: "Say that an execution is done",
		Args:  exactly(1, "one id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return endLease(cmd, args[0], freshet.Attempt{N: attempt})
		},
	}
	attemptFlag(cmd, &attempt)
	return cmd
}

func queueNackCmd() *cobra.Command {
	var (
		attempt int
		reason  string
		after   time.Duration
	)
	cmd := &cobra.Command{
		Use:   "nack ID --attempt N",
		Short: "Say that an execution failed; it is tried again later",
		Args:  exactly(1, "one id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if after < 0 {
				return usageError{errors.New("--retry-after: it takes a time such as 5m")}
			}
			a := freshet.Attempt{N: attempt, Error: cmp.Or(reason, freshet.NoReason)}
			if after > 0 {
				a.RetryAfter = time.Now().Add(after)
			}
			return endLease(cmd, args[0], a)
		},
	}
	attemptFlag(cmd, &attempt)
	cmd.Flags().StringVar(&reason, "error", "", "why, for people")
	cmd.Flags().DurationVar(&after, "retry-after", 0, "not before this time has passed")
	return cmd
}

func attemptFlag(cmd *cobra.Command, attempt *int) {
	cmd.Flags().IntVar(attempt, "attempt", 0, "the attempt that was pulled")
}

func endLease(cmd *cobra.Command, id string, a freshet.Attempt) error {
	if a.N < 1 {
		return usageError{errors.New("--attempt is needed: the number that came with the execution")}
	}
	return eachExecution(cmd, []string{id}, func(ctx context.Context, st *store.Store, id freshet.ID) error {
		e, err := st.EndLease(ctx, id, a, time.Now())
		if errors.Is(err, freshet.ErrLeaseLost) {
			return fmt.Errorf("attempt %d at %s is over: its lease ran out, or it was acked or nacked before (freshet executions show %s)", a.N, id, id)
		}
		if err == nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s.\n", id, e.State)
		}
		return err
	})
}
