package web

import (
	"strings"
	"testing"

	"freshet"
)

// E2, E3: what of a page counts is set, cleared and refused field by field; what a page said last is kept to
// compare with, and not shown.
func TestWebsiteConfig(t *testing.T) {
	s := newSite(t, func(c *Config) { c.Types = []freshet.Type{freshet.RSS, freshet.Website, freshet.HTTP} })
	a := s.want(201, "POST", "/api/feeds", `{"url":"https://example.org/prices","type":"website","config":{"selector":" main > .prices ","ignore":[".ad","/^Updated/"]}}`)
	id := a.text("id")
	if a.text("type") != "website" || a.text("config", "selector") != "main > .prices" || a.at("config", "ignore", 1) != "/^Updated/" {
		t.Errorf("added %s", a.Body)
	}
	for body, location := range map[string]string{
		`{"config":{"selector":"a >"}}`:                                     "body.config.selector",
		`{"config":{"selector":"li:has(a)"}}`:                               "body.config.selector",
		`{"config":{"ignore":[".ad","/(/"]}}`:                               "body.config.ignore[1]",
		`{"config":{"ignore":["..."]}}`:                                     "body.config.ignore[0]",
		`{"config":{"selector":7}}`:                                         "body.config.selector",
		`{"config":{"items":"yes"}}`:                                        "body.config.items",
		`{"config":{"ignore":{"lines":"a"}}}`:                               "body.config.ignore",
		`{"config":{"selectors":".price"}}`:                                 "body.config.selectors",
		`{"config":{"ignore":["a",` + strings.Repeat(`"a",`, 50) + `"a"]}}`: "body.config.ignore",
	} {
		if got := s.want(422, "PATCH", "/api/feeds/"+id, body).text("errors", 0, "location"); got != location {
			t.Errorf("%.60s: location %q, want %q", body, got, location)
		}
	}
	a = s.want(200, "PATCH", "/api/feeds/"+id, `{"config":{"ignore":null,"items":true}}`)
	if a.text("config", "selector") != "main > .prices" || a.at("config", "ignore") != nil || a.at("config", "items") != true {
		t.Errorf("changed %s", a.Body)
	}

	d := &freshet.Document{Hash: "aa", Status: 200, Size: 9}
	d.Keep("what was said")
	s.poll(func(freshet.Source) *freshet.Outcome { return &freshet.Outcome{Status: 200, Document: d} })
	a = s.want(200, "GET", "/api/feeds/"+id, "")
	if a.text("cursor", "document", "hash") != "aa" || a.number("cursor", "document", "size") != 9 || a.at("cursor", "document", "text") != nil {
		t.Errorf("cursor %v", a.at("cursor"))
	}
	if w, err := s.Store.FindSource(t.Context(), id); err != nil || w.Source.Cursor.Document.Kept() != "what was said" {
		t.Errorf("kept %+v, %v", w.Source.Cursor.Document, err)
	}
}
