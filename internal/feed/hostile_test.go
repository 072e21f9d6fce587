package feed

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

// sound checks what holds for every result: valid UTF-8 without NUL, within the bounds.
func sound(tb testing.TB, d *Document, o Options) {
	tb.Helper()
	o = o.withDefaults()
	total := 0
	each := func(s string) {
		total += len(s)
		if !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
			tb.Fatalf("a string is no valid UTF-8 or holds NUL: %.80q", s)
		}
		if len(s) > o.MaxText {
			tb.Fatalf("a string of %d bytes, the bound is %d", len(s), o.MaxText)
		}
	}
	each(d.Title)
	each(d.SiteURL)
	for i := range d.Entries {
		e := &d.Entries[i]
		for _, s := range []string{e.GUID, e.URL, e.Title, e.Author, e.Summary, e.Content, e.Image} {
			each(s)
		}
		for _, f := range append(append([]Enclosure(nil), e.Enclosures...), e.Media...) {
			each(f.URL)
			each(f.Type)
		}
		if len(e.Enclosures) > maxFiles || len(e.Media) > maxFiles {
			tb.Fatalf("%d enclosures, %d media", len(e.Enclosures), len(e.Media))
		}
	}
	if len(d.Entries) > o.MaxEntries {
		tb.Fatalf("%d entries, the bound is %d", len(d.Entries), o.MaxEntries)
	}
	// The last entry may go over the bound of all: by no more than its own values.
	if most := o.MaxOutput + (7+4*maxFiles)*o.MaxText; total > most {
		tb.Fatalf("%d bytes of strings, the bound is %d", total, most)
	}
}

// allocated is how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

const (
	open  = `<rss version="2.0"><channel><title>T</title><item><title>A</title>`
	shut  = `</item></channel></rss>`
	laugh = `<!DOCTYPE rss [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;">]>`
)

