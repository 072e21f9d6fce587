package web

import (
	"context"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
	"time"

	"freshet"
	"freshet/internal/feed"
)

// briefingCalls are the calls of SPEC.md section 8, for TestDocument.
var briefingCalls = []string{"GET /api/briefings", "POST /api/briefings", "GET /api/briefings/{id}", "PATCH /api/briefings/{id}", "DELETE /api/briefings/{id}",
	"POST /api/briefings/{id}/sources", "DELETE /api/briefings/{id}/sources/{feed_id}", "POST /api/briefings/{id}/compose", "GET /api/briefings/{id}/articles",
	"POST /api/briefings/{id}/acknowledge",
	"POST /api/briefings/{id}/compose.md", "POST /api/briefings/{id}/compose.atom", "POST /api/briefings/{id}/compose.rss", "POST /api/briefings/{id}/compose.json",
	"GET /api/briefings/{id}/articles.md", "GET /api/briefings/{id}/articles.atom", "GET /api/briefings/{id}/articles.rss", "GET /api/briefings/{id}/articles.json"}

// allTypes has the server take what the program reads.
func allTypes(c *Config) {
	c.Types = []freshet.Type{freshet.RSS, freshet.Website, freshet.HTTP, freshet.Twitter}
}

// morning is a briefing of two sources, one of them a nitter host, and its path.
func morningBriefing(s *site) (path string, made reply) {
	s.t.Helper()
	made = s.want(201, "POST", "/api/briefings", `{"name": "Morning", "owner": "alice", "interval_minutes": 30,
		"sources": [{"url": "https://news.example/feed"}, {"url": "https://nitter.example/golang/rss"}]}`)
	return made.Header().Get("Location"), made
}

// young is an entry that appears after its source was added.
func young(guid string) freshet.Post {
	p := post(guid, 0)
	p.Published = time.Now().Add(time.Second).Truncate(time.Second).UTC()
	return p
}

func TestBriefingLife(t *testing.T) {
	s := newSite(t, allTypes)
	if got := s.want(200, "GET", "/api/briefings", "").list("briefings"); len(got) != 0 {
		t.Errorf("briefings before there are any: %v", got)
	}
	path, made := morningBriefing(s)
	if path != "/api/briefings/"+made.text("id") || made.number("max_article_age_days") != 7 || made.number("interval_minutes") != 30 || made.text("owner") != "alice" {
		t.Errorf("%s: %s", path, made.Body)
	}
	if s.kicks != 1 {
		t.Errorf("%d kicks; the sources are due", s.kicks)
	}
	if made.at("sources", 0, "aggregates") != false || made.at("sources", 1, "aggregates") != true || made.at("sources", 0, "in_river") != false {
		t.Errorf("sources: %v", made.at("sources"))
	}
	if feeds := s.want(200, "GET", "/api/feeds", "").list("feeds"); len(feeds) != 0 {
		t.Errorf("the river has %v", feeds)
	}
	s.want(200, "GET", "/api/feeds/"+made.text("sources", 0, "feed_id"), "")

	edited := s.want(200, "PATCH", path, `{"name": "Evening", "owner": null, "max_article_age_days": 2.5, "interval_minutes": null}`)
	if edited.text("name") != "Evening" || edited.text("owner") != "" || fmt.Sprint(edited.at("max_article_age_days")) != "2.5" || edited.at("interval_minutes") != nil {
		t.Errorf("edited: %s", edited.Body)
	}
	if same := s.want(200, "PATCH", path, `{}`); same.text("name") != "Evening" || fmt.Sprint(same.at("max_article_age_days")) != "2.5" {
		t.Errorf("after no change: %s", same.Body)
	}
	if back := s.want(200, "PATCH", path, `{"max_article_age_days": null}`); back.number("max_article_age_days") != 7 {
		t.Errorf("the default age is %v", back.at("max_article_age_days"))
	}
	more := s.want(200, "POST", path+"/sources", `{"sources": [{"url": "@rob"}, {"url": "news.example/feed", "aggregate": true}]}`)
	if len(more.list("sources")) != 3 {
		t.Errorf("with one more: %s", more.Body)
	}
	for _, source := range more.list("sources") {
		switch dig(source, "url") {
		case "https://x.com/rob":
			if dig(source, "type") != "twitter" || dig(source, "aggregates") != true {
				t.Errorf("the account is %v", source)
			}
		case "https://news.example/feed":
			if dig(source, "aggregate") != true {
				t.Errorf("what was given again is %v", source)
			}
		}
	}
	feedID := made.text("sources", 0, "feed_id")
	if left := s.want(200, "DELETE", path+"/sources/"+feedID, ""); len(left.list("sources")) != 2 {
		t.Errorf("with one less: %s", left.Body)
	}
	s.want(404, "GET", "/api/feeds/"+feedID, "")
	s.want(204, "DELETE", path, "")
	for _, call := range []string{"GET ", "PATCH ", "DELETE "} {
		s.want(404, strings.TrimSpace(call), path, map[string]string{"PATCH ": "{}"}[call])
	}
}

