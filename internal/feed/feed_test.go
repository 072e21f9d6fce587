package feed

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

const base = "https://example.org/blog/feed.xml"

// parse reads a document that is a feed.
func parse(t testing.TB, doc string, o ...Options) *Document {
	t.Helper()
	options := Options{URL: base}
	if len(o) > 0 {
		options = o[0]
	}
	d, err := Parse([]byte(doc), options)
	if err != nil {
		t.Fatalf("Parse(%.80q): %v", doc, err)
	}
	return d
}

// only is the entry of a document that has one.
func only(t testing.TB, d *Document) Entry {
	t.Helper()
	if len(d.Entries) != 1 {
		t.Fatalf("%d entries, want 1", len(d.Entries))
	}
	return d.Entries[0]
}

func rss(item string) string {
	return `<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:media="http://search.yahoo.com/mrss/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:feedburner="http://rssnamespace.org/feedburner/ext/1.0"><channel><title>Feed</title><item>` + item + `</item></channel></rss>`
}

func atom(entry string) string {
	return `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://example.org/base/"><title>Feed</title><entry>` + entry + `</entry></feed>`
}

// E1: per entry guid, URL, title, author, published, updated, body, enclosures.
func TestWholeEntry(t *testing.T) {
	at := time.Date(2025, 11, 1, 10, 0, 0, 0, time.UTC)
	want := Entry{
		GUID: "id-1", URL: "https://example.org/1", Title: "One & two", Author: "Joe Doe",
		Published: at, Updated: at.Add(time.Hour), Summary: "Short", Content: "Breaking news link",
		Enclosures: []Enclosure{{URL: "https://example.org/1.mp3", Type: "audio/mpeg", Length: 123}},
	}
	for name, doc := range map[string]string{
		"rss": rss(`<title>One &amp;amp; two</title><link>https://example.org/1</link><guid isPermaLink="false">id-1</guid><author>joe@example.org (Joe Doe)</author>
			<pubDate>Sat, 01 Nov 2025 10:00:00 GMT</pubDate><atom:updated>2025-11-01T11:00:00Z</atom:updated><description>Short</description>
			<content:encoded><![CDATA[<p>Breaking news</p><a href="x">link</a>]]></content:encoded><enclosure url="/1.mp3" type="audio/mpeg" length="123"/>`),
		"atom": atom(`<title type="html">One &amp;amp; two</title><link href="/1"/><link rel="enclosure" href="/1.mp3" type="audio/mpeg" length="123"/><id>id-1</id>
			<author><name>Joe Doe</name></author><published>2025-11-01T10:00:00Z</published><updated>2025-11-01T12:00:00+01:00</updated><summary>Short</summary>
			<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Breaking news</p><a href="x">link</a></div></content>`),
		"json": `{"version": "https://jsonfeed.org/version/1.1", "title": "Feed", "items": [{"id": "id-1", "url": "/1", "title": "One & two",
			"authors": [{"name": "Joe Doe"}], "date_published": "2025-11-01T10:00:00Z", "date_modified": "2025-11-01T11:00:00Z", "summary": "Short",
			"content_html": "<p>Breaking news<\/p><a href=\"x\">link</a>", "attachments": [{"url": "/1.mp3", "mime_type": "audio/mpeg", "size_in_bytes": 123}]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			d := parse(t, doc)
			if got := only(t, d); !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if d.Title != "Feed" || d.Partial != "" {
				t.Errorf("title %q, partial %q", d.Title, d.Partial)
			}
		})
	}
}

func TestFormats(t *testing.T) {
	for doc, want := range map[string]string{
		`<rss version="2.0"><channel/></rss>`:          "rss20",
		`<rss version="0.91"><channel/></rss>`:         "rss091",
		`<rss><channel/></rss>`:                        "rss",
		`<RSS VERSION="2.0"><CHANNEL></CHANNEL></RSS>`: "rss20",
		`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel/></rdf:RDF>`:               "rss10",
		`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://my.netscape.com/rdf/simple/0.9/"><channel/></rdf:RDF>`: "rss090",
		`<feed xmlns="http://www.w3.org/2005/Atom"/>`:                      "atom10",
		`<a:feed xmlns:a="http://www.w3.org/2005/Atom"></a:feed>`:          "atom10",
		`<feed version="0.3" xmlns="http://purl.org/atom/ns#"/>`:           "atom03",
		`{"version": "https://jsonfeed.org/version/1", "items": []}`:       "json1",
		`{"version": "https:\/\/jsonfeed.org\/version\/1.1", "items": []}`: "json11",
		`{"items": []}`: "json",
	} {
		if d := parse(t, doc); d.Format != want {
			t.Errorf("%s: format %q, want %q", doc, d.Format, want)
		}
	}
}

