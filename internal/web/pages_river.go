package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"freshet"
	"freshet/internal/store"
)

// riverPage is the river: items under day headings, with the filter that the address names (U1, U3).
type riverPage struct {
	layout
	Filter  riverFilter
	Days    []day
	Count   int
	Older   bool   // begins at a cursor: what is new does not belong here
	NextURL string // the next page; "" at the end
	Sources int    // how many sources there are at all
	Choices []choice
	Wrong   map[string]string // field of the filter -> what is wrong with it
	Feeds   []feedLink        // the same view as a feed
	OPML    string            // the sources of the view as a list
}

// riverFilter is the filter as the form shows it.
type riverFilter struct {
	Text, From, To string
	Feeds          []freshet.ID
	Names          []string // of the feeds
}

// Active says that the river is filtered.
func (f riverFilter) Active() bool {
	return f.Text != "" || f.From != "" || f.To != "" || len(f.Feeds) > 0
}

// day is the items of one day.
type day struct {
	Date  time.Time
	Items []freshet.Item
}

// choice is a source that the filter offers.
type choice struct {
	ID     freshet.ID
	Name   string
	Chosen bool
}

const (
	riverLimit = 200 // U1
	mostOffer  = 60  // sources that the filter lists; the sources page has them all
)

func (s *Server) showRiver(w http.ResponseWriter, r *http.Request) error {
	l, err := s.newLayout(r, "river", "River")
	if err != nil {
		return err
	}
	page := riverPage{layout: l, Wrong: map[string]string{}}
	query := page.readFilter(r.URL.Query())
	page.Feeds, page.OPML = feedLinks(r.URL.Query())
	if err := page.offer(r.Context(), s.Store); err != nil {
		return err
	}
	status := http.StatusOK
	if len(page.Wrong) > 0 {
		status = http.StatusUnprocessableEntity
		return render(w, status, "river", page)
	}
	result, err := s.Store.River(r.Context(), query)
	if err != nil {
		return err
	}
	page.Count, page.Older = len(result.Items), query.After != freshet.Place{}
	page.Days = byDay(result.Items)
	if result.More {
		q := r.URL.Query()
		q.Del("notice")
		q.Set("cursor", result.Next.String())
		page.NextURL = "/?" + q.Encode()
	}
	return render(w, status, "river", page)
}

// readFilter reads the filter out of the address; the names are those of GET /api/items.
func (p *riverPage) readFilter(q url.Values) store.RiverQuery {
	query := store.RiverQuery{Limit: riverLimit}
	f := &p.Filter
	f.Text, f.From, f.To = strings.TrimSpace(q.Get("q")), q.Get("start_date"), q.Get("end_date")
	query.Text = f.Text
	for _, list := range q["feed_ids"] {
		for id := range strings.SplitSeq(list, ",") {
			if parsed, err := freshet.ParseID(id); err == nil && !slices.Contains(f.Feeds, parsed) {
				f.Feeds = append(f.Feeds, parsed)
			}
		}
	}
	query.Sources = f.Feeds
	var err error
	if query.From, err = parseDay(f.From, false); err != nil {
		p.Wrong["start_date"] = err.Error()
	}
	if query.To, err = parseDay(f.To, true); err != nil {
		p.Wrong["end_date"] = err.Error()
	}
	if len(p.Wrong) == 0 && !query.From.IsZero() && !query.To.IsZero() && query.To.Before(query.From) {
		p.Wrong["end_date"] = "The end is before the start."
	}
	if c := q.Get("cursor"); c != "" {
		if query.After, err = freshet.ParsePlace(c); err != nil {
			p.Wrong["cursor"] = "This link to older items is broken. Begin again at the newest."
		}
	}
	return query
}

// offer fills the sources that the filter lists: all while they are few, the chosen ones always.
func (p *riverPage) offer(ctx context.Context, st *store.Store) (err error) {
	if p.Sources, err = st.CountSources(ctx); err != nil {
		return err
	}
	var filter store.SourceFilter
	if p.Sources > mostOffer {
		if len(p.Filter.Feeds) == 0 {
			return nil
		}
		filter.IDs = p.Filter.Feeds
	}
	sources, err := st.Sources(ctx, filter)
	for _, w := range sources {
		chosen := slices.Contains(p.Filter.Feeds, w.Source.ID)
		if chosen {
			p.Filter.Names = append(p.Filter.Names, w.Source.Name())
		}
		p.Choices = append(p.Choices, choice{ID: w.Source.ID, Name: w.Source.Name(), Chosen: chosen})
	}
	return err
}

var errDate = errors.New("Write a date as 2026-12-31.")

// parseDay reads a date of the form, or a time in RFC 3339; the end of a range means its whole day.
func parseDay(s string, end bool) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return t, errDate
	}
	if end {
		t = t.AddDate(0, 0, 1).Add(-time.Millisecond)
	}
	return t, nil
}

// byDay puts items, newest first, under their days.
func byDay(items []freshet.Item) []day {
	var days []day
	for _, item := range items {
		date := item.PublishedAt.UTC().Truncate(24 * time.Hour)
		if len(days) == 0 || !days[len(days)-1].Date.Equal(date) {
			days = append(days, day{Date: date})
		}
		last := &days[len(days)-1]
		last.Items = append(last.Items, item)
	}
	return days
}

// Name is the day as people call it.
func (d day) Name(now time.Time) string {
	switch today := now.UTC().Truncate(24 * time.Hour); {
	case d.Date.Equal(today):
		return "Today"
	case d.Date.Equal(today.AddDate(0, 0, -1)):
		return "Yesterday"
	case d.Date.Year() == today.Year():
		return d.Date.Format("Monday 2 January")
	default:
		return d.Date.Format("Monday 2 January 2006")
	}
}

// itemPage shows one item with its stored text.
type itemPage struct {
	layout
	Item store.ItemDetail
	Text []string // paragraphs
}

func (s *Server) showItem(w http.ResponseWriter, r *http.Request) error {
	id, err := freshet.ParseID(r.PathValue("id"))
	if err != nil {
		return err
	}
	detail, err := s.Store.Item(r.Context(), id)
	if err != nil {
		return err
	}
	l, err := s.newLayout(r, "river", detail.Title)
	if err != nil {
		return err
	}
	return render(w, http.StatusOK, "item", itemPage{layout: l, Item: detail, Text: paragraphs(detail.Body)})
}

// paragraphs are the lines of a text that say something.
func paragraphs(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
}
