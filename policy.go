package freshet

import (
	"cmp"
	"strings"
	"time"
)

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
	HostDelay    map[string]time.Duration // pause after each poll of a host or of one below it (S6)
	TypeDelay    map[Type]time.Duration   // pause after each poll of a type (S6)

	// Alerts is how many addresses are told when a workflow is switched off or something was not delivered (W8).
	Alerts int

	// Configured holds the names of those above that somebody set, as they are configured
	// ("interval", "max_backoff_hours"). The others are built in.
	Configured map[string]bool
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

// origin says whether a setting was made by somebody.
func (s Settings) origin(name string) Origin {
	if s.Configured[name] {
		return FromConfiguration
	}
	return FromBuiltIn
}

// BriefingPolicy is what the briefings of a source ask of it, taken together: the shortest interval
// and the most lenient age. The zero value stands for no briefing.
type BriefingPolicy struct {
	ID       ID
	Name     string
	Interval time.Duration // 0: it asks for none
	MaxAge   time.Duration // 0: seven days (E6, B1)
}

// briefingAge is the age limit of a briefing that sets none (B1).
const briefingAge = 7 * 24 * time.Hour

// Origin says in words who set a value of a Policy: one of the constants, "briefing NAME", and for
// delays what the entry stands for ("configuration for example.org").
type Origin string

// Where a value comes from, the nearest first. A briefing stands between a workflow and the
// configuration.
const (
	FromSource        Origin = "this source"
	FromWorkflow      Origin = "a workflow"
	FromConfiguration Origin = "configuration"
	FromBuiltIn       Origin = "built in"
)

func fromBriefing(b BriefingPolicy) Origin { return Origin("briefing " + b.Name) }

// of narrows an origin to the host or type that an entry stands for.
func (o Origin) of(entry string) Origin { return o + " for " + Origin(entry) }

// Policy is what holds for one source: its own configuration, else its briefing's, else the
// instance's settings, else what is built in.
type Policy struct {
	Interval     time.Duration
	MinInterval  time.Duration // what Interval is not below (S2)
	Retry        Retry
	MaxBackoff   time.Duration
	Delay        time.Duration // pause after each poll within the host group (S6)
	MaxAge       time.Duration // posts published before now-MaxAge are not stored (E6)
	SkipHistory  bool          // the first poll stores nothing older than the source (E6)
	DisableAfter int
	From         Origins
}

// Origins says where each value of a Policy comes from.
type Origins struct {
	Interval, MinInterval, Retry, MaxBackoff, Delay, MaxAge, SkipHistory, DisableAfter Origin
}

// Policy resolves what holds for src (S2, S5, S6, E6, F6).
func (s Settings) Policy(src Source) Policy {
	p := Policy{
		MinInterval: s.MinInterval, Retry: s.Retry, MaxBackoff: s.MaxBackoff, MaxAge: s.Retention, DisableAfter: s.DisableAfter,
		From: Origins{
			MinInterval: s.origin("min_interval"), Retry: s.origin("retry"), MaxBackoff: s.origin("max_backoff_hours"), MaxAge: s.origin("retention"),
			SkipHistory: FromBuiltIn, DisableAfter: s.origin("disable_after"),
		},
	}
	p.Interval, p.From.Interval = s.interval(src)
	p.Delay, p.From.Delay = s.delay(src)
	// What the river shows is not for a briefing to keep from it: a source that people read there
	// keeps the plain rules, and the briefing leaves out what is too old for it when it is composed.
	if src.Briefing != (BriefingPolicy{}) && !src.InRiver {
		from := fromBriefing(src.Briefing)
		p.Retry, p.MaxAge, p.SkipHistory = Exponential, cmp.Or(src.Briefing.MaxAge, briefingAge), true
		p.From.Retry, p.From.MaxAge, p.From.SkipHistory = from, from, from
	}
	p.own(src.Config)
	return p
}

// own sets what the source's own configuration says.
func (p *Policy) own(c Config) {
	if c.Retry != "" {
		p.Retry, p.From.Retry = c.Retry, FromSource
	}
	if c.SkipHistory != nil {
		p.SkipHistory, p.From.SkipHistory = *c.SkipHistory, FromSource
	}
	if d := c.MaxArticleAgeDays; d != nil {
		p.MaxAge, p.From.MaxAge = time.Duration(*d*float64(24*time.Hour)), FromSource
	}
}

// interval is the shortest of what the source, its workflows and its briefings ask for (S2): they
// share one fetch. The default counts when people read the source in the river, and when nobody
// asks for anything.
func (s Settings) interval(src Source) (time.Duration, Origin) {
	var every time.Duration
	var from Origin
	ask := func(d time.Duration, who Origin) {
		if d > 0 && (every == 0 || d < every) {
			every, from = d, who
		}
	}
	if c := src.Config.Cadence; c != nil {
		ask(c.Every(), FromSource)
	} else if src.InRiver || src.Asked == 0 && src.Briefing.Interval == 0 {
		ask(s.Interval, s.origin("interval"))
	}
	ask(src.Asked, FromWorkflow)
	if src.Briefing.Interval > 0 {
		ask(src.Briefing.Interval, fromBriefing(src.Briefing))
	}
	return max(every, s.MinInterval), from
}

// strictHosts are known to refuse, or to slow down, whoever asks often (S6; docs/sources.md has the
// reasons).
var strictHosts = map[string]time.Duration{
	"reddit.com":  time.Minute,
	"youtube.com": 2 * time.Second,
}

// nitterDelay is for mirrors of X, which people run under many names.
const nitterDelay = 5 * time.Second

// delay resolves the pause after a poll: source, host, type, none (S6). The default group of
// addresses without a host has none.
func (s Settings) delay(src Source) (time.Duration, Origin) {
	if src.Host == "" {
		return 0, FromBuiltIn
	}
	if d := src.Config.PollDelaySeconds; d != nil {
		return time.Duration(*d * float64(time.Second)), FromSource
	}
	host := src.Host[strings.LastIndexByte(src.Host, '@')+1:] // accounts on X are grouped by owner
	if d, entry, ok := delayOf(s.HostDelay, host); ok {
		return d, FromConfiguration.of(entry)
	}
	if d, entry, ok := delayOf(strictHosts, host); ok {
		return d, FromBuiltIn.of(entry)
	}
	if strings.Contains(host, "nitter") || OnNitter(host) {
		return nitterDelay, FromBuiltIn.of("nitter")
	}
	if d, ok := s.TypeDelay[src.Type]; ok {
		return d, FromConfiguration.of("type " + string(src.Type))
	}
	return 0, FromBuiltIn
}

// delayOf finds the entry of a host, else of the nearest domain that it lies in.
func delayOf(delays map[string]time.Duration, host string) (d time.Duration, entry string, found bool) {
	for entry, found = host, len(delays) > 0; found; _, entry, found = strings.Cut(entry, ".") {
		if d, ok := delays[entry]; ok {
			return d, entry, true
		}
	}
	return 0, "", false
}
