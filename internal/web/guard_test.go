package web

import (
	"encoding/base64"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestCheckListen(t *testing.T) {
	tests := []struct {
		addr, password, token string
		behindProxy           bool
		ok                    bool
	}{
		{addr: "127.0.0.1:8080", ok: true},
		{addr: "localhost:8080", ok: true},
		{addr: "[::1]:8080", ok: true},
		{addr: "127.3.2.1:80", ok: true},
		{addr: "[::ffff:127.0.0.1]:80", ok: true},
		{addr: "0.0.0.0:8080"},
		{addr: ":8080"},
		{addr: "[::]:8080"},
		{addr: "192.168.1.5:8080"},
		{addr: "news.example:8080"},
		{addr: "localhost.evil.example:8080"},
		{addr: "0.0.0.0:8080", password: "x", ok: true},
		{addr: "0.0.0.0:8080", token: "x", ok: true},
		{addr: ":8080", behindProxy: true, ok: true},
		{addr: "8080"},
		{addr: ""},
	}
	for _, test := range tests {
		err := CheckListen(test.addr, test.password, test.token, test.behindProxy)
		if (err == nil) != test.ok {
			t.Errorf("%+v: %v", test, err)
		}
		if err != nil && strings.Contains(test.addr, ":") && !strings.Contains(err.Error(), "FRESHET_PASSWORD") {
			t.Errorf("%s: the message does not say what to set: %v", test.addr, err)
		}
	}
}

// SAFETY.md, threat "rebinding": a site whose name was made to point here reads nothing.
func TestHost(t *testing.T) {
	loopback := func(c *Config) {}
	named := func(c *Config) { c.Hosts = []string{"news.example"} }
	all := func(c *Config) { c.Listen, c.Password = "0.0.0.0:8080", "secret" }
	one := func(c *Config) { c.Listen, c.Password = "192.168.1.5:8080", "secret" }
	proxied := func(c *Config) { c.BehindProxy = true }
	proxiedAs := func(c *Config) { c.BehindProxy, c.Hosts = true, []string{"news.example"} }
	tests := []struct {
		name   string
		config func(*Config)
		host   string
		header string
		ok     bool
	}{
		{"the address", loopback, "127.0.0.1:8080", "", true},
		{"localhost", loopback, "localhost:8080", "", true},
		{"localhost in capitals", loopback, "LOCALHOST:8080", "", true},
		{"IPv6 loopback", loopback, "[::1]:8080", "", true},
		{"no port", loopback, "localhost", "", true},
		{"a forwarded port", loopback, "localhost:9999", "", true},
		{"a rebound name", loopback, "evil.example:8080", "", false},
		{"a name that begins like ours", loopback, "localhost.evil.example:8080", "", false},
		{"a name that begins like our address", loopback, "127.0.0.1.evil.example", "", false},
		{"another address", loopback, "192.168.1.5:8080", "", false},
		{"no host", loopback, "", "", false},
		{"a name that was allowed", named, "news.example", "", true},
		{"with a port", named, "news.example:8080", "", true},
		{"with a dot at the end", named, "News.Example.:8080", "", true},
		{"below a name that was allowed", named, "x.news.example", "", false},
		{"any address of a machine that listens on all", all, "192.168.1.5:8080", "", true},
		{"a name of a machine that listens on all", all, "evil.example:8080", "", false},
		{"the address that is listened on", one, "192.168.1.5:8080", "", true},
		{"an address that is not listened on", one, "192.168.1.6:8080", "", false},
		{"behind a proxy", proxied, "news.example", "", true},
		{"behind a proxy, forwarded", proxiedAs, "127.0.0.1:8080", "X-Forwarded-Host: news.example", true},
		{"behind a proxy, forwarded for another", proxiedAs, "127.0.0.1:8080", "X-Forwarded-Host: evil.example", false},
		{"forwarded without a proxy", loopback, "evil.example", "X-Forwarded-Host: localhost", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, test.config)
			header := []string{"Host: " + test.host, "Authorization: Bearer secret"}
			if test.header != "" {
				header = append(header, test.header)
			}
			a := s.call("GET", "/api/feeds", "", header...)
			if test.ok && a.Code != 200 || !test.ok && a.Code != 403 {
				t.Fatalf("answer %d: %s", a.Code, a.Body)
			}
			if !test.ok && (a.text("type") != "/problems/foreign-host" || !strings.Contains(a.text("detail"), "--hosts")) {
				t.Errorf("the problem does not say how to allow a name: %s", a.Body)
			}
		})
	}
}

