package freshet

import (
	"errors"
	"testing"
	"time"
)

// D4: an entry's place in time.
func TestRiverTime(t *testing.T) {
	tests := []struct {
		name      string
		published time.Time
		want      time.Time
	}{
		{"its date", noon.Add(-time.Hour), noon.Add(-time.Hour)},
		{"now", noon, noon},
		{"no date", time.Time{}, noon},
		{"in the future", noon.Add(time.Second), noon},
		{"far in the future", time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), noon},
		{"before there were feeds", time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC), noon},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := RiverTime(tt.published, noon); !got.Equal(tt.want) {
				t.Errorf("RiverTime = %v, want %v", got, tt.want)
			}
		})
	}
}

// D5: a bad cursor is told from a good one.
func TestParsePlace(t *testing.T) {
	good := Place{noon, noon.Add(time.Second), 42}.String()
	if _, err := ParsePlace(good); err != nil {
		t.Fatalf("ParsePlace of our own = %v", err)
	}
	flipped := []byte(good)
	flipped[5] ^= 1
	for _, bad := range []string{"", "x", "200", good[1:], good[:len(good)-1], good + "A", string(flipped), "AQAAAAA", "!!!!", good + " "} {
		if p, err := ParsePlace(bad); !errors.Is(err, ErrBadPlace) {
			t.Errorf("ParsePlace(%q) = %v, %v; want ErrBadPlace", bad, p, err)
		}
	}
}

func FuzzPlace(f *testing.F) {
	f.Add(noon.UnixMilli(), noon.UnixMilli(), int64(1))
	f.Add(int64(-1), int64(0), int64(1<<62))
	f.Fuzz(func(t *testing.T, published, ingested, id int64) {
		p := Place{time.UnixMilli(published).UTC(), time.UnixMilli(ingested).UTC(), ID(id)}
		if got, err := ParsePlace(p.String()); err != nil || got != p {
			t.Errorf("ParsePlace(%v.String()) = %v, %v", p, got, err)
		}
	})
}

func FuzzParsePlace(f *testing.F) {
	f.Add(Place{noon, noon, 42}.String())
	f.Add("AQAAAF8")
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePlace(s)
		if err != nil {
			return
		}
		if again, err := ParsePlace(p.String()); err != nil || again != p {
			t.Errorf("%q is %v, which comes back as %v, %v", s, p, again, err)
		}
	})
}

func TestParseID(t *testing.T) {
	id := NewIDs().Next(noon)
	if got, err := ParseID(id.String()); err != nil || got != id {
		t.Errorf("ParseID(%s) = %v, %v", id, got, err)
	}
	for _, bad := range []string{"", "0", "-1", "x", "1.5", "9223372036854775808"} {
		if id, err := ParseID(bad); !errors.Is(err, ErrNotFound) {
			t.Errorf("ParseID(%q) = %v, %v; want ErrNotFound", bad, id, err)
		}
	}
}

func TestIDsGrow(t *testing.T) {
	ids := NewIDs()
	seen := map[ID]bool{}
	for range 10_000 {
		id := ids.Next(noon)
		if id <= 0 || seen[id] {
			t.Fatalf("id %d is not positive or came twice", id)
		}
		seen[id] = true
	}
	if later := ids.Next(noon.Add(time.Millisecond)); seen[later] {
		t.Fatal("an id of another millisecond came before")
	} else {
		for id := range seen {
			if id >= later {
				t.Fatalf("id %d of an earlier millisecond is not smaller than %d", id, later)
			}
		}
	}
}
