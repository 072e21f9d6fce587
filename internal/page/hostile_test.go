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
	for name, page := range map[string]string{
		"many paragraphs":       strings.Repeat(sentence, mostNodes),
		"text in deep elements": strings.Repeat("<div class=x>", 400) + strings.Repeat("lorem ipsum dolor, ", mostWork/400/19+1),
		"one long paragraph":    "<p>" + strings.Repeat("lorem ipsum dolor, ", maxText/19+10),
		"line breaks":           "<div>" + strings.Repeat("<br><br>a", mostNodes),
		"a huge attribute":      "<div style='" + strings.Repeat("display:", 1<<17) + "'>" + sentence + "</div>",
		"many attributes":       "<p " + strings.Repeat("a=b ", 50000) + ">" + sentence,
		"many names":            strings.Repeat("<meta name='a b c d e f g' content='x'>", 5000) + sentence,
		"nested linked data":    strings.Repeat(`<script type="application/ld+json">{"@graph":`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+"}</script>", 20) + sentence,
	} {
		t.Run(name, func(t *testing.T) {
			a, f := parsePage(t, page, freshet.Config{})
			if f != nil {
				t.Fatal(f)
			}
			if a.Text == "" || len(a.Text) > maxText || !utf8.ValidString(a.Text) {
				t.Errorf("%d bytes of text", len(a.Text))
			}
		})
	}
	for name, page := range map[string]string{
		"nodes": strings.Repeat(sentence, mostNodes/2+1),
		"work":  strings.Repeat("<div>", 400) + strings.Repeat("lorem ipsum dolor, ", mostWork/400/19+1),
	} {
		doc, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		if view := readerView(doc, &url.URL{}); view != "" {
			t.Errorf("too many %s: the reader's view has %d bytes of it", name, len(view))
		}
	}
}

// Seed 000: the article element, or else the largest block of text. It holds for the simple rule, too.
func TestSimpleRule(t *testing.T) {
	const words = "A sentence of the story, which is long enough to tell it from a menu and says something. "
	big := "<nav>" + strings.Repeat("<a href=x>Menu</a>", mostNodes/2) + "</nav>"
	for name, page := range map[string]string{
		"content of <article> wins over nav and aside": big + "<aside><p>" + strings.Repeat("Aside. ", 500) + "</p></aside><article><header>Head</header><p>" + strings.Repeat(words, 4) + "</p><footer>Foot</footer></article>",
		"the longest of several articles":              big + "<article><p>Teaser.</p></article><article><p>" + strings.Repeat(words, 4) + "</p></article>",
		"the largest block of text":                    big + "<div><p>Teaser.</p></div><div><p>" + strings.Repeat(words, 2) + "</p><p>" + strings.Repeat(words, 2) + "</p></div>",
	} {
		a, f := parsePage(t, page, freshet.Config{})
		if f != nil {
			t.Fatal(f)
		}
		if got, want := strings.Join(strings.Fields(a.Text), " "), strings.TrimSpace(strings.Repeat(words, 4)); got != want {
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
