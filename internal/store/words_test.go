package store

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWords(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"case and punctuation", "Go 1.26, RELEASED!", "go 1 26 released"},
		{"accents", "Café Ångström naïve", "cafe angstrom naive"},
		{"accents written apart", "Cafe\u0301", "cafe"},
		{"apostrophe and hyphen", "don't re-use", "don t re use"},
		{"ligature and full width", "ﬁne ＡＢＣ１", "fine abc1"},
		{"Greek and Cyrillic", "ΑΒΓ Привет", "αβγ привет"},
		{"Chinese, character by character", "新闻ab河", "新 闻 ab 河"},
		{"kana with voicing marks", "ガギ", "カ キ"},
		{"markup and emoji separate", "a<b>🦆c", "a b c"},
		{"invalid bytes separate", "a\xffb\x00c", "a b c"},
		{"long word is cut", strings.Repeat("x", 200) + " y", strings.Repeat("x", maxWord) + " y"},
		{"long word is cut at a letter", strings.Repeat("ж", 200), strings.Repeat("ж", maxWord/2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for w := range words(c.text) {
				got = append(got, string(w))
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("words(%q) = %q, want %q", c.text, s, c.want)
			}
		})
	}
}

func TestParseSearch(t *testing.T) {
	for _, c := range []struct{ name, text, fts, ts string }{
		{"blank", " \t ", "", ""},
		{"no word", `!!! "" - -"" * -*`, "", ""},
		{"one word", "River", `"river"`, "'river'"},
		{"all words", "river  news", `"river" AND "news"`, "'river' & 'news'"},
		{"phrase", `"river of news"`, `"river of news"`, "'river'<->'of'<->'news'"},
		{"phrase without end", `x "river of`, `"x" AND "river of"`, "'x' & 'river'<->'of'"},
		{"phrase at a word", `a"b c"d`, `"a" AND "b c" AND "d"`, "'a' & 'b'<->'c' & 'd'"},
		{"not", "river -news", `("river") NOT ("news")`, "'river' & !('news')"},
		{"not a phrase, twice", `river -"of news" -x`, `("river") NOT ("of news" OR "x")`, "'river' & !('of'<->'news') & !('x')"},
		{"only not", "-news", `("` + everyItem + `") NOT ("news")`, "!('news')"},
		{"prefix", "riv*", `"riv" *`, "'riv':*"},
		{"prefix of a phrase", `"of riv"*`, `"of riv" *`, "'of'<->'riv':*"},
		{"prefix too short", "ri*", `"ri"`, "'ri'"},
		{"hyphen inside", "re-use", `"re use"`, "'re'<->'use'"},
		{"operators are words", "a AND b OR NOT (c)", `"a" AND "and" AND "b" AND "or" AND "not" AND "c"`, "'a' & 'and' & 'b' & 'or' & 'not' & 'c'"},
		{"column and near are words", "title:x NEAR/3", `"title x" AND "near 3"`, "'title'<->'x' & 'near'<->'3'"},
		{"quotes of SQL", `o'clock'); drop table items;--`, `"o clock" AND "drop" AND "table" AND "items"`, "'o'<->'clock' & 'drop' & 'table' & 'items'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			terms := parseSearch(c.text)
			if c.fts == "" {
				if len(terms) > 0 {
					t.Fatalf("parseSearch(%q) = %v, want nothing", c.text, terms)
				}
				return
			}
			if got := ftsQuery(terms); got != c.fts {
				t.Errorf("FTS5: %s, want %s", got, c.fts)
			}
			if got := tsQuery(terms); got != c.ts {
				t.Errorf("tsquery: %s, want %s", got, c.ts)
			}
		})
	}
}

func TestParseSearchIsBounded(t *testing.T) {
	terms := parseSearch(strings.Repeat("word ", 10_000))
	if len(terms) != maxTerms {
		t.Errorf("%d terms, want %d", len(terms), maxTerms)
	}
	terms = parseSearch(`"` + strings.Repeat("word ", 10_000))
	if len(terms) != 1 || len(terms[0].words) != maxTerms {
		t.Errorf("one long phrase became %d terms", len(terms))
	}
}

// nasty are texts that break naive search boxes.
var nasty = []string{
	"'", `"`, `""`, `"""`, "*", "-", "--", "-*", `-"`, "^a", "a^b", "a AND", "OR", "NOT", "NOT a", "(", ")", "a (b", "{a b}: c",
	"title:a", "a:", ":a", "a:*", "a + b", "NEAR(a b, 3)", "NEAR", `a" b`, `a'b`, `\`, `a\`, `'a':*`, "a & b", "a | b", "!a", "!!a", "a <-> b", "<->",
	"%", "_", "a;b", "/* a", "-- a", "\x00", "a\x00b", "\xff\xfe", "a\xffb", "\u202e abc", "🦆", "e\u0301", everyItem, "-" + everyItem, "@472000",
	strings.Repeat("(", 5000), strings.Repeat(`"a`, 5000), strings.Repeat("a*", 5000), strings.Repeat("-a ", 5000), strings.Repeat("z", 100_000), strings.Repeat("ж", 100_000),
}

func FuzzParseSearch(f *testing.F) {
	for _, text := range nasty {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, term := range parseSearch(text) {
			for _, w := range term.words {
				if w == "" || len(w) > maxWord || !utf8.ValidString(w) || strings.ContainsAny(w, "'\"\\ \x00") {
					t.Errorf("word %q of %q is not safe in a query", w, text)
				}
				if again := slices.Collect(func(yield func(string) bool) {
					for b := range words(w) {
						if !yield(string(b)) {
							return
						}
					}
				}); len(again) != 1 || again[0] != w {
					t.Errorf("word %q of %q is not one word: %q", w, text, again)
				}
			}
		}
	})
}

func BenchmarkWords(b *testing.B) {
	text := strings.Repeat("The river of news runs on, quietly and by itself. ", 24)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		for range words(text) {
		}
	}
}
