package freshet

import "time"

// Retry names how the wait grows while a source fails (S5).
type Retry string

const (
	// Ladder waits the interval twice, then 5, 15 and 60 minutes.
	Ladder Retry = "ladder"
	// Exponential doubles the interval with each failure, up to MaxBackoff.
	Exponential Retry = "exponential"
)

// Settings are the instance's own defaults, from flags, environment and file (SPEC.md section 11).
type Settings struct {
	Interval     time.Duration            // between polls of a source that sets none (S2)
	MinInterval  time.Duration            // floor of every interval (S2)
	Retry        Retry                    // S5
	MaxBackoff   time.Duration            // cap of Exponential (S5)
	Retention    time.Duration            // age at which items go (D8)
	DisableAfter int                      // consecutive permanent failures (F6)
	HostDelay    map[string]time.Duration // pause after each poll of a host (S6)
	TypeDelay    map[Type]time.Duration   // pause after each poll of a type (S6)
}

// DefaultSettings are what holds when nobody configured anything.
func DefaultSettings() Settings {
	return Settings{
		Interval:     15 * time.Minute,
		MinInterval:  time.Minute,
		Retry:        Ladder,
		MaxBackoff:   24 * time.Hour,
		Retention:    720 * time.Hour,
		DisableAfter: 15,
	}
}

// Policy is what holds for one source: its own configuration, else the instance's settings.
type Policy struct {
	Interval     time.Duration
	IntervalFrom string // "set for this source", "asked for by a workflow", "the default"
	Retry        Retry
	MaxBackoff   time.Duration
	Delay        time.Duration // pause after each poll within the host group (S6)
	MaxAge       time.Duration // posts published before now-MaxAge are not stored (E6)
	SkipHistory  bool          // the first poll stores nothing older than the source (E6)
	DisableAfter int
}

// Policy resolves what holds for src (S2, S5, S6, E6).
func (s Settings) Policy(src Source) Policy {
	p := Policy{
		Interval: s.Interval, IntervalFrom: "the default",
		Retry: s.Retry, MaxBackoff: s.MaxBackoff, MaxAge: s.Retention, DisableAfter: s.DisableAfter,
	}
	switch c := src.Config.Cadence; {
	case c != nil:
		p.Interval, p.IntervalFrom = c.Every(), "set for this source"
	case src.Asked > 0:
		p.Interval, p.IntervalFrom = src.Asked, "asked for by a workflow"
	}
	p.Interval = max(p.Interval, s.MinInterval)
	if src.Config.Retry != "" {
		p.Retry = src.Config.Retry
	}
	p.Delay = s.delay(src)
	if src.Config.SkipHistory != nil {
		p.SkipHistory = *src.Config.SkipHistory
	}
	if d := src.Config.MaxArticleAgeDays; d != nil {
		p.MaxAge = time.Duration(*d * float64(24*time.Hour))
	}
	return p
}

// delay resolves the pause after a poll: source, host, type, none (S6). The default group of
// addresses without a host has none.
func (s Settings) delay(src Source) time.Duration {
	if src.Host == "" {
		return 0
	}
	if d := src.Config.PollDelaySeconds; d != nil {
		return time.Duration(*d * float64(time.Second))
	}
	if d, ok := s.HostDelay[src.Host]; ok {
		return d
	}
	return s.TypeDelay[src.Type]
}
