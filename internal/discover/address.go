package discover

import (
	"net/url"
	"regexp"
	"strings"

	"freshet/internal/fetch"
)

// Short forms that people paste.
var (
	fediverseName = regexp.MustCompile(`^@([A-Za-z0-9_][A-Za-z0-9_.-]*)@([^@/\s]+\.[^@/\s]+)$`)
	redditName    = regexp.MustCompile(`^/?(r|u|user)/([A-Za-z0-9_-]{2,30})/?$`)
	blueskyName   = regexp.MustCompile(`^@?([a-z0-9-]+\.bsky\.social)$`)
)

// readAddress reads what a person pasted: an address, with or without a scheme, or a name by which
// people know a source (@user@mastodon.example, r/golang, @name.bsky.social). Guessed means that nobody wrote https.
func readAddress(pasted string) (u *url.URL, guessed bool, err error) {
	pasted = strings.TrimSpace(pasted)
	if m := fediverseName.FindStringSubmatch(pasted); m != nil {
		pasted = "https://" + m[2] + "/@" + m[1]
	} else if m := redditName.FindStringSubmatch(pasted); m != nil {
		pasted = "https://www.reddit.com/" + m[1] + "/" + m[2]
	} else if m := blueskyName.FindStringSubmatch(pasted); m != nil {
		pasted = "https://bsky.app/profile/" + m[1]
	}
	u, _, err = fetch.CheckURL(pasted)
	if err != nil {
		return nil, false, err
	}
	return u, u.Scheme == "https" && !strings.Contains(strings.ToLower(pasted), "https:"), nil
}

// commonPlaces are the addresses at which many sites keep their feed: in the folder of the page and at the root of
// the host, six in all.
func commonPlaces(u *url.URL) []string {
	root := u.Scheme + "://" + u.Host
	dir := strings.TrimSuffix(u.EscapedPath(), "/")
	if last := dir[strings.LastIndexByte(dir, '/')+1:]; strings.Contains(last, ".") { // a file such as index.html
		dir = strings.TrimSuffix(dir, "/"+last)
	}
	if dir == "" {
		return []string{root + "/feed", root + "/rss.xml", root + "/atom.xml", root + "/index.xml", root + "/feed.xml", root + "/rss"}
	}
	return []string{root + dir + "/feed", root + dir + "/index.xml", root + "/feed", root + "/rss.xml", root + "/atom.xml", root + "/index.xml"}
}
