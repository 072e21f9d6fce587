package fetch

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"freshet"
)

// Settings are the limits of every fetch. A zero value stands for the default.
type Settings struct {
	Timeout      time.Duration  // of one fetch in all, redirects and body included: 10 s (F1)
	MaxBytes     int64          // of the unpacked body: 10 MiB (F1)
	MaxRedirects int            // 5 (F1)
	Allow        []netip.Prefix // networks that are fetched from though they are not public (F5)
	UserAgent    string         // honest, with version and URL (F1)
}

func (s Settings) withDefaults() Settings {
	if s.Timeout <= 0 {
		s.Timeout = 10 * time.Second
	}
	if s.MaxBytes <= 0 {
		s.MaxBytes = 10 << 20
	}
	if s.MaxRedirects <= 0 {
		s.MaxRedirects = 5
	}
	if s.UserAgent == "" {
		s.UserAgent = "Freshet"
	}
	return s
}

// Client fetches under one set of limits. It may be used from many goroutines.
type Client struct {
	settings Settings
	fake     http.RoundTripper // in tests: answers every request; no connections are made
	dialer   *http.Transport   // makes connections, pools none
	unpack   unpackers
	large    chan struct{} // a slot for each large body, until its Release

	mu      sync.Mutex
	closers map[string]bool // hosts that close kept connections without a word
}

// largeBodies is how many bodies beyond largeBody bytes there are at once, for the sake of memory (P4).
const (
	largeBodies = 4
	largeBody   = 1 << 20
)

// New returns a client for the real network.
func New(s Settings) *Client {
	c := newClient(s)
	guard := Guard{Allow: c.settings.Allow, Setting: "FRESHET_FETCH_ALLOW"}
	c.dialer = &http.Transport{
		DialContext:            dialTracked(guard.Dialer(c.settings.Timeout).DialContext),
		TLSClientConfig:        &tls.Config{ClientSessionCache: tls.NewLRUClientSessionCache(512)},
		DisableCompression:     true, // unpacked here, under the limit
		MaxResponseHeaderBytes: maxHeader,
		ForceAttemptHTTP2:      true,
		WriteBufferSize:        1 << 10, // requests are short
		// What a server may send ahead of us, per connection.
		HTTP2: &http.HTTP2Config{MaxReceiveBufferPerConnection: 1 << 20, MaxReceiveBufferPerStream: 1 << 20},
	}
	return c
}

// NewWith returns a client whose requests are answered by rt, one call per request: the seam for tests.
func NewWith(rt http.RoundTripper, s Settings) *Client {
	c := newClient(s)
	c.fake = rt
	return c
}

func newClient(s Settings) *Client {
	s = s.withDefaults()
	return &Client{
		settings: s,
		unpack:   newUnpackers(s.MaxBytes),
		large:    make(chan struct{}, largeBodies),
		closers:  map[string]bool{},
	}
}

// Request says what to fetch.
type Request struct {
	URL string // http or https; userinfo goes out as Basic authentication

	// ETag and LastModified are what ValidatorsFrom gave last; they go back to it, byte for byte (F2). "" is
	// the first address.
	ETag, LastModified, ValidatorsFrom string

	// Accept says what is wanted, wherever redirects lead; "" stands for feeds.
	Accept string

	// Header holds credentials and whatever else is meant for the first host only.
	Header http.Header

	// MaxBytes lowers the limit of Settings for this request.
	MaxBytes int64

	// KeepRefusal asks for what an answer without a document says, as far as it is short.
	KeepRefusal bool
}

// Response is what a server answered.
type Response struct {
	Status      int
	NotModified bool // a 304 to a conditional request; there is no body

	// Body is the whole unpacked body. It belongs to the caller until Release, which has to be called: few large
	// bodies are held at once.
	Body        []byte
	ContentType string

	// ETag and LastModified are to be stored with what the body gave (F4). After a 304 they are the new
	// ones where the answer has any, else those that were asked with (RFC 9111 4.3.4). ValidatorsFrom is
	// the address that gave them, "" for the first one.
	ETag, LastModified, ValidatorsFrom string

	FinalURL string // where the body came from, without userinfo; relative links resolve against it
	MovedTo  string // where a chain of permanent redirects led, "" when there was none (F3)

	MaxAge   time.Duration // what is left of Cache-Control: max-age, 0 without one (F3)
	Header   http.Header
	Warnings []string // sentences for a person, such as a redirect from https to http
	Took     time.Duration

	buffer *[]byte
	large  slot
}

// Release gives the memory of Body back. Nothing may point into Body any more.
func (r *Response) Release() {
	if r.buffer != nil {
		*r.buffer = r.Body
		putBuffer(r.buffer)
	}
	r.Body, r.buffer = nil, nil
	r.large.giveBack()
}

// Get makes one fetch in a turn of its own.
func (c *Client) Get(ctx context.Context, r Request) (*Response, error) {
	turn := c.Turn()
	defer turn.Close()
	return turn.Get(ctx, r)
}

