package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"freshet"
	"freshet/internal/discover"
	"freshet/internal/store"
)

const xToken = "AAAA-very-secret-token"

// freshetFed runs a command line with something on its standard input.
func freshetFed(t *testing.T, in string, args ...string) ran {
	t.Helper()
	var out, talk bytes.Buffer
	code := run(t.Context(), args, strings.NewReader(in), &out, &talk)
	return ran{code, out.String(), talk.String()}
}

// xAPI answers the two calls of the X API for @nasa, who posted once, to whoever has the token.
func xAPI(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer "+xToken:
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"title":"Unauthorized","detail":"Unauthorized","type":"about:blank","status":401}`)
		case r.URL.Path == "/2/users/by/username/nasa":
			fmt.Fprint(w, `{"data":{"id":"11348282","name":"NASA","username":"NASA"}}`)
		case r.URL.Path == "/2/users/11348282/tweets" && r.URL.Query().Get("since_id") == "":
			fmt.Fprintf(w, `{"data":[{"id":"1858000000000000001","text":"Liftoff","created_at":%q,"edit_history_tweet_ids":["1858000000000000001"]}],"meta":{"result_count":1,"newest_id":"1858000000000000001","oldest_id":"1858000000000000001"}}`,
				time.Now().UTC().Format(time.RFC3339))
		default:
			fmt.Fprint(w, `{"meta":{"result_count":0}}`)
		}
	}))
	t.Cleanup(server.Close)
	t.Setenv("FRESHET_X_API", server.URL)
	return server
}

// From the token to the river by the command line, as docs/x.md tells it.
func TestFollowAnAccount(t *testing.T) {
	instance(t)
	xAPI(t)
	data := t.TempDir()
	t.Setenv("FRESHET_DATA", data)

	added := freshetFed(t, "", "sources", "add", "@nasa")
	if added.code != 0 || !strings.Contains(added.out, "https://x.com/nasa\ntwitter") || !strings.Contains(added.talk, "freshet credentials set x") {
		t.Fatalf("adding without a token: %+v", added)
	}
	first := freshetRun(t, "ingest")
	if first.code != exitFailed || !strings.Contains(first.out, "none is set: freshet credentials set x.") {
		t.Errorf("an ingest run without a token: %+v", first)
	}
	set := freshetFed(t, xToken+"\n", "credentials", "set", "x")
	if set.code != 0 || set.out != "" || strings.Contains(set.talk, xToken) {
		t.Fatalf("setting it: %+v", set)
	}
	if info, err := os.Stat(filepath.Join(data, "freshet.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key file: %v, %v", info, err)
	}
	if out := good(t, "ingest"); !strings.Contains(out, "ok") {
		t.Errorf("an ingest run: %s", out)
	}
	if out := good(t, "river"); !strings.Contains(out, "Liftoff") {
		t.Errorf("the river: %s", out)
	}
	var listed struct {
		Credentials []credentialView `json:"credentials"`
	}
	goodJSON(t, &listed, "credentials", "list")
	if len(listed.Credentials) != 1 || listed.Credentials[0].Reads != 2 || listed.Credentials[0].Provider != freshet.X {
		t.Errorf("listed: %+v", listed)
	}
	if out := good(t, "why", "@NASA"); !strings.Contains(out, "every 15 min") {
		t.Errorf("why: %s", out)
	}
	if again := freshetRun(t, "sources", "add", "https://twitter.com/NASA"); again.code != exitFailed || !strings.Contains(again.talk, "already a source") {
		t.Errorf("added again: %+v", again)
	}
	files, err := filepath.Glob(filepath.Join(data, "*"))
	if err != nil || len(files) < 2 {
		t.Fatalf("files: %v, %v", files, err)
	}
	for _, name := range files {
		if text, err := os.ReadFile(name); err != nil || bytes.Contains(text, []byte(xToken)) || bytes.Contains(text, []byte("very-secret")) {
			t.Errorf("%s holds the token in the clear (%v)", name, err)
		}
	}
	good(t, "credentials", "rm", "x")
	if r := freshetRun(t, "credentials", "rm", "twitter"); r.code != exitFailed || !strings.Contains(r.talk, "there is no token for x") {
		t.Errorf("removed twice: %+v", r)
	}
}

func TestBadCredentialCommands(t *testing.T) {
	instance(t)
	for name, test := range map[string]struct {
		in   string
		args []string
		code int
		talk string
	}{
		"no provider":       {xToken, []string{"credentials", "set"}, exitUsage, "takes one provider"},
		"blank provider":    {xToken, []string{"credentials", "set", ""}, exitUsage, `must be "x"`},
		"unknown provider":  {xToken, []string{"credentials", "set", "mastodon"}, exitUsage, `must be "x"`},
		"token as argument": {"", []string{"credentials", "set", "x", "secret"}, exitUsage, "takes one provider"},
		"nothing":           {"", []string{"credentials", "set", "x"}, exitFailed, "must not be empty"},
		"two words":         {xToken + " more", []string{"credentials", "set", "x"}, exitFailed, "one word"},
		"no handle":         {"", []string{"sources", "add", "--type", "twitter", "not a handle"}, exitFailed, "X account"},
		"bad cap":           {"", []string{"credentials", "list", "--x-monthly-reads", "-1"}, exitUsage, "--x-monthly-reads"},
		"bad API":           {"", []string{"credentials", "list", "--x-api", "api.x.com"}, exitUsage, "--x-api"},
		"bad key":           {xToken, []string{"credentials", "set", "x", "--master-key", "short"}, exitFailed, "32 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			r := freshetFed(t, test.in, test.args...)
			if r.code != test.code || !strings.Contains(r.talk, test.talk) || strings.Contains(r.talk, xToken) {
				t.Errorf("%+v, want %d with %q", r, test.code, test.talk)
			}
		})
	}
	var listed map[string][]any
	if err := json.Unmarshal([]byte(good(t, "credentials", "list", "--json")), &listed); err != nil || len(listed["credentials"]) != 0 {
		t.Errorf("after refusals: %v, %v", listed, err)
	}
}

// A wrong key is said at start, and nothing is lost: the right one opens all.
func TestWrongMasterKey(t *testing.T) {
	instance(t)
	xAPI(t)
	right, wrong := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	t.Setenv("FRESHET_MASTER_KEY", right)
	if r := freshetFed(t, xToken, "credentials", "set", "x"); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	good(t, "sources", "add", "@nasa")
	for _, args := range [][]string{{"serve", "--listen", "127.0.0.1:0"}, {"ingest"}, {"credentials", "set", "x"}} {
		t.Setenv("FRESHET_MASTER_KEY", wrong)
		if r := freshetFed(t, "another-token", args...); r.code != exitFailed || !strings.Contains(r.talk, "another master key") || !strings.Contains(r.talk, "FRESHET_MASTER_KEY") || strings.Contains(r.talk, wrong) {
			t.Errorf("%q with a wrong key: %+v", args, r)
		}
		os.Unsetenv("FRESHET_MASTER_KEY")
		if r := freshetFed(t, "another-token", args...); r.code != exitFailed || !strings.Contains(r.talk, "freshet.key") {
			t.Errorf("%q without a key: %+v", args, r)
		}
	}
	good(t, "sources", "list") // what needs no token goes on
	t.Setenv("FRESHET_MASTER_KEY", right)
	if out := good(t, "ingest"); !strings.Contains(out, "ok") {
		t.Errorf("with the right key: %s", out)
	}
	t.Setenv("FRESHET_MASTER_KEY", wrong)
	good(t, "credentials", "rm", "x") // the way out when a key is lost
	if r := freshetFed(t, xToken, "credentials", "set", "x"); r.code != 0 {
		t.Errorf("set anew: %+v", r)
	}
}

// A pasted account is offered where there is a token; else it is said how to set one.
func TestPastedAccount(t *testing.T) {
	instance(t)
	c := &config{Data: t.TempDir(), Settings: freshet.DefaultSettings()}
	st, err := store.Open(t.Context(), ":memory:", store.Options{Settings: c.Settings})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	v, err := c.openVault(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	find := func(pasted string) ([]discover.Candidate, error) { return findAccount(context.Background(), v, pasted) }
	if found, err := find("https://x.com/NASA"); found != nil || err == nil || !strings.Contains(err.Error(), "freshet credentials set x") {
		t.Errorf("without a token: %v, %v", found, err)
	}
	if _, err := v.Set(t.Context(), "", freshet.X, xToken, time.Now()); err != nil {
		t.Fatal(err)
	}
	if found, err := find("https://twitter.com/NASA?lang=en"); err != nil || len(found) != 1 || found[0].URL != "https://x.com/NASA" || found[0].Type != "twitter" {
		t.Errorf("with a token: %+v, %v", found, err)
	}
	if s := lookAtAccount(t.Context(), v, "https://x.com/NASA"); s.Finding != discover.Works || s.URL != "https://x.com/NASA" {
		t.Errorf("in a list: %+v", s)
	}
	for _, other := range []string{"https://example.org/NASA", "NASA", "https://nitter.net/NASA", "https://x.com/NASA/status/1"} {
		if found, err := find(other); found != nil || err != nil {
			t.Errorf("%s: %v, %v", other, found, err)
		}
	}
}
