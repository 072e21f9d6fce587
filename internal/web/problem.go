package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"freshet"
	"freshet/internal/fetch"
	"freshet/internal/opml"
)

// Problem is how every refusal and failure is answered (RFC 9457).
type Problem struct {
	Type   string         `json:"type" format:"uri-reference" example:"/problems/duplicate-source" doc:"What kind of problem it is; stable."`
	Title  string         `json:"title" doc:"The kind in words."`
	Status int            `json:"status" doc:"The HTTP status."`
	Detail string         `json:"detail" doc:"What is wrong here, in a sentence."`
	Errors []FieldProblem `json:"errors,omitempty" nullable:"false" doc:"The fields that are wrong, each with its reason."`
	Feed   *FeedName      `json:"feed,omitempty" doc:"The feed that is meant, such as the one that has the address already."`
}

// FieldProblem says what is wrong with one field.
type FieldProblem struct {
	Location string `json:"location" example:"body.config.cadence.every_minutes" doc:"Where: body, query or path, and the name."`
	Message  string `json:"message" doc:"Why it cannot be used."`
	Value    any    `json:"value,omitempty" doc:"What was sent, when it is short."`
}

// FeedName names a feed.
type FeedName struct {
	ID    freshet.ID `json:"id"`
	Title string     `json:"title"`
	URL   string     `json:"url"`
}

func (p *Problem) Error() string { return p.Detail }

// GetStatus and ContentType are what huma asks of an error that it writes.
func (p *Problem) GetStatus() int { return p.Status }

func (p *Problem) ContentType(string) string { return "application/problem+json" }

// kind is a stable name of a problem with its status and its words.
type kind struct {
	slug   string
	status int
	title  string
	help   string // at the address that names it
}

var (
	badRequest       = kind{"bad-request", 400, "The request cannot be read", "The body is no JSON, or the address has a broken escape. The detail says where."}
	badCursor        = kind{"bad-cursor", 400, "The cursor is not one of ours", "Send the next_cursor of the page before as it was, or none to begin at the newest item."}
	unauthorized     = kind{"unauthorized", 401, "A password or a token is needed", "Send Authorization: Bearer TOKEN, or basic auth with the password, or log in at /login."}
	foreignHost      = kind{"foreign-host", 403, "Not a name of this server", "The server answers to its own names only, so that no other site can be made to look like it. Start it with --hosts NAME (FRESHET_HOSTS) to allow a name."}
	crossOrigin      = kind{"cross-origin", 403, "Another site may not do that", "The request came from a page of another site. Behind a proxy, let it pass the Host header on, or start the server with --hosts NAME."}
	notFound         = kind{"not-found", 404, "Not found", "Nothing has this address or this id, or not any more."}
	methodNotAllowed = kind{"method-not-allowed", 405, "Method not allowed", "The Allow header names the methods that the address knows."}
	slowRequest      = kind{"slow-request", 408, "The request came too slowly", "The body did not arrive in time."}
	duplicateSource  = kind{"duplicate-source", 409, "The feed is there already", "Two addresses are one feed when they differ only in http or https, www., the default port or a slash at the end. The member feed names the one that is there."}
	feedDisabled     = kind{"feed-disabled", 409, "The feed is switched off", "A feed that is switched off is not polled, by hand neither. Switch it on first: PATCH it with {\"enabled\": true}."}
	otherKey         = kind{"other-key", 409, "Another master key", "Start the server with the master key that the tokens were sealed with (FRESHET_MASTER_KEY, or the key file in its data folder), or remove them and set them again."}
	stillRunning     = kind{"still-running", 409, "The execution is running", "Somebody is carrying it out. Try again when its lease, due_at, is over."}
	leaseLost        = kind{"lease-lost", 409, "The attempt is not yours any more", "Its lease ran out, and the execution goes to whoever asks next, or it is over. Lease for longer, or be done sooner."}
	tooLarge         = kind{"too-large", 413, "The body is too large", "JSON may have 1 MiB, OPML 8 MiB."}
	mediaType        = kind{"media-type", 415, "The body has the wrong type", "Send JSON as Content-Type: application/json, OPML as text/x-opml, application/xml, text/xml or a form file."}
	invalid          = kind{"invalid", 422, "Something in it cannot be used", "The member errors names each field with the reason."}
	badOPML          = kind{"bad-opml", 422, "The list cannot be read", "The detail says what is wrong and in which line. Nothing was added."}
	noFeeds          = kind{"unreadable-address", 422, "The address could not be looked at", "The detail says what happened when it was fetched."}
	tooManyTries     = kind{"too-many-tries", 429, "Too many wrong passwords", "Try again in a few seconds."}
	internal         = kind{"internal", 500, "Something went wrong here", "It is not your request. The server's log has the details."}
	unavailable      = kind{"unavailable", 503, "Not now", "The server is busy, stopping, or waits for its database. Try again soon."}
)

