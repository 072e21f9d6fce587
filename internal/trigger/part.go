package trigger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ohler55/ojg/jp"

	"freshet"
	"freshet/internal/charset"
	"freshet/internal/page"
)

const (
	mostText  = 4 << 20 // that a JSON path finds, in bytes
	mostPath  = 1000    // bytes of a JSON path
	mostLists = 2       // in a JSON path
)

// Document is what a source gave, as it came.
type Document struct {
	URL         string // after redirects
	ContentType string
	Body        []byte
	Hash        string // of Body, in hexadecimal SHA-256
}

// Contents returns the parts of a document that workflows watch (W4), in their order. A part that is not there
// has a Fault.
func Contents(ctx context.Context, d Document, parts []freshet.Part) []freshet.Content {
	found := make([]freshet.Content, len(parts))
	for i, p := range parts {
		found[i] = content(ctx, d, p)
	}
	return found
}

func content(ctx context.Context, d Document, p freshet.Part) freshet.Content {
	if p.Whole() {
		text, _, err := charset.UTF8(d.Body, d.ContentType)
		if err != nil {
			text = nil // no text: its hash says that it changed
		}
		return freshet.NewContent(p, d.Hash, string(text))
	}
	text, fault := partOf(ctx, d, p)
	if fault != "" {
		return freshet.Content{Part: p, Fault: fault}
	}
	return freshet.NewContent(p, "", text)
}

func partOf(ctx context.Context, d Document, p freshet.Part) (text, fault string) {
	if p.JSONPath != "" {
		return jsonPart(d, p.JSONPath)
	}
	rules, err := page.NewRules(freshet.Config{Selector: p.Selector, Ignore: p.Ignore})
	if err != nil {
		return "", "The selector or the ignore rules cannot be used: " + err.Error() + "."
	}
	a, failure := page.Parse(ctx, d.Body, page.Options{URL: d.URL, ContentType: d.ContentType, Rules: rules})
	if failure != nil {
		return "", failure.Sentence
	}
	return a.Text, ""
}

// Means are what a workflow needs of this package to look at what a poll brought.
func Means() freshet.Means {
	return freshet.Means{Passes: new(Filters).Passes, Changes: page.Changes}
}

// parsePath reads a JSON path, without what could take long in some documents: whoever finds descendants of
// descendants, or looks through the whole document at each place, multiplies.
func parsePath(path string) (x jp.Expr, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	switch {
	case len(path) > mostPath:
		return nil, fmt.Errorf("it is longer than %d bytes", mostPath)
	case strings.Count(path, "..") > 1:
		return nil, errors.New("it may have one ..")
	case strings.Count(path, "$") > 1:
		return nil, errors.New("it may have one $")
	}
	if x, err = jp.ParseString(path); err != nil {
		return nil, err
	}
	lists := 0
	for _, part := range x {
		if _, list := part.(jp.Union); list {
			lists++
		}
	}
	if lists > mostLists {
		return nil, fmt.Errorf("it may have %d lists such as ['a','b']", mostLists)
	}
	return x, nil
}

// jsonPart returns what a JSON path finds, a line each.
func jsonPart(d Document, path string) (text, fault string) {
	defer func() {
		if recover() != nil {
			text, fault = "", "The JSON path cannot be followed in this document."
		}
	}()
	x, err := parsePath(path)
	if err != nil {
		return "", "The JSON path cannot be read: " + err.Error() + "."
	}
	body, _, err := charset.UTF8(d.Body, d.ContentType)
	if err != nil {
		return "", "The document is no text."
	}
	var document any
	if err := json.Unmarshal(bytes.TrimPrefix(body, []byte("\ufeff")), &document); err != nil {
		return "", "The document is no JSON: " + err.Error() + "."
	}
	found := x.Get(document)
	if len(found) == 0 {
		return "", "The JSON path " + path + " finds nothing in the document."
	}
	var lines strings.Builder
	for _, v := range found {
		if s, ok := v.(string); ok {
			lines.WriteString(s)
		} else {
			b, _ := json.Marshal(v) // it was JSON; keys come in order
			lines.Write(b)
		}
		lines.WriteByte('\n')
		if lines.Len() > mostText {
			break
		}
	}
	return strings.TrimSuffix(lines.String(), "\n"), ""
}
