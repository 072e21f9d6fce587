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
	s.HostDelay = map[string]time.Duration{"nitter.net": 3 * time.Second, "quick.example": 0}
	s.TypeDelay = map[Type]time.Duration{Twitter: 2 * time.Second, RSS: time.Second}
	own := Config{PollDelaySeconds: ptr(0.5)}
	tests := []struct {
		name   string
		source Source
		want   time.Duration
	}{
		{"the source's own", Source{Type: RSS, Host: "nitter.net", Config: own}, 500 * time.Millisecond},
		{"an own one of zero", Source{Type: RSS, Host: "nitter.net", Config: Config{PollDelaySeconds: ptr(0.0)}}, 0},
		{"the host's override", Source{Type: RSS, Host: "nitter.net"}, 3 * time.Second},
		{"a host's override of zero", Source{Type: RSS, Host: "quick.example"}, 0},
		{"the type's default", Source{Type: Twitter, Host: "x.com"}, 2 * time.Second},
		{"none", Source{Type: Website, Host: "a.example"}, 0},
		{"the default group has none", Source{Type: RSS, Config: own}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := s.Policy(tt.source).Delay; got != tt.want {
				t.Errorf("delay = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestPolicyOwnSettings(t *testing.T) {
	s := DefaultSettings()
	p := s.Policy(Source{Config: Config{Retry: Exponential, SkipHistory: ptr(true), MaxArticleAgeDays: ptr(1.5)}})
	if p.Retry != Exponential || !p.SkipHistory || p.MaxAge != 36*time.Hour {
		t.Errorf("policy = %+v, want the source's own settings", p)
	}
	p = s.Policy(Source{})
	if p.Retry != Ladder || p.SkipHistory || p.MaxAge != s.Retention || p.DisableAfter != 15 {
		t.Errorf("policy = %+v, want the instance's settings", p)
	}
}
