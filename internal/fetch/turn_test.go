package fetch

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"freshet"
)

// counted counts the connections that a server is offered and that are still open.
func counted(s *httptest.Server) (made, open *atomic.Int64) {
	made, open = new(atomic.Int64), new(atomic.Int64)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			made.Add(1)
			open.Add(1)
		case http.StateClosed, http.StateHijacked:
			open.Add(-1)
		}
	}
	return made, open
}

// F4: one connection serves a turn, even across answers without a document, and is gone after it.
func TestTurnReusesConnection(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/", http.StatusFound)
		case "/missing":
			http.NotFound(w, r)
		case "/same":
			w.WriteHeader(http.StatusNotModified)
		default:
			io.WriteString(w, strings.Repeat("x", 100_000))
		}
	}))
	made, open := counted(server)
	server.Start()
	client := New(Settings{Allow: loopback})
	for range 2 {
		turn := client.Turn()
		for _, path := range []string{"/", "/moved", "/missing", "/same", "/"} {
			turn.Get(t.Context(), Request{URL: server.URL + path, ETag: `"x"`})
		}
		turn.Close()
	}
	server.Close() // waits until every connection is closed
	if made.Load() != 2 || open.Load() != 0 {
		t.Errorf("%d connections for two turns, %d left open", made.Load(), open.Load())
	}
}

// A turn keeps one connection for each address that redirects lead to.
func TestTurnAcrossHosts(t *testing.T) {
	target := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	made, _ := counted(target)
	target.Start()
	defer target.Close()
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target.URL, http.StatusFound) })
	turn := s.client.Turn()
	defer turn.Close()
	for range 3 {
		if _, err := turn.Get(t.Context(), Request{URL: s.URL}); err != nil {
			t.Fatal(err)
		}
	}
	if made.Load() != 1 {
		t.Errorf("%d connections", made.Load())
	}
}

// pipes serves HTTP over net.Pipe, so that it can run in a synctest bubble.
type pipes struct {
	conns    atomic.Int64
	requests atomic.Int64
	serve    func(n int64, c net.Conn, r *bufio.Reader)
}

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	n := p.conns.Add(1)
	go func() {
		defer server.Close()
		p.serve(n, server, bufio.NewReader(server))
	}()
	return client, nil
}

func (p *pipes) read(r *bufio.Reader) error {
	req, err := http.ReadRequest(r)
	if err != nil {
		return err
	}
	p.requests.Add(1)
	req.Body.Close()
	return nil
}

func (p *pipes) client() *Client {
	c := New(Settings{})
	c.dialer.DialContext = dialTracked(p.dial)
	return c
}

const okAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// F4: a server that takes a request on a kept connection and hangs up without a word is not asked again
// behind our back (http.Transport would). That fetch fails; from then on the host gets a new connection
// for each request, in this turn and in later ones.
func TestNoRequestIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{}
		p.serve = func(n int64, c net.Conn, r *bufio.Reader) {
			for range 2 {
				if p.read(r) != nil {
					return
				}
				if n > 1 || p.requests.Load() == 1 {
					io.WriteString(c, okAnswer)
				} else {
					return
				}
			}
		}
		client := p.client()
		turn := client.Turn()
		get := func(want string) {
			t.Helper()
			_, err := turn.Get(t.Context(), Request{URL: "http://news.example/"})
			var f *freshet.Failure
			if errors.As(err, &f) && f.Sentence != want || err == nil && want != "" {
				t.Errorf("got %v, want %q", err, want)
			}
		}
		get("")
		get("news.example closed the connection without an answer.")
		if n, c := p.requests.Load(), p.conns.Load(); n != 2 || c != 1 {
			t.Errorf("the server saw %d requests on %d connections for 2 fetches", n, c)
		}
		get("")
		get("")
		turn.Close()
		turn = client.Turn()
		get("")
		get("")
		turn.Close()
		if n, c := p.requests.Load(), p.conns.Load(); n != 6 || c != 5 {
			t.Errorf("the server saw %d requests on %d connections for 6 fetches", n, c)
		}
	})
}

