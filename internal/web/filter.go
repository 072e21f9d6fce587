package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"freshet"
	"freshet/internal/store"
)

// filter is what an address says of the river to show, as it was written (U3). Its names are those of GET /api/items.
type filter struct {
	Text, From, To string
	Days           string // today (1) or the last so many
	Feeds          []string
	Folders        []string
	Types          []string
	cursor         string
}

// filterOf reads the filter of an address without judging it.
func filterOf(q url.Values) filter {
	f := filter{
		Text: strings.TrimSpace(q.Get("q")), From: q.Get("start_date"), To: q.Get("end_date"), Days: q.Get("days"),
		Folders: said(q["folders"]), Types: said(q["types"]), cursor: q.Get("cursor"),
	}
	for _, list := range q["feed_ids"] {
		f.Feeds = append(f.Feeds, strings.Split(list, ",")...)
	}
	f.Feeds = said(f.Feeds)
	if f.From != "" || f.To != "" {
		f.Days = ""
	}
	return f
}

// said are the values that say something, each once.
func said(values []string) (kept []string) {
	for _, v := range values {
		if v != "" && !slices.Contains(kept, v) {
			kept = append(kept, v)
		}
	}
	return kept
}

// Active says that something was chosen.
func (f filter) Active() bool { return len(f.Values()) > 0 }

// Values are the query of the address that means the filter, without a cursor.
func (f filter) Values() url.Values {
	q := url.Values{}
	for name, values := range map[string][]string{"feed_ids": f.Feeds, "folders": f.Folders, "types": f.Types,
		"q": said([]string{f.Text}), "start_date": said([]string{f.From}), "end_date": said([]string{f.To}), "days": said([]string{f.Days})} {
		if len(values) > 0 {
			q[name] = values
		}
	}
	return q
}

// input is the filter as GET /api/items has it; what is no number of days is one that is refused.
func (f filter) input() *itemsInput {
	in := &itemsInput{FeedIDs: f.Feeds, StartDate: f.From, EndDate: f.To, Q: f.Text, Folders: f.Folders, Types: f.Types, Paging: Paging{riverLimit, f.cursor}}
	if f.Days != "" {
		var err error
		if in.Days, err = strconv.Atoi(f.Days); err != nil {
			in.Days = -1
		}
	}
	return in
}

// maxDays bounds how far back days may go.
const maxDays = 3660

// riverQuery reads the filter of the river (D5, D6); the first field that cannot be used is the problem.
func riverQuery(in *itemsInput, now time.Time) (q store.RiverQuery, err error) {
	q = store.RiverQuery{Text: in.Q, Limit: in.Limit, Folders: said(in.Folders)}
	if q.Sources, err = feedIDs(in.FeedIDs); err != nil {
		return q, err
	}
	for _, kind := range said(in.Types) {
		if q.Types = append(q.Types, freshet.Type(kind)); kindWords[q.Types[len(q.Types)-1]] == "" {
			return q, invalidField("query.types", "there is no such type of feed", kind)
		}
	}
	if q.From, err = date("query.start_date", in.StartDate, false); err != nil {
		return q, err
	}
	if q.To, err = date("query.end_date", in.EndDate, true); err != nil {
		return q, err
	}
	if !q.From.IsZero() && !q.To.IsZero() && q.To.Before(q.From) {
		return q, invalidField("query.end_date", "the end of the range is before the start", in.EndDate)
	}
	if in.Days < 0 || in.Days > maxDays {
		return q, invalidField("query.days", "write a number of days from 1 to 3660", nil)
	}
	if in.Days > 0 && q.From.IsZero() && q.To.IsZero() {
		q.From = now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-in.Days)
	}
	if in.Cursor != "" {
		if q.After, err = freshet.ParsePlace(in.Cursor); err != nil {
			return q, brokenCursor(in.Cursor)
		}
	}
	return q, nil
}

// kindWords are the types of sources as the filter names them.
var kindWords = map[freshet.Type]string{
	freshet.RSS: "Feeds", freshet.Website: "Web pages", freshet.HTTP: "Other addresses", freshet.Twitter: "X accounts",
}

// chip is one thing that a filter asks for, with the address of the river without it.
type chip struct{ Text, URL string }

// chips are all that a filter asks for, in the form's order.
func (f filter) chips(nameOf map[string]string) (chips []chip) {
	add := func(text, name, value string) {
		q := f.Values()
		if q[name] = slices.DeleteFunc(slices.Clone(q[name]), func(v string) bool { return v == value }); len(q[name]) == 0 {
			q.Del(name)
		}
		chips = append(chips, chip{text, address("/", q)})
	}
	one := func(text, name, value string) {
		if value != "" {
			add(text, name, value)
		}
	}
	one("“"+f.Text+"”", "q", f.Text)
	one(daysWords(f.Days), "days", f.Days)
	one("from "+f.From, "start_date", f.From)
	one("to "+f.To, "end_date", f.To)
	for _, folder := range f.Folders {
		add("in "+folder, "folders", folder)
	}
	for _, kind := range f.Types {
		add(kindWords[freshet.Type(kind)], "types", kind)
	}
	for _, id := range f.Feeds {
		if name := nameOf[id]; name != "" {
			add(name, "feed_ids", id)
		} else {
			add("a source that is gone", "feed_ids", id)
		}
	}
	return chips
}

// Spans are the stretches of time that the form offers, and the one of the address when it is another.
func (f filter) Spans() []choice {
	spans := []choice{{"", "Any time", f.Days == ""}, {"1", "Today", f.Days == "1"}, {"7", "7 days", f.Days == "7"}, {"30", "30 days", f.Days == "30"}}
	if !slices.ContainsFunc(spans, func(c choice) bool { return c.Chosen }) {
		spans = append(spans, choice{f.Days, f.Days + " days", true})
	}
	return spans
}

func daysWords(days string) string {
	if days == "1" {
		return "today"
	}
	return "the last " + days + " days"
}

// address is a path with a query, if there is one.
func address(path string, q url.Values) string {
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}
