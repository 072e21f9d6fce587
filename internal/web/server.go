package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"freshet"
	"freshet/internal/discover"
	"freshet/internal/river"
	"freshet/internal/store"
	"freshet/internal/vault"
)

// Config is what the server needs and what the operator chose.
type Config struct {
	Store   *store.Store
	Vault   *vault.Vault // keeps tokens; nil for none
	Bell    *river.Bell  // rings when something visible was committed
	Kick    func()       // wakes the scheduler
	Find    func(ctx context.Context, pasted string) ([]discover.Candidate, error)
	Look    func(ctx context.Context, address string) discover.Sight     // of a list that is checked
	Read    func(ctx context.Context, s freshet.Source) *freshet.Outcome // polls once, for a look
	Ingest  func(ctx context.Context, windowEnd time.Time, ids []freshet.ID, force bool) (IngestResult, error)
	Offline func() time.Time // since when our own network has been down (S5), zero while it is up; nil for never
	Polling func() error     // why nothing is polled, nil while it is; nil where nobody polls
	Types   []freshet.Type   // of sources that can be read; nil for rss
	Metrics http.Handler
	Logger  *slog.Logger
	Version string

	Listen      string   // the address that is listened on
	Hosts       []string // more names to answer to
	Password    string   // for people: form login or basic auth; "" for none
	Token       string   // for programs: Authorization: Bearer; "" for none
	BehindProxy bool     // a proxy decides who may ask; its X-Forwarded-* headers are believed
}

// Server answers requests. It is made by New and stopped by Close.
type Server struct {
	Config
	started time.Time
	packs   []pack
	checks  checks
	mux     *http.ServeMux
	api     huma.API
	handler http.Handler
	openAPI documents
	guard   *guard

	working context.Context // of what goes on after an answer; Close ends it
	rest    context.CancelFunc

	streams chan struct{} // a place for each open stream of events
	done    chan struct{} // closed by Close: streams end
	close   sync.Once
}

// New makes the routes. It refuses an address that CheckListen refuses.
func New(c Config) (*Server, error) {
	if err := CheckListen(c.Listen, c.Password, c.Token, c.BehindProxy); err != nil {
		return nil, err
	}
	g, err := newGuard(c)
	if err != nil {
		return nil, err
	}
	if c.Offline == nil {
		c.Offline = func() time.Time { return time.Time{} }
	}
	if c.Polling == nil {
		c.Polling = func() error { return nil }
	}
	if c.Types == nil {
		c.Types = []freshet.Type{freshet.RSS}
	}
	s := &Server{
		Config: c, started: utc(time.Now()), mux: http.NewServeMux(), guard: g,
		streams: make(chan struct{}, maxStreams), done: make(chan struct{}),
	}
	if s.packs, err = readPacks(embedded); err != nil {
		return nil, err
	}
	s.working, s.rest = context.WithCancel(context.Background())
	s.routes()
	s.handler = s.observed(secured(s.guarded(http.HandlerFunc(s.dispatch))))
	return s, nil
}

// Handler returns the whole server.
func (s *Server) Handler() http.Handler { return s.handler }

// Close ends the open streams and what goes on after an answer. Requests that come later are answered, streams excepted.
func (s *Server) Close() {
	s.close.Do(func() { close(s.done) })
	s.rest()
	s.checks.wait()
}

const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 60 * time.Second // of a request with its body
	writeTimeout      = 60 * time.Second // streams and ingest runs set their own
	idleTimeout       = 2 * time.Minute
	shutdownTimeout   = 5 * time.Second // SAFETY.md section 5: from SIGTERM to the end
)

// Serve answers on l until ctx ends; then streams end, requests under way get five seconds.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: 64 << 10,
		ErrorLog:       slog.NewLogLogger(s.Logger.Handler(), slog.LevelDebug),
	}
	server.RegisterOnShutdown(s.Close)
	defer s.Close()
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	err := server.Shutdown(late)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	<-failed
	return err
}