var kinds = []kind{badRequest, badCursor, unauthorized, foreignHost, crossOrigin, notFound, methodNotAllowed, slowRequest,
	duplicateSource, feedDisabled, otherKey, stillRunning, leaseLost, tooLarge, mediaType, invalid, badOPML, noFeeds, tooManyTries, internal, unavailable}

// sentinels is the table from errors that callers branch on to what the asker is told.
var sentinels = []struct {
	err    error
	kind   kind
	detail string
}{
	{freshet.ErrNotFound, notFound, "There is nothing with this id, or not any more."},
	{freshet.ErrBadPlace, badCursor, "The cursor is not one that this server gave out."},
	{freshet.ErrDisabled, feedDisabled, "The feed is switched off."},
	{freshet.ErrKey, otherKey, "There are tokens that another master key sealed. Nothing was changed."},
	{freshet.ErrRunning, stillRunning, "The execution is running; what it becomes is not known yet."},
	{freshet.ErrLeaseLost, leaseLost, "The attempt is not the execution's any more; its lease ran out, or it is over."},
	{context.DeadlineExceeded, unavailable, "The answer took too long."},
	{context.Canceled, unavailable, "The request was given up."},
}

// problem makes a problem of a kind.
func problem(k kind, detail string, fields ...FieldProblem) *Problem {
	return &Problem{Type: "/problems/" + k.slug, Title: k.title, Status: k.status, Detail: detail, Errors: fields}
}

// invalidField is the problem of one field that cannot be used.
func invalidField(location, reason string, value any) *Problem {
	return problem(invalid, name(location)+": "+reason+".", FieldProblem{location, reason, short(value)})
}

// invalidFields is the problem of several fields of a body.
func invalidFields(fields freshet.FieldErrors) *Problem {
	p := problem(invalid, "")
	for _, f := range fields {
		p.Errors = append(p.Errors, FieldProblem{"body." + f.Field, strings.TrimSuffix(f.Reason, "."), nil})
	}
	p.Detail = detail(p)
	return p
}

// badAddress is the problem of an address that is none; reason is a sentence of fetch.CheckURL.
func badAddress(raw string, reason error) *Problem {
	return problem(invalid, sentence(reason.Error()), FieldProblem{"body.url", reason.Error(), short(fetch.Redact(raw))})
}

// name is a location without the part of the request that it lies in.
func name(location string) string {
	_, rest, found := strings.Cut(location, ".")
	if !found {
		return location
	}
	return rest
}

// problemOf finds the words for an error; what nobody foresaw is our fault and says no more.
func problemOf(err error) *Problem {
	var (
		p         *Problem
		field     *freshet.FieldError
		fields    freshet.FieldErrors
		duplicate *freshet.DuplicateError
		failure   *freshet.Failure
		list      *opml.Error
		large     *http.MaxBytesError
	)
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &field):
		return invalidField("body."+field.Field, strings.TrimSuffix(field.Reason, "."), nil)
	case errors.As(err, &fields):
		return invalidFields(fields)
	case errors.As(err, &duplicate):
		p = problem(duplicateSource, "This address is already a feed: "+duplicate.Existing.Name()+".")
		p.Feed = nameOf(duplicate.Existing)
		return p
	case errors.As(err, &failure):
		return problem(noFeeds, failure.Sentence)
	case errors.As(err, &list):
		return problem(badOPML, strings.TrimPrefix(list.Error(), "read OPML, ")+".")
	case errors.As(err, &large):
		return problem(tooLarge, fmt.Sprintf("The body is larger than %d bytes.", large.Limit))
	}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			return problem(s.kind, s.detail)
		}
	}
	return problem(internal, "Something went wrong here. The server's log has the details.")
}

