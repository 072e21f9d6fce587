package freshet

import "time"

// Class sorts failures by what may be expected of the next try (F6).
type Class string

const (
	// Transient failures are worth another try: timeouts, 429, 5xx, parse errors, the unknown.
	Transient Class = "transient"
	// Permanent failures stay until somebody changes something: 401, 403, 404, 410, no such host.
	Permanent Class = "permanent"
)

// Failure says why a source could not be read. It is data of an Outcome, kept on the source and
// shown to people; it is not an error of ours.
type Failure struct {
	Class Class
	// Code is a short stable name for programs and metrics.
	//
	// The fetch: "address" (it cannot be one), "refused_address", "no_such_host", "dns", "connect", "tls", "protocol" (not
	// HTTP), "redirects", "http_NNN" (the status), "timeout", "too_large", "encoding", "cut" (the document ended early).
	// The document: "not_a_feed", "not_a_page", "parse", "no_text", "no_match" (the selector).
	// An X account: "no_account" (not there, suspended), "protected", "refused_account" (for another reason).
	// What is set: "config", "unknown_type", "credential", "spend_cap".
	// Ourselves: "stopped" (says nothing about the source), "internal".
	Code string
	// Status is the HTTP status that was answered, 0 when none was.
	Status int
	// Sentence tells a person what happened and, where it helps, what to do (F5, F6).
	Sentence string
	// RetryAfter is when the server allows the next try (429 and 503), zero when it did not say (F3).
	RetryAfter time.Time
	// CoolHost is true for the answers that cool down the whole host: 429 and 503 (S6).
	CoolHost bool
	// Until is when the next try makes sense by our own rules, such as a spending cap; a refresh by hand
	// need not wait for it.
	Until time.Time
	// Paused is true when nothing changes before a person does something: the source is disabled at once,
	// with the sentence as its reason.
	Paused bool
	// Gone is true for 410: the source is disabled at once (F3).
	Gone bool
	// Unreached is true when no connection came about (no such host, connect failure). When
	// that happens to many hosts at once it is our own network that is down (S5).
	Unreached bool
}

// Error makes a Failure usable as the error of the call that met it.
func (f *Failure) Error() string { return f.Sentence }