// P4: no input can crash, hang or bloat. Each document is read within a bounded amount of memory, and what
// came before the trouble is there.
func TestHostileDocuments(t *testing.T) {
	attributes := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, ` a%d="%d"`, i, i)
		}
		return b.String()
	}
	for _, c := range []struct {
		name, doc string
		entries   int
		partial   string
		title     string // of the last entry
		times     uint64 // how many times its own size the document may allocate
	}{
		{"billion laughs", laugh + open + `<description>&d;&d;&d;</description>` + shut, 1, "", "A", 0},
		{"many references to a long entity", `<!DOCTYPE rss [<!ENTITY a "` + strings.Repeat("x", 1000) + `">]>` + open + `<description>` + strings.Repeat("&a;", 100_000) + `</description>` + shut, 1, "was cut", "A", 60},
		{"nesting", open + strings.Repeat("<a>", 10_000) + strings.Repeat("</a>", 10_000) + shut, 1, "", "A", 4},
		{"nesting that declares", open + strings.Repeat(`<a xmlns:b="c" xml:base="d/">`, 10_000) + shut, 1, "", "A", 2 * maxBase / 17},
		{"nesting of channels", strings.Repeat("<rss><channel>", 10_000) + `<item><title>A</title></item>`, 1, "ends before", "A", 10},
		{"nesting of authors", "<rss><channel><author>text" + strings.Repeat("<author>", 130) + "x" + strings.Repeat("</author>", 130) + "y</author><item><title>A</title>" + shut, 1, "", "A", 1},
		{"nesting in content", open + `<description>` + strings.Repeat("<p>", 10_000) + `</description>` + shut, 1, "", "A", 20},
		{"attributes", open + `<link` + attributes(500_000) + ` href="/x">` + `</link>` + shut, 1, "", "A", 1},
		{"long text", open + `<description>` + strings.Repeat("word ", 10<<20) + `</description>` + shut, 1, "was cut", "A", 1},
		{"long name", open + `<` + strings.Repeat("n", 5<<20) + `>` + shut, 1, "", "A", 1},
		{"many items", open + shut[:len("</item>")] + strings.Repeat("<item><title>A</title></item>", 1_000_000), 10_000, "only the first 10000", "A", 2},
		{"many titles", open + strings.Repeat("<title>", 200_000) + shut, 1, "", "A", 4},
		{"many unclosed descriptions", open + strings.Repeat("<description>x", 200_000) + shut, 1, "", "A", 4},
		{"many enclosures", open + strings.Repeat(`<enclosure url="/a"/>`, 100_000) + shut, 1, "", "A", 4},
		{"NUL bytes", "<rss>\x00<channel><item><title>A\x00</title>\x00</item></channel></rss>\x00", 1, "", "A", 0},
		{"NUL references", open + `<title>&#0;&#x0;</title>` + shut, 1, "", "A", 0},
		{"invalid UTF-8", "<rss><channel><item><title>A\xff\xfe\xc0\x80\xed\xa0\x80</title></item></channel></rss>", 1, "", "", 0},
		{"CDATA without end", open + strings.Repeat("<![CDATA[", 200_000), 1, "ends before", "A", 4},
		{"comments without end", open + strings.Repeat("<!--", 200_000), 1, "ends before", "A", 4},
		{"instructions without end", open + strings.Repeat("<?", 200_000), 1, "ends before", "A", 4},
		{"brackets without end", open + strings.Repeat("<![", 200_000), 1, "ends before", "A", 4},
		{"quotes without end", open + strings.Repeat(`<a b="><c d='`, 100_000), 1, "ends before", "A", 4},
		{"JSON nesting", `{"items": [{"title": "A"}, ` + strings.Repeat(`[{"a":`, 500_000), 1, "ends before", "A", 2},
		{"JSON authors", `{"items": [{"title": "A", "authors": ` + strings.Repeat(`[`, 500_000), 1, "ends before", "A", 2},
		{"JSON items", `{"items": [` + strings.Repeat(`{},`, 100_000), 10_000, "only the first 10000", "", 40},
		{"JSON string without end", `{"items": [{"title": "A"}, {"title": "` + strings.Repeat(`\u0000`, 100_000), 2, "ends before", "", 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d *Document
			doc := []byte(c.doc)
			spent := allocated(func() { d = parse(t, c.doc) })
			sound(t, d, Options{})
			if len(d.Entries) != c.entries || c.partial == "" && d.Partial != "" || !strings.Contains(d.Partial, c.partial) {
				t.Errorf("%d entries, partial %q; want %d, %q", len(d.Entries), d.Partial, c.entries, c.partial)
			}
			if got := d.Entries[len(d.Entries)-1].Title; c.title != "" && got != c.title {
				t.Errorf("title %.80q, want %q", got, c.title)
			}
			// The copy that parse makes counts as well.
			if bound := (c.times+1)*uint64(len(doc)) + 16<<20; spent > bound {
				t.Errorf("%d bytes allocated for a document of %d, bound %d", spent, len(doc), bound)
			}
		})
	}
}

func TestBoundsCanBeSet(t *testing.T) {
	doc := `<rss><channel>` + strings.Repeat(`<item><title>four</title><description>äöü</description></item>`, 5) + `</channel></rss>`
	for _, c := range []struct {
		o       Options
		entries int
		partial string
	}{
		{Options{}, 5, ""},
		{Options{MaxEntries: 5}, 5, ""},
		{Options{MaxEntries: 2}, 2, "only the first 2 entries"},
		{Options{MaxOutput: 25}, 3, "more text than is kept"},
		{Options{MaxText: 5}, 5, "longer than 5 bytes"},
	} {
		d := parse(t, doc, c.o)
		sound(t, d, c.o)
		if len(d.Entries) != c.entries || c.partial == "" && d.Partial != "" || !strings.Contains(d.Partial, c.partial) {
			t.Errorf("%+v: %d entries, partial %q", c.o, len(d.Entries), d.Partial)
		}
	}
	if got := parse(t, doc, Options{MaxText: 5}).Entries[0].Summary; got != "äö" {
		t.Errorf("a text is cut inside a character: %q", got)
	}
}

// A page that ends with the link is read to its end, once.
func TestLinkAtTheEnd(t *testing.T) {
	if got := Links([]byte(`<a href="/feed">`), base); len(got) != 1 || got[0].URL != "https://example.org/feed" {
		t.Errorf("got %q", got)
	}
}

func TestManyLinks(t *testing.T) {
	page := strings.Repeat(`<link rel=alternate type=application/rss+xml href="/1">`, 1000)
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, `<a href="/%d/feed">`, i)
	}
	if got := Links([]byte(page+b.String()), base); len(got) != maxLinks {
		t.Errorf("%d links, want %d", len(got), maxLinks)
	}
}

