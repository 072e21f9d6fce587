package page

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"

	"freshet"
)

// Rules choose what of a page counts. The zero value leaves the choice to us.
type Rules struct {
	selector *freshet.Selector
	without  []*freshet.Selector // parts that do not count
	lines    []*regexp.Regexp    // lines that do not count
}

// NewRules reads the rules of a configuration, which Config.Check has accepted.
func NewRules(c freshet.Config) (Rules, error) {
	var r Rules
	var err error
	if c.Selector != "" {
		if r.selector, err = freshet.ParseSelector(c.Selector); err != nil {
			return r, err
		}
	}
	for _, rule := range c.Ignore {
		line, part, err := freshet.ParseIgnore(rule)
		switch {
		case err != nil:
			return r, err
		case line != nil:
			r.lines = append(r.lines, line)
		default:
			r.without = append(r.without, part)
		}
	}
	return r, nil
}

// prune takes what does not count out of the page.
func (r Rules) prune(doc *html.Node) {
	for _, s := range r.without {
		for _, n := range outermost(doc, s) {
			n.Parent.RemoveChild(n)
		}
	}
}

// selected is the text of the parts that the selector chooses.
func (r Rules) selected(doc *html.Node) string {
	var w textWriter
	for _, n := range outermost(doc, r.selector) {
		w.b.WriteByte('\n')
		w.node(n, false)
	}
	return lines(w.b.String())
}

// withoutLines takes the lines that do not count out of a text.
func (r Rules) withoutLines(text string) string {
	if len(r.lines) == 0 {
		return text
	}
	var kept []string
lines:
	for line := range strings.SplitSeq(text, "\n") {
		for _, ignored := range r.lines {
			if ignored.MatchString(line) {
				continue lines
			}
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}

// outermost returns the elements that a selector chooses of those that are seen, without those that lie in
// another.
func outermost(doc *html.Node, s *freshet.Selector) []*html.Node {
	var found []*html.Node
	var walk func(parent *html.Node, above, own freshet.Matches)
	walk = func(parent *html.Node, above, own freshet.Matches) {
		around := freshet.Around{Above: above | own, Parent: own}
		for n := parent.FirstChild; n != nil; n = n.NextSibling {
			if n.Type != html.ElementNode || isUnseen(n) {
				continue
			}
			m, chosen := s.Match(element{n}, around)
			if chosen {
				found = append(found, n)
			} else {
				walk(n, around.Above, m)
			}
			around.Before |= m
			around.Last = m
		}
	}
	walk(doc, 0, 0)
	return found
}

// element is a node as selectors see it.
type element struct{ *html.Node }

func (e element) Name() string { return e.Data }

func (e element) Attr(name string) (string, bool) {
	for _, a := range e.Node.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}
