package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ran is how a command line ended.
type ran struct {
	code      int
	out, talk string
}

// freshetRun runs a command line in this process, as main does.
func freshetRun(t *testing.T, args ...string) ran {
	t.Helper()
	var out, talk bytes.Buffer
	code := run(t.Context(), args, strings.NewReader(""), &out, &talk)
	return ran{code, out.String(), talk.String()}
}

// good runs a command line that must succeed and returns what it printed.
func good(t *testing.T, args ...string) string {
	t.Helper()
	r := freshetRun(t, args...)
	if r.code != 0 {
		t.Fatalf("freshet %q exited with %d: %s", args, r.code, r.talk)
	}
	return r.out
}

// goodJSON runs a command line with --json and decodes what it printed.
func goodJSON(t *testing.T, into any, args ...string) {
	t.Helper()
	if err := json.Unmarshal([]byte(good(t, append(args, "--json")...)), into); err != nil {
		t.Fatalf("freshet %q: %v", args, err)
	}
}

// instance is a home of its own with a data folder, in which the site's addresses may be fetched.
func instance(t *testing.T) {
	t.Helper()
	alone(t)
	t.Setenv("FRESHET_FETCH_ALLOW", "127.0.0.0/8")
	t.Setenv("FRESHET_LOG_LEVEL", "error")
}

// site serves documents by path; what is not there is 404.
func site(t *testing.T, documents map[string]string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		document, ok := documents[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, document)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// feedOf is an RSS document with an item for each title.
func feedOf(name string, titles ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<rss version="2.0"><channel><title>%s</title><link>https://example.org/</link>`, name)
	for i, title := range titles {
		fmt.Fprintf(&b, `<item><title>%s</title><guid isPermaLink="false">tag:example.org,2026:%s/%s</guid><link>https://example.org/%s/%d</link><pubDate>%s</pubDate></item>`,
			title, name, title, name, i, time.Now().Add(-time.Duration(i+1)*time.Hour).Format(time.RFC1123Z))
	}
	b.WriteString("</channel></rss>")
	return b.String()
}

func TestExitCodes(t *testing.T) {
	instance(t)
	for name, tc := range map[string]struct {
		args []string
		code int
		talk string
	}{
		"unknown command":     {[]string{"serv"}, exitUsage, `did you mean "serve"?`},
		"unknown below":       {[]string{"sources", "lst"}, exitUsage, `did you mean "list"?`},
		"unknown flag":        {[]string{"river", "--nope"}, exitUsage, "unknown flag: --nope"},
		"missing argument":    {[]string{"why"}, exitUsage, "takes one URL or id"},
		"too many arguments":  {[]string{"serve", "now"}, exitUsage, `takes no arguments, got ["now"]`},
		"bad setting":         {[]string{"river", "--interval", "soon"}, exitUsage, "--interval"},
		"bad limit":           {[]string{"river", "--limit", "0"}, exitUsage, "from 1 to 1000"},
		"bad since":           {[]string{"river", "--since", "yesterday"}, exitUsage, "24h or 7d"},
		"bad window end":      {[]string{"ingest", "--window-end", "now"}, exitUsage, "2026-01-05T06:00:00Z"},
		"type not readable":   {[]string{"sources", "add", "--type", "gopher", "x"}, exitUsage, "--type"},
		"open to the network": {[]string{"serve", "--listen", ":0"}, exitUsage, "password"},
		"no such source":      {[]string{"why", "https://example.org/none"}, exitFailed, "is no source here"},
		"nobody at home":      {[]string{"healthcheck", "--listen", "127.0.0.1:1"}, exitFailed, "connection refused"},
		"no such file":        {[]string{"sources", "import", "/nowhere.opml"}, exitFailed, "/nowhere.opml"},
	} {
		t.Run(name, func(t *testing.T) {
			r := freshetRun(t, tc.args...)
			if r.code != tc.code || !strings.Contains(r.talk, tc.talk) {
				t.Errorf("exit %d, %q; want %d and %q in it", r.code, r.talk, tc.code, tc.talk)
			}
			if r.out != "" {
				t.Errorf("talk went to standard output: %q", r.out)
			}
		})
	}
}

func TestHelpShowsSettingsOnce(t *testing.T) {
	if out := good(t, "--help"); !strings.Contains(out, "--fetch-allow") || !strings.Contains(out, "serve") {
		t.Errorf("freshet --help lacks settings or commands:\n%s", out)
	}
	if out := good(t, "river", "--help"); strings.Contains(out, "--fetch-allow") || !strings.Contains(out, "--since") {
		t.Errorf("freshet river --help is about its own flags:\n%s", out)
	}
}

func TestDataFolderIsPrivate(t *testing.T) {
	instance(t)
	folder := filepath.Join(t.TempDir(), "a", "b")
	good(t, "sources", "list", "--data", folder)
	info, err := os.Stat(folder)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v; want 0700", info.Mode(), err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "freshet.db*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v; want 0600", file, info.Mode(), err)
		}
	}
}

