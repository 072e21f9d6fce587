package freshet

import (
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"
)

// ID names a row. It is opaque to clients, who see it as a decimal string (a JSON number would
// lose digits past 2^53), and grows with time, so that rows made together lie together.
type ID int64

// String returns the id as clients see it.
func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// MarshalText writes the id as clients see it.
func (id ID) MarshalText() ([]byte, error) { return strconv.AppendInt(nil, int64(id), 10), nil }

// UnmarshalText reads what MarshalText wrote.
func (id *ID) UnmarshalText(b []byte) error {
	parsed, err := ParseID(string(b))
	*id = parsed
	return err
}

// ParseID reads an id that a client sent back. Anything that was never an id is ErrNotFound: to the
// one who asks it is the same.
func ParseID(s string) (ID, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 {
		return 0, ErrNotFound
	}
	return ID(n), nil
}

// IDs makes ids: 41 bits of milliseconds, then 22 bits that count on from a random start. Two
// processes can clash only when they write in the same millisecond and their counters overlap;
// the unique key refuses the later one and its transaction is tried again.
type IDs struct{ count atomic.Uint64 }

// NewIDs returns a source of ids with a random start.
func NewIDs() *IDs {
	g := &IDs{}
	g.count.Store(rand.Uint64())
	return g
}

// Next returns an id for a row made at now.
func (g *IDs) Next(now time.Time) ID {
	const low = 1<<22 - 1
	return ID(now.UnixMilli()<<22&(1<<63-1) | int64(g.count.Add(1)&low))
}
