package discover

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"freshet"
	"freshet/internal/fetch"
)

// web answers from txtar files of raw responses and remembers what it was asked for.
type web struct {
	t       *testing.T
	answers map[string]string
	asked   []string
	logins  map[string]bool
}

func newWeb(t *testing.T, files ...string) *web {
	w := &web{t: t, answers: map[string]string{}, logins: map[string]bool{}}
	for _, name := range files {
		archive, err := txtar.ParseFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			w.answers[f.Name] = string(f.Data)
		}
	}
	return w
}

func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	at := r.URL.String()
	w.asked = append(w.asked, at)
	_, _, w.logins[at] = r.BasicAuth()
	if r.URL.Host == "plain.example" && r.URL.Scheme == "https" {
		return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	}
	answer, ok := w.answers[at]
	if !ok {
		answer = "HTTP/1.1 404 Not Found\n\n"
	}
	return http.ReadResponse(bufio.NewReader(strings.NewReader(answer)), r)
}

func (w *web) find(pasted string) ([]Candidate, error) {
	client := fetch.NewWith(w, fetch.Settings{})
	return Find(w.t.Context(), func(ctx context.Context, url string) (*fetch.Response, error) {
		return client.Get(ctx, fetch.Request{URL: url})
	}, pasted)
}

func (w *web) mustFind(pasted string) []Candidate {
	w.t.Helper()
	found, err := w.find(pasted)
	if err != nil {
		w.t.Fatalf("%s: %v", pasted, err)
	}
	return found
}

func (w *web) wantAsked(want ...string) {
	w.t.Helper()
	if !reflect.DeepEqual(w.asked, want) {
		w.t.Errorf("asked for\n\t%s\nwant\n\t%s", strings.Join(w.asked, "\n\t"), strings.Join(want, "\n\t"))
	}
}

var theBlog = Candidate{
	URL: "https://blog.example/feed/", Title: "A blog", Type: "rss20",
	Titles: []string{"Four", "Three & a half", "Two"}, Entries: 4,
}

// An address that is a feed is that feed, in one request.
func TestFeedItself(t *testing.T) {
	w := newWeb(t, "blog.txtar")
	if found := w.mustFind("https://blog.example/feed/"); !reflect.DeepEqual(found, []Candidate{theBlog}) {
		t.Errorf("%+v", found)
	}
	w.wantAsked("https://blog.example/feed/")
}

// A permanent redirect gives the address to subscribe to.
func TestMovedFeed(t *testing.T) {
	w := newWeb(t, "blog.txtar")
	if found := w.mustFind("blog.example/feed.rss"); !reflect.DeepEqual(found, []Candidate{theBlog}) {
		t.Errorf("%+v", found)
	}
}

// What a page declares, in its order; the same articles in another format are offered once, and what cannot
// be read is left out.
func TestDeclaredFeeds(t *testing.T) {
	w := newWeb(t, "blog.txtar")
	comments := Candidate{URL: "https://blog.example/comments/feed/", Title: "Comments on A blog", Type: "rss20", Titles: []string{"By: Ann"}, Entries: 1}
	if found := w.mustFind(" blog.example "); !reflect.DeepEqual(found, []Candidate{theBlog, comments}) {
		t.Errorf("%+v", found)
	}
	w.wantAsked("https://blog.example/", "https://blog.example/feed/", "https://blog.example/feed/atom/",
		"https://blog.example/comments/feed/", "https://blog.example/broken/")
}

// A page that declares nothing: the usual places, one after the other, no further than the first that has a feed.
func TestCommonPlaces(t *testing.T) {
	w := newWeb(t, "blog.txtar")
	w.answers["https://blog.example/bare/index.xml"] = w.answers["https://blog.example/feed/"]
	if found := w.mustFind("https://blog.example/bare/"); len(found) != 1 || found[0].URL != "https://blog.example/bare/index.xml" {
		t.Errorf("%+v", found)
	}
	w.wantAsked("https://blog.example/bare/", "https://blog.example/bare/feed", "https://blog.example/bare/index.xml")

	w = newWeb(t, "odd.txtar")
	found := w.mustFind("https://silent.example/blog/post.html")
	if len(found) != 1 || found[0].URL != "https://silent.example/atom.xml" || found[0].Title != "silent.example" || found[0].Type != "atom10" {
		t.Errorf("%+v", found)
	}
	if got := found[0].Titles; len(got) != 1 || !strings.HasPrefix(got[0], "A note without a title") || !strings.HasSuffix(got[0], "...") || len(got[0]) > 110 {
		t.Errorf("titles %q", got)
	}
}

