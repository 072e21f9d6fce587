// Package metrics counts what Freshet does, for Prometheus (SPEC.md section 6, GET /metrics).
//
// Its labels are closed sets: types, outcomes, states. Nothing that a source chose, such as its
// address, becomes a label (P4). It keeps counters in memory; what the database knows is asked for
// when somebody looks.
package metrics

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"freshet"
)

// Metrics are the counters of one instance.
type Metrics struct {
	registry *prometheus.Registry
	fetches  *prometheus.CounterVec
	duration prometheus.Histogram
	ingested prometheus.Counter
	merged   prometheus.Counter
	edited   prometheus.Counter
	attempts *prometheus.CounterVec
}

// State is what the database knows at a moment.
type State struct {
	Sources      map[freshet.Health]int
	Lag          time.Duration // of the source that is due the longest
	HostsCooling int
	Undelivered  time.Duration // how long the delivery that is due the longest has been
}

// New returns counters at zero. state is asked for at each look.
func New(version string, state func(context.Context) (State, error)) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		fetches: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "freshet_fetches_total",
			Help: "Polls by type of source and outcome."}, []string{"type", "outcome"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "freshet_fetch_duration_seconds",
			Help: "Time from request to the last byte of the answer.", Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}}),
		ingested: counter("freshet_items_ingested_total", "Items that entered the river."),
		merged:   counter("freshet_items_merged_total", "New posts that joined an item of another source."),
		edited:   counter("freshet_items_edited_total", "Items whose title or text a source changed."),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "freshet_deliveries_total",
			Help: "Attempts at deliveries by how they ended: succeeded, retrying, dead."}, []string{"outcome"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "freshet_build_info",
		Help: "1, with the version as a label.", ConstLabels: prometheus.Labels{"version": version}})
	build.Set(1)
	m.registry.MustRegister(m.fetches, m.duration, m.ingested, m.merged, m.edited, m.attempts, build, stateCollector{state},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

// Polled counts one poll.
func (m *Metrics) Polled(t freshet.Type, o *freshet.Outcome) {
	m.fetches.WithLabelValues(string(t), outcome(o)).Inc()
	m.duration.Observe(o.Took.Seconds())
}

// Stored counts what a poll left in the river: items, posts that joined an item that was there,
// edits.
func (m *Metrics) Stored(items, merged, edited int) {
	m.ingested.Add(float64(max(items, 0)))
	m.merged.Add(float64(max(merged, 0)))
	m.edited.Add(float64(max(edited, 0)))
}

// Delivered counts one attempt at a delivery by what became of its execution.
func (m *Metrics) Delivered(e freshet.Execution) {
	m.attempts.WithLabelValues(string(e.State)).Inc()
}

// outcome names how a poll ended in one of a few words.
func outcome(o *freshet.Outcome) string {
	f := o.Failure
	switch {
	case f == nil && o.Unchanged:
		return "not_modified"
	case f == nil:
		return string(o.Result())
	case f.CoolHost:
		return "rate_limited"
	case !strings.HasPrefix(f.Code, "http_"):
		return f.Code
	case f.Status >= 500:
		return "http_5xx"
	default:
		return "http_4xx"
	}
}

// Handler answers GET /metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4})
}

// stateCollector asks the database when somebody looks.
type stateCollector struct {
	state func(context.Context) (State, error)
}

var (
	sourcesDesc     = prometheus.NewDesc("freshet_sources", "Sources by state.", []string{"state"}, nil)
	lagDesc         = prometheus.NewDesc("freshet_schedule_lag_seconds", "How long the source that waits longest has been due.", nil, nil)
	coolingDesc     = prometheus.NewDesc("freshet_hosts_cooling", "Hosts that asked for a pause.", nil, nil)
	undeliveredDesc = prometheus.NewDesc("freshet_outbox_oldest_seconds", "How long the delivery that waits longest has been due.", nil, nil)
	states          = []freshet.Health{freshet.Healthy, freshet.Unhealthy, freshet.Disabled, freshet.Pending}
)

func (c stateCollector) Describe(out chan<- *prometheus.Desc) {
	out <- sourcesDesc
	out <- lagDesc
	out <- coolingDesc
	out <- undeliveredDesc
}

// stateTimeout bounds a look while the database is busy.
const stateTimeout = 5 * time.Second

func (c stateCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), stateTimeout)
	defer cancel()
	s, err := c.state(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(sourcesDesc, err)
		return
	}
	for _, h := range states {
		out <- prometheus.MustNewConstMetric(sourcesDesc, prometheus.GaugeValue, float64(s.Sources[h]), string(h))
	}
	out <- prometheus.MustNewConstMetric(lagDesc, prometheus.GaugeValue, s.Lag.Seconds())
	out <- prometheus.MustNewConstMetric(coolingDesc, prometheus.GaugeValue, float64(s.HostsCooling))
	out <- prometheus.MustNewConstMetric(undeliveredDesc, prometheus.GaugeValue, s.Undelivered.Seconds())
}