func TestSourcesOnTheCommandLine(t *testing.T) {
	instance(t)
	at := site(t, map[string]string{"/feed": feedOf("News", "one", "two")})
	if out := good(t, "sources", "add", at+"/feed", "--title", "My news", "--cadence", "480", "--folder", "World"); !strings.Contains(out, "My news\n"+at+"/feed") {
		t.Errorf("add printed %q", out)
	}
	if r := freshetRun(t, "sources", "add", at+"/feed/"); r.code != exitFailed || !strings.Contains(r.talk, "already a source: My news") {
		t.Errorf("added twice: exit %d, %q", r.code, r.talk)
	}
	var list struct{ Sources []sourceView }
	goodJSON(t, &list, "sources", "list")
	if len(list.Sources) != 1 || list.Sources[0].Config.Cadence.EveryMinutes != 480 || list.Sources[0].Folder != "World" {
		t.Fatalf("listed %+v", list)
	}
	id := list.Sources[0].ID.String()
	var edited sourceView
	goodJSON(t, &edited, "sources", "edit", id, "--cadence", "0", "--disable")
	if edited.Config.Cadence != nil || edited.Enabled || edited.Title != "My news" {
		t.Errorf("edited to %+v", edited)
	}
	if out := good(t, "sources", "export"); !strings.Contains(out, `xmlUrl="`+at+`/feed"`) || !strings.Contains(out, "World") {
		t.Errorf("exported %s", out)
	}
	good(t, "sources", "rm", at+"/feed")
	if out := good(t, "sources", "list", "--json"); !strings.Contains(out, `"sources": []`) {
		t.Errorf("after rm: %s", out)
	}
}

func TestAddFindsTheFeedOfASite(t *testing.T) {
	instance(t)
	at := site(t, map[string]string{
		"/one":  `<html><head><link rel="alternate" type="application/rss+xml" href="/a.xml"></head><body>x</body></html>`,
		"/two":  `<html><head><link rel="alternate" type="application/rss+xml" href="/a.xml"><link rel="alternate" type="application/rss+xml" href="/b.xml"></head><body>x</body></html>`,
		"/none": `<html><body>x</body></html>`, "/a.xml": feedOf("A", "one"), "/b.xml": feedOf("B", "two"),
	})
	var added sourceView
	goodJSON(t, &added, "sources", "add", at+"/one")
	if added.URL != at+"/a.xml" {
		t.Errorf("one feed: added %s", added.URL)
	}
	if r := freshetRun(t, "sources", "add", at+"/two"); r.code != exitFailed || !strings.Contains(r.talk, "freshet sources add --no-discover "+at+"/b.xml") {
		t.Errorf("two feeds: exit %d, %q", r.code, r.talk)
	}
	if r := freshetRun(t, "sources", "add", at+"/none"); r.code != exitFailed || !strings.Contains(r.talk, "--no-discover") {
		t.Errorf("no feed: exit %d, %q", r.code, r.talk)
	}
	goodJSON(t, &added, "sources", "add", at+"/none", "--no-discover")
	if added.URL != at+"/none" {
		t.Errorf("as it is: added %s", added.URL)
	}
	// What cannot be looked at now is added all the same; its first poll will say what is wrong.
	goodJSON(t, &added, "sources", "add", "http://127.0.0.1:1/feed")
	if added.URL != "http://127.0.0.1:1/feed" {
		t.Errorf("unreachable: added %s", added.URL)
	}
}

