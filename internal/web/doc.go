// Package web is what people and programs see of Freshet: the JSON API with its OpenAPI document,
// the stream of events, the pages (SPEC.md sections 6, 9, 10).
//
// It decodes, calls one thing, encodes. It keeps nothing but the open streams: what it shows is in
// the store, what it starts (polls, refreshes, ingest runs) is done elsewhere. All routes are in
// routes.go; every error leaves as an RFC 9457 problem from the table in problem.go, or as a page
// that says the same. guard.go and login.go decide who may ask (P1, P2).
package web
