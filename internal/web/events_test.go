package web

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"freshet"
)

func TestMissed(t *testing.T) {
	tests := []struct {
		seen, first, last int64
		want              bool
	}{
		{seen: 0, first: 0, last: 0, want: false},
		{seen: 0, first: 1, last: 9, want: false},
		{seen: 5, first: 1, last: 9, want: false},
		{seen: 9, first: 1, last: 9, want: false},
		{seen: 4, first: 5, last: 9, want: false},
		{seen: 3, first: 5, last: 9, want: true},  // 4 is gone
		{seen: 10, first: 1, last: 9, want: true}, // of another database
		{seen: 9, first: 0, last: 9, want: false}, // all are gone and none was missed
		{seen: 8, first: 0, last: 9, want: true},
	}
	for _, test := range tests {
		if got := missed(test.seen, test.first, test.last); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}

// stream is an open stream of events over a real connection.
type stream struct {
	t      *testing.T
	lines  *bufio.Scanner
	cancel context.CancelFunc
}

type event struct{ id, kind, data string }

// serve answers on a loopback port until the test ends.
func (s *site) serve() (base string) {
	s.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	s.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Errorf("serve: %v", err)
		}
	})
	return "http://" + l.Addr().String()
}

func follow(t *testing.T, base, query string, header ...string) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	r, _ := http.NewRequestWithContext(ctx, "GET", base+"/api/events"+query, nil)
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Body.Close() })
	if kind := a.Header.Get("Content-Type"); a.StatusCode != 200 || kind != "text/event-stream" || a.Header.Get("Content-Encoding") != "" {
		body, _ := io.ReadAll(a.Body)
		t.Fatalf("%d %q %q: %s", a.StatusCode, kind, a.Header.Get("Content-Encoding"), body)
	}
	return &stream{t, bufio.NewScanner(a.Body), cancel}
}

// next is the next event with data, as a browser dispatches it; ok is false at the end.
func (s *stream) next() (e event, ok bool) {
	for s.lines.Scan() {
		name, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.kind = value
		case "data":
			e.data = value
		case "":
			if e.data != "" {
				return e, true
			}
		}
	}
	return e, false
}

func TestEvents(t *testing.T) {
	s := newSite(t, nil)
	base := s.serve()
	live := follow(t, base, "", "Accept-Encoding: gzip")
	id := s.add("https://example.org/feed")
	s.bell.Ring()
	added, ok := live.next()
	if !ok || added.kind != "feed" || !strings.Contains(added.data, id) {
		t.Fatalf("event %+v, want that the feed was added", added)
	}
	s.poll(posts(post("a", 1)))
	s.bell.Ring()
	var items event
	for ok = true; ok && items.kind != "items"; {
		items, ok = live.next()
	}
	if !strings.Contains(items.data, `"count":1`) && !strings.Contains(items.data, `"count": 1`) {
		t.Fatalf("event %+v, want one new item", items)
	}

	for name, from := range map[string]*stream{
		"header":  follow(t, base, "", "Last-Event-ID: "+added.id),
		"address": follow(t, base, "?last_event_id="+added.id),
	} {
		e, ok := from.next()
		for ok && e.kind != "items" {
			e, ok = from.next()
		}
		if e != items {
			t.Errorf("resumed by %s: %+v, want %+v", name, e, items)
		}
	}
	if e, _ := follow(t, base, "?last_event_id=999999").next(); e.kind != "reset" || e.id != items.id && e.id < items.id {
		t.Errorf("after a number that was never given out: %+v, want a reset", e)
	}
}

func TestEventsAreBounded(t *testing.T) {
	s := newSite(t, nil)
	base := s.serve()
	streams := make([]*stream, maxStreams)
	for i := range streams {
		streams[i] = follow(t, base, "")
	}
	a := s.want(503, "GET", "/api/events", "")
	if !strings.Contains(a.text("detail"), fmt.Sprint(maxStreams)) {
		t.Errorf("the reason is not told: %s", a.Body)
	}
	streams[0].cancel()
	deadline := time.Now().Add(10 * time.Second)
	for len(s.streams) == maxStreams && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	follow(t, base, "") // a place is free again
}

// What an event carries cannot end it early and begin another.
func TestEventIsOneLine(t *testing.T) {
	f := &follower{}
	f.write(freshet.Event{Seq: 7, Kind: "items", Data: []byte("{\"a\":\n\n\"event: evil\"}")})
	if got := f.buffer.String(); strings.Count(got, "\n\n") != 1 || strings.Count(got, "\n") != 4 {
		t.Errorf("written %q", got)
	}
}