// E1: the address of an entry, and D1's identity.
func TestAddress(t *testing.T) {
	for _, c := range []struct{ name, doc, url, guid string }{
		{"link", rss(`<link> https://example.org/1 </link>`), "https://example.org/1", ""},
		{"relative link", rss(`<link>../1?a=1&amp;b=2</link>`), "https://example.org/1?a=1&b=2", ""},
		{"permalink", rss(`<guid>https://example.org/1</guid>`), "https://example.org/1", "https://example.org/1"},
		{"link before permalink", rss(`<guid>https://example.org/g</guid><link>https://example.org/1</link>`), "https://example.org/1", "https://example.org/g"},
		{"guid that is none", rss(`<guid isPermaLink="false">https://example.org/1</guid>`), "", "https://example.org/1"},
		{"permalink before another guid", rss(`<guid>https://example.org/1</guid><guid isPermaLink="false">42</guid>`), "https://example.org/1", "42"},
		{"guid that is a word", rss(`<guid>42</guid>`), "", "42"},
		{"origLink", rss(`<link>https://feedproxy.example/x</link><feedburner:origLink>https://example.org/1</feedburner:origLink>`), "https://example.org/1", ""},
		{"origLink that is no address", rss(`<link>https://example.org/1</link><feedburner:origLink>x</feedburner:origLink>`), "https://example.org/1", ""},
		{"atom:link in RSS", rss(`<atom:link rel="self" href="https://example.org/self"/><atom:link href="https://example.org/1"/>`), "https://example.org/1", ""},
		{"alternate over others", atom(`<link rel="related" href="/r"/><link rel="alternate" href="/1"/><link rel="self" href="/s"/>`), "https://example.org/1", ""},
		{"page over other alternates", atom(`<link href="/1"/><link rel="alternate" type="application/json" href="/1.json"/>`), "https://example.org/1", ""},
		{"other alternate alone", atom(`<link rel="alternate" type="application/pdf" href="/1.pdf"/>`), "https://example.org/1.pdf", ""},
		{"relation as an address", atom(`<link rel="http://www.iana.org/assignments/relation/alternate" href="/1"/>`), "https://example.org/1", ""},
		{"xml:base of feed and entry", atom(`<link xml:base="deep/" href="1"/>`), "https://example.org/base/deep/1", ""},
		{"Atom id", atom(`<id> tag:example.org,2025:1 </id>`), "", "tag:example.org,2025:1"},
		{"markup in a link", rss(`<link></b><i>/1</i></link><guid isPermaLink="false"><b>g</b></guid>`), "https://example.org/1", "g"},
		{"control characters", rss("<link>/a\x7f\x01b</link>"), "https://example.org/ab", ""},
		{"ampersand escaped twice", rss(`<link><![CDATA[/1?a=1&amp;b=2&copy=3]]></link>`), "https://example.org/1?a=1&b=2&copy=3", ""},
		{"white space behind control characters", rss("<guid> 1 \x01\n\x02</guid>"), "", "1"},
		{"script", rss(`<link>javascript://x/%0aalert(1)</link>`), "", ""},
		{"about", `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><item rdf:about="https://example.org/a"><link>https://example.org/1</link></item></rdf:RDF>`, "https://example.org/1", "https://example.org/a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if e := only(t, parse(t, c.doc)); e.URL != c.url || e.GUID != c.guid {
				t.Errorf("url %q guid %q, want %q and %q", e.URL, e.GUID, c.url, c.guid)
			}
		})
	}
}

