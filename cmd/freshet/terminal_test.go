package main

import (
	"bytes"
	"testing"
)

// What a feed calls itself must not steer the terminal of whoever reads it.
func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                       "plain",
		"two\nlines\tand\r\n  spaces": "two lines and spaces",
		"\x1b[31mred\x1b[0m":          "[31mred[0m",
		"\x1b]0;title\x07x":           "]0;titlex",
		"c1 \u009b31m":                "c1 31m",
		"turn \u202egnp.exe":          "turn gnp.exe",
		"zero\u200bwidth":             "zerowidth",
		"bad \xff byte":               "bad byte",
		"日本語 é":                       "日本語 é",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, tc := range []struct {
		in      string
		columns int
		want    string
	}{
		{"abcdef", 0, "abcdef"},
		{"abcdef", 6, "abcdef"},
		{"abcdef", 5, "abcd…"},
		{"ab cdef", 4, "ab…"},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"é́é́", 2, "é́é́"},
		{"", 3, ""},
	} {
		if got := cut(tc.in, tc.columns); got != tc.want {
			t.Errorf("cut(%q, %d) = %q, want %q", tc.in, tc.columns, got, tc.want)
		}
	}
}

func TestTableAligns(t *testing.T) {
	var out bytes.Buffer
	if err := table(&out, []string{"A", "NAME", "LAST"}, [][]string{{"1", "日本", "x"}, {"22", "é", "long enough to be cut on a terminal"}}); err != nil {
		t.Fatal(err)
	}
	want := "A   NAME  LAST\n1   日本  x\n22  é     long enough to be cut on a terminal\n"
	if out.String() != want {
		t.Errorf("printed\n%s, want\n%s", out.String(), want)
	}
}

func TestColourOnlyWhereItIsSeen(t *testing.T) {
	if got := (terminal{columns: 80, colour: true}).bold("x"); got != "\x1b[1mx\x1b[0m" {
		t.Errorf("on a terminal: %q", got)
	}
	if got := terminalOf(&bytes.Buffer{}).bold("x"); got != "x" {
		t.Errorf("in a file: %q", got)
	}
}

// An address from outside goes into a command line that people copy.
func TestQuoted(t *testing.T) {
	for in, want := range map[string]string{
		"https://example.org/feed":        "https://example.org/feed",
		"https://example.org/feed?a=1&b":  "'https://example.org/feed?a=1&b'",
		"https://example.org/$(reboot)":   "'https://example.org/$(reboot)'",
		"https://example.org/it's":        `'https://example.org/it'\''s'`,
		"https://example.org/\n;reboot\n": "'https://example.org/ ;reboot'",
	} {
		if got := quoted(in); got != want {
			t.Errorf("quoted(%q) = %s, want %s", in, got, want)
		}
	}
}
