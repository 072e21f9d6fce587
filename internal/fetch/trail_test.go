package fetch

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"freshet"
)

// script answers each address with a status and, for a redirect, a place.
func script(t *testing.T, answers map[string]string) (*Client, *[]*http.Request) {
	var seen []*http.Request
	return NewWith(roundTrip(func(r *http.Request) (*http.Response, error) {
		seen = append(seen, r)
		answer, ok := answers[r.URL.String()]
		if !ok {
			t.Errorf("%s was asked for", r.URL)
		}
		resp := &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody}
		if answer != "" {
			status, location, _ := strings.Cut(answer, " ")
			fmt.Sscan(status, &resp.StatusCode)
			if location != "" {
				resp.Header.Set("Location", location)
			}
		}
		return resp, nil
	}), Settings{}), &seen
}

// F3: only a chain of nothing but permanent redirects moves a source.
func TestMoved(t *testing.T) {
	for name, test := range map[string]struct {
		answers        map[string]string
		final, movedTo string
	}{
		"none":      {map[string]string{"http://a.example/": ""}, "http://a.example/", ""},
		"301":       {map[string]string{"http://a.example/": "301 http://b.example/", "http://b.example/": ""}, "http://b.example/", "http://b.example/"},
		"308":       {map[string]string{"http://a.example/": "308 https://a.example/", "https://a.example/": ""}, "https://a.example/", "https://a.example/"},
		"302":       {map[string]string{"http://a.example/": "302 /b", "http://a.example/b": ""}, "http://a.example/b", ""},
		"303":       {map[string]string{"http://a.example/": "303 /b", "http://a.example/b": ""}, "http://a.example/b", ""},
		"307":       {map[string]string{"http://a.example/": "307 /b", "http://a.example/b": ""}, "http://a.example/b", ""},
		"301, 308":  {map[string]string{"http://a.example/": "301 /b", "http://a.example/b": "308 c", "http://a.example/c": ""}, "http://a.example/c", "http://a.example/c"},
		"301, 302":  {map[string]string{"http://a.example/": "301 /b", "http://a.example/b": "302 /c", "http://a.example/c": ""}, "http://a.example/c", ""},
		"302, 301":  {map[string]string{"http://a.example/": "302 /b", "http://a.example/b": "301 /c", "http://a.example/c": ""}, "http://a.example/c", ""},
		"fragment":  {map[string]string{"http://a.example/": "301 /b#top", "http://a.example/b": ""}, "http://a.example/b", "http://a.example/b"},
		"no scheme": {map[string]string{"http://a.example/": "301 //B.example/x", "http://b.example/x": ""}, "http://b.example/x", "http://b.example/x"},
		"query":     {map[string]string{"http://a.example/": "301 ?x=a b", "http://a.example/?x=a%20b": ""}, "http://a.example/?x=a%20b", "http://a.example/?x=a%20b"},
		"latin 1":   {map[string]string{"http://a.example/": "301 /\xfc", "http://a.example/%FC": ""}, "http://a.example/%FC", "http://a.example/%FC"},
		"five": {map[string]string{"http://a.example/": "301 /1", "http://a.example/1": "301 /2", "http://a.example/2": "301 /3",
			"http://a.example/3": "301 /4", "http://a.example/4": "301 /5", "http://a.example/5": ""}, "http://a.example/5", "http://a.example/5"},
	} {
		client, _ := script(t, test.answers)
		resp, err := client.Get(t.Context(), Request{URL: "http://a.example/#frag"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if resp.FinalURL != test.final || resp.MovedTo != test.movedTo {
			t.Errorf("%s: final %s, moved to %q; want %s, %q", name, resp.FinalURL, resp.MovedTo, test.final, test.movedTo)
		}
	}
}

func TestBadRedirects(t *testing.T) {
	six := map[string]string{"http://a.example/": "302 /1"}
	for i := range 5 {
		six[fmt.Sprintf("http://a.example/%d", i+1)] = fmt.Sprintf("302 /%d", i+2)
	}
	for name, test := range map[string]struct {
		answers map[string]string
		want    string
	}{
		"six":        {six, "more than 5 times"},
		"itself":     {map[string]string{"http://a.example/": "301 http://A.example:80/#x"}, "in a circle"},
		"circle":     {map[string]string{"http://a.example/": "302 /b", "http://a.example/b": "302 /"}, "in a circle"},
		"nowhere":    {map[string]string{"http://a.example/": "301"}, "without saying where"},
		"file":       {map[string]string{"http://a.example/": "302 file:///etc/passwd"}, "only http and https"},
		"javascript": {map[string]string{"http://a.example/": "302 javascript:alert(1)"}, "only http and https"},
		"ftp":        {map[string]string{"http://a.example/": "302 ftp://a.example/"}, "only http and https"},
		"no host":    {map[string]string{"http://a.example/": "302 http:///x"}, "no host"},
		"backslash":  {map[string]string{"http://a.example/": "302 http://b.example\\@c.example/"}, "backslash"},
		"bad escape": {map[string]string{"http://a.example/": "302 /%zz"}, "cannot be fetched"},
		"too long":   {map[string]string{"http://a.example/": "302 /" + strings.Repeat("a", 5000)}, "longer than"},
	} {
		client, _ := script(t, test.answers)
		resp, f := mustFail(t, client, Request{URL: "http://a.example/"})
		if f.Code != "redirects" || f.Class != freshet.Transient || !strings.Contains(f.Sentence, test.want) || resp.Status != f.Status {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// A redirect out of https is followed, told, and carries no credentials.
func TestDowngrade(t *testing.T) {
	client, seen := script(t, map[string]string{"https://a.example/": "301 http://a.example/", "http://a.example/": ""})
	resp, err := client.Get(t.Context(), Request{URL: "https://ann:secret@a.example/", Header: http.Header{"X-Key": {"k"}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(resp.Warnings) != 1 || !strings.Contains(resp.Warnings[0], "plain http") {
		t.Errorf("warnings %q", resp.Warnings)
	}
	if h := (*seen)[1].Header; h.Get("Authorization") != "" || h.Get("X-Key") != "" {
		t.Errorf("credentials went out over plain http: %v", h)
	}
	if resp.MovedTo != "http://a.example/" {
		t.Errorf("moved to %s", resp.MovedTo)
	}
}

// Credentials stay behind once a trail has left the first host, even when it comes back.
func TestCredentialsDoNotComeBack(t *testing.T) {
	client, seen := script(t, map[string]string{
		"https://a.example/": "302 https://b.example/", "https://b.example/": "302 https://a.example/x", "https://a.example/x": "",
	})
	if _, err := client.Get(t.Context(), Request{URL: "https://ann:secret@a.example/"}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false, false} {
		if _, _, has := (*seen)[i].BasicAuth(); has != want {
			t.Errorf("request %d has credentials: %v, want %v", i, has, want)
		}
	}
}

// An upgrade to https on the same host keeps them; that is what a user who typed http meant.
func TestCredentialsSurviveUpgrade(t *testing.T) {
	client, seen := script(t, map[string]string{"http://a.example/": "301 https://a.example/", "https://a.example/": ""})
	if _, err := client.Get(t.Context(), Request{URL: "http://ann:secret@a.example/"}); err != nil {
		t.Fatal(err)
	}
	if _, _, has := (*seen)[1].BasicAuth(); !has {
		t.Error("credentials are lost")
	}
}

// F2: validators go back to the address that gave them and to no other: "x" may be the name of another
// document there, or its date be older, and what is new would be taken for unchanged.
func TestValidatorsGoBackToTheirAddress(t *testing.T) {
	for name, test := range map[string]struct {
		from    string
		answers map[string]string
		asked   string // the only address that sees validators
		final   string // what gave those of the response
	}{
		"no redirect":         {"", map[string]string{"http://a.example/": "304"}, "http://a.example/", ""},
		"same target":         {"http://b.example/1", map[string]string{"http://a.example/": "302 http://b.example/1", "http://b.example/1": "304"}, "http://b.example/1", "http://b.example/1"},
		"same moved target":   {"http://b.example/1", map[string]string{"http://a.example/": "301 http://b.example/1", "http://b.example/1": "304"}, "http://b.example/1", "http://b.example/1"},
		"same end of two":     {"http://c.example/", map[string]string{"http://a.example/": "302 /b", "http://a.example/b": "302 http://c.example/", "http://c.example/": "304"}, "http://c.example/", "http://c.example/"},
		"another target":      {"http://b.example/1", map[string]string{"http://a.example/": "302 http://b.example/2", "http://b.example/2": ""}, "", "http://b.example/2"},
		"another query":       {"http://b.example/?t=1", map[string]string{"http://a.example/": "302 http://b.example/?t=2", "http://b.example/?t=2": ""}, "", "http://b.example/?t=2"},
		"no longer there":     {"http://b.example/1", map[string]string{"http://a.example/": ""}, "", ""},
		"redirected just now": {"", map[string]string{"http://a.example/": "302 /b", "http://a.example/b": ""}, "http://a.example/", "http://a.example/b"},
	} {
		client, seen := script(t, test.answers)
		resp, err := client.Get(t.Context(), Request{URL: "http://a.example/", ETag: `"x"`, LastModified: "then", ValidatorsFrom: test.from})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if resp.ValidatorsFrom != test.final {
			t.Errorf("%s: validators are from %q, want %q", name, resp.ValidatorsFrom, test.final)
		}
		for _, r := range *seen {
			has := r.Header.Get("If-None-Match") == `"x"` && r.Header.Get("If-Modified-Since") == "then"
			if want := r.URL.String() == test.asked; has != want {
				t.Errorf("%s: %s was asked with validators: %v, want %v (%v)", name, r.URL, has, want, r.Header)
			}
		}
	}
}

// A 304 from an address that was not asked whether anything changed says nothing.
func TestNotModifiedByAnotherAddress(t *testing.T) {
	client, _ := script(t, map[string]string{"http://a.example/": "302 http://b.example/2", "http://b.example/2": "304"})
	_, f := mustFail(t, client, Request{URL: "http://a.example/", ETag: `"x"`, ValidatorsFrom: "http://b.example/1"})
	if f.Code != "http_304" {
		t.Errorf("%+v", f)
	}
}

// What is wanted is told wherever redirects lead; it is no credential.
func TestAcceptSurvivesRedirects(t *testing.T) {
	client, seen := script(t, map[string]string{"https://a.example/": "302 https://b.example/", "https://b.example/": "302 http://c.example/", "http://c.example/": ""})
	if _, err := client.Get(t.Context(), Request{URL: "https://a.example/", Accept: "text/html", Header: http.Header{"X-Key": {"k"}}}); err != nil {
		t.Fatal(err)
	}
	for i, r := range *seen {
		if got := r.Header.Get("Accept"); got != "text/html" {
			t.Errorf("%s was asked with Accept %q", r.URL, got)
		}
		if has := r.Header.Get("X-Key") != ""; has != (i == 0) {
			t.Errorf("%s saw the key: %v", r.URL, has)
		}
	}
}

// F5: a redirect to an address that is not public is refused like a first request to it.
func TestRedirectIsGuarded(t *testing.T) {
	secret := newSite(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "secret") })
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(secret.URL, "127.0.0.1", r.URL.Query().Get("to"), 1), http.StatusMovedPermanently)
	})
	for _, to := range []string{"[::1]", "[::ffff:10.0.0.1]", "169.254.169.254", "0.0.0.0", "192.168.0.1"} {
		_, f := s.fail(t, Request{URL: "/?to=" + to})
		if f.Code != "refused_address" || !strings.Contains(f.Sentence, "FRESHET_FETCH_ALLOW") {
			t.Errorf("%s: %+v", to, f)
		}
	}
	if len(secret.seen()) != 0 {
		t.Error("the inner service was reached")
	}
}
