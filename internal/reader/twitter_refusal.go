package reader

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"freshet"
	"freshet/internal/fetch"
)

// xProblem is how X says what is wrong: a problem document, an entry of errors, or an old error with code and message.
type xProblem struct {
	Title   string     `json:"title"`
	Detail  string     `json:"detail"`
	Type    string     `json:"type"`
	Message string     `json:"message"`
	Errors  []xProblem `json:"errors"`
}

// is says whether the problem's type ends in the name; its host has changed and may again.
func (p xProblem) is(name string) bool { return strings.HasSuffix(p.Type, "/problems/"+name) }

// says is the problem in X's words, without the dot at the end.
func (p xProblem) says() string {
	text := cmp.Or(p.Detail, p.Message, p.Title, "no reason was given")
	return strings.TrimSuffix(firstRunes(folded(text), 200), ".")
}

// accountFailure is the failure of a 200 that has no account in it.
func accountFailure(handle string, problems []xProblem) *freshet.Failure {
	f := &freshet.Failure{Class: freshet.Permanent, Code: "no_account", Status: http.StatusOK,
		Sentence: fmt.Sprintf("X has no account @%s that can be read.", handle)}
	if len(problems) == 0 {
		return f
	}
	f.Sentence = fmt.Sprintf("X does not give @%s: %s.", handle, problems[0].says())
	switch p := problems[0]; {
	case p.is("resource-not-found"):
	case p.is("not-authorized-for-resource"):
		f.Code = "protected"
	default:
		f.Class, f.Code = freshet.Transient, "refused_account"
	}
	return f
}

// refused makes what the token is to blame for a failure of its own; others stay as they are, with X's words.
func (a *account) refused(err error, resp *fetch.Response) *freshet.Failure {
	f := failureOf(err)
	if resp == nil {
		return f
	}
	var p xProblem
	if json.Unmarshal(resp.Body, &p) == nil && p.Title+p.Detail == "" && len(p.Errors) > 0 {
		p = p.Errors[0]
	}
	said := strings.ReplaceAll(p.says(), a.token, "...")
	now, refused := time.Now(), *f
	switch {
	case resp.Status == http.StatusUnauthorized:
		refused.Code, refused.Paused = freshet.NeedsCredential, true
		refused.Sentence = fmt.Sprintf("X does not accept the token (401: %s). It is asked again when another one is set: %s.", said, a.remedy())
	case resp.Status == http.StatusForbidden:
		refused.Code, refused.Paused = freshet.NeedsCredential, true
		refused.Sentence = fmt.Sprintf("X does not let this token read posts (403: %s). It is asked again when another one is set: %s.", said, a.remedy())
	case resp.Status == http.StatusPaymentRequired || p.is("usage-capped"):
		refused.CoolHost, refused.RetryAfter = true, earlier(now.Add(24*time.Hour), freshet.NextMonth(now))
		refused.Sentence = fmt.Sprintf("What this token may read of X is used up (%d: %s).", resp.Status, said)
	case resp.Status == http.StatusTooManyRequests:
		if at := reset(resp.Header, now); !at.IsZero() {
			refused.RetryAfter = at
		}
		refused.Sentence = "X counts too many requests with this token (429)."
	case p.Title+p.Detail+p.Message != "":
		refused.Sentence = fmt.Sprintf("X refuses the request (%d: %s).", resp.Status, said)
	}
	return &refused
}

// remedy is the command that sets the token of the source's owner.
func (a *account) remedy() string {
	if a.source.Owner == "" {
		return "freshet credentials set x"
	}
	return "freshet credentials set x --owner " + a.source.Owner
}

// longestWait bounds what a rate limit may ask for: X's windows are 15 minutes, some a day.
const longestWait = 24 * time.Hour

// reset is when a rate limit ends, in Unix seconds; zero when that is not said or past.
func reset(h http.Header, now time.Time) time.Time {
	seconds, err := strconv.ParseInt(h.Get("X-Rate-Limit-Reset"), 10, 64)
	at := time.Unix(seconds, 0).UTC()
	if err != nil || !at.After(now) {
		return time.Time{}
	}
	return earlier(at, now.Add(longestWait))
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
