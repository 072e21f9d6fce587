package freshet

import (
	"encoding/binary"
	"time"
)

// Seen is what a source is known to have given: a packed window of 16-byte entries, newest first,
// each 8 bytes of a post's key and 8 of its content hash. It follows the feed and not the calendar:
// what a source still lists stays known after retention took the item (D7a).
type Seen []byte

const (
	seenEntry = 16
	// seenLeast is how many entries a window keeps at the least once they left the document.
	seenLeast = 120
	// seenTimes is how many times the document's length a window keeps.
	seenTimes = 4
)

// Fate says what becomes of a post of a document that was just read.
type Fate byte

const (
	Known  Fate = iota // given before: nothing to do (E6)
	New                // a key and a content that the source has not given before (E5)
	Edited             // a known key with other content: updates the item, not its place (D3)
	TooOld             // published before the age limit or before the source: not stored (E6)
)

// Sort decides each post's fate, in the document's order, and returns the window that follows.
// now and created are when the poll is recorded and when the source was added; first says that no
// fetch has succeeded before (S4).
func (s Seen) Sort(posts []Post, p Policy, created time.Time, first bool, now time.Time) ([]Fate, Seen) {
	keys, hashes := s.index()
	fates := make([]Fate, len(posts))
	next := make(Seen, 0, min(len(s)+len(posts)*seenEntry, max(seenLeast, (seenTimes+1)*len(posts))*seenEntry))
	listed := make(map[uint64]bool, len(posts))
	versions := make(map[[2]uint64]bool, len(posts)) // a document may list an entry in several
	for i := range posts {
		post := &posts[i]
		key := post.Keys.Canonical()
		k, h := prefix(key[:]), prefix(post.Hash[:])
		switch {
		case hashes[h]:
			fates[i] = Known
		case keys[k]:
			fates[i] = Edited
		case tooOld(post.Published, p, created, first, now):
			fates[i] = TooOld
		default:
			fates[i] = New
		}
		keys[k], hashes[h], listed[k] = true, true, true
		if version := [2]uint64{k, h}; !versions[version] {
			versions[version] = true
			next = next.append(k, h)
		}
	}
	keep := max(seenLeast, seenTimes*len(posts)) * seenEntry
	for old := s; len(old) >= seenEntry && len(next) < keep; old = old[seenEntry:] {
		if k := prefix(old); !listed[k] {
			next = next.append(k, prefix(old[8:]))
		}
	}
	return fates, next
}

// Len is the number of posts in the window.
func (s Seen) Len() int { return len(s) / seenEntry }

func (s Seen) index() (keys, hashes map[uint64]bool) {
	keys, hashes = make(map[uint64]bool, s.Len()), make(map[uint64]bool, s.Len())
	for ; len(s) >= seenEntry; s = s[seenEntry:] {
		keys[prefix(s)], hashes[prefix(s[8:])] = true, true
	}
	return keys, hashes
}

func (s Seen) append(key, hash uint64) Seen {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(s, key), hash)
}

// tooOld applies the age limit and, on the first poll of a source that skips its history, the
// source's own age. A post without a date is never too old (E6).
func tooOld(published time.Time, p Policy, created time.Time, first bool, now time.Time) bool {
	if published.IsZero() {
		return false
	}
	if p.MaxAge > 0 && published.Before(now.Add(-p.MaxAge)) {
		return true
	}
	return first && p.SkipHistory && published.Before(created)
}
