package fetch

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxURL bounds the length of an address in bytes.
const maxURL = 4096

// CheckURL reads an address that a person pasted and returns it in the form in which it is fetched:
// scheme and host in lower case, international names in punycode, no default port, no fragment. A
// missing scheme is https; feed: in front of an address is dropped. The warning is for an address that
// is accepted but should be known about (F5). The error is a sentence for the person.
func CheckURL(raw string) (normalised *url.URL, warning string, err error) {
	raw, err = withScheme(strings.Trim(strings.TrimSpace(raw), "<>"))
	if err != nil {
		return nil, "", err
	}
	u, err := parseURL(raw)
	if err != nil {
		return nil, "", err
	}
	if u.Scheme == "http" {
		warning = "The address uses plain http: others on the way can read and change what is fetched."
	}
	return u, warning, nil
}

// withScheme gives an address the scheme that its writer meant.
func withScheme(raw string) (string, error) {
	if raw == "" {
		return "", errors.New("the address is empty")
	}
	if rest, ok := cutPrefixFold(raw, "feed:"); ok {
		if strings.HasPrefix(rest, "//") {
			return "http:" + rest, nil
		}
		raw = rest
	}
	if strings.HasPrefix(raw, "//") {
		return "https:" + raw, nil
	}
	name, rest, found := strings.Cut(raw, ":")
	if found && isScheme(name) && (strings.HasPrefix(rest, "//") || !strings.Contains(name, ".") && !startsWithPort(rest)) {
		return raw, nil
	}
	host, _, _ := strings.Cut(raw, "/")
	if !strings.ContainsAny(host, ".:[") && host != "localhost" {
		return "", fmt.Errorf("%q is not an address; one looks like https://example.org/feed", shorten(raw))
	}
	return "https://" + raw, nil
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

func isScheme(s string) bool {
	for i, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		other := '0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'
		if !letter && (i == 0 || !other) {
			return false
		}
	}
	return s != ""
}

// startsWithPort tells localhost:8080/x from mailto:x.
func startsWithPort(rest string) bool {
	port, _, _ := strings.Cut(rest, "/")
	_, err := strconv.ParseUint(port, 10, 16)
	return err == nil
}

// parseURL reads an absolute http or https URL and normalises it.
func parseURL(raw string) (*url.URL, error) {
	if err := checkText(raw); err != nil {
		return nil, err
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%q is not an address: %s", shorten(Redact(raw)), parseReason(err))
	}
	if err := normalise(u); err != nil {
		return nil, err
	}
	return u, nil
}

// checkText refuses what two parsers may read in two ways.
func checkText(raw string) error {
	if len(raw) > maxURL {
		return fmt.Errorf("the address is longer than %d characters", maxURL)
	}
	if !utf8.ValidString(raw) {
		return errors.New("the address is not valid UTF-8")
	}
	if strings.ContainsFunc(raw, unicode.IsControl) {
		return errors.New("the address contains control characters")
	}
	beforeQuery := raw
	if i := strings.IndexAny(raw, "?#"); i >= 0 {
		beforeQuery = raw[:i]
	}
	if strings.ContainsRune(beforeQuery, '\\') {
		return errors.New("the address contains a backslash; write / instead")
	}
	return nil
}

// normalise brings a parsed URL into the form in which it is fetched.
func normalise(u *url.URL) error {
	u.Scheme = strings.ToLower(u.Scheme)
	if u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("only http and https addresses can be fetched, not %q", shorten(u.Scheme))
	}
	if u.Opaque != "" || u.Hostname() == "" {
		return errors.New("the address names no host")
	}
	host, err := asciiHost(u.Hostname())
	if err != nil {
		return err
	}
	port := u.Port()
	if port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return fmt.Errorf("%q is not a port", shorten(port))
		}
		if port == defaultPort(u.Scheme) {
			port = ""
		}
	}
	u.Host = joinHost(host, port)
	u.Fragment, u.RawFragment = "", ""
	u.RawQuery = escapeQuery(u.RawQuery)
	if u.Path == "" {
		u.Path = "/"
	}
	return nil
}

func defaultPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

func joinHost(host, port string) string {
	if port != "" {
		return net.JoinHostPort(host, port)
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// hostProfile maps names as browsers do but leaves underscores, which exist in the wild, to asciiHost.
var hostProfile = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false), idna.BidiRule())

// asciiHost returns a host in lower case ASCII (punycode) or an IP address.
func asciiHost(host string) (string, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.String(), nil
	}
	ascii, err := hostProfile.ToASCII(host)
	if err != nil || !utf8.ValidString(host) || len(ascii) > 253 || strings.Trim(ascii, ".") == "" {
		return "", fmt.Errorf("%q is not a host name", shorten(host))
	}
	if again, err := hostProfile.ToASCII(ascii); err != nil || again != ascii {
		return "", fmt.Errorf("%q is not a host name", shorten(host))
	}
	for _, c := range []byte(ascii) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_' {
			return "", fmt.Errorf("%q is not a host name", shorten(host))
		}
	}
	return ascii, nil
}

// escapeQuery escapes the bytes that may not stand in a request line and that url.Parse lets pass.
func escapeQuery(q string) string {
	const hex = "0123456789ABCDEF"
	mustEscape := func(c byte) bool { return c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' }
	clean := true
	for i := range len(q) {
		clean = clean && !mustEscape(q[i])
	}
	if clean {
		return q
	}
	out := make([]byte, 0, len(q)+16)
	for i := range len(q) {
		if c := q[i]; mustEscape(c) {
			out = append(out, '%', hex[c>>4], hex[c&15])
		} else {
			out = append(out, c)
		}
	}
	return string(out)
}

// parseReason takes the address, which may hold a password, out of url.Parse's error.
func parseReason(err error) string {
	var u *url.Error
	if !errors.As(err, &u) {
		return "it cannot be read"
	}
	switch u.Err.(type) {
	case url.EscapeError:
		return "it has a % that starts no escape"
	case url.InvalidHostError:
		return "its host has characters that are not allowed"
	}
	return "it cannot be read"
}

// shorten keeps sentences readable when what they quote is not.
func shorten(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "..."
}
