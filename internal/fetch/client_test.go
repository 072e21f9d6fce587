package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"freshet"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// site is a server on loopback and a client that may read from it.
type site struct {
	*httptest.Server
	client *Client

	mu       sync.Mutex
	requests []*http.Request
}

// newSite serves handler and remembers the requests it saw.
func newSite(t *testing.T, handler http.HandlerFunc) *site {
	s := &site{client: New(Settings{Allow: loopback, UserAgent: "Freshet/1 (+https://freshet.example)"})}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r)
		s.mu.Unlock()
		handler(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) seen() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*http.Request(nil), s.requests...)
}

func (s *site) get(t *testing.T, r Request) *Response {
	t.Helper()
	r.URL = s.URL + r.URL
	resp, err := s.client.Get(t.Context(), r)
	if err != nil {
		t.Fatalf("get %s: %v", r.URL, err)
	}
	return resp
}

// fail makes a fetch that must fail.
func (s *site) fail(t *testing.T, r Request) (*Response, *freshet.Failure) {
	t.Helper()
	r.URL = s.URL + r.URL
	return mustFail(t, s.client, r)
}

func mustFail(t *testing.T, c *Client, r Request) (*Response, *freshet.Failure) {
	t.Helper()
	resp, err := c.Get(t.Context(), r)
	var f *freshet.Failure
	if !errors.As(err, &f) {
		t.Fatalf("get %s: %v is no failure", r.URL, err)
	}
	if resp != nil && (resp.Body != nil || resp.ETag != "" || resp.LastModified != "") {
		t.Errorf("a failed fetch carries a body of %d bytes, ETag %q, Last-Modified %q", len(resp.Body), resp.ETag, resp.LastModified)
	}
	return resp, f
}

// F1, F4: what a request carries, and what it does not.
func TestRequestHeaders(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/feed", http.StatusFound)
		}
	})
	s.get(t, Request{URL: "/?a=1#frag"})
	s.get(t, Request{URL: "/"})
	for i, r := range s.seen() {
		if got := r.Header.Get("User-Agent"); got != "Freshet/1 (+https://freshet.example)" {
			t.Errorf("request %d: User-Agent %q", i, got)
		}
		if got := r.Header.Get("Accept-Encoding"); got != "zstd, gzip, br" {
			t.Errorf("request %d: Accept-Encoding %q", i, got)
		}
		if !strings.Contains(r.Header.Get("Accept"), "application/atom+xml") {
			t.Errorf("request %d: Accept %q", i, r.Header.Get("Accept"))
		}
		for _, name := range []string{"Cookie", "Referer", "If-None-Match", "If-Modified-Since", "Authorization", "Content-Length", "Transfer-Encoding"} {
			if got := r.Header.Get(name); got != "" {
				t.Errorf("request %d: %s %q", i, name, got)
			}
		}
	}
	if got := s.seen()[0].RequestURI; got != "/?a=1" {
		t.Errorf("asked for %q", got)
	}
}

func TestResponse(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/rss+xml; charset=utf-8")
		w.Header().Set("Cache-Control", "max-age=600")
		w.Header().Set("ETag", `W/"a b"`)
		w.Header().Set("Last-Modified", "yesterday, I think")
		io.WriteString(w, "<rss/>")
	})
	resp := s.get(t, Request{URL: "/feed"})
	if string(resp.Body) != "<rss/>" || resp.Status != 200 || resp.NotModified {
		t.Errorf("got %d %q", resp.Status, resp.Body)
	}
	if resp.ETag != `W/"a b"` || resp.LastModified != "yesterday, I think" {
		t.Errorf("validators %q, %q are not what was sent", resp.ETag, resp.LastModified)
	}
	if resp.ContentType != "application/rss+xml; charset=utf-8" || resp.MaxAge != 10*time.Minute {
		t.Errorf("%q, max-age %v", resp.ContentType, resp.MaxAge)
	}
	if resp.FinalURL != s.URL+"/feed" || resp.MovedTo != "" || resp.Header.Get("Etag") == "" {
		t.Errorf("final %q, moved %q", resp.FinalURL, resp.MovedTo)
	}
	resp.Release()
	resp.Release() // harmless
	if resp.Body != nil {
		t.Error("a released body is still there")
	}
}