func TestTitleAndBody(t *testing.T) {
	for _, c := range []struct{ name, doc, title, summary, content string }{
		{"RSS title that is text", rss(`<title>a &lt; b &amp;&amp; c</title>`), "a < b && c", "", ""},
		{"RSS title that is HTML", rss(`<title>&lt;b&gt;Bold&lt;/b&gt; &amp;eacute;</title>`), "Bold é", "", ""},
		{"Atom text is literal", atom(`<title type="text">&lt;b&gt;Bold&lt;/b&gt;</title>`), "<b>Bold</b>", "", ""},
		{"own title over media's", rss(`<media:title>M</media:title><title>T</title>`), "T", "", ""},
		{"media's title alone", rss(`<media:group><media:title>M</media:title></media:group>`), "M", "", ""},
		{"title of an image", rss(`<image><title>I</title></image><title>T</title>`), "T", "", ""},
		{"description", rss(`<description>&lt;p&gt;A&amp;nbsp;B&lt;/p&gt;C</description>`), "", "A B C", ""},
		{"description and content", rss(`<description>S</description><content:encoded>&lt;i&gt;C&lt;/i&gt;</content:encoded>`), "", "S", "C"},
		{"two descriptions", rss(`<description>S</description><description>longer</description>`), "", "S", "longer"},
		{"two parts of CDATA", rss(`<description><![CDATA[<b>a]]><![CDATA[b</b>]]> &amp;amp; c</description>`), "", "ab & c", ""},
		{"markup in RSS", rss(`<description><p>Text &amp; <br>more <b>1</b></p></description>`), "", "Text & more 1", ""},
		{"comment in text", rss(`<title>a<!-- <b> -->b</title>`), "ab", "", ""},
		{"media description", rss(`<media:description>M</media:description>`), "", "M", ""},
		{"media description aside", rss(`<media:description>M</media:description><description>S</description>`), "", "S", ""},
		{"itunes summary over subtitle", rss(`<itunes:subtitle>sub</itunes:subtitle><itunes:summary>sum</itunes:summary>`), "", "sum", ""},
		{"xhtml", atom(`<content type="xhtml"><x:div xmlns:x="http://www.w3.org/1999/xhtml"><x:p>a &lt;b&gt;</x:p><x:script>no</x:script></x:div></content>`), "", "", "a <b>"},
		{"script", atom(`<content type="html">a&lt;script&gt;no&lt;/script&gt;b</content>`), "", "", "ab"},
		{"base64", atom(`<content type="application/octet-stream">PGI+QjwvYj4=</content>`), "", "", "B"},
		{"type that nobody knows", atom(`<content type="text/markdown">&lt;p&gt;A &amp;amp; B&lt;/p&gt;</content>`), "", "", "A & B"},
		{"picture", atom(`<summary>S</summary><content type="image/svg+xml"><svg><title>no</title></svg></content>`), "", "S", ""},
		{"content that holds a feed's element", atom(`<content type="xhtml"><div><summary>no</summary> C</div></content><title>T</title>`), "T", "", "no C"},
		{"twice encoded", rss(`<title>BrÃ¸ndby</title>`), "Brøndby", "", ""},
		{"windows-1252 as C1", rss("<title>it\u0092s</title>"), "it’s", "", ""},
		{"French stays", rss(`<title>Été à Évian</title>`), "Été à Évian", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if e := only(t, parse(t, c.doc)); e.Title != c.title || e.Summary != c.summary || e.Content != c.content {
				t.Errorf("got %q, %q, %q; want %q, %q, %q", e.Title, e.Summary, e.Content, c.title, c.summary, c.content)
			}
		})
	}
}

func TestKeepMarkup(t *testing.T) {
	for _, c := range []struct{ name, doc, want string }{
		{"escaped", rss(`<description>&lt;p&gt;A &amp;amp; B&lt;/p&gt;</description>`), "<p>A &amp; B</p>"},
		{"CDATA", rss("<description><![CDATA[\n<p>A\x01</p> ]]></description>"), "<p>A</p>"},
		{"text becomes HTML", atom(`<summary type="text">a &lt; b</summary>`), "a &lt; b"},
		{"xhtml", atom(`<summary type="xhtml"><p>a &lt; <![CDATA[<b>]]></p></summary>`), "<p>a &lt; &lt;b&gt;</p>"},
	} {
		if e := only(t, parse(t, c.doc, Options{KeepMarkup: true})); e.Summary != c.want {
			t.Errorf("%s: got %q, want %q", c.name, e.Summary, c.want)
		}
	}
}

