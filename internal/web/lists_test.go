package web

import (
	"bytes"
	"mime/multipart"
	"strings"
	"testing"
)

const subscriptions = `<opml version="1.0"><body><outline text="News">
	<outline text="One" xmlUrl="https://one.example/feed" htmlUrl="https://one.example/"/>
	<outline text="Again" xmlUrl="http://www.one.example/feed/"/></outline>
	<outline text="Two" xmlUrl="https://two.example/feed?a=1&amp;b=2"/>
	<outline text="Bad" xmlUrl="gopher://three.example/"/></body></opml>`

func TestImport(t *testing.T) {
	s := newSite(t, nil)
	known := s.add("https://two.example/feed?a=1&b=2")
	a := s.want(200, "POST", "/api/opml", subscriptions, "Content-Type: text/x-opml")
	if a.number("added") != 1 || a.number("known") != 2 || a.number("refused") != 1 {
		t.Fatalf("%s, want 1 added, 2 known, 1 refused", a.Body)
	}
	for i, want := range []string{"added", "known", "known", "refused"} {
		if got := a.text("feeds", i, "result"); got != want {
			t.Errorf("feed %d is %s, want %s", i, got, want)
		}
	}
	if a.text("feeds", 0, "feed_id") != a.text("feeds", 1, "feed_id") || a.text("feeds", 2, "feed_id") != known {
		t.Errorf("known feeds are not named: %s", a.Body)
	}
	if a.text("feeds", 3, "reason") == "" || a.at("feeds", 3, "feed_id") != nil {
		t.Errorf("no reason: %v", a.at("feeds", 3))
	}
	one := s.want(200, "GET", "/api/feeds/"+a.text("feeds", 0, "feed_id"), "")
	if one.text("folder") != "News" || one.text("title") != "One" || one.text("site_url") != "https://one.example/" {
		t.Errorf("folder, title or site are lost: %s", one.Body)
	}
}

func TestImportFormFile(t *testing.T) {
	s := newSite(t, nil)
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	form.WriteField("note", "not a file")
	file, _ := form.CreateFormFile("file", "subs.opml")
	file.Write([]byte(subscriptions))
	form.Close()
	a := s.want(200, "POST", "/api/opml", body.String(), "Content-Type: "+form.FormDataContentType())
	if a.number("added") != 2 {
		t.Errorf("%s, want 2 added", a.Body)
	}
	empty := "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--x--\r\n"
	if a := s.want(422, "POST", "/api/opml", empty, "Content-Type: multipart/form-data; boundary=x"); a.text("errors", 0, "location") != "body.file" {
		t.Errorf("answer %s", a.Body)
	}
}

// A list that breaks off adds nothing.
func TestImportIsAllOrNothing(t *testing.T) {
	s := newSite(t, nil)
	cut := subscriptions[:strings.Index(subscriptions, `<outline text="Bad"`)]
	a := s.want(422, "POST", "/api/opml", cut, "Content-Type: application/xml")
	if !strings.Contains(a.text("detail"), "line 5") {
		t.Errorf("the line is not told: %s", a.Body)
	}
	if n := len(s.want(200, "GET", "/api/feeds", "").list("feeds")); n != 0 {
		t.Errorf("%d feeds were added", n)
	}
}

// What is exported can be imported elsewhere, folders and titles included.
func TestExportRoundTrip(t *testing.T) {
	s := newSite(t, nil)
	s.want(200, "POST", "/api/opml", subscriptions, "Content-Type: text/xml")
	a := s.want(200, "GET", "/api/opml", "")
	if got := a.Header().Get("Content-Disposition"); !strings.Contains(got, "freshet.opml") {
		t.Errorf("Content-Disposition %q", got)
	}
	other := newSite(t, nil)
	if b := other.want(200, "POST", "/api/opml", a.Body.String(), "Content-Type: text/x-opml"); b.number("added") != 2 || b.number("refused") != 0 {
		t.Errorf("import of the export: %s", b.Body)
	}
	if again := other.want(200, "GET", "/api/opml", ""); again.Body.String() != a.Body.String() {
		t.Errorf("exported again:\n%s\nwant\n%s", again.Body, a.Body)
	}
}
