package freshet

import (
	"fmt"
	"math"
	"time"
)

// Cadence is how often a source may be fetched (seed 001): {"mode": "interval", "every_minutes": 480}.
type Cadence struct {
	Mode         string  `json:"mode"`
	EveryMinutes float64 `json:"every_minutes"`
}

// Every returns the cadence as a duration.
func (c Cadence) Every() time.Duration { return time.Duration(c.EveryMinutes * float64(time.Minute)) }

// maxEvery is a year: more is a mistake, and far less than what a Duration holds.
const maxEvery = 366 * 24 * 60

// check refuses a cadence that cannot be kept.
func (c Cadence) check() error {
	if c.Mode != "" && c.Mode != "interval" {
		return &FieldError{"config.cadence.mode", `only "interval" is known`}
	}
	if !(c.EveryMinutes > 0) || c.EveryMinutes > maxEvery {
		return &FieldError{"config.cadence.every_minutes", fmt.Sprintf("must be more than 0 and at most %d minutes (a year)", maxEvery)}
	}
	return nil
}

// Due says whether a source may be polled (S3). A source that is not scheduled never is (S7).
func (s Source) Due(now time.Time) bool {
	return s.Enabled && !s.NextPollAt.IsZero() && !now.Before(s.NextPollAt)
}

// DueForIngest says whether an ingest run fetches the source (S10, seed 001): always when it has
// no cadence, else when its last fetch is missing or at least the cadence ago.
func (s Source) DueForIngest(now time.Time) bool {
	if !s.Enabled {
		return false
	}
	c := s.Config.Cadence
	last := s.Cursor.LastFetchAt
	return c == nil || last == nil || now.Sub(*last) >= c.Every()
}

// Backoff returns how long to wait after the n-th failure in a row (S5). It is the interval for
// n = 0 and never overflows.
func (p Policy) Backoff(n int) time.Duration {
	if n <= 0 {
		return p.Interval
	}
	if p.Retry == Exponential {
		return max(p.Interval, doubled(p.Interval, n, p.MaxBackoff))
	}
	switch {
	case n <= 2:
		return p.Interval
	case n == 3:
		return 5 * time.Minute
	case n == 4:
		return 15 * time.Minute
	default:
		return time.Hour
	}
}

// doubled returns d x 2^n, at most limit.
func doubled(d time.Duration, n int, limit time.Duration) time.Duration {
	if f := math.Ldexp(float64(d), min(n, 1000)); f < float64(limit) {
		return time.Duration(f)
	}
	return limit
}

// Spread returns the synthetic last poll of a source that was never polled (S4): now minus a part
// of the interval, where part is a random number in [0, 1).
func Spread(now time.Time, interval time.Duration, part float64) time.Time {
	return now.Add(-time.Duration(part * float64(interval)))
}

// SpreadOverdue returns when to poll a source that missed at least one whole interval while nothing
// ran (S5): within the interval or five minutes, whichever is less, from now.
func SpreadOverdue(now time.Time, interval time.Duration, part float64) time.Time {
	return now.Add(time.Duration(part * float64(min(interval, 5*time.Minute))))
}

// maxHint is the most that a publisher's hints may lengthen an interval by (F3).
const maxHint = 24 * time.Hour

// Hints are what a publisher asks of pollers. They may lengthen the interval, up to a day, never
// shorten it (F3).
type Hints struct {
	Every     time.Duration `json:"every_ns,omitempty"`   // ttl, sy:updatePeriod or max-age, the longest
	From      string        `json:"from,omitempty"`       // which of them, in words
	SkipHours uint32        `json:"skip_hours,omitempty"` // bit h: do not ask in UTC hour h
	SkipDays  uint8         `json:"skip_days,omitempty"`  // bit d: do not ask on weekday d, Sunday = 0
}

// Lengthened returns the hints with a wish added, if it is a longer one.
func (h Hints) Lengthened(every time.Duration, from string) Hints {
	if every > h.Every {
		h.Every, h.From = every, from
	}
	return h
}

// Next returns when to ask again after a success at last.
func (h Hints) Next(last time.Time, interval time.Duration) time.Time {
	next := last.Add(max(interval, min(h.Every, maxHint)))
	for limit := last.Add(max(interval, maxHint)); h.skips(next); {
		step := next.Truncate(time.Hour).Add(time.Hour)
		if step.After(limit) {
			break
		}
		next = step
	}
	return next
}

func (h Hints) skips(t time.Time) bool {
	t = t.UTC()
	return h.SkipHours>>t.Hour()&1 == 1 || h.SkipDays>>int(t.Weekday())&1 == 1
}
