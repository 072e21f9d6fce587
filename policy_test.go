package freshet

import (
	"testing"
	"time"
)

// S2: the shortest of what the source itself, its workflows and its briefings ask for; the default when the river
// shows it or nobody asks; never below the floor.
func TestPolicyInterval(t *testing.T) {
	every := func(m float64) Config { return Config{Cadence: &Cadence{EveryMinutes: m}} }
	hourly := BriefingPolicy{ID: 7, Name: "Morning", Interval: time.Hour}
	tests := []struct {
		name     string
		source   Source
		min      time.Duration
		want     time.Duration
		wantFrom Origin
	}{
		{"default", Source{InRiver: true}, time.Minute, 15 * time.Minute, FromBuiltIn},
		{"nobody asks", Source{}, time.Minute, 15 * time.Minute, FromBuiltIn},
		{"its own", Source{InRiver: true, Config: every(480)}, time.Minute, 8 * time.Hour, FromSource},
		{"a workflow asks for less", Source{InRiver: true, Asked: 5 * time.Minute}, time.Minute, 5 * time.Minute, FromWorkflow},
		{"a workflow asks for more than the river's default", Source{InRiver: true, Asked: time.Hour}, time.Minute, 15 * time.Minute, FromBuiltIn},
		{"only a workflow asks", Source{Asked: time.Hour}, time.Minute, time.Hour, FromWorkflow},
		{"a workflow asks for less than its own", Source{Config: every(480), Asked: 5 * time.Minute}, time.Minute, 5 * time.Minute, FromWorkflow},
		{"a workflow asks for more than its own", Source{Config: every(2), Asked: 5 * time.Minute}, time.Minute, 2 * time.Minute, FromSource},
		{"only a briefing asks", Source{Briefing: hourly}, time.Minute, time.Hour, "briefing Morning"},
		{"a briefing asks for more than the river's default", Source{InRiver: true, Briefing: hourly}, time.Minute, 15 * time.Minute, FromBuiltIn},
		{"a briefing asks for less than a workflow", Source{Asked: 2 * time.Hour, Briefing: hourly}, time.Minute, time.Hour, "briefing Morning"},
		{"a briefing that asks for none", Source{Briefing: BriefingPolicy{ID: 7, Name: "Morning"}}, time.Minute, 15 * time.Minute, FromBuiltIn},
		{"a fraction", Source{Config: every(1.5)}, time.Minute, 90 * time.Second, FromSource},
		{"floor", Source{Config: every(0.01)}, time.Minute, time.Minute, FromSource},
		{"floor lowered by configuration", Source{Config: every(0.05)}, time.Second, 3 * time.Second, FromSource},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := DefaultSettings()
			s.MinInterval = tt.min
			p := s.Policy(tt.source)
			if p.Interval != tt.want || p.From.Interval != tt.wantFrom {
				t.Errorf("interval = %v (%s), want %v (%s)", p.Interval, p.From.Interval, tt.want, tt.wantFrom)
			}
		})
	}
}

// S6: the source's own delay, else the host's, else the type's, else none.
func TestPolicyDelay(t *testing.T) {
	s := DefaultSettings()
	s.HostDelay = map[string]time.Duration{"slow.example": 3 * time.Second, "quick.example": 0, "old.reddit.com": 0, "paced.example": 4 * time.Second, "nitter.mine.example": 0}
	s.TypeDelay = map[Type]time.Duration{Twitter: 2 * time.Second, RSS: time.Second}
	own := Config{PollDelaySeconds: ptr(0.5)}
	tests := []struct {
		name     string
		source   Source
		want     time.Duration
		wantFrom Origin
	}{
		{"the source's own", Source{Type: RSS, Host: "slow.example", Config: own}, 500 * time.Millisecond, FromSource},
		{"an own one of zero", Source{Type: RSS, Host: "slow.example", Config: Config{PollDelaySeconds: ptr(0.0)}}, 0, FromSource},
		{"the host's entry", Source{Type: RSS, Host: "slow.example"}, 3 * time.Second, "configuration for slow.example"},
		{"an entry of the domain it lies in", Source{Type: RSS, Host: "a.feeds.slow.example"}, 3 * time.Second, "configuration for slow.example"},
		{"a name that only ends alike", Source{Type: Website, Host: "notslow.example"}, 0, FromBuiltIn},
		{"a host's entry of zero", Source{Type: RSS, Host: "quick.example"}, 0, "configuration for quick.example"},
		{"a strict host", Source{Type: RSS, Host: "www.reddit.com"}, time.Minute, "built in for reddit.com"},
		{"a strict host that somebody knows better", Source{Type: RSS, Host: "old.reddit.com"}, 0, "configuration for old.reddit.com"},
		{"another strict host", Source{Type: RSS, Host: "www.youtube.com"}, 2 * time.Second, "built in for youtube.com"},
		{"an instance of nitter", Source{Type: RSS, Host: "nitter.poast.example"}, 5 * time.Second, "built in for nitter"},
		{"an own instance of nitter", Source{Type: RSS, Host: "nitter.mine.example"}, 0, "configuration for nitter.mine.example"},
		{"a mirror of X by another name", Source{Type: RSS, Host: "xcancel.com"}, 5 * time.Second, "built in for nitter"},
		{"accounts on X with their owner's token", Source{Type: Twitter, Host: "ann@api.paced.example"}, 4 * time.Second, "configuration for paced.example"},
		{"the type's entry", Source{Type: Twitter, Host: "ann@api.x.com"}, 2 * time.Second, "configuration for type twitter"},
		{"none", Source{Type: Website, Host: "a.example"}, 0, FromBuiltIn},
		{"the default group has none", Source{Type: RSS, Config: own}, 0, FromBuiltIn},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := s.Policy(tt.source)
			if p.Delay != tt.want || p.From.Delay != tt.wantFrom {
				t.Errorf("delay = %v (%s), want %v (%s)", p.Delay, p.From.Delay, tt.want, tt.wantFrom)
			}
		})
	}
}

