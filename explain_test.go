package freshet

import (
	"slices"
	"testing"
	"time"
)

// S8: the reason for the next poll in plain words.
func TestExplain(t *testing.T) {
	const every = "every 15 min (the default)"
	polled := noon.Add(-time.Minute)
	tests := []struct {
		name   string
		source Source
		host   Host
		want   string
	}{
		{"healthy", Source{Enabled: true, LastPollAt: polled}, Host{}, every},
		{"never polled", Source{Enabled: true}, Host{}, every + "; never polled, so due at once"},
		{"spread", Source{Enabled: true, Cursor: Cursor{SyntheticPollAt: &polled}}, Host{}, every + "; first polls are spread over the interval"},
		{"own cadence", Source{Enabled: true, LastPollAt: polled, Config: Config{Cadence: &Cadence{EveryMinutes: 480}}}, Host{}, "every 8 h (set for this source)"},
		{"asked by a workflow", Source{Enabled: true, LastPollAt: polled, Asked: 5 * time.Minute}, Host{}, "every 5 min (asked for by a workflow)"},
		{"the seed's own example", Source{Enabled: true, LastPollAt: polled, Failures: 3, LastFailure: &Failure{}},
			Host{Name: "a.example", NotBefore: noon.Add(140 * time.Minute), Status: 429},
			every + "; third failure in a row, next try after 5 min; the host a.example asked for a pause until 14:20 UTC (it answered 429)"},
		{"a pause of its own", Source{Enabled: true, LastPollAt: polled, Failures: 1, LastFailure: &Failure{RetryAfter: noon.Add(2 * time.Hour)}}, Host{},
			every + "; first failure in a row, next try after 15 min; the server asked for a pause until 14:00 UTC"},
		{"a pause into another day", Source{Enabled: true, LastPollAt: polled}, Host{Name: "a.example", NotBefore: noon.Add(24 * time.Hour), Status: 503},
			every + "; the host a.example asked for a pause until 18 February 12:00 UTC (it answered 503)"},
		{"a publisher's hint", Source{Enabled: true, LastPollAt: polled, Cursor: Cursor{HintSeconds: 3600, HintFrom: "ttl"}}, Host{},
			every + "; the publisher asks for 1 h (ttl)"},
		{"a hint gives way to the ladder", Source{Enabled: true, LastPollAt: polled, Failures: 21, LastFailure: &Failure{}, Cursor: Cursor{HintSeconds: 3600, HintFrom: "ttl"}}, Host{},
			every + "; 21st failure in a row, next try after 1 h"},
		{"asked by a briefing", Source{Enabled: true, LastPollAt: polled, Briefing: BriefingPolicy{Name: "Morning", Interval: time.Hour}}, Host{}, "every 1 h (asked for by briefing Morning)"},
		{"a refresh waits", Source{Enabled: true, LastPollAt: polled, Refresh: 7}, Host{}, every + "; a refresh was asked for by hand"},
		{"disabled", Source{DisabledReason: "The server says that it is gone for good (410)."}, Host{}, "switched off; The server says that it is gone for good (410)."},
		{"disabled by a person", Source{}, Host{}, "switched off"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.source.Explain(DefaultSettings().Policy(tt.source), tt.host, noon); got != tt.want {
				t.Errorf("Explain =\n %q, want\n %q", got, tt.want)
			}
		})
	}
}

// S8: an interval of the configuration is told from the built-in one.
func TestExplainConfiguredDefault(t *testing.T) {
	s := DefaultSettings()
	s.Interval, s.Configured = time.Hour, map[string]bool{"interval": true}
	src := Source{Enabled: true, LastPollAt: noon}
	if got, want := src.Explain(s.Policy(src), Host{}, noon), "every 1 h (the configured default)"; got != want {
		t.Errorf("Explain = %q, want %q", got, want)
	}
}

