package web

import (
	"strings"
	"testing"
	"time"

	"freshet"
)

// The highest day fills the picture, an empty one has no bar, and the sentence says what the picture shows.
func TestDaysChart(t *testing.T) {
	now := time.Date(2026, 2, 17, 10, 0, 0, 0, time.UTC)
	c := daysChart("Items per day", []int{0, 4, 2}, now)
	if c.Says != "6 items in 3 days, at most 4 on one, 2 today" || len(c.Bars) != 2 {
		t.Errorf("%q with %d bars", c.Says, len(c.Bars))
	}
	high, half := c.Bars[0], c.Bars[1]
	if high.Y != 0 || high.H != chartHeight || half.Y != chartHeight/2 || half.H != chartHeight/2 {
		t.Errorf("bars %+v", c.Bars)
	}
	if high.X != 100 || half.X != 200 || high.Says != "Monday 16 February: 4 items" {
		t.Errorf("bars %+v", c.Bars)
	}
	if none := daysChart("", make([]int, 30), now); len(none.Bars) != 0 || none.Says != "0 items in 30 days, at most 0 on one, 0 today" {
		t.Errorf("of nothing: %+v", none)
	}
}

// Outcomes are stacked, the newest poll of each source at the right.
func TestPollsChart(t *testing.T) {
	now := time.Date(2026, 2, 17, 10, 0, 0, 0, time.UTC)
	var well, ill freshet.Source
	for range 3 {
		well.History = well.History.Add(freshet.Poll{At: now, Result: freshet.ResultOK})
	}
	ill.History = ill.History.Add(freshet.Poll{At: now, Result: freshet.ResultPartial}).Add(freshet.Poll{At: now, Result: freshet.ResultError})
	c := pollsChart([]freshet.History{well.History, ill.History})
	if c.Says != "5 polls: 3 read, 1 read in part, 1 failed" || c.Most != 2 {
		t.Errorf("%q, most %d", c.Says, c.Most)
	}
	var last []string
	for _, b := range c.Bars {
		if b.X == 290 {
			last = append(last, b.Class)
			if want := map[string]float64{"ok": chartHeight / 2, "error": 0}[b.Class]; b.Y != want || b.H != chartHeight/2 {
				t.Errorf("the last column has %+v", b)
			}
		}
	}
	if strings.Join(last, " ") != "ok error" {
		t.Errorf("the last column has %v, want ok below error", last)
	}
}

// The word for a source, from what is known of it.
func TestConditionOf(t *testing.T) {
	now := time.Date(2026, 2, 17, 10, 0, 0, 0, time.UTC)
	read := freshet.Source{Enabled: true, LastSuccessAt: now}
	failing := func(n int) freshet.Source { s := read; s.Failures = n; return s }
	cooling := freshet.Host{NotBefore: now.Add(time.Minute)}
	for _, test := range []struct {
		src  freshet.Source
		host freshet.Host
		want condition
	}{
		{read, freshet.Host{}, healthy},
		{freshet.Source{Enabled: true}, freshet.Host{}, fresh},
		{failing(1), freshet.Host{}, retrying},
		{failing(2), freshet.Host{}, retrying},
		{failing(3), freshet.Host{}, unhealthy},
		{read, cooling, waiting},
		{failing(1), cooling, waiting},
		{failing(3), cooling, unhealthy},
		{read.Disable(pausedByHand), cooling, paused},
		{read.Disable("by hand"), freshet.Host{}, paused}, // by the API
		{failing(3).Disable("The server says that it is gone for good (410)."), freshet.Host{}, off},
	} {
		if got := conditionOf(test.src, test.host, now); got != test.want {
			t.Errorf("%d failures, enabled %v, reason %q: %s, want %s", test.src.Failures, test.src.Enabled, test.src.DisabledReason, got, test.want)
		}
		if test.want.Help() == "" {
			t.Errorf("nothing says what %s means", test.want)
		}
	}
}
