package freshet

import "testing"

func TestSplitChanges(t *testing.T) {
	for _, test := range []struct{ text, changes, now string }{
		{TellChanges("- old\n+ new", "new\nrest"), "- old\n+ new", "new\nrest"},
		{TellChanges("- old\n+ new", ""), "- old\n+ new", ""},
		{"An article.\nNow it reads:\nwell.", "", "An article.\nNow it reads:\nwell."},
		{"Changed since the last version:\nbroken off", "", "Changed since the last version:\nbroken off"},
		{"", "", ""},
	} {
		if changes, now := SplitChanges(test.text); changes != test.changes || now != test.now {
			t.Errorf("%q: %q and %q, want %q and %q", test.text, changes, now, test.changes, test.now)
		}
	}
}