// S8: what holds for a source, in words and with who says so.
func TestPolicyLines(t *testing.T) {
	s := DefaultSettings()
	s.DisableAfter = 0
	tests := []struct {
		name   string
		source Source
		want   []Line
	}{
		{"plain", Source{InRiver: true, Host: "a.example"}, []Line{
			{"Interval", "15 min", FromBuiltIn},
			{"Least interval", "1 min", FromBuiltIn},
			{"Wait while it fails", "the interval twice, then 5, 15 and 60 min", FromBuiltIn},
			{"Delay after each poll", "none", FromBuiltIn},
			{"Age limit of posts", "30 days", FromBuiltIn},
			{"History at the first poll", "stored", FromBuiltIn},
			{"Switched off after", "an answer that it is gone", FromBuiltIn},
		}},
		{"of a briefing", Source{Host: "www.reddit.com", Asked: time.Hour, Briefing: BriefingPolicy{ID: 1, Name: "B"}}, []Line{
			{"Interval", "1 h", FromWorkflow},
			{"Least interval", "1 min", FromBuiltIn},
			{"Wait while it fails", "the interval, doubled with each failure", "briefing B"},
			{"Longest wait while it fails", "24 h", FromBuiltIn},
			{"Delay after each poll", "1 min", "built in for reddit.com"},
			{"Age limit of posts", "7 days", "briefing B"},
			{"History at the first poll", "skipped", "briefing B"},
			{"Switched off after", "an answer that it is gone", FromBuiltIn},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := s.Policy(tt.source).Lines(); !slices.Equal(got, tt.want) {
				t.Errorf("lines =\n %v, want\n %v", got, tt.want)
			}
		})
	}
}

func TestOrdinal(t *testing.T) {
	want := map[int]string{1: "first", 10: "tenth", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 22: "22nd", 23: "23rd", 24: "24th", 111: "111th", 112: "112th", 121: "121st"}
	for n, w := range want {
		if got := ordinal(n); got != w {
			t.Errorf("ordinal(%d) = %q, want %q", n, got, w)
		}
	}
}

func TestSpan(t *testing.T) {
	want := map[time.Duration]string{
		250 * time.Millisecond:  "250ms",
		3 * time.Second:         "3 s",
		1500 * time.Millisecond: "1.5 s",
		15 * time.Minute:        "15 min",
		90 * time.Second:        "1.5 min",
		time.Hour:               "1 h",
		90 * time.Minute:        "1 h 30 min",
		47 * time.Hour:          "47 h",
		48 * time.Hour:          "2 days",
		84 * time.Hour:          "3.5 days",
	}
	for d, w := range want {
		if got := Span(d); got != w {
			t.Errorf("Span(%v) = %q, want %q", d, got, w)
		}
	}
}

func TestHistory(t *testing.T) {
	var h History
	at := noon
	for i := range 35 {
		at = at.Add(time.Minute)
		h = h.Add(Poll{At: at, Took: 120 * time.Millisecond, Status: 200, Result: ResultOK, New: i})
	}
	h = h.Add(Poll{At: at.Add(time.Minute), Took: 2 * time.Minute, Result: ResultError, New: 100_000})
	polls := h.Polls()
	if len(polls) != 30 {
		t.Fatalf("%d polls kept, want 30", len(polls))
	}
	last := Poll{At: at.Add(time.Minute), Took: 65535 * time.Millisecond, Result: ResultError, New: 65535}
	if polls[0] != last {
		t.Errorf("newest = %+v, want %+v", polls[0], last)
	}
	want := Poll{At: at, Took: 120 * time.Millisecond, Status: 200, Result: ResultOK, New: 34}
	if polls[1] != want {
		t.Errorf("second = %+v, want %+v", polls[1], want)
	}
	if damaged := History("short"); len(damaged.Polls()) != 0 || len(damaged.Add(want).Polls()) != 1 {
		t.Error("a damaged history is not started anew")
	}
}
