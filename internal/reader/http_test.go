package reader

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"freshet"
)

// E3: changed when the hash differs or there was none; hash, status and size stay in the cursor.
func TestHTTP(t *testing.T) {
	const a, b = "one", "another"
	w := watch(t, freshet.HTTP, "https://a.example/data.bin?key=s3cret", freshet.Config{})
	if stored := w.poll(serveAs(a, "application/octet-stream")); len(stored) != 0 {
		t.Errorf("an item that nobody asked for: %+v", stored)
	}
	want := freshet.Document{Hash: hashOf([]byte(a)), Status: 200, Size: 3}
	if d := w.src.Cursor.Document; d == nil || d.Hash != want.Hash || d.Status != want.Status || d.Size != want.Size || w.src.Cursor.BodyHash != want.Hash {
		t.Errorf("cursor = %+v", d)
	}
	if w.poll(serveAs(a, "application/octet-stream")); w.src.Cursor.Document.Hash != want.Hash {
		t.Error("an equal body changed the cursor")
	}
	w.poll(serveAs(b, "application/octet-stream"))
	if d := w.src.Cursor.Document; d.Hash != hashOf([]byte(b)) || d.Size != len(b) {
		t.Errorf("cursor after a change = %+v", d)
	}
}

// A change is an item on request: the first content, each other one, and going back to an earlier one, too.
func TestHTTPItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, freshet.HTTP, "https://a.example/dir/data.bin?key=s3cret", freshet.Config{Items: true})
		keys := map[freshet.Key]bool{}
		tests := []struct {
			name, body string
			before     string
			items      int
		}{
			{"first", "one", "Not seen before.", 1},
			{"the same", "one", "", 0},
			{"another", "another", "Before: status 200, 3 bytes, SHA-256 " + hashOf([]byte("one")) + ".", 1},
			{"back", "one", "Before: status 200, 7 bytes, SHA-256 " + hashOf([]byte("another")) + ".", 1},
			{"and again", "another", "Before: status 200, 3 bytes", 1},
		}
		for _, tt := range tests {
			time.Sleep(time.Minute)
			stored := w.poll(serveAs(tt.body, "text/plain"))
			if len(stored) != tt.items {
				t.Fatalf("%s: %d items, want %d", tt.name, len(stored), tt.items)
			}
			if len(stored) == 0 {
				continue
			}
			p := stored[0]
			if p.Title != "Changed: a.example/dir/data.bin" || p.URL != "https://a.example/dir/data.bin?key=s3cret" {
				t.Errorf("%s: %q at %s", tt.name, p.Title, p.URL)
			}
			if !strings.Contains(p.Text, "SHA-256 "+hashOf([]byte(tt.body))) || !strings.Contains(p.Text, tt.before) {
				t.Errorf("%s: text = %s", tt.name, p.Text)
			}
			if keys[p.Keys.GUID] {
				t.Errorf("%s: the item is one that there was", tt.name)
			}
			keys[p.Keys.GUID] = true
		}
	})
}

// A move drops validators (F2), but is no change.
func TestHTTPMoved(t *testing.T) {
	w := watch(t, freshet.HTTP, "https://a.example/data", freshet.Config{Items: true})
	moving := func(r *http.Request) *http.Response {
		if r.URL.Host == "a.example" {
			return answer(301, "", "Location: https://b.example/data")
		}
		return answer(200, "one")
	}
	items := 0
	for range 5 {
		items += len(w.poll(moving))
	}
	if items != 1 || w.src.URL != "https://b.example/data" {
		t.Errorf("%d items, want 1; now at %s", items, w.src.URL)
	}
}
