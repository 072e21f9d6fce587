package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
)

// bench is a run under way.
type bench struct {
	options
	farm    string // its address
	api     string // Freshet's address
	program *process
	result  *result
}

// measure starts everything, takes the figures, and stops everything.
func measure(ctx context.Context, o options) (*result, error) {
	folder, err := os.MkdirTemp("", "freshet-bench.")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	b := &bench{options: o, result: &result{Database: "SQLite", Feeds: o.feeds, Hosts: o.hosts, Wrong: []string{}}}
	if o.database != "" {
		b.result.Database = "PostgreSQL"
		drop, err := b.makeDatabase(ctx)
		if err != nil {
			return nil, err
		}
		defer drop()
	}
	farm, err := b.startFarm(ctx, folder)
	if err != nil {
		return nil, err
	}
	defer farm.stop()
	if err := b.startProgram(ctx, folder); err != nil {
		return nil, err
	}
	defer b.program.stop()
	return b.result, b.phases(ctx)
}

// makeDatabase makes an empty database on the server and points the run to it.
func (b *bench) makeDatabase(ctx context.Context) (drop func(), err error) {
	conn, err := pgx.Connect(ctx, b.database)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("freshet_bench_%d", os.Getpid())
	if _, err := conn.Exec(ctx, "create database "+name); err != nil {
		return nil, err
	}
	u, err := url.Parse(b.database)
	if err != nil {
		return nil, err
	}
	u.Path = "/" + name
	b.database = u.String()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		conn.Exec(ctx, "drop database "+name+" with (force)")
		conn.Close(ctx)
	}, nil
}

// build compiles a package of this module as "make build" does.
func build(ctx context.Context, folder, name, pkg string) (string, error) {
	program := filepath.Join(folder, name)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s", "-o", program, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return program, nil
}

func (b *bench) startFarm(ctx context.Context, folder string) (*process, error) {
	program, err := build(ctx, folder, "feedfarm", "freshet/bench/feedfarm")
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	farm, err := start(folder, "farm", nil, program, "-port", fmt.Sprint(port), "-feeds", fmt.Sprint(b.feeds), "-hosts", fmt.Sprint(b.hosts),
		"-items", fmt.Sprint(b.items), "-latency", b.latency, "-etag", "-max-life", b.limit.String())
	if err != nil {
		return nil, err
	}
	b.farm = fmt.Sprintf("http://127.0.0.1:%d", port)
	if err := farm.ready(ctx, port); err != nil {
		farm.stop()
		return nil, err
	}
	return farm, nil
}

// startProgram starts "freshet serve" with nothing configured but where to listen, that the farm may be
// fetched from, and an interval so long that only the refreshes of this run poll.
func (b *bench) startProgram(ctx context.Context, folder string) error {
	program := b.options.program
	if program == "" {
		var err error
		if program, err = build(ctx, folder, "freshet", "freshet/cmd/freshet"); err != nil {
			return err
		}
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	b.api = fmt.Sprintf("http://127.0.0.1:%d", port)
	env := []string{"FRESHET_LISTEN=127.0.0.1:" + fmt.Sprint(port), "FRESHET_DATA=" + filepath.Join(folder, "data"),
		"FRESHET_DATABASE=" + b.database, "FRESHET_FETCH_ALLOW=127.0.0.0/8", "FRESHET_INTERVAL=365d", "FRESHET_CONFIG=", "XDG_CONFIG_HOME=" + folder}
	if b.program, err = start(folder, "freshet", env, program, "serve"); err != nil {
		return err
	}
	if err := b.program.ready(ctx, port); err != nil {
		b.program.stop()
		return err
	}
	return nil
}

// phases are the steps of the run, in order.
func (b *bench) phases(ctx context.Context) error {
	all := b.feeds * b.items
	if err := b.importFeeds(ctx); err != nil {
		return err
	}
	first, err := b.refresh(ctx, "first")
	if err != nil {
		return err
	}
	b.result.expect("first: items", first.NewItems, all)
	b.result.expect("first: requests", first.Requests, b.feeds)
	if err := b.countItems(ctx, "after first", all); err != nil {
		return err
	}

	unchanged, err := b.refresh(ctx, "unchanged")
	if err != nil {
		return err
	}
	b.result.expect("unchanged: requests", unchanged.Requests, b.feeds)
	b.result.expect("unchanged: answers 304", unchanged.NotModified, b.feeds)
	b.result.expect("unchanged: new items", unchanged.NewItems, 0)

	gained, err := b.tick(ctx)
	if err != nil {
		return err
	}
	ticked, err := b.refresh(ctx, "tick")
	if err != nil {
		return err
	}
	b.result.expect("tick: new items", ticked.NewItems, gained)
	b.result.expect("tick: answers 304", ticked.NotModified, b.feeds-gained)
	if err := b.countItems(ctx, "after tick", all+gained); err != nil {
		return err
	}
	per := 1000 / float64(b.feeds)
	b.result.StoredPer, b.result.IndexedPer = first.CPUSeconds*per, first.IdleCPU*per
	b.result.UnchangePer = unchanged.IdleCPU * per
	for _, path := range []string{"/", "/api/items", "/api/items?limit=1000", "/api/feeds"} {
		if err := b.read(ctx, path); err != nil {
			return err
		}
	}
	b.result.PeakMB = memory(b.program.Process.Pid, "VmHWM")
	return nil
}

// used is the processor time so far: of the program, and of the database server.
func (b *bench) used() (program, server float64) {
	program, _ = cpu(b.program.Process.Pid)
	return program, treeCPU(b.postmaster)
}

// phase measures one step: do, and then the quiet after it.
func (b *bench) phase(ctx context.Context, name string, do func() error) (*phase, error) {
	program, server := b.used()
	began := time.Now()
	if err := do(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p := phase{Name: name, WallSeconds: time.Since(began).Seconds()}
	nowProgram, nowServer := b.used()
	p.CPUSeconds = nowProgram - program + nowServer - server
	if err := b.quiet(ctx); err != nil {
		return nil, err
	}
	nowProgram, nowServer = b.used()
	p.IdleCPU = nowProgram - program + nowServer - server
	p.ServerCPU = nowServer - server
	p.RSSMB = memory(b.program.Process.Pid, "VmRSS")
	b.result.Phases = append(b.result.Phases, p)
	return &b.result.Phases[len(b.result.Phases)-1], nil
}

// quiet waits until hardly any processor time was used for three seconds: what is done behind, such as
// the search index, is done.
func (b *bench) quiet(ctx context.Context) error {
	last, since := 0.0, time.Now()
	for time.Since(since) < 3*time.Second {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(250 * time.Millisecond):
		}
		program, server := b.used()
		if program+server > last+0.04 {
			last, since = program+server, time.Now()
		}
	}
	return nil
}
