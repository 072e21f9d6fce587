package freshet

import (
	"testing"
	"time"
)

// S6: a 429 or 503 pauses the whole host until the time it named, else for a growing while.
func TestHostObserve(t *testing.T) {
	cool := func(status int, until time.Time) *Outcome {
		return &Outcome{Status: status, Failure: &Failure{Status: status, CoolHost: true, RetryAfter: until}}
	}
	tests := []struct {
		name     string
		host     Host
		outcome  *Outcome
		until    time.Time
		failures int
	}{
		{"429 that names a time", Host{}, cool(429, noon.Add(20*time.Minute)), noon.Add(20 * time.Minute), 1},
		{"503 that names none", Host{}, cool(503, time.Time{}), noon.Add(time.Minute), 1},
		{"third in a row that names none", Host{Failures: 2}, cool(429, time.Time{}), noon.Add(4 * time.Minute), 3},
		{"grows up to an hour", Host{Failures: 5000}, cool(429, time.Time{}), noon.Add(time.Hour), 5001},
		{"a shorter pause does not replace a longer one", Host{Failures: 1, NotBefore: noon.Add(time.Hour)}, cool(429, noon.Add(time.Minute)), noon.Add(time.Hour), 2},
		{"a success ends the count", Host{Failures: 3, NotBefore: noon.Add(-time.Second)}, &Outcome{Status: 200}, time.Time{}, 0},
		{"a 404 is an answer too", Host{Failures: 3, NotBefore: noon.Add(-time.Second)}, &Outcome{Status: 404, Failure: &Failure{}}, time.Time{}, 0},
		{"no answer says nothing", Host{Failures: 3, NotBefore: noon.Add(-time.Second)}, &Outcome{Failure: &Failure{Unreached: true}}, noon.Add(-time.Second), 3},
		{"one that was under way does not end the pause", Host{Failures: 1, NotBefore: noon.Add(time.Hour)}, &Outcome{Status: 200}, noon.Add(time.Hour), 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := tt.host.Observe(tt.outcome, noon)
			if !h.NotBefore.Equal(tt.until) || h.Failures != tt.failures {
				t.Errorf("host = %+v, want paused until %v after %d", h, tt.until, tt.failures)
			}
			if got := h.Cooling(noon); got != tt.until.After(noon) {
				t.Errorf("Cooling = %v", got)
			}
		})
	}
}
