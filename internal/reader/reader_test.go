package reader

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"freshet"
	"freshet/internal/fetch"
)

// site answers requests.
type site func(*http.Request) *http.Response

func (s site) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := s(r)
	if answer == nil {
		return nil, io.ErrUnexpectedEOF
	}
	answer.Request = r
	return answer, nil
}

// answer is a response with headers given as "Name: value".
func answer(status int, body string, header ...string) *http.Response {
	a := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		a.Header[http.CanonicalHeaderKey(name)] = append(a.Header[http.CanonicalHeaderKey(name)], value)
	}
	return a
}

func read1(t *testing.T, s site, src freshet.Source) *freshet.Outcome {
	t.Helper()
	turn := New(fetch.NewWith(s, fetch.Settings{}), slog.New(slog.DiscardHandler)).Turn()
	defer turn.Close()
	return turn.Read(t.Context(), src)
}

var source = freshet.Source{ID: 7, Type: freshet.RSS, URL: "https://a.example/feed", Host: "a.example", Enabled: true}

const document = `<?xml version="1.0"?><rss version="2.0" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"><channel>
<title>A &amp; B</title><link>https://a.example/</link><description>d</description>
<ttl>90</ttl><sy:updatePeriod>hourly</sy:updatePeriod><skipHours><hour>3</hour></skipHours><skipDays><day>Sunday</day></skipDays>
<item><guid isPermaLink="false">1</guid><title>One</title><link>/one?utm_source=rss</link><author>John Smith</author>
<description>&lt;p&gt;Breaking news&lt;/p&gt;&lt;a href="x"&gt;link&lt;/a&gt;</description><pubDate>Tue, 17 Feb 2026 12:00:00 GMT</pubDate>
<enclosure url="https://a.example/one.mp3" type="audio/mpeg" length="99"/></item>
<item><title>Two</title><link>https://a.example/two</link></item>
</channel></rss>`

// E1: what a document says becomes posts, with the identities that the river needs.
func TestReadFeed(t *testing.T) {
	o := read1(t, func(*http.Request) *http.Response {
		return answer(200, document, `ETag: "v1"`, "Last-Modified: yesterday", "Cache-Control: max-age=600")
	}, source)
	if o.Failure != nil || o.Status != 200 || o.Unchanged || o.Partial != "" {
		t.Fatalf("outcome = %+v, failure %v", o, o.Failure)
	}
	if o.Title != "A & B" || o.SiteURL != "https://a.example/" {
		t.Errorf("title %q, site %q", o.Title, o.SiteURL)
	}
	if o.ETag != `"v1"` || o.LastModified != "yesterday" || len(o.BodyHash) != 64 {
		t.Errorf("validators %q, %q, %q", o.ETag, o.LastModified, o.BodyHash)
	}
	want := freshet.Hints{Every: 90 * time.Minute, From: "ttl", SkipHours: 1 << 3, SkipDays: 1 << time.Sunday}
	if o.Hints != want || o.MaxAge != 10*time.Minute {
		t.Errorf("hints = %+v and max-age %v, want %+v and 10 min", o.Hints, o.MaxAge, want)
	}
	if len(o.Posts) != 2 {
		t.Fatalf("%d posts, want 2", len(o.Posts))
	}
	one := o.Posts[0]
	t.Run("HTML content stripped from RSS entry", func(t *testing.T) {
		if one.Text != "Breaking news link" {
			t.Errorf("text = %q", one.Text)
		}
	})
	t.Run("Author extracted from RSS entry", func(t *testing.T) {
		if one.Author != "John Smith" {
			t.Errorf("author = %q", one.Author)
		}
	})
	if one.URL != "https://a.example/one?utm_source=rss" || one.GUID != "1" || !one.Published.Equal(time.Date(2026, 2, 17, 12, 0, 0, 0, time.UTC)) {
		t.Errorf("post = %+v", one)
	}
	if len(one.Enclosures) != 1 || one.Enclosures[0] != (freshet.Enclosure{URL: "https://a.example/one.mp3", Type: "audio/mpeg", Length: 99}) {
		t.Errorf("enclosures = %+v", one.Enclosures)
	}
	if one.Keys.GUID == (freshet.Key{}) || one.Hash == (freshet.ContentHash{}) || o.Posts[1].Keys.URL == (freshet.Key{}) {
		t.Error("posts are not identified")
	}
}

