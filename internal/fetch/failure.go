package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"freshet"
)

// Classes follow F6 to the letter: permanent are 401, 403, 404, 410 and no such host; everything else,
// other 4xx included, is transient. An address of ours that cannot be fetched at all is permanent too.

// badStatus says why an answer without a document is a failure.
func badStatus(answer *http.Response, host string, now time.Time) *freshet.Failure {
	status := answer.StatusCode
	f := &freshet.Failure{Class: freshet.Transient, Code: fmt.Sprintf("http_%d", status), Status: status}
	switch {
	case status == http.StatusUnauthorized:
		f.Class = freshet.Permanent
		f.Sentence = fmt.Sprintf("%s asks for a login (401).", host)
	case status == http.StatusForbidden:
		f.Class = freshet.Permanent
		f.Sentence = fmt.Sprintf("%s does not let us read this (403).", host)
	case status == http.StatusNotFound:
		f.Class = freshet.Permanent
		f.Sentence = fmt.Sprintf("%s has nothing at this address (404).", host)
	case status == http.StatusGone:
		f.Class, f.Gone = freshet.Permanent, true
		f.Sentence = fmt.Sprintf("%s says that this is gone for good (410).", host)
	case status == http.StatusTooManyRequests:
		f.CoolHost = true
		f.Sentence = fmt.Sprintf("%s asks us to come less often (429).", host)
	case status == http.StatusServiceUnavailable:
		f.CoolHost = true
		f.Sentence = fmt.Sprintf("%s is not available just now (503).", host)
	case status == http.StatusNotModified:
		f.Sentence = fmt.Sprintf("%s says that nothing changed (304), but it was not asked that.", host)
	case status == http.StatusPartialContent:
		f.Sentence = fmt.Sprintf("%s sent a part of the document (206), which was not asked for.", host)
	case status >= 500:
		f.Sentence = fmt.Sprintf("%s has a problem of its own (%s).", host, statusWords(status))
	case status >= 400:
		f.Sentence = fmt.Sprintf("%s refuses the request (%s).", host, statusWords(status))
	default:
		f.Sentence = fmt.Sprintf("%s answered without a document (%s).", host, statusWords(status))
	}
	if f.CoolHost {
		f.RetryAfter = RetryAfter(answer.Header.Get("Retry-After"), now)
	}
	return f
}

// hasDocument reports whether a status promises a whole document.
func hasDocument(status int) bool {
	switch status {
	case http.StatusNoContent, http.StatusResetContent, http.StatusPartialContent:
		return false
	}
	return status >= 200 && status < 300
}

func statusWords(status int) string {
	if text := http.StatusText(status); text != "" {
		return fmt.Sprintf("%d %s", status, text)
	}
	return fmt.Sprint(status)
}

func badAddress(err error) *freshet.Failure {
	return &freshet.Failure{Class: freshet.Permanent, Code: "address", Sentence: sentence(err.Error())}
}

// sentence makes one of an error's text.
func sentence(s string) string {
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// explain says why a fetch did not get its answer. Where the caller stopped it or time ran out, that is
// the reason, whatever broke because of it.
func (c *clock) explain(err error, host string, s Settings) *freshet.Failure {
	var refused *RefusedAddress
	var timeout interface{ Timeout() bool }
	var connect *connectError
	reached := !errors.As(err, &connect) || connect.reached
	switch {
	case errors.As(err, &refused):
		return refusedFailure(refused, host)
	case errors.Is(c.caller.Err(), context.Canceled):
		return &freshet.Failure{Class: freshet.Transient, Code: "stopped", Sentence: "The fetch was stopped."}
	case c.ctx.Err() != nil, errors.As(err, &timeout) && timeout.Timeout() && !isDNS(err):
		return timeoutFailure(err, host, s.Timeout, reached)
	case connect != nil && connect.reached:
		return &freshet.Failure{Class: freshet.Transient, Code: "tls", Sentence: tlsSentence(err, host)}
	case connect != nil, isDNS(err), isDial(err):
		return connectFailure(err, host)
	}
	return answerFailure(err, host)
}

func isDNS(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns)
}

// isDial recognises failed connections of a RoundTripper that makes its own.
func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

func refusedFailure(r *RefusedAddress, host string) *freshet.Failure {
	who := fmt.Sprintf("%s has the address %s, which", host, r.Addr)
	if host == r.Addr.String() {
		who = host
	}
	return &freshet.Failure{Class: freshet.Transient, Code: "refused_address", Sentence: fmt.Sprintf(
		"%s is not public (%s). If you want to reach it, allow its network with %s.", who, r.Kind, r.Setting)}
}

