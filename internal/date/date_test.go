package date

import (
	"testing"
	"time"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"Thu, 01 Jan 2004 19:48:21 GMT", "2003-12-31T10:14:55.1234-08:00", "Sun Jan  4 16:29:06 2004", "2003-W01-7",
		"Fri, 2006/09/15 08:19:53 EDT", "2004-07-13 오후 11:38:17", "2004-július-13T9:15-05:00", "99999999999999",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := Parse(s)
		if ok && (got.Year() < 1 || got.Year() > 9999 || got.Location() != time.UTC) {
			t.Errorf("Parse(%q) = %v", s, got)
		}
		if !ok && !got.IsZero() {
			t.Errorf("Parse(%q) refuses and gives %v", s, got)
		}
	})
}
