package fetch

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"freshet"
)

// trail is the way of one fetch through its redirects.
type trail struct {
	at        *url.URL      // where the next request goes; no userinfo, no fragment
	user      *url.Userinfo // of the first address
	trusted   bool          // still at the first host, which may have credentials
	permanent bool          // every redirect so far was permanent
	seen      []string
	most      int
	warnings  []string
}

func newTrail(raw string, most int) (*trail, error) {
	u, err := parseURL(raw)
	if err != nil {
		return nil, err
	}
	t := &trail{user: u.User, trusted: true, permanent: true, most: most}
	u.User = nil
	t.at = u
	return t, nil
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// follow moves the trail to where an answer redirects it, or says why it ends here.
func (t *trail) follow(answer *http.Response) *freshet.Failure {
	host := t.at.Hostname()
	location := answer.Header.Get("Location")
	if location == "" {
		return redirectFailure(answer.StatusCode, "%s redirects (%d) without saying where to.", host, answer.StatusCode)
	}
	next, err := t.resolve(location)
	if err != nil {
		return redirectFailure(answer.StatusCode, "%s redirects to an address that cannot be fetched: %v.", host, err)
	}
	t.seen = append(t.seen, t.at.String())
	if slices.Contains(t.seen, next.String()) {
		return redirectFailure(answer.StatusCode, "%s redirects in a circle.", host)
	}
	if len(t.seen) > t.most {
		return redirectFailure(answer.StatusCode, "%s redirects more than %d times.", host, t.most)
	}
	if t.at.Scheme == "https" && next.Scheme == "http" {
		t.warnings = append(t.warnings, fmt.Sprintf("%s redirects from https to plain http on %s.", host, next.Hostname()))
	}
	t.permanent = t.permanent && (answer.StatusCode == http.StatusMovedPermanently || answer.StatusCode == http.StatusPermanentRedirect)
	t.trusted = t.trusted && mayTrust(t.at, next)
	t.at = next
	return nil
}

// resolve reads a Location. Userinfo in it is dropped: credentials come from the user, not from servers.
func (t *trail) resolve(location string) (*url.URL, error) {
	if err := checkText(strings.ToValidUTF8(location, "?")); err != nil {
		return nil, err
	}
	ref, err := url.Parse(location)
	if err != nil {
		return nil, fmt.Errorf("%s", parseReason(err))
	}
	next := t.at.ResolveReference(ref)
	next.User = nil
	if err := normalise(next); err != nil {
		return nil, err
	}
	return next, nil
}

// mayTrust reports whether credentials for one address may go to another: the same host, not to another
// service on it, and never from https to http.
func mayTrust(from, to *url.URL) bool {
	if from.Hostname() != to.Hostname() {
		return false
	}
	upgrade := from.Scheme == "http" && to.Scheme == "https" && from.Port() == "" && to.Port() == ""
	return upgrade || from.Scheme == to.Scheme && from.Port() == to.Port()
}

// gave reports whether validators of an address belong to where the trail is: another place may have given the same
// ones to something else, and say of it that nothing changed.
func (t *trail) gave(address string) bool {
	if address == "" {
		return len(t.seen) == 0
	}
	return t.at.String() == address
}

// movedTo is where a chain of nothing but permanent redirects led (F3). Credentials that still apply
// there stay in the address.
func (t *trail) movedTo() string {
	if len(t.seen) == 0 || !t.permanent {
		return ""
	}
	to := *t.at
	if t.trusted {
		to.User = t.user
	}
	return to.String()
}

func redirectFailure(status int, format string, args ...any) *freshet.Failure {
	return &freshet.Failure{Class: freshet.Transient, Code: "redirects", Status: status, Sentence: fmt.Sprintf(format, args...)}
}
