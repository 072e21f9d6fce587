package web

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"freshet"
)

// pipes is a network within a bubble of fake time.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.done)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080} }

func (p *pipes) dial() net.Conn {
	here, there := net.Pipe()
	p.conns <- there
	return here
}

// inBubble runs a server on a network of pipes in fake time.
func inBubble(t *testing.T, change func(*Config), run func(*testing.T, *site, *pipes)) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, change)
		p := &pipes{make(chan net.Conn), make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Serve(ctx, p) }()
		run(t, s, p)
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
}

// send writes a request and returns the connection's answers.
func send(t *testing.T, c net.Conn, text string) *bufio.Reader {
	t.Helper()
	go io.WriteString(c, strings.ReplaceAll(text, "\n", "\r\n"))
	return bufio.NewReader(c)
}

// An ingest run may take far longer than any timeout of a connection, and its client gets the answer.
func TestLongAnswer(t *testing.T) {
	var ended error
	slow := func(c *Config) {
		c.Ingest = func(ctx context.Context, _ time.Time, _ []freshet.ID, _ bool) (IngestResult, error) {
			select {
			case <-time.After(30 * time.Minute):
			case <-ctx.Done():
				ended = ctx.Err()
			}
			return IngestResult{}, nil
		}
	}
	for name, body := range map[string]string{"with a body": `{"force":true}`, "without": ""} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, slow, func(t *testing.T, _ *site, p *pipes) {
				c := p.dial()
				defer c.Close()
				r, _ := http.NewRequest("POST", "http://127.0.0.1:8080/api/ingest", strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				go r.Write(c)
				a, err := http.ReadResponse(bufio.NewReader(c), r)
				if err != nil || a.StatusCode != 200 || ended != nil {
					t.Fatalf("answer %v, %v; the run ended with %v", a, err, ended)
				}
			})
		})
	}
}

// A stream of events outlives the timeouts of its connection, and shows every 25 seconds that it lives.
func TestEventsStayOpen(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, s *site, p *pipes) {
		c := p.dial()
		defer c.Close()
		answer := send(t, c, "GET /api/events HTTP/1.1\nHost: localhost\n\n")
		beats, found := 0, make(chan bool)
		go func() {
			for {
				line, err := answer.ReadString('\n')
				if line == ":\r\n" || line == ":\n" {
					beats++
				}
				if err != nil || strings.HasPrefix(line, "event: feed") {
					found <- err == nil
					return
				}
			}
		}()
		time.Sleep(10*time.Minute + time.Second)
		s.add("https://example.org/feed")
		s.bell.Ring()
		if !<-found {
			t.Error("the stream ended before its event")
		}
		if want := int(10 * time.Minute / heartbeat); beats != want {
			t.Errorf("%d heartbeats in ten minutes, want %d", beats, want)
		}
	})
}

// A server that stops ends its streams at once and does not wait for them.
func TestEventsEndWithTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		p := &pipes{make(chan net.Conn), make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Serve(ctx, p) }()
		c := p.dial()
		defer c.Close()
		answer := send(t, c, "GET /api/events HTTP/1.1\nHost: localhost\n\n")
		if _, err := answer.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		go io.Copy(io.Discard, answer)
		synctest.Wait()
		began := time.Now()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took >= shutdownTimeout {
			t.Errorf("it took %s to stop", took)
		}
	})
}

// A follower that stops reading is let go, and its place is free.
func TestEventsLetGo(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, s *site, p *pipes) {
		c := p.dial()
		defer c.Close()
		answer := send(t, c, "GET /api/events HTTP/1.1\nHost: localhost\n\n")
		if _, err := answer.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := len(s.streams); n != 1 {
			t.Fatalf("%d streams, want 1", n)
		}
		s.add("https://example.org/feed") // nobody reads: a pipe holds nothing
		s.bell.Ring()
		time.Sleep(heartbeat + streamTimeout + time.Second)
		synctest.Wait()
		if n := len(s.streams); n != 0 {
			t.Errorf("%d streams are left", n)
		}
	})
}

// SAFETY.md, threat "slow or greedy clients of ours".
func TestSlowClients(t *testing.T) {
	tests := map[string]struct {
		text  string
		until time.Duration
	}{
		"nothing is sent":     {"", readHeaderTimeout},
		"half a head":         {"GET /healthz HTTP/1.1\nHost: loc", readHeaderTimeout},
		"half a body":         {"POST /api/feeds HTTP/1.1\nHost: localhost\nContent-Type: application/json\nContent-Length: 100\n\n{\"url\":", readTimeout},
		"nothing comes after": {"GET /healthz HTTP/1.1\nHost: localhost\n\n", idleTimeout},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, _ *site, p *pipes) {
				c := p.dial()
				defer c.Close()
				began := time.Now()
				answer := send(t, c, test.text)
				if _, err := io.Copy(io.Discard, answer); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatal(err)
				}
				if took := time.Since(began); took > test.until+time.Second {
					t.Errorf("the connection was held for %s, want at most %s", took, test.until)
				}
			})
		})
	}
}