// SAFETY.md, threat "cross-site request": another site's page changes nothing.
func TestOrigin(t *testing.T) {
	tests := []struct {
		name   string
		config func(*Config)
		header []string
		ok     bool
	}{
		{"a program", nil, nil, true},
		{"our own page", nil, []string{"Sec-Fetch-Site: same-origin", "Origin: http://127.0.0.1:8080"}, true},
		{"our own page in an old browser", nil, []string{"Origin: http://127.0.0.1:8080"}, true},
		{"another site", nil, []string{"Sec-Fetch-Site: cross-site", "Origin: https://evil.example"}, false},
		{"another site in an old browser", nil, []string{"Origin: https://evil.example"}, false},
		{"another port of this machine", nil, []string{"Sec-Fetch-Site: same-site", "Origin: http://127.0.0.1:3000"}, false},
		{"a page without an origin", nil, []string{"Origin: null"}, false},
		{"behind a proxy that rewrites Host", func(c *Config) { c.BehindProxy, c.Hosts = true, []string{"news.example"} }, []string{"Origin: http://news.example"}, true},
		{"behind a proxy that says the host", func(c *Config) { c.BehindProxy = true }, []string{"Origin: https://news.example", "X-Forwarded-Host: news.example"}, true},
		{"another site behind a proxy", func(c *Config) { c.BehindProxy = true }, []string{"Origin: https://evil.example", "X-Forwarded-Host: news.example"}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, test.config)
			for request, body := range map[string]string{"POST /api/refresh": "", "POST /api/feeds": `{"url":"https://a.example/"}`, "DELETE /api/feeds/1": "", "POST /logout": "", "POST /api/opml": "<opml/>"} {
				method, target, _ := strings.Cut(request, " ")
				a := s.call(method, target, body, test.header...)
				if refused := a.Code == 403; refused == test.ok {
					t.Errorf("%s answers %d: %s", request, a.Code, a.Body)
				}
			}
			if test.name == "another site in an old browser" {
				s.want(200, "GET", "/api/feeds", "", test.header...) // which the browser does not let it read
			}
		})
	}
}

// A page of another site can hold nothing of ours open, but it may link to us.
func TestForeignReads(t *testing.T) {
	s := newSite(t, nil)
	for _, site := range []string{"cross-site", "same-site"} {
		s.want(403, "GET", "/api/feeds", "", "Sec-Fetch-Site: "+site, "Sec-Fetch-Mode: no-cors")
		s.want(200, "GET", "/healthz", "", "Sec-Fetch-Site: "+site, "Sec-Fetch-Mode: navigate")
	}
	s.want(200, "GET", "/api/feeds", "", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors")
	s.want(200, "GET", "/api/feeds", "", "Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate")
}

func TestSecrets(t *testing.T) {
	both := func(c *Config) { c.Password, c.Token = "open sesame", "t0ken" }
	tests := []struct {
		name   string
		header string
		want   int
	}{
		{"nothing", "", 401},
		{"token", "Authorization: Bearer t0ken", 200},
		{"token in small letters", "Authorization: bearer t0ken", 200},
		{"password", "Authorization: Basic " + basic("me", "open sesame"), 200},
		{"password without a name", "Authorization: Basic " + basic("", "open sesame"), 200},
		{"token as a password", "Authorization: Basic " + basic("me", "t0ken"), 200},
		{"wrong token", "Authorization: Bearer t0kem", 401},
		{"empty token", "Authorization: Bearer ", 401},
		{"wrong password", "Authorization: Basic " + basic("me", "open"), 401},
		{"empty password", "Authorization: Basic " + basic("me", ""), 401},
		{"made-up session", "Cookie: " + sessionCookie + "=AAAAAHAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", 401},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, both)
			var header []string
			if test.header != "" {
				header = append(header, test.header)
			}
			for _, target := range []string{"/api/feeds", "/api/opml", "/openapi.json"} {
				a := s.want(test.want, "GET", target, "", header...)
				if test.want == 401 && (a.text("type") != "/problems/unauthorized" || a.Header().Get("WWW-Authenticate") == "") {
					t.Errorf("%s: %v %s", target, a.Header(), a.Body)
				}
			}
			for _, open := range []string{"/healthz", "/readyz"} {
				s.want(200, "GET", open, "", header...)
			}
		})
	}
}

