package discover

import (
	"context"
	"testing"
	"time"

	"freshet/internal/fetch"
)

// One request says what lies at an address of a list.
func TestLook(t *testing.T) {
	const tooMany = "https://busy.example/feed"
	for _, test := range []struct {
		address  string
		finding  Finding
		url      string
		entries  int
		feeds    int
		sentence string
	}{
		{address: "https://blog.example/feed/", finding: Works, url: "https://blog.example/feed/", entries: 4},
		{address: "https://blog.example/feed.rss", finding: Moved, url: "https://blog.example/feed/", entries: 4},
		{address: "https://blog.example/", finding: Page, feeds: 4},
		{address: "https://blog.example/bare/", finding: Dead, sentence: "This is a web page, not a feed."},
		{address: "https://blog.example/gone", finding: Dead, sentence: "blog.example has nothing at this address (404)."},
		{address: "https://blog.example/broken/", finding: Trouble, sentence: "blog.example has a problem of its own (500 Internal Server Error)."},
		{address: tooMany, finding: Trouble, sentence: "busy.example asks us to come less often (429)."},
	} {
		w := newWeb(t, "blog.txtar")
		w.answers[tooMany] = "HTTP/1.1 429 Too Many Requests\n\n"
		client := fetch.NewWith(w, fetch.Settings{})
		got := Look(t.Context(), func(ctx context.Context, url string) (*fetch.Response, error) {
			return client.Get(ctx, fetch.Request{URL: url})
		}, test.address)
		sentence := ""
		if got.Failure != nil {
			sentence = got.Failure.Sentence
		}
		if got.Finding != test.finding || got.URL != test.url || got.Entries != test.entries || len(got.Feeds) != test.feeds || sentence != test.sentence {
			t.Errorf("%s: %+v, %q\nwant %+v", test.address, got, sentence, test)
		}
		if newest := time.Date(2026, 11, 5, 10, 0, 0, 0, time.UTC); test.entries > 0 && (!got.Newest.Equal(newest) || got.Title != "A blog") {
			t.Errorf("%s: newest %v of %q", test.address, got.Newest, got.Title)
		}
	}
}
