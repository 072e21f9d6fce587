package vault

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"freshet"
)

const seat = "workflow 7"

func TestSeals(t *testing.T) {
	file := filepath.Join(t.TempDir(), "freshet.key")
	s := NewSeals("", file)
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Error("a key file is made before there is anything to seal")
	}
	first, err := s.Seal(seat, []byte(token))
	if err != nil || bytes.Contains(first, []byte(token)) {
		t.Fatalf("sealed %q, %v", first, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key file is %v, %v, want mode 0600", info, err)
	}
	if again, _ := s.Seal(seat, []byte(token)); bytes.Equal(first, again) {
		t.Error("the same text is sealed the same way twice")
	}
	if text, err := NewSeals("", file).Open(seat, first); string(text) != token || err != nil {
		t.Errorf("after a restart it opens as %q, %v", text, err)
	}
	if text, err := mustOpen(t, &table{}, "", file).open(freshet.Credential{KeyID: "x", Sealed: first}); err == nil {
		t.Errorf("it opens as a token: %q", text)
	}
}

func TestSealsRefuse(t *testing.T) {
	s := NewSeals(keyA, "")
	good, err := s.Seal(seat, []byte(token))
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(good)
	flipped[len(flipped)-1] ^= 1
	missing := filepath.Join(t.TempDir(), "freshet.key")
	for name, test := range map[string]struct {
		seals  *Seals
		place  string
		sealed []byte
		key    bool // the key is to blame
	}{
		"another key":   {NewSeals(keyB, ""), seat, good, true},
		"no key":        {NewSeals("", missing), seat, good, true},
		"a bad key":     {NewSeals("short", ""), seat, good, false},
		"another place": {s, "workflow 8", good, false},
		"one bit":       {s, seat, flipped, false},
		"cut":           {s, seat, good[:10], true},
		"nothing":       {s, seat, nil, true},
	} {
		text, err := test.seals.Open(test.place, test.sealed)
		if err == nil || text != nil || errors.Is(err, freshet.ErrKey) != test.key || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if _, err := os.Stat(missing); !errors.Is(err, os.ErrNotExist) {
		t.Error("opening made a key")
	}
	if _, err := NewSeals("short", "").Seal(seat, nil); err == nil || !strings.Contains(err.Error(), "32 bytes") {
		t.Errorf("a bad key seals: %v", err)
	}
}
