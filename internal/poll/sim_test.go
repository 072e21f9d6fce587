package poll

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"freshet"
	"freshet/internal/store"
)

// The simulation runs the real scheduler, reader, feed parser, fetch client and SQLite in fake time against
// sites, a database and a process that fail all the time: 500, 429 and 503 with Retry-After, silence, no
// connection, bodies and documents cut in the middle under a new validator, commits that fail, commits that
// succeed but report a failure, stops, kills. One seed is one run; the name of a failing subtest is its seed:
//
//	FRESHET_SIM_SEEDS=500 go test -run TestSimulation ./internal/poll
//	go test -run TestSimulation/seed=17 ./internal/poll
//
// At all times: no two requests to a host at once, none to a feed sooner than it may be asked, none within a
// pause that the database knows of. In the end: every published entry stored exactly once, every refresh
// finished.

const (
	simFeeds    = 8
	simHosts    = 4
	simFaulty   = 6 * time.Hour
	simQuiet    = 150 * time.Minute // without faults, to recover
	simInterval = 15 * time.Minute
)

func simSeeds(t *testing.T) int {
	s := os.Getenv("FRESHET_SIM_SEEDS")
	if s == "" {
		return simDefaultSeeds
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("FRESHET_SIM_SEEDS: %v", err)
	}
	return n
}

func TestSimulation(t *testing.T) {
	for seed := range simSeeds(t) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newSimulation(t, uint64(seed)).run() })
		})
	}
}

// simulation is one run.
type simulation struct {
	t         *testing.T
	w         *world
	st        *store.Store
	began     time.Time
	feeds     []*simFeed
	fault     *rand.Rand        // of the database and the process
	asking    chan struct{}     // receives when a request arrives
	started   []freshet.ID      // refreshes by hand
	refreshes []freshet.Refresh // as they were in the end

	mu     sync.Mutex // guards the rest
	rand   sync.Mutex // guards fault
	pauses map[string][]pause
	read   map[freshet.ID]time.Time // since when a success of it is in the database
}

// pause is what a host asked for, in an answer that reached the database.
type pause struct{ from, until time.Time }

// simFeed is a feed that publishes at its own random times. Its faults come from its own generator, so that
// the order of requests within an instant does not matter.
type simFeed struct {
	name, url string
	id        freshet.ID
	rand      *rand.Rand
	published []time.Time
}

func newSimulation(t *testing.T, seed uint64) *simulation {
	sim := &simulation{
		t: t, w: newWorld(), st: openStore(t, freshet.DefaultSettings()), began: time.Now(),
		asking: make(chan struct{}), fault: rand.New(rand.NewPCG(seed, 0)), pauses: map[string][]pause{}, read: map[freshet.ID]time.Time{},
	}
	for i := range simFeeds {
		host := fmt.Sprintf("h%d.example", i%simHosts)
		f := &simFeed{name: fmt.Sprintf("feed%d", i), url: fmt.Sprintf("https://%s/%d", host, i), rand: rand.New(rand.NewPCG(seed, uint64(i)+1))}
		for at := sim.began.Add(-time.Hour); at.Before(sim.began.Add(simFaulty)); at = at.Add(time.Duration(f.rand.ExpFloat64() * float64(2*time.Hour))) {
			f.published = append(f.published, at)
		}
		sim.feeds = append(sim.feeds, f)
		sim.w.set(strings.TrimPrefix(f.url, "https://"), func(r *http.Request) (*http.Response, error) { return sim.answer(f, r) })
	}
	return sim
}

func (sim *simulation) faulty() bool { return time.Since(sim.began) < simFaulty }

// chance says, in the time of faults, whether the database or the process fails.
func (sim *simulation) chance(p float64) bool {
	sim.rand.Lock()
	defer sim.rand.Unlock()
	return sim.fault.Float64() < p && sim.faulty()
}

// document is what the feed lists now, all that it ever published, with a validator.
func (f *simFeed) document() (doc, etag string) {
	n := 0
	var items strings.Builder
	for i, at := range f.published {
		if at.After(time.Now()) {
			break
		}
		n++
		fmt.Fprintf(&items, `<item><guid isPermaLink="false">tag:%s,2000:%d</guid><title>%s %d</title><description>Text %d of %s</description><pubDate>%s</pubDate></item>`,
			f.name, i, f.name, i, i, f.name, at.UTC().Format(time.RFC1123))
	}
	return fmt.Sprintf(`<rss version="2.0"><channel><title>%s</title>%s</channel></rss>`, f.name, items.String()), fmt.Sprintf(`"%s-%d"`, f.name, n)
}

