package fetch

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// F3: seconds or date, never in the past, never absurdly far away.
func TestRetryAfter(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"":                                 0,
		"120":                              2 * time.Minute,
		" 120 ":                            2 * time.Minute,
		"0":                                0,
		"-5":                               0,
		"+5":                               0,
		"1.5":                              0,
		"soon":                             0,
		"604800":                           maxRetryAfter,
		"604801":                           maxRetryAfter,
		"99999999999999999999999999":       maxRetryAfter,
		"9223372036854775807":              maxRetryAfter,
		"Sat, 21 Nov 2026 12:20:00 GMT":    20 * time.Minute,
		"Saturday, 21-Nov-26 12:20:00 GMT": 20 * time.Minute,
		"Sat Nov 21 12:20:00 2026":         20 * time.Minute,
		"Sat, 21 Nov 2026 11:00:00 GMT":    0,
		"Sat, 21 Nov 2026 12:00:00 GMT":    0,
		"Thu, 21 Nov 2999 12:00:00 GMT":    maxRetryAfter,
		"2026-11-21T12:20:00Z":             0,
	} {
		got := RetryAfter(value, noon)
		if want == 0 && !got.IsZero() || want != 0 && !got.Equal(noon.Add(want)) {
			t.Errorf("%q gives %v, want %v after noon", value, got, want)
		}
	}
}

func TestMaxAge(t *testing.T) {
	for _, test := range []struct {
		cache []string
		age   string
		want  time.Duration
	}{
		{nil, "", 0},
		{[]string{"max-age=3600"}, "", time.Hour},
		{[]string{"public, MAX-AGE=3600, must-revalidate"}, "", time.Hour},
		{[]string{`max-age="3600"`}, "", time.Hour},
		{[]string{"public", "max-age=60"}, "", time.Minute},
		{[]string{"max-age=60, max-age=3600"}, "", time.Minute},
		{[]string{"s-maxage=3600"}, "", 0},
		{[]string{"no-cache, max-age=3600"}, "", 0},
		{[]string{"max-age=3600", "no-store"}, "", 0},
		{[]string{"max-age=-1"}, "", 0},
		{[]string{"max-age=abc"}, "", 0},
		{[]string{"max-age"}, "", 0},
		{[]string{"max-age=3600"}, "600", 50 * time.Minute},
		{[]string{"max-age=3600"}, "7200", 0},
		{[]string{"max-age=3600"}, "soon", time.Hour},
		{nil, "7200", 0},
	} {
		h := http.Header{"Cache-Control": test.cache}
		if test.age != "" {
			h.Set("Age", test.age)
		}
		if got := maxAge(h); got != test.want {
			t.Errorf("%v, Age %q: %v, want %v", test.cache, test.age, got, test.want)
		}
	}
	if got := maxAge(http.Header{"Cache-Control": {"max-age=99999999999999999999"}}); got < 100*365*24*time.Hour {
		t.Errorf("an endless max-age gives %v", got)
	}
}

func TestValidator(t *testing.T) {
	for _, v := range []string{`"abc"`, `W/"abc"`, `abc`, `"a,b c"`, `"ü"`, `0`, "a\tb", strings.Repeat("a", maxValidator)} {
		if got := validator(v); got != v {
			t.Errorf("%q becomes %q", v, got)
		}
	}
	for _, v := range []string{"a\x00b", "a\x01", "\xff\xfe", "a\nb", "a\x7f", strings.Repeat("a", maxValidator+1)} {
		if got := validator(v); got != "" {
			t.Errorf("%q is kept as %q, though it cannot be sent or stored", v, got)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("120")
	f.Add("Sat, 21 Nov 2026 12:20:00 GMT")
	f.Fuzz(func(t *testing.T, value string) {
		got := RetryAfter(value, noon)
		if !got.IsZero() && (!got.After(noon) || got.Sub(noon) > maxRetryAfter) {
			t.Fatalf("%q gives %v", value, got)
		}
	})
}

func FuzzMaxAge(f *testing.F) {
	f.Add("public, max-age=3600", "60")
	f.Fuzz(func(t *testing.T, cache, age string) {
		if got := maxAge(http.Header{"Cache-Control": {cache}, "Age": {age}}); got < 0 {
			t.Fatalf("%q, Age %q give %v", cache, age, got)
		}
	})
}
