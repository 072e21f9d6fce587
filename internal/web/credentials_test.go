package web

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"freshet"
	"freshet/internal/vault"
)

var credentialCalls = []string{"PUT /api/credentials/{provider}", "GET /api/credentials/{provider}", "DELETE /api/credentials/{provider}"}

const secretToken = "AAAA-secret-bearer-token-9"

// newKeeper is a site that keeps tokens and says what it logs.
func newKeeper(t *testing.T) (*site, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	s := newSite(t, func(c *Config) {
		v, err := vault.Open(context.Background(), c.Store, "", filepath.Join(t.TempDir(), "freshet.key"))
		if err != nil {
			t.Fatal(err)
		}
		c.Vault, c.Types = v, []freshet.Type{freshet.RSS, freshet.Twitter}
		c.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	return s, log
}

// S7: a token goes in and never comes out; owners are kept apart.
func TestCredentials(t *testing.T) {
	s, log := newKeeper(t)
	s.want(404, "GET", "/api/credentials/x", "")
	body := `{"token":"` + secretToken + `"}`
	set := s.want(200, "PUT", "/api/credentials/x", body)
	if set.text("provider") != "x" || set.at("owner") != nil || set.number("reads_this_month") != 0 {
		t.Errorf("setting answers %s", set.Body)
	}
	if s.kicks == 0 {
		t.Error("nobody was told that accounts can be read now")
	}
	s.want(200, "PUT", "/api/credentials/twitter?owner=alice", `{"token":"Bearer alices-own-token"}`)
	got := s.want(200, "GET", "/api/credentials/twitter", "")
	for _, a := range []reply{set, got, s.want(200, "GET", "/api/credentials/x?owner=alice", "")} {
		if strings.Contains(a.Body.String(), "secret") || strings.Contains(a.Body.String(), "alices-own") {
			t.Errorf("a token is shown: %s", a.Body)
		}
	}
	for owner, want := range map[string]string{"": secretToken, "alice": "alices-own-token"} {
		if token, err := s.Vault.Token(context.Background(), owner, freshet.X); err != nil || token != want {
			t.Errorf("the token of %q is %q, %v, want %q", owner, token, err, want)
		}
	}
	s.want(204, "DELETE", "/api/credentials/x", "")
	s.want(404, "DELETE", "/api/credentials/x", "")
	s.want(404, "GET", "/api/credentials/x", "")
	s.want(200, "GET", "/api/credentials/x?owner=alice", "")
	if strings.Contains(log.String(), "secret") || strings.Contains(log.String(), "alices-own") {
		t.Errorf("a token is in the log:\n%s", log)
	}
}

// What is wrong with a token is said without it.
func TestBadCredentials(t *testing.T) {
	s, log := newKeeper(t)
	s.want(200, "PUT", "/api/credentials/x", `{"token":"kept"}`)
	for name, test := range map[string]struct {
		target, body string
		status       int
		location     string
	}{
		"unknown provider":    {"/api/credentials/mastodon", `{"token":"` + secretToken + `"}`, 422, "path.provider"},
		"no provider":         {"/api/credentials/", `{"token":"` + secretToken + `"}`, 404, ""},
		"no provider, bare":   {"/api/credentials", `{"token":"` + secretToken + `"}`, 404, ""},
		"blank provider":      {"/api/credentials/%20", `{"token":"` + secretToken + `"}`, 422, "path.provider"},
		"no token":            {"/api/credentials/x", `{}`, 422, "body.token"},
		"empty token":         {"/api/credentials/x", `{"token":" "}`, 422, "body.token"},
		"null token":          {"/api/credentials/x", `{"token":null}`, 422, "body.token"},
		"two words":           {"/api/credentials/x", `{"token":"` + secretToken + ` and more"}`, 422, "body.token"},
		"line break":          {"/api/credentials/x", `{"token":"` + secretToken + `\r\nX-Other: 1"}`, 422, "body.token"},
		"long token":          {"/api/credentials/x", `{"token":"` + strings.Repeat(secretToken, 200) + `"}`, 422, "body.token"},
		"a list":              {"/api/credentials/x", `{"token":["` + secretToken + `"]}`, 422, "body.token"},
		"a number":            {"/api/credentials/x", `{"token":4242424242}`, 422, "body.token"},
		"under another name":  {"/api/credentials/x", `{"token":"a","key":"` + secretToken + `"}`, 422, "body.key"},
		"broken JSON":         {"/api/credentials/x", `{"token":"` + secretToken, 400, ""},
		"no JSON":             {"/api/credentials/x", secretToken, 400, ""},
		"the token in a list": {"/api/credentials/x", `["` + secretToken + `"]`, 422, ""},
		"the token itself":    {"/api/credentials/x", `"` + secretToken + `"`, 422, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.call("PUT", test.target, test.body)
			if a.Code != test.status || test.location != "" && a.text("errors", 0, "location") != test.location {
				t.Errorf("answers %d %s, want %d at %q", a.Code, a.Body, test.status, test.location)
			}
			if strings.Contains(a.Body.String(), "secret-bearer") || strings.Contains(a.Body.String(), "4242424242") {
				t.Errorf("the token is told: %s", a.Body)
			}
		})
	}
	if token, err := s.Vault.Token(context.Background(), "", freshet.X); err != nil || token != "kept" {
		t.Errorf("after refusals the token is %q, %v", token, err)
	}
	if strings.Contains(log.String(), "secret-bearer") {
		t.Errorf("a token is in the log:\n%s", log)
	}
}

// A key that is not the one that other tokens are sealed with changes nothing, and says so.
func TestCredentialUnderAnotherKey(t *testing.T) {
	s, _ := newKeeper(t)
	other := freshet.Credential{Owner: "alice", Provider: freshet.X, KeyID: "another", Sealed: []byte("sealed"), UpdatedAt: time.Now()}
	if err := s.Store.SetCredential(context.Background(), other); err != nil {
		t.Fatal(err)
	}
	a := s.want(409, "PUT", "/api/credentials/x", `{"token":"`+secretToken+`"}`)
	if a.text("type") != "/problems/other-key" || strings.Contains(a.Body.String(), secretToken) {
		t.Errorf("refused with %s", a.Body)
	}
	s.want(404, "GET", "/api/credentials/x", "")
	s.want(200, "GET", "/api/credentials/x?owner=alice", "")
}

// An account that went out with a list of feeds comes in as one.
func TestAccountInAList(t *testing.T) {
	s, _ := newKeeper(t)
	s.want(201, "POST", "/api/feeds", `{"url":"@nasa"}`)
	list := s.want(200, "GET", "/api/opml", "").Body.String()
	other, _ := newKeeper(t)
	other.want(200, "POST", "/api/opml", list, "Content-Type: text/x-opml")
	if feed := other.want(200, "GET", "/api/feeds", ""); feed.text("feeds", 0, "type") != "twitter" || feed.text("feeds", 0, "url") != "https://x.com/nasa" {
		t.Errorf("it came in as %s", feed.Body)
	}
}

// E4: an account is added by handle or profile, of whatever spelling, once; what is no handle is refused.
func TestAddAccount(t *testing.T) {
	s, _ := newKeeper(t)
	a := s.want(201, "POST", "/api/feeds", `{"type":"twitter","url":"@NASA"}`)
	if a.text("url") != "https://x.com/NASA" || a.text("type") != "twitter" || a.text("normalized_url") != "x.com/nasa" {
		t.Errorf("added as %s", a.Body)
	}
	for _, same := range []string{`{"type":"twitter","url":"nasa"}`, `{"url":"https://twitter.com/Nasa"}`, `{"url":"@nasa"}`, `{"url":"x.com/NASA/"}`} {
		if d := s.want(409, "POST", "/api/feeds", same); d.text("feed", "id") != a.text("id") {
			t.Errorf("%s is a duplicate of %s", same, d.Body)
		}
	}
	if b := s.want(201, "POST", "/api/feeds", `{"url":"https://mobile.twitter.com/esa"}`); b.text("type") != "twitter" {
		t.Errorf("a profile is added as %s", b.Body)
	}
	for _, bad := range []string{"@", "not a handle", "@much_too_long_for_x", "https://x.com/home", "https://example.org/nasa", "https://x.com/nasa/status/1"} {
		r := s.want(422, "POST", "/api/feeds", `{"type":"twitter","url":"`+bad+`"}`)
		if r.text("errors", 0, "location") != "body.url" || !strings.Contains(r.text("detail"), "X account") {
			t.Errorf("%q is refused with %s", bad, r.Body)
		}
	}
}
