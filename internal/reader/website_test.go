package reader

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"freshet"
)

// watcher polls a source again and again as a scheduler would, and keeps what a store would.
type watcher struct {
	t    *testing.T
	src  freshet.Source
	seen freshet.Seen
	now  time.Time
}

func watch(t *testing.T, kind freshet.Type, url string, c freshet.Config) *watcher {
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 2, 17, 12, 0, 0, 0, time.UTC)
	return &watcher{t: t, now: now, src: freshet.Source{ID: 7, Type: kind, URL: url, Host: freshet.HostOf(url), Enabled: true, Config: c, CreatedAt: now}}
}

// poll reads the source once and returns the posts that are stored.
func (w *watcher) poll(s site) []freshet.Post {
	w.t.Helper()
	o := read1(w.t, s, w.src)
	if o.Failure != nil {
		w.t.Fatalf("failure %s: %s", o.Failure.Code, o.Failure.Sentence)
	}
	w.now = w.now.Add(15 * time.Minute)
	o.At = w.now
	p := freshet.DefaultSettings().Policy(w.src)
	var stored []freshet.Post
	if !o.Unchanged {
		var fates []freshet.Fate
		fates, w.seen = w.seen.Sort(o.Posts, p, w.src.CreatedAt, w.src.FirstPoll(), w.now)
		for i, fate := range fates {
			switch fate {
			case freshet.New:
				stored = append(stored, o.Posts[i])
			case freshet.Edited:
				w.t.Errorf("a version of a page is an edit: %+v", o.Posts[i])
			}
		}
	}
	w.src = w.src.Observe(o, p, freshet.Host{}, len(stored), w.now)
	return stored
}

func serve(body string, header ...string) site {
	return func(*http.Request) *http.Response {
		return answer(200, body, append([]string{"Content-Type: text/html; charset=utf-8"}, header...)...)
	}
}

// tariff is a page with one price in it.
func tariff(price string) string {
	return `<!doctype html><html lang="en"><head><title>Tariff | City Pool</title><meta property="og:site_name" content="City Pool">
<meta name="author" content=""><meta property="article:author" content="Pool Office"><link rel="canonical" href="/tariff"></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/hours">Hours</a></li></ul></nav>
<article><h1>Tariff</h1><p>The pool is open from six in the morning until nine in the evening, and until ten on Fridays, all the year round.</p>
<p>A day ticket for adults costs ` + price + `, for children and students half of that, and nothing for those under six years.</p>
<p>Tickets are sold at the door and are valid until the evening; whoever leaves the building may come back on the same day.</p></article>
<aside><p>Today's water: 26 degrees, and a very long sentence about the weather, the wind and the waves that is no part of the article at all, however many words it has.</p></aside>
<footer>© City Pool</footer></body></html>`
}

// Seed 000, "Website scraping".
func TestWebsite(t *testing.T) {
	w := watch(t, freshet.Website, "https://pool.example/tariff?utm_source=x", freshet.Config{})
	t.Run("New content detected on website", func(t *testing.T) {
		stored := w.poll(serve(tariff("5 €")))
		if len(stored) != 1 {
			t.Fatalf("%d posts, want 1", len(stored))
		}
		p := stored[0]
		if !strings.HasPrefix(p.Text, "The pool is open") || !strings.Contains(p.Text, "costs 5 €") {
			t.Errorf("text = %q", p.Text)
		}
		if p.Title != "Tariff" || p.Author != "Pool Office" || p.URL != "https://pool.example/tariff" {
			t.Errorf("post = %+v", p)
		}
		if w.src.FeedTitle != "Tariff | City Pool" || w.src.SiteURL != "https://pool.example/tariff" {
			t.Errorf("source is %q at %q", w.src.FeedTitle, w.src.SiteURL)
		}
	})
	t.Run("content of <article> wins over nav and aside", func(t *testing.T) {
		text := read1(t, serve(tariff("5 €")), w.src).Posts
		if len(text) > 0 {
			t.Fatal("the same body is parsed again")
		}
		fresh := watch(t, freshet.Website, w.src.URL, freshet.Config{}).poll(serve(tariff("5 €")))[0].Text
		for _, other := range []string{"Hours", "weather", "©"} {
			if strings.Contains(fresh, other) {
				t.Errorf("text holds %q: %s", other, fresh)
			}
		}
	})
	t.Run("No content change on website", func(t *testing.T) {
		// Another body, but the article says the same.
		if stored := w.poll(serve(strings.Replace(tariff("5 €"), "26 degrees", "24 degrees", 1))); len(stored) != 0 {
			t.Errorf("stored %+v", stored)
		}
	})
	t.Run("a changed page is a new post that leads with what changed", func(t *testing.T) {
		stored := w.poll(serve(tariff("6 €")))
		if len(stored) != 1 {
			t.Fatalf("%d posts, want 1", len(stored))
		}
		p := stored[0]
		want := "Changed since the last version:\n" +
			"- A day ticket for adults costs 5 €, for children and students half of that, and nothing for those under six years.\n" +
			"+ A day ticket for adults costs 6 €, for children and students half of that, and nothing for those under six years.\nNow it reads:\nThe pool is open"
		if !strings.HasPrefix(p.Text, want) {
			t.Errorf("text = %q", p.Text)
		}
	})
	t.Run("what was there before is no news", func(t *testing.T) {
		if stored := w.poll(serve(tariff("5 €"))); len(stored) != 0 {
			t.Errorf("stored %+v", stored)
		}
		if stored := w.poll(serve(tariff("7 €"))); len(stored) != 1 || !strings.Contains(stored[0].Text, "- A day ticket for adults costs 5 €") {
			t.Errorf("stored %+v, want a change from 5 to 7", stored)
		}
	})
}

