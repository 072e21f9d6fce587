package e2e

import (
	"encoding/xml"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// newsstand is a web host with feeds that a test writes.
type newsstand struct {
	url   string
	mu    sync.Mutex
	pages map[string]func(http.ResponseWriter)
	asked map[string]int
}

// entry is an entry of a feed.
type entry struct {
	guid, title, link, text string
	at                      time.Time // zero for none
}

// newNewsstand listens on an address of its own, such as 127.0.0.2: another host to whoever polls.
func newNewsstand(t *testing.T, ip string) *newsstand {
	t.Helper()
	n := &newsstand{pages: map[string]func(http.ResponseWriter){}, asked: map[string]int{}}
	l, err := net.Listen("tcp", ip+":0")
	must(t, err)
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: n}}
	server.Start()
	t.Cleanup(server.Close)
	n.url = server.URL
	return n
}

func (n *newsstand) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	page := n.pages[r.URL.Path]
	n.asked[r.URL.Path]++
	n.mu.Unlock()
	if page == nil {
		http.NotFound(w, r)
		return
	}
	page(w)
}

func (n *newsstand) serve(path string, page func(http.ResponseWriter)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pages[path] = page
}

// visits counts the requests for a path.
func (n *newsstand) visits(path string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked[path]
}

func (n *newsstand) html(path, body string) { n.serveText(path, "text/html", body) }

func (n *newsstand) serveText(path, contentType, body string) {
	n.serve(path, func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", contentType)
		fmt.Fprint(w, body)
	})
}

func (n *newsstand) status(path string, code int, header ...string) {
	n.serve(path, func(w http.ResponseWriter) {
		for _, line := range header {
			name, value, _ := strings.Cut(line, ": ")
			w.Header().Set(name, value)
		}
		w.WriteHeader(code)
	})
}

// feed serves an RSS document and returns its address.
func (n *newsstand) feed(path, title string, entries ...entry) string {
	document := rss(title, n.url, entries)
	n.serve(path, func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/rss+xml")
		fmt.Fprint(w, document)
	})
	return n.url + path
}

// slow serves a feed that is not answered before the returned function is called, as it must be.
func (n *newsstand) slow(path, title string, entries ...entry) (address string, release func()) {
	open := make(chan struct{})
	document := rss(title, n.url, entries)
	n.serve(path, func(w http.ResponseWriter) {
		<-open
		fmt.Fprint(w, document)
	})
	return n.url + path, sync.OnceFunc(func() { close(open) })
}

func rss(title, link string, entries []entry) string {
	var b strings.Builder
	element := func(name, text string) {
		if text != "" {
			b.WriteString("<" + name + ">")
			xml.EscapeText(&b, []byte(text))
			b.WriteString("</" + name + ">")
		}
	}
	b.WriteString(`<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel>`)
	element("title", title)
	element("link", link)
	for _, e := range entries {
		b.WriteString("<item>")
		element("title", e.title)
		element("link", e.link)
		if e.guid != "" {
			b.WriteString(`<guid isPermaLink="false">`)
			xml.EscapeText(&b, []byte(e.guid))
			b.WriteString("</guid>")
		}
		element("description", e.text)
		if !e.at.IsZero() {
			element("pubDate", e.at.UTC().Format(time.RFC1123Z))
		}
		b.WriteString("</item>")
	}
	b.WriteString("</channel></rss>")
	return b.String()
}

// entries makes n entries of a name, the newest first, a minute apart, the newest published some time ago.
func entries(name string, n int, ago time.Duration) []entry {
	list := make([]entry, n)
	for i := range list {
		at := time.Now().Add(-ago - time.Duration(i)*time.Minute)
		list[i] = entry{
			guid: fmt.Sprintf("urn:%s:%d", name, n-i), title: fmt.Sprintf("%s %d", name, n-i),
			link: fmt.Sprintf("https://example.org/%s/%d", name, n-i), text: fmt.Sprintf("What %s has to say, number %d.", name, n-i), at: at,
		}
	}
	return list
}

// reader is a server with a database of its own that polls only when it is asked to, and waits long for an answer, unless
// env says otherwise.
func reader(t *testing.T, env ...string) server { t.Helper(); return readerOf(t, "freshet", env...) }

// readerOf is reader with another program than the usual one.
func readerOf(t *testing.T, name string, env ...string) server {
	t.Helper()
	s := serveAs(t, name, append([]string{"FRESHET_DATA=" + t.TempDir(), "FRESHET_TICK=200ms", "FRESHET_TIMEOUT=2m", "FRESHET_LOG_LEVEL=debug"}, env...)...)
	await(t, "the scheduler to hold its hosts", func() (bool, error) { return strings.Contains(s.out.String(), "hosts taken over"), nil })
	return s
}

// add adds a feed and waits until its first poll has ended.
func (s server) add(t *testing.T, address string) (id string) {
	t.Helper()
	var feed struct {
		ID           string
		LastPolledAt *string `json:"last_polled_at"`
	}
	must(t, post(s.url+"/api/feeds", "application/json", strings.NewReader(fmt.Sprintf(`{"url":%q}`, address)), &feed))
	await(t, "the first poll of "+address, func() (bool, error) {
		err := get(s.url+"/api/feeds/"+feed.ID, &feed)
		return feed.LastPolledAt != nil, err
	})
	return feed.ID
}

// poll refreshes everything and waits until that has ended.
func (s server) poll(t *testing.T) refresh { t.Helper(); return s.finish(t, s.refresh(t).ID) }
