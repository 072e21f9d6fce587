package page

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"freshet"
)

// P4: what a page can do to be slow or large. What is too much for the reader's view is read by the simple
// rule, and no text is longer than the bound.
func TestHostilePages(t *testing.T) {
	const sentence = "<p>some words, and a comma, and so on until it counts</p>"
	deep := strings.Repeat("<div class=x>", 400) + strings.Repeat("lorem ipsum dolor, ", mostWork/400/19+1)
	for name, tt := range map[string]struct {
		page   string
		simple bool // too large for the reader's view
	}{
		"many paragraphs":       {strings.Repeat(sentence, mostNodes/2), true},
		"text in deep elements": {deep, true},
		"one long paragraph":    {"<p>" + strings.Repeat("lorem ipsum dolor, ", maxText/19+10), false},
		"line breaks":           {"<div>" + strings.Repeat("<br><br>a", mostNodes/4), false},
		"a huge attribute":      {"<div style='" + strings.Repeat("display:", 1<<17) + "'>" + sentence + "</div>", false},
		"many attributes":       {"<p " + strings.Repeat("a=b ", 50000) + ">" + sentence, false},
		"many names":            {strings.Repeat("<meta name='a b c d e f g' content='x'>", 3000) + sentence, false},
		"nested linked data":    {strings.Repeat(`<script type="application/ld+json">{"@graph":`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+"}</script>", 10) + sentence, false},
	} {
		t.Run(name, func(t *testing.T) {
			a, f := parsePage(t, tt.page, freshet.Config{})
			if f != nil {
				t.Fatal(f)
			}
			if a.Text == "" || len(a.Text) > maxText || !utf8.ValidString(a.Text) {
				t.Errorf("%d bytes of text", len(a.Text))
			}
			if view := readerView(treeOf(t, tt.page), &url.URL{}); tt.simple && view != "" {
				t.Errorf("the reader's view has %d bytes of it", len(view))
			}
		})
	}
}

func treeOf(t *testing.T, page string) *html.Node {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// Seed 000: the article element, or else the largest block of text. It holds with the reader's view and, for
// what that does not look at, without.
func TestArticleFirst(t *testing.T) {
	const words = "A sentence of the story, which is long enough to tell it from a menu and says something. "
	const menu = "<nav><ul><li><a href=x>Menu</a></li><li><a href=y>More</a></li></ul></nav>"
	for name, page := range map[string]string{
		"content of <article> wins over nav and aside": menu + "<aside><p>" + strings.Repeat("Aside. ", 500) + "</p></aside><article><header>Head</header><p>" + strings.Repeat(words, 4) + "</p><footer>Foot</footer></article>",
		"the longest of several articles":              menu + "<article><p>Teaser.</p></article><article><p>" + strings.Repeat(words, 4) + "</p></article>",
		"the largest block of text":                    menu + "<div><p>Teaser.</p></div><div><p>" + strings.Repeat(words, 2) + "</p><p>" + strings.Repeat(words, 2) + "</p></div>",
	} {
		want := strings.TrimSpace(strings.Repeat(words, 4))
		if got := strings.Join(strings.Fields(simpleText(treeOf(t, page))), " "); got != want {
			t.Errorf("%s, by the simple rule: %.200q", name, got)
		}
		if got := strings.Join(strings.Fields(mainText(treeOf(t, page), &url.URL{})), " "); !strings.Contains(got, want) || strings.Contains(got, "Aside") || strings.Contains(got, "Menu") {
			t.Errorf("%s: %.200q", name, got)
		}
	}
}

// P4: no page breaks the reader; what comes out is bounded, valid text.
func FuzzParse(f *testing.F) {
	for _, p := range savedPages(f) {
		f.Add(p.body, p.want.Header, "main .content, li:not(.ad)")
	}
	f.Add([]byte("<title>x</title><script type=application/ld+json>{\"@graph\":[[[{}]]]}</script><time datetime=1>"), "text/html; charset=utf-7", "*")
	f.Fuzz(func(t *testing.T, body []byte, contentType, selector string) {
		rules, err := NewRules(freshet.Config{Selector: selector, Ignore: []string{".ad", "/^x/"}})
		if err != nil {
			rules = Rules{}
		}
		a, failure := Parse(t.Context(), body, Options{URL: "https://site.example/a", ContentType: contentType, Rules: rules})
		if failure != nil {
			if failure.Sentence == "" || failure.Code == "" {
				t.Errorf("failure %+v", failure)
			}
			return
		}
		if a.Text == "" || len(a.Text) > maxText || strings.Contains(a.Text, "\n\n") {
			t.Errorf("text of %d bytes", len(a.Text))
		}
		for _, s := range []string{a.Title, a.PageTitle, a.Author, a.Text, a.SiteName, a.Language, a.URL, a.Image} {
			if !utf8.ValidString(s) {
				t.Errorf("%q is no text", s)
			}
		}
		if freshet.CanonicalURL(a.URL) == "" {
			t.Errorf("address %q", a.URL)
		}
	})
}
