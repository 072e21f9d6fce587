package fetch

import (
	"net/url"
	"strings"
	"testing"
)

func TestCheckURL(t *testing.T) {
	for raw, want := range map[string]string{
		"https://example.org/feed":               "https://example.org/feed",
		"  https://example.org/feed \n":          "https://example.org/feed",
		"<https://example.org/feed>":             "https://example.org/feed",
		"HTTPS://EXAMPLE.org/Feed":               "https://example.org/Feed",
		"https://example.org":                    "https://example.org/",
		"https://example.org:443/a":              "https://example.org/a",
		"http://example.org:80/a":                "http://example.org/a",
		"http://example.org:443/a":               "http://example.org:443/a",
		"https://example.org:8443/a":             "https://example.org:8443/a",
		"https://example.org/a#top":              "https://example.org/a",
		"https://example.org/?q=a b&c=\"ü\"":     "https://example.org/?q=a%20b&c=%22%C3%BC%22",
		"https://example.org/a b":                "https://example.org/a%20b",
		"https://example.org/?path=a\\b":         "https://example.org/?path=a\\b",
		"https://user:pass@example.org/":         "https://user:pass@example.org/",
		"example.org/feed":                       "https://example.org/feed",
		"example.org":                            "https://example.org/",
		"example.org:8080/feed":                  "https://example.org:8080/feed",
		"localhost:8080/feed":                    "https://localhost:8080/feed",
		"localhost/feed":                         "https://localhost/feed",
		"127.0.0.1:8080":                         "https://127.0.0.1:8080/",
		"[::1]:8080/x":                           "https://[::1]:8080/x",
		"//example.org/feed":                     "https://example.org/feed",
		"example.org/?u=https://other.example/":  "https://example.org/?u=https://other.example/",
		"feed://example.org/rss":                 "http://example.org/rss",
		"feed:https://example.org/rss":           "https://example.org/rss",
		"FEED:http://example.org/rss":            "http://example.org/rss",
		"feed:example.org/rss":                   "https://example.org/rss",
		"http://nas/feed":                        "http://nas/feed",
		"https://bücher.example/":                "https://xn--bcher-kva.example/",
		"https://BÜCHER.example/ü":               "https://xn--bcher-kva.example/%C3%BC",
		"https://faß.example/":                   "https://xn--fa-hia.example/",
		"https://例え.テスト/":                        "https://xn--r8jz45g.xn--zckzah/",
		"https://my_blog.example.org/":           "https://my_blog.example.org/",
		"http://１２７.0.0.1/":                      "http://127.0.0.1/",
		"http://[2001:DB8::1]/":                  "http://[2001:db8::1]/",
		"http://[::ffff:127.0.0.1]/":             "http://[::ffff:127.0.0.1]/",
		"https://example.org/%7Euser/?a=1&a=2&b": "https://example.org/%7Euser/?a=1&a=2&b",
	} {
		u, warning, err := CheckURL(raw)
		if err != nil {
			t.Errorf("%q: %v", raw, err)
			continue
		}
		if u.String() != want {
			t.Errorf("%q gives %s, want %s", raw, u, want)
		}
		if plain := u.Scheme == "http"; plain != strings.Contains(warning, "plain http") {
			t.Errorf("%q: warning %q", raw, warning)
		}
	}
}

func TestCheckURLRefuses(t *testing.T) {
	for raw, want := range map[string]string{
		"":                                 "empty",
		"   ":                              "empty",
		"hello":                            "not an address",
		"hello world":                      "not an address",
		"ftp://example.org/":               "only http and https",
		"file:///etc/passwd":               "only http and https",
		"javascript:alert(1)":              "only http and https",
		"mailto:me@example.org":            "only http and https",
		"gopher://example.org/":            "only http and https",
		"feed:javascript:alert(1)":         "only http and https",
		"https://":                         "no host",
		"https:///feed":                    "no host",
		"https:example.org":                "no host",
		"https://:80/":                     "no host",
		"https://user@/":                   "no host",
		"https://example.org:0/":           "port",
		"https://example.org:70000/":       "port",
		"https://example.org:http/":        "not an address",
		"https://exa mple.org/":            "not an address",
		"https://exa%20mple.org/":          "not a",
		"https://example.org\\@evil.test/": "backslash",
		"https://example.org/a\\b":         "backslash",
		"https://example.org/\x00":         "control",
		"https://example.org/\r\nHost: x":  "control",
		"https://example.org/\u0085x":      "control",
		"https://example.org/\xff":         "UTF-8",
		"https://example.org/%zz":          "%",
		"https://exam<ple.org/":            "not a",
		"https://example.org/" + strings.Repeat("a", maxURL): "longer than",
		"https://" + strings.Repeat("a", 300) + ".org/":      "not a host name",
		"https://./": "not a host name",
	} {
		u, _, err := CheckURL(raw)
		if err == nil {
			t.Errorf("%q gives %s, want it refused", raw, u)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", raw, err, want)
		}
	}
}

