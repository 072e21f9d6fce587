package web

import (
	"time"

	"freshet"
)

// day is what the river has of one day.
type day struct {
	Date  time.Time
	Parts []part
}

// part is an item of a day, or a run of items that is folded into one row.
type part struct {
	Items []freshet.Item
	Here  bool // the reader was here: what is newer came since
}

// Folded says that the part is a run.
func (p part) Folded() bool { return len(p.Items) > 1 }

// First is the newest item.
func (p part) First() freshet.Item { return p.Items[0] }

// Source is where a run comes from.
func (p part) Source() freshet.ItemSource {
	if sources := p.Items[0].Sources; len(sources) > 0 {
		return sources[0]
	}
	return freshet.ItemSource{}
}

const (
	shortestRun = 5
	longestRun  = time.Hour
)

// days puts items, newest first, under their days. here is the index of the item that the reader was at, -1 for none;
// fold makes runs, which reach neither over the end of a day nor over where the reader was.
func days(items []freshet.Item, here int, fold bool) (list []day) {
	for at := 0; at < len(items); {
		date := items[at].PublishedAt.UTC().Truncate(24 * time.Hour)
		if len(list) == 0 || !list[len(list)-1].Date.Equal(date) {
			list = append(list, day{Date: date})
		}
		size := 1
		if fold {
			size = run(items[at:], here-at)
		}
		today := &list[len(list)-1]
		today.Parts = append(today.Parts, part{Items: items[at : at+size], Here: at == here})
		at += size
	}
	return list
}

// run is how many of the first items are folded into one row: five or more of one source within an hour of one day,
// else just the first. end is an index that it does not reach over when it is positive.
func run(items []freshet.Item, end int) int {
	first, n := &items[0], 1
	for ; n < len(items) && n != end; n++ {
		next := &items[n]
		if next.Source != first.Source || first.PublishedAt.Sub(next.PublishedAt) > longestRun || first.PublishedAt.UTC().Day() != next.PublishedAt.UTC().Day() {
			break
		}
	}
	if n < shortestRun {
		return 1
	}
	return n
}

// hasMany says whether items come from more than one source: what one source fills is not folded.
func hasMany(items []freshet.Item) bool {
	for i := range items {
		if items[i].Source != items[0].Source {
			return true
		}
	}
	return false
}

// hereIndex finds the first item that was there at the reader's last visit, -1 when the line does not belong on the page:
// there was no such visit, all items are newer, or all are older and the page does not follow a newer one.
func hereIndex(items []freshet.Item, after, line freshet.Place) int {
	if line == (freshet.Place{}) {
		return -1
	}
	for i := range items {
		if items[i].Place().Compare(line) >= 0 {
			if i == 0 && (after == freshet.Place{} || after.Compare(line) >= 0) {
				return -1
			}
			return i
		}
	}
	return -1
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