// answer answers a request, in the time of faults often badly.
func (sim *simulation) answer(f *simFeed, r *http.Request) (*http.Response, error) {
	select {
	case sim.asking <- struct{}{}:
	default:
	}
	sleep(r.Context(), time.Duration(f.rand.IntN(3000))*time.Millisecond)
	doc, etag := f.document()
	roll := f.rand.IntN(100)
	if !sim.faulty() {
		roll = 99
	}
	retry := strconv.Itoa(60 + f.rand.IntN(1800))
	middle := len(doc) / 2
	switch {
	case roll < 6:
		return answer(500, "oops"), nil
	case roll < 9:
		return answer(429, "", "Retry-After", retry), nil
	case roll < 11:
		return answer(503, "", "Retry-After", retry), nil
	case roll < 16: // silence
		<-r.Context().Done()
		return nil, r.Context().Err()
	case roll < 20:
		return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	case roll < 26: // a body that breaks off
		a := answer(200, "", "ETag", etag, "Cut", "yes")
		a.Body, a.ContentLength = io.NopCloser(io.MultiReader(strings.NewReader(doc[:middle]), broken{})), int64(len(doc))
		return a, nil
	case roll < 32: // a document that was cut before it was sent
		return answer(200, doc[:middle], "ETag", etag), nil
	case r.Header.Get("If-None-Match") == etag:
		return answer(304, "", "ETag", etag), nil
	case roll < 50: // a server that knows no validators
		return answer(200, doc), nil
	}
	return answer(200, doc, "ETag", etag), nil
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// process is one life of the program.
type process struct {
	*Scheduler
	dead  *atomic.Bool
	end   context.CancelFunc
	ended chan error
}

func (sim *simulation) start() *process {
	p := &process{dead: new(atomic.Bool), ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	p.end = cancel
	p.Scheduler = New(simStore{dying{sim.st, p.dead}, sim}, sim.w.reader(),
		Options{Settings: sim.st.Settings(), Tick: 10 * time.Minute, LeaseTTL: 10 * time.Minute})
	go func() { p.ended <- p.Run(ctx) }()
	return p
}

// kill ends a process without a chance to tidy up.
func (p *process) kill() {
	p.dead.Store(true)
	p.end()
	<-p.ended
}

func (p *process) stop() error {
	p.end()
	return <-p.ended
}

// simStore is the database with its faults.
type simStore struct {
	dying
	sim *simulation
}

var errFault = errors.New("database is locked")

func (s simStore) Claim(ctx context.Context, r store.ClaimRequest, now time.Time) ([]store.Watched, error) {
	if s.sim.chance(0.03) {
		return nil, errFault
	}
	claimed, err := s.dying.Claim(ctx, r, now)
	if s.sim.chance(0.01) {
		return nil, errFault // claimed, but nobody knows
	}
	return claimed, err
}

func (s simStore) FinishPolls(ctx context.Context, polls []store.Poll, now time.Time) ([]store.Finished, error) {
	if s.sim.chance(0.08) {
		return nil, errFault
	}
	finished, err := s.dying.FinishPolls(ctx, polls, now)
	if err == nil {
		s.sim.committed(polls, finished)
	}
	if s.sim.chance(0.05) {
		return nil, errFault // recorded, but nobody knows
	}
	return finished, err
}

// committed notes what the database knows from now on.
func (sim *simulation) committed(polls []store.Poll, finished []store.Finished) {
	sim.mu.Lock()
	defer sim.mu.Unlock()
	for i, f := range finished {
		failure := polls[i].Outcome.Failure
		switch {
		case !f.Recorded:
		case failure == nil:
			if sim.read[polls[i].Source].IsZero() {
				sim.read[polls[i].Source] = time.Now()
			}
		case failure.CoolHost:
			answered := polls[i].Outcome.At.Add(polls[i].Outcome.Took)
			sim.pauses[f.Source.Host] = append(sim.pauses[f.Source.Host], pause{answered, failure.RetryAfter})
		}
	}
}

func (sim *simulation) run() {
	p := sim.start()
	time.Sleep(time.Second)
	for _, f := range sim.feeds {
		f.id = watch(sim.t, sim.st, f.url, freshet.Config{}).ID
	}
	p.Kick()
	for sim.faulty() {
		sim.rand.Lock()
		what, wait, more := sim.fault.IntN(3), sim.fault.ExpFloat64()*40, sim.fault.IntN(3000)
		sim.rand.Unlock()
		time.Sleep(min(time.Duration(wait*float64(time.Minute)), time.Until(sim.began.Add(simFaulty))))
		select { // a process dies while it is asking, or just after
		case <-sim.asking:
		case <-time.After(simInterval):
		}
		time.Sleep(time.Duration(more) * time.Millisecond)
		switch what {
		case 0:
			p.kill()
			p = sim.start()
		case 1:
			if err := p.stop(); err != nil {
				sim.t.Errorf("stop: %v", err)
			}
			p = sim.start()
		case 2:
			sim.refresh(p)
		}
	}
	time.Sleep(simQuiet)
	if err := p.stop(); err != nil {
		sim.t.Errorf("stop: %v", err)
	}
	sim.checkStored()
	sim.checkRequests()
}

func (sim *simulation) refresh(p *process) {
	started, err := sim.st.StartRefresh(sim.t.Context(), freshet.ByHand, nil, time.Now())
	if err != nil {
		sim.t.Errorf("refresh: %v", err)
		return
	}
	sim.started = append(sim.started, started.ID)
	p.Kick()
}

// checkStored: every entry once, every source healthy, every refresh finished.
func (sim *simulation) checkStored() {
	got := map[string]int{}
	for _, title := range titles(sim.t, sim.st) {
		got[title]++
	}
	want := 0
	for _, f := range sim.feeds {
		for i := range f.published {
			want++
			if title := fmt.Sprintf("%s %d", f.name, i); got[title] != 1 {
				sim.t.Errorf("%q, published at %v, is stored %d times", title, f.published[i].Sub(sim.began), got[title])
			}
		}
		if src := sourceOf(sim.t, sim.st, f.id).Source; src.Health() != freshet.Healthy || src.Failures != 0 {
			sim.t.Errorf("%s is %s with %d failures: %v", f.url, src.Health(), src.Failures, src.LastFailure)
		}
	}
	if len(got) != want {
		sim.t.Errorf("%d different entries are stored, %d were published", len(got), want)
	}
	for _, id := range sim.started {
		r, err := sim.st.Refresh(sim.t.Context(), id)
		if err != nil || r.Running() || r.Done != r.Total {
			sim.t.Errorf("refresh = %+v, %v", r, err)
		}
		sim.refreshes = append(sim.refreshes, r)
	}
}

// checkRequests: politeness, as the servers saw it.
func (sim *simulation) checkRequests() {
	for host, n := range sim.w.mostAtOnce() {
		if n != 1 {
			sim.t.Errorf("%s had %d requests at once", host, n)
		}
	}
	polls := 0
	for _, f := range sim.feeds {
		polls += sim.checkFeed(f)
	}
	if polls < simFeeds*int((simFaulty+simQuiet)/simInterval)/3 {
		sim.t.Errorf("%d polls in all: the simulation does next to nothing", polls)
	}
	for _, a := range sim.w.all() {
		for _, p := range sim.pauses[a.host] {
			if a.at.After(p.from) && a.at.Before(p.until.Truncate(time.Millisecond)) { // as the database keeps it
				sim.t.Errorf("%s was asked %v after its host asked for a pause of %v", a.url, a.at.Sub(p.from), p.until.Sub(p.from))
			}
		}
	}
}

// checkFeed checks the gaps between the requests that reached a feed. A claim is made a little before its
// request, so a gap may be that much shorter than what the claim wrote down.
func (sim *simulation) checkFeed(f *simFeed) int {
	const early = time.Minute
	var last asked
	reached := 0
	for _, a := range sim.w.of(f.url) {
		gap, least := a.at.Sub(last.at), simInterval
		switch {
		case reached == 0 || sim.refreshed(last.at, a.at):
			least = 0
		case !sim.read[f.id].Before(last.at): // never read when it was asked last: tried again sooner
			least = early + 20*time.Second
		case last.status != 200 && last.status != 304: // the ladder's third try
			least = 5 * time.Minute
		}
		if gap < least-early {
			sim.t.Errorf("%s was asked at %v, %v after an answer of %d; want at least %v", f.url, a.at.Sub(sim.began), gap, last.status, least)
		}
		last = a
		reached++
	}
	return reached
}

// refreshed says whether a person waited for a refresh about then: what a killed process had claimed for it is
// tried again sooner.
func (sim *simulation) refreshed(from, to time.Time) bool {
	for _, r := range sim.refreshes {
		if r.RequestedAt.Before(to.Add(time.Minute)) && r.FinishedAt.After(from.Add(-time.Minute)) {
			return true
		}
	}
	return false
}
