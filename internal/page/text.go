package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// layout says how elements break lines.
type layout byte

const (
	inline layout = iota
	block         // begins and ends a line
	cell          // ends with a bar
	unseen        // shows no text
)

var layouts = map[atom.Atom]layout{
	atom.Script: unseen, atom.Style: unseen, atom.Template: unseen, atom.Noscript: unseen, atom.Head: unseen, atom.Title: unseen,
	atom.Iframe: unseen, atom.Object: unseen, atom.Embed: unseen, atom.Canvas: unseen, atom.Audio: unseen, atom.Video: unseen,
	atom.Svg: unseen, atom.Select: unseen, atom.Textarea: unseen, atom.Button: unseen, atom.Datalist: unseen, atom.Dialog: unseen,
	atom.Noframes: unseen, atom.Map: unseen, atom.Progress: unseen, atom.Meter: unseen, atom.Rp: unseen, atom.Rt: unseen,

	atom.Td: cell, atom.Th: cell,

	atom.Address: block, atom.Article: block, atom.Aside: block, atom.Blockquote: block, atom.Body: block, atom.Br: block,
	atom.Caption: block, atom.Center: block, atom.Dd: block, atom.Details: block, atom.Div: block, atom.Dl: block, atom.Dt: block,
	atom.Fieldset: block, atom.Figcaption: block, atom.Figure: block, atom.Footer: block, atom.Form: block, atom.H1: block,
	atom.H2: block, atom.H3: block, atom.H4: block, atom.H5: block, atom.H6: block, atom.Header: block, atom.Hgroup: block,
	atom.Hr: block, atom.Legend: block, atom.Li: block, atom.Main: block, atom.Menu: block, atom.Nav: block, atom.Ol: block,
	atom.P: block, atom.Pre: block, atom.Search: block, atom.Section: block, atom.Summary: block, atom.Table: block,
	atom.Tbody: block, atom.Tfoot: block, atom.Thead: block, atom.Tr: block, atom.Ul: block,
}

// textOf is the text that a browser would show of a node, a line per block, white space folded.
func textOf(n *html.Node) string {
	var w textWriter
	w.node(n, false)
	return lines(w.b.String())
}

// textWriter writes text with line breaks where blocks begin and end, as often as they do.
type textWriter struct {
	b    strings.Builder
	bare bool // without furniture
}

func (w *textWriter) node(n *html.Node, pre bool) {
	if w.b.Len() > 2*maxText {
		return
	}
	switch n.Type {
	case html.TextNode:
		w.text(n.Data, pre)
		return
	case html.ElementNode:
		if isUnseen(n) || w.bare && furniture[n.DataAtom] {
			return
		}
	}
	kind := layouts[n.DataAtom]
	if kind == block {
		w.b.WriteByte('\n')
	}
	pre = pre || n.DataAtom == atom.Pre
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.node(c, pre)
	}
	switch {
	case kind == block:
		w.b.WriteByte('\n')
	case kind == cell && nextElement(n) != nil:
		w.b.WriteString(" | ")
	}
}

// text writes characters; a line break is one in preformatted text only.
func (w *textWriter) text(s string, pre bool) {
	if !pre {
		s = strings.ReplaceAll(s, "\n", " ")
	}
	w.b.WriteString(s)
}

// isUnseen says whether an element shows nothing: by its name, or hidden.
func isUnseen(n *html.Node) bool {
	if layouts[n.DataAtom] == unseen {
		return true
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return a.Val != "until-found"
		case "aria-hidden":
			if strings.EqualFold(a.Val, "true") {
				return true
			}
		case "style":
			if hides(a.Val) {
				return true
			}
		}
	}
	return false
}

// hides says whether a style attribute takes the element off the page.
func hides(style string) bool {
	if len(style) > 1000 {
		return false
	}
	style = strings.ToLower(strings.Join(strings.Fields(style), ""))
	return strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
}

func nextElement(n *html.Node) *html.Node {
	for n = n.NextSibling; n != nil && n.Type != html.ElementNode; n = n.NextSibling {
	}
	return n
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}
