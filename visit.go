package freshet

import (
	"cmp"
	"time"
)

// VisitGap is how long a river is left alone before looking at it is a new visit.
const VisitGap = 30 * time.Minute

// Visit is where the reader is in a river. There are no unread counts: a line shows where the reader was, and it
// stays there while a visit lasts.
type Visit struct {
	Seen Place     // the newest item that was shown
	Line Place     // what Seen was when the visit began; zero on the first one
	At   time.Time // when the river was looked at last
}

// Show is the visit after the river was shown with its newest item.
func (v Visit) Show(newest Place, now time.Time) Visit {
	if now.Sub(v.At) > VisitGap {
		v.Line = v.Seen
	}
	return v.Reach(newest, now)
}

// Reach is the visit after the reader saw an item, or left.
func (v Visit) Reach(item Place, now time.Time) Visit {
	if item.Compare(v.Seen) < 0 {
		v.Seen = item
	}
	v.At = now
	return v
}

// Compare orders places as the river does: negative when p is newer than q (D4).
func (p Place) Compare(q Place) int {
	return cmp.Or(q.PublishedAt.Compare(p.PublishedAt), q.IngestedAt.Compare(p.IngestedAt), cmp.Compare(q.ID, p.ID))
}
