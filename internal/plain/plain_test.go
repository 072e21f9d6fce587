package plain

import (
	"html"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"SPEC.md E1", `<p>Breaking news</p><a href="...">link</a>`, "Breaking news link"},
		{"inline elements do not break", "un<b>believ</b>able", "unbelievable"},
		{"br breaks", "one<br>two<br/>three<BR />four", "one two three four"},
		{"blocks break", "<ul><li>a</li><li>b</li></ul><h1>c</h1>d<table><tr><td>e</td><td>f</td></tr></table>", "a b c d e f"},
		{"white space", " \t a \r\n\n b&nbsp;&#160;c\u3000d \u2028", "a b c d"},
		{"script and style", "a<script>if (x</y>/.test('</p>')) {}</script>b<STYLE type=x>p{}</sTyLe >c", "abc"},
		{"unclosed script", "a<script>b", "a"},
		{"template", "a<template><p>x</p></template>b", "ab"},
		{"unclosed template", "a<template>b<template>c", "abc"},
		{"comment", "a<!-- <p> -- > -->b<!-->c<!--->d<!--x--!>e<!---->f", "abcdef"},
		{"unclosed comment loses no text", "a<!-- b > c", "a c"},
		{"doctype and instruction", "<!DOCTYPE html><?xml version='1.0'?>a</>b</ c>d", "abd"},
		{"CDATA", "a<![CDATA[<b>b</b>]]>c<![CDATA[d", "abcd"},
		{"quotes in attributes", `<a title="x>y" alt='">'>z</a>`, "z"},
		{"unclosed quote", `<a href="x>text</a> more`, "text more"},
		{"quote closed by another tag's", `<a href="x>text</a> <a href="y">more</a>`, "text more"},
		{"cut off in a tag", `text <a href="x`, "text"},
		{"cut off before a value", "write <b or <a href= ", "write <b or <a href="},
		{"cut off in a name", "a &amp; b &am", "a & b &am"},
		{"no tags", "1 < 2 and x<y & z<3, I <3 U", "1 < 2 and x<y & z<3, I <3 U"},
		{"unknown elements vanish", "<foo:bar>a</foo:bar><o:p>b</o:p>", "ab"},
		{"references", "&lt;b&gt; &eacute;&Eacute;&#8217;&#x2019;&hellip;&NotEqualTilde;&fjlig;", "<b> éÉ’’…≂̸fj"},
		{"references without semicolon", "&eacute&copy2004 &notit; &amp &ampx &foo; &hellip", "é©2004 ¬it; & &x &foo; &hellip"},
		{"windows-1252", "&#128;&#146;&#x97; \u0093x\u0094", "€’— “x”"},
		{"no characters", "a&#0;b&#xD800;c&#x110000;d&#99999999999999999999;e&#1;f", "a\ufffdb\ufffdc\ufffdd\ufffdef"},
		{"not numeric", "&# &#; &#x; &#xg;", "&# &#; &#x; &#xg;"},
		{"control characters", "a\x00b\x01c\x7fd\x1be", "abcde"},
		{"not UTF-8", "a\xffb\xe2\x80c\xc3", "a\ufffdb\ufffd\ufffdc\ufffd"},
		{"other scripts", "<p>Привет, мир</p><p>日本語　テスト</p>“x”", "Привет, мир 日本語 テスト “x”"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Text(c.in); got != c.want {
				t.Errorf("Text(%q)\n got %q\nwant %q", c.in, got, c.want)
			}
			if got := string(AppendEscaped(nil, []byte(html.EscapeString(c.in)), 0)); got != c.want {
				t.Errorf("AppendEscaped of %q\n got %q\nwant %q", c.in, got, c.want)
			}
		})
	}
}

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"<p>one two</p>", 5, "one t"},
		{"one two", 4, "one"},
		{"one <b>two</b>", 4, "one"},
		{"日本", 5, "日"},
		{"&eacute;&eacute;", 3, "é"},
		{"one", 3, "one"},
	} {
		if got := string(Append([]byte("> "), []byte(c.in), c.limit)); got != "> "+c.want {
			t.Errorf("Append(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

func TestUnescape(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"},
		{"?a=1&copy=2&lt=3&copy2&copy;", "?a=1&copy=2&lt=3&copy2©"},
		{"AT&T & co &copy", "AT&T & co ©"},
		{"&#0;&#8;&#10;&#146;", "\n\u0092"},
	} {
		if got := string(Unescape(nil, []byte(c.in))); got != c.want {
			t.Errorf("Unescape(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

// Every reference of the table is checked against the standard library's.
func TestReferences(t *testing.T) {
	for i, ref := range references {
		if i > 0 && references[i-1].name >= ref.name {
			t.Fatalf("%s is out of order", ref.name)
		}
		want := html.UnescapeString("&" + ref.name + ";")
		got := string(Unescape(nil, []byte("&"+ref.name+";")))
		if want == "&"+ref.name+";" {
			continue // unknown to the standard library: nGt, nLt
		}
		if got != want {
			t.Errorf("&%s; is %q, want %q", ref.name, got, want)
		}
		if bare := html.UnescapeString("&"+ref.name) == want; bare != ref.bare {
			t.Errorf("&%s without semicolon: %v, want %v", ref.name, ref.bare, bare)
		}
	}
}

func TestRepair(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"caf\u00c3\u00a9 \u00e2\u0080\u00a6", "café …"},
		{"d\u00c3\u00a9j\u00c3\u00a0", "déjà"},
		{"café", "café"},
		{"Ã© and 日本", "Ã© and 日本"},
		{"Ã© and ß", "Ã© and ß"},
		{"plain", "plain"},
		{"Ã", "Ã"},
	} {
		if got := string(Repair([]byte(c.in))); got != c.want {
			t.Errorf("Repair(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	in := "&lt;p&gt;&acirc;&#128;&brvbar; &Atilde;&nbsp; propos&lt;/p&gt;"
	if got := string(AppendEscaped([]byte("> "), []byte(in), 0)); got != "> … à propos" {
		t.Errorf("AppendEscaped gives %q", got)
	}
}

func TestLooksLikeHTML(t *testing.T) {
	for _, c := range []struct {
		in   string
		want bool
	}{
		{"plain text", false},
		{"<b>bold</b> news", true},
		{"line<br>break", false}, // neither end tag nor reference
		{"Tom &amp; Jerry", true},
		{"it&#8217;s &#x2019;", true},
		{"AT&T and 1 < 2", false},
		{"a &foo; b", false},
		{"<b>x</b> &foo;", false},
		{"vector<int> &amp; <b>x</b>", false},
		{"the <title> element &amp; you", false},
		{"<SCRIPT>alert(1)</SCRIPT>", false},
		{"a </ b> c", false},
		{"x<3</b>", false},
		{"", false},
	} {
		if got := LooksLikeHTML([]byte(c.in)); got != c.want {
			t.Errorf("LooksLikeHTML(%q) = %v, want %v", c.in, got, c.want)
		}
	}
}

func TestSnippet(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  int
		want string
	}{
		{"one two three", 13, "one two three"},
		{"one two three", 12, "one two…"},
		{"one two three", 8, "one two…"},
		{"one two three", 7, "one…"},
		{"one, two", 5, "one…"},
		{"Donaudampfschiff fahrt", 10, "Donaudamp…"},
		{"a Donaudampfschifffahrt", 10, "a Donauda…"},
		{"日本語の文章", 4, "日本語…"},
		{"日本語", 3, "日本語"},
		{"abc", 1, "…"},
		{"abc", 0, ""},
		{"", 5, ""},
	} {
		if got := Snippet(c.in, c.max); got != c.want {
			t.Errorf("Snippet(%q, %d) = %q, want %q", c.in, c.max, got, c.want)
		}
	}
}

func TestFold(t *testing.T) {
	if got := string(Fold(nil, []byte(" a <b>\n&amp;\x00 c "), 0)); got != "a <b> &amp; c" {
		t.Errorf("Fold gives %q", got)
	}
}

// checkPlain fails the test when s is not what the package promises of all its results.
func checkPlain(t *testing.T, s []byte) {
	t.Helper()
	if !utf8.Valid(s) {
		t.Errorf("not UTF-8: %q", s)
	}
	if strings.Join(strings.Fields(string(s)), " ") != string(s) {
		t.Errorf("white space not folded: %q", s)
	}
	if i := strings.IndexFunc(string(s), unicode.IsControl); i >= 0 {
		t.Errorf("control character in %q", s)
	}
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{
		"<p>Breaking news</p>", `<a href="x>y" alt='z'>`, "<!-- a --><![CDATA[b]]>", "<script>x</script >",
		"&lt;p&gt;a &amp;amp; b&lt;/p&gt;", "&#x2019;&eacute;&notit", "日本語\u2028\xff\x00",
	} {
		f.Add([]byte(seed), 10)
	}
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		got := Append(nil, in, 0)
		checkPlain(t, got)
		if len(got) > 3*len(in) {
			t.Errorf("%d bytes became %d", len(in), len(got))
		}
		if limit > 0 {
			if short := Append(nil, in, limit); len(short) > limit || !strings.HasPrefix(string(got), string(short)) {
				t.Errorf("limit %d: %q is no beginning of %q", limit, short, got)
			}
		}
		if escaped := AppendEscaped(nil, []byte(html.EscapeString(string(in))), 0); string(escaped) != string(got) {
			t.Errorf("escaped, %q becomes %q, else %q", in, escaped, got)
		}
		checkPlain(t, AppendEscaped(nil, in, 0))
		checkPlain(t, Fold(nil, in, 0))
		Unescape(nil, in)
		LooksLikeHTML(in)
	})
}
