package deliver

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"freshet"
	"freshet/internal/fetch"
)

// readAnswer is how much of an answer is read, so that its connection can be used again; the rest is
// cut off with the connection.
const readAnswer = 64 << 10

// poster sends bodies to receivers. It follows no redirects, and its connections are kept and pass the guard.
//
// A request that a kept connection swallowed is repeated at once by net/http, under the same id.
type poster struct {
	client    *http.Client
	userAgent string
}

func newPoster(guard fetch.Guard, userAgent string) *poster {
	return &poster{userAgent: userAgent, client: client(guard)}
}

// client makes requests over guarded connections and follows no redirects.
func client(guard fetch.Guard) *http.Client {
	return &http.Client{
		Transport:     transport(guard),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// transport makes guarded connections and keeps them for a while.
func transport(guard fetch.Guard) *http.Transport {
	return &http.Transport{
		DialContext:            guard.Dialer(Timeout).DialContext,
		TLSClientConfig:        &tls.Config{ClientSessionCache: tls.NewLRUClientSessionCache(64)},
		TLSHandshakeTimeout:    Timeout,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           100,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: readAnswer,
	}
}

// post sends a body and says how that ended.
func (p *poster) post(ctx context.Context, address string, header http.Header, body []byte) freshet.Attempt {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return final("The address cannot be used: it is not a web address.")
	}
	req.Header = header
	req.Header.Set("User-Agent", p.userAgent)
	resp, err := p.client.Do(req)
	if err != nil {
		return failed(why(ctx, err, req.URL))
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, readAnswer)) // the status has said what counts
	return judge(resp.StatusCode, resp.Header, answer, req.URL.Hostname(), time.Now())
}

// why says why there was no answer.
func why(ctx context.Context, err error, address *url.URL) string {
	host := address.Hostname()
	if sentence := fetch.NoAnswer(err, host); sentence != "" && ctx.Err() == nil {
		return sentence
	}
	if ctx.Err() != nil {
		return tooLong(host)
	}
	return fmt.Sprintf("%s answered with something that is not HTTP.", host)
}

// judge says what an answer means (Standard Webhooks 1.0): 2xx is success, all else is tried again, but for 410.
func judge(status int, header http.Header, answer []byte, host string, now time.Time) freshet.Attempt {
	a := freshet.Attempt{Status: status, Answer: kept(answer)}
	switch {
	case status >= 200 && status < 300:
		return a
	case status == http.StatusGone:
		a.Gone = true
		a.Error = fmt.Sprintf("%s does not want to be sent anything any more (410).", host)
	case status >= 300 && status < 400:
		a.Error = fmt.Sprintf("%s answers with a redirect (%d), and deliveries follow none. Enter the address that it leads to.", host, status)
	case status == http.StatusTooManyRequests:
		a.Error = fmt.Sprintf("%s asks us to send less often (429).", host)
	case status == http.StatusServiceUnavailable:
		a.Error = fmt.Sprintf("%s is not available just now (503).", host)
	case status >= 500:
		a.Error = fmt.Sprintf("%s has a problem of its own (%s).", host, named(status))
	default:
		a.Error = fmt.Sprintf("%s did not take it (%s).", host, named(status))
	}
	if status >= 400 {
		a.RetryAfter = fetch.RetryAfter(header.Get("Retry-After"), now)
	}
	return a
}

// named is a status with its name.
func named(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}
