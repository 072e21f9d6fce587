package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"freshet/internal/feed"
)

// fetchDocument gets the document at a URL, under all the rules for fetching.
type fetchDocument func(ctx context.Context, url string) (body []byte, contentType, finalURL string, err error)

// parseFlags are what parse is told about documents that are not fetched.
type parseFlags struct {
	lines, pretty    bool
	url, contentType string
}

func parseCmd(fetch fetchDocument) *cobra.Command {
	var flags parseFlags
	cmd := &cobra.Command{
		Use:   "parse FILE|URL...",
		Short: "Show what is read out of feeds, as JSON",
		Long: `Reads RSS, RDF, Atom and JSON feeds from files, from URLs or from standard input ("-") and prints
what a poll would get out of each as a line of JSON. With --stdin it reads lines that name documents,
"PATH<TAB>URL<TAB>CONTENT-TYPE", and answers each in order without fetching anything.

Exits with 1 when a document could not be read or is no feed.`,
		Example: `  freshet parse --pretty https://example.org/feed.xml
  freshet parse --url https://example.org/feed.xml saved.xml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if flags.lines {
				if len(args) > 0 {
					return usageError{fmt.Errorf("--stdin takes no arguments, got %q", args)}
				}
				return parseStdin(cmd.InOrStdin(), cmd.OutOrStdout())
			}
			if len(args) == 0 {
				return usageError{fmt.Errorf("takes at least one file or URL")}
			}
			return parseAll(cmd, fetch, args, flags)
		},
	}
	cmd.Flags().BoolVar(&flags.lines, "stdin", false, "read lines that name documents from standard input")
	cmd.Flags().BoolVar(&flags.pretty, "pretty", false, "indent the JSON")
	cmd.Flags().StringVar(&flags.url, "url", "", "the address that a file came from")
	cmd.Flags().StringVar(&flags.contentType, "content-type", "", "the Content-Type that a file came with")
	return cmd
}

// parseStdin answers the lines of in.
func parseStdin(in io.Reader, out io.Writer) error {
	buffered := bufio.NewWriter(out)
	err := feed.ParseLines(in, buffered, openFile)
	if flushed := buffered.Flush(); err == nil && flushed != nil {
		err = fmt.Errorf("write answer: %w", flushed)
	}
	return err
}

// parseAll shows each document, and fails in the end when one could not be read.
func parseAll(cmd *cobra.Command, fetch fetchDocument, names []string, flags parseFlags) error {
	failed := false
	for _, name := range names {
		d, err := parseOne(cmd, fetch, name, flags)
		if err != nil {
			failed = true
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %v\n", name, err)
			err = feed.WriteError(cmd.OutOrStdout(), err)
		} else {
			err = d.WriteJSON(cmd.OutOrStdout(), flags.pretty)
		}
		if err != nil {
			return fmt.Errorf("write answer: %w", err)
		}
	}
	if failed {
		return silentError{}
	}
	return nil
}

func parseOne(cmd *cobra.Command, fetch fetchDocument, name string, flags parseFlags) (*feed.Document, error) {
	o := feed.Options{URL: flags.url, ContentType: flags.contentType}
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		doc, contentType, url, err := fetch(cmd.Context(), name)
		if err != nil {
			return nil, err
		}
		return feed.Parse(doc, feed.Options{URL: url, ContentType: contentType})
	}
	in, err := openInput(cmd, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return feed.Read(in, o)
}

// openInput opens a file, or standard input for "-".
func openInput(cmd *cobra.Command, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(cmd.InOrStdin()), nil
	}
	return openFile(name)
}

func openFile(path string) (io.ReadCloser, error) { return os.Open(path) }
