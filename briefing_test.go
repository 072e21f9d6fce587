package freshet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

var morning = time.Date(2026, 2, 16, 9, 0, 0, 0, time.UTC)

func TestCheckBriefing(t *testing.T) {
	good := NewBriefing("Morning news", "alice")
	for _, c := range []struct {
		field  string // "" when it is good
		change func(*Briefing)
	}{
		{"", func(*Briefing) {}},
		{"", func(b *Briefing) { b.Owner = "" }},
		{"", func(b *Briefing) { b.MaxAge = maxBriefingAge }},
		{"", func(b *Briefing) { b.Interval = time.Minute }},
		{"name", func(b *Briefing) { b.Name = "" }},
		{"name", func(b *Briefing) { b.Name = " padded " }},
		{"name", func(b *Briefing) { b.Name = "two\nlines" }},
		{"name", func(b *Briefing) { b.Name = strings.Repeat("n", maxBriefingName+1) }},
		{"owner", func(b *Briefing) { b.Owner = "a\x00b" }},
		{"owner", func(b *Briefing) { b.Owner = " alice" }},
		{"owner", func(b *Briefing) { b.Owner = strings.Repeat("o", maxBriefingName+1) }},
		{"max_article_age_days", func(b *Briefing) { b.MaxAge = 0 }},
		{"max_article_age_days", func(b *Briefing) { b.MaxAge = maxBriefingAge + 1 }},
		{"interval_minutes", func(b *Briefing) { b.Interval = -time.Second }},
		{"interval_minutes", func(b *Briefing) { b.Interval = 367 * 24 * time.Hour }},
	} {
		b := good
		c.change(&b)
		got := ""
		if err := b.Check(); err != nil {
			got = err.(*FieldError).Field
		}
		if got != c.field {
			t.Errorf("%+v: the field is %q, want %q", b, got, c.field)
		}
	}
}

// B1, S5, E6: what holds for the sources of a briefing that nobody configured.
func TestBriefingDefaults(t *testing.T) {
	b := NewBriefing("Morning", "")
	b.ID = 1
	src := Source{URL: "https://a.example/feed"}
	src.Briefing, _ = JoinBriefings([]Briefing{b})
	p := DefaultSettings().Policy(src)
	if p.MaxAge != 7*24*time.Hour || !p.SkipHistory || p.Retry != Exponential {
		t.Errorf("age %v, history skipped %v, retry %s; want 7 days, true, exponential", p.MaxAge, p.SkipHistory, p.Retry)
	}
}

func TestJoinBriefings(t *testing.T) {
	day := 24 * time.Hour
	a := Briefing{ID: 1, Name: "A", MaxAge: 7 * day}
	b := Briefing{ID: 2, Name: "B", Owner: "bob", MaxAge: 3 * day, Interval: 2 * time.Hour}
	c := Briefing{ID: 3, Name: "C", Owner: "carol", MaxAge: 9 * day, Interval: time.Hour}
	for _, test := range []struct {
		list  []Briefing
		want  BriefingPolicy
		owner string
	}{
		{nil, BriefingPolicy{}, ""},
		{[]Briefing{a}, BriefingPolicy{ID: 1, Name: "A", MaxAge: 7 * day}, ""},
		{[]Briefing{a, b}, BriefingPolicy{ID: 1, Name: "A, B", MaxAge: 7 * day, Interval: 2 * time.Hour}, "bob"},
		{[]Briefing{b, c}, BriefingPolicy{ID: 2, Name: "B, C", MaxAge: 9 * day, Interval: time.Hour}, "bob"},
		{[]Briefing{c, b, a}, BriefingPolicy{ID: 3, Name: "C, B, A", MaxAge: 9 * day, Interval: time.Hour}, "carol"},
	} {
		if got, owner := JoinBriefings(test.list); got != test.want || owner != test.owner {
			t.Errorf("%+v: %+v for %q, want %+v for %q", test.list, got, owner, test.want, test.owner)
		}
	}
}

// B2: aggregate true, or unset and of type twitter or on a nitter host.
func TestAggregates(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		kind      Type
		url       string
		aggregate *bool
		want      bool
	}{
		{RSS, "https://news.example/feed", nil, false},
		{RSS, "https://news.example/feed", &yes, true},
		{RSS, "https://news.example/nitter/feed", nil, false},
		{RSS, "https://nitter.net/golang/rss", nil, true},
		{RSS, "https://nitter.poast.org/golang/rss", nil, true},
		{RSS, "https://nitter.net/golang/rss", &no, false},
		{Twitter, "https://x.com/golang", nil, true},
		{Twitter, "https://x.com/golang", &no, false},
		{Website, "https://x.com/golang", nil, false},
	} {
		s := BriefingSource{Source: Source{Type: c.kind, URL: c.url}, Aggregate: c.aggregate}
		if got := s.Aggregates(); got != c.want {
			t.Errorf("%s %s aggregates: %v, want %v", c.kind, c.url, got, c.want)
		}
	}
}

func TestWindow(t *testing.T) {
	joined := morning.Add(-48 * time.Hour)
	days, yes, no := 2.0, true, false
	week := morning.Add(-7 * 24 * time.Hour)
	for _, c := range []struct {
		config Config
		want   Window
	}{
		{Config{}, Window{week, joined}},
		{Config{MaxArticleAgeDays: &days}, Window{morning.Add(-48 * time.Hour), joined}},
		{Config{SkipHistory: &yes}, Window{week, joined}},
		{Config{SkipHistory: &no}, Window{From: week}},
	} {
		b := NewBriefing("B", "")
		if got := b.Window(BriefingSource{Source: Source{Config: c.config}, AddedAt: joined}, morning); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.config, got, c.want)
		}
	}
}

