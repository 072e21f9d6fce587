package discover

import (
	"net/url"
	"regexp"
	"strings"
)

// site turns the address of a page on a site whose habits are known into the addresses of its feeds; nil
// when the page is of another site, or when only the page itself can tell.
type site func(p page) []string

// sites are tried in this order until one answers.
var sites = []site{
	youtube, reddit, github, gitlab, gitea, medium, substack, bluesky, blogspot, wordpress, tumblr,
	stackExchange, hackerNews, vimeo, arxiv, pypi, crates, letterboxd, devTo, steam, mastodon,
}

// page is an address, cut up as sites look at it.
type page struct {
	host  string   // lower case, without www.
	parts []string // of the path
	query url.Values
}

func pageOf(u *url.URL) page {
	p := page{host: strings.TrimPrefix(u.Hostname(), "www."), query: u.Query()}
	for part := range strings.SplitSeq(u.EscapedPath(), "/") {
		if part != "" {
			p.parts = append(p.parts, part)
		}
	}
	return p
}

// part returns the i-th part of the path, "" beyond its end.
func (p page) part(i int) string {
	if i < len(p.parts) {
		return p.parts[i]
	}
	return ""
}

// known returns the feeds that an address means by its form alone.
func known(u *url.URL) []string {
	p := pageOf(u)
	for _, s := range sites {
		if feeds := s(p); feeds != nil {
			return feeds
		}
	}
	return nil
}

// youtube knows channels, users of old and playlists; a page of a @handle names its channel's feed.
func youtube(p page) []string {
	const feeds = "https://www.youtube.com/feeds/videos.xml?"
	if p.host != "youtube.com" && p.host != "m.youtube.com" {
		return nil
	}
	switch {
	case p.part(0) == "channel" && len(p.parts) > 1:
		return []string{feeds + "channel_id=" + p.part(1)}
	case p.part(0) == "user" && len(p.parts) > 1:
		return []string{feeds + "user=" + p.part(1)}
	case p.part(0) == "playlist" && p.query.Get("list") != "":
		return []string{feeds + "playlist_id=" + url.QueryEscape(p.query.Get("list"))}
	}
	return nil
}

// reddit adds .rss to whatever lists something.
func reddit(p page) []string {
	if p.host != "reddit.com" && p.host != "old.reddit.com" && p.host != "new.reddit.com" || len(p.parts) < 2 {
		return nil
	}
	parts := append([]string(nil), p.parts...)
	switch parts[0] {
	case "r":
	case "u", "user":
		parts[0] = "user"
	default:
		return nil
	}
	last := parts[len(parts)-1]
	if last == ".rss" || strings.HasSuffix(last, ".rss") {
		return nil // a feed already
	}
	return []string{"https://www.reddit.com/" + strings.Join(parts, "/") + "/.rss"}
}

// githubPages are the first parts of addresses on github.com that are nobody's.
var githubPages = map[string]bool{
	"about": true, "apps": true, "collections": true, "contact": true, "customer-stories": true, "enterprise": true, "events": true,
	"explore": true, "features": true, "issues": true, "login": true, "marketplace": true, "new": true, "notifications": true,
	"orgs": true, "pricing": true, "pulls": true, "search": true, "security": true, "settings": true, "signup": true, "site": true,
	"sponsors": true, "stars": true, "team": true, "topics": true, "trending": true,
}

func github(p page) []string {
	if p.host != "github.com" || len(p.parts) == 0 || githubPages[p.part(0)] {
		return nil
	}
	const base = "https://github.com/"
	if len(p.parts) == 1 {
		if strings.HasSuffix(p.part(0), ".atom") {
			return nil
		}
		return []string{base + p.part(0) + ".atom"}
	}
	repository := base + p.part(0) + "/" + strings.TrimSuffix(p.part(1), ".git")
	switch p.part(2) {
	case "":
		return []string{repository + "/releases.atom", repository + "/commits.atom", repository + "/tags.atom"}
	case "releases", "tags", "wiki", "discussions":
		return []string{repository + "/" + p.part(2) + ".atom"}
	case "commits", "tree":
		if len(p.parts) > 3 {
			return []string{repository + "/commits/" + strings.Join(p.parts[3:], "/") + ".atom"}
		}
		return []string{repository + "/commits.atom"}
	}
	return nil
}

