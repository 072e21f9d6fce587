package freshet

import (
	"strings"
	"time"
)

// Provider is a service whose sources are read with a token of their owner (S7).
type Provider string

// X gives sources of type Twitter.
const X Provider = "x"

// ParseProvider reads a provider's name; "twitter" is X as well.
func ParseProvider(name string) (Provider, error) {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "x", "twitter":
		return X, nil
	case "":
		return "", &FieldError{"provider", `is missing; it must be "x"`}
	default:
		return "", &FieldError{"provider", `must be "x"`}
	}
}

// Credential is a token of an owner, sealed: nothing in it is secret.
type Credential struct {
	Owner     string // "" for the instance
	Provider  Provider
	KeyID     string // names the master key that it is sealed with
	Sealed    []byte
	UpdatedAt time.Time
}

// XCursor is what a source that is an X account remembers (E4). Ids are numbers beyond 2^53, in digits.
type XCursor struct {
	UserID   string `json:"user_id,omitempty"`
	Username string `json:"username,omitempty"` // as X spells it
	// SinceID is the newest post when a timeline was last read to its end.
	SinceID string `json:"since_id,omitempty"`
	// NewestID and UntilID are set while one is read in part: what lies between SinceID and UntilID is still
	// to be read, and then SinceID becomes NewestID.
	NewestID string `json:"newest_id,omitempty"`
	UntilID  string `json:"until_id,omitempty"`
	// Reads is how much of what X charges for, posts and accounts, the source read in Month (UTC).
	Month string `json:"month,omitempty"`
	Reads int    `json:"reads,omitempty"`
}

// Month names the month in which reads are counted.
func Month(t time.Time) string { return t.UTC().Format("2006-01") }

// NextMonth is when the next month begins, in UTC.
func NextMonth(t time.Time) time.Time {
	year, month, _ := t.UTC().Date()
	return time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC)
}

// Spend counts reads.
func (c *XCursor) Spend(n int, now time.Time) {
	if month := Month(now); c.Month != month {
		c.Month, c.Reads = month, 0
	}
	c.Reads += n
}
