package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"freshet"
)

// riverOf makes items of a sketch such as "a0 a5 b7": the source's letter and how many minutes before noon.
func riverOf(sketch string) (items []freshet.Item) {
	noon := time.Date(2026, 2, 17, 12, 0, 0, 0, time.UTC)
	for n, word := range strings.Fields(sketch) {
		var minutes int
		fmt.Sscan(word[1:], &minutes)
		at := noon.Add(-time.Duration(minutes) * time.Minute)
		items = append(items, freshet.Item{ID: freshet.ID(1000 - n), Source: freshet.ID(word[0]), PublishedAt: at, IngestedAt: at})
	}
	return items
}

func TestRunsAreFolded(t *testing.T) {
	for _, test := range []struct {
		name, items string
		here        int
		want        string // sizes of the parts, days apart by a bar, ! where the reader was
	}{
		{"four are no run", "a0 a1 a2 a3 b4", -1, "1 1 1 1 1"},
		{"five are", "a0 a1 a2 a3 a4 b4", -1, "5 1"},
		{"of one source only", "a0 a1 b2 a3 a4 a5", -1, "1 1 1 1 1 1"},
		{"within an hour", "a0 a15 a30 a45 a60 b61", -1, "5 1"},
		{"not within more", "a0 a15 a30 a45 a61 b61", -1, "1 1 1 1 1 1"},
		{"a later start may be a run", "a0 a50 a60 a70 a80 a90 b99", -1, "1 5 1"},
		{"a long run is one for each hour", "a0 a10 a20 a30 a40 a61 a62 a63 a64 a65 b99", -1, "5 5 1"},
		{"a run ends with its day", "a715 a716 a717 a718 a721 a722 b800", -1, "1 1 1 1|1 1 1"},
		{"a run does not hide where the reader was", "a0 a1 a2 a3 a4 a5 a6 b9", 5, "5 !1 1 1"},
		{"a run begins there", "a0 a1 a2 a3 a4 a5 b9", 1, "1 !5 1"},
		{"nothing", "", -1, ""},
	} {
		var got []string
		for _, d := range days(riverOf(test.items), test.here, true) {
			var parts []string
			for _, p := range d.Parts {
				mark := ""
				if p.Here {
					mark = "!"
				}
				parts = append(parts, mark+fmt.Sprint(len(p.Items)))
			}
			got = append(got, strings.Join(parts, " "))
		}
		if joined := strings.Join(got, "|"); joined != test.want {
			t.Errorf("%s: %s, want %s", test.name, joined, test.want)
		}
	}
	if parts := days(riverOf("a0 a1 a2 a3 a4"), -1, false)[0].Parts; len(parts) != 5 {
		t.Errorf("%d parts where nothing is to be folded", len(parts))
	}
}

func TestHereIndex(t *testing.T) {
	items := riverOf("a10 a20 a30")
	place := func(minutes int) freshet.Place { return riverOf(fmt.Sprint("a", minutes))[0].Place() }
	for _, test := range []struct {
		name        string
		after, line freshet.Place
		want        int
	}{
		{"no visit before", freshet.Place{}, freshet.Place{}, -1},
		{"nothing is new", freshet.Place{}, items[0].Place(), -1},
		{"one is new", freshet.Place{}, items[1].Place(), 1},
		{"the item is gone", freshet.Place{}, place(15), 1},
		{"everything is new", freshet.Place{}, place(40), -1},
		{"a page of older items begins there", place(5), place(8), 0},
		{"a page of older items is all older", place(5), place(2), -1},
		{"a page of older items where the last one ended", place(5), place(5), -1},
	} {
		if got := hereIndex(items, test.after, test.line); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}