func gitlab(p page) []string {
	if p.host != "gitlab.com" || len(p.parts) < 2 {
		return nil
	}
	parts := p.parts
	for i, part := range parts {
		if part == "-" {
			parts = parts[:i]
			break
		}
	}
	if len(parts) < 2 || strings.HasSuffix(parts[len(parts)-1], ".atom") {
		return nil
	}
	project := "https://gitlab.com/" + strings.Join(parts, "/")
	return []string{project + "/-/releases.atom", project + "/-/tags?format=atom", project + ".atom"}
}

// gitea knows the two large public places that run Gitea or Forgejo.
func gitea(p page) []string {
	if p.host != "codeberg.org" && p.host != "gitea.com" || len(p.parts) == 0 {
		return nil
	}
	base := "https://" + p.host + "/" + p.part(0)
	switch {
	case p.part(0) == "explore", strings.HasSuffix(p.parts[len(p.parts)-1], ".rss"), strings.HasSuffix(p.parts[len(p.parts)-1], ".atom"):
		return nil
	case len(p.parts) == 1:
		return []string{base + ".rss"}
	case p.part(2) == "" || p.part(2) == "releases":
		return []string{base + "/" + p.part(1) + "/releases.rss", base + "/" + p.part(1) + ".rss"}
	}
	return nil
}

func medium(p page) []string {
	if name, ok := strings.CutSuffix(p.host, ".medium.com"); ok && name != "" {
		if p.part(0) == "feed" {
			return nil
		}
		return []string{"https://" + p.host + "/feed"}
	}
	if p.host != "medium.com" || len(p.parts) == 0 || p.part(0) == "feed" {
		return nil
	}
	const feeds = "https://medium.com/feed/"
	switch {
	case p.part(0) == "tag" && len(p.parts) > 1:
		return []string{feeds + "tag/" + p.part(1)}
	case p.part(1) == "tagged" && len(p.parts) > 2:
		return []string{feeds + p.part(0) + "/tagged/" + p.part(2)}
	}
	return []string{feeds + p.part(0)}
}

func substack(p page) []string {
	if name, ok := strings.CutSuffix(p.host, ".substack.com"); !ok || name == "" || p.part(0) == "feed" {
		return nil
	}
	return []string{"https://" + p.host + "/feed"}
}

func bluesky(p page) []string {
	if p.host != "bsky.app" || p.part(0) != "profile" || len(p.parts) != 2 {
		return nil
	}
	return []string{"https://bsky.app/profile/" + p.part(1) + "/rss"}
}

var blogspotHost = regexp.MustCompile(`^[^.]+\.blogspot\.(com|[a-z]{2}|com?\.[a-z]{2})$`)

func blogspot(p page) []string {
	if !blogspotHost.MatchString(p.host) || p.part(0) == "feeds" {
		return nil
	}
	feeds := "https://" + p.host + "/feeds/posts/default"
	if p.part(0) == "search" && p.part(1) == "label" && len(p.parts) > 2 {
		return []string{feeds + "/-/" + p.part(2)}
	}
	return []string{feeds}
}

func wordpress(p page) []string {
	if name, ok := strings.CutSuffix(p.host, ".wordpress.com"); !ok || name == "" {
		return nil
	}
	for _, part := range p.parts {
		if part == "feed" {
			return nil
		}
	}
	if (p.part(0) == "category" || p.part(0) == "tag" || p.part(0) == "author") && len(p.parts) == 2 {
		return []string{"https://" + p.host + "/" + p.part(0) + "/" + p.part(1) + "/feed/"}
	}
	return []string{"https://" + p.host + "/feed/"}
}

// tumblrPages are the first parts of addresses on www.tumblr.com that are no blog's.
var tumblrPages = map[string]bool{
	"dashboard": true, "explore": true, "login": true, "register": true, "search": true, "tagged": true, "about": true, "settings": true, "communities": true,
}

func tumblr(p page) []string {
	if name, ok := strings.CutSuffix(p.host, ".tumblr.com"); ok && name != "" {
		switch p.part(0) {
		case "rss":
			return nil
		case "tagged":
			if len(p.parts) > 1 {
				return []string{"https://" + p.host + "/tagged/" + p.part(1) + "/rss"}
			}
		}
		return []string{"https://" + p.host + "/rss"}
	}
	if p.host != "tumblr.com" {
		return nil
	}
	name := p.part(0)
	if name == "blog" && p.part(1) == "view" {
		name = p.part(2)
	}
	if name == "" || tumblrPages[name] || !hostLabel.MatchString(name) {
		return nil
	}
	return []string{"https://" + name + ".tumblr.com/rss"}
}

