package freshet

import (
	"encoding/base64"
	"encoding/binary"
	"time"
)

// Item is one entry of the river. Posts of several sources that are the same article share it; the
// earliest ingested post gives its words and its place (D3).
type Item struct {
	ID           ID
	Source       ID // whose post came first; only its edits change the item
	GUID         string
	Title        string
	URL          string
	CanonicalURL string
	Snippet      string
	Author       string
	Image        string
	PublishedAt  time.Time // its place (D4): never after IngestedAt, never missing
	IngestedAt   time.Time
	UpdatedAt    time.Time // last edit, else IngestedAt
	Sources      []ItemSource
}

// ItemSource is a source that carried an item.
type ItemSource struct {
	SourceID  ID
	Title     string // the source's name
	SourceURL string
	GUID, URL string // as that source gave them
	FirstSeen time.Time
}

// Place is where a page of the river ended, or where an item lies in it (D4, D5).
type Place struct {
	PublishedAt, IngestedAt time.Time
	ID                      ID
}

// Place returns where the item lies.
func (i *Item) Place() Place { return Place{i.PublishedAt, i.IngestedAt, i.ID} }

// RiverTime is an entry's place in time: its date, or the ingestion time when it has none or lies in
// the future (D4).
func RiverTime(published, ingested time.Time) time.Time {
	if published.IsZero() || published.After(ingested) || published.Year() < 1970 {
		return ingested
	}
	return published
}

const placeVersion = 1

// String encodes the place as an opaque cursor, stable over restarts (D5).
func (p Place) String() string {
	b := []byte{placeVersion}
	b = binary.AppendVarint(b, p.PublishedAt.UnixMilli())
	b = binary.AppendVarint(b, p.IngestedAt.UnixMilli())
	b = binary.AppendVarint(b, int64(p.ID))
	sum := placeSum(b)
	return base64.RawURLEncoding.EncodeToString(append(b, sum))
}

// ParsePlace reads what String wrote; anything else is ErrBadPlace.
func ParsePlace(s string) (Place, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) < 5 || b[0] != placeVersion || placeSum(b[:len(b)-1]) != b[len(b)-1] {
		return Place{}, ErrBadPlace
	}
	rest := b[1 : len(b)-1]
	var n [3]int64
	for i := range n {
		v, size := binary.Varint(rest)
		if size <= 0 {
			return Place{}, ErrBadPlace
		}
		n[i], rest = v, rest[size:]
	}
	if len(rest) != 0 {
		return Place{}, ErrBadPlace
	}
	return Place{time.UnixMilli(n[0]).UTC(), time.UnixMilli(n[1]).UTC(), ID(n[2])}, nil
}

// placeSum tells a cursor of ours from a mangled one; it is no secret.
func placeSum(b []byte) byte {
	sum := byte(0x5f)
	for _, c := range b {
		sum = sum<<3 | sum>>5 ^ c
	}
	return sum
}
