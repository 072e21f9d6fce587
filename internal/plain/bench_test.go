package plain

import (
	"bytes"
	"html"
	"strings"
	"testing"

	xhtml "golang.org/x/net/html"
)

// body is like the body of an item in a feed: paragraphs, links, an image, a list, references.
const body = `<p>The city council voted on Tuesday to extend the tram line to the northern districts, a project that had been discussed
for more than a decade. &ldquo;This is a good day for everyone who lives north of the river,&rdquo; said the mayor.</p>
<p><a href="https://news.example.org/2026/11/21/tram-line-north?utm_source=feed&amp;utm_medium=rss"><img src="https://img.example.org/2026/11/tram-640x480.jpg"
 alt="A tram on the bridge" width="640" height="480" class="alignnone size-large wp-image-4711" /></a></p>
<p>Construction is to begin in <strong>March</strong> and will take about three years. The cost is put at &euro;240&nbsp;million, of which
the state pays half; the rest comes from the <a href="https://example.org/fund" rel="nofollow">transport fund</a>&#8217;s reserves.</p>
<ul><li>Seven new stops</li><li>Trams every six minutes</li><li>Two bridges, one of them for bicycles &amp; pedestrians</li></ul>
<p>The post <a href="https://news.example.org/2026/11/21/tram-line-north">Tram goes north</a> appeared first on
<a href="https://news.example.org">Example News</a>.</p>
`

// tokenize is a plain loop over the tokenizer of x/net/html, the yardstick for Append.
func tokenize(dst, doc []byte) []byte {
	z := xhtml.NewTokenizer(bytes.NewReader(doc))
	for {
		switch z.Next() {
		case xhtml.ErrorToken:
			return dst
		case xhtml.TextToken:
			dst = append(dst, z.Text()...)
		case xhtml.StartTagToken, xhtml.EndTagToken:
			if name, _ := z.TagName(); len(name) == 1 && name[0] == 'p' {
				dst = append(dst, ' ')
			}
		}
	}
}

func BenchmarkText(b *testing.B) {
	escaped := []byte(html.EscapeString(body))
	for _, c := range []struct {
		name string
		doc  []byte
		run  func(dst, doc []byte) []byte
	}{
		{"Append", []byte(body), func(dst, doc []byte) []byte { return Append(dst, doc, 0) }},
		{"AppendEscaped", escaped, func(dst, doc []byte) []byte { return AppendEscaped(dst, doc, 0) }},
		{"UnescapeAndAppend", escaped, func(dst, doc []byte) []byte { return Append(dst, Unescape(nil, doc), 0) }},
		{"Unescape", escaped, Unescape},
		{"Fold", []byte(body), func(dst, doc []byte) []byte { return Fold(dst, doc, 0) }},
		{"Czech", []byte(strings.Repeat("<p>Příliš žluťoučký kůň úpěl ďábelské ódy.</p>\n", 40)), func(dst, doc []byte) []byte { return Append(dst, doc, 0) }},
		{"Russian", []byte(strings.Repeat("<p>Сегодня в Москве прошёл дождь, а завтра обещают снег.</p>\n", 40)), func(dst, doc []byte) []byte { return Append(dst, doc, 0) }},
		{"Tokenizer", []byte(body), tokenize},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.doc)))
			b.ReportAllocs()
			dst := make([]byte, 0, 2*len(c.doc))
			for b.Loop() {
				dst = c.run(dst[:0], c.doc)
			}
		})
	}
}

// BenchmarkLinear shows that documents made to be slow take time in proportion to their length: ns/op doubles
// from one size to the next.
func BenchmarkLinear(b *testing.B) {
	for name, unit := range map[string]string{
		"open tags": "<a ", "quotes": `<a b="`, "mixed quotes": `<a b="'><a b='">`, "comments": "<!--", "dashes": "-", "cdata": "<![CDATA[",
		"templates": "<template>", "scripts": "</script", "ends": "</", "ampersands": "&", "references": "&amp", "open values": "<a b=c ",
		"closed quotes": `<a b="x>y" `,
	} {
		for _, size := range []string{"128k", "256k", "512k"} {
			n := map[string]int{"128k": 1 << 17, "256k": 1 << 18, "512k": 1 << 19}[size]
			doc := []byte("<!--" + strings.Repeat(unit, n/len(unit)))
			b.Run(name+"/"+size, func(b *testing.B) {
				b.SetBytes(int64(len(doc)))
				dst := make([]byte, 0, 2*len(doc))
				for b.Loop() {
					Append(dst, doc, 0)
					AppendEscaped(dst, doc, 0)
				}
			})
		}
	}
}
