package freshet

import (
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
