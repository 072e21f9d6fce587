package reader

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"freshet"
)

// Whatever a page of posts holds, it becomes posts with a short title and a link to X, or nothing.
func FuzzXPosts(f *testing.F) {
	for _, text := range []string{
		`{"data":[{"id":"9","text":"RT @a: b","created_at":"2026-01-02T03:04:05.000Z","referenced_tweets":[{"type":"retweeted","id":"8"}],"edit_history_tweet_ids":["7","9"]}]}`,
		`{"data":[{"id":"9","text":"a https://t.co/1 &amp;lt;","entities":{"urls":[{"url":"https://t.co/1","expanded_url":"https://x.com/a/status/9/photo/1"}]}}],"meta":{"next_token":"x"}}`,
		`{"data":[{"id":"9","note_tweet":{"text":"é\u0000","entities":{"urls":[{"url":"é","expanded_url":"http://é"}]}}}],"errors":[{"title":"t"}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got xAnswer[[]xPost]
		if json.Unmarshal(text, &got) != nil {
			return
		}
		for i := range got.Data {
			p := got.Data[i].post("name")
			if n := utf8.RuneCountInString(p.Title); n > titleLength+3 || strings.ContainsAny(p.Title, "\n\r\t") {
				t.Errorf("a title of %d characters: %q", n, p.Title)
			}
			if !strings.HasPrefix(p.URL, "https://x.com/name/status/") || !strings.HasPrefix(p.GUID, freshet.StatusURL("")) {
				t.Errorf("url %q, guid %q", p.URL, p.GUID)
			}
		}
	})
}
