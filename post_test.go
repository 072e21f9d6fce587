package freshet

import (
	"crypto/sha256"
	"testing"
)

// identified returns what Identify makes of posts of one document.
func identified(source ID, host string, posts ...Post) []Post {
	Identify(posts, source, host)
	return posts
}

// D1 and river seed 7.1: guid, else canonical URL, else nothing to merge by.
func TestIdentifyAcrossFeeds(t *testing.T) {
	const link = "https://site.example/article"
	tests := []struct {
		name         string
		a, b         Post
		hostA, hostB string
		want         bool // one article
	}{
		{"same permalink guid", Post{GUID: link}, Post{GUID: link, Title: "Elsewhere"}, "a", "b", true},
		{"same tag", Post{GUID: "tag:site.example,2026:1"}, Post{GUID: "tag:site.example,2026:1"}, "a", "b", true},
		{"same urn", Post{GUID: "urn:isbn:1"}, Post{GUID: "urn:isbn:1"}, "a", "b", true},
		{"same uuid", Post{GUID: "8b0ed7e5-2f6a-4b0c-a0d2-6a3b4a3f3b9c"}, Post{GUID: "8b0ed7e5-2f6a-4b0c-a0d2-6a3b4a3f3b9c"}, "a", "b", true},
		{"bare number on two hosts", Post{GUID: "17"}, Post{GUID: "17"}, "a", "b", false},
		{"bare number on one host", Post{GUID: "17"}, Post{GUID: "17"}, "a", "a", true},
		{"bare word on two hosts", Post{GUID: "post-17"}, Post{GUID: "post-17"}, "a", "b", false},
		{"a word with a colon is no URI", Post{GUID: "note: hello"}, Post{GUID: "note: hello"}, "a", "b", false},
		{"a scheme without authority is no address", Post{GUID: "http:17"}, Post{GUID: "http:17"}, "a", "b", false},
		{"white space around a guid", Post{GUID: " 17\n"}, Post{GUID: "17"}, "a", "a", true},
		{"no guid: same canonical URL", Post{URL: link + "?utm_source=a#top"}, Post{URL: "HTTPS://SITE.example/article?gclid=1"}, "a", "b", true},
		{"no guid: another URL", Post{URL: link}, Post{URL: link + "?id=2"}, "a", "b", false},
		{"blank guid counts as none", Post{GUID: "  ", URL: link}, Post{URL: link}, "a", "b", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := identified(1, tt.hostA, tt.a)[0], identified(2, tt.hostB, tt.b)[0]
			if got := a.Keys.Canonical() == b.Keys.Canonical(); got != tt.want {
				t.Errorf("one article: %v, want %v", got, tt.want)
			}
		})
	}
}

// D1: an entry with a guid and one without still meet by their address.
func TestIdentifyMeetsByURL(t *testing.T) {
	with := identified(1, "a", Post{GUID: "17", URL: "https://site.example/x"})[0]
	without := identified(2, "b", Post{URL: "https://site.example/x#y"})[0]
	if with.Keys.URL != without.Keys.URL || with.Keys.URL == (Key{}) {
		t.Error("the keys of the address differ")
	}
	if with.Keys.Canonical() != with.Keys.GUID {
		t.Error("the guid does not come first")
	}
}

// D1: without guid and address a post merges with nothing but itself.
func TestIdentifyOwnKey(t *testing.T) {
	post := Post{Title: "Note", Text: "Hello", Published: noon}
	same, other := identified(1, "a", post)[0], identified(1, "a", post)[0]
	if same.Keys.Canonical() != other.Keys.Canonical() {
		t.Error("the same post read twice has two keys")
	}
	if elsewhere := identified(2, "a", post)[0]; elsewhere.Keys.Canonical() == same.Keys.Canonical() {
		t.Error("the same words in another feed share a key")
	}
	later := post
	later.Published = noon.AddDate(0, 0, 1)
	if identified(1, "a", later)[0].Keys.Canonical() == same.Keys.Canonical() {
		t.Error("the same words on another day share a key")
	}
}

// D1: a guid that one document gives to entries with different links counts only with the link.
func TestIdentifyAmbiguousGUID(t *testing.T) {
	posts := identified(1, "a",
		Post{GUID: "https://site.example/", URL: "https://site.example/1"},
		Post{GUID: "https://site.example/", URL: "https://site.example/2"},
		Post{GUID: "https://site.example/", URL: "https://site.example/1?utm_source=rss"})
	if posts[0].Keys.Canonical() == posts[1].Keys.Canonical() {
		t.Error("two links under one guid are one article")
	}
	if posts[0].Keys.Canonical() != posts[2].Keys.Canonical() {
		t.Error("one link under one guid is two articles")
	}
	single := identified(1, "a",
		Post{GUID: "https://site.example/", URL: "https://site.example/1"},
		Post{GUID: "https://site.example/", URL: "https://site.example/1#comments"})
	if single[0].Keys.Canonical() != single[1].Keys.Canonical() {
		t.Error("a fragment makes another article")
	}
}

// E7: over the plain body; when that is blank, over title and URL.
func TestContentHash(t *testing.T) {
	hash := func(p Post) ContentHash { return identified(1, "a", p)[0].Hash }
	if got := hash(Post{Title: "T", Text: "Breaking news link"}); got != ContentHash(sha256.Sum256([]byte("Breaking news link"))) {
		t.Errorf("hash of a body = %x, want SHA-256 of the body", got)
	}
	if hash(Post{Title: "A", Text: "same"}) != hash(Post{Title: "B", Text: "same"}) {
		t.Error("the title counts though there is a body")
	}
	if hash(Post{Title: "A", URL: "https://a/1", Text: " \n"}) == hash(Post{Title: "A", URL: "https://a/2"}) {
		t.Error("link-only entries with different links are one")
	}
}