func TestImport(t *testing.T) {
	instance(t)
	list := writeFile(t, filepath.Join(t.TempDir(), "list.opml"), `<opml version="2.0"><body>
<outline text="A" xmlUrl="https://a.example/feed"/><outline text="A again" xmlUrl="http://www.a.example/feed/"/>
<outline text="B" xmlUrl="ftp://b.example/feed"/></body></opml>`)
	var result imported
	goodJSON(t, &result, "sources", "import", list)
	if result.Added != 1 || result.Known != 1 || len(result.Refused) != 1 || result.Refused[0].URL != "ftp://b.example/feed" {
		t.Errorf("imported %+v", result)
	}
}

type ingestOutput struct {
	Sources []struct {
		URL, Status string
		New         int
		Error       *string
	}
}

// Seed 001: a source without a cadence is due in every run, one with a cadence when its last fetch is long
// enough ago; a skipped source is not touched (S10).
func TestIngestObeysCadence(t *testing.T) {
	instance(t)
	at := site(t, map[string]string{"/often": feedOf("Often", "one", "two"), "/daily": feedOf("Daily", "three")})
	good(t, "sources", "add", at+"/often", "--no-discover")
	good(t, "sources", "add", at+"/daily", "--no-discover", "--cadence", "1440")
	statuses := func(args ...string) map[string]string {
		var out ingestOutput
		goodJSON(t, &out, append([]string{"ingest"}, args...)...)
		got := map[string]string{}
		for _, s := range out.Sources {
			got[strings.TrimPrefix(s.URL, at)] = fmt.Sprint(s.Status, s.New)
		}
		return got
	}
	for _, step := range []struct {
		args []string
		want map[string]string
	}{
		{nil, map[string]string{"/often": "ok2", "/daily": "ok1"}},
		{nil, map[string]string{"/often": "ok0", "/daily": "skipped0"}},
		{[]string{"--window-end", time.Now().Add(25 * time.Hour).Format(time.RFC3339)}, map[string]string{"/often": "ok0", "/daily": "ok0"}},
		{[]string{"--force", "--source", at + "/daily"}, map[string]string{"/daily": "ok0"}},
	} {
		if got := statuses(step.args...); fmt.Sprint(got) != fmt.Sprint(step.want) {
			t.Errorf("ingest %q gave %v, want %v", step.args, got, step.want)
		}
	}
	var before, after sourceView
	goodJSON(t, &before, "why", at+"/daily")
	statuses()
	goodJSON(t, &after, "why", at+"/daily")
	if !before.Cursor.LastFetchAt.Equal(*after.Cursor.LastFetchAt) {
		t.Errorf("a skipped source was touched: last fetch %v, then %v", before.Cursor.LastFetchAt, after.Cursor.LastFetchAt)
	}
}

func TestIngestFailsWhenASourceDoes(t *testing.T) {
	instance(t)
	at := site(t, map[string]string{"/good": feedOf("Good", "one")})
	good(t, "sources", "add", at+"/good", "--no-discover")
	good(t, "sources", "add", at+"/bad", "--no-discover")
	r := freshetRun(t, "ingest")
	if r.code != exitFailed || !strings.Contains(r.out, "error") || !strings.Contains(r.out, "404") || !strings.Contains(r.talk, "1 source failed") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.talk)
	}
	var items struct{ Items []itemView }
	goodJSON(t, &items, "river")
	if len(items.Items) != 1 {
		t.Errorf("%d items, want the one of the good source", len(items.Items))
	}
}

