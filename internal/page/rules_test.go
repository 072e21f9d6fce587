package page

import (
	"strings"
	"testing"

	"freshet"
)

// parsePage reads a page at https://www.site.example/a/page under rules.
func parsePage(t testing.TB, html string, c freshet.Config) (*Article, *freshet.Failure) {
	t.Helper()
	rules, err := NewRules(c)
	if err != nil {
		t.Fatal(err)
	}
	return Parse(t.Context(), []byte(html), Options{URL: "https://www.site.example/a/page?x=1#top", ContentType: "text/html; charset=utf-8", Rules: rules})
}

// What selectors choose in a page: the outermost of what matches, in the page's order.
func TestSelected(t *testing.T) {
	const html = `<title>T</title><body><h1>Shop</h1><div class=list><ul><li id=a class="x">A</li><li id=b>B<ul><li id=c class="x">C</li></ul></li><li id=d>D</li></ul>
<p>P1</p><p>P2 <b class=x>bold</b></p></div><p>P3</p><template><p>T</p></template><svg><title>no</title></svg><div hidden>H</div>`
	for selector, want := range map[string]string{
		"h1":                "Shop",
		"li":                "A|B|C|D",
		"li.x":              "A|C",
		"li li":             "C",
		"ul > li > ul > li": "C",
		".list > p":         "P1|P2 bold",
		".list p":           "P1|P2 bold",
		"body > p":          "P3",
		"p + p":             "P2 bold",
		"div + p":           "P3",
		"#a ~ li":           "B|C|D",
		"#a + li":           "B|C",
		"#b + #d":           "D",
		"#a + #d":           "",
		"h1 ~ p":            "P3",
		"h1 ~ div p":        "P1|P2 bold",
		"p:not(.list)":      "P1|P2 bold|P3",
		"b, h1":             "Shop|bold",
		"p b, .list p":      "P1|P2 bold",
		"html body .x":      "A|C|bold",
		"ul ul ul":          "",
	} {
		a, f := parsePage(t, html, freshet.Config{Selector: selector})
		switch {
		case want == "" && (f == nil || f.Code != "no_match"):
			t.Errorf("%s: %+v, %v; want no match", selector, a, f)
		case want != "" && f != nil:
			t.Errorf("%s: %v", selector, f)
		case want != "" && strings.ReplaceAll(a.Text, "\n", "|") != want:
			t.Errorf("%s: %q, want %q", selector, a.Text, want)
		}
	}
}

func TestIgnored(t *testing.T) {
	const html = `<title>T</title><main><p>The first sentence, long enough to be one.</p><p class=views>Seen 412 times</p><p>Updated 5 minutes ago</p><p>The last.</p></main>`
	for _, tt := range []struct {
		ignore []string
		want   string
	}{
		{nil, "The first sentence, long enough to be one.|Seen 412 times|Updated 5 minutes ago|The last."},
		{[]string{".views"}, "The first sentence, long enough to be one.|Updated 5 minutes ago|The last."},
		{[]string{"/^Updated \\d+ minutes? ago$/", ".views"}, "The first sentence, long enough to be one.|The last."},
		{[]string{"/e/", "/a/"}, ""},
		{[]string{"main"}, ""},
	} {
		a, f := parsePage(t, html, freshet.Config{Selector: "main", Ignore: tt.ignore})
		got := ""
		if f == nil {
			got = strings.ReplaceAll(a.Text, "\n", "|")
		}
		if got != tt.want || tt.want == "" && f == nil {
			t.Errorf("%q: %q, %v; want %q", tt.ignore, got, f, tt.want)
		}
	}
}
