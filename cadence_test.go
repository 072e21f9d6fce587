package freshet

import (
	"math"
	"testing"
	"time"
)

// noon is the moment around which the tables turn.
var noon = time.Date(2026, 2, 17, 12, 0, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

func TestDue(t *testing.T) {
	polled := func(ago time.Duration, s Source) Source {
		s.Enabled = true
		s.LastPollAt = noon.Add(-ago)
		p := DefaultSettings().Policy(s)
		s.NextPollAt = s.LastPollAt.Add(p.Backoff(s.Failures))
		return s
	}
	hourly := Config{Cadence: &Cadence{EveryMinutes: 60}, Retry: Exponential}
	tests := []struct {
		name   string
		source Source
		want   bool
	}{
		{"Source polled when interval has elapsed", polled(16*time.Minute, Source{}), true},
		{"exactly at the interval", polled(15*time.Minute, Source{}), true},
		{"Source skipped when interval has not elapsed", polled(14*time.Minute, Source{}), false},
		{"Disabled source never polled", Source{NextPollAt: noon.Add(-time.Hour)}, false},
		{"not scheduled", Source{Enabled: true}, false},
		{"Source with failures uses backoff interval/239 minutes", polled(239*time.Minute, Source{Failures: 2, Config: hourly}), false},
		{"Source with failures uses backoff interval/240 minutes", polled(240*time.Minute, Source{Failures: 2, Config: hourly}), true},
		{"exponential at its cap of a day", polled(24*time.Hour, Source{Failures: 60, Config: hourly}), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.source.Due(noon); got != tt.want {
				t.Errorf("Due = %v, want %v (next poll %v)", got, tt.want, tt.source.NextPollAt)
			}
		})
	}
}

// Seed 001 and S10.
func TestDueForIngest(t *testing.T) {
	eight := &Cadence{Mode: "interval", EveryMinutes: 480}
	ago := func(d time.Duration) Cursor { return Cursor{LastFetchAt: ptr(noon.Add(-d))} }
	tests := []struct {
		name   string
		source Source
		want   bool
	}{
		{"cadence missing: always due", Source{Enabled: true, Cursor: ago(time.Second)}, true},
		{"last_fetch_at missing", Source{Enabled: true, Config: Config{Cadence: eight}}, true},
		{"less than every_minutes ago", Source{Enabled: true, Config: Config{Cadence: eight}, Cursor: ago(480*time.Minute - time.Second)}, false},
		{"every_minutes ago", Source{Enabled: true, Config: Config{Cadence: eight}, Cursor: ago(480 * time.Minute)}, true},
		{"fetched after the window's end", Source{Enabled: true, Config: Config{Cadence: eight}, Cursor: ago(-time.Hour)}, false},
		{"Disabled source never polled", Source{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.source.DueForIngest(noon); got != tt.want {
				t.Errorf("DueForIngest = %v, want %v", got, tt.want)
			}
		})
	}
}

// S5, river seed 7.2, polling seed "backoff".
func TestBackoff(t *testing.T) {
	const minute = time.Minute
	ladder := Policy{Interval: 20 * minute, Retry: Ladder}
	doubling := Policy{Interval: 60 * minute, Retry: Exponential, MaxBackoff: 24 * time.Hour}
	tests := []struct {
		name   string
		policy Policy
		n      int
		want   time.Duration
	}{
		{"no failure waits the interval", ladder, 0, 20 * minute},
		{"ladder 1", ladder, 1, 20 * minute},
		{"ladder 2", ladder, 2, 20 * minute},
		{"ladder 3", ladder, 3, 5 * minute},
		{"ladder 4", ladder, 4, 15 * minute},
		{"ladder 5", ladder, 5, 60 * minute},
		{"ladder 6", ladder, 6, 60 * minute},
		{"ladder never ends", ladder, math.MaxInt, 60 * minute},
		{"negative is none", ladder, -1, 20 * minute},
		{"exponential 1", doubling, 1, 120 * minute},
		{"exponential 2", doubling, 2, 240 * minute},
		{"exponential 4", doubling, 4, 960 * minute},
		{"exponential capped", doubling, 5, 24 * time.Hour},
		{"exponential 62", doubling, 62, 24 * time.Hour},
		{"exponential does not overflow", doubling, math.MaxInt, 24 * time.Hour},
		{"an interval beyond the cap stays", Policy{Interval: 48 * time.Hour, Retry: Exponential, MaxBackoff: 24 * time.Hour}, 3, 48 * time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.policy.Backoff(tt.n); got != tt.want {
				t.Errorf("Backoff(%d) = %v, want %v", tt.n, got, tt.want)
			}
		})
	}
}

