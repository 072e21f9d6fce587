// Run measures Freshet's ingest on identical work, so that others can repeat the figures: it starts the
// farm (bench/feedfarm) and "freshet serve" with an empty database, imports the farm's feeds through the
// API, and takes processor time, wall time and memory of each phase:
//
//	first      one refresh of every feed; every item must be stored once
//	unchanged  the same again; every request conditional, every answer 304
//	tick       a tenth of the feeds gained one item; exactly these must come
//	reading    GET / and GET /api/items
//
// The processor time is that of the program, of its database server where there is one, and includes the
// search index until it has caught up. The farm's own is not counted. It exits with 1 when an item is
// missing or doubled, a request is not conditional or a host was asked twice at once.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// options are what the command line said.
type options struct {
	feeds, hosts, items int
	latency             string
	database            string
	postmaster          int
	json                bool
	program             string
	limit               time.Duration
}

func main() {
	var o options
	flag.IntVar(&o.feeds, "feeds", 2000, "feeds")
	flag.IntVar(&o.hosts, "hosts", 500, "hosts they are spread over")
	flag.IntVar(&o.items, "items", 30, "items in each feed")
	flag.StringVar(&o.latency, "latency", "0", "of each answer, as feedfarm takes it: lognormal:50ms")
	flag.StringVar(&o.database, "database", "", "postgres:// address of a server in which a database may be made; SQLite without")
	flag.IntVar(&o.postmaster, "postmaster", 0, "process of that server, so that its processor time is counted")
	flag.BoolVar(&o.json, "json", false, "print JSON")
	flag.StringVar(&o.program, "freshet", "", "program to measure; without, this tree is built")
	flag.DurationVar(&o.limit, "limit", 15*time.Minute, "give up after this long")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	r, err := measure(ctx, o)
	if r != nil {
		show(r, o.json)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	if len(r.Wrong) > 0 {
		os.Exit(1)
	}
}

func show(r *result, asJSON bool) {
	if asJSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		e.Encode(r)
		return
	}
	fmt.Print(r.table())
	for _, wrong := range r.Wrong {
		fmt.Println("WRONG:", wrong)
	}
}

// result is what was measured.
type result struct {
	Database    string  `json:"database"`
	Feeds       int     `json:"feeds"`
	Hosts       int     `json:"hosts"`
	Phases      []phase `json:"phases"`
	Reads       []read  `json:"reads"`
	PeakMB      float64 `json:"peak_rss_mb"` // of the program, without its database server
	Items       int     `json:"items"`
	HostAtOnce  int     `json:"host_parallel_max"`
	HostGapMin  float64 `json:"host_gap_min_ms"`
	StoredPer   float64 `json:"first_cpu_s_per_1000_feeds"`            // until all items were stored
	IndexedPer  float64 `json:"first_cpu_s_per_1000_feeds_searchable"` // until they could be searched too
	UnchangePer float64 `json:"unchanged_cpu_s_per_1000_feeds"`

	Wrong []string `json:"wrong"`
}

// phase is one step of the run.
type phase struct {
	Name        string  `json:"name"`
	WallSeconds float64 `json:"wall_s"`
	CPUSeconds  float64 `json:"cpu_s"`       // until the phase was over
	IdleCPU     float64 `json:"cpu_s_quiet"` // until everything was quiet again, the search index too
	ServerCPU   float64 `json:"cpu_s_database_server"`
	RSSMB       float64 `json:"rss_mb"`
	Requests    int     `json:"requests"`
	NotModified int     `json:"not_modified"`
	NewItems    int     `json:"new_items"`
}

// read is how long an address took to answer.
type read struct {
	Path     string  `json:"path"`
	MedianMS float64 `json:"median_ms"`
	WorstMS  float64 `json:"worst_ms"`
	KB       int     `json:"kb"`
}

func (r *result) expect(what string, got, want int) {
	if got != want {
		r.Wrong = append(r.Wrong, fmt.Sprintf("%s: %d, want %d", what, got, want))
	}
}

func (r *result) table() string {
	var out strings.Builder
	fmt.Fprintf(&out, "\n%d feeds on %d hosts, %s\n\n", r.Feeds, r.Hosts, r.Database)
	fmt.Fprintf(&out, "%-10s %8s %8s %10s %12s %8s %9s %9s %7s\n", "phase", "wall s", "CPU s", "+ index s", "per 1000 s", "RSS MB", "requests", "304", "new")
	for _, p := range r.Phases {
		fmt.Fprintf(&out, "%-10s %8.1f %8.2f %10.2f %12.2f %8.1f %9d %9d %7d\n", p.Name, p.WallSeconds, p.CPUSeconds, p.IdleCPU,
			p.IdleCPU*1000/float64(r.Feeds), p.RSSMB, p.Requests, p.NotModified, p.NewItems)
	}
	out.WriteString("\n")
	for _, read := range r.Reads {
		fmt.Fprintf(&out, "GET %-24s median %5.1f ms, worst %5.1f ms, %d KB\n", read.Path, read.MedianMS, read.WorstMS, read.KB)
	}
	fmt.Fprintf(&out, "\nitems stored %d; requests to one host at once: at most %d\n", r.Items, r.HostAtOnce)
	for _, goal := range []struct { // set for SQLite; for PostgreSQL they are for scale
		name      string
		got, most float64
	}{
		{"first ingest, CPU s per 1,000 feeds", r.StoredPer, 5},
		{"the same until all can be searched", r.IndexedPer, 5},
		{"unchanged refresh, CPU s per 1,000 feeds", r.UnchangePer, 0.3},
		{"peak memory, MB", r.PeakMB, 64},
	} {
		verdict := "met"
		if goal.got > goal.most {
			verdict = "MISSED"
		}
		fmt.Fprintf(&out, "goal %-46s %6.2f of at most %4.1f: %s\n", goal.name, goal.got, goal.most, verdict)
	}
	return out.String()
}