// A server that hangs up after its answer has not seen the next request, so a new connection repeats
// nothing and the fetch succeeds.
func TestIdleConnectionClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{}
		p.serve = func(_ int64, c net.Conn, r *bufio.Reader) {
			if p.read(r) == nil {
				io.WriteString(c, okAnswer)
			}
		}
		turn := p.client().Turn()
		defer turn.Close()
		for range 3 {
			if _, err := turn.Get(t.Context(), Request{URL: "http://news.example/"}); err != nil {
				t.Error(err)
			}
			synctest.Wait() // the end of the connection has arrived
		}
		if n, c := p.requests.Load(), p.conns.Load(); n != 3 || c != 3 {
			t.Errorf("%d requests on %d connections", n, c)
		}
	})
}

// A connection that has been idle for long is not risked.
func TestIdleTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{}
		p.serve = func(_ int64, c net.Conn, r *bufio.Reader) {
			for p.read(r) == nil {
				io.WriteString(c, okAnswer)
			}
		}
		turn := p.client().Turn()
		for _, pause := range []time.Duration{0, time.Second, time.Second, 5 * time.Second, 0} {
			time.Sleep(pause)
			if _, err := turn.Get(t.Context(), Request{URL: "http://news.example/"}); err != nil {
				t.Error(err)
			}
		}
		if c := p.conns.Load(); c != 2 {
			t.Errorf("%d connections, want one before the long pause and one after", c)
		}
		turn.Close()
		synctest.Wait()
	})
}

// What is not HTTP, or hangs up, or never ends, has its sentence.
func TestBadServers(t *testing.T) {
	for name, test := range map[string]struct {
		answer, code, sentence string
	}{
		"nothing":        {"", "connect", "news.example closed the connection without an answer."},
		"half a header":  {"HTTP/1.1 200 OK\r\nContent-Le", "protocol", "news.example answered with something that is not HTTP."},
		"garbage":        {"220 mail.example ESMTP\r\n\r\n", "protocol", "news.example answered with something that is not HTTP."},
		"ssh":            {"SSH-2.0-OpenSSH_9.9\r\n", "protocol", "news.example answered with something that is not HTTP."},
		"bad status":     {"HTTP/1.1 abc OK\r\n\r\n", "protocol", "news.example answered with something that is not HTTP."},
		"two lengths":    {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc", "protocol", "news.example answered with something that is not HTTP."},
		"cut by length":  {"HTTP/1.1 200 OK\r\nETag: \"x\"\r\nContent-Length: 10\r\n\r\nabc", "cut", "news.example stopped in the middle of the document."},
		"cut by chunk":   {"HTTP/1.1 200 OK\r\nETag: \"x\"\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", "cut", "news.example stopped in the middle of the document."},
		"no last chunk":  {"HTTP/1.1 200 OK\r\nETag: \"x\"\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "cut", "news.example stopped in the middle of the document."},
		"bad chunk":      {"HTTP/1.1 200 OK\r\nETag: \"x\"\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n", "cut", "news.example stopped in the middle of the document."},
		"huge length":    {"HTTP/1.1 200 OK\r\nContent-Length: 10485761\r\n\r\nabc", "too_large", "The document is larger than the limit of 10 MiB."},
		"huge header":    {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 200<<10) + "\r\n\r\n", "too_large", "news.example sent more than 128 KiB of headers."},
		"many headers":   {"HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 40<<10) + "\r\n", "too_large", "news.example sent more than 128 KiB of headers."},
		"endless 100":    {strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 50_000), "too_large", "news.example sent more than 128 KiB of headers."},
		"unknown coding": {"HTTP/1.1 200 OK\r\nContent-Encoding: lzma\r\nContent-Length: 1\r\n\r\nx", "encoding", `news.example packed the document in a way that is not understood ("lzma").`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &pipes{}
				p.serve = func(_ int64, c net.Conn, r *bufio.Reader) {
					if p.read(r) == nil {
						io.WriteString(c, test.answer)
					}
				}
				_, f := mustFail(t, p.client(), Request{URL: "http://news.example/"})
				if f.Code != test.code || f.Sentence != test.sentence || f.Class != freshet.Transient || f.Unreached {
					t.Errorf("%+v", f)
				}
				if p.requests.Load() != 1 {
					t.Errorf("%d requests", p.requests.Load())
				}
			})
		})
	}
}