// F2: validators go back byte for byte; a 304 and an equal body both leave nothing to parse.
func TestReadUnchanged(t *testing.T) {
	known := source
	known.Cursor = freshet.Cursor{ETag: `W/"a b"`, LastModified: "Yesterday, about noon", BodyHash: hashOf([]byte(document))}
	tests := []struct {
		name     string
		answer   func() *http.Response
		wantETag string
	}{
		{"304", func() *http.Response { return answer(304, "") }, `W/"a b"`},
		{"304 with a new validator", func() *http.Response { return answer(304, "", `ETag: "c"`) }, `"c"`},
		{"the same body", func() *http.Response { return answer(200, document, `ETag: "d"`) }, `"d"`},
		{"the same body without a validator", func() *http.Response { return answer(200, document) }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := read1(t, func(r *http.Request) *http.Response {
				if got := r.Header["If-None-Match"]; len(got) != 1 || got[0] != known.Cursor.ETag {
					t.Errorf("If-None-Match = %q", got)
				}
				if got := r.Header["If-Modified-Since"]; len(got) != 1 || got[0] != known.Cursor.LastModified {
					t.Errorf("If-Modified-Since = %q", got)
				}
				return tt.answer()
			}, known)
			if o.Failure != nil || !o.Unchanged || len(o.Posts) != 0 || o.ETag != tt.wantETag {
				t.Errorf("outcome = %+v, want unchanged with %q", o, tt.wantETag)
			}
		})
	}
	if o := read1(t, func(*http.Request) *http.Response { return answer(200, document+" ") }, known); o.Unchanged {
		t.Error("another body counts as unchanged")
	}
}

// F2: two mirrors name their versions alike. What one gave is not held against the other, else what is new there
// would be taken for unchanged; a mirror that is met again is asked with its own.
func TestReadBehindARedirect(t *testing.T) {
	bodies := map[freshet.Type]string{freshet.RSS: document, freshet.Website: "<article>A text of One.</article>", freshet.HTTP: "One"}
	for kind, body := range bodies {
		var target string
		serve := func(r *http.Request) *http.Response {
			switch {
			case r.URL.Host == "a.example":
				return answer(302, "", "Location: "+target)
			case r.Header.Get("If-None-Match") == `"v1"`:
				return answer(304, "")
			}
			return answer(200, strings.Replace(body, "One", r.URL.Host, 1), `ETag: "v1"`)
		}
		src := source
		src.Type = kind
		for i, step := range []struct {
			target    string
			status    int
			unchanged bool
		}{
			{"https://one.example/feed", 200, false},
			{"https://one.example/feed", 304, true},
			{"https://two.example/feed", 200, false},
			{"https://two.example/feed", 304, true},
		} {
			target = step.target
			o := read1(t, serve, src)
			if o.Failure != nil || o.Status != step.status || o.Unchanged != step.unchanged {
				t.Errorf("%s, step %d: status %d, unchanged %v, %v; want %+v", kind, i, o.Status, o.Unchanged, o.Failure, step)
			}
			src = src.Observe(o, freshet.DefaultSettings().Policy(src), freshet.Host{}, 0, time.Now())
		}
	}
}

// F4: no validators after a document that is not whole, until another one is read.
func TestReadPartial(t *testing.T) {
	cut := document[:strings.Index(document, "<title>Two")]
	serve := func(*http.Request) *http.Response { return answer(200, cut, `ETag: "v1"`, "Last-Modified: yesterday") }
	o := read1(t, serve, source)
	if o.Failure != nil || o.Partial == "" || len(o.Posts) == 0 {
		t.Fatalf("outcome = %+v, failure %v; want a part of the posts", o, o.Failure)
	}
	if o.ETag != "" || o.LastModified != "" {
		t.Errorf("validators %q, %q of a cut document", o.ETag, o.LastModified)
	}
	again := source
	again.Cursor = freshet.Cursor{BodyHash: o.BodyHash, Partial: o.Partial}
	if o = read1(t, serve, again); !o.Unchanged || o.ETag != "" || o.LastModified != "" {
		t.Errorf("the same cut document once more: %+v", o)
	}
}

func TestReadFailures(t *testing.T) {
	page := `<!doctype html><title>A site</title><link rel="alternate" type="application/rss+xml" href="/feed.xml?token=s3cret"><link rel="alternate" type="application/atom+xml" href="/atom.xml"><p>Hello</p>`
	noFeed := "<!doctype html><title>A site</title><p>Hello</p>"
	short := answer(200, "")
	short.Body, short.ContentLength = io.NopCloser(io.MultiReader(strings.NewReader(document[:200]), brokenReader{})), int64(len(document))
	tests := []struct {
		name     string
		answer   *http.Response
		code     string
		class    freshet.Class
		sentence string
	}{
		{"a web page that names feeds", answer(200, page), "not_a_feed", freshet.Transient, "The page names these feeds: https://a.example/feed.xml?token=REDACTED, https://a.example/atom.xml"},
		{"a web page without feeds", answer(200, noFeed), "not_a_feed", freshet.Transient, "This address gives a web page, not a feed."},
		{"nothing", answer(200, ""), "not_a_feed", freshet.Transient, "This address gives an empty document, not a feed."},
		{"404", answer(404, "gone fishing"), "http_404", freshet.Permanent, "404"},
		{"500", answer(500, ""), "http_500", freshet.Transient, "500"},
		{"a body that breaks off", short, "cut", freshet.Transient, "stopped in the middle"},
		{"no answer", nil, "connect", freshet.Transient, "without an answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := read1(t, func(*http.Request) *http.Response { return tt.answer }, source)
			f := o.Failure
			if f == nil || f.Code != tt.code || f.Class != tt.class || !strings.Contains(f.Sentence, tt.sentence) {
				t.Fatalf("failure = %+v, want %s with %q", f, tt.code, tt.sentence)
			}
			if o.At.IsZero() || len(o.Posts) != 0 {
				t.Errorf("outcome = %+v", o)
			}
		})
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// F3, S6: a 429 names its time; a permanent redirect says where to.
func TestReadWhatServersAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := read1(t, func(*http.Request) *http.Response { return answer(429, "", "Retry-After: 120") }, source)
		if f := o.Failure; f == nil || !f.CoolHost || !f.RetryAfter.Equal(time.Now().Add(2*time.Minute)) || o.Status != 429 {
			t.Errorf("outcome = %+v, failure %+v", o, f)
		}
		o = read1(t, func(r *http.Request) *http.Response {
			if r.URL.Host == "a.example" {
				return answer(301, "", "Location: https://b.example/feed")
			}
			return answer(200, document)
		}, source)
		if o.Failure != nil || o.MovedTo != "https://b.example/feed" {
			t.Errorf("outcome = %+v, failure %v", o, o.Failure)
		}
		if o.Posts[0].URL != "https://b.example/one?utm_source=rss" {
			t.Errorf("relative links resolve to %s, not against where the document was", o.Posts[0].URL)
		}
	})
}