// D1: each version is an item of its own, and the same version is the same item wherever it is read.
func TestWebsiteIdentity(t *testing.T) {
	read := func(url, price string) freshet.Post {
		return watch(t, freshet.Website, url, freshet.Config{}).poll(serve(tariff(price)))[0]
	}
	one, same, other := read("https://pool.example/tariff", "5 €"), read("https://www.pool.example/tariff", "5 €"), read("https://pool.example/tariff", "6 €")
	if one.Keys.GUID == other.Keys.GUID || one.GUID == other.GUID {
		t.Errorf("two versions are one item: %s", one.GUID)
	}
	if one.Keys.URL != other.Keys.URL {
		t.Error("two versions have different addresses")
	}
	if again := read("https://pool.example/tariff?utm_source=mail", "5 €"); again.Keys != one.Keys || again.Hash != one.Hash {
		t.Errorf("the same version is another item: %s, %s", one.GUID, again.GUID)
	}
	if same.Hash != one.Hash {
		t.Error("the same text has another content hash")
	}
	if !strings.HasPrefix(one.GUID, "urn:uuid:") || len(one.GUID) != len("urn:uuid:")+36 || one.GUID[len("urn:uuid:")+14] != '8' {
		t.Errorf("GUID %s is no UUID of version 8", one.GUID)
	}
}

// F2: a 304 and an equal body leave nothing to parse, unless the rules are others by now.
func TestWebsiteConditional(t *testing.T) {
	asked := 0
	pages := func(r *http.Request) *http.Response {
		asked++
		if !strings.HasPrefix(r.Header.Get("Accept"), "text/html") {
			t.Errorf("Accept: %s", r.Header.Get("Accept"))
		}
		if r.Header.Get("If-None-Match") == `"1"` {
			return answer(304, "")
		}
		return answer(200, tariff("5 €"), `ETag: "1"`, "Content-Type: text/html")
	}
	w := watch(t, freshet.Website, "https://pool.example/tariff", freshet.Config{})
	if stored := w.poll(pages); len(stored) != 1 {
		t.Fatalf("stored %+v", stored)
	}
	w.poll(pages)
	if d := w.src.Cursor.Document; d == nil || d.Status != 200 || w.src.History.Polls()[0].Status != 304 {
		t.Errorf("after a 304: %+v", d)
	}
	w.src.Config.Selector = "aside"
	stored := w.poll(pages)
	if len(stored) != 1 || !strings.HasPrefix(stored[0].Text, "Today's water: 26 degrees") {
		t.Errorf("with another selector: %+v", stored)
	}
	w.src.Config.Ignore = []string{"/[0-9]+ degrees/", ".ad"}
	if o := read1(t, pages, w.src); o.Failure == nil || o.Failure.Code != "no_text" {
		t.Errorf("when every line is ignored: %+v", o)
	}
	if asked != 4 {
		t.Errorf("%d requests for 4 polls", asked)
	}
}

