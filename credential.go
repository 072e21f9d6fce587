package freshet

import (
	"errors"
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

// ErrKey: what is secret in the database is sealed with another master key than the one that is given.
var ErrKey = errors.New("the secrets in this database are sealed with another master key")

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

// maxToken bounds a token; the longest in use are about a thousand bytes.
const maxToken = 4096

// CheckToken returns a token as it goes into a header, without white space and "Bearer " around it. Its error
// does not hold the token.
func CheckToken(token string) (string, error) {
	token = strings.TrimSpace(token)
	if scheme, rest, _ := strings.Cut(token, " "); strings.EqualFold(scheme, "bearer") {
		token = strings.TrimSpace(rest)
	}
	if token == "" {
		return "", &FieldError{"token", "must not be empty"}
	}
	if len(token) > maxToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", &FieldError{"token", "must be one word of printable ASCII, at most 4096 characters"}
	}
	return token, nil
}

// Codes of failures that a token, or another one, may end.
const (
	NeedsCredential = "credential"
	SpendCap        = "spend_cap"
)

// Resume returns an X account as it is when its owner's token was set: failures and pauses that the one
// before brought are forgotten. Who was switched off by hand stays so.
func (s Source) Resume(p Policy, h Host, now time.Time) Source {
	f := s.LastFailure
	if f == nil || f.Code != NeedsCredential && f.Code != SpendCap && !f.CoolHost {
		return s.Reschedule(p, h, now)
	}
	byItself := f.Paused && s.DisabledReason == f.Sentence || p.DisableAfter > 0 && s.PermanentFailures >= p.DisableAfter
	if !s.Enabled && !byItself {
		return s
	}
	s.Enabled = false // so that Enable forgets
	return s.Enable(h, now)
}
