package main

import (
	"log/slog"
	"net/http"

	"freshet"
	"freshet/internal/deliver"
	"freshet/internal/store"
)

// deliveries says what the configuration lets deliveries do.
func (c *config) deliveries() deliver.Options {
	return deliver.Options{
		Allow: c.DeliverAllow, AllowCommands: c.AllowCommands, UserAgent: userAgent(c.Contact), Discord: c.Discord, Notify: c.Notify,
	}
}

// guardLibraries puts the guard of deliveries before whatever a library sends by itself. Notifications are
// sent so; nothing else of ours uses the standard client.
func (c *config) guardLibraries() { http.DefaultTransport = c.deliveries().Transport() }

// runner wires delivery: the actions, and who carries them out.
func (c *config) runner(st *store.Store, log *slog.Logger, finished func(freshet.Execution, freshet.Attempt)) (*deliver.Runner, *deliver.Actions) {
	actions := deliver.New(c.deliveries())
	return deliver.NewRunner(st, actions, deliver.RunnerOptions{Concurrency: c.DeliverConcurrency, Logger: log, Finished: finished}), actions
}

// delivered is told of every attempt at a delivery.
func (s *serving) delivered(e freshet.Execution, _ freshet.Attempt) {
	s.metrics.Delivered(e)
	s.bell.Ring()
}
