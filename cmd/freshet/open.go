package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"freshet"
	"freshet/internal/fetch"
	"freshet/internal/reader"
	"freshet/internal/store"
	"freshet/internal/vault"
)

// types are the kinds of source that can be read.
var types = []freshet.Type{freshet.RSS, freshet.Website, freshet.HTTP, freshet.Twitter}

// logger writes what happens to w in the configured format.
func (c *config) logger(w io.Writer) *slog.Logger {
	var level slog.Level
	level.UnmarshalText([]byte(c.LogLevel)) // config.go lets only good ones through
	options := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// openStore opens the configured database; the data folder is made when it is missing.
func (c *config) openStore(ctx context.Context, log *slog.Logger) (*store.Store, error) {
	o := store.Options{Settings: c.Settings, Logger: log}
	if c.Database == "" || c.MasterKey != "" { // else other instances, with data folders of their own, may lack the key
		o.Seals = vault.NewSeals(c.MasterKey, c.keyFile())
	}
	if c.Database != "" {
		return store.Open(ctx, c.Database, o)
	}
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	return store.Open(ctx, filepath.Join(c.Data, "freshet.db"), o)
}

// fetcher makes the one client for requests to the outside.
func (c *config) fetcher() *fetch.Client {
	return fetch.New(fetch.Settings{Timeout: c.Timeout, Allow: c.FetchAllow, UserAgent: userAgent(c.Contact)})
}

// openVault opens the tokens of a database; a master key that does not fit is an error (S7).
func (c *config) openVault(ctx context.Context, st *store.Store) (*vault.Vault, error) {
	return vault.Open(ctx, st, c.MasterKey, c.keyFile())
}

// keyFile is where the master key lies when none is given.
func (c *config) keyFile() string { return filepath.Join(c.Data, "freshet.key") }

// keys are the tokens of the X API: sealed by the vault, what they cost counted by the store.
type keys struct {
	*vault.Vault
	*store.Store
}

// reader makes what reads sources.
func (c *config) reader(st *store.Store, v *vault.Vault, client *fetch.Client, log *slog.Logger) *reader.Reader {
	return reader.New(client, log).WithX(reader.X{
		API: c.XAPI, Keys: keys{v, st}, MonthlyReads: c.XMonthlyReads, Timeout: c.Timeout, Policy: c.Policy,
	})
}

// withStore runs what a command does on the database.
func withStore(cmd *cobra.Command, do func(ctx context.Context, c *config, st *store.Store) error) error {
	c, err := configOf(cmd)
	if err != nil {
		return err
	}
	st, err := c.openStore(cmd.Context(), c.logger(cmd.ErrOrStderr()))
	if err != nil {
		return err
	}
	defer st.Close()
	return do(cmd.Context(), c, st)
}
