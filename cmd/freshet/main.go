// Freshet watches feeds politely and merges them into one river of news.
//
// This package is the program: it reads flags, environment and file (config.go), wires the packages of
// internal/ together and runs them, with one file per subcommand. Data goes to standard output, talk to
// standard error; it exits with 0 when all went well, 1 when something failed or was refused and 2 when it
// was used wrongly. It decides nothing about feeds: the root package does (SPEC.md sections 2, 6, 10, 11).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"freshet/internal/fetch"
)

const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run carries out one command line and returns the exit code.
func run(ctx context.Context, args []string, in io.Reader, out, talk io.Writer) int {
	root := rootCmd()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(talk)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	if said := (silentError{}); !errors.As(err, &said) {
		fmt.Fprintln(talk, "freshet:", err)
	}
	if _, wrong := errors.AsType[usageError](err); wrong {
		fmt.Fprintf(talk, "Try %q.\n", cmd.CommandPath()+" --help")
		return exitUsage
	}
	return exitFailed
}

// usageError is a mistake in the command line or the configuration.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// silentError fails a command whose output has said why.
type silentError struct{}

func (silentError) Error() string { return "failed" }

func rootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:           "freshet",
		Short:         "Watches feeds politely and shows them as one river of news",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	group(root,
		serveCmd(), ingestCmd(), whyCmd(), sourcesCmd(), credentialsCmd(), riverCmd(), briefingCmd(), workflowsCmd(), executionsCmd(), queueCmd(), parseCmd(fetcherOf(root)),
		configCmd(), healthcheckCmd(), versionCmd())
	addSettingFlags(root.PersistentFlags())
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.SetUsageTemplate(usageTemplate(root.UsageTemplate()))
	return root
}

// fetcherOf fetches documents under the configuration of the command line.
func fetcherOf(root *cobra.Command) fetchDocument {
	return func(ctx context.Context, url string) ([]byte, string, string, error) {
		c, err := configOf(root)
		if err != nil {
			return nil, "", "", err
		}
		got, err := c.fetcher().Get(ctx, fetch.Request{URL: url})
		if err != nil {
			return nil, "", "", err
		}
		return got.Body, got.ContentType, got.FinalURL, nil
	}
}

// usageTemplate keeps the long list of settings to where it is looked for.
func usageTemplate(standard string) string {
	before, rest, _ := strings.Cut(standard, "{{if .HasAvailableInheritedFlags}}")
	_, after, _ := strings.Cut(rest, "{{end}}")
	return before + `{{if and .HasParent (not .HasAvailableSubCommands)}}

Every setting may be given too ("freshet --help" lists them).{{end}}` + after
}

// group makes cmd a command that only has others below it.
func group(cmd *cobra.Command, commands ...*cobra.Command) {
	cmd.AddCommand(commands...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		suggestions := cmd.SuggestionsFor(args[0])
		if len(suggestions) > 0 {
			return usageError{fmt.Errorf("there is no command %q; did you mean %q?", args[0], suggestions[0])}
		}
		return usageError{fmt.Errorf("there is no command %q", args[0])}
	}
	cmd.Args = cobra.ArbitraryArgs
	cmd.SuggestionsMinimumDistance = 2
}

// exactly takes n arguments, which are called by name in the complaint.
func exactly(n int, names string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) == n:
			return nil
		case n == 0:
			return usageError{fmt.Errorf("takes no arguments, got %q", args)}
		default:
			return usageError{fmt.Errorf("takes %s, got %d arguments", names, len(args))}
		}
	}
}

// atLeastOne takes one argument or more.
func atLeastOne(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usageError{fmt.Errorf("takes at least %s", name)}
		}
		return nil
	}
}

// configOf resolves the configuration of a command.
func configOf(cmd *cobra.Command) (*config, error) {
	c, err := loadConfig(cmd.Root().PersistentFlags())
	if err != nil {
		return nil, usageError{err}
	}
	return c, nil
}
