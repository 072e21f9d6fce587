package trigger

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ohler55/ojg/jp"

	"freshet"
	"freshet/internal/charset"
	"freshet/internal/page"
)

// mostText bounds what a JSON path finds, in bytes.
const mostText = 4 << 20

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

func parsePath(path string) (x jp.Expr, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return jp.ParseString(path)
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