// A page's own date counts for its first version; a change is news of today, unless the page is about
// something newer than what we saw.
func TestWebsiteDates(t *testing.T) {
	dated := func(price, date string) site {
		return serve(strings.Replace(tariff(price), "</head>", `<meta property="article:published_time" content="`+date+`"></head>`, 1))
	}
	w := watch(t, freshet.Website, "https://pool.example/tariff", freshet.Config{})
	first := w.poll(dated("5 €", "2026-02-10T00:00:00Z"))
	if len(first) != 1 || first[0].Published.Day() != 10 {
		t.Errorf("first version: %+v", first)
	}
	if changed := w.poll(dated("6 €", "2026-02-10T00:00:00Z")); len(changed) != 1 || !changed[0].Published.IsZero() {
		t.Errorf("changed: %+v", changed)
	}
	if newer := w.poll(dated("7 €", "2026-02-17T12:40:00Z")); len(newer) != 1 || newer[0].Published.IsZero() {
		t.Errorf("newer: %+v", newer)
	}

	old := watch(t, freshet.Website, "https://pool.example/tariff", freshet.Config{})
	if stored := old.poll(dated("5 €", "2019-01-01")); len(stored) != 0 {
		t.Errorf("a page of 2019 is news: %+v", stored)
	}
	if stored := old.poll(dated("6 €", "2019-01-01")); len(stored) != 1 || !strings.HasPrefix(stored[0].Text, "Changed") {
		t.Errorf("a change of it is none: %+v", stored)
	}
}

func TestWebsiteFailures(t *testing.T) {
	big := strings.Repeat("<p>a page of fifty megabytes, word for word</p>", 50<<20/47)
	tests := []struct {
		name, body, kind, code, sentence string
		config                           freshet.Config
	}{
		{"a PDF", "%PDF-1.7\n%\xe2\xe3\xcf\xd3", "application/pdf", "not_a_page", "This is a PDF, not a web page.", freshet.Config{}},
		{"a PDF that is called a page", "%PDF-1.7\n1 0 obj", "text/html", "not_a_page", "This is a PDF, not a web page.", freshet.Config{}},
		{"a picture", "\x89PNG\x0d\x0a\x1a\x0a\x00\x00\x00\x0dIHDR", "image/png", "not_a_page", "This is an image (image/png), not a web page.", freshet.Config{}},
		{"an archive", "PK\x03\x04\x14\x00\x00\x00", "application/zip", "not_a_page", "This is an archive", freshet.Config{}},
		{"a feed", document, "text/xml", "not_a_page", "Add it with the type rss", freshet.Config{}},
		{"JSON", `{"a": 1}`, "application/json", "not_a_page", "This is JSON", freshet.Config{}},
		{"nothing", "  \n", "text/html", "no_text", "The page is empty.", freshet.Config{}},
		{"an application", `<!doctype html><title>App</title><div id="root"></div><script>run()</script>`, "text/html", "no_text", "put together by a script", freshet.Config{}},
		{"a page without what is asked for", tariff("5 €"), "text/html", "no_match", `"#price"`, freshet.Config{Selector: "#price"}},
		{"a page of 50 MB", big, "text/html", "too_large", "", freshet.Config{}},
		{"absurdly nested", strings.Repeat("<div>", 1000) + "x", "text/html", "parse", "nested", freshet.Config{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := watch(t, freshet.Website, "https://pool.example/tariff", tt.config).src
			o := read1(t, serveAs(tt.body, tt.kind), src)
			if f := o.Failure; f == nil || f.Code != tt.code || f.Class != freshet.Transient || !strings.Contains(f.Sentence, tt.sentence) {
				t.Fatalf("failure = %+v, want %s with %q", f, tt.code, tt.sentence)
			}
			if len(o.Posts) != 0 || o.Document != nil {
				t.Errorf("outcome = %+v", o)
			}
		})
	}
}

func serveAs(body, kind string) site {
	return func(*http.Request) *http.Response { return answer(200, body, "Content-Type: "+kind) }
}

// A page that is text without markup is read line by line.
func TestWebsitePlainText(t *testing.T) {
	w := watch(t, freshet.Website, "https://pool.example/rules.txt", freshet.Config{})
	w.poll(serveAs("No diving.\n\n  No   <running>.\n", "text/plain"))
	stored := w.poll(serveAs("No diving.\n\n  No   <running>.\nNo singing.\n", "text/plain"))
	if len(stored) != 1 || stored[0].Text != "Changed since the last version:\n+ No singing.\nNow it reads:\nNo diving.\nNo <running>.\nNo singing." || stored[0].Title != "rules.txt" {
		t.Errorf("stored %+v", stored)
	}
}
