package freshet

import "time"

// Host is what all sources of one URL host share: the pause that its server asked for (S6).
type Host struct {
	ID        ID
	Name      string
	NotBefore time.Time // no source of the host is polled before; zero for no pause
	Failures  int       // answers of 429 and 503 in a row
	Status    int       // the last of them
}

// Cooling says whether the host is paused.
func (h Host) Cooling(now time.Time) bool { return now.Before(h.NotBefore) }

const (
	leastPause = time.Minute
	mostPause  = time.Hour
)

// Observe returns the host after an outcome (S6): a 429 or 503 pauses it until the time that it
// named, else for a minute, doubling up to an hour; any other answer from it ends the count, but may ask
// for a pause ahead of time.
func (h Host) Observe(o *Outcome, now time.Time) Host {
	f := o.Failure
	switch {
	case f != nil && f.CoolHost:
		h.Failures++
		h.Status = f.Status
		until := f.RetryAfter
		if until.IsZero() {
			until = now.Add(doubled(leastPause, h.Failures-1, mostPause))
		}
		if until.After(h.NotBefore) {
			h.NotBefore = until
		}
	case o.Pause.After(h.NotBefore):
		h.NotBefore, h.Status = o.Pause, o.Status
	case o.Status != 0 && h.Failures > 0 && !h.Cooling(now):
		h.Failures, h.Status, h.NotBefore = 0, 0, time.Time{}
	}
	return h
}
