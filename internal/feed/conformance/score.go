package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"freshet/internal/feed"
)

// Score compares a document with its golden; d is nil when it could not be read.
func Score(name string, d *feed.Document, g *Golden) Result {
	s := scorer{Result: Result{Name: name, Read: d != nil}, golden: g}
	if d == nil {
		s.check(-1, "read", false, "", "a feed")
		return s.Result
	}
	if g.Count == nil {
		s.check(-1, "count", len(d.Entries) == len(g.Entries), fmt.Sprint(len(d.Entries)), fmt.Sprint(len(g.Entries)))
	}
	if want := g.Feed.Title; want != nil && *want != "" {
		s.check(-1, "feed.title", Squash(d.Title) == Squash(*want), d.Title, *want)
	}
	s.checkURL(-1, "feed.link", d.SiteURL, g.Feed.Link)
	for i, e := range pair(d.Entries, g) {
		s.entry(i, e, &g.Entries[i])
	}
	return s.Result
}

type scorer struct {
	Result
	golden *Golden
}

// check counts a check, unless the golden's value is disputed.
func (s *scorer) check(entry int, field string, ok bool, got, want string) {
	for _, d := range s.golden.Disputed {
		at, _ := d[0].(float64)
		if int(at) == entry && d[1] == field {
			return
		}
	}
	s.Checks++
	if !ok {
		s.Misses = append(s.Misses, Miss{Document: s.Name, Field: field, Entry: entry, Got: got, Want: want})
	}
}

func (s *scorer) entry(i int, e *feed.Entry, g *GoldenEntry) {
	if len(g.GUID) > 0 {
		s.check(i, "guid", anyOf(g.GUID, func(want string) bool {
			return strings.TrimSpace(e.GUID) == strings.TrimSpace(want) || URL(e.GUID) == URL(want)
		}), e.GUID, fmt.Sprint(g.GUID))
	}
	s.checkURL(i, "url", e.URL, g.URL)
	if g.Title != nil && *g.Title != "" {
		s.check(i, "title", Squash(e.Title) == Squash(*g.Title), e.Title, *g.Title)
	}
	if len(g.Author) > 0 {
		s.check(i, "author", sameAuthor(e.Author, g.Author), e.Author, fmt.Sprint(g.Author))
	}
	s.checkTime(i, "published_at", e.Published, g.PublishedAt)
	s.checkTime(i, "updated_at", e.Updated, g.UpdatedAt)
	s.checkText(i, "summary_text", e.Summary, g.Summary)
	s.checkText(i, "content_text", e.Text(), g.Content)
	if len(g.Enclosures) > 0 {
		s.check(i, "enclosures", sameFiles(e.Enclosures, g), fmt.Sprint(e.Enclosures), fmt.Sprint(g.Enclosures))
	}
}

func (s *scorer) checkURL(i int, field, got string, want []string) {
	if len(want) > 0 {
		s.check(i, field, anyOf(want, func(w string) bool { return URL(got) == URL(w) }), got, fmt.Sprint(want))
	}
}

// checkTime compares to the second. The reference does not pad years before 1000.
func (s *scorer) checkTime(i int, field string, got time.Time, want *string) {
	if want != nil {
		text := got.Format(time.RFC3339)
		s.check(i, field, strings.TrimLeft(text, "0") == strings.TrimLeft(*want, "0"), text, *want)
	}
}

func (s *scorer) checkText(i int, field, got string, want []TextHash) {
	if len(want) == 0 {
		return
	}
	squashed := Squash(got)
	sum := sha256.Sum256([]byte(squashed))
	hash := hex.EncodeToString(sum[:])
	n := utf8.RuneCountInString(squashed)
	ok := false
	for _, w := range want {
		ok = ok || w.N == n && strings.HasPrefix(hash, w.SHA256)
	}
	s.check(i, field, ok, fmt.Sprintf("%d: %s", n, got), fmt.Sprintf("%d: %q", want[0].N, want[0].Head))
}

func anyOf(list []string, ok func(string) bool) bool {
	for _, s := range list {
		if ok(s) {
			return true
		}
	}
	return false
}