func TestBadBriefings(t *testing.T) {
	s := newSite(t, allTypes)
	path, made := morningBriefing(s)
	for _, c := range []struct {
		method, path, body string
		status             int
		location           string
	}{
		{"POST", "/api/briefings", `{}`, 422, "body.name"},
		{"POST", "/api/briefings", `{"name": " "}`, 422, "body.name"},
		{"POST", "/api/briefings", `{"name": "Morning"}`, 422, "body.name"},
		{"POST", "/api/briefings", `{"name": "x", "max_article_age_days": 0}`, 422, "body.max_article_age_days"},
		{"POST", "/api/briefings", `{"name": "x", "max_article_age_days": 1e300}`, 422, "body.max_article_age_days"},
		{"POST", "/api/briefings", `{"name": "x", "interval_minutes": -5}`, 422, "body.interval_minutes"},
		{"POST", "/api/briefings", `{"name": "x", "interval_minutes": 1e300}`, 422, "body.interval_minutes"},
		{"POST", "/api/briefings", `{"name": "x", "max_age": 3}`, 422, "body.max_age"},
		{"POST", "/api/briefings", `{"name": "x", "sources": [{"url": "https://a.example/"}, {"url": "ftp://b.example/"}]}`, 422, "body.sources[1].url"},
		{"POST", "/api/briefings", `{"name": "x", "sources": [{"url": "no handle!", "type": "twitter"}]}`, 422, "body.sources[0].url"},
		{"POST", "/api/briefings", `{"name": "x", "sources": [{"url": "https://a.example/", "config": {"max_article_age_days": -1}}]}`, 422, "body.sources[0].config.max_article_age_days"},
		{"PATCH", path, `{"name": ""}`, 422, "body.name"},
		{"PATCH", path, `{"max_article_age_days": -1}`, 422, "body.max_article_age_days"},
		{"POST", path + "/sources", `{"sources": []}`, 422, "body.sources"},
		{"POST", path + "/acknowledge", `{"article_ids": []}`, 422, "body.article_ids"},
		{"POST", path + "/acknowledge", `{"article_ids": ["x"]}`, 422, ""},
		{"GET", path + "/articles?limit=0", "", 422, "query.limit"},
		{"GET", path + "/articles.md?limit=0", "", 422, "query.limit"},
		{"GET", path + "/articles.atom?processed=perhaps", "", 422, "query.processed"},
		{"DELETE", path + "/sources/77", "", 404, ""},
		{"DELETE", path + "/sources/x", "", 404, ""},
		{"GET", "/api/briefings/77", "", 404, ""},
		{"GET", "/api/briefings/x", "", 404, ""},
		{"POST", "/api/briefings/77/compose", "", 404, ""},
		{"POST", "/api/briefings/x/compose.md", "", 404, ""},
		{"GET", "/api/briefings/77/articles.atom", "", 404, ""},
		{"POST", "/api/briefings/77/acknowledge", `{"article_ids": ["1"]}`, 404, ""},
	} {
		a := s.want(c.status, c.method, c.path, c.body)
		if got := a.text("errors", 0, "location"); c.location != "" && got != c.location {
			t.Errorf("%s %s %s: the field is %q, want %q: %s", c.method, c.path, c.body, got, c.location, a.Body)
		}
	}
	if len(s.want(200, "GET", "/api/briefings", "").list("briefings")) != 1 || len(s.want(200, "GET", path, "").list("sources")) != len(made.list("sources")) {
		t.Error("a refusal left something")
	}
}

