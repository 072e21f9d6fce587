package trigger

import (
	"strings"
	"testing"

	"freshet"
)

const prices = `{"store": {"books": [{"title": "One", "price": 8}, {"title": "Two", "price": 12.5}], "open": true}}`

// W4: the part of a document that a workflow watches.
func TestContents(t *testing.T) {
	html := `<html><body><nav>Menu</nav><main><h1>Prices</h1><p class="price">12 left</p><p>Visits: 731</p></main></body></html>`
	for name, test := range map[string]struct {
		kind, body string
		part       freshet.Part
		want       string // "!" for a fault
	}{
		"all":                      {"text/plain", "hello", freshet.Part{}, "hello"},
		"all, in another encoding": {"text/plain; charset=iso-8859-1", "caf\xe9", freshet.Part{}, "café"},
		"selector":                 {"text/html", html, freshet.Part{Selector: ".price"}, "12 left"},
		"selector and ignore":      {"text/html", html, freshet.Part{Selector: "main", Ignore: []string{"h1", "/Visits/"}}, "12 left"},
		"selector of nothing":      {"text/html", html, freshet.Part{Selector: ".stock"}, "!"},
		"selector that is none":    {"text/html", html, freshet.Part{Selector: "["}, "!"},
		"path to a number":         {"application/json", prices, freshet.Part{JSONPath: "$.store.books[1].price"}, "12.5"},
		"path to many":             {"application/json", prices, freshet.Part{JSONPath: "$..title"}, "One\nTwo"},
		"path with a condition":    {"application/json", prices, freshet.Part{JSONPath: "$.store.books[?(@.price < 10)].title"}, "One"},
		"path to an object":        {"application/json", prices, freshet.Part{JSONPath: "$.store.books[0]"}, `{"price":8,"title":"One"}`},
		"path to nothing":          {"application/json", prices, freshet.Part{JSONPath: "$.shop"}, "!"},
		"path that is none":        {"application/json", prices, freshet.Part{JSONPath: "$[?"}, "!"},
		"path in what is no JSON":  {"application/json", "<html>", freshet.Part{JSONPath: "$.a"}, "!"},
		"path after a mark":        {"application/json", "\ufeff" + `{"a": 1}`, freshet.Part{JSONPath: "$.a"}, "1"},
	} {
		got := Contents(t.Context(), Document{URL: "https://example.org/", ContentType: test.kind, Body: []byte(test.body)}, []freshet.Part{test.part})
		switch c := got[0]; {
		case !c.Part.Equal(test.part):
			t.Errorf("%s: of another part: %+v", name, c)
		case test.want == "!" && (c.Fault == "" || c.Hash != ""):
			t.Errorf("%s: no fault: %+v", name, c)
		case test.want != "!" && (strings.TrimSpace(c.Text) != test.want || c.Fault != "" || c.Hash == ""):
			t.Errorf("%s: %q, fault %q; want %q", name, c.Text, c.Fault, test.want)
		}
	}
}

// Keys in another order and other white space are no change of what a path finds.
func TestPathIgnoresForm(t *testing.T) {
	part := []freshet.Part{{JSONPath: "$.a"}}
	first := Contents(t.Context(), Document{Body: []byte(`{"a": {"x": 1, "y": [2]}}`)}, part)[0]
	second := Contents(t.Context(), Document{Body: []byte("{\"b\":0,\n\"a\":{\"y\":[2],\"x\":1}}")}, part)[0]
	if first.Hash != second.Hash || first.Hash == "" {
		t.Errorf("%q and %q differ", first.Text, second.Text)
	}
}

// A path that could take long in some documents is refused.
func TestParsePath(t *testing.T) {
	for path, good := range map[string]bool{
		"$.a": true, "$..title": true, "$.items[*]['name','price']": true, "$[?(@.a > 1 && @.b == 'x')]": true, "@.a": true,
		"$..a..b": false, "$..[?(@..a)]": false, "$[?(@.a == $.b)]": false, "$['a','b']['c','d']['e','f']": false,
		"$[?": false, "$." + strings.Repeat("a", 1000): false,
	} {
		if _, err := parsePath(path); (err == nil) != good {
			t.Errorf("%.50s: %v", path, err)
		}
	}
}

// No path and no document makes it panic or run for long.
func FuzzContents(f *testing.F) {
	for _, path := range []string{"$.store.books[*].title", "$..*", "$[?(@.price > 10)]", "$..[?(@..price)]", "$[-1:0:-1]", "$['a','b'][0,1]", "$[?", "", "@", "$.a[?(@.b == 'x' && @.c =~ /a+/)]"} {
		f.Add(path, prices)
	}
	f.Add("$..a", strings.Repeat(`{"a":`, 200)+"1"+strings.Repeat("}", 200))
	f.Fuzz(func(t *testing.T, path, body string) {
		if path == "" || len(body) > 64<<10 {
			return
		}
		c := Contents(t.Context(), Document{ContentType: "application/json", Body: []byte(body)}, []freshet.Part{{JSONPath: path}})[0]
		if (c.Fault == "") == (c.Hash == "") {
			t.Errorf("neither content nor fault, or both: %+v", c)
		}
		if len(c.Text) > mostText {
			t.Errorf("%d bytes", len(c.Text))
		}
	})
}
