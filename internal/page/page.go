// Package page reads an HTML page into an article (SPEC.md E2): its text, a line per block, its title,
// author, address and dates.
//
// The text is what rules of the source choose, else the article that a reader's view would show, else the
// longest <article> element, else the block that holds the most text. It is plain text without markup,
// links or pictures. Changes says in lines what differs between two texts.
//
// It keeps nothing, fetches nothing and runs no scripts. Whatever comes in, it neither panics nor
// takes more than a bounded time.
package page

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html"

	"freshet"
	"freshet/internal/charset"
	"freshet/internal/plain"
)

// Article is what a page says. Texts are plain; what it does not say is empty.
type Article struct {
	Title     string
	PageTitle string // the whole <title>, site name and all
	Author    string
	Text      string // a line per block
	URL       string // its canonical link when that is one of the same site, else where it came from
	SiteName  string
	Language  string // as in RFC 5646: "pt-BR"
	Image     string
	Published time.Time
	Modified  time.Time
}

// Options say where a page came from and what of it counts.
type Options struct {
	URL         string // where the page was, after redirects
	ContentType string // of the answer
	Rules       Rules
}

// maxText bounds the text of an article, in bytes; what is beyond is left out.
const maxText = 1 << 20

// Parse reads a page. A failure says what the document is instead, or why there is no text.
func Parse(ctx context.Context, body []byte, o Options) (*Article, *freshet.Failure) {
	if f := notPage(body, o.ContentType); f != nil {
		return nil, f
	}
	text, _, err := charset.PageUTF8(body, o.ContentType)
	if err != nil {
		return nil, failure("not_a_page", "This is a binary file, not a web page.")
	}
	base, err := url.Parse(o.URL)
	if err != nil {
		base = &url.URL{}
	}
	if isPlain(text, o.ContentType) {
		return plainPage(text, base, o.Rules)
	}
	doc, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, failure("parse", "The page is nested too deeply to be read.")
	}
	return parse(ctx, doc, base, o.Rules)
}

func parse(ctx context.Context, doc *html.Node, base *url.URL, rules Rules) (*Article, *freshet.Failure) {
	m := readMeta(doc, base)
	a := m.article()
	rules.prune(doc)
	switch {
	case rules.selector != nil:
		a.Text = rules.selected(doc)
		if a.Text == "" {
			return nil, failure("no_match", fmt.Sprintf("Nothing on the page matches the selector %q.", rules.selector))
		}
	default:
		a.Text = mainText(doc, base)
	}
	if ctx.Err() != nil {
		return nil, failure("stopped", "The fetch was stopped.")
	}
	if a.Text == "" {
		a.Text = lines(m.ld.body)
	}
	a.Text = rules.withoutLines(a.Text)
	if a.Text == "" {
		return nil, failure("no_text", "The page has no text of its own. It may be put together by a script, and Freshet runs none.")
	}
	return a, nil
}

// plainPage is a page that is text without markup.
func plainPage(text []byte, base *url.URL, rules Rules) (*Article, *freshet.Failure) {
	a := &Article{Title: base.Path[strings.LastIndexByte(base.Path, '/')+1:], URL: address(base), Text: rules.withoutLines(lines(string(text)))}
	a.PageTitle = a.Title
	if a.Text == "" {
		return nil, failure("no_text", "The document is empty.")
	}
	return a, nil
}

// lines folds the white space of text within its lines and drops the empty ones.
func lines(text string) string {
	out := make([]byte, 0, min(len(text), maxText))
	for line := range strings.Lines(text) {
		before := len(out)
		if before > 0 {
			out = append(out, '\n')
		}
		start := len(out)
		if out = plain.Fold(out, []byte(line), 0); len(out) == start {
			out = out[:before]
		}
		if len(out) > maxText {
			return strings.ToValidUTF8(string(out[:maxText]), "")
		}
	}
	return string(out)
}

func failure(code, sentence string) *freshet.Failure {
	return &freshet.Failure{Class: freshet.Transient, Code: code, Sentence: sentence}
}

// address is an address as it is shown and linked to: without userinfo.
func address(u *url.URL) string {
	if u.Host == "" {
		return ""
	}
	shown := *u
	shown.User = nil
	return shown.String()
}