// S9: a sentence about an address does not show its password.
func TestCheckURLErrorHidesPassword(t *testing.T) {
	for _, raw := range []string{"https://user:hunter2@exa mple.org/", "https://user:hunter2@example.org:x/", "https://u:hunter2@h/%zz"} {
		if _, _, err := CheckURL(raw); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, s := range []string{"https://u:p@example.org:8443/a?b=c#d", "feed://x.y", "bücher.example", "http://[::1%25lo]/", "a:b:c", "//"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, _, err := CheckURL(raw)
		if err != nil {
			return
		}
		if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Fragment != "" {
			t.Fatalf("%q gives %s", raw, u)
		}
		line := u.RequestURI()
		for _, c := range []byte(u.Host + line) {
			if c <= ' ' || c >= 0x7f {
				t.Fatalf("%q gives the byte %#x in %s%s", raw, c, u.Host, line)
			}
		}
		again, _, err := CheckURL(u.String())
		if err != nil && len(u.String()) <= maxURL {
			t.Fatalf("%q gives %s, which is refused: %v", raw, u, err)
		}
		if err == nil && again.String() != u.String() {
			t.Fatalf("%q gives %s and that gives %s", raw, u, again)
		}
	})
}

// S9
func TestRedact(t *testing.T) {
	for raw, want := range map[string]string{
		"https://example.org/feed":                         "https://example.org/feed",
		"https://example.org/feed?page=2&sort=new":         "https://example.org/feed?page=2&sort=new",
		"https://user:pass@example.org/feed":               "https://example.org/feed",
		"https://user@example.org/":                        "https://example.org/",
		"https://user:p@ss@example.org/":                   "https://example.org/",
		"https://token@example.org?x=1":                    "https://example.org?x=1",
		"https://example.org/?token=abc&x=1":               "https://example.org/?token=REDACTED&x=1",
		"https://example.org/?x=1&API_KEY=abc#frag":        "https://example.org/?x=1&API_KEY=REDACTED",
		"https://example.org/?access_token=a;sig=b&y":      "https://example.org/?access_token=REDACTED;sig=REDACTED&y",
		"https://example.org/?to%6Ben=abc":                 "https://example.org/?to%6Ben=REDACTED",
		"https://example.org/?X-Amz-Signature=ab&X-Amz=1":  "https://example.org/?X-Amz-Signature=REDACTED&X-Amz=1",
		"https://example.org/?key=a&secret=b&password=c":   "https://example.org/?key=REDACTED&secret=REDACTED&password=REDACTED",
		"https://example.org/?auth=a&feed_token=b":         "https://example.org/?auth=REDACTED&feed_token=REDACTED",
		"https://example.org/?author=ann&authors=b&keys=3": "https://example.org/?author=ann&authors=b&keys=3",
		"https://example.org/?token=":                      "https://example.org/?token=",
		"https://example.org/?token=a=b":                   "https://example.org/?token=REDACTED",
		"https://example.org/#access_token=abc":            "https://example.org/",
		"https://example.org/@name/feed":                   "https://example.org/@name/feed",
		"//user:pass@example.org/":                         "//example.org/",
		"user:pass@example.org/":                           "example.org/",
		"https://user:pass\\@example.org/":                 "https://example.org/",
		"https:\\\\user:pass@example.org/":                 "https:\\\\example.org/",
		"http://user:pa ss@exa mple.org:x/?token=%zz":      "http://exa mple.org:x/?token=REDACTED",
		"example.org:8080/?sid=1":                          "example.org:8080/?sid=REDACTED",
		"@name":                                            "@name",
		"":                                                 "",
	} {
		if got := Redact(raw); got != want {
			t.Errorf("%q gives %q, want %q", raw, got, want)
		}
	}
}

// Whatever a URL holds as password or secret value, the redacted one does not hold it.
func FuzzRedact(f *testing.F) {
	f.Add("user", "hunter2", "/a/b", "x=1")
	f.Add("a:b", "p@/?#s", "", "")
	f.Fuzz(func(t *testing.T, user, password, path, query string) {
		const mark = "S3CR3T"
		u := url.URL{Scheme: "https", User: url.UserPassword(user, mark+password), Host: "example.org", Path: "/" + path, RawQuery: query}
		if strings.Contains(user+path+query, mark) {
			return
		}
		if got := Redact(u.String()); strings.Contains(got, mark) {
			t.Fatalf("%s gives %s", u.String(), got)
		}
		if got := Redact("https://example.org/?" + query + "&token=" + mark); strings.Contains(got, mark) && !strings.Contains(query, "#") {
			t.Fatalf("query %q gives %s", query, got)
		}
		Redact(user + password + path + query)
	})
}