func TestNothingFound(t *testing.T) {
	w := newWeb(t, "odd.txtar")
	for pasted, test := range map[string]struct {
		code, sentence string
		requests       int
	}{
		"https://none.example/": {"not_a_feed", "No feed was found: https://none.example/ is a web page that names none, and there is none at the usual places.", 7},
		"https://liar.example/": {"not_a_feed", "The page at https://liar.example/ names feeds, but none of them can be read: " +
			"https://liar.example/gone?token=REDACTED: liar.example has nothing at this address (404); https://liar.example/page is a web page.", 3},
		"https://missing.example/": {"http_404", "missing.example has nothing at this address (404).", 1},
		"https://many.example/":    {"not_a_feed", "", 1 + maxRead},
		"ftp://example.org/":       {"address", `Only http and https addresses can be fetched, not "ftp".`, 0},
		"hello world":              {"address", "", 0},
		"":                         {"address", "The address is empty.", 0},
	} {
		w.asked = nil
		found, err := w.find(pasted)
		var f *freshet.Failure
		if !errors.As(err, &f) || found != nil || f.Code != test.code || test.sentence != "" && f.Sentence != test.sentence {
			t.Errorf("%q: %v, %+v", pasted, found, err)
		}
		if len(w.asked) != test.requests {
			t.Errorf("%q took %d requests, want %d: %v", pasted, len(w.asked), test.requests, w.asked)
		}
	}
}

// S6: a host that asks for a pause is not asked on.
func TestTiredHost(t *testing.T) {
	w := newWeb(t, "odd.txtar")
	_, err := w.find("https://tired.example/")
	var f *freshet.Failure
	if !errors.As(err, &f) || !f.CoolHost || f.RetryAfter.IsZero() {
		t.Errorf("%+v", err)
	}
	w.wantAsked("https://tired.example/", "https://tired.example/1")
}

// Nobody wrote https, and the site does not speak it.
func TestPlainSite(t *testing.T) {
	w := newWeb(t, "odd.txtar")
	if found := w.mustFind("plain.example"); len(found) != 1 || found[0].URL != "http://plain.example/" || found[0].Type != "json11" {
		t.Errorf("%+v", found)
	}
	w.asked = nil
	if _, err := w.find("https://plain.example"); err == nil {
		t.Error("https was written, and http was taken")
	}
	w.wantAsked("https://plain.example/")
}

// Known sites are asked for the feed at once; where only the page knows, the page is.
func TestKnownSites(t *testing.T) {
	const channel = "https://www.youtube.com/feeds/videos.xml?channel_id=UCabc"
	for pasted, asked := range map[string][]string{
		"https://www.youtube.com/channel/UCabc/videos": {channel},
		"youtube.com/channel/UCabc":                    {channel},
		"https://www.youtube.com/@name":                {"https://www.youtube.com/@name", channel},
		"@ann@social.example":                          {"https://social.example/@ann.rss"},
		"https://social.example/@ann":                  {"https://social.example/@ann.rss"},
	} {
		w := newWeb(t, "odd.txtar")
		found := w.mustFind(pasted)
		if len(found) != 1 || found[0].URL != asked[len(asked)-1] {
			t.Errorf("%s: %+v", pasted, found)
		}
		w.wantAsked(asked...)
	}
	// A form that deceives costs one request.
	w := newWeb(t, "blog.txtar")
	w.answers["https://blog.example/@me"] = w.answers["https://blog.example/"]
	if found := w.mustFind("https://blog.example/@me"); len(found) != 2 {
		t.Errorf("%+v", found)
	}
}

// Credentials in a pasted address reach the feeds of that host, and no other.
func TestCredentials(t *testing.T) {
	w := newWeb(t, "blog.txtar")
	w.answers["https://blog.example/"] += `<link rel="alternate" type="application/rss+xml" href="https://other.example/feed">`
	found := w.mustFind("https://ann:secret@blog.example/")
	if found[0].URL != "https://ann:secret@blog.example/feed/" {
		t.Errorf("%+v", found)
	}
	for at, login := range w.logins {
		if want := strings.HasPrefix(at, "https://blog.example/"); login != want {
			t.Errorf("%s was sent credentials: %v, want %v", at, login, want)
		}
	}
}

func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	calls := 0
	_, err := Find(ctx, func(context.Context, string) (*fetch.Response, error) {
		calls++
		return nil, &freshet.Failure{Class: freshet.Transient, Code: "stopped", Sentence: "The fetch was stopped."}
	}, "https://github.com/a/b")
	if err == nil || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