// a waiting post of a source, published so many minutes after nine.
func waits(source, item ID, text string, minutes int) Waiting {
	p := Post{Text: text}
	return Waiting{Source: source, Item: item, Hash: p.contentHash(), Title: "T" + item.String(), URL: "https://e.example/" + item.String(), Text: text,
		PublishedAt: morning.Add(time.Duration(minutes) * time.Minute)}
}

// knownAs is a post whose content or item an article stands for.
func knownAs(p Waiting, article ID) Waiting {
	p.Article = article
	return p
}

func TestCompose(t *testing.T) {
	b := Briefing{ID: 7, Sources: []BriefingSource{
		{Source: Source{ID: 1, URL: "https://a.example/feed"}},
		{Source: Source{ID: 2, URL: "https://b.example/feed"}},
		{Source: Source{ID: 3, URL: "https://nitter.net/golang/rss"}},
		{Source: Source{ID: 4, URL: "https://x.com/rob", Type: Twitter}},
	}}
	for _, c := range []struct {
		name  string
		posts []Waiting
		want  string // articles: id or title, then the items that each stands for
	}{
		{"nothing", nil, ""},
		{"one each, oldest first", []Waiting{waits(1, 11, "a", 5), waits(1, 12, "b", 1), waits(2, 13, "c", 3)}, "T12[12] T13[13] T11[11]"},
		{"one of all", []Waiting{waits(3, 11, "a", 5), waits(1, 12, "b", 3), waits(3, 13, "c", 1)}, "Posts from @golang — Feb 16, 2026[13 11] T12[12]"},
		{"one of one", []Waiting{waits(4, 11, "a", 5)}, "Posts from @rob — Feb 16, 2026[11]"},
		{"each source of its own", []Waiting{waits(3, 11, "a", 5), waits(4, 12, "b", 6)}, "Posts from @golang — Feb 16, 2026[11] Posts from @rob — Feb 16, 2026[12]"},
		{"the day of the newest", []Waiting{waits(4, 11, "a", 5), waits(4, 12, "b", 5+24*60)}, "Posts from @rob — Feb 17, 2026[11 12]"},
		{"B3: the oldest of the same content", []Waiting{waits(2, 12, "same", 5), waits(1, 11, "same", 4)}, "T11[11 12]"},
		{"B3: in one source", []Waiting{waits(1, 12, "same", 5), waits(1, 11, "same", 4)}, "T11[11 12]"},
		{"B3: a post repeats an article", []Waiting{waits(1, 11, "same", 4), waits(3, 12, "same", 5), waits(3, 13, "own", 6)}, "T11[11 12] Posts from @golang — Feb 16, 2026[13]"},
		{"B3: an article repeats a post", []Waiting{waits(3, 11, "same", 4), waits(1, 12, "same", 5)}, "Posts from @golang — Feb 16, 2026[11 12]"},
		{"B3: the same item in other words", []Waiting{waits(1, 11, "long", 4), waits(2, 11, "short", 4)}, "T11[11 11]"},
		{"B3: a chain of content and item", []Waiting{waits(1, 11, "x", 1), waits(2, 11, "y", 2), waits(2, 12, "y", 3)}, "T11[11 11 12]"},
		{"known before", []Waiting{knownAs(waits(1, 11, "a", 4), 99), waits(1, 12, "b", 5)}, "99[11] T12[12]"},
		{"two that are known as one", []Waiting{knownAs(waits(1, 11, "a", 4), 99), knownAs(waits(3, 12, "a", 5), 99)}, "99[11 12]"},
		{"a copy of a copy of what is known", []Waiting{knownAs(waits(1, 11, "a", 4), 99), waits(2, 11, "b", 5)}, "99[11 11]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, a := range b.Compose(c.posts) {
				name := a.Title
				if a.ID != 0 {
					name = a.ID.String()
				}
				var items []string
				for _, p := range a.Posts {
					items = append(items, p.Item.String())
				}
				got = append(got, fmt.Sprint(name, items))
				if a.Briefing != b.ID {
					t.Errorf("%s belongs to briefing %s", name, a.Briefing)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%s\nwant %s", strings.Join(got, " "), c.want)
			}
		})
	}
}

// What was given is left in its order.
func TestComposeLeavesItsInput(t *testing.T) {
	posts := []Waiting{waits(1, 12, "b", 5), waits(1, 11, "a", 4)}
	before := slices.Clone(posts)
	(&Briefing{Sources: []BriefingSource{{Source: Source{ID: 1}}}}).Compose(posts)
	if !slices.Equal(posts, before) {
		t.Error("the posts were sorted in place")
	}
}

// B2: bodies joined by a rule, each with its time.
func TestGather(t *testing.T) {
	yes := true
	blank := waits(1, 12, "", 90)
	noLink := waits(1, 13, "Third.", 120)
	noLink.URL = ""
	b := Briefing{Sources: []BriefingSource{{Source: Source{ID: 1, URL: "https://u:secret@a.example/feed", Title: "A", SiteURL: "https://a.example/"}, Aggregate: &yes}}}
	a := b.Compose([]Waiting{waits(1, 11, "First.\nIts second line.", 0), blank, noLink})[0]
	const want = `Feb 16, 2026 09:00 UTC

First.
Its second line.

https://e.example/11

---

Feb 16, 2026 10:30 UTC

T12

https://e.example/12

---

Feb 16, 2026 11:00 UTC

Third.`
	if a.Text != want {
		t.Errorf("the text is\n%s\nwant\n%s", a.Text, want)
	}
	if a.Title != "Posts from A — Feb 16, 2026" || a.URL != "https://a.example/" || !a.PublishedAt.Equal(noLink.PublishedAt) {
		t.Errorf("title %q, address %q, published %v", a.Title, a.URL, a.PublishedAt)
	}
}
