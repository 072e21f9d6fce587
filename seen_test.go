package freshet

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func article(id string, text string) Post {
	return Post{GUID: "https://site.example/" + id, URL: "https://site.example/" + id, Title: id, Text: text, Published: noon}
}

// sort reads a document into a window, as a poll that is not the first.
func sorted(t *testing.T, s Seen, posts ...Post) ([]Fate, Seen) {
	t.Helper()
	Identify(posts, 1, "site.example")
	return s.Sort(posts, Policy{MaxAge: 30 * 24 * time.Hour}, noon.AddDate(0, -1, 0), false, noon)
}

func TestSort(t *testing.T) {
	_, window := sorted(t, nil, article("a", "alpha"), article("b", "beta"))
	dated := func(p Post, at time.Time) Post { p.Published = at; return p }
	tests := []struct {
		name  string
		posts []Post
		want  []Fate
	}{
		{"New RSS entries stored as individual posts", []Post{article("c", "1"), article("d", "2"), article("e", "3")}, []Fate{New, New, New}},
		{"No new entries since last poll", []Post{article("a", "alpha"), article("b", "beta")}, []Fate{Known, Known}},
		{"New content detected on website", []Post{article("c", "gamma"), article("a", "alpha")}, []Fate{New, Known}},
		{"No content change on website", []Post{article("z", "alpha")}, []Fate{Known}},
		{"Identical content from different polls", []Post{article("another", "beta")}, []Fate{Known}},
		{"identical content in one document", []Post{article("c", "gamma"), article("d", "gamma")}, []Fate{New, Known}},
		{"an edited entry", []Post{article("a", "alpha, corrected")}, []Fate{Edited}},
		{"published late with an older date is still new", []Post{dated(article("c", "late"), noon.AddDate(0, 0, -20))}, []Fate{New}},
		{"older than the age limit", []Post{dated(article("c", "old"), noon.AddDate(0, 0, -31))}, []Fate{TooOld}},
		{"an edit of an old entry is an edit", []Post{dated(article("a", "again"), noon.AddDate(0, 0, -31))}, []Fate{Edited}},
		{"empty document", nil, []Fate{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, _ := sorted(t, window, tt.posts...); !slices.Equal(got, tt.want) {
				t.Errorf("fates = %v, want %v", got, tt.want)
			}
		})
	}
}

// E6 with the polling seed's scenarios.
func TestSortByAge(t *testing.T) {
	created := time.Date(2026, 2, 17, 10, 0, 0, 0, time.UTC)
	day := func(d, h int) time.Time { return time.Date(2026, 2, d, h, 0, 0, 0, time.UTC) }
	briefing := Policy{MaxAge: 7 * 24 * time.Hour, SkipHistory: true}
	river := Policy{MaxAge: 30 * 24 * time.Hour}
	tests := []struct {
		name      string
		policy    Policy
		first     bool
		published time.Time
		want      Fate
	}{
		{"Post older than max age is skipped", briefing, false, day(10, 11), TooOld},
		{"Post with null publishedAt is saved", briefing, false, time.Time{}, New},
		{"First poll of new source skips historical posts", briefing, true, day(15, 8), TooOld},
		{"First poll of new source accepts recent posts", briefing, true, day(17, 12), New},
		{"Subsequent polls ignore createdAt filter", briefing, false, day(16, 8), New},
		{"First poll with null publishedAt post is not filtered", briefing, true, time.Time{}, New},
		{"the river keeps the history of a new source", river, true, day(1, 8), New},
		{"a retention of zero keeps all", Policy{}, false, day(1, 8).AddDate(-20, 0, 0), New},
		{"exactly at the limit", briefing, false, day(10, 12), New},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := article("a", "alpha")
			p.Published = tt.published
			posts := identified(1, "site.example", p)
			fates, window := Seen(nil).Sort(posts, tt.policy, created, tt.first, noon)
			if fates[0] != tt.want {
				t.Errorf("fate = %v, want %v", fates[0], tt.want)
			}
			if again, _ := window.Sort(posts, tt.policy, created, false, noon); again[0] != Known {
				t.Errorf("fate at the next poll = %v, want Known", again[0])
			}
		})
	}
}

