package web

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"freshet"
)

func TestListItems(t *testing.T) {
	s := newSite(t, nil)
	feed := s.add("https://example.org/feed")
	bare := freshet.Post{Title: "No address", GUID: "x", URL: "javascript:alert(1)", Text: "t", Published: time.Now().Add(-2 * time.Minute)}
	s.poll(posts(post("new", 1), bare, post("old", 3)))
	a := s.want(200, "GET", "/api/items", "")
	if n := len(a.list("items")); n != 3 || a.at("next_cursor") != nil {
		t.Fatalf("%d items, next %v; want 3 and no more: %s", n, a.at("next_cursor"), a.Body)
	}
	for field, want := range map[string]any{"title": "Title of new", "url": "https://example.org/new", "canonical_url": "https://example.org/new",
		"guid": "new", "snippet": "Text of new", "author": "A. Author", "image": nil} {
		if got := a.at("items", 0, field); got != want {
			t.Errorf("%s is %v, want %v", field, got, want)
		}
	}
	if got := a.at("items", 0, "sources", 0).(map[string]any); got["feed_id"] != feed || got["title"] != "Example" || got["url"] != "https://example.org/feed" {
		t.Errorf("source %v", got)
	}
	if got := a.at("items", 1, "url"); got != nil {
		t.Errorf("the address %v can be clicked (P2)", got)
	}
}

// D5: page after page gives every item once, in order.
func TestListItemsByCursor(t *testing.T) {
	s := newSite(t, nil)
	s.add("https://example.org/feed")
	var list []freshet.Post
	for i := range 25 {
		list = append(list, post(fmt.Sprintf("p%02d", i), i))
	}
	s.poll(posts(list...))
	cursor := ""
	var got []string
	for page := 0; page < 10; page++ {
		a := s.want(200, "GET", "/api/items?limit=10&cursor="+url.QueryEscape(cursor), "")
		for i := range a.list("items") {
			got = append(got, a.text("items", i, "guid"))
		}
		if cursor = a.text("next_cursor"); cursor == "" {
			break
		}
	}
	if len(got) != 25 {
		t.Fatalf("%d items over all pages, want 25: %v", len(got), got)
	}
	for i, guid := range got {
		if want := fmt.Sprintf("p%02d", i); guid != want {
			t.Errorf("item %d is %s, want %s", i, guid, want)
		}
	}
}

func TestListItemsFiltered(t *testing.T) {
	s := newSite(t, nil)
	one, two := s.add("https://one.example/feed"), s.add("https://two.example/feed")
	s.poll(func(src freshet.Source) *freshet.Outcome {
		p := post("of "+src.Host, 60)
		p.URL = "https://" + src.Host + "/post"
		return posts(p)(src)
	})
	published := s.want(200, "GET", "/api/items?feed_ids="+one, "").text("items", 0, "published_at")
	at, err := time.Parse(time.RFC3339, published)
	if err != nil {
		t.Fatal(err)
	}
	day, second := at.Format(time.DateOnly), time.Second
	tests := []struct {
		query string
		want  int
	}{
		{"", 2},
		{"feed_ids=" + one, 1},
		{"feed_ids=" + one + "," + two, 2},
		{"feed_ids=" + one + "&feed_ids=" + two, 2},
		{"feed_ids=" + one + "&feed_ids=", 1},
		{"feed_ids=", 2},
		{"feed_ids=12345", 0},
		{"start_date=" + published, 2}, // inclusive at both ends (D6)
		{"end_date=" + published, 2},
		{"start_date=" + at.Add(second).Format(time.RFC3339), 0},
		{"end_date=" + at.Add(-second).Format(time.RFC3339), 0},
		{"start_date=" + day + "&end_date=" + day, 2}, // the whole day
		{"end_date=" + at.AddDate(0, 0, -1).Format(time.DateOnly), 0},
		{"start_date=" + at.In(time.FixedZone("", 7200)).Format(time.RFC3339), 2}, // the + is not escaped
		{"start_date=&end_date=&q=&cursor=", 2},
	}
	for _, test := range tests {
		if got := len(s.want(200, "GET", "/api/items?"+test.query, "").list("items")); got != test.want {
			t.Errorf("%q finds %d items, want %d", test.query, got, test.want)
		}
	}
}

func TestSearchItems(t *testing.T) {
	s := newSite(t, nil)
	s.add("https://example.org/feed")
	s.poll(posts(post("zebra", 1), post("heron", 2)))
	for {
		n, err := s.Store.IndexText(t.Context(), 100, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
	}
	a := s.want(200, "GET", "/api/items?q=ZEBRA", "")
	if got := a.list("items"); len(got) != 1 || a.text("items", 0, "guid") != "zebra" {
		t.Errorf("found %v, want the zebra", got)
	}
	for _, q := range []string{`"`, `a AND (`, `*`, `'; drop table items; --`, `%`, "\x00", strings.Repeat("word ", 90)} {
		s.want(200, "GET", "/api/items?q="+url.QueryEscape(q), "")
	}
}

func TestGetItem(t *testing.T) {
	s := newSite(t, nil)
	s.add("https://one.example/feed")
	s.add("https://two.example/feed")
	shared := post("https://example.org/shared", 5) // a guid that counts across feeds (D1)
	shared.Enclosures = []freshet.Enclosure{{URL: "https://example.org/a.mp3", Type: "audio/mpeg", Length: 7}}
	s.poll(posts(shared))
	id := s.want(200, "GET", "/api/items", "").text("items", 0, "id")
	a := s.want(200, "GET", "/api/items/"+id, "")
	if a.text("text") != shared.Text || a.text("enclosures", 0, "url") != "https://example.org/a.mp3" {
		t.Errorf("text or enclosure is missing: %s", a.Body)
	}
	if n := len(a.list("posts")); n != 2 || len(a.list("sources")) != 2 {
		t.Errorf("%d posts and %d sources, want two of each: %s", n, len(a.list("sources")), a.Body)
	}
}

func BenchmarkListItems(b *testing.B) {
	s := newSite(b, nil)
	s.add("https://example.org/feed")
	var list []freshet.Post
	for i := range 200 {
		p := post(fmt.Sprintf("p%03d", i), i)
		p.Text = fmt.Sprint(i, strings.Repeat(" some words of a text", 20))
		list = append(list, p)
	}
	s.poll(posts(list...))
	r := request("GET", "/api/items", "")
	if n := len(s.want(200, "GET", "/api/items", "").list("items")); n != 200 {
		b.Fatalf("%d items, want 200", n)
	}
	b.ReportAllocs()
	for b.Loop() {
		if a := s.plainAnswer(r); a.Code != 200 {
			b.Fatal(a.Body)
		}
	}
}
