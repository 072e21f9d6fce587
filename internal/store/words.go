package store

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// What is indexed of a text, and looked for, is bounded: the rest of a longer one is not found.
const (
	maxAsked  = 1_000   // bytes of a question
	maxText   = 200_000 // bytes of a text
	maxWord   = 64      // bytes; the rest of a longer word is left out, in texts and in questions alike
	maxWords  = 10_000  // of one item; PostgreSQL numbers positions up to 16,383
	maxTerms  = 16      // of a question
	minPrefix = 3       // letters before a *; fewer would read half the index
)

// words yields the words of a text as both databases keep them: in lower case, without accents,
// nothing but letters and digits. A letter of a script that writes no spaces is a word of its own,
// so that a part of a sentence is found as a phrase. The slice is valid until the next one.
func words(text string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var buffer [maxWord]byte
		word := buffer[:0]
		flush := func() bool {
			w := word
			word = buffer[:0]
			return len(w) == 0 || yield(w)
		}
		if !ascii(text) {
			text = norm.NFKD.String(text)
		}
		for _, r := range text {
			switch {
			case r < utf8.RuneSelf && asciiWord[r] != 0:
				if len(word) < maxWord {
					word = append(word, asciiWord[r])
				}
			case r < utf8.RuneSelf:
				if !flush() {
					return
				}
			case unicode.Is(unicode.Mn, r): // an accent
			case unicode.In(r, spaceless...):
				if !flush() || !yield(utf8.AppendRune(buffer[:0], r)) {
					return
				}
			case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Mc, r):
				if r = unicode.ToLower(r); len(word)+utf8.RuneLen(r) <= maxWord {
					word = utf8.AppendRune(word, r)
				}
			case !flush():
				return
			}
		}
		flush()
	}
}

// spaceless are the scripts that write words without spaces between them.
var spaceless = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// asciiWord is the lower case of letters and digits, 0 for what separates words.
var asciiWord = func() (table [utf8.RuneSelf]byte) {
	for c := range table {
		switch r := rune(c); {
		case r >= 'A' && r <= 'Z':
			table[c] = byte(r) | 0x20
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			table[c] = byte(r)
		}
	}
	return table
}()

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// term is one thing that a person asks for: a word, or words in a row.
type term struct {
	words  []string
	prefix bool // the last word may go on
	not    bool // must not occur
}

// parseSearch reads a person's words: all must occur, "in quotes" in a row, -this not at all, and
// begin* as the beginning of a word. Every text means something; what holds no word asks for
// nothing.
func parseSearch(text string) []term {
	text = text[:min(len(text), maxAsked)]
	var terms []term
	for text = strings.TrimSpace(text); text != "" && len(terms) < maxTerms; text = strings.TrimSpace(text) {
		var t term
		if rest, ok := strings.CutPrefix(text, "-"); ok {
			t.not, text = true, rest
		}
		var raw string
		if quoted, ok := strings.CutPrefix(text, `"`); ok {
			raw, text, _ = strings.Cut(quoted, `"`)
		} else {
			end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '"' })
			if end < 0 {
				end = len(text)
			}
			raw, text = text[:end], text[end:]
		}
		if rest, ok := strings.CutPrefix(text, "*"); ok {
			raw, text = raw+"*", rest
		}
		for word := range words(raw) {
			if t.words = append(t.words, string(word)); len(t.words) == maxTerms {
				break
			}
		}
		if len(t.words) == 0 {
			continue
		}
		last := t.words[len(t.words)-1]
		t.prefix = strings.HasSuffix(raw, "*") && utf8.RuneCountInString(last) >= minPrefix
		terms = append(terms, t)
	}
	return terms
}

// everyItem stands in every indexed text on SQLite, where a question needs something to look for
// even when it only says what to leave out. No person's word is like it: it is no letter.
const everyItem = "\uE000"

// ftsQuery writes the terms in FTS5's language.
func ftsQuery(terms []term) string {
	want, not := []string{}, []string{}
	for _, t := range terms {
		s := `"` + strings.Join(t.words, " ") + `"`
		if t.prefix {
			s += " *"
		}
		if t.not {
			not = append(not, s)
		} else {
			want = append(want, s)
		}
	}
	if len(want) == 0 {
		want = []string{`"` + everyItem + `"`}
	}
	query := strings.Join(want, " AND ")
	if len(not) > 0 {
		query = "(" + query + ") NOT (" + strings.Join(not, " OR ") + ")"
	}
	return query
}

// tsQuery writes the terms as a PostgreSQL tsquery.
func tsQuery(terms []term) string {
	all := make([]string, len(terms))
	for i, t := range terms {
		s := "'" + strings.Join(t.words, "'<->'") + "'"
		if t.prefix {
			s += ":*"
		}
		if t.not {
			s = "!(" + s + ")"
		}
		all[i] = s
	}
	return strings.Join(all, " & ")
}
