package web

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// CheckListen refuses to listen where others can reach us unless something keeps them out (P1).
func CheckListen(addr, password, token string, behindProxy bool) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("listen on %q: this is no address; one looks like 127.0.0.1:8080", addr)
	}
	if isLoopback(host) || password != "" || token != "" || behindProxy {
		return nil
	}
	return fmt.Errorf("listen on %s: everybody who reaches this address could read and change everything; "+
		"set a password (FRESHET_PASSWORD) or a token (FRESHET_TOKEN), or say that a proxy guards it (--behind-proxy), or listen on 127.0.0.1", addr)
}

// isLoopback says whether a host is this machine and nobody else can reach it there.
func isLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// guard decides whose requests are answered.
type guard struct {
	names       map[string]bool // hosts that we are, loopback aside
	anyName     bool            // a proxy sees to it
	anyAddress  bool            // we listen on all addresses; a name that points elsewhere cannot be one
	behindProxy bool
	origin      *http.CrossOriginProtection
	secrets     *secrets // nil when nobody need say who they are
}

func newGuard(c Config) (*guard, error) {
	g := &guard{names: map[string]bool{}, behindProxy: c.BehindProxy, origin: http.NewCrossOriginProtection()}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return nil, fmt.Errorf("read listen address: %w", err)
	}
	if addr, err := netip.ParseAddr(host); host == "" || err == nil && addr.IsUnspecified() {
		g.anyAddress = true
	}
	g.names[strings.ToLower(host)] = true
	for _, name := range c.Hosts {
		if err := g.allow(name); err != nil {
			return nil, err
		}
	}
	g.anyName = c.BehindProxy && len(c.Hosts) == 0
	g.secrets = newSecrets(c)
	return g, nil
}

// allow adds a name, with or without a port, that browsers know us by. A proxy that rewrites Host
// makes Origin differ from it; so its pages are named as ours.
func (g *guard) allow(name string) error {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, scheme := range []string{"http://", "https://"} {
		if err := g.origin.AddTrustedOrigin(scheme + name); err != nil {
			return fmt.Errorf("read host name %q: %w", name, err)
		}
	}
	g.names[hostname(name)] = true
	return nil
}

// hostname is a Host header without its port.
func hostname(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// knows says whether a Host header names us. It stops DNS rebinding: a page of another site whose
// name was made to point here still carries that name (P1). The port is not looked at: whatever
// forwards one is ours.
func (g *guard) knows(hostport string) bool {
	host := hostname(hostport)
	if g.anyName || g.names[host] && host != "" || isLoopback(host) {
		return true
	}
	_, err := netip.ParseAddr(host)
	return g.anyAddress && err == nil
}

// guarded answers only requests that name us, come from our own pages or from no page, and say who
// they are where that is asked.
func (s *Server) guarded(next http.Handler) http.Handler {
	g := s.guard
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if forwarded := r.Header.Get("X-Forwarded-Host"); g.behindProxy && forwarded != "" {
			first, _, _ := strings.Cut(forwarded, ",")
			r.Host = strings.TrimSpace(first)
		}
		if !g.knows(r.Host) {
			s.fail(w, r, problem(foreignHost, fmt.Sprintf(
				"This server does not answer to the name %q. If it is yours, start it with --hosts %s (FRESHET_HOSTS).", hostname(r.Host), hostname(r.Host))))
			return
		}
		if err := g.origin.Check(r); err != nil || isForeign(r) {
			s.fail(w, r, problem(crossOrigin, "The request came from a page of another site; only our own pages may ask."))
			return
		}
		if g.secrets != nil && !isOpen(r.URL.Path) {
			if err := g.secrets.check(r); err != nil {
				s.askWho(w, r, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// isForeign says whether a page of another site loads something of ours. It could not read it, but it
// could hold all the streams of events. A link to us is fine.
func isForeign(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return (site == "cross-site" || site == "same-site") && r.Header.Get("Sec-Fetch-Mode") != "navigate"
}

// isOpen names what is answered to everybody: whether we live, and what the login page needs.
func isOpen(path string) bool {
	return path == "/healthz" || path == "/readyz" || path == "/login" || strings.HasPrefix(path, "/static/")
}
