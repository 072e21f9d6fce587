package opml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

func document(body string) string {
	return `<?xml version="1.0"?><opml version="2.0"><head><title>x</title></head><body>` + body + `</body></opml>`
}

func TestRead(t *testing.T) {
	latin1, _ := charmap.ISO8859_1.NewEncoder().String(`<?xml version="1.0" encoding="ISO-8859-1"?><opml><body><outline text="Café" xmlUrl="http://a/"/></body></opml>`)
	utf16, _ := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(`<?xml version="1.0" encoding="utf-16"?><opml><body><outline text="Café" xmlUrl="http://a/"/></body></opml>`)
	cafe := []Outline{{Title: "Café", URL: "http://a/"}}
	tests := map[string]struct {
		doc  string
		want []Outline
	}{
		"one feed": {document(`<outline type="rss" text="t" title="T" xmlUrl="http://a/f" htmlUrl="http://a/"/>`),
			[]Outline{{"T", "http://a/f", "http://a/", ""}}},
		"text where there is no title": {document(`<outline text="t" xmlUrl="http://a/"/>`), []Outline{{Title: "t", URL: "http://a/"}}},
		"folders are the path of parents": {document(`<outline text="A"><outline title="B"><outline text="x" xmlUrl="http://x/"/></outline><outline text="y" xmlUrl="http://y/"/></outline><outline text="z" xmlUrl="http://z/"/>`),
			[]Outline{{"x", "http://x/", "", "A/B"}, {"y", "http://y/", "", "A"}, {"z", "http://z/", "", ""}}},
		"a feed around feeds is no folder": {document(`<outline text="A"><outline text="x" xmlUrl="http://x/"><outline text="y" xmlUrl="http://y/"/></outline></outline>`),
			[]Outline{{"x", "http://x/", "", "A"}, {"y", "http://y/", "", "A"}}},
		"category where there is no folder": {document(`<outline text="x" xmlUrl="http://x/" category="/News/World,/Other"/>`), []Outline{{"x", "http://x/", "", "News/World"}}},
		"spellings of xmlUrl": {document(`<outline xmlurl="http://1/"/><outline XMLURL="http://2/"/><outline xmlURL="http://3/"/><outline type="rss" url="http://4/"/><OUTLINE feedUrl="http://5/"/>`),
			[]Outline{{URL: "http://1/"}, {URL: "http://2/"}, {URL: "http://3/"}, {URL: "http://4/"}, {URL: "http://5/"}}},
		"a link is no feed":             {document(`<outline type="link" text="t" url="http://a/"/>`), nil},
		"entities":                      {document(`<outline text="A &amp; B &eacute; &#8212; &unknown; AT&T" xmlUrl="http://a/?x=1&amp;y=2&z=3"/>`), []Outline{{Title: "A & B é — &unknown; AT&T", URL: "http://a/?x=1&y=2&z=3"}}},
		"spaces around an address":      {document("<outline xmlUrl=\" \n http://a/ \"/>"), []Outline{{URL: "http://a/"}}},
		"characters that XML forbids":   {document("<outline text=\"a\x01b\uffffc\" xmlUrl=\"http://a/\"/>"), []Outline{{Title: "a b c", URL: "http://a/"}}},
		"bytes that are no UTF-8":       {document("<outline text=\"Caf\xe9\" xmlUrl=\"http://a/\"/>"), cafe},
		"byte order mark":               {"\ufeff" + document(`<outline xmlUrl="http://a/"/>`), []Outline{{URL: "http://a/"}}},
		"latin 1":                       {latin1, cafe},
		"utf-16":                        {utf16, cafe},
		"utf-8 that says it is unknown": {`<?xml version="1.0" encoding="klingon"?><opml><body><outline text="Café" xmlUrl="http://a/"/></body></opml>`, cafe},
		"a list without feeds":          {document(""), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Read(strings.NewReader(test.doc), MaxOutlines)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("read %q, want %q", got, test.want)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	tests := map[string]struct {
		doc  string
		line int
		want string
	}{
		"nothing":           {"", 1, "no element"},
		"a web page":        {"<!DOCTYPE html>\n<html><body>", 2, "begins with <html>"},
		"plain text":        {"hello", 1, "no element"},
		"a cut list":        {"<opml><body>\n<outline xmlUrl='http://a/'/>\n", 3, "cut short"},
		"a cut tag":         {"<opml>\n<body>\n<outline xmlUrl='http://a", 3, "well-formed"},
		"too deep":          {"<opml>\n" + strings.Repeat("<outline>", maxDepth), 2, "deep"},
		"too many":          {"<opml>" + strings.Repeat("<outline/>\n", MaxOutlines+1), MaxOutlines + 1, "more than 20000"},
		"too large":         {"<opml>" + strings.Repeat(" ", MaxBytes), 0, "8 MiB"},
		"one huge text":     {"<opml><outline text='" + strings.Repeat("x", MaxBytes), 0, "8 MiB"},
		"huge once decoded": {`<?xml version="1.0" encoding="iso-8859-1"?><opml>` + strings.Repeat("\xe9", MaxBytes*3/4), 0, "8 MiB"},
		"a billion laughs":  {`<!DOCTYPE opml [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>` + "\n<opml><body><outline text='&b;' xmlUrl='http://a/'/></body>", 2, "cut short"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Read(strings.NewReader(test.doc), MaxOutlines)
			var refused *Error
			if !errors.As(err, &refused) {
				t.Fatalf("read %d feeds, error %v, want an *Error", len(got), err)
			}
			if refused.Line != test.line || !strings.Contains(refused.Reason, test.want) {
				t.Errorf("line %d: %s; want line %d: ...%s...", refused.Line, refused.Reason, test.line, test.want)
			}
		})
	}
}

func TestReadTroubleOfTheReader(t *testing.T) {
	trouble := errors.New("the line is cut")
	_, err := Read(io.MultiReader(strings.NewReader("<opml><body>"), iotest.ErrReader(trouble)), 10)
	if !errors.Is(err, trouble) {
		t.Errorf("error %v, want the reader's own", err)
	}
}

func TestReadAtMost(t *testing.T) {
	doc := document(strings.Repeat(`<outline xmlUrl="http://a/"/>`, 3))
	if _, err := Read(strings.NewReader(doc), 2); err == nil {
		t.Error("three feeds were read where two were allowed")
	}
	if got, err := Read(strings.NewReader(doc), 3); err != nil || len(got) != 3 {
		t.Errorf("read %d, %v; want 3", len(got), err)
	}
}

func TestRoundTrip(t *testing.T) {
	list := []Outline{
		{`Ümlaut "quoted" & <angled>`, "https://a.example/feed?x=1&y=2", "https://a.example/", ""},
		{"second\nline", "https://b.example/", "", ""},
		{"In a folder", "https://c.example/", "", "News"},
		{"Deeper", "https://d.example/", "", "News/World & Co"},
		{"Beside", "https://e.example/", "", "News/World & Co"},
		{"Other", "https://f.example/", "", "Z"},
	}
	var b bytes.Buffer
	if err := Write(&b, `My "feeds"`, list); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&b, MaxOutlines)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, list) {
		t.Errorf("read back\n%q, want\n%q", got, list)
	}
}

func TestWriteGathersFolders(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, "x", []Outline{{URL: "http://1/", Folder: "A"}, {URL: "http://2/", Folder: "B"}, {URL: "http://3/", Folder: "A"}}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), `text="A"`); n != 1 {
		t.Errorf("folder A was written %d times, want once:\n%s", n, b.String())
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(document(`<outline text="A"><outline text="x" xmlUrl="http://x/"/></outline>`)))
	f.Add([]byte("\xff\xfe<\x00o\x00p\x00m\x00l\x00>\x00"))
	f.Add([]byte(`<?xml version="1.0" encoding="shift_jis"?><opml><outline xmlUrl="http://a/" text="` + "\x83\x65" + `"/></opml>`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		list, err := Read(bytes.NewReader(doc), 100)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, "x", list); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&b, 300) // folders count too
		if err != nil && !strings.Contains(err.Error(), "deep") && !strings.Contains(err.Error(), "more than") {
			t.Fatalf("what was written cannot be read: %v\n%s", err, fmt.Sprintf("%q", list))
		}
		if err == nil && len(again) != len(list) {
			t.Fatalf("wrote %d feeds, read %d back", len(list), len(again))
		}
	})
}
