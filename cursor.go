package freshet

import "time"

// Cursor is what a source remembers between fetches. It is stored and shown as a JSON document;
// the seeds name last_fetch_at, the rest is ours.
type Cursor struct {
	// LastFetchAt is when the last fetch began that ended ok or partial (seed 001).
	LastFetchAt *time.Time `json:"last_fetch_at,omitempty"`
	// SyntheticPollAt is the made-up last poll that spreads first polls (S4).
	SyntheticPollAt *time.Time `json:"synthetic_last_poll_at,omitempty"`
	// NewestPublishedAt is the newest publication time seen, for display (E5).
	NewestPublishedAt *time.Time `json:"newest_published_at,omitempty"`

	// ETag and LastModified go back byte for byte (F2); BodyHash spares reading the same body again.
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	BodyHash     string `json:"body_hash,omitempty"`
	// ValidatorsFrom is the address that gave them, "" for the source's own: they go back to no other.
	ValidatorsFrom string `json:"validators_from,omitempty"`

	// Move is a permanent redirect that is not believed yet (F3).
	Move *Move `json:"move,omitempty"`

	// Hint is the publisher's wish that set the last interval, in seconds and words (S8).
	HintSeconds int    `json:"hint_seconds,omitempty"`
	HintFrom    string `json:"hint_from,omitempty"`
	// DocumentHints are what the last document asked for. They hold while it is unchanged (F3).
	DocumentHints *Hints `json:"document_hints,omitempty"`

	// Document is what a source of type website or http gave last (E2, E3).
	Document *Document `json:"document,omitempty"`

	// X is what a source of type twitter remembers (E4).
	X *XCursor `json:"x,omitempty"`

	// Partial is what the last document lacked.
	Partial string `json:"partial,omitempty"`
}

// hints are what the last document asked for.
func (c Cursor) hints() Hints {
	if c.DocumentHints == nil {
		return Hints{}
	}
	return *c.DocumentHints
}

// Move counts the polls in a row that were sent to the same new place and found a document there.
type Move struct {
	To    string `json:"to"`
	Times int    `json:"times"`
}

// movesToBelieve is how many such polls move the source (F3).
const movesToBelieve = 3