func TestLogin(t *testing.T) {
	s := newSite(t, func(c *Config) { c.Password = "open sesame" })
	page := "Accept: text/html"
	form := "Content-Type: application/x-www-form-urlencoded"
	if got := s.want(303, "GET", "/some/page?x=1", "", page).Header().Get("Location"); got != "/login?next=%2Fsome%2Fpage%3Fx%3D1" {
		t.Errorf("sent to %q", got)
	}
	if a := s.want(200, "GET", "/login?next=/some", "", page); !strings.Contains(a.Body.String(), `value="/some"`) {
		t.Errorf("the form forgets where to go: %s", a.Body)
	}
	s.want(401, "POST", "/login", "password=wrong&next=/some", form, page)
	a := s.want(303, "POST", "/login", "password=open+sesame&next=/some", form, page)
	if got := a.Header().Get("Location"); got != "/some" {
		t.Errorf("sent to %q", got)
	}
	set := a.Header().Get("Set-Cookie")
	for _, part := range []string{"HttpOnly", "SameSite=Lax", "Path=/", "Max-Age="} {
		if !strings.Contains(set, part) {
			t.Errorf("the cookie %q lacks %s", set, part)
		}
	}
	cookie, _, _ := strings.Cut(set, ";")
	s.want(200, "GET", "/api/feeds", "", "Cookie: "+cookie)
	s.want(401, "GET", "/api/feeds", "", "Cookie: "+cookie[:len(cookie)-4]+"AAAA")
	if gone := s.want(303, "POST", "/logout", "", "Cookie: "+cookie, page).Header().Get("Set-Cookie"); !strings.Contains(gone, "Max-Age=0") {
		t.Errorf("the session does not end: %q", gone)
	}
	other := newSite(t, func(c *Config) { c.Password = "open sesame 2" })
	other.want(401, "GET", "/api/feeds", "", "Cookie: "+cookie) // a new password ends all sessions
	same := newSite(t, func(c *Config) { c.Password = "open sesame" })
	same.want(200, "GET", "/api/feeds", "", "Cookie: "+cookie) // a restart does not
}

func TestSessionEnds(t *testing.T) {
	x := newSecrets(Config{Password: "p"})
	now := time.Date(2026, 2, 16, 12, 0, 0, 0, time.UTC)
	session := x.sign(now.Add(sessionLength))
	if !x.valid(session, now) || !x.valid(session, now.Add(sessionLength-time.Second)) {
		t.Error("the session does not hold")
	}
	if x.valid(session, now.Add(sessionLength)) {
		t.Error("the session does not end")
	}
}

// SAFETY.md, threat "open redirect" (miniflux GHSA-wqv2-4wpg-8hc9): a login leads to our own pages only.
func TestOwnPath(t *testing.T) {
	for next, want := range map[string]string{
		"/some?x=1#y": "/some?x=1#y", "": "/", "some": "/", "//evil.example/": "/", "/\\evil.example": "/", "https://evil.example/": "/",
		"/\t/evil.example": "/", "javascript:alert(1)": "/", "/%zz": "/", "///evil.example": "/",
	} {
		if got := ownPath(next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}

// Eight wrong passwords in a second are enough; then not even the right one is looked at, until the
// second is over. Who is in stays in.
func TestGuessing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newSecrets(Config{Password: "right"})
		for range maxWrong {
			if p := problemOf(x.try("wrong")); p.Status != 401 {
				t.Fatalf("a wrong password is answered %d", p.Status)
			}
		}
		if err := x.try("right"); err == nil || problemOf(err).Status != 429 {
			t.Errorf("a ninth try: %v", err)
		}
		if !x.valid(x.sign(time.Now().Add(time.Hour)), time.Now()) {
			t.Error("a session does not hold")
		}
		time.Sleep(wrongPause)
		synctest.Wait()
		if err := x.try("right"); err != nil {
			t.Errorf("a second later: %v", err)
		}
	})
}

func TestHeaders(t *testing.T) {
	s := newSite(t, nil)
	for _, target := range []string{"/api/feeds", "/login", "/nothing", "/openapi.json"} {
		h := s.call("GET", target, "").Header()
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'", "X-Content-Type-Options": "nosniff",
			"Referrer-Policy": "no-referrer", "Cache-Control": "no-",
		} {
			if got := h.Get(name); !strings.Contains(got, want) {
				t.Errorf("%s: %s is %q, want %q", target, name, got, want)
			}
		}
		if strings.Contains(h.Get("Content-Security-Policy"), "unsafe") {
			t.Errorf("%s: inline scripts may run", target)
		}
	}
	if got := s.want(200, "GET", "/api/feeds", "", "Origin: https://evil.example").Header().Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("another site may read: %q", got)
	}
}

func TestZipped(t *testing.T) {
	s := newSite(t, nil)
	for i := range 20 {
		s.add("https://example.org/feed" + strings.Repeat("x", i))
	}
	a := s.plainAnswer(request("GET", "/api/feeds", "", "Accept-Encoding: gzip"))
	b := s.plainAnswer(request("GET", "/api/feeds", ""))
	if a.Header().Get("Content-Encoding") != "gzip" || a.Body.Len()*3 > b.Body.Len() {
		t.Errorf("%q, %d bytes of %d", a.Header().Get("Content-Encoding"), a.Body.Len(), b.Body.Len())
	}
	if b.Header().Get("Content-Encoding") != "" {
		t.Error("zipped for one who did not ask")
	}
}

func basic(name, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(name + ":" + password))
}
