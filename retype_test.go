package freshet

import (
	"testing"
	"time"
)

// A source of another type is read from the beginning; one of the same type stays as it is.
func TestRetype(t *testing.T) {
	now := time.Date(2026, 2, 17, 10, 0, 0, 0, time.UTC)
	later := now.Add(time.Hour)
	src := Source{Type: RSS, Enabled: true, Seq: 4, NextPollAt: later,
		Cursor: Cursor{ETag: `"a"`, LastModified: "then", BodyHash: "b", Document: &Document{Hash: "c"}, LastFetchAt: &now}}
	if same := src.Retype(RSS, Host{}, now); same.Seq != 4 || same.Cursor.ETag != `"a"` || same.NextPollAt != later {
		t.Errorf("the same type changed it: %+v", same)
	}
	page := src.Retype(Website, Host{}, now)
	if c := page.Cursor; page.Type != Website || page.Seq != 5 || c.ETag+c.LastModified+c.BodyHash != "" || c.Document != nil || c.LastFetchAt == nil {
		t.Errorf("as a page: %+v", page)
	}
	if page.NextPollAt != now {
		t.Errorf("the page is due at %v, want now", page.NextPollAt)
	}
	if paused := src.Retype(Website, Host{NotBefore: later}, now); paused.NextPollAt != later {
		t.Errorf("on a host that pauses it is due at %v, want %v", paused.NextPollAt, later)
	}
	src.Enabled, src.NextPollAt = false, time.Time{}
	if off := src.Retype(Website, Host{}, now); !off.NextPollAt.IsZero() {
		t.Errorf("a source that is switched off is due at %v", off.NextPollAt)
	}
}
