package freshet

import "errors"

// What callers branch on. The web layer maps each to a status and a sentence in one table.
var (
	// ErrNotFound: there is no such source, item, refresh or the like.
	ErrNotFound = errors.New("not found")
	// ErrBadPlace: a river cursor that we did not make (D5).
	ErrBadPlace = errors.New("the cursor is not one of ours")
	// ErrDisabled: a refresh of a source that is disabled (S7).
	ErrDisabled = errors.New("the source is disabled")
	// ErrRunning: the execution is under way; what it becomes is not known yet.
	ErrRunning = errors.New("the execution is running")
	// ErrLeaseLost: the attempt is not the execution's any more; its lease ran out (W6).
	ErrLeaseLost = errors.New("the lease has run out")
)

// FieldError says that one field of what a client sent cannot be used, and why.
type FieldError struct {
	Field  string // path in the document, such as "config.cadence.every_minutes"
	Reason string // a sentence for people
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Reason }

// DuplicateError: the address is a source already, by its normalized URL.
type DuplicateError struct{ Existing Source }

func (e *DuplicateError) Error() string {
	return "this address is already a source: " + e.Existing.Name()
}
