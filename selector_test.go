package freshet

import (
	"strings"
	"testing"
)

// plainElement is an element with a name and attributes "name=value".
type plainElement struct {
	name  string
	attrs []string
}

func (e plainElement) Name() string { return e.name }

func (e plainElement) Attr(name string) (string, bool) {
	for _, a := range e.attrs {
		if n, value, _ := strings.Cut(a, "="); n == name {
			return value, true
		}
	}
	return "", false
}

// What selectors choose among single elements (CSS Selectors Level 4, sections 5 and 6).
func TestSelectorElement(t *testing.T) {
	e := plainElement{"p", []string{"id=Price", "class=big  red-one", "lang=de-AT", "data-x=a b", "hidden="}}
	for selector, want := range map[string]bool{
		"p": true, "P": true, "div": false, "*": true,
		"#Price": true, "#price": false, ".big": true, ".red": false, ".red-one": true, "p.big.red-one#Price": true, "p.big.blue": false,
		"[hidden]": true, "[title]": false, "[ HIDDEN ]": true, `[class="big  red-one"]`: true, "[class=big]": false, "[class~=big]": true, "[class~='']": false,
		"[lang|=de]": true, "[lang|=d]": false, "[data-x^='a']": true, "[data-x^='']": false, "[data-x$=b]": true, "[data-x*=' ']": true, `[data-x="]"]`: false,
		"p:not(.big)": false, "p:not(.blue)": true, ":not(div)": true, ":not( [title] )": true, "p:not(.blue):not(#Price)": false,
		"div, p": true, "div , h1,.blue": false, `.red\-one`: true, `#\50 rice`: true, `#\000050rice`: true, `.\62 ig`: true,
	} {
		s, err := ParseSelector(selector)
		if err != nil {
			t.Errorf("%s: %v", selector, err)
			continue
		}
		if _, got := s.Match(e, Around{}); got != want {
			t.Errorf("%s: %v, want %v", selector, got, want)
		}
	}
}

func TestSelectorRefused(t *testing.T) {
	for selector, want := range map[string]string{
		"": "empty", "  ": "empty", ">": "from", "a >": "ends", "a,": "ends", ", a": "from", "a > > b": "from", "a{": "from", "..": "name", "#": "name",
		"[a": "closed", "[]": "no name", "[a!b]": "compare", "[a='b": "closed",
		"p:has(a)": ":not()", "li:nth-child(2)": ":not()", "a::before": ":not()", "a:hover": ":not()", "p:not(:not(a))": ":not()",
		"p:not(a b)": "one condition", "p:not(a.b)": "one condition", "p:not()": "from", "p:not(a": "one condition",
		strings.Repeat("a", 501): "longer", strings.Repeat("a ", 65): "more than 64",
	} {
		if _, err := ParseSelector(selector); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", selector, err, want)
		}
	}
}

func TestConfigRules(t *testing.T) {
	tests := []struct {
		config Config
		field  string // that is refused, "" when none is
	}{
		{Config{Selector: "main > article, .story", Ignore: []string{".ad", "/^Updated [0-9]+/", "//"}, Items: true}, ""},
		{Config{Selector: "p:hover"}, "config.selector"},
		{Config{Ignore: []string{".ad", "/(/"}}, "config.ignore[1]"},
		{Config{Ignore: []string{""}}, "config.ignore[0]"},
		{Config{Ignore: []string{"/" + strings.Repeat("a", 600) + "/"}}, "config.ignore[0]"},
		{Config{Ignore: make([]string, 51)}, "config.ignore"},
	}
	for _, tt := range tests {
		err := tt.config.Check()
		field := ""
		if refused, ok := err.(*FieldError); ok {
			field = refused.Field
		}
		if field != tt.field {
			t.Errorf("%+v: %v, want %q refused", tt.config, err, tt.field)
		}
	}
}

// No selector that anybody writes breaks the parser.
func FuzzParseSelector(f *testing.F) {
	for _, s := range []string{"main > .prices, #a ~ b + c[d=e]", `a:not([x="]"])`, `\32 xl`, "*", "a\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := ParseSelector(text); err == nil {
			s.Match(plainElement{"p", []string{"class=a b"}}, Around{Above: ^Matches(0)})
		}
	})
}
