package reader

import (
	"strings"
	"time"

	"freshet"
)

// xPost is a post as the X API gives it.
type xPost struct {
	ID         string    `json:"id"`
	Text       string    `json:"text"`
	CreatedAt  string    `json:"created_at"`
	Entities   xEntities `json:"entities"`
	Long       *xLong    `json:"note_tweet"` // the whole text where Text is cut
	References []struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	} `json:"referenced_tweets"`
	Edits []string `json:"edit_history_tweet_ids"` // its own number is the last
}

type xLong struct {
	Text     string    `json:"text"`
	Entities xEntities `json:"entities"`
}

type xEntities struct {
	URLs []struct {
		URL      string `json:"url"`
		Expanded string `json:"expanded_url"`
	} `json:"urls"`
}

// titleLength is how many characters of a post make its title (E4).
const titleLength = 100

// post returns the post of an account. Its guid names the first version of what is said, so that an edit is
// an edit and a repost meets the original.
func (p *xPost) post(username string) freshet.Post {
	text, entities := p.Text, p.Entities
	if p.Long != nil && p.Long.Text != "" {
		text, entities = p.Long.Text, p.Long.Entities
	}
	text = entities.expand(text)
	post := freshet.Post{
		GUID: freshet.StatusURL(p.origin(username)), URL: freshet.AccountURL(username) + "/status/" + p.ID,
		Title: folded(text), Text: text, Author: "@" + username, Published: xTime(p.CreatedAt),
	}
	if cut := firstRunes(post.Title, titleLength); cut != post.Title {
		post.Title = cut + "..."
	}
	return post
}

// origin is the number by which the post is known. What an account reposts of its own is news of another day.
func (p *xPost) origin(username string) string {
	for _, r := range p.References {
		own := strings.HasPrefix(strings.ToLower(p.Text), "rt @"+strings.ToLower(username)+":")
		if r.Type == "retweeted" && isID(r.ID) && !own {
			return r.ID
		}
	}
	if len(p.Edits) > 0 && isID(p.Edits[0]) {
		return p.Edits[0]
	}
	return p.ID
}

// mostLinks bounds the links of a post that are written out.
const mostLinks = 100

var xEscapes = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// expand writes short links out, leaves those to the post's own pictures away, and undoes X's escapes.
func (e xEntities) expand(text string) string {
	for i, u := range e.URLs {
		long := freshet.WebLink(u.Expanded)
		if i == mostLinks || u.URL == "" || long == "" {
			continue
		}
		if isMedia(long) {
			long = ""
		}
		text = strings.ReplaceAll(text, u.URL, long)
	}
	return strings.TrimSpace(xEscapes.Replace(text))
}

// isMedia says whether a link leads to a picture or video of a post.
func isMedia(link string) bool {
	return strings.HasPrefix(freshet.CanonicalURL(link), freshet.StatusURL("")) && (strings.Contains(link, "/photo/") || strings.Contains(link, "/video/"))
}

// xTime reads a time in either of X's forms, zero for neither.
func xTime(s string) time.Time {
	for _, layout := range []string{time.RFC3339, time.RubyDate} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// folded is a text on one line.
func folded(s string) string { return strings.Join(strings.Fields(s), " ") }

// firstRunes returns the first n characters of a text.
func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
