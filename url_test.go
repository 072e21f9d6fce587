package freshet

import (
	"strings"
	"testing"
)

// D2 and river seed 7.1.
func TestCanonicalURL(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"scheme and host in lower case", "HTTPS://WWW.Example.COM/Path", "https://www.example.com/Path"},
		{"default port of http", "http://example.com:80/a", "http://example.com/a"},
		{"default port of https", "https://example.com:443/a", "https://example.com/a"},
		{"another port stays", "https://example.com:80/a", "https://example.com:80/a"},
		{"an empty port", "https://example.com:/a", "https://example.com/a"},
		{"IPv6", "https://[2001:DB8::1]:443/a", "https://[2001:db8::1]/a"},
		{"fragment", "https://example.com/a#part", "https://example.com/a"},
		{"utm_*", "https://example.com/a?utm_source=x&UTM_Medium=y&utm_=z", "https://example.com/a"},
		{"fbclid and gclid", "https://example.com/a?fbclid=1&id=2&gclid=3", "https://example.com/a?id=2"},
		{"the rest in order", "https://example.com/a?z=1&utm_id=2&a=3&a=1", "https://example.com/a?z=1&a=3&a=1"},
		{"a parameter that only begins alike", "https://example.com/a?utmost=1&fbclids=2", "https://example.com/a?utmost=1&fbclids=2"},
		{"a parameter without value", "https://example.com/a?print", "https://example.com/a?print"},
		{"values are not touched", "https://example.com/a?q=%C3%A4+b%2f&utm_a", "https://example.com/a?q=%C3%A4+b%2f"},
		{"an empty query", "https://example.com/a?", "https://example.com/a"},
		{"no path", "https://example.com", "https://example.com/"},
		{"a slash at the end stays", "https://example.com/a/", "https://example.com/a/"},
		{"userinfo", "https://user:secret@example.com/a", "https://example.com/a"},
		{"white space around", " https://example.com/a\n", "https://example.com/a"},
		{"another scheme", "ftp://example.com/a", ""},
		{"javascript", "javascript:alert(1)", ""},
		{"relative", "/a/b", ""},
		{"no host", "http:///a", ""},
		{"only a port", "http://:80/a", ""},
		{"a name", "example.com/a", ""},
		{"not an address", "http://exa mple.com/%zz", ""},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := CanonicalURL(tt.in); got != tt.want {
				t.Errorf("CanonicalURL(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

// A canonical form is its own canonical form, whatever the input.
func FuzzCanonicalURL(f *testing.F) {
	for _, s := range []string{"https://Example.com:443/a?utm_source=x&b=c#d", "http://[::1]:80/", "http://a?q &utm_x=1", "http://0? &0", "http://:80/", "http://a:/", "http://%41/", "https://ä.example/ö?ü"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		once := CanonicalURL(raw)
		if once == "" {
			return
		}
		if twice := CanonicalURL(once); twice != once {
			t.Errorf("CanonicalURL(%q) = %q, and of that %q", raw, once, twice)
		}
		if !strings.HasPrefix(once, "http://") && !strings.HasPrefix(once, "https://") || strings.Contains(once, "#") {
			t.Errorf("CanonicalURL(%q) = %q is no canonical address", raw, once)
		}
	})
}

// Two spellings of an address are one source (river seed: duplicates by normalized URL).
func TestNormalizedURL(t *testing.T) {
	same := [][]string{
		{"https://example.com/feed", "http://example.com/feed", "HTTPS://WWW.EXAMPLE.COM/feed/", "https://example.com:443/feed", "https://example.com/feed#top"},
		{"https://example.com", "https://example.com/", "http://www.example.com"},
		{"https://example.com/feed?utm_source=a", "http://example.com/feed?utm_source=a"},
	}
	for _, group := range same {
		for _, u := range group[1:] {
			if a, b := NormalizedURL(group[0]), NormalizedURL(u); a != b {
				t.Errorf("%q and %q are two sources: %q, %q", group[0], u, a, b)
			}
		}
	}
	distinct := []string{
		"https://example.com/feed", "https://example.com/Feed", "https://example.com/feed?a=1", "https://example.com/feed?utm_source=a",
		"https://example.com:8443/feed", "https://feeds.example.com/feed", "https://user@example.com/feed", "@name",
	}
	seen := map[string]string{}
	for _, u := range distinct {
		n := NormalizedURL(u)
		if other, ok := seen[n]; ok {
			t.Errorf("%q and %q are one source: %q", u, other, n)
		}
		seen[n] = u
	}
}

// S6: the host group of an address.
func TestHostOf(t *testing.T) {
	want := map[string]string{
		"https://Example.com:8080/feed": "example.com",
		"http://[::1]:80/feed":          "::1",
		"https://user:pass@example.com": "example.com",
		"@name":                         "",
		"mailto:a@example.com":          "",
		"http://%zz/":                   "",
	}
	for in, w := range want {
		if got := HostOf(in); got != w {
			t.Errorf("HostOf(%q) = %q, want %q", in, got, w)
		}
	}
}

// P2: a page links to http and https only.
func TestWebLink(t *testing.T) {
	want := map[string]string{
		"https://example.com/a#b":   "https://example.com/a#b",
		" HTTP://example.com/a":     "http://example.com/a",
		"javascript:alert(1)":       "",
		"java\nscript:alert(1)":     "",
		"data:text/html,x":          "",
		"//example.com/a":           "",
		"/a":                        "",
		"":                          "",
		"https:alert(1)":            "",
		"vbscript://example.com/%0": "",
	}
	for in, w := range want {
		if got := WebLink(in); got != w {
			t.Errorf("WebLink(%q) = %q, want %q", in, got, w)
		}
	}
}
