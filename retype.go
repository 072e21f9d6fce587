package freshet

import "time"

// Retype returns the source as one of another type. What its last document left behind means nothing to the new type,
// a poll in flight belongs to the old one, and it is due at once, but for a pause that its host asked for.
func (s Source) Retype(t Type, h Host, now time.Time) Source {
	if s.Type == t {
		return s
	}
	s.Type = t
	s.Seq++
	s.Forget()
	s.Cursor.Partial, s.Cursor.Document, s.Cursor.DocumentHints = "", nil, nil
	if s.Enabled {
		s.NextPollAt = latest(now, h.NotBefore)
	}
	return s
}