// Get makes one fetch. Its error is always a *freshet.Failure. A response comes with an error too when a
// server answered: it has Status, Header and Took, for rate limits, but no validators, and a body only with KeepRefusal.
//
// When ctx ends the failure's code is "stopped"; it says nothing about the source.
func (t *Turn) Get(ctx context.Context, r Request) (*Response, error) {
	start := time.Now()
	clock := startClock(ctx, t.client.settings.Timeout)
	defer clock.stop()
	resp, failure := t.get(clock, r)
	if resp != nil {
		resp.Took = time.Since(start)
	}
	if failure != nil {
		return resp, failure
	}
	return resp, nil
}

func (t *Turn) get(clock *clock, r Request) (*Response, *freshet.Failure) {
	trail, err := newTrail(r.URL, t.client.settings.MaxRedirects)
	if err != nil {
		return nil, badAddress(err)
	}
	for {
		answer, err := t.send(t.client.request(clock.ctx, trail, r))
		if err != nil {
			return nil, clock.explain(err, trail.at.Hostname(), t.client.settings)
		}
		if !isRedirect(answer.StatusCode) {
			return t.client.read(clock, trail, r, answer)
		}
		discard(answer.Body)
		if failure := trail.follow(answer); failure != nil {
			return &Response{Status: answer.StatusCode, Header: answer.Header}, failure
		}
	}
}

// accept names feeds before pages and refuses nothing.
const accept = "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, " +
	"application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, text/html;q=0.7, */*;q=0.5"

// request makes the request of one hop.
func (c *Client) request(ctx context.Context, trail *trail, r Request) *http.Request {
	header := make(http.Header, 8)
	header["Accept"] = []string{cmp.Or(r.Accept, accept)}
	if trail.trusted {
		for name, values := range r.Header {
			header[http.CanonicalHeaderKey(name)] = values
		}
	}
	header["User-Agent"] = []string{c.settings.UserAgent}
	header["Accept-Encoding"] = []string{acceptEncoding}
	if trail.gave(r.ValidatorsFrom) {
		if r.ETag != "" {
			header["If-None-Match"] = []string{r.ETag}
		}
		if r.LastModified != "" {
			header["If-Modified-Since"] = []string{r.LastModified}
		}
	}
	req := (&http.Request{
		Method: http.MethodGet, URL: trail.at, Host: trail.at.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	if trail.trusted && trail.user != nil {
		password, _ := trail.user.Password()
		req.SetBasicAuth(trail.user.Username(), password)
	}
	return req
}

// maxRefusal bounds what is kept of an answer without a document.
const maxRefusal = 16 << 10

// read turns the answer at the end of the trail into a response.
func (c *Client) read(clock *clock, trail *trail, r Request, answer *http.Response) (*Response, *freshet.Failure) {
	resp := &Response{Status: answer.StatusCode, Header: answer.Header}
	host := trail.at.Hostname()
	asked := trail.gave(r.ValidatorsFrom) && (r.ETag != "" || r.LastModified != "")
	switch {
	case answer.StatusCode == http.StatusNotModified && asked:
		discard(answer.Body)
		resp.NotModified = true
		resp.ETag, resp.LastModified = r.ETag, r.LastModified
	case hasDocument(answer.StatusCode):
		err := c.readBody(clock, answer, c.limit(r), resp)
		if err != nil {
			return resp, clock.explain(err, host, c.settings)
		}
	default:
		if r.KeepRefusal {
			_ = c.readBody(clock, answer, maxRefusal, resp) // the status says enough without it
		}
		discard(answer.Body)
		return resp, badStatus(answer, host, time.Now())
	}
	c.describe(resp, trail, answer.Header)
	return resp, nil
}

// describe fills in what the headers of a good answer say.
func (c *Client) describe(resp *Response, trail *trail, header http.Header) {
	resp.ContentType = header.Get("Content-Type")
	if etag := validator(header.Get("ETag")); etag != "" {
		resp.ETag = etag
	}
	if modified := validator(header.Get("Last-Modified")); modified != "" {
		resp.LastModified = modified
	}
	resp.MaxAge = maxAge(header)
	resp.FinalURL = trail.at.String()
	if len(trail.seen) > 0 {
		resp.ValidatorsFrom = resp.FinalURL
	}
	resp.MovedTo = trail.movedTo()
	resp.Warnings = trail.warnings
}

func (c *Client) limit(r Request) int64 {
	if r.MaxBytes > 0 {
		return min(r.MaxBytes, c.settings.MaxBytes)
	}
	return c.settings.MaxBytes
}

// errTimeout is the cause of a context that clock ended.
var errTimeout = errors.New("the time for this fetch is over")

// clock bounds one fetch. It stands still while the fetch waits for memory of ours.
type clock struct {
	ctx    context.Context
	caller context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	until  time.Time
}

func startClock(ctx context.Context, d time.Duration) *clock {
	c := &clock{caller: ctx, until: time.Now().Add(d)}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	c.timer = time.AfterFunc(d, func() { c.cancel(errTimeout) })
	return c
}

func (c *clock) stop() {
	c.timer.Stop()
	c.cancel(nil)
}

// waitFor takes a slot without letting the time run.
func waitFor[T any](c *clock, take func(context.Context) (T, error)) (T, error) {
	c.timer.Stop()
	began := time.Now()
	got, err := take(c.ctx)
	c.until = c.until.Add(time.Since(began))
	c.timer.Reset(time.Until(c.until))
	return got, err
}