func TestAuthor(t *testing.T) {
	for doc, want := range map[string]string{
		rss(`<author>joe@example.org (Joe Doe)</author>`):                                           "Joe Doe",
		rss(`<author>Joe Doe &lt;joe@example.org&gt;</author>`):                                     "Joe Doe",
		rss(`<author>joe@example.org</author>`):                                                     "joe@example.org",
		rss(`<author> </author><dc:creator>Jane</dc:creator>`):                                      "Jane",
		rss(`<dc:creator><![CDATA[Jane]]></dc:creator><itunes:author>Network</itunes:author>`):      "Jane",
		rss(`<itunes:owner><itunes:name>Owner</itunes:name></itunes:owner>`):                        "",
		rss(`<dc:creator>Joe <!-- no --><img src="x"><![CDATA[Doe & ]]>co</dc:creator>`):            "Joe Doe & co",
		atom(`<author><name>Joe <b>Doe</b></name></author>`):                                        "Joe Doe",
		rss(`<dc:creator><p:person><p:name>Joe</p:name><p:mail>m</p:mail></p:person></dc:creator>`): "Joe",
		rss(`<author>me @ home</author>`):                                                           "me @ home",
		atom(`<author><email>a@example.org</email></author>`):                                       "a@example.org",
		atom(`<author><email>a@example.org</email><name>A</name></author>`):                         "A",
		atom(`<author><name></name></author><author><name>B</name></author>`):                       "B",
		atom(`<contributor><name>C</name></contributor>`):                                           "",
		rss(`<dc:creator>Joe</link><description>D</description><author>Jane</author>`):              "Joe",
		atom(`<source><author><name>S</name></author></source>`):                                    "",
		`{"items": [{"author": "Joe"}]}`:                                                            "Joe",
		`{"items": [{"authors": ["", "Jane"]}]}`:                                                    "Jane",
		`{"items": [{"author": {"name": "Joe", "url": "x"}, "authors": [{"url": "y"}]}]}`:           "Joe",
	} {
		if e := only(t, parse(t, doc)); e.Author != want {
			t.Errorf("%s: author %q, want %q", doc[max(0, len(doc)-150):], e.Author, want)
		}
	}
}

func TestMediaAndImage(t *testing.T) {
	e := only(t, parse(t, rss(`<media:group><media:content url="/v.mp4" type="video/mp4" fileSize="7"/><media:thumbnail url="/t.jpg"/></media:group><itunes:image href="/i.jpg"/>`)))
	want := []Enclosure{{"https://example.org/v.mp4", "video/mp4", 7}, {"https://example.org/t.jpg", "", 0}}
	if !reflect.DeepEqual(e.Media, want) || e.Image != "https://example.org/t.jpg" || e.Enclosures != nil {
		t.Errorf("got %+v, image %q, enclosures %v", e.Media, e.Image, e.Enclosures)
	}
}

// F3: what the publisher says about coming back.
func TestHints(t *testing.T) {
	d := parse(t, `<rss version="2.0" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"><channel><link>/</link><ttl> 60 </ttl>
		<skipHours><hour>0</hour><hour>23</hour><hour>24</hour><hour>99</hour></skipHours><skipDays><day>Sunday</day><day>friday</day><day>x</day></skipDays>
		<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency></channel></rss>`)
	if d.TTL != time.Hour || d.UpdatePeriod != 6*time.Hour || d.SkipHours != 1|1<<23 || d.SkipDays != 1|1<<5 || d.SiteURL != "https://example.org/" {
		t.Errorf("ttl %v, period %v, hours %b, days %b, site %q", d.TTL, d.UpdatePeriod, d.SkipHours, d.SkipDays, d.SiteURL)
	}
	if d := parse(t, `<rss><channel><ttl>-5</ttl><ttl>99999999999999999999</ttl></channel></rss>`); d.TTL != 0 {
		t.Errorf("ttl %v out of nonsense", d.TTL)
	}
}