func TestReadUnknownType(t *testing.T) {
	strange := source
	strange.Type = "gopher"
	o := read1(t, func(*http.Request) *http.Response { t.Error("a request was made"); return nil }, strange)
	if o.Failure == nil || o.Failure.Code != "unknown_type" || o.Failure.Class != freshet.Permanent || o.At.IsZero() {
		t.Errorf("failure = %+v", o.Failure)
	}
}

// P4: a fault of ours ends one read, not the program, and the log names the source by its redacted URL.
func TestReadContainsPanics(t *testing.T) {
	var log bytes.Buffer
	broken := New(nil, slog.New(slog.NewTextHandler(&log, nil))) // without a client every fetch is a fault
	secret := source
	secret.URL = "https://user:pass@a.example/feed?key=s3cret"
	o := broken.Turn().Read(t.Context(), secret)
	if o.Failure == nil || o.Failure.Code != "internal" || o.At.IsZero() {
		t.Errorf("failure = %+v", o.Failure)
	}
	if line := log.String(); !strings.Contains(line, "[Polling]") || !strings.Contains(line, "a.example/feed") || strings.Contains(line, "s3cret") || strings.Contains(line, "pass@") {
		t.Errorf("log = %s", line)
	}
}

// What the caller stopped says nothing about the source.
func TestReadStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	turn := New(fetch.NewWith(site(func(r *http.Request) *http.Response {
		cancel()
		return nil
	}), fetch.Settings{}), slog.New(slog.DiscardHandler)).Turn()
	if o := turn.Read(ctx, source); o.Failure == nil || o.Failure.Code != "stopped" {
		t.Errorf("failure = %+v", o.Failure)
	}
}

// P4: at most two large documents are parsed at a time; small ones are not held up by them.
func TestLargeDocumentsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(nil, slog.New(slog.DiscardHandler))
		r.parsing = make(slots, 8)
		release := make(chan bool)
		var running atomic.Int32
		for range 5 {
			go r.whileParsing(t.Context(), largeDocument+1, func() {
				running.Add(1)
				<-release
				running.Add(-1)
			})
		}
		synctest.Wait()
		if n := running.Load(); n != largeDocuments {
			t.Errorf("%d large documents at once, want %d", n, largeDocuments)
		}
		small := false
		if !r.whileParsing(t.Context(), 100, func() { small = true }) || !small {
			t.Error("a small document waits for large ones")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if r.whileParsing(ctx, largeDocument+1, func() { t.Error("parsed after the end") }) {
			t.Error("stopped, but said to have parsed")
		}
		for range 5 {
			release <- true
			synctest.Wait()
		}
	})
}

func BenchmarkReadUnchangedBody(b *testing.B) {
	var doc strings.Builder
	doc.WriteString(document[:strings.Index(document, "<item>")])
	for i := range 30 {
		fmt.Fprintf(&doc, "<item><guid>https://a.example/%d</guid><title>Title %d</title><description>%s</description></item>", i, i, strings.Repeat("word ", 200))
	}
	doc.WriteString("</channel></rss>")
	body := doc.String()
	for name, hash := range map[string]string{"same": hashOf([]byte(body)), "other": ""} {
		b.Run(name, func(b *testing.B) {
			src := source
			src.Cursor.BodyHash = hash
			turn := New(fetch.NewWith(site(func(*http.Request) *http.Response { return answer(200, body) }), fetch.Settings{}), slog.New(slog.DiscardHandler)).Turn()
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if o := turn.Read(b.Context(), src); o.Failure != nil {
					b.Fatal(o.Failure)
				}
			}
		})
	}
}