func TestKnown(t *testing.T) {
	const yt = "https://www.youtube.com/feeds/videos.xml?"
	for raw, want := range map[string]string{
		"https://www.youtube.com/channel/UCabc":               yt + "channel_id=UCabc",
		"https://m.youtube.com/channel/UCabc/featured":        yt + "channel_id=UCabc",
		"https://www.youtube.com/user/Name":                   yt + "user=Name",
		"https://www.youtube.com/playlist?list=PLabc&x=1":     yt + "playlist_id=PLabc",
		"https://www.youtube.com/@name":                       "",
		"https://www.youtube.com/c/name":                      "",
		"https://www.youtube.com/watch?v=abc":                 "",
		yt + "channel_id=UCabc":                               "",
		"https://www.reddit.com/r/golang":                     "https://www.reddit.com/r/golang/.rss",
		"https://old.reddit.com/r/golang/":                    "https://www.reddit.com/r/golang/.rss",
		"https://reddit.com/r/golang/top":                     "https://www.reddit.com/r/golang/top/.rss",
		"https://www.reddit.com/u/ann":                        "https://www.reddit.com/user/ann/.rss",
		"https://www.reddit.com/user/ann":                     "https://www.reddit.com/user/ann/.rss",
		"https://www.reddit.com/r/golang/.rss":                "",
		"https://www.reddit.com/r/golang.rss":                 "",
		"https://www.reddit.com/":                             "",
		"https://github.com/golang":                           "https://github.com/golang.atom",
		"https://github.com/golang/go":                        "https://github.com/golang/go/releases.atom https://github.com/golang/go/commits.atom https://github.com/golang/go/tags.atom",
		"https://github.com/golang/go.git":                    "https://github.com/golang/go/releases.atom https://github.com/golang/go/commits.atom https://github.com/golang/go/tags.atom",
		"https://github.com/golang/go/releases":               "https://github.com/golang/go/releases.atom",
		"https://github.com/golang/go/releases/tag/v1":        "https://github.com/golang/go/releases.atom",
		"https://github.com/golang/go/tags":                   "https://github.com/golang/go/tags.atom",
		"https://github.com/golang/go/commits/release/1.26":   "https://github.com/golang/go/commits/release/1.26.atom",
		"https://github.com/golang/go/commits":                "https://github.com/golang/go/commits.atom",
		"https://github.com/golang/go/issues":                 "",
		"https://github.com/golang/go/releases.atom":          "",
		"https://github.com/topics/go":                        "",
		"https://gitlab.com/group/sub/project":                "https://gitlab.com/group/sub/project/-/releases.atom https://gitlab.com/group/sub/project/-/tags?format=atom https://gitlab.com/group/sub/project.atom",
		"https://gitlab.com/group/project/-/tags":             "https://gitlab.com/group/project/-/releases.atom https://gitlab.com/group/project/-/tags?format=atom https://gitlab.com/group/project.atom",
		"https://gitlab.com/group":                            "",
		"https://codeberg.org/forgejo/forgejo":                "https://codeberg.org/forgejo/forgejo/releases.rss https://codeberg.org/forgejo/forgejo.rss",
		"https://codeberg.org/forgejo":                        "https://codeberg.org/forgejo.rss",
		"https://codeberg.org/forgejo.rss":                    "",
		"https://medium.com/@ann":                             "https://medium.com/feed/@ann",
		"https://medium.com/publication":                      "https://medium.com/feed/publication",
		"https://medium.com/publication/tagged/go":            "https://medium.com/feed/publication/tagged/go",
		"https://medium.com/tag/go":                           "https://medium.com/feed/tag/go",
		"https://ann.medium.com/some-story-1":                 "https://ann.medium.com/feed",
		"https://medium.com/feed/@ann":                        "",
		"https://ann.substack.com/p/a-post":                   "https://ann.substack.com/feed",
		"https://ann.substack.com/feed":                       "",
		"https://substack.com/@ann":                           "",
		"https://bsky.app/profile/ann.bsky.social":            "https://bsky.app/profile/ann.bsky.social/rss",
		"https://bsky.app/profile/ann.bsky.social/rss":        "",
		"https://ann.blogspot.com/2026/11/x.html":             "https://ann.blogspot.com/feeds/posts/default",
		"https://ann.blogspot.co.uk/search/label/go":          "https://ann.blogspot.co.uk/feeds/posts/default/-/go",
		"https://ann.blogspot.com/feeds/posts/default":        "",
		"https://ann.wordpress.com/":                          "https://ann.wordpress.com/feed/",
		"https://ann.wordpress.com/category/go":               "https://ann.wordpress.com/category/go/feed/",
		"https://ann.wordpress.com/comments/feed/":            "",
		"https://ann.tumblr.com/post/1":                       "https://ann.tumblr.com/rss",
		"https://ann.tumblr.com/tagged/go":                    "https://ann.tumblr.com/tagged/go/rss",
		"https://www.tumblr.com/ann":                          "https://ann.tumblr.com/rss",
		"https://www.tumblr.com/blog/view/ann":                "https://ann.tumblr.com/rss",
		"https://www.tumblr.com/dashboard":                    "",
		"https://www.tumblr.com/a.evil":                       "",
		"https://stackoverflow.com/questions/tagged/go":       "https://stackoverflow.com/feeds/tag?tagnames=go&sort=newest",
		"https://stackoverflow.com/questions/tagged/go+regex": "https://stackoverflow.com/feeds/tag?tagnames=go%20regex&sort=newest",
		"https://stackoverflow.com/questions/123/a-title":     "https://stackoverflow.com/feeds/question/123",
		"https://unix.stackexchange.com/users/5/ann":          "https://unix.stackexchange.com/feeds/user/5",
		"https://unix.stackexchange.com/":                     "https://unix.stackexchange.com/feeds",
		"https://news.ycombinator.com/":                       "https://news.ycombinator.com/rss",
		"https://news.ycombinator.com/item?id=1":              "",
		"https://vimeo.com/ann":                               "https://vimeo.com/ann/videos/rss",
		"https://vimeo.com/12345":                             "",
		"https://arxiv.org/list/cs.AI/recent":                 "https://rss.arxiv.org/rss/cs.AI",
		"https://pypi.org/project/requests/":                  "https://pypi.org/rss/project/requests/releases.xml",
		"https://crates.io/crates/serde":                      "https://static.crates.io/rss/crates/serde.xml",
		"https://letterboxd.com/ann/":                         "https://letterboxd.com/ann/rss/",
		"https://dev.to/ann":                                  "https://dev.to/feed/ann",
		"https://dev.to/t/go":                                 "https://dev.to/feed/tag/go",
		"https://store.steampowered.com/app/440/TF2/":         "https://store.steampowered.com/feeds/news/app/440",
		"https://store.steampowered.com/news/app/440":         "https://store.steampowered.com/feeds/news/app/440",
		"https://mastodon.example/@ann":                       "https://mastodon.example/@ann.rss",
		"https://mastodon.example/@ann/1234":                  "",
		"https://mastodon.example/@ann.rss":                   "",
		"https://www.tiktok.com/@ann":                         "",
		"https://example.org/":                                "",
		"https://example.org/r/golang":                        "",
		"https://notgithub.com/a/b":                           "",
		"https://github.com.evil.example/a/b":                 "",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(known(u), " "); got != want {
			t.Errorf("%s\ngives %s\n want %s", raw, got, want)
		}
	}
}

