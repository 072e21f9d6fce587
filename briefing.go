package freshet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Briefing is a named set of sources whose posts are gathered into articles on demand (SPEC.md section 8).
type Briefing struct {
	ID        ID
	Name      string // no two have the same
	Owner     string // with whose credentials its sources are polled (S7); "" for the instance
	MaxAge    time.Duration
	Interval  time.Duration // at least so often its sources are polled (S2); 0 for what holds anyway
	Sources   []BriefingSource
	CreatedAt time.Time
	UpdatedAt time.Time
}

// BriefingSource is a source as a briefing has it.
type BriefingSource struct {
	Source    Source
	Aggregate *bool // nil: its kind decides (B2)
	AddedAt   time.Time
}

// NewBriefing is a briefing that nobody configured (B1).
func NewBriefing(name, owner string) Briefing {
	return Briefing{Name: name, Owner: owner, MaxAge: briefingAge}
}

const (
	maxBriefingName = 100
	maxBriefingAge  = 36500 * 24 * time.Hour
)

// Check refuses what cannot be kept with a *FieldError.
func (b *Briefing) Check() error {
	if b.Name != strings.TrimSpace(b.Name) || b.Name == "" || strings.ContainsFunc(b.Name, unicode.IsControl) {
		return &FieldError{"name", "must be a word or more on one line"}
	}
	for field, s := range map[string]string{"name": b.Name, "owner": b.Owner} {
		if len(s) > maxBriefingName {
			return &FieldError{field, fmt.Sprintf("must not be longer than %d bytes", maxBriefingName)}
		}
	}
	if b.Owner != strings.TrimSpace(b.Owner) || strings.ContainsFunc(b.Owner, unicode.IsControl) {
		return &FieldError{"owner", "must be a name on one line"}
	}
	if b.MaxAge <= 0 || b.MaxAge > maxBriefingAge {
		return &FieldError{"max_article_age_days", "must be more than 0 and at most 36500 days"}
	}
	if b.Interval < 0 || b.Interval > maxEvery*time.Minute {
		return &FieldError{"interval_minutes", fmt.Sprintf("must be between 0 and %d minutes (a year)", maxEvery)}
	}
	return nil
}

// JoinBriefings returns what briefings, the oldest first, ask of a source that all of them have, and whose
// credentials it is polled with: the first owner that one of them names (S7).
func JoinBriefings(briefings []Briefing) (p BriefingPolicy, owner string) {
	names := make([]string, len(briefings))
	for i, b := range briefings {
		names[i] = b.Name
		if p.ID == 0 {
			p.ID = b.ID
		}
		if b.Interval > 0 && (p.Interval == 0 || b.Interval < p.Interval) {
			p.Interval = b.Interval
		}
		p.MaxAge = max(p.MaxAge, b.MaxAge)
		owner = cmp.Or(owner, b.Owner)
	}
	p.Name = strings.Join(names, ", ")
	return p, owner
}

// Aggregates says whether one article takes all posts of the source (B2).
func (s BriefingSource) Aggregates() bool {
	if s.Aggregate != nil {
		return *s.Aggregate
	}
	return s.Source.Type == Twitter || OnNitter(HostOf(s.Source.URL))
}

// Window says which posts of a source a briefing takes.
type Window struct {
	From time.Time // published then or later (E6)
	// Since is when the source joined the briefing: what was published before and was there by then is
	// history. Zero where history is wanted.
	Since time.Time
}

// Window returns which posts of a source the briefing takes at now: what the source's own configuration says,
// else what the briefing says (E6). The river's rules do not count here.
func (b *Briefing) Window(s BriefingSource, now time.Time) Window {
	w := Window{From: now.Add(-b.MaxAge), Since: s.AddedAt}
	if d := s.Source.Config.MaxArticleAgeDays; d != nil {
		w.From = now.Add(-time.Duration(*d * float64(24*time.Hour)))
	}
	if skip := s.Source.Config.SkipHistory; skip != nil && !*skip {
		w.Since = time.Time{}
	}
	return w
}

// Waiting is a post that no article of a briefing stands for yet.
type Waiting struct {
	Source, Item       ID
	Hash               ContentHash
	Title, URL, Author string
	Text               string
	PublishedAt        time.Time
	// Article is the article of the briefing that stands for the same content or the same item already (B3).
	Article ID
}

// Article is what a briefing tells: a post, or several of one source (B2). It keeps its own text.
type Article struct {
	ID                 ID
	Briefing           ID
	Source             ID
	SourceName         string // "" when the source is gone
	Title, URL, Author string
	Text               string // plain
	PublishedAt        time.Time
	CreatedAt          time.Time
	ProcessedAt        time.Time // when it was acknowledged; zero until then
}