func nameOf(s freshet.Source) *FeedName {
	return &FeedName{s.ID, s.Name(), shownURL(s.URL)}
}

// problem is problemOf with a line in the log when the fault is ours.
func (s *Server) problem(ctx context.Context, err error) *Problem {
	p := problemOf(err)
	if p.Status == http.StatusInternalServerError {
		s.Logger.LogAttrs(ctx, levelError, "request failed", attrErr(err))
	}
	return p
}

// fail answers with the problem of an error: as a page to whoever asked for one, else as JSON.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := s.problem(r.Context(), err)
	if wantsPage(r) {
		s.showProblem(w, r, p)
		return
	}
	w.Header().Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	body := json.NewEncoder(w)
	body.SetEscapeHTML(false)
	_ = body.Encode(p) // the asker is gone if this fails
}

// wantsPage tells a person with a browser from a program.
func wantsPage(r *http.Request) bool {
	return !strings.HasPrefix(r.URL.Path, "/api/") && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// ours turns huma's own errors into problems of the table (a huma.Transformer).
func ours(_ huma.Context, _ string, v any) (any, error) {
	theirs, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	p := problem(kindOf(theirs), theirs.Detail)
	for _, e := range theirs.Errors {
		f := fieldProblem(e)
		if !slices.ContainsFunc(p.Errors, func(g FieldProblem) bool { return g.Location == f.Location }) {
			p.Errors = append(p.Errors, f)
		}
	}
	p.Detail = detail(p)
	return p, nil
}

func kindOf(e *huma.ErrorModel) kind {
	switch e.Status {
	case http.StatusUnsupportedMediaType:
		return mediaType
	case http.StatusUnprocessableEntity:
		return invalid
	case http.StatusBadRequest:
		return badRequest
	default:
		return internal
	}
}

// fieldProblem brings a finding of huma's validation into our form: the location always names the
// field, and nothing long is sent back.
func fieldProblem(e *huma.ErrorDetail) FieldProblem {
	f := FieldProblem{Location: e.Location, Message: e.Message, Value: short(e.Value)}
	if f.Location == "body.token" || f.Location == "body" { // a secret, or a document that may hold one
		f.Value = nil
	}
	var missing string
	if n, _ := fmt.Sscanf(e.Message, "expected required property %s to be present", &missing); n == 1 {
		f.Location, f.Message = f.Location+"."+missing, "it is required"
	}
	if e.Message == "unexpected property" || e.Message == "unknown query parameter" {
		f.Message = "there is no such field"
	}
	return f
}

// detail is the sentence for the fields of a problem that huma found.
func detail(p *Problem) string {
	if len(p.Errors) == 0 {
		return sentence(p.Detail)
	}
	first := p.Errors[0]
	switch p.Status {
	case http.StatusBadRequest:
		return "The body is no JSON: " + first.Message + "."
	case http.StatusUnsupportedMediaType:
		return "The body must be JSON, sent as application/json."
	}
	text := name(first.Location) + ": " + first.Message + "."
	if more := len(p.Errors) - 1; more > 0 {
		text += fmt.Sprintf(" And %d more.", more)
	}
	return text
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
}

// short is a value that may be sent back: no documents, no long texts.
func short(v any) any {
	switch v := v.(type) {
	case string:
		if len(v) > 200 {
			return strings.ToValidUTF8(v[:200], "") + "..."
		}
		return v
	case bool, float64, int, int64:
		return v
	default:
		return nil
	}
}

// explainProblem answers at the address that names a kind of problem.
func (s *Server) explainProblem(w http.ResponseWriter, r *http.Request) error {
	for _, k := range kinds {
		if k.slug == r.PathValue("slug") {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			fmt.Fprintf(w, "%d %s\n\n%s\n", k.status, k.title, k.help)
			return nil
		}
	}
	return problem(notFound, "There is no such kind of problem.")
}
