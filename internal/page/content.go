package page

import (
	"log/slog"
	"net/url"

	"codeberg.org/readeck/go-readability"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// leastArticle is how many characters make an <article> element the article of its page.
	leastArticle = 250
	// mostNodes and mostWork are how large a page the reader's view looks at: it reads the text of an element
	// again for each that it lies in, so the work is bytes of text times their depth.
	mostNodes = 40_000
	mostWork  = 32 << 20
	// mostAttributes is how many attributes of an element it sees.
	mostAttributes = 50
)

// mainText is the text of a page's article (E2).
func mainText(doc *html.Node, base *url.URL) string {
	if view := readerView(doc, base); view != "" {
		return view
	}
	return simpleText(doc)
}

// simpleText is what the words of E2 ask for: the longest article element, else the largest block of text.
func simpleText(doc *html.Node) string {
	var s survey
	all := s.node(doc)
	switch {
	case s.articleSize >= leastArticle:
		return contentOf(s.article)
	case s.blockSize > all/3:
		return contentOf(s.block)
	default:
		return contentOf(doc)
	}
}

// readerView is the text that readability finds: what browsers show in their reading view. "" when it finds
// none, or when the page is too large for it or breaks it.
func readerView(doc *html.Node, base *url.URL) (text string) {
	defer func() {
		if recover() != nil {
			text = ""
		}
	}()
	var c copier
	copied := c.copy(doc, 0)
	if c.nodes > mostNodes || c.work > mostWork {
		return ""
	}
	parser := readability.NewParser()
	parser.DisableJSONLD = true
	parser.Logger = slog.New(slog.DiscardHandler)
	found, err := parser.ParseAndMutate(copied, base)
	if err != nil || found.Node == nil {
		return ""
	}
	return textOf(found.Node)
}

// copier copies a page without what readability has no use for: meta elements, which are read here, scripts,
// attributes of absurd length. It counts what there is to read.
type copier struct{ nodes, work int }

func (c *copier) copy(n *html.Node, depth int) *html.Node {
	out := &html.Node{Type: n.Type, DataAtom: n.DataAtom, Data: n.Data, Namespace: n.Namespace, Attr: make([]html.Attribute, 0, len(n.Attr))}
	for _, a := range n.Attr {
		if len(a.Val) <= maxValue && len(out.Attr) < mostAttributes {
			out.Attr = append(out.Attr, a)
		}
	}
	c.nodes++
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		switch {
		case child.Type == html.CommentNode:
		case child.DataAtom == atom.Meta, child.DataAtom == atom.Script, child.DataAtom == atom.Style, child.DataAtom == atom.Noscript:
		default:
			if child.Type == html.TextNode {
				c.work += len(child.Data) * depth
			}
			out.AppendChild(c.copy(child, depth+1))
		}
	}
	return out
}

// survey is how much text lies where, furniture left out.
type survey struct {
	article     *html.Node // the longest, without those in it
	articleSize int
	block       *html.Node // whose paragraphs hold most text
	blockSize   int
	blocks      map[*html.Node]int // the size of all paragraphs in an element
}

// furniture stands around the content of a page or an article.
var furniture = map[atom.Atom]bool{atom.Nav: true, atom.Aside: true, atom.Footer: true, atom.Form: true, atom.Header: true}

// node surveys a node and returns how many characters it shows.
func (s *survey) node(n *html.Node) int {
	size := 0
	switch n.Type {
	case html.TextNode:
		return visibleLength(n.Data)
	case html.ElementNode:
		if isUnseen(n) || furniture[n.DataAtom] {
			return 0
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		size += s.node(c)
	}
	switch n.DataAtom {
	case atom.Article:
		if size > s.articleSize {
			s.article, s.articleSize = n, size
		}
	case atom.P, atom.Pre, atom.Blockquote:
		s.paragraph(n.Parent, size)
	}
	return size
}

// paragraph counts a paragraph for the element that it stands in.
func (s *survey) paragraph(parent *html.Node, size int) {
	if s.blocks == nil {
		s.blocks = map[*html.Node]int{}
	}
	s.blocks[parent] += size
	if total := s.blocks[parent]; total > s.blockSize {
		s.block, s.blockSize = parent, total
	}
}

// contentOf is the text of an element without furniture.
func contentOf(n *html.Node) string {
	w := textWriter{bare: true}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.node(c, false)
	}
	return lines(w.b.String())
}

func visibleLength(s string) (n int) {
	for _, r := range s {
		if r > ' ' {
			n++
		}
	}
	return n
}
