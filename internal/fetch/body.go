package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// readBody reads the whole body of an answer, unpacks it and puts it into resp. It is all or nothing:
// a cut body, a bad encoding and an exceeded limit leave no part behind (F4), nor a slot taken.
func (c *Client) readBody(clock *clock, answer *http.Response, limit int64, resp *Response) (err error) {
	defer answer.Body.Close()
	resp.large.of = c.large
	defer func() {
		if err != nil {
			resp.large.giveBack()
		}
	}()
	codings, err := contentCodings(answer.Header["Content-Encoding"])
	if err != nil {
		return err
	}
	if answer.ContentLength > limit {
		return &tooLarge{limit}
	}
	raw, err := readRaw(clock, answer, limit, &resp.large)
	if err != nil {
		return err
	}
	if len(codings) > 0 {
		packed := raw
		defer putBuffer(packed)
		if raw, err = c.unpackBody(clock, *packed, codings, limit, &resp.large); err != nil {
			return err
		}
	}
	resp.Body, resp.buffer = *raw, raw
	return nil
}

// readRaw reads a body as it was sent.
func readRaw(clock *clock, answer *http.Response, limit int64, large *slot) (*[]byte, error) {
	buf := getBuffer(int(min(max(answer.ContentLength, 0), largeBody)))
	for {
		if len(*buf) == cap(*buf) {
			if len(*buf) >= largeBody {
				if err := large.take(clock); err != nil {
					putBuffer(buf)
					return nil, err
				}
			}
			*buf = grown(*buf, min(2*cap(*buf), int(limit)+1))
		}
		n, err := answer.Body.Read((*buf)[len(*buf):cap(*buf)])
		*buf = (*buf)[:len(*buf)+n]
		switch {
		case int64(len(*buf)) > limit:
			err = &tooLarge{limit}
		case err == io.EOF:
			return buf, nil
		case err != nil:
			err = &cutBody{err}
		default:
			continue
		}
		putBuffer(buf)
		return nil, err
	}
}

// slot is the place of one large body among the few that there are at once.
type slot struct {
	of   chan struct{}
	held bool
}

func (s *slot) take(clock *clock) error {
	if s.held {
		return nil
	}
	_, err := waitFor(clock, func(ctx context.Context) (struct{}, error) {
		select {
		case s.of <- struct{}{}:
			return struct{}{}, nil
		case <-ctx.Done():
			return struct{}{}, ctx.Err()
		}
	})
	s.held = err == nil
	return err
}

// tryTake takes the slot if that needs no waiting, and says whether it is held.
func (s *slot) tryTake() bool {
	if !s.held {
		select {
		case s.of <- struct{}{}:
			s.held = true
		default:
		}
	}
	return s.held
}

func (s *slot) giveBack() {
	if s.held {
		<-s.of
		s.held = false
	}
}

// unpackBody unpacks a body. One that turns out to be large while all slots are taken is begun anew when it has
// one: nobody waits for a slot with an unpacker in hand.
func (c *Client) unpackBody(clock *clock, packed []byte, codings []string, limit int64, large *slot) (*[]byte, error) {
	buf, err := c.unpackOnce(clock, packed, codings, limit, large)
	var exceeded *tooLarge
	if !errors.As(err, &exceeded) || large.held || limit <= largeBody {
		return buf, err
	}
	if err := large.take(clock); err != nil {
		return nil, err
	}
	return c.unpackOnce(clock, packed, codings, limit, large)
}

// unpackOnce unpacks a body under one of the few unpackers, which bounds the memory and the processor
// time that all packed bodies take together; no unpacker ever waits for the network.
func (c *Client) unpackOnce(clock *clock, packed []byte, codings []string, limit int64, large *slot) (*[]byte, error) {
	u, err := waitFor(clock, c.unpack.take)
	if err != nil {
		return nil, err
	}
	defer c.unpack.giveBack(u)
	if limit > largeBody && !large.tryTake() {
		limit = largeBody
	}
	buf := getBuffer(0)
	*buf, err = u.unpack(packed, codings, *buf, limit)
	if err != nil {
		putBuffer(buf)
		return nil, err
	}
	if len(*buf) <= largeBody {
		large.giveBack()
	}
	return buf, nil
}

// discard reads the little that an error page or a redirect says, so that the connection can be used
// again, and closes a body that says more.
func discard(body io.ReadCloser) {
	io.CopyN(io.Discard, body, 16<<10)
	body.Close()
}

// tooLarge is the error of a body beyond its limit.
type tooLarge struct{ limit int64 }

func (e *tooLarge) Error() string { return fmt.Sprintf("body is larger than %s", size(e.limit)) }

// cutBody is the error of a body that ended, or whose connection ended, before it was complete.
type cutBody struct{ err error }

func (e *cutBody) Error() string { return "read body: " + e.err.Error() }
func (e *cutBody) Unwrap() error { return e.err }

// badEncoding is the error of a body that is not packed as its Content-Encoding says.
type badEncoding struct {
	coding string
	err    error
}

func (e *badEncoding) Error() string { return fmt.Sprintf("unpack %s: %v", e.coding, e.err) }
func (e *badEncoding) Unwrap() error { return e.err }

var errUnknownCoding = errors.New("unknown content coding")

// buffers holds spare buffers. Large ones are left to the garbage collector.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 32<<10); return &b }}

// getBuffer returns an empty buffer with room for n bytes and a little more.
func getBuffer(n int) *[]byte {
	b := buffers.Get().(*[]byte)
	if cap(*b) <= n {
		buffers.Put(b)
		bigger := make([]byte, 0, n+bufferSlack)
		return &bigger
	}
	return b
}

func putBuffer(b *[]byte) {
	if cap(*b) > 256<<10 {
		return
	}
	*b = (*b)[:0]
	buffers.Put(b)
}

// bufferSlack leaves room to find the end of a body of known length without growing.
const bufferSlack = 512

// grown returns a buffer with the same content and room for n bytes in all, and a little more.
func grown(b []byte, n int) []byte {
	if cap(b) > n {
		return b
	}
	bigger := make([]byte, len(b), n+bufferSlack)
	copy(bigger, b)
	return bigger
}
