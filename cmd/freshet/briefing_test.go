package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"freshet"
	"freshet/internal/feed"
	"freshet/internal/store"
	"freshet/internal/testdb"
)

// growing is a site whose feed lists more titles each time it is asked.
func growing(t *testing.T, titles ...string) string {
	t.Helper()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := min(int(asked.Add(1))-1, len(titles))
		w.Write([]byte(undated(feedOf("Grows", titles[:n]...))))
	}))
	t.Cleanup(server.Close)
	return server.URL + "/feed"
}

// undated is a feed without dates, whose entries are never history.
func undated(document string) string {
	for {
		before, rest, ok := strings.Cut(document, "<pubDate>")
		if !ok {
			return document
		}
		_, after, _ := strings.Cut(rest, "</pubDate>")
		document = before + after
	}
}

// Section 8 from the command line: add, poll, compose, acknowledge.
func TestBriefingCommands(t *testing.T) {
	instance(t)
	url := growing(t, "first", "second")
	if out := good(t, "briefing", "add", "Morning", url, "--owner", "alice", "--interval", "30"); !strings.Contains(out, "owned by alice") || !strings.Contains(out, url) {
		t.Errorf("briefing add printed\n%s", out)
	}
	var shown struct {
		Owner   string  `json:"owner"`
		Days    float64 `json:"max_article_age_days"`
		Every   float64 `json:"interval_minutes"`
		Sources []struct {
			URL        string `json:"url"`
			Aggregates bool   `json:"aggregates"`
			InRiver    bool   `json:"in_river"`
		} `json:"sources"`
	}
	goodJSON(t, &shown, "briefing", "show", "Morning")
	if shown.Owner != "alice" || shown.Days != 7 || shown.Every != 30 || len(shown.Sources) != 1 || shown.Sources[0].InRiver {
		t.Errorf("shown: %+v", shown)
	}
	for range 3 {
		good(t, "ingest", "--force")
	}
	if out := good(t, "river"); strings.Contains(out, "first") {
		t.Errorf("the river shows what is a briefing's:\n%s", out)
	}
	if out := good(t, "briefing", "compose", "Morning"); !strings.HasPrefix(out, "# Morning\n") || !strings.Contains(out, "## [first](<https://example.org/Grows/0>)") {
		t.Errorf("composed:\n%s", out)
	}
	var composed struct {
		Articles []struct {
			ID    string `json:"id"`
			Title string `json:"title"`
		} `json:"articles"`
	}
	goodJSON(t, &composed, "briefing", "compose", "Morning")
	if len(composed.Articles) != 2 {
		t.Fatalf("composed again: %+v", composed)
	}
	for _, format := range []string{"atom", "rss"} {
		read, err := feed.Parse([]byte(good(t, "briefing", "compose", "Morning", "--format", format)), feed.Options{})
		if err != nil || len(read.Entries) != 2 {
			t.Errorf("%s: %v, %v", format, read, err)
		}
	}
	if r := freshetRun(t, "briefing", "ack", "Morning", composed.Articles[0].ID); r.code != 0 || r.talk != "1 acknowledged.\n" {
		t.Errorf("ack: %+v", r)
	}
	if out := good(t, "briefing", "compose", "Morning", "--ack"); strings.Contains(out, composed.Articles[0].Title) || !strings.Contains(out, composed.Articles[1].Title) {
		t.Errorf("composed after one was acknowledged:\n%s", out)
	}
	if out := good(t, "briefing", "compose", "Morning"); out != "# Morning\n" {
		t.Errorf("composed after all were acknowledged:\n%s", out)
	}
	if out := good(t, "briefing", "list"); !strings.Contains(out, "Morning") || !strings.Contains(out, "7 days") {
		t.Errorf("listed:\n%s", out)
	}
	good(t, "briefing", "ack", "Morning", "--all")
	good(t, "briefing", "rm", "Morning")
	if r := freshetRun(t, "why", url); r.code != exitFailed {
		t.Errorf("the source of a briefing that was removed: %+v", r)
	}
}

