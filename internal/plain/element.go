package plain

// kind is what an element does to the text around it.
type kind uint8

const (
	unknown kind = iota // no element of HTML
	inline              // breaks no word
	block               // breaks words before and after
	hidden              // its content is not shown
)

// longestElement is the length of blockquote and figcaption.
const longestElement = 10

// kindOf looks the name of an element up, in any case.
func kindOf(name []byte) kind {
	var buf [longestElement]byte
	if len(name) > longestElement {
		return unknown
	}
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		buf[i] = c
	}
	switch string(buf[:len(name)]) {
	case "script", "style", "template":
		return hidden
	case "address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd", "details", "dialog",
		"dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset", "h1", "h2", "h3",
		"h4", "h5", "h6", "head", "header", "hgroup", "hr", "html", "legend", "li", "listing", "main", "menu", "nav",
		"ol", "optgroup", "option", "p", "plaintext", "pre", "search", "section", "select", "summary", "table",
		"tbody", "td", "textarea", "tfoot", "th", "thead", "title", "tr", "ul", "xmp":
		return block
	case "a", "abbr", "acronym", "applet", "area", "audio", "b", "base", "basefont", "bdi", "bdo", "big", "button",
		"canvas", "cite", "code", "col", "colgroup", "data", "datalist", "del", "dfn", "em", "embed", "font", "frame",
		"i", "iframe", "img", "input", "ins", "kbd", "label", "link", "map", "mark", "marquee", "math", "meta", "meter",
		"nobr", "noframes", "noscript", "object", "output", "param", "picture", "progress", "q", "rp", "rt", "ruby",
		"s", "samp", "small", "source", "span", "strike", "strong", "sub", "sup", "svg", "time", "track", "tt", "u",
		"var", "video", "wbr":
		return inline
	}
	return unknown
}
