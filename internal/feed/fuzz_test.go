package feed

import (
	"io"
	"os"
	"strings"
	"testing"
)

// seed gives the documents of the sample, and the nasty ones, to a fuzz target.
func seed(f *testing.F, contentType string) {
	for _, path := range sample(f) {
		doc, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(doc, contentType, true)
	}
	for _, c := range nasty {
		f.Add([]byte(c.make(512)), contentType, false)
	}
}

// tight are bounds that small documents reach.
func tight(keepMarkup bool) Options {
	return Options{URL: base, KeepMarkup: keepMarkup, MaxEntries: 20, MaxText: 200, MaxOutput: 2000}
}

// FuzzParse reads anything: no panic, no hang, sound results within bounds, which can be written as JSON.
func FuzzParse(f *testing.F) {
	seed(f, "application/xml")
	f.Add([]byte(`{"version": "https://jsonfeed.org/version/1", "items": [{"id": 1}]}`), "", true)
	f.Fuzz(func(t *testing.T, doc []byte, contentType string, keepMarkup bool) {
		for _, o := range []Options{{URL: base, ContentType: contentType, KeepMarkup: keepMarkup}, tight(keepMarkup)} {
			d, err := Parse(doc, o)
			if err != nil {
				continue
			}
			sound(t, d, o)
			if err := d.WriteJSON(io.Discard, false); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzJSON is FuzzParse for documents that are JSON, or nearly.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"version": "https://jsonfeed.org/version/1.1", "title": "T", "home_page_url": "/", "items": [{"id": "1", "url": "/1", "title": "A\u00e9\ud83d\ude00", "content_html": "<p>x<\/p>", "authors": [{"name": "J"}, "K"], "attachments": [{"url": "a", "mime_type": "b", "size_in_bytes": 1e3}]}]}`,
		`{"items": [{}, [], 1, null, {"id": 1.5, "author": [[[]]]}]}`,
		`[{"items": []}]`, `{"items"`, `{"items": [{"a": "\`, `{"a" 1 ,,, "items": ]}`,
	} {
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, doc string, keepMarkup bool) {
		doc = strings.ToValidUTF8(doc, "")
		for _, o := range []Options{{URL: base}, tight(keepMarkup)} {
			if d, err := parseJSON([]byte(doc), o.withDefaults()); err == nil {
				sound(t, d, o)
			}
		}
	})
}

// FuzzLinks looks for feeds in anything: few, absolute, on the web.
func FuzzLinks(f *testing.F) {
	f.Add([]byte(`<base href="/x/"><link rel="alternate" type="application/rss+xml" title="T" href="f"><a href="feed:example.org/rss">x</a><script></script>`), "https://example.org/")
	f.Add([]byte(`<a href="/feed">`), "https://example.org/")
	f.Add([]byte("<A href=feed"), "http://\x83")
	f.Fuzz(func(t *testing.T, page []byte, base string) {
		links := Links(page, base)
		if len(links) > maxLinks {
			t.Fatalf("%d links", len(links))
		}
		for _, l := range links {
			if !isWeb([]byte(l.URL)) {
				t.Fatalf("no web address: %q", l.URL)
			}
			sound(t, &Document{Title: l.Title, SiteURL: l.URL}, Options{})
		}
	})
}
