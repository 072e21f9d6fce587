package syndicate

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"freshet"
	"freshet/internal/feed"
)

var noon = time.Date(2026, 2, 17, 12, 0, 0, 0, time.UTC)

func items() []*freshet.Item {
	item := func(id freshet.ID, guid, url, title, snippet, author string) *freshet.Item {
		return &freshet.Item{ID: id, GUID: guid, URL: url, Title: title, Snippet: snippet, Author: author, PublishedAt: noon.Add(-time.Duration(id) * time.Minute),
			UpdatedAt: noon, Sources: []freshet.ItemSource{{Title: "The Source"}}}
	}
	return []*freshet.Item{
		item(1, "https://example.org/1", "https://example.org/1?a=1&b=2", "Fish & chips, 3 < 4", "Costs < 5 & more > 4.", "Ada"),
		item(2, "tag:example.org,2026:2", "https://example.org/2", "Two", "Two says.", "Grace"),
		item(3, "17", "https://example.org/3", "Bare guid", "Three says.", "Alan"),
		item(4, "tag:example.org,2026:2", "https://example.org/4", "The same guid again", "Four says.", "Kurt"),
		item(5, "urn:5", "", "No link", "مرحبا 👋", "Emmy"),
		item(6, "urn:6", "https://example.org/6", "<b>as text</b>", "<script>alert(1)</script> as text", "A <B>"),
	}
}

// What is written is read back the same by the reader of feeds, in each format.
func TestRoundTrip(t *testing.T) {
	for name, format := range Formats {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			channel := Channel{Title: "River & more", Home: "https://river.example/?q=a&b", Self: "https://river.example/river." + name, Updated: noon}
			if err := format.Write(&b, channel, slices.Values(items())); err != nil {
				t.Fatal(err)
			}
			read, err := feed.Parse(b.Bytes(), feed.Options{})
			if err != nil {
				t.Fatalf("%v\n%s", err, b.String())
			}
			if read.Title != channel.Title || len(read.Entries) != len(items()) {
				t.Fatalf("title %q, %d entries", read.Title, len(read.Entries))
			}
			seen := map[string]bool{}
			for n, want := range items() {
				got := read.Entries[n]
				if got.Title != want.Title || got.URL != want.URL || got.Author != want.Author || got.Text() != want.Snippet || !got.Published.Equal(want.PublishedAt) {
					t.Errorf("item %d is read as %+v", n+1, got)
				}
				if seen[got.GUID] || got.GUID == "" {
					t.Errorf("item %d has the id %q of another", n+1, got.GUID)
				}
				seen[got.GUID] = true
			}
			if read.Entries[0].GUID != items()[0].GUID {
				t.Errorf("a guid that is a URI became %q", read.Entries[0].GUID)
			}
		})
	}
}

// Whatever a source wrote, the document stays well formed.
func TestWellFormed(t *testing.T) {
	bad := &freshet.Item{ID: 9, GUID: "a b\x00", URL: "javascript:alert(1)", Title: "]]>\x00\x0b\xff</title>", Snippet: "\x1b</description>", PublishedAt: noon, UpdatedAt: noon}
	for name, format := range Formats {
		var b bytes.Buffer
		if err := format.Write(&b, Channel{Title: "T", Self: "https://r.example/", Updated: noon}, slices.Values([]*freshet.Item{bad})); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "javascript:") {
			t.Errorf("%s links to a script: %s", name, b.String())
		}
		if name == "json" {
			if !json.Valid(b.Bytes()) {
				t.Errorf("no JSON: %s", b.String())
			}
			continue
		}
		for d := xml.NewDecoder(&b); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}