// S5, E6, F6: the source's own rules, else its briefing's, else the configuration's, else what is built in.
func TestPolicyRules(t *testing.T) {
	days := func(n float64) time.Duration { return time.Duration(n * 24 * float64(time.Hour)) }
	set := DefaultSettings()
	set.Retry, set.Retention, set.DisableAfter, set.MaxBackoff = Exponential, days(90), 3, 2*time.Hour
	set.Configured = map[string]bool{"retry": true, "retention": true, "disable_after": true, "max_backoff_hours": true}
	all := Config{Retry: Ladder, SkipHistory: ptr(false), MaxArticleAgeDays: ptr(1.5)}
	morning := BriefingPolicy{ID: 7, Name: "Morning"}
	lenient := BriefingPolicy{ID: 8, Name: "Fortnight", MaxAge: days(14)}
	tests := []struct {
		name     string
		settings Settings
		source   Source
		want     Rules // of which only the four below count
	}{
		{"nobody says anything", DefaultSettings(), Source{InRiver: true},
			rules(Ladder, FromBuiltIn, 30, FromBuiltIn, false, FromBuiltIn, 15, FromBuiltIn)},
		{"the configuration", set, Source{InRiver: true},
			rules(Exponential, FromConfiguration, 90, FromConfiguration, false, FromBuiltIn, 3, FromConfiguration)},
		{"a briefing that says nothing", DefaultSettings(), Source{Briefing: morning},
			rules(Exponential, "briefing Morning", 7, "briefing Morning", true, "briefing Morning", 15, FromBuiltIn)},
		{"a briefing goes before the configuration", set, Source{Briefing: lenient},
			rules(Exponential, "briefing Fortnight", 14, "briefing Fortnight", true, "briefing Fortnight", 3, FromConfiguration)},
		{"a briefing keeps nothing from the river", DefaultSettings(), Source{Briefing: morning, InRiver: true},
			rules(Ladder, FromBuiltIn, 30, FromBuiltIn, false, FromBuiltIn, 15, FromBuiltIn)},
		{"the source goes before its briefing", set, Source{Briefing: morning, Config: all},
			rules(Ladder, FromSource, 1.5, FromSource, false, FromSource, 3, FromConfiguration)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := tt.settings.Policy(tt.source).Rules()
			got := Rules{Retry: r.Retry, MaxArticleAgeDays: r.MaxArticleAgeDays, SkipHistory: r.SkipHistory, DisableAfter: r.DisableAfter}
			if got != tt.want {
				t.Errorf("rules = %+v,\n want %+v", got, tt.want)
			}
		})
	}
}

func rules(retry Retry, retryFrom Origin, age float64, ageFrom Origin, skip bool, skipFrom Origin, disable int, disableFrom Origin) Rules {
	return Rules{
		Retry: Rule[Retry]{retry, retryFrom}, MaxArticleAgeDays: Rule[float64]{age, ageFrom},
		SkipHistory: Rule[bool]{skip, skipFrom}, DisableAfter: Rule[int]{disable, disableFrom},
	}
}