var hostLabel = regexp.MustCompile(`^[a-zA-Z0-9-]{1,63}$`)

func stackExchange(p page) []string {
	switch {
	case p.host == "stackoverflow.com", p.host == "superuser.com", p.host == "serverfault.com", p.host == "askubuntu.com",
		p.host == "mathoverflow.net", strings.HasSuffix(p.host, ".stackexchange.com"), strings.HasSuffix(p.host, ".stackoverflow.com"):
	default:
		return nil
	}
	feeds := "https://" + p.host + "/feeds"
	switch {
	case len(p.parts) == 0, len(p.parts) == 1 && p.part(0) == "questions":
		return []string{feeds}
	case p.part(0) == "questions" && p.part(1) == "tagged" && len(p.parts) > 2:
		return []string{feeds + "/tag?tagnames=" + strings.ReplaceAll(p.part(2), "+", "%20") + "&sort=newest"}
	case p.part(0) == "questions" && isNumber(p.part(1)):
		return []string{feeds + "/question/" + p.part(1)}
	case p.part(0) == "users" && isNumber(p.part(1)):
		return []string{feeds + "/user/" + p.part(1)}
	}
	return nil
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func hackerNews(p page) []string {
	if p.host != "news.ycombinator.com" || len(p.parts) > 1 || p.part(0) != "" && p.part(0) != "news" {
		return nil
	}
	return []string{"https://news.ycombinator.com/rss"}
}

func vimeo(p page) []string {
	switch {
	case p.host != "vimeo.com" || len(p.parts) == 0 || isNumber(p.part(0)):
		return nil
	case (p.part(0) == "channels" || p.part(0) == "groups") && len(p.parts) == 2:
		return []string{"https://vimeo.com/" + p.part(0) + "/" + p.part(1) + "/videos/rss"}
	case len(p.parts) == 1:
		return []string{"https://vimeo.com/" + p.part(0) + "/videos/rss"}
	}
	return nil
}

func arxiv(p page) []string {
	if p.host != "arxiv.org" || p.part(0) != "list" || len(p.parts) < 2 {
		return nil
	}
	return []string{"https://rss.arxiv.org/rss/" + p.part(1)}
}

func pypi(p page) []string {
	if p.host != "pypi.org" || p.part(0) != "project" || len(p.parts) < 2 {
		return nil
	}
	return []string{"https://pypi.org/rss/project/" + p.part(1) + "/releases.xml"}
}

func crates(p page) []string {
	if p.host != "crates.io" || p.part(0) != "crates" || len(p.parts) < 2 {
		return nil
	}
	return []string{"https://static.crates.io/rss/crates/" + p.part(1) + ".xml"}
}

func letterboxd(p page) []string {
	if p.host != "letterboxd.com" || len(p.parts) != 1 {
		return nil
	}
	return []string{"https://letterboxd.com/" + p.part(0) + "/rss/"}
}

func devTo(p page) []string {
	if p.host != "dev.to" || len(p.parts) == 0 || p.part(0) == "feed" {
		return nil
	}
	if p.part(0) == "t" && len(p.parts) > 1 {
		return []string{"https://dev.to/feed/tag/" + p.part(1)}
	}
	return []string{"https://dev.to/feed/" + p.part(0)}
}

func steam(p page) []string {
	if p.host != "store.steampowered.com" || len(p.parts) < 2 {
		return nil
	}
	for i, part := range p.parts[:len(p.parts)-1] {
		if part == "app" && isNumber(p.parts[i+1]) {
			return []string{"https://store.steampowered.com/feeds/news/app/" + p.parts[i+1]}
		}
	}
	return nil
}

// notMastodon are hosts with addresses like Mastodon's.
var notMastodon = map[string]bool{
	"youtube.com": true, "m.youtube.com": true, "tiktok.com": true, "threads.net": true, "threads.com": true, "substack.com": true,
}

var mastodonUser = regexp.MustCompile(`^@[A-Za-z0-9_]+([.-][A-Za-z0-9_]+)*$`)

// mastodon knows the profiles of Mastodon and its kin by their form, on whatever host.
func mastodon(p page) []string {
	if len(p.parts) != 1 || !mastodonUser.MatchString(p.part(0)) || notMastodon[p.host] ||
		strings.HasSuffix(p.part(0), ".rss") || strings.HasSuffix(p.part(0), ".atom") {
		return nil
	}
	return []string{"https://" + p.host + "/" + p.part(0) + ".rss"}
}
