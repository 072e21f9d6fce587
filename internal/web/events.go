package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"freshet"
)

const (
	maxStreams    = 32
	heartbeat     = 25 * time.Second
	streamTimeout = 10 * time.Second // for a follower to take what is written
	eventBatch    = 200
)

// events streams what happens, each event under its number, from the one that the follower has seen
// last (the header Last-Event-ID, or last_event_id in the address), else from now. When the events
// that it missed are gone it gets the event "reset" and is to look at everything anew.
func (s *Server) events(w http.ResponseWriter, r *http.Request) error {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		return problem(unavailable, fmt.Sprintf("%d streams of events are open already; close a page that is not looked at.", maxStreams))
	}
	f := &follower{w: w, control: http.NewResponseController(w)}
	rung, stop := s.Bell.Listen()
	defer stop()
	if err := s.begin(r, f); err != nil {
		return err
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		if err := s.deliver(r.Context(), f); err != nil {
			s.Logger.DebugContext(r.Context(), "stream of events ended", attrErr(err))
			return nil // the answer has begun; the follower comes back with the last number it saw
		}
		select {
		case <-rung:
		case <-beat.C:
			f.buffer.WriteString(":\n\n")
		case <-r.Context().Done():
			return nil
		case <-s.done:
			return nil
		}
	}
}

// begin finds the place to start from and writes the head of the answer.
func (s *Server) begin(r *http.Request, f *follower) error {
	last, err := s.Store.LastEvent(r.Context())
	if err != nil {
		return err
	}
	seen, err := seenEvent(r)
	if err != nil {
		return err
	}
	h := f.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // nginx would keep events back
	f.buffer.WriteString("retry: 3000\n")
	if f.after = last; seen >= 0 {
		f.after = seen
		first, err := s.Store.FirstEvent(r.Context())
		if err != nil {
			return err
		}
		if missed(seen, first, last) {
			f.after = last
			f.write(freshet.Event{Seq: last, Kind: "reset", Data: []byte("{}")})
			return nil
		}
	}
	fmt.Fprintf(&f.buffer, "id: %d\n\n", f.after) // a number without data is kept and not dispatched
	return nil
}

// missed says whether events after seen are gone. A number that was never given out is of another
// database.
func missed(seen, first, last int64) bool {
	return seen > last || seen < last && (first == 0 || seen+1 < first)
}

// seenEvent is the number of the event that the follower saw last, -1 for none.
func seenEvent(r *http.Request) (int64, error) {
	location, value := "header.Last-Event-ID", r.Header.Get("Last-Event-ID")
	if value == "" {
		location, value = "query.last_event_id", r.URL.Query().Get("last_event_id")
	}
	if value == "" {
		return -1, nil
	}
	seen, err := strconv.ParseInt(value, 10, 64)
	if err != nil || seen < 0 {
		return 0, invalidField(location, "this is no number of an event", short(value))
	}
	return seen, nil
}

// deliver writes what has happened since the last time.
func (s *Server) deliver(ctx context.Context, f *follower) error {
	for {
		events, err := s.Store.Events(ctx, f.after, eventBatch)
		if err != nil {
			return err
		}
		for _, e := range events {
			f.write(e)
		}
		if err := f.flush(); err != nil || len(events) < eventBatch {
			return err
		}
	}
}

// follower is one open stream.
type follower struct {
	w       http.ResponseWriter
	control *http.ResponseController
	after   int64 // number of the last event written
	buffer  bytes.Buffer
}

// write puts one event into the buffer. Data is one line of JSON; a line break in it would end it.
func (f *follower) write(e freshet.Event) {
	data := bytes.ReplaceAll(e.Data, []byte("\n"), []byte(" "))
	fmt.Fprintf(&f.buffer, "id: %d\nevent: %s\ndata: %s\n\n", e.Seq, e.Kind, data)
	f.after = e.Seq
}

// flush sends the buffer; a follower that does not take it within ten seconds is let go.
func (f *follower) flush() error {
	if f.buffer.Len() == 0 {
		return nil
	}
	_ = f.control.SetWriteDeadline(time.Now().Add(streamTimeout)) // not every writer can
	if _, err := f.buffer.WriteTo(f.w); err != nil {
		return err
	}
	return f.control.Flush()
}

func eventsDoc(op *huma.Operation, _ huma.Registry) {
	number := &huma.Schema{Type: huma.TypeString}
	op.Description = `Kinds: "items" (new items: count, item_ids, feed_ids), "texts" (words of items that came before can be searched for: count), "feed" (a feed was added, removed, edited or its health changed), ` +
		`"refresh" (progress, as in GET /api/refresh/{id}), "reset" (events were missed: load everything anew).`
	op.Parameters = []*huma.Param{
		{Name: "Last-Event-ID", In: "header", Schema: number, Description: "Go on after this event."},
		{Name: "last_event_id", In: "query", Schema: number, Description: "The same, for pages that cannot set a header."},
	}
	op.Responses["200"] = &huma.Response{Description: "The stream; it does not end by itself.",
		Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}}}
}