func TestBriefingEdit(t *testing.T) {
	instance(t)
	good(t, "briefing", "add", "Morning", "https://a.example/feed")
	out := good(t, "briefing", "edit", "Morning", "--name", "Evening", "--max-age", "2", "--add", "b.example/feed", "--add", "@golang", "--aggregate", "always", "--remove", "https://a.example/feed")
	for _, want := range []string{"Evening", "last 2 days", "https://b.example/feed", "https://x.com/golang", "one of all"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Contains(out, "a.example") {
		t.Errorf("what was taken out is there:\n%s", out)
	}
	good(t, "briefing", "edit", "Evening", "--remove", "@golang")
	if out := good(t, "briefing", "show", "Evening"); !strings.Contains(out, "last 2 days") || strings.Contains(out, "golang") {
		t.Errorf("what was not given changed:\n%s", out)
	}
}

func TestBriefingRefusals(t *testing.T) {
	instance(t)
	good(t, "briefing", "add", "Morning")
	good(t, "sources", "add", "--no-discover", "https://a.example/feed")
	for name, tc := range map[string]struct {
		args []string
		code int
		talk string
	}{
		"no such briefing":     {[]string{"compose", "Evening"}, exitFailed, "is no briefing here"},
		"a name that is there": {[]string{"add", "Morning"}, exitFailed, "another briefing"},
		"no name":              {[]string{"add"}, exitUsage, "at least a name"},
		"no address":           {[]string{"add", "Noon", "ftp://a.example/"}, exitFailed, "http"},
		"no age":               {[]string{"add", "Noon", "--max-age", "0"}, exitFailed, "max_article_age_days"},
		"no such format":       {[]string{"compose", "Morning", "--format", "pdf"}, exitUsage, "md, json, atom or rss"},
		"no such choice":       {[]string{"add", "Noon", "--aggregate", "maybe"}, exitUsage, "always, never or auto"},
		"no such type":         {[]string{"add", "Noon", "--type", "gopher"}, exitUsage, "--type"},
		"nothing to ack":       {[]string{"ack", "Morning"}, exitUsage, "--all"},
		"ids and all":          {[]string{"ack", "Morning", "12", "--all"}, exitUsage, "--all"},
		"no id":                {[]string{"ack", "Morning", "x"}, exitUsage, "no id of an article"},
		"not a source of it":   {[]string{"edit", "Morning", "--name", "Noon", "--remove", "https://a.example/feed"}, exitFailed, "no source of Morning"},
	} {
		t.Run(name, func(t *testing.T) {
			r := freshetRun(t, append([]string{"briefing"}, tc.args...)...)
			if r.code != tc.code || !strings.Contains(r.talk, tc.talk) {
				t.Errorf("exit %d, %q; want %d and %q in it", r.code, r.talk, tc.code, tc.talk)
			}
		})
	}
	if out := good(t, "briefing", "list"); strings.Contains(out, "Noon") {
		t.Errorf("a refusal left something:\n%s", out)
	}
}

// The scenarios of seed 000 on cleanup: a run removes what is too old before it polls (S1, D8), here where nobody
// runs a server.
func TestCleanupBeforePolling(t *testing.T) {
	for name, processed := range map[string]bool{
		"Old unprocessed articles deleted": false,
		"Old processed articles retained":  true,
	} {
		t.Run(name, func(t *testing.T) {
			t.Run("sqlite", func(t *testing.T) { checkCleanup(t, "", processed) })
			t.Run("postgres", func(t *testing.T) {
				checkCleanup(t, testdb.Postgres(t), processed)
			})
		})
	}
}

// checkCleanup lets two articles grow too old, the second acknowledged or not, and counts what is left when the next
// run asks the site, and after it.
func checkCleanup(t *testing.T, dsn string, processed bool) {
	instance(t)
	if dsn == "" {
		dsn = filepath.Join(os.Getenv("HOME"), ".local/share/freshet/freshet.db")
	} else {
		t.Setenv("FRESHET_DATABASE", dsn)
	}
	asked := make(chan []bool, 10) // at each request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- articlesOf(t, dsn)
		w.Write([]byte(undated(feedOf("News", "one", "two"))))
	}))
	defer server.Close()
	good(t, "briefing", "add", "Morning", server.URL)
	good(t, "ingest")
	<-asked
	good(t, "briefing", "compose", "Morning")
	if n := len(articlesOf(t, dsn)); n != 2 {
		t.Fatalf("%d articles were composed, want 2", n)
	}
	want := []bool{}
	if processed {
		good(t, "briefing", "ack", "Morning", "--all")
		want = []bool{true, true}
	}
	good(t, "briefing", "edit", "Morning", "--max-age", "0.0000001") // of a day: by now they are older
	good(t, "ingest", "--force")
	if got := <-asked; !slices.Equal(got, want) {
		t.Errorf("when the source was polled the articles (processed or not) were %v, want %v", got, want)
	}
	if got := articlesOf(t, dsn); !slices.Equal(got, want) {
		t.Errorf("after the run the articles (processed or not) are %v, want %v", got, want)
	}
}

// articlesOf says of each article of the one briefing whether it is processed, none before there is one.
func articlesOf(t *testing.T, dsn string) []bool {
	st, err := store.Open(context.Background(), dsn, store.Options{Settings: freshet.DefaultSettings()})
	if err != nil {
		t.Error(err)
		return nil
	}
	defer st.Close()
	b, err := st.FindBriefing(context.Background(), "Morning")
	if err != nil {
		t.Error(err)
		return nil
	}
	all := []bool{}
	for _, processed := range []bool{false, true} {
		list, _, err := st.Articles(context.Background(), store.ArticleQuery{Briefing: b.ID, Processed: processed})
		if err != nil {
			t.Error(err)
		}
		for _, a := range list {
			all = append(all, a.Processed())
		}
	}
	return all
}

// Where nobody runs a server, a run that polls once removes what is past retention before it polls (S1, D8).
func TestIngestCleansBeforePolling(t *testing.T) {
	instance(t)
	url := site(t, map[string]string{"/feed": feedOf("News", "hours ago")})
	good(t, "sources", "add", "--no-discover", url+"/feed")
	good(t, "ingest")
	if out := good(t, "river"); !strings.Contains(out, "hours ago") {
		t.Fatalf("the river lacks what was read:\n%s", out)
	}
	good(t, "ingest", "--retention", "1h")
	if out := good(t, "river"); strings.Contains(out, "hours ago") {
		t.Errorf("what is past retention is there:\n%s", out)
	}
}