// D7a: the window follows the document, not the calendar.
func TestSeenFollowsTheDocument(t *testing.T) {
	var long []Post
	for i := range 500 {
		long = append(long, article(fmt.Sprint("listed", i), fmt.Sprint("text ", i)))
	}
	_, window := sorted(t, nil, long...)
	for poll := range 50 {
		fates, next := sorted(t, window, long...)
		if slices.ContainsFunc(fates, func(f Fate) bool { return f != Known }) {
			t.Fatalf("poll %d: what is still listed is not known", poll)
		}
		window = next
	}
	if window.Len() != 500 {
		t.Errorf("the window has %d entries, want the 500 of the document", window.Len())
	}
}

// An entry that drops out and comes back is not new, within four times the document's length.
func TestSeenRemembersWhatDroppedOut(t *testing.T) {
	document := func(from, n int) (posts []Post) {
		for i := from; i < from+n; i++ {
			posts = append(posts, article(fmt.Sprint(i), fmt.Sprint("text ", i)))
		}
		return posts
	}
	const n = 50
	var window Seen
	for from := 0; from <= 3*n; from += n {
		_, window = sorted(t, window, document(from, n)...)
	}
	if window.Len() != 4*n {
		t.Errorf("the window has %d entries, want four documents", window.Len())
	}
	if fates, _ := sorted(t, window, document(0, n)...); slices.Contains(fates, New) {
		t.Error("what came back is new")
	}
	_, window = sorted(t, window, document(4*n, n)...)
	if window.Len() != 4*n {
		t.Errorf("the window grows without bound: %d entries", window.Len())
	}
	_, short := sorted(t, nil, document(0, 120)...)
	for range 5 {
		_, short = sorted(t, short, document(1000, 1)...)
	}
	if short.Len() != 120 {
		t.Errorf("the window of a short document has %d entries, want 120", short.Len())
	}
}

// A document that lists one entry in two versions does not edit it at every poll.
func TestSeenTwoVersionsInOneDocument(t *testing.T) {
	fates, window := sorted(t, nil, article("a", "first"), article("a", "second"))
	if want := []Fate{New, Edited}; !slices.Equal(fates, want) {
		t.Fatalf("fates = %v, want %v", fates, want)
	}
	if fates, _ = sorted(t, window, article("a", "first"), article("a", "second")); !slices.Equal(fates, []Fate{Known, Known}) {
		t.Errorf("fates at the next poll = %v, want both known", fates)
	}
}

// An edit that is taken back is an edit too.
func TestSeenEditTakenBack(t *testing.T) {
	_, window := sorted(t, nil, article("a", "first"))
	_, window = sorted(t, window, article("a", "second"))
	if fates, _ := sorted(t, window, article("a", "first")); fates[0] != Edited {
		t.Errorf("fate = %v, want Edited", fates[0])
	}
}

func FuzzSort(f *testing.F) {
	f.Add([]byte("window"), "guid", "text")
	f.Fuzz(func(t *testing.T, window []byte, guid, text string) {
		posts := identified(1, "a", Post{GUID: guid, Text: text}, Post{GUID: text, Text: guid}, Post{GUID: guid, Text: text})
		_, next := Seen(window).Sort(posts, Policy{}, noon, false, noon)
		if fates, _ := next.Sort(posts, Policy{}, noon, false, noon); slices.ContainsFunc(fates, func(f Fate) bool { return f != Known }) {
			t.Errorf("what was just sorted is not known: %v", fates)
		}
	})
}

func BenchmarkSortUnchanged(b *testing.B) {
	var posts []Post
	for i := range 30 {
		posts = append(posts, article(fmt.Sprint(i), fmt.Sprint("text ", i)))
	}
	Identify(posts, 1, "site.example")
	_, window := Seen(nil).Sort(posts, Policy{}, noon, false, noon)
	b.ReportAllocs()
	for b.Loop() {
		window.Sort(posts, Policy{}, noon, false, noon)
	}
}