// A server that sends more than it announced, or answers without being asked, harms nobody.
func TestExtraBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{}
		p.serve = func(_ int64, c net.Conn, r *bufio.Reader) {
			for p.read(r) == nil {
				io.WriteString(c, okAnswer+"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
			}
		}
		log.SetOutput(io.Discard) // net/http tells about unsolicited answers
		turn := p.client().Turn()
		defer turn.Close()
		for range 3 {
			resp, err := turn.Get(t.Context(), Request{URL: "http://news.example/"})
			if err != nil || string(resp.Body) != "ok" {
				t.Errorf("%+v, %v", resp, err)
			}
			synctest.Wait()
		}
	})
}

// Connections that do not come about: S5 needs to know that nothing was reached.
func TestUnreached(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	listener.Close()
	_, f := mustFail(t, New(Settings{Allow: loopback}), Request{URL: "http://" + closed})
	if f.Code != "connect" || !f.Unreached || f.Class != freshet.Transient || f.Sentence != "127.0.0.1 refuses connections." {
		t.Errorf("%+v", f)
	}
	for name, test := range map[string]struct {
		err  error
		want freshet.Failure
	}{
		"no such host": {&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "news.example", IsNotFound: true}},
			freshet.Failure{Class: freshet.Permanent, Code: "no_such_host"}},
		"server misbehaving": {&net.OpError{Op: "dial", Err: &net.DNSError{Err: "server misbehaving", IsTemporary: true}},
			freshet.Failure{Class: freshet.Transient, Code: "dns"}},
		"dns timeout": {&net.OpError{Op: "dial", Err: &net.DNSError{Err: "i/o timeout", IsTimeout: true}},
			freshet.Failure{Class: freshet.Transient, Code: "dns"}},
		"other": {&net.OpError{Op: "dial", Err: errors.New("odd")},
			freshet.Failure{Class: freshet.Transient, Code: "connect"}},
	} {
		client := New(Settings{})
		client.dialer.DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, test.err }
		_, f := mustFail(t, client, Request{URL: "http://news.example/"})
		fake := NewWith(roundTrip(func(*http.Request) (*http.Response, error) { return nil, test.err }), Settings{})
		_, g := mustFail(t, fake, Request{URL: "http://news.example/"})
		for _, f := range []*freshet.Failure{f, g} {
			if f.Class != test.want.Class || f.Code != test.want.Code || !f.Unreached || !strings.Contains(f.Sentence, "news.example") {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
}

// A host that swallows connections is not reached; one that takes them and says nothing is.
func TestTimeoutStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		swallows := New(Settings{})
		swallows.dialer.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		mute := &pipes{serve: func(_ int64, _ net.Conn, r *bufio.Reader) { io.Copy(io.Discard, r) }}
		for _, test := range []struct {
			client    *Client
			url       string
			unreached bool
			sentence  string
		}{
			{swallows, "http://news.example/", true, "news.example could not be reached within 10 s."},
			{mute.client(), "http://news.example/", false, "news.example did not answer within 10 s."},
			{mute.client(), "https://news.example/", false, "news.example did not answer within 10 s."},
		} {
			began := time.Now()
			_, f := mustFail(t, test.client, Request{URL: test.url})
			if f.Code != "timeout" || f.Unreached != test.unreached || f.Sentence != test.sentence {
				t.Errorf("%s: %+v", test.url, f)
			}
			if took := time.Since(began); took != 10*time.Second {
				t.Errorf("%s took %v", test.url, took)
			}
		}
		synctest.Wait()
	})
}

// trusting returns a client that trusts the certificate of a test server, which is for example.com.
func trusting(s *httptest.Server) *Client {
	client := New(Settings{Allow: loopback})
	client.dialer.TLSClientConfig.RootCAs = x509.NewCertPool()
	client.dialer.TLSClientConfig.RootCAs.AddCert(s.Certificate())
	return client
}

