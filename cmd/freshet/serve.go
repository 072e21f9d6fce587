package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"freshet"
	"freshet/internal/deliver"
	"freshet/internal/discover"
	"freshet/internal/fetch"
	"freshet/internal/loop"
	"freshet/internal/metrics"
	"freshet/internal/poll"
	"freshet/internal/reader"
	"freshet/internal/river"
	"freshet/internal/store"
	"freshet/internal/vault"
	"freshet/internal/web"
)

// stopWithin is how long the end may take. What is under way after that is left as a kill would leave it:
// in the tables, for the next start (P3).
const stopWithin = 5 * time.Second

// softMemory is where the garbage collector begins to work harder, unless GOMEMLIMIT says otherwise.
const softMemory = 24 << 20

func serveCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Watch the sources, show the river and answer the API",
		Args:  exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := configOf(cmd)
			if err != nil {
				return err
			}
			if err := web.CheckListen(c.Listen, c.Password, c.Token, c.BehindProxy); err != nil {
				return usageError{err}
			}
			return c.serve(cmd)
		},
	}
}

// serve runs everything until the command's context ends.
func (c *config) serve(cmd *cobra.Command) error {
	log := c.logger(cmd.ErrOrStderr())
	for _, name := range strayVariables(os.Environ()) {
		log.Warn("this variable looks like a setting and is none", "name", name)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemory)
	}
	c.guardLibraries()
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	st, err := c.openStore(cmd.Context(), log)
	if err != nil {
		return err
	}
	v, err := c.openVault(cmd.Context(), st)
	if err != nil {
		return errors.Join(err, st.Close())
	}
	if err := st.SealSecrets(cmd.Context()); err != nil {
		return errors.Join(err, st.Close())
	}
	s, err := c.newServing(st, v, log)
	if err != nil {
		return errors.Join(err, st.Close())
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Freshet is at http://%s\n", reachable(listener.Addr().String()))
	err, ended := s.run(cmd.Context(), listener)
	if !ended {
		log.Warn("stopped in the middle of something; it goes on at the next start")
		return err
	}
	return errors.Join(err, st.Close())
}

// serving is a running instance, wired.
type serving struct {
	store     *store.Store
	bell      *river.Bell
	texts     chan struct{} // there are new texts to make searchable
	metrics   *metrics.Metrics
	scheduler *poll.Scheduler
	runner    *deliver.Runner
	actions   *deliver.Actions
	web       *web.Server
	log       *slog.Logger
}

func (c *config) newServing(st *store.Store, v *vault.Vault, log *slog.Logger) (*serving, error) {
	s := &serving{store: st, bell: river.NewBell(), texts: make(chan struct{}, 1), log: log}
	s.metrics = metrics.New(thisBuild().Version, s.state)
	client := c.fetcher()
	s.scheduler = c.scheduler(st, v, client, log, s.finished)
	s.runner, s.actions = c.runner(st, log, s.delivered)
	var err error
	s.web, err = web.New(web.Config{
		Store: st, Vault: v, Bell: s.bell, Kick: s.kick,
		Find: func(ctx context.Context, pasted string) ([]discover.Candidate, error) {
			if found, err := findAccount(ctx, v, pasted); found != nil || err != nil {
				return found, err
			}
			return find(ctx, client, pasted)
		},
		Look: func(ctx context.Context, address string) discover.Sight {
			if freshet.NamesAccount(address) {
				return lookAtAccount(ctx, v, address)
			}
			return discover.Look(ctx, func(ctx context.Context, url string) (*fetch.Response, error) {
				return client.Get(ctx, fetch.Request{URL: url})
			}, address)
		},
		Read:    readOnce(reader.New(client, log)),
		Ingest:  ingest{store: st, poll: s.waitFor}.run,
		Offline: func() time.Time { since, _ := s.scheduler.Paused(); return since },
		Polling: s.scheduler.Ready,
		Types:   types, Metrics: s.metrics.Handler(), Logger: log, Version: thisBuild().Version,
		Listen: c.Listen, Hosts: c.Hosts, Password: c.Password, Token: c.Token, BehindProxy: c.BehindProxy,
	})
	return s, err
}

// readOnce reads a source once, for a look.
func readOnce(r *reader.Reader) func(context.Context, freshet.Source) *freshet.Outcome {
	return func(ctx context.Context, src freshet.Source) *freshet.Outcome {
		turn := r.Turn()
		defer turn.Close()
		return turn.Read(ctx, src)
	}
}

// scheduler wires polling: client, reader, scheduler.
func (c *config) scheduler(st *store.Store, v *vault.Vault, client *fetch.Client, log *slog.Logger, finished func(store.Finished, *freshet.Outcome)) *poll.Scheduler {
	return poll.New(st, c.reader(st, v, client, log), poll.Options{
		Tick: c.Tick, Concurrency: c.Concurrency, FetchTimeout: c.Timeout, Settings: c.Settings, Logger: log, Finished: finished,
	})
}

// run runs the parts until ctx ends or one of them fails. It says whether all of them ended in time.
func (s *serving) run(ctx context.Context, listener net.Listener) (err error, ended bool) {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.scheduler.Run(ctx) })
	group.Go(func() error {
		defer s.actions.Close()
		return s.runner.Run(ctx)
	})
	group.Go(func() error { return s.web.Serve(ctx, listener) })
	group.Go(func() error { return s.watch(ctx) })
	for _, c := range s.chores() {
		group.Go(func() error { return c.Run(ctx) })
	}
	done := make(chan error, 1)
	go func() { done <- group.Wait() }()
	<-ctx.Done()
	select {
	case err := <-done:
		return err, true
	case <-time.After(stopWithin):
		return context.Cause(ctx), false
	}
}

// watch notices what other processes commit: the command line, other instances.
func (s *serving) watch(ctx context.Context) error {
	return s.store.Watch(ctx, func() {
		s.bell.Ring()
		s.kick()
	})
}

// kick makes those who carry out what is due look again.
func (s *serving) kick() {
	s.scheduler.Kick()
	s.runner.Kick()
}

// finished is told of every poll.
func (s *serving) finished(f store.Finished, o *freshet.Outcome) {
	s.metrics.Polled(f.Source.Type, o)
	s.metrics.Stored(f.NewItems, f.New-f.NewItems, f.Edited)
	s.bell.Ring()
	if f.Shown {
		s.runner.Kick()
	}
	if f.New+f.Edited > 0 {
		loop.Wake(s.texts)
	}
}

// waitFor waits until a refresh is finished by whoever holds its hosts.
func (s *serving) waitFor(ctx context.Context, refresh freshet.ID) error {
	rung, stop := s.bell.Listen()
	defer stop()
	s.scheduler.Kick()
	for {
		r, err := s.store.Refresh(ctx, refresh)
		if err != nil || !r.Running() {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-rung:
		case <-time.After(time.Second):
		}
	}
}

// state is what the metrics tell of the database.
func (s *serving) state(ctx context.Context) (metrics.State, error) {
	now := time.Now()
	stats, err := s.store.Stats(ctx, now)
	if err != nil {
		return metrics.State{}, err
	}
	state := metrics.State{Sources: stats.Sources, Lag: stats.Overdue, HostsCooling: stats.HostsCooling}
	if next, err := s.store.NextExecution(ctx); err == nil && !next.IsZero() {
		state.Undelivered = max(0, now.Sub(next))
	}
	return state, nil
}

// hostname tells instances apart in the table of leases.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}
