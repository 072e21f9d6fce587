// Package reader reads one source into an outcome: a request, and what its answer says in the words of
// package freshet (SPEC.md sections 3, 4). There is a file per source type and one table of them.
//
// It keeps nothing between reads but connections within a host's turn; what a source remembers comes
// in with the source and goes out with the outcome. It decides neither when to read nor what is new,
// and stores nothing. Trouble with a source is a Failure of its outcome, never an error of ours.
package reader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"time"

	"freshet"
	"freshet/internal/fetch"
	"freshet/internal/trigger"
)

// read reads a source of one type.
type read func(t *turn, ctx context.Context, s freshet.Source) *freshet.Outcome

// types is the table of source types: what is not in it cannot be read.
var types = map[freshet.Type]read{
	freshet.RSS: readRSS, freshet.Website: readWebsite, freshet.HTTP: readHTTP, freshet.Twitter: readTwitter,
}

// Reader reads sources of all types. It may be used from many goroutines.
type Reader struct {
	client *fetch.Client
	log    *slog.Logger
	x      X

	parsing slots // documents being parsed
	large   slots // those of more than largeDocument bytes among them
}

// largeDocuments is how many documents of more than largeDocument bytes are parsed at a time, for the
// sake of memory (P4).
const (
	largeDocuments = 2
	largeDocument  = 1 << 20
)

// New returns a reader that fetches with c.
func New(c *fetch.Client, log *slog.Logger) *Reader {
	return &Reader{
		client: c, log: log,
		parsing: make(slots, runtime.GOMAXPROCS(0)), large: make(slots, largeDocuments),
	}
}

// Turn begins a visit to a host: Read reads its sources one after the other, over connections that
// are kept in between; Close ends them (F4). The result is poll.Turn, spelt out because the reader
// does not know its user.
func (r *Reader) Turn() interface {
	Read(ctx context.Context, s freshet.Source) *freshet.Outcome
	Close()
} {
	return &turn{Reader: r, fetch: r.client.Turn()}
}

type turn struct {
	*Reader
	fetch *fetch.Turn
}

func (t *turn) Close() { t.fetch.Close() }

// Read reads a source. It always returns an outcome; when ctx ended it, the failure's code is
// "stopped" and says nothing about the source.
func (t *turn) Read(ctx context.Context, s freshet.Source) (o *freshet.Outcome) {
	began := time.Now().UTC()
	defer func() {
		if p := recover(); p != nil {
			t.log.Error("[Polling] reading a source panicked", "source", fetch.Redact(s.URL), "panic", p, "stack", string(debug.Stack()))
			o = failed(freshet.Transient, "internal", "Reading this source hit a fault of ours; the log has the details.")
		}
		o.At = began
		if o.Took == 0 {
			o.Took = time.Since(began)
		}
	}()
	do, ok := types[s.Type]
	if !ok {
		return failed(freshet.Permanent, "unknown_type", fmt.Sprintf("Sources of type %q cannot be read by this version.", s.Type))
	}
	return do(t, ctx, s)
}

func failed(class freshet.Class, code, sentence string) *freshet.Outcome {
	return &freshet.Outcome{Failure: &freshet.Failure{Class: class, Code: code, Sentence: sentence}}
}

// get makes the request of a source and begins its outcome. The response is nil unless there is a
// document to read.
func (t *turn) get(ctx context.Context, r fetch.Request) (*freshet.Outcome, *fetch.Response) {
	resp, err := t.fetch.Get(ctx, r)
	o := &freshet.Outcome{}
	if resp != nil {
		o.Status, o.Took = resp.Status, resp.Took
	}
	if err != nil {
		o.Failure = failureOf(err)
		return o, nil
	}
	o.MovedTo, o.MaxAge = resp.MovedTo, resp.MaxAge
	o.ETag, o.LastModified, o.ValidatorsFrom = resp.ETag, resp.LastModified, resp.ValidatorsFrom
	if resp.NotModified {
		o.Unchanged = true
		return o, nil
	}
	return o, resp
}

// failureOf is the failure that a fetch ended with.
func failureOf(err error) *freshet.Failure {
	if f, ok := errors.AsType[*freshet.Failure](err); ok {
		return f
	}
	return &freshet.Failure{Class: freshet.Transient, Code: "internal", Sentence: err.Error()}
}

// watchParts notes the parts of the document that workflows watch (W4).
func watchParts(ctx context.Context, o *freshet.Outcome, resp *fetch.Response, s freshet.Source) {
	if len(s.Parts) > 0 {
		o.Contents = trigger.Contents(ctx, trigger.Document{URL: resp.FinalURL, ContentType: resp.ContentType, Body: resp.Body, Hash: o.BodyHash}, s.Parts)
	}
}

// slots bounds what happens at once.
type slots chan struct{}

func (s slots) take(ctx context.Context) bool {
	select {
	case s <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s slots) giveBack() { <-s }

// whileParsing runs parse, which is about to read n bytes, when its turn has come; it says whether it did.
func (r *Reader) whileParsing(ctx context.Context, n int, parse func()) bool {
	if n > largeDocument {
		if !r.large.take(ctx) {
			return false
		}
		defer r.large.giveBack()
	}
	if !r.parsing.take(ctx) {
		return false
	}
	defer r.parsing.giveBack()
	parse()
	return true
}
