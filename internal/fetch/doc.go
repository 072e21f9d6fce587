// Package fetch makes one safe, polite HTTP request (SPEC.md F1 to F6).
//
// Safe: addresses that are not public are refused when the connection is made, for the first request
// and for every redirect (Guard); time, body, headers and redirects are bounded; a limit that is
// exceeded fails the fetch and never shortens a body. Polite: validators go out byte for byte, one
// request per hop and never the same one twice, no cookies, no referrer, an honest User-Agent, and
// connections that live no longer than a host's turn (Turn).
//
// A fetch that fails says why as a *freshet.Failure with a sentence for a person. The sentences name
// hosts, never credentials; Redact does the same for addresses (S9).
//
// It keeps nothing between fetches but TLS sessions, spare buffers and the names of hosts that close
// kept connections without a word. It does not parse, store, retry or wait: when to ask is decided by its callers.
// No proxy is used, whatever the environment says: behind a proxy the guard would see the proxy's
// address only (docs/adr/0003-fetching.md).
package fetch