// nasty are documents of n bytes and more that would take quadratic time if something were searched again and again.
var nasty = []struct {
	name string
	make func(n int) string
}{
	{"items", func(n int) string { return "<rss><channel>" + strings.Repeat("<item>", n/6) }},
	{"titles", func(n int) string { return open + strings.Repeat("<title>", n/7) }},
	{"titles-and-ends", func(n int) string { return open + strings.Repeat("<title>", n/16) + strings.Repeat("</title>", n/16) }},
	{"descriptions", func(n int) string { return open + strings.Repeat("<description><p>", n/16) }},
	{"different-leaves", func(n int) string { return open + strings.Repeat("<title><link><guid><summary><content>", n/37) }},
	{"less-than", func(n int) string { return open + "<title>" + strings.Repeat("<", n) }},
	{"tag-in-tag", func(n int) string { return open + "<title>" + strings.Repeat("<title ", n/7) + ">" }},
	{"cdata", func(n int) string { return open + strings.Repeat("<title><![CDATA[", n/16) }},
	{"cdata-closed-late", func(n int) string { return open + strings.Repeat("<title><![CDATA[", n/16) + "]]>" }},
	{"comments", func(n int) string { return open + strings.Repeat("<!--", n/4) }},
	{"brackets", func(n int) string { return open + strings.Repeat("<![", n/3) }},
	{"brackets-element", func(n int) string { return open + strings.Repeat("<![", n/3) + "<x>" }},
	{"brackets-closed", func(n int) string { return open + strings.Repeat("<![]", n/4) }},
	{"quotes", func(n int) string { return open + strings.Repeat(`<a b="`, n/6) }},
	{"two-quotes", func(n int) string { return open + strings.Repeat(`<a b="<a b='`, n/12) }},
	{"namespaces", func(n int) string { return open + strings.Repeat(`<a:b xmlns:a="c">`, n/17) }},
	{"bases", func(n int) string { return open + strings.Repeat(`<a xml:base="a/">`, n/17) }},
	{"end-tags", func(n int) string { return open + strings.Repeat("<a>", 200) + strings.Repeat("</b>", n/4) }},
	{"ampersands", func(n int) string { return open + "<description>" + strings.Repeat("&", n) + "</description>" }},
	{"dots", func(n int) string { return open + "<link>" + strings.Repeat("../a/", n/5) + "</link>" }},
	{"entities", func(n int) string { return strings.Repeat("<!ENTITY ", n/9) + open }},
	{"mails", func(n int) string { return open + "<author>" + strings.Repeat("a@b.c()", n/7) + "</author>" }},
	{"authors", func(n int) string { return open + strings.Repeat("<author>", n/8) }},
	{"authors-and-ends", func(n int) string { return open + strings.Repeat("<author>", n/17) + strings.Repeat("</author>", n/17) }},
	{"authors-unclosed", func(n int) string { return open + strings.Repeat("<author><x><title>", n/18) }},
	{"authors-in-pieces", func(n int) string { return open + "<author>" + strings.Repeat("a<!---->", n/8) + "</author>" }},
	{"json-quotes", func(n int) string { return `{"items": [` + strings.Repeat(`"a`, n/2) }},
	{"json-open", func(n int) string { return `{"items": [` + strings.Repeat(`{"a":[`, n/6) }},
	{"page", func(n int) string { return "<html>" + strings.Repeat(`<a href="/feed"><script></style>`, n/32) }},
}

// BenchmarkNasty shows the time over doubling sizes: ns per byte should stay the same.
func BenchmarkNasty(b *testing.B) {
	for _, c := range nasty {
		for _, size := range []int{256 << 10, 512 << 10, 1 << 20, 2 << 20} {
			b.Run(fmt.Sprintf("%s/%dk", c.name, size>>10), func(b *testing.B) {
				doc := []byte(c.make(size))
				b.SetBytes(int64(len(doc)))
				for b.Loop() {
					Parse(doc, Options{URL: base})
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(doc)), "ns/byte")
			})
		}
	}
}

// Every nasty document is read and sound.
func TestNasty(t *testing.T) {
	for _, c := range nasty {
		if d, err := Parse([]byte(c.make(64<<10)), Options{URL: base}); err == nil {
			sound(t, d, Options{})
		}
	}
}