func TestHTTP2(t *testing.T) {
	var protocols sync.Map
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protocols.Store(r.Proto, true)
		if r.ContentLength != 0 {
			t.Errorf("a GET with a body of %d bytes", r.ContentLength)
		}
		io.WriteString(w, strings.Repeat("x", 3<<20))
	}))
	made, open := counted(server)
	server.EnableHTTP2 = true
	server.StartTLS()
	turn := trusting(server).Turn()
	for range 3 {
		resp, err := turn.Get(t.Context(), Request{URL: server.URL})
		if err != nil || len(resp.Body) != 3<<20 {
			t.Fatal(err)
		}
	}
	turn.Close()
	server.Close()
	if _, ok := protocols.Load("HTTP/2.0"); !ok || made.Load() != 1 || open.Load() != 0 {
		t.Errorf("HTTP/2: %v, %d connections, %d left open", ok, made.Load(), open.Load())
	}
}

// A refused stream is not tried again behind our back either.
func TestHTTP2IsNotRepeated(t *testing.T) {
	var requests atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		panic(http.ErrAbortHandler)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	_, f := mustFail(t, trusting(server), Request{URL: server.URL})
	if requests.Load() != 1 || f.Class != freshet.Transient {
		t.Errorf("%d requests, %+v", requests.Load(), f)
	}
}

// After the server's goodbye a turn goes on over a new connection.
func TestHTTP2Goodbye(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close") // becomes GOAWAY
		io.WriteString(w, "ok")
	}))
	made, _ := counted(server)
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	turn := trusting(server).Turn()
	defer turn.Close()
	for range 3 {
		resp, err := turn.Get(t.Context(), Request{URL: server.URL})
		if err != nil || string(resp.Body) != "ok" {
			t.Fatalf("%+v, %v", resp, err)
		}
	}
	if made.Load() != 3 {
		t.Errorf("%d connections for three goodbyes", made.Load())
	}
}

// TLS that fails is told in plain words, and is no sign that our network is down.
func TestTLSFailures(t *testing.T) {
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {})
	quiet := log.New(io.Discard, "", 0)
	secure := httptest.NewUnstartedServer(hello)
	secure.Config.ErrorLog = quiet
	secure.StartTLS()
	defer secure.Close()
	plain := httptest.NewServer(hello)
	defer plain.Close()
	old := httptest.NewUnstartedServer(hello)
	old.Config.ErrorLog = quiet
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS10, MinVersion: tls.VersionTLS10}
	old.StartTLS()
	defer old.Close()

	expired := trusting(secure)
	expired.dialer.TLSClientConfig.Time = func() time.Time { return time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC) }
	wrongName := trusting(secure)
	wrongName.dialer.TLSClientConfig.ServerName = "other.example"
	for name, test := range map[string]struct {
		client   *Client
		url      string
		sentence string
	}{
		"unknown authority": {New(Settings{Allow: loopback}), secure.URL, "The certificate of 127.0.0.1 is signed by nobody that this machine trusts."},
		"expired":           {expired, secure.URL, "The certificate of 127.0.0.1 has expired or is not valid yet."},
		"wrong name":        {wrongName, secure.URL, "The certificate of 127.0.0.1 is for another name."},
		"plain http":        {New(Settings{Allow: loopback}), strings.Replace(plain.URL, "http:", "https:", 1), "127.0.0.1 does not speak https here; the address may need http."},
		"too old":           {New(Settings{Allow: loopback}), old.URL, "127.0.0.1 and we could not agree on a secure connection."},
	} {
		_, f := mustFail(t, test.client, Request{URL: test.url})
		if f.Code != "tls" || f.Sentence != test.sentence || f.Unreached || f.Class != freshet.Transient {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// The guard holds for names too: it sees the address that a name leads to.
func TestGuardSeesResolvedAddress(t *testing.T) {
	guard := Guard{Setting: "FRESHET_DELIVER_ALLOW"}
	_, err := guard.Dialer(time.Second).DialContext(t.Context(), "tcp", "localhost:1")
	var refused *RefusedAddress
	if !errors.As(err, &refused) || refused.Setting != "FRESHET_DELIVER_ALLOW" {
		t.Errorf("%v", err)
	}
}

// Many turns at once share a client.
func TestConcurrentTurns(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Path) })
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			turn := s.client.Turn()
			defer turn.Close()
			for j := range 20 {
				path := fmt.Sprintf("/%d/%d", i, j)
				resp, err := turn.Get(t.Context(), Request{URL: s.URL + path})
				if err != nil || string(resp.Body) != path {
					t.Errorf("%s: %+v, %v", path, resp, err)
					return
				}
				resp.Release()
			}
		})
	}
	group.Wait()
}
