package fetch

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Turn is one visit to a host: its sources are fetched one after the other, over connections that are
// kept between them and closed at the end (F4, S6). A turn is used by one goroutine at a time.
//
// It holds connections itself instead of leaving them to http.Transport, because the transport repeats
// a GET on its own when a kept connection dies under it, and asks the server twice.
type Turn struct {
	client *Client
	conns  map[string]*conn // by scheme and address
}

// maxIdle is how long a connection may have been idle and still be used again. Servers close idle
// connections after two seconds or more; a request that crosses that is lost.
const maxIdle = 1500 * time.Millisecond

// Turn begins a turn. It costs nothing until the first fetch.
func (c *Client) Turn() *Turn { return &Turn{client: c} }

// Close ends the turn and its connections.
func (t *Turn) Close() {
	for _, k := range t.conns {
		k.http.Close()
	}
	t.conns = nil
	if idle, ok := t.client.fake.(interface{ CloseIdleConnections() }); ok {
		idle.CloseIdleConnections()
	}
}

// conn is a connection that a turn keeps.
type conn struct {
	http   *http.ClientConn
	socket *socket
	usedAt time.Time
}

// usable reports whether another request may go out on the connection.
func (k *conn) usable(now time.Time) bool {
	if k.http.Err() != nil || now.Sub(k.usedAt) > maxIdle {
		return false
	}
	// An HTTP/2 server that says goodbye leaves the connection open for what is under way. Over HTTP/1 the
	// transport gives a connection up without an error when its own writer was late.
	return k.http.Available() > 0
}

// send makes exactly one request.
func (t *Turn) send(req *http.Request) (*http.Response, error) {
	if t.client.fake != nil {
		return t.client.fake.RoundTrip(req)
	}
	origin := req.URL.Scheme + "://" + address(req)
	if k := t.conns[origin]; k != nil {
		before := k.socket.written.Load()
		if k.usable(time.Now()) && !t.client.isCloser(origin) {
			answer, err := k.roundTrip(req)
			if err == nil || req.Context().Err() != nil {
				return answer, err
			}
			if k.socket.written.Load() != before {
				// The server may have seen the request, so it is not sent again.
				t.drop(origin)
				t.client.addCloser(origin)
				return nil, err
			}
		}
		t.drop(origin)
	}
	k, err := t.dial(req, origin)
	if err != nil {
		return nil, err
	}
	return k.roundTrip(req)
}

func (k *conn) roundTrip(req *http.Request) (*http.Response, error) {
	answer, err := k.http.RoundTrip(req)
	k.usedAt = time.Now()
	if err != nil {
		return nil, err
	}
	return answer, nil
}

func (t *Turn) drop(origin string) {
	t.conns[origin].http.Close()
	delete(t.conns, origin)
}

// dial makes a connection and keeps it for the turn.
func (t *Turn) dial(req *http.Request, origin string) (*conn, error) {
	var socket *socket
	ctx := context.WithValue(req.Context(), socketKey{}, &socket)
	made, err := t.client.dialer.NewClientConn(ctx, req.URL.Scheme, address(req))
	if err != nil {
		return nil, &connectError{err: err, reached: socket != nil}
	}
	k := &conn{http: made, socket: socket, usedAt: time.Now()}
	if t.conns == nil {
		t.conns = make(map[string]*conn, 1)
	}
	t.conns[origin] = k
	return k, nil
}

// address returns host and port of a normalised URL.
func address(req *http.Request) string {
	port := req.URL.Port()
	if port == "" {
		port = defaultPort(req.URL.Scheme)
	}
	return net.JoinHostPort(req.URL.Hostname(), port)
}

// connectError is a failure before a request was made. Reached means that the host took the connection
// and what failed was TLS.
type connectError struct {
	err     error
	reached bool
}

func (e *connectError) Error() string { return e.err.Error() }
func (e *connectError) Unwrap() error { return e.err }

// socket counts what was written, to know whether a server can have seen a request.
type socket struct {
	net.Conn
	written atomic.Int64
}

func (s *socket) Write(p []byte) (int, error) {
	n, err := s.Conn.Write(p)
	s.written.Add(int64(n))
	return n, err
}

// socketKey is where dialTracked hands the socket to Turn.dial.
type socketKey struct{}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

func dialTracked(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		s := &socket{Conn: c}
		out, ok := ctx.Value(socketKey{}).(**socket)
		if !ok {
			c.Close()
			return nil, errors.New("dial outside of a turn")
		}
		*out = s
		return s, nil
	}
}

// maxClosers bounds the memory of hosts that close without a word; beyond it they are learnt anew.
const maxClosers = 1000

// isCloser reports whether an origin has closed a kept connection under a request before. It then gets a
// new connection each time, so that it fails one fetch and not one at every turn.
func (c *Client) isCloser(origin string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closers[origin]
}

func (c *Client) addCloser(origin string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.closers) >= maxClosers {
		clear(c.closers)
	}
	c.closers[origin] = true
}
