package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"freshet"
	"freshet/internal/discover"
	"freshet/internal/store"
	"freshet/internal/vault"
)

// findAccount offers the X account that was pasted, if there is a token to read it with; nil when it is none.
func findAccount(ctx context.Context, v *vault.Vault, pasted string) ([]discover.Candidate, error) {
	if !freshet.NamesAccount(pasted) {
		return nil, nil
	}
	if err := hasToken(ctx, v); err != nil {
		return nil, err
	}
	address := freshet.AccountURL(pasted)
	return []discover.Candidate{{URL: address, Title: "@" + freshet.Handle(address) + " on X", Type: string(freshet.Twitter)}}, nil
}

// lookAtAccount says whether the account of a list can be read. It asks nothing of X, which would cost.
func lookAtAccount(ctx context.Context, v *vault.Vault, address string) discover.Sight {
	found, err := findAccount(ctx, v, address)
	if failure, ok := errors.AsType[*freshet.Failure](err); ok {
		return discover.Sight{Finding: discover.Trouble, Failure: failure}
	}
	if err != nil {
		return discover.Sight{Finding: discover.Trouble, Failure: &freshet.Failure{Class: freshet.Transient, Code: "internal", Sentence: "The token of the X API is not at hand: " + err.Error() + "."}}
	}
	return discover.Sight{Finding: discover.Works, URL: found[0].URL, Title: found[0].Title}
}

// hasToken says what to do when X accounts cannot be read.
func hasToken(ctx context.Context, v *vault.Vault) error {
	_, err := v.Token(ctx, "", freshet.X)
	if errors.Is(err, freshet.ErrNotFound) {
		return &freshet.Failure{Class: freshet.Permanent, Code: freshet.NeedsCredential,
			Sentence: "X accounts are read with a token of the X API, and none is set. Set one with: freshet credentials set x."}
	}
	return err
}

// warnOfToken says that what is added cannot be read yet.
func (c *config) warnOfToken(ctx context.Context, st *store.Store, talk io.Writer) error {
	v, err := c.openVault(ctx, st)
	if err != nil {
		return err
	}
	err = hasToken(ctx, v)
	if failure, ok := errors.AsType[*freshet.Failure](err); ok {
		fmt.Fprintln(talk, "freshet:", failure.Sentence)
		return nil
	}
	return err
}

func credentialsCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "credentials", Short: "Set, list and remove tokens of other services (x: the X API)"}
	group(cmd, credentialsSetCmd(), credentialsListCmd(), credentialsRmCmd())
	return cmd
}

// credentialView is a credential as it is shown: everything but the token.
type credentialView struct {
	Provider  freshet.Provider `json:"provider"`
	Owner     string           `json:"owner"`
	UpdatedAt time.Time        `json:"updated_at"`
	Reads     int              `json:"reads_this_month"`
}

func credentialsSetCmd() *cobra.Command {
	owner := ""
	cmd := &cobra.Command{
		Use:   "set PROVIDER",
		Short: "Keep a token, which is read from standard input",
		Args:  exactly(1, "one provider (x)"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := freshet.ParseProvider(args[0])
			if err != nil {
				return usageError{err}
			}
			if isTerminal(cmd.InOrStdin()) {
				fmt.Fprint(cmd.ErrOrStderr(), "Paste the token and press Enter: ")
			}
			token, err := bufio.NewReader(io.LimitReader(cmd.InOrStdin(), 1<<16)).ReadString('\n')
			if err != nil && err != io.EOF {
				return fmt.Errorf("read the token from standard input: %w", err)
			}
			return withStore(cmd, func(ctx context.Context, c *config, st *store.Store) error {
				v, err := c.openVault(ctx, st)
				if err != nil {
					return err
				}
				if _, err := v.Set(ctx, owner, p, token, time.Now()); err != nil {
					return err
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "The token for %s%s is kept, sealed.\n", p, ofOwner(owner))
				return nil
			})
		},
	}
	ownerFlag(cmd, &owner)
	return cmd
}

// isTerminal says whether a person types what comes in.
func isTerminal(in io.Reader) bool {
	file, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func ownerFlag(cmd *cobra.Command, owner *string) {
	cmd.Flags().StringVar(owner, "owner", "", "whose it is, as briefings name their owner; nothing for the instance")
}

func ofOwner(owner string) string {
	if owner == "" {
		return ""
	}
	return " of " + clean(owner)
}

func credentialsListCmd() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List whose tokens are kept, and what was read with them this month",
		Args:  exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withStore(cmd, func(ctx context.Context, _ *config, st *store.Store) error {
				list, err := st.Credentials(ctx)
				if err != nil {
					return err
				}
				views, rows := make([]credentialView, len(list)), make([][]string, len(list))
				for i, c := range list {
					n, err := st.Reads(ctx, c.Owner, c.Provider, freshet.Month(time.Now()))
					if err != nil {
						return err
					}
					views[i] = credentialView{c.Provider, c.Owner, c.UpdatedAt, n}
					rows[i] = []string{string(c.Provider), clean(c.Owner), c.UpdatedAt.Format("2006-01-02 15:04 MST"), fmt.Sprint(n)}
				}
				if asJSON {
					return writeJSON(cmd.OutOrStdout(), map[string]any{"credentials": views})
				}
				return table(cmd.OutOrStdout(), []string{"PROVIDER", "OWNER", "SET", "READS THIS MONTH"}, rows)
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func credentialsRmCmd() *cobra.Command {
	owner := ""
	cmd := &cobra.Command{
		Use:   "rm PROVIDER",
		Short: "Forget a token",
		Args:  exactly(1, "one provider (x)"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := freshet.ParseProvider(args[0])
			if err != nil {
				return usageError{err}
			}
			return withStore(cmd, func(ctx context.Context, _ *config, st *store.Store) error {
				err := st.RemoveCredential(ctx, owner, p)
				if errors.Is(err, freshet.ErrNotFound) {
					return fmt.Errorf("there is no token for %s%s (freshet credentials list)", p, ofOwner(owner))
				}
				return err
			})
		},
	}
	ownerFlag(cmd, &owner)
	return cmd
}