// S4: however the dice fall, the first poll lies within the interval that follows.
func TestSpread(t *testing.T) {
	for _, part := range []float64{0, 0.25, 0.5, math.Nextafter(1, 0)} {
		last := Spread(noon, time.Hour, part)
		if last.After(noon) || !last.After(noon.Add(-time.Hour)) {
			t.Errorf("Spread(%v) = %v, want within the hour before %v", part, last, noon)
		}
	}
	if got, want := Spread(noon, time.Hour, 0.25), noon.Add(-15*time.Minute); !got.Equal(want) {
		t.Errorf("Spread(0.25) = %v, want %v", got, want)
	}
}

// S5: what is overdue after a suspend is spread over at most five minutes, or its own interval.
func TestSpreadOverdue(t *testing.T) {
	tests := []struct {
		interval time.Duration
		part     float64
		want     time.Duration
	}{
		{time.Hour, 0, 0},
		{time.Hour, 0.5, 150 * time.Second},
		{2 * time.Minute, 0.5, time.Minute},
	}
	for _, tt := range tests {
		if got := SpreadOverdue(noon, tt.interval, tt.part).Sub(noon); got != tt.want {
			t.Errorf("SpreadOverdue(%v, %v) = +%v, want +%v", tt.interval, tt.part, got, tt.want)
		}
	}
}

// F3: hints lengthen the interval, up to a day, and never shorten it.
func TestHintsNext(t *testing.T) {
	const quarter = 15 * time.Minute
	allHours, allDays := uint32(1<<24-1), uint8(1<<7-1)
	sunday := time.Date(2026, 2, 15, 23, 50, 0, 0, time.UTC)
	tests := []struct {
		name     string
		hints    Hints
		last     time.Time
		interval time.Duration
		want     time.Time
	}{
		{"none", Hints{}, noon, quarter, noon.Add(quarter)},
		{"longer than the interval", Hints{Every: time.Hour}, noon, quarter, noon.Add(time.Hour)},
		{"shorter than the interval", Hints{Every: time.Minute}, noon, quarter, noon.Add(quarter)},
		{"at most a day", Hints{Every: 30 * 24 * time.Hour}, noon, quarter, noon.Add(24 * time.Hour)},
		{"an interval of two days stays", Hints{Every: 30 * 24 * time.Hour}, noon, 48 * time.Hour, noon.Add(48 * time.Hour)},
		{"the hour is skipped", Hints{SkipHours: 1 << 12}, noon, quarter, noon.Add(time.Hour)},
		{"hours in a row are skipped", Hints{SkipHours: 1<<12 | 1<<13 | 1<<14}, noon, quarter, noon.Add(3 * time.Hour)},
		{"another hour is not", Hints{SkipHours: 1 << 11}, noon, quarter, noon.Add(quarter)},
		{"hours are UTC", Hints{SkipHours: 1 << 12}, noon.In(time.FixedZone("", 3600)), quarter, noon.Add(time.Hour)},
		{"the day is skipped", Hints{SkipDays: 1 << time.Monday}, sunday, quarter, time.Date(2026, 2, 16, 23, 0, 0, 0, time.UTC)},
		{"all hours: within a day", Hints{SkipHours: allHours}, noon, quarter, noon.Add(24 * time.Hour)},
		{"all days: within a day", Hints{SkipDays: allDays}, noon, quarter, noon.Add(24 * time.Hour)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.hints.Next(tt.last, tt.interval); !got.Equal(tt.want) {
				t.Errorf("Next = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestCadenceCheck(t *testing.T) {
	tests := []struct {
		name  string
		c     Cadence
		field string // "" when it may be
	}{
		{"interval", Cadence{Mode: "interval", EveryMinutes: 480}, ""},
		{"mode left out", Cadence{EveryMinutes: 0.5}, ""},
		{"cron", Cadence{Mode: "cron", EveryMinutes: 5}, "config.cadence.mode"},
		{"zero", Cadence{}, "config.cadence.every_minutes"},
		{"negative", Cadence{EveryMinutes: -1}, "config.cadence.every_minutes"},
		{"not a number", Cadence{EveryMinutes: math.NaN()}, "config.cadence.every_minutes"},
		{"more than a year", Cadence{EveryMinutes: 1e12}, "config.cadence.every_minutes"},
		{"endless", Cadence{EveryMinutes: math.Inf(1)}, "config.cadence.every_minutes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Config{Cadence: &tt.c}.Check()
			got := ""
			if e, ok := err.(*FieldError); ok {
				got = e.Field
			}
			if got != tt.field {
				t.Errorf("Check = %v, want a complaint about %q", err, tt.field)
			}
		})
	}
}
