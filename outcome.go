package freshet

import "time"

// Outcome is how one poll ended: a Failure, or a success with what was read (F2, F4). It is all
// that a reader says; what follows from it is decided by Source.Observe and Sort.
type Outcome struct {
	At     time.Time     // when the request was made
	Took   time.Duration // until the answer was read
	Status int           // HTTP status, 0 when there was no answer

	Failure *Failure // nil after a success

	// Unchanged: a 304, or the same body as last time. Nothing was parsed and Posts is empty.
	Unchanged bool
	Posts     []Post // in the document's order
	Partial   string // what could not be read, "" when all was (S10)

	ETag, LastModified, BodyHash string // of a wholly read body only (F4)
	ValidatorsFrom               string // the address that gave them after a redirect, "" for the source's own

	Document *Document // of types that are one document (E2, E3)
	Contents []Content // of Source.Parts, in their order (W4)

	X     *XCursor // the next one of an X account, after a failure too: what was paid for is kept
	Reads int      // that X charges for

	Title, SiteURL string        // what the document calls itself
	MovedTo        string        // where a chain of permanent redirects led (F3)
	Hints          Hints         // of the document
	MaxAge         time.Duration // of the answer, 304 included: Cache-Control

	// Pause is until when the host wants no further request, though it answered this one (S6).
	Pause time.Time
}

// Result names how a poll ended for people and scripts (S10).
type Result string

const (
	ResultOK      Result = "ok"
	ResultPartial Result = "partial"
	ResultError   Result = "error"
	ResultSkipped Result = "skipped"
)

// Result says how the poll ended.
func (o *Outcome) Result() Result {
	switch {
	case o.Failure != nil:
		return ResultError
	case o.Partial != "":
		return ResultPartial
	default:
		return ResultOK
	}
}
