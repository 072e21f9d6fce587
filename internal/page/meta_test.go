package page

import (
	"strings"
	"testing"

	"freshet"
)

const filler = `<article><p>A page needs a sentence or two, or there is nothing that could be read from it, and nothing to test.</p></article>`

func metaOf(t *testing.T, head, body string) *Article {
	t.Helper()
	a, f := parsePage(t, "<!doctype html><html><head>"+head+"</head><body>"+body+filler+"</body></html>", freshet.Config{})
	if f != nil {
		t.Fatal(f)
	}
	return a
}

// E2 and seed 000: name=author, then property=article:author; the first that is not blank, else none.
func TestAuthor(t *testing.T) {
	for _, tt := range []struct{ name, head, want string }{
		{"none", ``, ""},
		{"name", `<meta name="author" content="Jane Doe">`, "Jane Doe"},
		{"property", `<meta property="article:author" content="Jane Doe">`, "Jane Doe"},
		{"both, the other way round", `<meta property="article:author" content="B"><meta name="author" content="A">`, "A"},
		{"the first is blank", `<meta name="author" content="  "><meta property="article:author" content="B">`, "B"},
		{"one of two names is blank", `<meta name="author" content=""><meta name="author" content="A2"><meta property="article:author" content="B">`, "A2"},
		{"both blank", `<meta name="author" content=" "><meta property="article:author" content="">`, ""},
		{"upper case, white space", `<META NAME=AUTHOR CONTENT=" Jane&#10; &amp;  Joe ">`, "Jane & Joe"},
		{"name=article:author is not asked for", `<meta name="article:author" content="B">`, ""},
		{"property=author is not asked for", `<meta property="author" content="B">`, ""},
		{"linked data is not asked for", `<script type="application/ld+json">{"@type":"Article","author":{"name":"L"}}</script>`, ""},
	} {
		if got := metaOf(t, tt.head, "").Author; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestTitle(t *testing.T) {
	const site = `<meta property="og:site_name" content="The Site">`
	for _, tt := range []struct{ name, head, body, want string }{
		{"nothing", ``, ``, ""},
		{"title", `<title>A story</title>`, ``, "A story"},
		{"heading", ``, `<h1>A <em>story</em></h1>`, "A story"},
		{"og:title first", `<meta property="og:title" content="Shared"><title>A story | The Site</title>`, `<h1>Heading</h1>`, "Shared"},
		{"linked data next", `<title>A story | The Site</title><script type="application/ld+json">{"@type":"NewsArticle","headline":"Linked"}</script>`, `<h1>Heading</h1>`, "Linked"},
		{"site named by itself", site + `<title>A story | The Site</title>`, ``, "A story"},
		{"site in front", site + `<title>The Site - A story</title>`, ``, "A story"},
		{"site unknown, heading known", `<title>A story - Weekly - The Site</title>`, `<h1>A story</h1>`, "A story"},
		{"site in front, heading known", `<title>The Site: A story</title>`, `<h1>A story</h1>`, "A story"},
		{"site unknown, no heading", `<title>A story - The Site</title>`, ``, "A story - The Site"},
		{"a dash of its own", `<title>North - South: a walk | The Site</title>`, `<h1>North - South: a walk</h1>`, "North - South: a walk"},
		{"the site's name as heading", `<title>A story - The Site</title>`, `<h1>The Site</h1><h2>A story</h2>`, "A story"},
		{"og:title is the site only", site + `<meta property="og:title" content="The Site"><title>A story · The Site</title>`, ``, "A story"},
		{"all are the site only", site + `<meta property="og:title" content="The Site"><title>The Site</title>`, ``, "The Site"},
		{"all are the site, but a heading", site + `<title>The Site</title>`, `<h1>A story</h1>`, "A story"},
		{"a heading in the navigation is none", ``, `<nav><h1>Menu</h1></nav><h1>A story</h1>`, "A story"},
		{"a title of a drawing is none", ``, `<svg><title>Drawing</title></svg><h1>A story</h1>`, "A story"},
		{"entities and white space", "<title>\n  A &amp; B\n</title>", ``, "A & B"},
		{"absurdly long", `<title>` + strings.Repeat("x", 5000) + `</title>`, `<h1>A story</h1>`, "A story"},
	} {
		if got := metaOf(t, tt.head, tt.body).Title; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A page may say where else in its own site it lives, and nothing about other sites.
func TestCanonical(t *testing.T) {
	const own = "https://www.site.example/a/page?x=1"
	for href, want := range map[string]string{
		"":                                     own,
		"/b":                                   "https://www.site.example/b",
		"https://site.example/b#part":          "https://site.example/b",
		"https://amp.site.example/b":           "https://amp.site.example/b",
		"HTTPS://WWW.SITE.EXAMPLE/b":           "https://WWW.SITE.EXAMPLE/b",
		"https://other.example/b":              own,
		"https://site.example.other.example/b": own,
		"https://www.site.example/":            own,
		"https://me:pw@www.site.example/b":     "https://www.site.example/b",
		"javascript:alert(1)":                  own,
		"mailto:a@site.example":                own,
		"http://[::1/b":                        own,
		"/" + strings.Repeat("x", maxLink):     own,
	} {
		if got := metaOf(t, `<link rel="Canonical" href="`+href+`">`, "").URL; got != want {
			t.Errorf("%.60q: %q, want %q", href, got, want)
		}
	}
}

func TestPublished(t *testing.T) {
	const ld = `<script type="application/ld+json">{"@context":"https://schema.org","@graph":[{"@type":"WebPage","datePublished":"2026-01-04"},{"@type":["BlogPosting"],"datePublished":"2026-01-01T10:00:00+01:00","dateModified":"2026-01-09"}]}</script>`
	const meta = `<meta property="article:published_time" content="2026-01-02T00:00:00Z">`
	for _, tt := range []struct{ name, head, body, want string }{
		{"nothing", ``, ``, ""},
		{"linked data first", meta + ld, `<time datetime="2026-01-03" itemprop="datePublished">`, "2026-01-01T09:00:00Z"},
		{"then meta", meta, `<time datetime="2026-01-03" itemprop="datePublished">`, "2026-01-02T00:00:00Z"},
		{"then a time that says so", ``, `<main><time datetime="2026-01-05">x</time></main><p><time datetime="2026-01-03" pubdate>x</time></p>`, "2026-01-03T00:00:00Z"},
		{"then the first time of the content", ``, `<header><time datetime="2026-01-09">today</time></header><main><p><time datetime="2026-01-05">x</time><time datetime="2026-01-06">x</time></main>`, "2026-01-05T00:00:00Z"},
		{"a time beside the content is none", ``, `<main><aside><time datetime="2026-01-05">x</time></aside></main>`, ""},
		{"linked data that is broken", `<script type="application/ld+json">{"@type":"Article","datePublished":"2026-01-01",}</script>` + meta, ``, "2026-01-02T00:00:00Z"},
		{"linked data with a bad date", `<script type="application/ld+json">{"@type":"Article","datePublished":"soon"}</script>` + meta, ``, "2026-01-02T00:00:00Z"},
		{"a list's articles are others' dates", `<script type="application/ld+json">{"@type":"ItemList","itemListElement":[{"@type":"Article","datePublished":"2026-01-01"}]}</script>`, ``, ""},
		{"a page's date, without an article", `<script type="application/ld+json">[{"@type":"WebPage","datePublished":"2026-01-04"}]</script>`, ``, "2026-01-04T00:00:00Z"},
		{"microdata", `<meta itemprop="datePublished" content="2026-01-07">`, ``, "2026-01-07T00:00:00Z"},
		{"Dublin Core", `<meta name="DC.Date.Issued" content="2026-01-08">`, ``, "2026-01-08T00:00:00Z"},
	} {
		got := ""
		if p := metaOf(t, tt.head, tt.body).Published; !p.IsZero() {
			got = p.UTC().Format("2006-01-02T15:04:05Z07:00")
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Languages, pictures and site names come from many places.
func TestSays(t *testing.T) {
	a := metaOf(t, `<base href="https://cdn.example/x/"><meta property="og:locale" content="pt_BR"><meta property="og:image" content="pic.jpg"><script type="application/ld+json">{"@type":"Article","publisher":{"@type":"Organization","name":"The Site"},"image":{"@type":"ImageObject","name":"no","url":"https://i.example/2.jpg"}}</script>`, "")
	if a.Language != "pt-BR" || a.Image != "https://cdn.example/x/pic.jpg" || a.SiteName != "The Site" {
		t.Errorf("%+v", a)
	}
	a = metaOf(t, `<meta property="og:image" content="data:image/png;base64,AA"><script type="application/ld+json">{"@type":"Article","image":[{"@type":"ImageObject","url":"/2.jpg"}]}</script>`, "")
	if a.Image != "https://www.site.example/2.jpg" {
		t.Errorf("image %q", a.Image)
	}
}