// F2: validators go out byte for byte, a 304 is a success and its new validators count. A server that
// changes only the ETag must not be asked with the old one for ever (miniflux/v2#2675).
func TestConditional(t *testing.T) {
	const modified = "Sat, 21 Nov 2026 10:00:00 +0000 (as it came)"
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/new-etag":
			w.Header().Set("ETag", `"two"`)
		case "/new-date":
			w.Header().Set("Last-Modified", "later")
		}
		w.WriteHeader(http.StatusNotModified)
	})
	for path, want := range map[string][2]string{
		"/same":     {`W/"one"`, modified},
		"/new-etag": {`"two"`, modified},
		"/new-date": {`W/"one"`, "later"},
	} {
		resp := s.get(t, Request{URL: path, ETag: `W/"one"`, LastModified: modified})
		if !resp.NotModified || resp.Status != 304 || resp.Body != nil {
			t.Errorf("%s: %+v", path, resp)
		}
		if got := [2]string{resp.ETag, resp.LastModified}; got != want {
			t.Errorf("%s: validators %q, want %q", path, got, want)
		}
	}
	for _, r := range s.seen() {
		if r.Header.Get("If-None-Match") != `W/"one"` || r.Header.Get("If-Modified-Since") != modified {
			t.Errorf("asked with %q and %q", r.Header.Get("If-None-Match"), r.Header.Get("If-Modified-Since"))
		}
	}
	if _, f := s.fail(t, Request{URL: "/same"}); f.Code != "http_304" || f.Class != freshet.Transient {
		t.Errorf("a 304 that nobody asked for: %+v", f)
	}
}

// F6: the class of every status, and what else it means.
func TestStatuses(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		fmt.Sscanf(r.URL.Path, "/%d", &status)
		w.Header().Set("ETag", `"error page"`)
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(status)
		if status != 204 {
			io.WriteString(w, "an error page")
		}
	})
	for status, want := range map[int]freshet.Failure{
		204: {Class: freshet.Transient},
		206: {Class: freshet.Transient},
		300: {Class: freshet.Transient},
		400: {Class: freshet.Transient},
		401: {Class: freshet.Permanent},
		403: {Class: freshet.Permanent},
		404: {Class: freshet.Permanent},
		408: {Class: freshet.Transient},
		410: {Class: freshet.Permanent, Gone: true},
		418: {Class: freshet.Transient},
		429: {Class: freshet.Transient, CoolHost: true},
		451: {Class: freshet.Transient},
		500: {Class: freshet.Transient},
		502: {Class: freshet.Transient},
		503: {Class: freshet.Transient, CoolHost: true},
		599: {Class: freshet.Transient},
	} {
		began := time.Now()
		resp, f := s.fail(t, Request{URL: fmt.Sprintf("/%d", status)})
		if f.Class != want.Class || f.Gone != want.Gone || f.CoolHost != want.CoolHost || f.Unreached {
			t.Errorf("%d: %+v", status, f)
		}
		if f.Status != status || f.Code != fmt.Sprintf("http_%d", status) || resp.Status != status || resp.Header.Get("Retry-After") != "120" {
			t.Errorf("%d: status %d, code %s, response %+v", status, f.Status, f.Code, resp)
		}
		if !strings.HasPrefix(f.Sentence, "127.0.0.1 ") || !strings.HasSuffix(f.Sentence, ".") || !strings.Contains(f.Sentence, fmt.Sprint(status)) {
			t.Errorf("%d: sentence %q", status, f.Sentence)
		}
		if asked := !f.RetryAfter.IsZero(); asked != want.CoolHost {
			t.Errorf("%d: next try %v", status, f.RetryAfter)
		} else if asked && (f.RetryAfter.Before(began.Add(2*time.Minute)) || f.RetryAfter.After(time.Now().Add(2*time.Minute))) {
			t.Errorf("%d: next try %v, want two minutes from now", status, f.RetryAfter)
		}
	}
}

// RFC 9110 15.3: other good answers with a document are documents.
func TestOtherSuccesses(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNonAuthoritativeInfo)
		io.WriteString(w, "<rss/>")
	})
	if resp := s.get(t, Request{URL: "/"}); string(resp.Body) != "<rss/>" {
		t.Errorf("%+v", resp)
	}
}

// Credentials go to the first host only.
func TestCredentials(t *testing.T) {
	other := newSite(t, func(w http.ResponseWriter, r *http.Request) {})
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, other.URL+"/there", http.StatusFound)
		case "/near":
			http.Redirect(w, r, "/here", http.StatusMovedPermanently)
		}
	})
	secrets := http.Header{"Authorization": {"Bearer s3cret"}, "x-api-key": {"k3y"}}
	s.get(t, Request{URL: "/away", Header: secrets})
	s.get(t, Request{URL: "/near", Header: secrets})
	for _, r := range s.seen() {
		if r.Header.Get("Authorization") != "Bearer s3cret" || r.Header.Get("X-Api-Key") != "k3y" {
			t.Errorf("%s: the first host lacks its credentials: %v", r.URL, r.Header)
		}
	}
	// Another port is another service, though the host is the same.
	if r := other.seen()[0]; r.Header.Get("Authorization") != "" || r.Header.Get("X-Api-Key") != "" {
		t.Errorf("another host got credentials: %v", r.Header)
	}
}

