package page

import "strings"

// headline chooses a page's title: what it gives to those who share it (og:title, then linked data), else its
// <title>, else its first heading. What is only the site's name is none, and from "Heading | Site" the site goes.
func (m *meta) headline(site string) string {
	for _, title := range []string{m.first("og:title"), m.ld.headline, m.first("twitter:title"), m.title} {
		if title = m.withoutSite(title, site); title != "" && !strings.EqualFold(title, site) {
			return title
		}
	}
	for _, title := range []string{m.h1, m.title} {
		if title != "" {
			return title
		}
	}
	return m.first("og:title")
}

// separators stand between a page's title and its site's name.
var separators = []string{" | ", " – ", " — ", " - ", " · ", " • ", " » ", " « ", " :: ", " : ", ": ", " / ", "｜", "_"}

// withoutSite takes the site's name off either end of a title. Where the site did not say its name, the part that
// is a heading of the page stays.
func (m *meta) withoutSite(title, site string) string {
	if m.headings[fold(title)] {
		return title
	}
	for _, separator := range separators {
		first, last := strings.Index(title, separator), strings.LastIndex(title, separator)
		for _, at := range []int{last, first} {
			if at < 0 {
				break
			}
			before, after := strings.TrimSpace(title[:at]), strings.TrimSpace(title[at+len(separator):])
			switch {
			case strings.EqualFold(after, site), m.headings[fold(before)]:
				return before
			case strings.EqualFold(before, site), m.headings[fold(after)]:
				return after
			}
		}
	}
	return title
}

func fold(s string) string { return strings.ToLower(strings.TrimSpace(s)) }