// What is readable is returned, with a sentence about what is not.
func TestBrokenDocuments(t *testing.T) {
	two := `<item><title>A</title></item><item><title>B</title></item>`
	for _, c := range []struct {
		name, doc string
		titles    []string
		partial   bool
	}{
		{"cut in a tag", `<rss><channel><item><title>A</title></item><item><title>B</title><li`, []string{"A", "B"}, true},
		{"cut in text", `<rss><channel><item><title>A</title></item><item><title>B`, []string{"A", "B"}, true},
		{"unclosed item", `<rss><channel><item><title>A</title><item><title>B</title></item></channel></rss>`, []string{"A", "B"}, false},
		{"unclosed title", `<rss><channel><item><title>A<link>x</link></item><item><title>B</title></item></channel></rss>`, []string{"A", "B"}, false},
		{"wrong end tag", `<rss><channel><item><title>A</titel><link>x</link></item><item><title>B</title></item></channel></rss>`, []string{"A", "B"}, false},
		{"stray end tags", `<rss><channel></b></item>` + two + `</x></channel></rss>`, []string{"A", "B"}, false},
		{"end of the feed in a title", `<rss><channel><item><title></rss>A</title><link>x</link></item><item><title>B</title></item></channel></rss>`, []string{"A", "B"}, false},
		{"prefix in another case", `<rss xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><item><DC:title>A</DC:title></item></channel></rss>`, []string{"A"}, false},
		{"unclosed CDATA", `<rss><channel><item><title>A</title></item><item><title>B</title><description><![CDATA[x</description></item></channel></rss>`, []string{"A", "B"}, true},
		{"junk around", `hello <br> <?xml version="1.0"?><rss><channel>` + two + `</channel></rss> bye <`, []string{"A", "B"}, false},
		{"several roots", `<rss><channel><item><title>A</title></item></channel></rss><rss><channel><item><title>B</title></item></channel></rss>`, []string{"A", "B"}, false},
		{"quote never closed", `<rss><channel><item><guid isPermaLink="false>1</guid><title>A</title></item><item><title>B</title></item></channel></rss>`, []string{"A", "B"}, false},
		{"less than", `<rss><channel><item><title>1 < 2 <3</title></item></channel></rss>`, []string{"1 < 2 <3"}, false},
		{"less than before a letter", `<rss><channel><item><title>x<y z</title><description>a<b c</description></item></channel></rss>`, []string{"x<y z"}, false},
		{"upper case", `<RSS><CHANNEL><ITEM><TITLE>A</title></ITEM></CHANNEL></RSS>`, []string{"A"}, false},
		{"ampersands", `<rss><channel><item><title>a & b &copy; &bogus; &#8217;</title></item></channel></rss>`, []string{"a & b © &bogus; ’"}, false},
		{"entity of the document", `<!DOCTYPE rss [<!ENTITY who "J&#246;rg">]><rss><channel><item><title>&who;</title></item></channel></rss>`, []string{"Jörg"}, false},
		{"undeclared prefix", `<rss><channel><item><dc:title>A</dc:title></item></channel></rss>`, []string{"A"}, false},
		{"RSS in another namespace", `<rss xmlns="http://example.net/made-up"><channel>` + two + `</channel></rss>`, []string{"A", "B"}, false},
		{"broken JSON", `{"items": [{"title": "A"}, {"title": "B", `, []string{"A", "B"}, true},
		{"JSON without commas", `{"items": [{"title": "A"} {"title": "B"}]}`, []string{"A", "B"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := parse(t, c.doc)
			var titles []string
			for _, e := range d.Entries {
				titles = append(titles, e.Title)
			}
			if !reflect.DeepEqual(titles, c.titles) || (d.Partial != "") != c.partial {
				t.Errorf("titles %q, partial %q; want %q, partial %v", titles, d.Partial, c.titles, c.partial)
			}
		})
	}
}