// B2: composing answers with what waits; acknowledging takes it away, and it is kept.
func TestComposeBriefing(t *testing.T) {
	s := newSite(t, allTypes)
	path, _ := morningBriefing(s)
	s.poll(func(src freshet.Source) *freshet.Outcome {
		return posts(young(src.Host+"/1"), young(src.Host+"/2"))(src)
	})
	if got := s.want(200, "GET", path+"/articles", "").list("articles"); len(got) != 0 {
		t.Errorf("articles before anybody composed: %v", got)
	}
	composed := s.want(200, "POST", path+"/compose", "")
	if composed.number("composed") != 3 || len(composed.list("articles")) != 3 || composed.at("more") != false {
		t.Fatalf("composed: %s", composed.Body)
	}
	var ids, titles []string
	for _, a := range composed.list("articles") {
		ids, titles = append(ids, dig(a, "id").(string)), append(titles, dig(a, "title").(string))
		if dig(a, "is_processed") != false || dig(a, "processed_at") != nil {
			t.Errorf("an article that waits: %v", a)
		}
	}
	for _, want := range []string{"Posts from @golang — " + time.Now().UTC().Format("Jan 2, 2006"), "Title of news.example/1", "Title of news.example/2"} {
		if !strings.Contains(strings.Join(titles, "\n"), want) {
			t.Errorf("%q is not among %q", want, titles)
		}
	}
	again := s.want(200, "POST", path+"/compose", "")
	if again.number("composed") != 0 || len(again.list("articles")) != 3 {
		t.Errorf("composed again: %s", again.Body)
	}
	if a := s.want(200, "GET", path+"/articles?limit=1", ""); len(a.list("articles")) != 1 || a.at("more") != true {
		t.Errorf("one of three: %s", a.Body)
	}
	body := `{"article_ids": ["` + ids[0] + `", "` + ids[1] + `", "77"]}`
	if a := s.want(200, "POST", path+"/acknowledge", body); a.number("acknowledged") != 2 {
		t.Errorf("acknowledged: %s", a.Body)
	}
	if a := s.want(200, "POST", path+"/acknowledge", body); a.number("acknowledged") != 0 {
		t.Errorf("acknowledged again: %s", a.Body)
	}
	if got := s.want(200, "GET", path+"/articles", "").list("articles"); len(got) != 1 || dig(got[0], "id") != ids[2] {
		t.Errorf("what waits: %v", got)
	}
	done := s.want(200, "GET", path+"/articles?processed=true", "").list("articles")
	if len(done) != 2 || dig(done[0], "is_processed") != true || dig(done[0], "processed_at") == nil {
		t.Errorf("processed: %v", done)
	}
}

// The same articles in each format: what is written is read back by the reader of feeds.
func TestArticleFormats(t *testing.T) {
	s := newSite(t, nil)
	path := s.want(201, "POST", "/api/briefings", `{"name": "Fish & chips", "sources": [{"url": "https://news.example/feed"}]}`).Header().Get("Location")
	p := young("story")
	p.Title, p.Text = "Fish & <b>chips</b>", "# Not a heading\n<script>alert(1)</script>"
	s.poll(posts(p))
	for _, suffix := range []string{"atom", "rss", "json"} {
		for _, a := range []reply{s.want(200, "POST", path+"/compose."+suffix, ""), s.want(200, "GET", path+"/articles."+suffix, "")} {
			read, err := feed.Parse(a.Body.Bytes(), feed.Options{})
			if err != nil {
				t.Fatalf("%s: %v\n%s", suffix, err, a.Body)
			}
			if read.Title != "Fish & chips" || len(read.Entries) != 1 {
				t.Fatalf("%s: %q with %d entries", suffix, read.Title, len(read.Entries))
			}
			e := read.Entries[0]
			if e.Title != p.Title || e.URL != p.URL || !strings.HasPrefix(e.GUID, "urn:freshet:article:") || !strings.Contains(e.Text(), "<script>alert(1)</script>") {
				t.Errorf("%s: the entry is read as %+v", suffix, e)
			}
		}
	}
	a := s.want(200, "POST", path+"/compose.md", "")
	if kind := a.Header().Get("Content-Type"); kind != "text/markdown; charset=utf-8" {
		t.Errorf("Markdown is sent as %q", kind)
	}
	for _, want := range []string{"# Fish \\& chips\n", "\n## [Fish \\& \\<b\\>chips\\</b\\>](<https://example.org/story>)\n", "\n\\# Not a heading\n", "\n\\<script\\>"} {
		if !strings.Contains(a.Body.String(), want) {
			t.Errorf("%q is not in\n%s", want, a.Body)
		}
	}
	var atom struct {
		ID      string `xml:"id"`
		Updated string `xml:"updated"`
	}
	if err := xml.Unmarshal(s.want(200, "GET", path+"/articles.atom", "").Body.Bytes(), &atom); err != nil {
		t.Fatal(err)
	}
	if atom.ID != "http://127.0.0.1:8080"+path+"/articles.atom" {
		t.Errorf("the feed's id is %q", atom.ID)
	}
	if _, err := time.Parse(time.RFC3339, atom.Updated); err != nil {
		t.Error(err)
	}
	if text := s.want(200, "GET", path+"/articles.md?processed=true&limit=5", "").Body.String(); text != "# Fish \\& chips\n" {
		t.Errorf("nothing processed is %q", text)
	}
}

// What a source shows of itself in a briefing holds no password.
func TestBriefingMasksPasswords(t *testing.T) {
	s := newSite(t, nil)
	made := s.want(201, "POST", "/api/briefings", `{"name": "B", "sources": [{"url": "https://user:secret@a.example/feed"}]}`)
	if strings.Contains(made.Body.String(), "secret") {
		t.Errorf("the password is shown: %s", made.Body)
	}
	list, err := s.Store.Briefings(context.Background())
	if err != nil || !strings.Contains(list[0].Sources[0].Source.URL, "secret") {
		t.Errorf("the password is lost: %v", err)
	}
}
