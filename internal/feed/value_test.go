package feed

import (
	"strings"
	"testing"
)

// The word-wise search agrees with looking at each byte, wherever it stands.
func TestFirstControl(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			b := []byte(strings.Repeat("é\n ab\t", 4))
			b[at] = byte(c)
			want := len(b)
			if isControl(byte(c)) {
				want = at
			}
			if got := firstControl(b); got != want {
				t.Fatalf("byte %#x at %d: found at %d", c, at, got)
			}
		}
	}
	if firstControl(nil) != 0 {
		t.Error("something in nothing")
	}
}

func TestAppendClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain text\n": "plain text\n", "a\x00b\x1bc\x7f": "abc", "it\u0092s \u0093x\u0094": "it’s “x”", "\u00a0é\u0081": "\u00a0é\ufffd",
	} {
		if got := string(appendClean(nil, []byte(in))); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestBase64(t *testing.T) {
	for in, want := range map[string]string{
		"YQ==":         "a",
		" Y\nWI=":      "ab",
		"YWJj":         "abc",
		"YWJjZA":       "YWJjZA",   // no padding
		"YWJjZ":        "YWJjZ",    // no base64
		"/////w==":     "/////w==", // no text
		"not base 64!": "not base 64!",
	} {
		if got := string(decodeBase64([]byte(in))); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
