package freshet

import (
	"fmt"
	"strings"
	"time"
)

// Explain says in plain words why a source is polled next when it is (S8), such as "every 15 min
// (the default); third failure in a row, next try after 5 min; the host asked for a pause until
// 14:20 UTC".
func (s Source) Explain(p Policy, h Host, now time.Time) string {
	if !s.Enabled {
		return strings.TrimSuffix("switched off; "+s.DisabledReason, "; ")
	}
	reasons := []string{"every " + Span(p.Interval) + " (" + p.From.Interval.asked() + ")"}
	if hint := time.Duration(s.Cursor.HintSeconds) * time.Second; hint > p.Interval && s.Failures == 0 {
		reasons = append(reasons, "the publisher asks for "+Span(hint)+" ("+s.Cursor.HintFrom+")")
	}
	switch {
	case s.Failures > 0:
		reasons = append(reasons, fmt.Sprintf("%s failure in a row, next try after %s", ordinal(s.Failures), Span(p.Backoff(s.Failures))))
		if f := s.LastFailure; f != nil && f.RetryAfter.After(now) && !h.Cooling(now) {
			reasons = append(reasons, "the server asked for a pause until "+clock(f.RetryAfter, now))
		}
	case s.Cursor.SyntheticPollAt != nil:
		reasons = append(reasons, "first polls are spread over the interval")
	case s.LastPollAt.IsZero():
		reasons = append(reasons, "never polled, so due at once")
	}
	if s.Refresh != 0 {
		reasons = append(reasons, "a refresh was asked for by hand")
	}
	if h.Cooling(now) {
		reasons = append(reasons, fmt.Sprintf("the host %s asked for a pause until %s (it answered %d)", h.Name, clock(h.NotBefore, now), h.Status))
	}
	return strings.Join(reasons, "; ")
}

// asked says in words who asked for an interval.
func (o Origin) asked() string {
	switch o {
	case FromSource:
		return "set for this source"
	case FromConfiguration:
		return "the configured default"
	case FromBuiltIn:
		return "the default"
	default:
		return "asked for by " + string(o)
	}
}

// Span writes a duration as people say it: "15 min", "1 h 30 min", "2 days".
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return trimZero(d.Seconds()) + " s"
	case d < time.Hour:
		return trimZero(d.Minutes()) + " min"
	case d < 2*day:
		h, m := int(d.Hours()), int(d.Minutes())%60
		if m == 0 {
			return fmt.Sprintf("%d h", h)
		}
		return fmt.Sprintf("%d h %d min", h, m)
	default:
		return trimZero(d.Hours()/24) + " days"
	}
}

func trimZero(f float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0") }

// clock writes a time of day, with the date when it is another day.
func clock(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04 UTC")
	}
	return t.Format("2 January 15:04 UTC")
}

var ordinals = []string{"", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}

func ordinal(n int) string {
	if n < len(ordinals) {
		return ordinals[n]
	}
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n, suffix)
}