// Processed says that somebody acknowledged the article; it is kept for good then (D8).
func (a *Article) Processed() bool { return !a.ProcessedAt.IsZero() }

// Composed is an article with the posts that it stands for from now on. One that has an ID was there before.
type Composed struct {
	Article
	Posts []Waiting
}

// Compose turns waiting posts into articles (B2): one for all posts of a source that aggregates, else one for
// each. Of posts with the same content, or of the same item, the oldest makes the article, and the
// others are linked to it (B3). The order is that of the posts, oldest first.
func (b *Briefing) Compose(waiting []Waiting) []Composed {
	waiting = slices.Clone(waiting)
	slices.SortFunc(waiting, func(p, q Waiting) int {
		return cmp.Or(p.PublishedAt.Compare(q.PublishedAt), cmp.Compare(p.Source, q.Source), cmp.Compare(p.Item, q.Item))
	})
	sources := make(map[ID]BriefingSource, len(b.Sources))
	for _, s := range b.Sources {
		sources[s.Source.ID] = s
	}
	c := composer{byArticle: map[ID]int{}, byItem: map[ID]int{}, byHash: map[ContentHash]int{}, bySource: map[ID]int{}, own: map[ID][]Waiting{}}
	for _, p := range waiting {
		c.take(p, sources[p.Source])
	}
	for id, i := range c.bySource {
		c.list[i].gather(sources[id].Source, c.own[id])
	}
	for i := range c.list {
		c.list[i].Briefing = b.ID
	}
	return c.list
}

// composer finds the article that a post belongs to, as an index in list.
type composer struct {
	list              []Composed
	byArticle, byItem map[ID]int
	byHash            map[ContentHash]int
	bySource          map[ID]int       // of those that aggregate
	own               map[ID][]Waiting // what such a source gathers: no copies
}

func (c *composer) take(p Waiting, from BriefingSource) {
	i, ok := c.find(p)
	if !ok && from.Aggregates() {
		if i, ok = c.bySource[p.Source]; !ok {
			i = c.add(p)
			c.bySource[p.Source] = i
		}
		c.own[p.Source] = append(c.own[p.Source], p)
	} else if !ok {
		i = c.add(p)
	}
	c.byHash[p.Hash], c.byItem[p.Item] = i, i
	c.list[i].Posts = append(c.list[i].Posts, p)
}

// find returns the article that stands for the same content, before or since now.
func (c *composer) find(p Waiting) (i int, ok bool) {
	if p.Article != 0 {
		if i, ok = c.byArticle[p.Article]; !ok {
			i = len(c.list)
			c.list = append(c.list, Composed{Article: Article{ID: p.Article}})
			c.byArticle[p.Article] = i
		}
		return i, true
	}
	if i, ok = c.byHash[p.Hash]; !ok {
		i, ok = c.byItem[p.Item]
	}
	return i, ok
}

// add makes an article of a post.
func (c *composer) add(p Waiting) int {
	c.list = append(c.list, Composed{Article: Article{
		Source: p.Source, Title: p.Title, URL: p.URL, Author: p.Author, Text: p.Text, PublishedAt: p.PublishedAt,
	}})
	return len(c.list) - 1
}

// ArticleRule stands between the posts of an article, on a line of its own.
const ArticleRule = "---"

// gather makes the article one of all posts of its source, oldest first: titled by whose they are and the day
// of the newest, bodies joined by a rule, each with its time (B2).
func (a *Composed) gather(from Source, posts []Waiting) {
	last := posts[len(posts)-1]
	name := from.Name()
	a.URL, a.Author = from.SiteURL, ""
	if account := AccountURL(from.URL); account != "" {
		name = "@" + Handle(account)
		a.URL, a.Author = account, name
	}
	a.PublishedAt = last.PublishedAt
	a.Title = "Posts from " + name + " — " + last.PublishedAt.UTC().Format("Jan 2, 2006")
	parts := make([]string, len(posts))
	for i, p := range posts {
		parts[i] = p.PublishedAt.UTC().Format("Jan 2, 2006 15:04 UTC") + "\n\n" + cmp.Or(strings.TrimSpace(p.Text), p.Title)
		if p.URL != "" {
			parts[i] += "\n\n" + p.URL
		}
	}
	a.Text = strings.Join(parts, "\n\n"+ArticleRule+"\n\n")
}