// Userinfo in the address is Basic authentication, and never shows again except in MovedTo, which has to
// work by itself.
func TestUserinfo(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case user != "ann" || password != "pä:ss":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/old":
			http.Redirect(w, r, "http://eve:evil@"+r.Host+"/new", http.StatusMovedPermanently)
		}
	})
	base := strings.Replace(s.URL, "http://", "http://ann:p%C3%A4%3Ass@", 1)
	resp, err := s.client.Get(t.Context(), Request{URL: base + "/old"})
	if err != nil {
		t.Fatal(err)
	}
	if resp.FinalURL != s.URL+"/new" || resp.MovedTo != base+"/new" {
		t.Errorf("final %s, moved to %s", resp.FinalURL, resp.MovedTo)
	}
	_, f := mustFail(t, s.client, Request{URL: strings.Replace(base, "ann", "bob", 1)})
	if f.Code != "http_401" || strings.Contains(f.Sentence, "bob") {
		t.Errorf("%+v", f)
	}
}

func TestBadAddress(t *testing.T) {
	client := New(Settings{})
	for _, raw := range []string{"", "example.org/feed", "ftp://example.org/", "file:///etc/passwd", "http://", "http://exa mple/", "http://h\\@x/"} {
		resp, f := mustFail(t, client, Request{URL: raw})
		if resp != nil || f.Code != "address" || f.Class != freshet.Permanent || !strings.HasSuffix(f.Sentence, ".") {
			t.Errorf("%q: %+v", raw, f)
		}
	}
}

// silent is a RoundTripper that never answers.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// slowBody gives one byte a second, for ever.
type slowBody struct{ ctx context.Context }

func (s slowBody) Read(p []byte) (int, error) {
	select {
	case <-time.After(time.Second):
		p[0] = 'x'
		return 1, nil
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
}

type slow struct{}

func (slow) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Etag": {`"x"`}}, Body: io.NopCloser(slowBody{r.Context()}), ContentLength: -1}, nil
}

// redirecting takes four seconds for each of its endless redirects.
type redirecting struct{}

func (redirecting) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case <-time.After(4 * time.Second):
		return &http.Response{StatusCode: 302, Header: http.Header{"Location": {r.URL.Path + "x"}}, Body: http.NoBody}, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// F1: one fetch has its time in all, whatever it is spent on.
func TestTimeout(t *testing.T) {
	for name, test := range map[string]struct {
		rt       http.RoundTripper
		sentence string
	}{
		"no answer":       {silent{}, "news.example did not answer within 10 s."},
		"a byte a second": {slow{}, "news.example did not send the whole document within 10 s."},
		"slow redirects":  {redirecting{}, "news.example did not answer within 10 s."},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				_, f := mustFail(t, NewWith(test.rt, Settings{}), Request{URL: "http://news.example/"})
				if took := time.Since(began); took != 10*time.Second {
					t.Errorf("took %v", took)
				}
				if f.Code != "timeout" || f.Class != freshet.Transient || f.Unreached || f.Sentence != test.sentence {
					t.Errorf("%+v", f)
				}
			})
		})
	}
}

// A fetch that its caller stops says nothing about the source.
func TestStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := NewWith(silent{}, Settings{}).Get(ctx, Request{URL: "http://news.example/"})
		var f *freshet.Failure
		if !errors.As(err, &f) || f.Code != "stopped" || f.Class != freshet.Transient {
			t.Errorf("%v", err)
		}
	})
}

// The time that a fetch waits for memory of ours is not the server's.
func TestWaitingDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := NewWith(roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(strings.Repeat("x", 3<<20))), ContentLength: -1}, nil
		}), Settings{})
		for range cap(client.large) {
			client.large <- struct{}{}
		}
		time.AfterFunc(time.Minute, func() { <-client.large })
		resp, err := client.Get(t.Context(), Request{URL: "http://news.example/"})
		if err != nil || len(resp.Body) != 3<<20 {
			t.Errorf("%v", err)
		}
		resp.Release()
		if len(client.large) != cap(client.large)-1 {
			t.Errorf("%d slots are taken", len(client.large))
		}
	})
}

type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The seam gets one call for each request.
func TestNewWith(t *testing.T) {
	calls := 0
	client := NewWith(roundTrip(func(r *http.Request) (*http.Response, error) {
		calls++
		if calls == 1 {
			return &http.Response{StatusCode: 301, Header: http.Header{"Location": {"https://b.example/"}}, Body: http.NoBody}, nil
		}
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("x")), ContentLength: 1}, nil
	}), Settings{})
	resp, err := client.Get(t.Context(), Request{URL: "https://a.example/"})
	if err != nil || calls != 2 || resp.MovedTo != "https://b.example/" || string(resp.Body) != "x" {
		t.Errorf("%d calls, %+v, %v", calls, resp, err)
	}
}
