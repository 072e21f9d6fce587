package freshet

import (
	"testing"
	"time"
)

func TestVisit(t *testing.T) {
	start := time.Date(2026, 2, 17, 10, 0, 0, 0, time.UTC)
	at := func(minute int) time.Time { return start.Add(time.Duration(minute) * time.Minute) }
	item := func(minute int) Place { return Place{at(minute), at(minute), ID(minute)} }
	type step struct {
		minute, newest int
		reach          bool // the reader leaves; else the river is shown
	}
	for _, test := range []struct {
		name       string
		steps      []step
		seen, line Place
	}{
		{"the first visit has no line", []step{{10, 5, false}}, item(5), Place{}},
		{"reloading moves no line", []step{{10, 5, false}, {20, 15, false}, {45, 40, false}}, item(40), Place{}},
		{"the next visit shows where the first one was", []step{{10, 5, false}, {60, 55, false}}, item(55), item(5)},
		{"and keeps showing it", []step{{10, 5, false}, {60, 55, false}, {70, 65, false}}, item(65), item(5)},
		{"what was brought in counts as seen", []step{{10, 5, false}, {12, 11, true}, {60, 55, false}}, item(55), item(11)},
		{"a long visit is one visit", []step{{10, 5, false}, {100, 99, true}, {110, 105, false}}, item(105), Place{}},
		{"an older item is no step back", []step{{10, 5, false}, {12, 2, true}, {60, 3, false}}, item(5), item(5)},
	} {
		var v Visit
		for _, s := range test.steps {
			if s.reach {
				v = v.Reach(item(s.newest), at(s.minute))
			} else {
				v = v.Show(item(s.newest), at(s.minute))
			}
		}
		if v.Seen != test.seen || v.Line != test.line {
			t.Errorf("%s: seen %v, line %v, want %v and %v", test.name, v.Seen, v.Line, test.seen, test.line)
		}
	}
}

func TestPlaceCompare(t *testing.T) {
	one := time.Date(2026, 2, 17, 10, 0, 0, 0, time.UTC)
	two := one.Add(time.Second)
	for _, test := range []struct {
		name string
		p, q Place
		want int
	}{
		{"published later is newer", Place{two, one, 1}, Place{one, two, 2}, -1},
		{"then ingested later", Place{one, two, 1}, Place{one, one, 2}, -1},
		{"then the greater id", Place{one, one, 2}, Place{one, one, 1}, -1},
		{"the same", Place{one, one, 2}, Place{one, one, 2}, 0},
	} {
		if got, back := test.p.Compare(test.q), test.q.Compare(test.p); got != test.want || back != -test.want {
			t.Errorf("%s: %d and %d, want %d", test.name, got, back, test.want)
		}
	}
}