// sameAuthor accepts any of the authors, or all of them in a row.
func sameAuthor(got string, want []string) bool {
	got = Squash(got)
	return anyOf(want, func(w string) bool { return got == Squash(w) }) ||
		got == Squash(strings.Join(want, ",")) || got == Squash(strings.Join(want, " "))
}

// sameFiles reports whether all files are there, with their types, and none that is from nowhere.
func sameFiles(got []feed.Enclosure, g *GoldenEntry) bool {
	have, known := make(map[string]string), make(map[string]bool)
	for _, f := range got {
		have[URL(f.URL)] = f.Type
	}
	for _, w := range g.Enclosures {
		typ, ok := have[URL(w.URL)]
		if !ok || w.Type != "" && !strings.EqualFold(strings.TrimSpace(typ), strings.TrimSpace(w.Type)) {
			return false
		}
		known[URL(w.URL)] = true
	}
	for _, u := range append(append([]string(nil), g.Media...), g.Also...) {
		known[URL(u)] = true
	}
	for u := range have {
		if !known[u] {
			return false
		}
	}
	return true
}

// pair finds for each entry of the golden ours: by position, or, when the numbers differ, by guid,
// address or title. What has none is compared with an empty entry.
func pair(entries []feed.Entry, g *Golden) []*feed.Entry {
	pairs := make([]*feed.Entry, len(g.Entries))
	used := make([]bool, len(entries))
	find := func(i int, same func(*feed.Entry) bool) {
		for k := range entries {
			if pairs[i] == nil && !used[k] && same(&entries[k]) {
				pairs[i], used[k] = &entries[k], true
			}
		}
	}
	for i := range g.Entries {
		want := &g.Entries[i]
		if len(entries) == len(g.Entries) {
			pairs[i] = &entries[i]
			continue
		}
		find(i, func(e *feed.Entry) bool { return anyOf(want.GUID, func(w string) bool { return w == e.GUID }) })
		find(i, func(e *feed.Entry) bool { return anyOf(want.URL, func(w string) bool { return URL(w) == URL(e.URL) }) })
		find(i, func(e *feed.Entry) bool { return want.Title != nil && Squash(*want.Title) == Squash(e.Title) })
	}
	for i := range pairs {
		if pairs[i] == nil {
			pairs[i] = &feed.Entry{}
		}
	}
	return pairs
}

// Squash removes what does not count in a text: white space, control and invisible characters.
func Squash(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.White_Space, r), unicode.IsControl(r), r == 0xad, r >= 0x200b && r <= 0x200f,
			r >= 0x2028 && r <= 0x202f, r == 0x2060, r == 0xfeff:
			return -1
		case r == 0x2329, r == 0x3008:
			return 0x27e8
		case r == 0x232a, r == 0x3009:
			return 0x27e9
		}
		return r
	}, s)
}

// URL evens out the spelling of an address.
func URL(s string) string {
	s = strings.TrimSpace(s)
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok {
		return percent(s)
	}
	scheme = strings.ToLower(scheme)
	authority, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return scheme + ":" + percent(rest)
	}
	path := ""
	if i := strings.IndexAny(authority, "/?#"); i >= 0 {
		authority, path = authority[:i], authority[i:]
	}
	if (scheme == "http" || scheme == "https") && (path == "" || path[0] != '/') {
		path = "/" + path
	}
	return scheme + "://" + host(scheme, authority) + percent(path)
}

func host(scheme, authority string) string {
	user, name := "", authority
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		user, name = authority[:i+1], authority[i+1:]
	}
	name = strings.ToLower(name)
	if scheme == "http" {
		name = strings.TrimSuffix(name, ":80")
	}
	if scheme == "https" {
		name = strings.TrimSuffix(name, ":443")
	}
	if ascii, err := idna.ToASCII(name); err == nil {
		name = ascii
	}
	return user + name
}

// percent decodes percent escapes and encodes them again.
func percent(s string) string {
	if decoded, err := url.PathUnescape(s); err == nil {
		s = decoded
	}
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"<>\^{|}%`+"`", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
