package freshet

import (
	"net/url"
	"regexp"
	"strings"
)

// AccountURL returns the profile address of the X account that raw names, by which it is a source (E4):
// a handle with or without "@", or the address of a profile on X, Twitter or a Nitter mirror. It returns ""
// for what names none.
func AccountURL(raw string) string {
	raw = strings.TrimSpace(raw)
	if handle := strings.TrimPrefix(raw, "@"); isHandle(handle) {
		return profile + handle
	}
	if !strings.Contains(raw, "://") {
		raw = "https://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || !onX(u.Hostname()) && !OnNitter(u.Hostname()) {
		return ""
	}
	handle, rest, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	handle = strings.TrimPrefix(handle, "@")
	if rest != "" && rest != "rss" && rest != "with_replies" && rest != "media" || !isHandle(handle) {
		return ""
	}
	return profile + handle
}

// Handle returns the name of the account whose profile address AccountURL gave.
func Handle(accountURL string) string { return strings.TrimPrefix(accountURL, profile) }

// NamesAccount says whether raw can mean nothing but an X account: "@name", or a profile on X or Twitter,
// neither of which has feeds.
func NamesAccount(raw string) bool {
	raw = strings.TrimSpace(raw)
	if AccountURL(raw) == "" {
		return false
	}
	if strings.HasPrefix(raw, "@") {
		return true
	}
	_, rest, schemed := strings.Cut(raw, "://")
	if !schemed {
		rest = raw
	}
	host, _, _ := strings.Cut(rest, "/")
	return onX(host)
}

const (
	profile = "https://x.com/"
	status  = "https://x.com/i/status/"
)

// StatusURL is the address under which all copies of a post on X are one article (D2): whatever mirror
// tells of it, whatever its author is called now.
func StatusURL(id string) string { return status + id }

var (
	handles  = regexp.MustCompile(`^[A-Za-z0-9_]{1,15}$`)
	statuses = regexp.MustCompile(`^/(?:[A-Za-z0-9_]{1,15}|i/web)/status(?:es)?/([0-9]{1,20})(?:/.*)?$`)
)

// notHandles are the pages of X itself.
var notHandles = map[string]bool{
	"home": true, "explore": true, "search": true, "settings": true, "notifications": true, "messages": true,
	"i": true, "intent": true, "share": true, "hashtag": true, "login": true, "signup": true, "logout": true,
	"tos": true, "privacy": true, "about": true, "compose": true, "jobs": true, "download": true,
}

func isHandle(s string) bool { return handles.MatchString(s) && !notHandles[strings.ToLower(s)] }

// onX says whether a host is X, under either of its names.
func onX(host string) bool {
	switch strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(host), "www."), "mobile.") {
	case "x.com", "twitter.com":
		return true
	}
	return false
}

// OnNitter says whether a host shows posts of X under X's own paths: a Nitter mirror by its name, or one
// that is known.
func OnNitter(host string) bool {
	host = strings.TrimPrefix(strings.ToLower(host), "www.")
	switch host {
	case "xcancel.com", "rss.xcancel.com", "lightbrd.com", "twiiit.com", "fxtwitter.com", "vxtwitter.com", "fixupx.com", "fixvx.com":
		return true
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "nitter" || strings.HasPrefix(label, "nitter-") || strings.HasSuffix(label, "-nitter") {
			return true
		}
	}
	return false
}

// statusID returns the number of the post on X that an address leads to, "" when it leads elsewhere.
func statusID(u *url.URL) string {
	if !strings.Contains(u.Path, "/status") {
		return ""
	}
	m := statuses.FindStringSubmatch(u.Path)
	if m == nil || !onX(u.Hostname()) && !OnNitter(u.Hostname()) {
		return ""
	}
	return m[1]
}

// identityOf is a post's guid. Nitter, RSSHub and X each give the same post a guid of their own: of those
// that name a post on X the canonical address is left.
func identityOf(guid, link string) string {
	if id, ok := strings.CutPrefix(link, status); ok && id == guid {
		return link
	}
	if strings.Contains(guid, "/status") {
		if u := CanonicalURL(guid); strings.HasPrefix(u, status) {
			return u
		}
	}
	return guid
}

// HostGroup is the group in which a source is polled (S6): the host of its address; for an X account all
// accounts that are read with the same owner's token, because X counts requests by token.
func HostGroup(t Type, address, owner string) string {
	switch {
	case t != Twitter:
		return HostOf(address)
	case owner == "":
		return xHost
	default:
		return owner + "@" + xHost
	}
}

const xHost = "api.x.com"