// What follows a person or something aside that has no end tag is the entry's.
func TestUnclosedContainers(t *testing.T) {
	for _, c := range []struct{ name, doc string }{
		{"author", atom(`<author><name>N</name></channel><title>T</title><content>C</content><updated>2025-01-02</updated>`)},
		{"author of one line", atom(`<author>N<content>C</content><title>T</title><updated>2025-01-02</updated>`)},
		{"creator", rss(`<title>T</title><dc:creator>N</link><pubDate>2025-01-02</pubDate><description>C</description>`)},
		{"source", rss(`<author>N</author><source url="/x">S<title>T</title><description>C</description><pubDate>2025-01-02</pubDate>`)},
		{"image", rss(`<image><url>/i</url><title>I</title><pubDate>2025-01-02</pubDate><title>T</title><author>N</author><description>C</description>`)},
		{"contributor", atom(`<author><name>N</name></author><contributor><name>O</name><updated>2025-01-02</updated><title>T</title><summary>C</summary>`)},
	} {
		e := only(t, parse(t, c.doc))
		if e.Author != "N" || e.Title != "T" || e.Text() != "C" || e.Published.IsZero() {
			t.Errorf("%s: got %+v", c.name, e)
		}
	}
}

// The link of an entry that ended early is not taken for the site's.
func TestSiteURLStays(t *testing.T) {
	d := parse(t, `<rss><channel><link>https://example.org/</link><item><title>A</item><link>https://example.org/1</link></channel></rss>`)
	if d.SiteURL != "https://example.org/" {
		t.Errorf("site %q", d.SiteURL)
	}
}

func TestNotFeed(t *testing.T) {
	for doc, kind := range map[string]string{
		"":                    "an empty document",
		" \n":                 "an empty document",
		"hello":               "a document without markup",
		"<!DOCTYPE html><p>x": "a web page",
		"\x1f\x8b\x08\x00" + strings.Repeat("\x01<\x02", 10): "a binary document",
		"<HTML><body><item>":          "a web page",
		`<opml version="2.0"></opml>`: "a list of feeds (OPML)",
		"<urlset/>":                   "a sitemap",
		"<foo><bar/></foo>":           "a document of another kind (<foo>)",
		`{"a": 1}`:                    "a JSON document of another kind",
		"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00": "a document without markup",
	} {
		_, err := Parse([]byte(doc), Options{})
		not, ok := errors.AsType[*NotFeed](err)
		if !ok || not.Kind != kind {
			t.Errorf("%q: got %v, want %s", doc, err, kind)
		}
	}
}

func TestNotFeedNamesTheFeeds(t *testing.T) {
	_, err := Parse([]byte(`<html><head><link rel="alternate" type="application/rss+xml" href="/feed"></head></html>`), Options{URL: "https://example.org/"})
	if err == nil || err.Error() != "this is a web page, not a feed; its feeds are https://example.org/feed" {
		t.Errorf("got %v", err)
	}
	_, err = Parse([]byte(`<html><link rel="alternate" type="application/rss+xml" href="/feed"><a href="javascript:x.rss">`), Options{})
	if err == nil || err.Error() != "this is a web page, not a feed; its feeds are /feed" {
		t.Errorf("without the page's address: got %v", err)
	}
}

