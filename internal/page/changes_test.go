package page

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestChanges(t *testing.T) {
	long := strings.Repeat("The shop by the harbour sells rope and lamps. ", 20)
	tests := []struct{ name, before, after, want string }{
		{"a line edited", "Prices\nTent 25 €\nOpen daily", "Prices\nTent 20 €\nOpen daily", "- Tent 25 €\n+ Tent 20 €"},
		{"a line added at the end", "A\nB", "A\nB\nC", "+ C"},
		{"a line added in front", "A\nB", "C\nA\nB", "+ C"},
		{"a line taken out", "A\nB\nC", "A\nC", "- B"},
		{"one for two", "A\nB\nC", "A\nX\nY\nC", "- B\n+ X\n+ Y"},
		{"the same line twice", "A\nB\nB", "A\nB", "- B"},
		{"lines change places", "A\nB\nC", "B\nA\nC", "Only the order of its lines changed."},
		{"nothing in common", "A\nB", "C\nD", ""},
		{"a word in a long line", long + "It costs 25 € a week. " + long + "\nB", long + "It costs 20 € a week. " + long + "\nB",
			"- … lamps. The shop by the harbour sells rope and lamps. It costs 25 € a week. The shop by the harbour sells rope and lamps. The …\n" +
				"+ … lamps. The shop by the harbour sells rope and lamps. It costs 20 € a week. The shop by the harbour sells rope and lamps. The …"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Changes(tt.before, tt.after); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
	many := Changes("A", "A"+strings.Repeat("\nx", 100))
	if lines := strings.Split(many, "\n"); len(lines) != mostChanges+1 || lines[mostChanges] != "… and 60 more" {
		t.Errorf("of a hundred lines: %d, %q", len(lines), lines[len(lines)-1])
	}
}

// Whatever changes, what is shown is bounded and whole characters.
func FuzzChanges(f *testing.F) {
	f.Add("A\nB é", "A\nC é")
	f.Add(strings.Repeat("日本", 100)+"\nB", strings.Repeat("日本", 60)+"語"+strings.Repeat("日本", 40)+"\nB")
	f.Fuzz(func(t *testing.T, before, after string) {
		got := Changes(before, after)
		if utf8.ValidString(before) && utf8.ValidString(after) && !utf8.ValidString(got) {
			t.Errorf("%q", got)
		}
		if utf8.RuneCountInString(got) > (mostChanges+2)*(longestLine+3) {
			t.Errorf("%d characters", utf8.RuneCountInString(got))
		}
	})
}
