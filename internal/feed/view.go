package feed

import (
	"encoding/json"
	"io"
	"time"
)

// The view of a document in the JSON that freshet parse writes: the fields of SPEC.md E1 under the names of its API.
type (
	documentView struct {
		Format  string      `json:"format,omitempty"`
		Partial string      `json:"partial,omitempty"`
		Feed    feedView    `json:"feed"`
		Entries []entryView `json:"entries"`
	}
	feedView struct {
		Title               string   `json:"title"`
		Link                string   `json:"link"`
		TTLMinutes          int64    `json:"ttl_minutes,omitempty"`
		UpdatePeriodMinutes int64    `json:"update_period_minutes,omitempty"`
		SkipHours           []int    `json:"skip_hours,omitempty"`
		SkipDays            []string `json:"skip_days,omitempty"`
	}
	entryView struct {
		GUID        string     `json:"guid"`
		URL         string     `json:"url"`
		Title       string     `json:"title"`
		Author      string     `json:"author"`
		PublishedAt *time.Time `json:"published_at"`
		UpdatedAt   *time.Time `json:"updated_at"`
		SummaryText string     `json:"summary_text"`
		ContentText string     `json:"content_text"`
		Image       string     `json:"image,omitempty"`
		Enclosures  []fileView `json:"enclosures"`
		Media       []fileView `json:"media"`
	}
	fileView struct {
		URL    string `json:"url"`
		Type   string `json:"type,omitempty"`
		Length int64  `json:"length,omitempty"`
	}
)

// WriteJSON writes the document in a line of JSON, or indented for people. content_text is the body:
// the content, or else the summary.
func (d *Document) WriteJSON(w io.Writer, pretty bool) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if pretty {
		e.SetIndent("", "  ")
	}
	return e.Encode(d.view())
}

func (d *Document) view() documentView {
	v := documentView{Format: d.Format, Partial: d.Partial, Entries: make([]entryView, len(d.Entries))}
	v.Feed = feedView{
		Title: d.Title, Link: d.SiteURL,
		TTLMinutes: int64(d.TTL / time.Minute), UpdatePeriodMinutes: int64(d.UpdatePeriod / time.Minute),
	}
	for h := range 24 {
		if d.SkipHours&(1<<h) != 0 {
			v.Feed.SkipHours = append(v.Feed.SkipHours, h)
		}
	}
	for day := time.Sunday; day <= time.Saturday; day++ {
		if d.SkipDays&(1<<day) != 0 {
			v.Feed.SkipDays = append(v.Feed.SkipDays, day.String())
		}
	}
	for i := range d.Entries {
		v.Entries[i] = viewEntry(&d.Entries[i])
	}
	return v
}

func viewEntry(e *Entry) entryView {
	return entryView{
		GUID: e.GUID, URL: e.URL, Title: e.Title, Author: e.Author,
		PublishedAt: viewTime(e.Published), UpdatedAt: viewTime(e.Updated),
		SummaryText: e.Summary, ContentText: e.Text(), Image: e.Image,
		Enclosures: viewFiles(e.Enclosures), Media: viewFiles(e.Media),
	}
}

// viewTime is nil for a time that is not known or that JSON cannot show.
func viewTime(t time.Time) *time.Time {
	if t.IsZero() || t.Year() < 0 || t.Year() > 9999 {
		return nil
	}
	return &t
}

func viewFiles(files []Enclosure) []fileView {
	v := make([]fileView, len(files))
	for i, f := range files {
		v[i] = fileView(f)
	}
	return v
}