func TestLinks(t *testing.T) {
	page := `<!doctype html><html><head><base href="https://example.org/blog/">
		<link rel="stylesheet" type="text/css" href="x.css"><link rel="alternate" hreflang="de" href="/de">
		<LINK REL="Alternate home" TYPE="application/rss+xml" TITLE="RSS &amp; more" HREF="rss?a=1&amp;b=2">
		<link rel=alternate type=application/atom+xml href=atom.xml>
		<link rel="alternate" type="application/feed+json" href="https://other.example/feed.json"/>
		<script>document.write('<link rel="alternate" type="application/rss+xml" href="no">')</script></head>
		<body><a href="atom.xml">again</a> <a href="/comments/feed/">Comments <b>feed</b></a> <a href="/feedback">no</a> <a href="javascript:feed.rss">no</a></body>`
	want := []Link{
		{"https://example.org/blog/rss?a=1&b=2", "RSS & more", "application/rss+xml"},
		{"https://example.org/blog/atom.xml", "", "application/atom+xml"},
		{"https://other.example/feed.json", "", "application/feed+json"},
		{"https://example.org/comments/feed/", "Comments", ""},
	}
	if got := Links([]byte(page), "https://example.org/"); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Resolving follows RFC 3986, 5.4, but for what carries nothing and what would run.
func TestResolve(t *testing.T) {
	const base = "http://a/b/c/d;p?q"
	for ref, want := range map[string]string{
		"g:h": "g:h", "g": "http://a/b/c/g", "./g": "http://a/b/c/g", "g/": "http://a/b/c/g/", "/g": "http://a/g", "//g": "http://g",
		"?y": "http://a/b/c/d;p?y", "g?y": "http://a/b/c/g?y", "#s": "http://a/b/c/d;p?q#s", "g#s": "http://a/b/c/g#s", ";x": "http://a/b/c/;x",
		".": "http://a/b/c/", "./": "http://a/b/c/", "..": "http://a/b/", "../g": "http://a/b/g", "../..": "http://a/", "../../g": "http://a/g",
		"../../../g": "http://a/g", "/./g": "http://a/g", "g.": "http://a/b/c/g.", "..g": "http://a/b/c/..g", "./../g": "http://a/b/g",
		"g/./h": "http://a/b/c/g/h", "g/../h": "http://a/b/c/h", "http:g": "http://a/b/c/g", "g?y/../x": "http://a/b/c/g?y/../x",
		"http:///x/y": "http://x/y", " a\n b ": "http://a/b/c/a b", "http://x/?#": "http://x/", "JavaScript:x": "", "data:,x": "", "mailto:a@b": "mailto:a@b",
	} {
		if got := string(resolve(nil, base, []byte(ref))); got != want {
			t.Errorf("%q: got %q, want %q", ref, got, want)
		}
	}
	if got := string(resolve(nil, "", []byte("a/b"))); got != "a/b" {
		t.Errorf("without a base: %q", got)
	}
	if got := string(resolve(nil, "https://x", []byte("a"))); got != "https://x/a" {
		t.Errorf("a base without a path: %q", got)
	}
}

// Reading is the same however the bytes arrive.
func TestReadIsParseWhateverTheChunks(t *testing.T) {
	for _, path := range sample(t) {
		doc, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want, wantErr := Parse(doc, Options{URL: base})
		for name, r := range map[string]io.Reader{
			"bytes":             iotest.OneByteReader(bytes.NewReader(doc)),
			"halves":            iotest.HalfReader(bytes.NewReader(doc)),
			"data with the end": iotest.DataErrReader(bytes.NewReader(doc)),
		} {
			got, err := Read(r, Options{URL: base})
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(err, wantErr) {
				t.Errorf("%s in %s: got %+v, %v", path, name, got, err)
			}
		}
	}
}

func TestReadSaysWhenItStops(t *testing.T) {
	doc := rss(`<title>A</title>`)
	d, err := Read(strings.NewReader(doc), Options{MaxBytes: int64(len(doc) - 10)})
	if err != nil || only(t, d).Title != "A" || !strings.Contains(d.Partial, "only the first") {
		t.Errorf("got %+v, %v", d, err)
	}
	if _, err := Read(iotest.ErrReader(io.ErrUnexpectedEOF), Options{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the reader's error is lost: %v", err)
	}
}

// The result outlives the document's bytes.
func TestResultDoesNotReferToTheDocument(t *testing.T) {
	for _, path := range sample(t) {
		doc, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := Parse(doc, Options{URL: base})
		want, _ := Parse(bytes.Clone(doc), Options{URL: base})
		clear(doc)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s changed with the bytes it was read from", path)
		}
	}
}

// sample are the documents of the conformance sample.
func sample(tb testing.TB) []string {
	paths, err := filepath.Glob(filepath.Join("testdata", "sample", "*", "*"))
	if err != nil || len(paths) < 50 {
		tb.Fatalf("%d documents in the sample: %v", len(paths), err)
	}
	return paths
}
