package freshet

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// What a page said last is kept within bounds, and never shown.
func TestDocumentKeep(t *testing.T) {
	noise := make([]byte, maxPacked*2)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(rng.IntN(256))
	}
	tests := []struct {
		name, text string
		kept       bool
	}{
		{"a page", "One\nTwo, with an é", true},
		{"nothing", "", true},
		{"as long as can be", strings.Repeat("word ", maxKept/5), true},
		{"too long", strings.Repeat("word ", maxKept/5) + "more words", false},
		{"too long when packed", string(noise), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := &Document{Text: []byte("old")}
			d.Keep(tt.text)
			want := tt.text
			if !tt.kept {
				want = ""
			}
			if got := d.Kept(); got != want || !tt.kept && d.Text != nil {
				t.Errorf("kept %d bytes, want %d; packed %d", len(got), len(want), len(d.Text))
			}
			if len(d.Text) > maxPacked {
				t.Errorf("packed into %d bytes", len(d.Text))
			}
		})
	}
	if got := (&Document{Text: []byte("no such thing")}).Kept(); got != "" {
		t.Errorf("a text that is broken is %q", got)
	}
	c := Cursor{Document: &Document{Hash: "aa", Text: []byte("x")}}
	if shown := c.Shown(); shown.Document.Hash != "aa" || shown.Document.Text != nil || c.Document.Text == nil {
		t.Errorf("shown %+v of %+v", shown.Document, c.Document)
	}
}

// The document moves with what was read: a 304 leaves it, a move leaves it, another body replaces it.
func TestObserveDocument(t *testing.T) {
	s := watched()
	s.Cursor.Document = &Document{Hash: "old"}
	if got := observe(s, Outcome{Unchanged: true}).Cursor.Document; got == nil || got.Hash != "old" {
		t.Errorf("after a 304: %+v", got)
	}
	if got := observe(s, Outcome{Failure: &Failure{}}).Cursor.Document; got == nil || got.Hash != "old" {
		t.Errorf("after a failure: %+v", got)
	}
	if got := observe(s, Outcome{Document: &Document{Hash: "new"}}).Cursor.Document; got == nil || got.Hash != "new" {
		t.Errorf("after another body: %+v", got)
	}
	s.Cursor.Move = &Move{To: "https://b.example/", Times: 2}
	moved := observe(s, Outcome{Unchanged: true, MovedTo: "https://b.example/"})
	if moved.URL != "https://b.example/" || moved.Cursor.Document == nil || moved.Cursor.BodyHash != "" {
		t.Errorf("after a move: %s, %+v", moved.URL, moved.Cursor)
	}
}
