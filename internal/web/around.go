package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"freshet/internal/fetch"
)

const (
	maxJSON = 1 << 20 // bytes of a body
	maxOPML = 8 << 20
)

// policy lets a page run our scripts and styles and load what is ours, and nothing else (P2).
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:%s; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'"

var (
	quietPolicy   = fmt.Sprintf(policy, "")
	picturePolicy = fmt.Sprintf(policy, " https:") // for readers who asked for pictures
)

// secured sets the headers that every answer has; a handler may choose another Cache-Control.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", quietPolicy)
		if wantsPictures(r) {
			h.Set("Content-Security-Policy", picturePolicy)
		}
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// zip compresses what is worth it, quickly: most askers sit on the same machine.
var zip, errZip = gzhttp.NewWrapper(gzhttp.MinSize(2048), gzhttp.CompressionLevel(1), gzhttp.EnableZstd(false))

func zipped(h http.Handler) http.Handler {
	if errZip != nil {
		return h
	}
	return zip(h)
}

// apiMux puts around what huma registers what every call of the API has.
type apiMux struct {
	*http.ServeMux
	wrap func(http.Handler) http.Handler
}

func (m apiMux) HandleFunc(route string, h func(http.ResponseWriter, *http.Request)) {
	m.Handle(route, m.wrap(http.HandlerFunc(h)))
}

// plainAPI refuses what huma would pass over: a query that cannot be read, and a body that does not
// say it is JSON, which a page of another site could send without asking (SAFETY.md section 2). It reads
// the body whole, within the server's own deadline: one that huma sets would run on where there is no
// body, and end an answer that takes long.
func (s *Server) plainAPI(next http.Handler) http.Handler {
	return zipped(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := url.ParseQuery(r.URL.RawQuery); err != nil {
			s.fail(w, r, problem(badRequest, "The query of the address cannot be read: "+err.Error()+"."))
			return
		}
		if r.ContentLength != 0 && !isJSON(r.Header.Get("Content-Type")) {
			s.fail(w, r, problem(mediaType, "The body must be JSON, sent as application/json."))
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxJSON))
		if err != nil {
			s.fail(w, r, bodyError(err))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	}))
}

// bodyError tells a body that is too large from one that came too slowly or not whole.
func bodyError(err error) error {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return problem(slowRequest, "The body did not arrive in time.")
	default:
		return problem(badRequest, "The body broke off.")
	}
}

func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "application/json"
}

// observed contains panics and writes a line for each request when debugging.
func (s *Server) observed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		answer := &answer{ResponseWriter: w}
		defer func() {
			if v := recover(); v != nil {
				s.recovered(answer, r, v)
			}
			if s.Logger.Enabled(r.Context(), slog.LevelDebug) {
				s.Logger.LogAttrs(r.Context(), slog.LevelDebug, "request", slog.String("method", r.Method),
					slog.String("path", fetch.Redact(r.URL.RequestURI())), slog.Int("status", answer.status), slog.Duration("took", time.Since(began)))
			}
		}()
		next.ServeHTTP(answer, r)
	})
}

// recovered answers a request whose handler panicked. An answer that has begun can only be broken off.
func (s *Server) recovered(w *answer, r *http.Request, v any) {
	if v == http.ErrAbortHandler {
		panic(v)
	}
	err := fmt.Errorf("panic: %v\n%s", v, debug.Stack())
	if w.status != 0 {
		s.Logger.LogAttrs(r.Context(), levelError, "request failed", attrErr(err))
		panic(http.ErrAbortHandler)
	}
	s.fail(w, r, err)
}

const levelError = slog.LevelError

func attrErr(err error) slog.Attr { return slog.Any("err", err) }

// answer remembers the status.
type answer struct {
	http.ResponseWriter
	status int
}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= 200 {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	return a.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