func TestReadAddress(t *testing.T) {
	for pasted, want := range map[string]string{
		"@ann@mastodon.example":       "https://mastodon.example/@ann",
		"@ann.lee@social.example.org": "https://social.example.org/@ann.lee",
		"r/golang":                    "https://www.reddit.com/r/golang",
		"/r/golang/":                  "https://www.reddit.com/r/golang",
		"u/ann":                       "https://www.reddit.com/u/ann",
		"@ann.bsky.social":            "https://bsky.app/profile/ann.bsky.social",
		"ann.bsky.social":             "https://bsky.app/profile/ann.bsky.social",
		"example.org":                 "https://example.org/",
	} {
		u, _, err := readAddress(pasted)
		if err != nil || u.String() != want {
			t.Errorf("%q gives %v, %v; want %s", pasted, u, err, want)
		}
	}
}

// Whatever is pasted, known sites give addresses that can be fetched.
func FuzzKnown(f *testing.F) {
	f.Add("https://www.tumblr.com/a%2fb")
	f.Add("https://medium.com/%00/tagged/x?y")
	f.Add("https://stackoverflow.com/questions/tagged/a%20b+c")
	f.Fuzz(func(t *testing.T, raw string) {
		u, _, err := readAddress(raw)
		if err != nil {
			return
		}
		for _, feed := range known(u) {
			if _, _, err := fetch.CheckURL(feed); err != nil && len(feed) < 4000 {
				t.Errorf("%s gives %s: %v", u, feed, err)
			}
		}
		for _, place := range commonPlaces(u) {
			if _, _, err := fetch.CheckURL(place); err != nil && len(place) < 4000 {
				t.Errorf("%s gives %s: %v", u, place, err)
			}
		}
	})
}
