package freshet

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// Memory is what a workflow knows of what it has seen: the ids of entries, or the document's text.
type Memory struct {
	IDs    []string // the newest 500, newest first, for people (W3)
	Window []byte   // packed marks of all that must not fire again
	Text   []byte   // packed text to compare the next one with
}

// shownIDs is how many ids a workflow keeps and shows (W3).
const shownIDs = 500

// mark stands for an entry in a window: 8 bytes each of its id, of its content and of its whole version.
type mark struct{ id, content, version uint64 }

const markSize = 24

// sort returns the entries of a document that fire, of its first most, in its order, and remembers them. An
// entry that is listed stays known, however long the list and whatever its order, and so do the newest 500 that are not
// listed any more; one that a feed lists again under another id with the same words, link and date is known, too (W4).
func (m *Memory) sort(posts []Post, on []Change, most int) (fired []Entry) {
	old := m.marks()
	ids, versions := make(map[uint64]uint64, len(old)), make(map[uint64]bool, len(old))
	for _, k := range old {
		ids[k.id] = k.content
		if k.version != 0 {
			versions[k.version] = true
		}
	}
	var next []mark
	var shown []string
	listed := map[uint64]bool{}
	ambiguous := ambiguousGUIDs(posts)
	for i := range posts {
		post := &posts[i]
		id := entryID(post, ambiguous)
		k := markOf(id, post)
		content, known := ids[k.id]
		if !known && k.knownOtherwise(post, ids, ambiguous) {
			content, known = k.content, true
		}
		switch {
		case listed[k.id]:
			continue // twice in one document
		case i >= most && !known:
			continue // does not count until it moves up
		}
		listed[k.id] = true
		switch again := k.version != 0 && versions[k.version]; {
		case !known && !again && slices.Contains(on, ChangeNew):
			fired = append(fired, entryOf(id, post, ""))
		case known && content != k.content && i < most && slices.Contains(on, ChangeUpdated):
			fired = append(fired, entryOf(id, post, ChangeUpdated))
		}
		if !known {
			shown = append(shown, id)
		}
		next = append(next, k)
	}
	for _, k := range old {
		if !listed[k.id] && len(next) < len(listed)+shownIDs {
			next = append(next, k)
		}
	}
	m.IDs = append(shown, m.IDs...)
	m.IDs = m.IDs[:min(len(m.IDs), shownIDs)]
	m.pack(next)
	return fired
}

// knownOtherwise says whether an entry is known by the other name that entryID has for it: its document gives its
// guid to several links only now, or did so before.
func (k mark) knownOtherwise(p *Post, ids map[uint64]uint64, ambiguous map[string]bool) bool {
	guid := strings.TrimSpace(p.GUID)
	if guid == "" {
		return false
	}
	if ambiguous[guid] {
		content, known := ids[nameOf(guid)]
		return known && content == k.content
	}
	_, known := ids[nameOf(guid+" "+p.URL)]
	return known
}

// entryID is what a workflow calls an entry: guid, else link, else a name made of its content (W4).
func entryID(p *Post, ambiguous map[string]bool) string {
	guid := strings.TrimSpace(p.GUID)
	switch {
	case guid != "" && ambiguous[guid]:
		return guid + " " + p.URL
	case guid != "":
		return guid
	case p.URL != "":
		return p.URL
	default:
		sum := sha256.Sum256([]byte(p.Title + "\n" + p.Published.UTC().Format(time.RFC3339) + "\n" + p.Text))
		return "urn:sha256:" + hex.EncodeToString(sum[:16])
	}
}

func markOf(id string, p *Post) mark {
	content := sha256.Sum256([]byte(p.Title + "\n" + p.URL + "\n" + p.Text))
	k := mark{id: nameOf(id), content: prefix(content[:])}
	if !p.Published.IsZero() {
		version := sha256.Sum256([]byte(p.Published.UTC().Format(time.RFC3339) + "\n" + CanonicalURL(p.URL) + "\n" + p.Title + "\n" + p.Text))
		k.version = prefix(version[:])
	}
	return k
}

// nameOf is the mark of an entry's id.
func nameOf(id string) uint64 {
	sum := sha256.Sum256([]byte(id))
	return prefix(sum[:])
}

func (m *Memory) marks() []mark {
	list := make([]mark, 0, len(m.Window)/markSize)
	for b := m.Window; len(b) >= markSize; b = b[markSize:] {
		list = append(list, mark{prefix(b), prefix(b[8:]), prefix(b[16:])})
	}
	return list
}

func (m *Memory) pack(marks []mark) {
	m.Window = make([]byte, 0, len(marks)*markSize)
	for _, k := range marks {
		for _, n := range []uint64{k.id, k.content, k.version} {
			m.Window = binary.LittleEndian.AppendUint64(m.Window, n)
		}
	}
}

// keep packs a text to compare the next one with. One that is too long is not kept, and what changes in it is
// not told.
func (m *Memory) keep(text string) { m.Text = pack(text) }

func (m *Memory) kept() string { return unpack(m.Text) }
