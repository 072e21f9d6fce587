package page

import (
	"encoding/json"
	"strings"
)

// linked is what a page says of its article as linked data (JSON-LD with the words of schema.org).
type linked struct {
	headline, published, modified, image, language, site string
	body                                                 string // the article's text as HTML or plain
	pagePublished                                        string // of the page, where it names no article
	found                                                bool
}

// maxLinked bounds a block of linked data, in bytes.
const maxLinked = 1 << 20

// read notes a block of linked data. The first article of a page counts; a block that is broken does not.
func (l *linked) read(text string) {
	if len(text) > maxLinked {
		return
	}
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		l.value(v, 0)
	}
}

// value looks for the article in what a block has at its top: lists, graphs and main entities. It does
// not look into other properties, where lists of other pages' articles are.
func (l *linked) value(v any, depth int) {
	if depth > 6 {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			l.value(e, depth+1)
		}
	case map[string]any:
		l.object(v)
		for _, name := range []string{"@graph", "mainEntity", "mainEntityOfPage"} {
			l.value(v[name], depth+1)
		}
	}
}

func (l *linked) object(o map[string]any) {
	kind := kindOf(o["@type"])
	switch {
	case kind == "WebSite" && l.site == "":
		l.site = word(o["name"])
	case kind == "WebPage" && l.pagePublished == "":
		l.pagePublished = word(o["datePublished"])
	case isArticle(kind) && !l.found:
		l.found = true
		l.headline, l.published, l.modified = word(o["headline"]), word(o["datePublished"]), word(o["dateModified"])
		l.image, l.language = word(o["image"], "url", "contentUrl"), word(o["inLanguage"], "@value", "name")
		l.body, _ = o["articleBody"].(string)
		if publisher := word(o["publisher"], "name"); publisher != "" {
			l.site = publisher
		}
	}
}

// kindOf is the first of an object's types.
func kindOf(v any) string {
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	s, _ := v.(string)
	return s[strings.LastIndexByte(s, '/')+1:]
}

func isArticle(kind string) bool {
	switch kind {
	case "Report", "DiscussionForumPosting", "LiveBlogPosting", "BlogPosting", "SocialMediaPosting", "Review", "Recipe":
		return true
	}
	return strings.HasSuffix(kind, "Article")
}

// word is a text of linked data: itself, the first of a list, or one of an object's properties.
func word(v any, properties ...string) string {
	switch v := v.(type) {
	case string:
		return short(v)
	case []any:
		if len(v) > 0 {
			if _, nested := v[0].([]any); !nested {
				return word(v[0], properties...)
			}
		}
	case map[string]any:
		for _, name := range properties {
			if s, ok := v[name].(string); ok {
				return short(s)
			}
		}
	}
	return ""
}
