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
		f := s.LastFailure
		if f != nil && f.Until.After(now) {
			reasons = append(reasons, "paused until "+clock(f.Until, now)+": "+strings.TrimSuffix(f.Sentence, "."))
			break
		}
		reasons = append(reasons, fmt.Sprintf("%s failure in a row, next try after %s", ordinal(s.Failures), Span(p.Backoff(s.Failures))))
		if f != nil && f.RetryAfter.After(now) && !h.Cooling(now) {
			reasons = append(reasons, "the server asked for a pause until "+clock(f.RetryAfter, now))
		}
	case s.Cursor.SyntheticPollAt != nil:
		reasons = append(reasons, "first polls are spread over the interval")
	case s.LastPollAt.IsZero():
		reasons = append(reasons, "never polled, so due at once")
	}
	if x := s.Cursor.X; x != nil && x.Month == Month(now) && x.Reads > 0 {
		reasons = append(reasons, fmt.Sprintf("%d reads of X paid for this month", x.Reads))
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

// Rule is one value of a policy, in the unit in which it is configured, with who set it.
type Rule[T any] struct {
	Value T      `json:"value"`
	From  Origin `json:"from" doc:"this source, a workflow, briefing NAME, configuration or built in"`
}

// Rules is a policy as programs read it. The names are those of the configuration.
type Rules struct {
	IntervalMinutes    Rule[float64] `json:"interval_minutes" doc:"time between polls"`
	MinIntervalMinutes Rule[float64] `json:"min_interval_minutes" doc:"what the interval is not below"`
	Retry              Rule[Retry]   `json:"retry" doc:"how the wait grows while it fails"`
	MaxBackoffHours    Rule[float64] `json:"max_backoff_hours" doc:"longest wait of exponential"`
	PollDelaySeconds   Rule[float64] `json:"poll_delay_seconds" doc:"pause after each poll, towards its host"`
	MaxArticleAgeDays  Rule[float64] `json:"max_article_age_days" doc:"what was published earlier is not stored; 0 for no limit"`
	SkipHistory        Rule[bool]    `json:"skip_history" doc:"the first poll stores nothing that is older than the source"`
	DisableAfter       Rule[int]     `json:"disable_after" doc:"failures in a row that do not pass by themselves before it is switched off; 0 for never"`
}

// Rules returns the policy for programs (S8).
func (p Policy) Rules() Rules {
	f := p.From
	return Rules{
		IntervalMinutes:    Rule[float64]{p.Interval.Minutes(), f.Interval},
		MinIntervalMinutes: Rule[float64]{p.MinInterval.Minutes(), f.MinInterval},
		Retry:              Rule[Retry]{p.Retry, f.Retry},
		MaxBackoffHours:    Rule[float64]{p.MaxBackoff.Hours(), f.MaxBackoff},
		PollDelaySeconds:   Rule[float64]{p.Delay.Seconds(), f.Delay},
		MaxArticleAgeDays:  Rule[float64]{p.MaxAge.Hours() / 24, f.MaxAge},
		SkipHistory:        Rule[bool]{p.SkipHistory, f.SkipHistory},
		DisableAfter:       Rule[int]{p.DisableAfter, f.DisableAfter},
	}
}

// Line is one rule in words.
type Line struct {
	What, Says string
	From       Origin
}

// Lines returns the policy for people (S8).
func (p Policy) Lines() []Line {
	f := p.From
	lines := []Line{
		{"Interval", Span(p.Interval), f.Interval},
		{"Least interval", Span(p.MinInterval), f.MinInterval},
		{"Wait while it fails", p.Retry.says(), f.Retry},
	}
	if p.Retry == Exponential {
		lines = append(lines, Line{"Longest wait while it fails", Span(p.MaxBackoff), f.MaxBackoff})
	}
	return append(lines,
		Line{"Delay after each poll", spanOr(p.Delay, "none"), f.Delay},
		Line{"Age limit of posts", spanOr(p.MaxAge, "no limit"), f.MaxAge},
		Line{"History at the first poll", p.saysHistory(), f.SkipHistory},
		Line{"Switched off after", p.saysDisable(), f.DisableAfter})
}

func (r Retry) says() string {
	if r == Exponential {
		return "the interval, doubled with each failure"
	}
	return "the interval twice, then 5, 15 and 60 min"
}

func (p Policy) saysHistory() string {
	if p.SkipHistory {
		return "skipped"
	}
	return "stored"
}

func (p Policy) saysDisable() string {
	if p.DisableAfter == 0 {
		return "an answer that it is gone"
	}
	return fmt.Sprintf("%d failures in a row that do not pass by themselves", p.DisableAfter)
}

// spanOr writes a duration, or what none of it means.
func spanOr(d time.Duration, none string) string {
	if d == 0 {
		return none
	}
	return Span(d)
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