func timeoutFailure(err error, host string, limit time.Duration, reached bool) *freshet.Failure {
	f := &freshet.Failure{Class: freshet.Transient, Code: "timeout", Unreached: !reached}
	var cut *cutBody
	switch {
	case !reached:
		f.Sentence = fmt.Sprintf("%s could not be reached within %s.", host, seconds(limit))
	case errors.As(err, &cut):
		f.Sentence = fmt.Sprintf("%s did not send the whole document within %s.", host, seconds(limit))
	default:
		f.Sentence = fmt.Sprintf("%s did not answer within %s.", host, seconds(limit))
	}
	return f
}

// connectFailure explains why no connection came about.
func connectFailure(err error, host string) *freshet.Failure {
	f := &freshet.Failure{Class: freshet.Transient, Code: "connect", Unreached: true}
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		f.Class, f.Code = freshet.Permanent, "no_such_host"
		f.Sentence = fmt.Sprintf("There is no host named %s. Is the address spelt right?", host)
	case dns != nil:
		f.Code = "dns"
		f.Sentence = fmt.Sprintf("The name %s could not be looked up just now.", host)
	case errors.Is(err, syscall.ECONNREFUSED):
		f.Sentence = fmt.Sprintf("%s refuses connections.", host)
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		f.Sentence = fmt.Sprintf("There is no way to %s from here.", host)
	default:
		f.Sentence = fmt.Sprintf("No connection to %s came about.", host)
	}
	return f
}

// tlsSentence says in plain words why a secure connection did not come about.
func tlsSentence(err error, host string) string {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var alert *net.OpError // crypto/tls wraps the alerts of both sides in it
	switch {
	case errors.As(err, &name):
		return fmt.Sprintf("The certificate of %s is for another name.", host)
	case errors.As(err, &authority):
		return fmt.Sprintf("The certificate of %s is signed by nobody that this machine trusts.", host)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("The certificate of %s has expired or is not valid yet.", host)
	case errors.As(err, &invalid):
		return fmt.Sprintf("The certificate of %s is not valid.", host)
	case errors.As(err, &record):
		return fmt.Sprintf("%s does not speak https here; the address may need http.", host)
	case errors.As(err, &alert) && (alert.Op == "remote error" || alert.Op == "local error"):
		return fmt.Sprintf("%s and we could not agree on a secure connection.", host)
	}
	return fmt.Sprintf("A secure connection to %s did not come about.", host)
}

// answerFailure explains what happened after the request was made.
func answerFailure(err error, host string) *freshet.Failure {
	var large *tooLarge
	var cut *cutBody
	var encoding *badEncoding
	f := &freshet.Failure{Class: freshet.Transient}
	switch {
	case errors.As(err, &large):
		f.Code = "too_large"
		f.Sentence = fmt.Sprintf("The document is larger than the limit of %s.", size(large.limit))
	case errors.As(err, &encoding) && errors.Is(err, errUnknownCoding):
		f.Code = "encoding"
		f.Sentence = fmt.Sprintf("%s packed the document in a way that is not understood (%q).", host, encoding.coding)
	case encoding != nil:
		f.Code = "encoding"
		f.Sentence = fmt.Sprintf("The document from %s is damaged: it cannot be unpacked (%s).", host, encoding.coding)
	case errors.As(err, &cut):
		f.Code = "cut"
		f.Sentence = fmt.Sprintf("%s stopped in the middle of the document.", host)
	case closedEarly(err):
		f.Code = "connect"
		f.Sentence = fmt.Sprintf("%s closed the connection without an answer.", host)
	case strings.Contains(err.Error(), "headers exceeded"), strings.Contains(err.Error(), "header list larger"):
		f.Code = "too_large"
		f.Sentence = fmt.Sprintf("%s sent more than %s of headers.", host, size(maxHeader))
	default:
		f.Code = "protocol"
		f.Sentence = fmt.Sprintf("%s answered with something that is not HTTP.", host)
	}
	return f
}

// closedEarly recognises the many ways in which net/http says that the other side hung up.
func closedEarly(err error) bool {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return true
	}
	text := err.Error()
	return strings.Contains(text, "server closed idle connection") || strings.Contains(text, "connection lost") ||
		strings.Contains(text, "GOAWAY")
}

func seconds(d time.Duration) string {
	if d%time.Second == 0 {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return d.String()
}

func size(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
