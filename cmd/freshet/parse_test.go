package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const smallFeed = `<rss version="2.0"><channel><title>T</title><item><title>One &amp;amp; two</title><link>/1</link></item></channel></rss>`

// parseOutput runs the command on its own.
func parseOutput(t *testing.T, fetch fetchDocument, in string, args ...string) (out, talk string, err error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := parseCmd(fetch)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	cmd.SetIn(strings.NewReader(in))
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	err = cmd.ExecuteContext(t.Context())
	return stdout.String(), stderr.String(), err
}

// answer is what the tests look at of an answer.
type answer struct {
	Error   string
	Feed    struct{ Title string }
	Entries []struct{ Title, URL string }
}

func decodeLines(t *testing.T, out string) []answer {
	t.Helper()
	var answers []answer
	for line := range strings.Lines(out) {
		var a answer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%q is no line of JSON: %v", line, err)
		}
		answers = append(answers, a)
	}
	return answers
}

func TestParseStdinAnswersEachLineInOrder(t *testing.T) {
	dir := t.TempDir()
	good, page := filepath.Join(dir, "good.xml"), filepath.Join(dir, "page.html")
	for path, content := range map[string]string{good: smallFeed, page: "<html><body>no</body></html>"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := good + "\thttps://example.org/feed\tapplication/rss+xml\n" +
		page + "\thttps://example.org/\t\n" +
		filepath.Join(dir, "missing") + "\t\t\n" +
		good + "\n"
	out, _, err := parseOutput(t, nil, in, "--stdin")
	if err != nil {
		t.Fatal(err)
	}
	answers := decodeLines(t, out)
	if len(answers) != 4 {
		t.Fatalf("got %d answers to 4 lines: %s", len(answers), out)
	}
	if e := answers[0].Entries; len(e) != 1 || e[0].URL != "https://example.org/1" || e[0].Title != "One & two" {
		t.Errorf("first answer: %+v", answers[0])
	}
	if !strings.Contains(answers[1].Error, "web page") || answers[2].Error == "" {
		t.Errorf("a page and a missing file: %+v", answers[1:3])
	}
	if len(answers[3].Entries) != 1 {
		t.Errorf("a line without tabs: %+v", answers[3])
	}
}

func TestParseArguments(t *testing.T) {
	fetch := func(_ context.Context, url string) ([]byte, string, string, error) {
		if strings.HasSuffix(url, "/gone") {
			return nil, "", "", errors.New("410")
		}
		return []byte(smallFeed), "application/rss+xml", "https://moved.example/feed", nil
	}
	path := filepath.Join(t.TempDir(), "saved.xml")
	if err := os.WriteFile(path, []byte(smallFeed), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, in string
		args     []string
		url      string // of the first entry
	}{
		{"file", "", []string{"--url", "https://example.org/x/feed", path}, "https://example.org/1"},
		{"fetched", "", []string{"https://example.org/feed"}, "https://moved.example/1"},
		{"standard input", smallFeed, []string{"--url", "https://example.net/", "-"}, "https://example.net/1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _, err := parseOutput(t, fetch, c.in, c.args...)
			if err != nil {
				t.Fatal(err)
			}
			if a := decodeLines(t, out); len(a) != 1 || len(a[0].Entries) != 1 || a[0].Entries[0].URL != c.url {
				t.Errorf("got %s, want the entry at %s", out, c.url)
			}
		})
	}
}

func TestParseFailsAfterAllWereTried(t *testing.T) {
	fetch := func(context.Context, string) ([]byte, string, string, error) {
		return nil, "", "", errors.New("gone for good")
	}
	out, talk, err := parseOutput(t, fetch, smallFeed, "https://example.org/gone", "-")
	if _, failed := errors.AsType[silentError](err); !failed {
		t.Errorf("got error %v, want one that says nothing more", err)
	}
	if a := decodeLines(t, out); len(a) != 2 || a[0].Error == "" || len(a[1].Entries) != 1 {
		t.Errorf("got %s", out)
	}
	if !strings.Contains(talk, "gone for good") {
		t.Errorf("standard error does not say why: %q", talk)
	}
}

func TestParseIsUsedWrongly(t *testing.T) {
	for _, args := range [][]string{{}, {"--stdin", "file"}} {
		_, _, err := parseOutput(t, nil, "", args...)
		if _, wrong := errors.AsType[usageError](err); !wrong {
			t.Errorf("parse %q: got %v, want a mistake in the command line", args, err)
		}
	}
}

func TestParsePretty(t *testing.T) {
	out, _, err := parseOutput(t, nil, smallFeed, "--pretty", "-")
	if err != nil || !strings.Contains(out, "\n  \"feed\": {\n") {
		t.Errorf("not indented: %v %s", err, out)
	}
}
