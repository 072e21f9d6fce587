package freshet

import (
	"net/url"
	"path"
	"strings"
)

// tracking lists the query parameters that say where a reader came from and not what is read
// (D2). Those that begin with utm_ are dropped as well.
var tracking = map[string]bool{
	"fbclid": true, "gclid": true, "gclsrc": true, "dclid": true, "gbraid": true, "wbraid": true,
	"msclkid": true, "yclid": true, "twclid": true, "ttclid": true, "igshid": true, "igsh": true,
	"mc_cid": true, "mc_eid": true, "mkt_tok": true, "_hsenc": true, "_hsmi": true, "__hstc": true,
	"__hssc": true, "__hsfp": true, "hsctatracking": true, "oly_anon_id": true, "oly_enc_id": true,
	"vero_id": true, "vero_conv": true, "wickedid": true, "ml_subscriber": true,
	"ml_subscriber_hash": true, "s_cid": true, "rb_clickid": true, "_openstat": true, "at_medium": true,
	"at_campaign": true,
}

// CanonicalURL returns the form of an address under which two posts are the same article (D2):
// scheme and host in lower case, no default port, no fragment, no tracking parameters, the rest in
// order; for a post on X, StatusURL. It returns "" for what is no http or https address.
func CanonicalURL(raw string) string {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Host == "" {
		return ""
	}
	u.Scheme = strings.ToLower(u.Scheme)
	if u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	if u.Host = canonicalHost(u); u.Host == "" {
		return ""
	}
	if id := statusID(u); id != "" {
		return StatusURL(id)
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	u.RawQuery = withoutTracking(u.RawQuery)
	u.ForceQuery = false
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}

// canonicalHost is the host in lower case without the port that its scheme implies.
func canonicalHost(u *url.URL) string {
	host := strings.TrimSuffix(strings.ToLower(u.Host), ":")
	if u.Scheme == "http" {
		return strings.TrimSuffix(host, ":80")
	}
	return strings.TrimSuffix(host, ":443")
}

func withoutTracking(query string) string {
	if query == "" {
		return ""
	}
	kept := ""
	for pair := range strings.SplitSeq(query, "&") {
		pair = strings.TrimSpace(pair)
		name, _, _ := strings.Cut(pair, "=")
		name = strings.ToLower(name)
		if pair == "" || tracking[name] || strings.HasPrefix(name, "utm_") {
			continue
		}
		if kept != "" {
			kept += "&"
		}
		kept += pair
	}
	return kept
}

// NormalizedURL is the form under which two addresses are one source: canonical, but with its
// query whole, and without regard to http or https, "www." and a slash at the end, which never
// make another feed in practice; nor does the case of an X account's name. It returns the address itself when it is none of http's.
func NormalizedURL(raw string) string {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Host == "" {
		return strings.TrimSpace(raw)
	}
	u.Scheme = strings.ToLower(u.Scheme)
	host := strings.TrimPrefix(canonicalHost(u), "www.")
	p := u.EscapedPath()
	if len(p) > 1 {
		p = strings.TrimSuffix(p, "/")
	}
	if p == "" {
		p = "/"
	}
	if onX(host) && u.RawQuery == "" && isHandle(p[1:]) {
		return "x.com" + strings.ToLower(p)
	}
	user := ""
	if u.User != nil {
		user = u.User.String() + "@"
	}
	if u.RawQuery != "" {
		p += "?" + u.RawQuery
	}
	return user + host + p
}

// HostOf returns the host group of an address (S6): its host in lower case without port, or "" for
// the default group.
func HostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// WebLink returns raw when it is an address that a page may link to (P2), else "".
func WebLink(raw string) string {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Host == "" {
		return ""
	}
	if s := strings.ToLower(u.Scheme); s != "http" && s != "https" {
		return ""
	}
	return u.String()
}

// displayURL is an address as people read it: without scheme, "www." and a slash at the end.
func displayURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return raw
	}
	return strings.TrimPrefix(u.Host, "www.") + strings.TrimSuffix(path.Clean("/"+u.Path), "/")
}
