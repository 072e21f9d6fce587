package feeds

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"freshet/internal/feed"
	"freshet/internal/plain"
)

// document is a feed with the address and type it was served with.
type document struct {
	name, url, contentType string
	body                   []byte
}

// realFeeds are the public feeds beside the repository that gofeed reads as well, so that all sides do the same
// work.
func realFeeds(tb testing.TB) []document {
	dir := filepath.Join("..", "..", "..", "shared", "conformance", "feeds")
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		tb.Skipf("SKIPPED: no real feeds to measure with: %v", err)
	}
	var sources map[string]struct {
		Category    string
		URL         string
		ContentType string `json:"content_type"`
	}
	if err := json.Unmarshal(manifest, &sources); err != nil {
		tb.Fatal(err)
	}
	var docs []document
	for name, s := range sources {
		if !strings.HasPrefix(s.Category, "real-") {
			continue
		}
		body, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := gofeed.NewParser().Parse(bytes.NewReader(body)); err == nil {
			docs = append(docs, document{name, s.URL, s.ContentType, body})
		}
	}
	slices.SortFunc(docs, func(a, b document) int { return strings.Compare(a.name, b.name) })
	return docs
}

// hundredItems is an RSS feed of 100 items with 1.5 kB of escaped HTML each.
func hundredItems() []document {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="utf-8"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>News</title><link>https://example.org/</link><description>d</description>`)
	paragraph := "&lt;p&gt;The council met on &lt;a href=\"https://example.org/a?b=1&amp;amp;c=2\"&gt;Tuesday&lt;/a&gt; to discuss the new harbour; it didn&#8217;t reach a decision, &lt;em&gt;again&lt;/em&gt;.&lt;/p&gt;\n"
	for i := range 100 {
		fmt.Fprintf(&b, "<item>\n<title>Story %d &amp; more</title>\n<link>https://example.org/%d</link>\n<guid isPermaLink=\"false\">id-%d</guid>\n<dc:creator>Jane Doe</dc:creator>\n<pubDate>Sat, 01 Nov 2025 10:%02d:00 +0000</pubDate>\n<category>News</category>\n<description>%s</description>\n<enclosure url=\"https://example.org/%d.mp3\" type=\"audio/mpeg\" length=\"1234\"/>\n</item>\n", i, i, i, i%60, strings.Repeat(paragraph, 7), i)
	}
	b.WriteString("</channel></rss>")
	return []document{{"100 items", "https://example.org/feed", "application/rss+xml", []byte(b.String())}}
}

// over runs f over all documents, and reports how many bytes it gets through. Per second of CPU, other work on the
// machine does not count.
func over(b *testing.B, docs []document, f func(document)) {
	total, items := 0, 0
	for _, d := range docs {
		total += len(d.body)
		if parsed, err := feed.Parse(d.body, feed.Options{}); err == nil {
			items += len(parsed.Entries)
		}
	}
	b.SetBytes(int64(total))
	b.ReportAllocs()
	start := cpu(b)
	for b.Loop() {
		for _, d := range docs {
			f(d)
		}
	}
	spent := cpu(b) - start
	b.ReportMetric(float64(total)*float64(b.N)/1e6/spent.Seconds(), "MB/cpu-s")
	b.ReportMetric(float64(items), "items/op")
}

// cpu is the CPU time that the process has spent, the garbage collector's included.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkFeeds(b *testing.B) {
	for _, set := range []struct {
		name string
		docs func(testing.TB) []document
	}{
		{"real", realFeeds},
		{"items100", func(testing.TB) []document { return hundredItems() }},
	} {
		b.Run(set.name, func(b *testing.B) {
			docs := set.docs(b)
			b.Run("freshet-markup", func(b *testing.B) {
				over(b, docs, func(d document) { parse(b, d, true) })
			})
			b.Run("freshet-text", func(b *testing.B) {
				over(b, docs, func(d document) { parse(b, d, false) })
			})
			b.Run("gofeed", func(b *testing.B) {
				over(b, docs, func(d document) {
					if _, err := gofeed.NewParser().Parse(bytes.NewReader(d.body)); err != nil {
						b.Fatal(d.name, err)
					}
				})
			})
			b.Run("encoding-xml-tokens", func(b *testing.B) {
				over(b, docs, func(d document) { xmlTokens(d.body) })
			})
		})
	}
}

func parse(b *testing.B, d document, keepMarkup bool) {
	if _, err := feed.Parse(d.body, feed.Options{URL: d.url, ContentType: d.contentType, KeepMarkup: keepMarkup}); err != nil {
		b.Fatal(d.name, err)
	}
}

// xmlTokens reads the document with encoding/xml and does nothing with the tokens.
func xmlTokens(doc []byte) {
	d := xml.NewDecoder(bytes.NewReader(doc))
	d.Strict = false
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		if _, err := d.Token(); err != nil {
			return
		}
	}
}

func BenchmarkText(b *testing.B) {
	var bodies [][]byte
	total := 0
	for _, d := range append(realFeeds(b), hundredItems()...) {
		parsed, err := feed.Parse(d.body, feed.Options{KeepMarkup: true})
		if err != nil {
			b.Fatal(d.name, err)
		}
		for i := range parsed.Entries {
			body := []byte(parsed.Entries[i].Text())
			bodies, total = append(bodies, body), total+len(body)
		}
	}
	run := func(name string, f func(dst, html []byte) []byte) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(total))
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				for _, body := range bodies {
					dst = f(dst[:0], body)
				}
			}
		})
	}
	run("plain", func(dst, html []byte) []byte { return plain.Append(dst, html, 0) })
	run("x-net-html-tokenizer", tokenizerText)
}

// tokenizerText is plain text by x/net/html's tokenizer, with no more around it than the task needs: scripts and styles
// are left out, blocks break words, white space is folded.
func tokenizerText(dst, doc []byte) []byte {
	z := html.NewTokenizer(bytes.NewReader(doc))
	hidden, gap := false, false
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return dst
		case html.TextToken:
			if hidden {
				continue
			}
			for _, c := range z.Text() {
				switch {
				case c == ' ' || c == '\n' || c == '\t' || c == '\r':
					gap = true
					continue
				case gap && len(dst) > 0:
					dst = append(dst, ' ')
				}
				gap = false
				dst = append(dst, c)
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			switch name, _ := z.TagName(); atom.Lookup(name) {
			case atom.Script, atom.Style:
				hidden = kind == html.StartTagToken
			case atom.P, atom.Div, atom.Br, atom.Li, atom.Ul, atom.Ol, atom.H1, atom.H2, atom.H3, atom.Tr, atom.Td, atom.Blockquote, atom.Pre:
				gap = true
			}
		}
	}
}