func TestRiverInTheTerminal(t *testing.T) {
	instance(t)
	at := site(t, map[string]string{"/a": feedOf("Alpha", "apples", "pears"), "/b": feedOf("Beta", "plums")})
	good(t, "sources", "add", at+"/a", "--no-discover")
	good(t, "sources", "add", at+"/b", "--no-discover")
	good(t, "ingest")
	for name, tc := range map[string]struct {
		args []string
		want []string // titles, in any order
	}{
		"all":     {nil, []string{"apples", "pears", "plums"}},
		"source":  {[]string{"--source", at + "/b"}, []string{"plums"}},
		"since":   {[]string{"--since", "90m"}, []string{"apples", "plums"}},
		"nothing": {[]string{"--since", "1m"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			out := good(t, append([]string{"river"}, tc.args...)...)
			for _, title := range []string{"apples", "pears", "plums"} {
				want := strings.Contains(strings.Join(tc.want, " "), title)
				if strings.Contains(out, title) != want {
					t.Errorf("%q shown: %v, want %v\n%s", title, !want, want, out)
				}
			}
		})
	}
}

func TestWhy(t *testing.T) {
	instance(t)
	at := site(t, map[string]string{"/feed": feedOf("News", "one")})
	good(t, "sources", "add", at+"/feed", "--no-discover", "--cadence", "30")
	if out := good(t, "why", at+"/feed"); !strings.Contains(out, "every 30 min (set for this source)") || !strings.Contains(out, "never polled, so due at once") {
		t.Errorf("before the first poll:\n%s", out)
	}
	good(t, "ingest")
	if out := good(t, "why", at+"/feed"); !strings.Contains(out, "next poll: in 30 min") || !strings.Contains(out, "ok") {
		t.Errorf("after it:\n%s", out)
	}
}

// S6, S8: each rule with who says so, from the flag to the table.
func TestWhyShowsThePolicy(t *testing.T) {
	instance(t)
	at := site(t, map[string]string{"/feed": feedOf("News", "one")})
	good(t, "sources", "add", at+"/feed", "--no-discover", "--cadence", "30")
	t.Setenv("FRESHET_DELAY_HOSTS", "127.0.0.1=2.5")
	t.Setenv("FRESHET_RETRY", "exponential")
	t.Setenv("FRESHET_MAX_BACKOFF_HOURS", "6")
	t.Setenv("FRESHET_DISABLE_AFTER", "4")
	t.Setenv("FRESHET_RETENTION", "60d")
	t.Setenv("FRESHET_MIN_INTERVAL", "2m")
	out := strings.Join(strings.Fields(good(t, "why", at+"/feed")), " ")
	for _, want := range []string{
		"RULE VALUE FROM", "Interval 30 min this source", "Least interval 2 min configuration", "Delay after each poll 2.5 s configuration for 127.0.0.1",
		"Longest wait while it fails 6 h configuration", "Age limit of posts 60 days configuration", "History at the first poll stored built in",
		"Switched off after 4 failures in a row that do not pass by themselves configuration",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	var why whyView
	goodJSON(t, &why, "why", at+"/feed", "--interval", "1h")
	if p := why.Policy; p.IntervalMinutes.Value != 30 || p.IntervalMinutes.From != "this source" || p.PollDelaySeconds.Value != 2.5 || p.Retry.From != "configuration" {
		t.Errorf("policy %+v", p)
	}
}

func TestVersion(t *testing.T) {
	var b build
	goodJSON(t, &b, "version")
	if b.Version == "" || b.Go == "" {
		t.Errorf("version %+v", b)
	}
	if got, want := userAgent("https://my.example/freshet"), "Freshet/"+b.Version+" (+https://my.example/freshet)"; got != want {
		t.Errorf("user agent %q, want %q: version and URL (F1)", got, want)
	}
}
