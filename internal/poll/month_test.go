package poll

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"text/tabwriter"
	"time"

	"freshet"
	"freshet/internal/store"
)

// A month of a mixed list: the requests that sites see are exactly those that the rules allow, source by source
// and minute by minute. What is allowed is computed by a model of the rules (S2, S5, S6, S7, F3, F6) that shares
// nothing with the code under test. With -v the result is printed as a table.
func TestMonthOfAMixedList(t *testing.T) {
	length := 30 * 24 * time.Hour
	if underRace {
		length = 26 * time.Hour
	}
	var m *month
	w := newWorld()
	synctest.Test(t, func(t *testing.T) {
		settings := freshet.DefaultSettings()
		settings.Interval, settings.MinInterval = time.Hour, 15*time.Minute
		settings.HostDelay = map[string]time.Duration{"slow.example": 20 * time.Second}
		settings.TypeDelay = map[freshet.Type]time.Duration{freshet.HTTP: 5 * time.Second}
		st := openStore(t, settings)
		s := New(st, w.reader(), calm(settings))
		stop := serve(t, s)
		// The list begins at 00:07:30, so that what happens at full hours falls between polls.
		time.Sleep(time.Until(time.Now().Truncate(time.Hour).Add(7*time.Minute + 30*time.Second)))
		m = newMonth(length)
		m.addTo(t, w, st, s)
		m.live(t, st, s)
		stop()
	})
	m.model()
	var table strings.Builder
	rows := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(rows, "SOURCE\tRULE\tMADE\tALLOWED")
	made, allowed := 0, 0
	for _, s := range m.sources {
		asked := w.of("https://" + s.address)
		m.compare(t, s, asked)
		fmt.Fprintf(rows, "%s\t%s\t%d\t%d\n", s.address, s.rule, len(asked), len(s.allowed))
		made, allowed = made+len(asked), allowed+len(s.allowed)
	}
	fmt.Fprintf(rows, "all\t\t%d\t%d\n", made, allowed)
	rows.Flush()
	t.Logf("%v of fake time\n%s", length, table.String())
	if n := w.count(); n != made {
		t.Errorf("%d requests in all, %d of them to sources of the list", n, made)
	}
	for host, n := range w.mostAtOnce() {
		if n != 1 {
			t.Errorf("%s had %d requests at once", host, n)
		}
	}
}

// compare holds the requests that a source saw against those that the rules allow. A minute is how exactly the
// rules are stated; what the scheduler adds up to over a month must stay below.
func (m *month) compare(t *testing.T, s *monthSource, made []asked) {
	t.Helper()
	for i := range min(len(made), len(s.allowed)) {
		if d := made[i].at.Sub(s.allowed[i]); d < 0 || d >= time.Minute {
			t.Errorf("%s (%s): request %d was made at %s, is allowed at %s", s.address, s.rule, i+1, m.clock(made[i].at), m.clock(s.allowed[i]))
			return
		}
	}
	if len(made) != len(s.allowed) {
		t.Errorf("%s (%s): %d requests were made, %d are allowed", s.address, s.rule, len(made), len(s.allowed))
	}
}

func (m *month) clock(at time.Time) string {
	d := at.Sub(m.began)
	return fmt.Sprintf("day %d %s", int(d/(24*time.Hour)), at.UTC().Format(time.TimeOnly))
}

// reply is how a site answers: what the site sends, and what the model goes by.
type reply struct {
	status     int // 0: no such host
	retryAfter time.Duration
	maxAge     time.Duration
	movedTo    *monthSource
}

// monthSource is a source of the list with its rule, its site and what the model knows of it.
type monthSource struct {
	address, rule string
	kind          freshet.Type
	config        freshet.Config
	workflow      time.Duration // what one asks for, so that there is no other reason to poll it
	briefing      time.Duration // what one asks for
	shared        bool          // and the river shows it, too
	document      string        // "" for a feed
	channel       string        // what the feed says about itself
	takes         time.Duration
	answers       func(at time.Time) reply // nil: 200 always

	// what the rules say of it
	every     time.Duration
	doubling  bool
	patience  int // failures after which nobody wants it any more; 0 for no end
	delay     time.Duration
	ttl       time.Duration
	skipHours func(hour int) bool // nil for none
	skipDay   time.Weekday        // with skipHours

	id       freshet.ID
	due      time.Time
	last     time.Time
	off      bool
	failures int
	lasting  int // failures in a row that do not pass by themselves
	moves    int
	allowed  []time.Time
}

func (s *monthSource) host() string { return s.address[:strings.IndexByte(s.address, '/')] }

// change is something that a person or a workflow does. It changes the instance, and the model.
type change struct {
	at     time.Duration
	inLife func(t *testing.T, st *store.Store)
	inRule func(m *month, now time.Time)
}

// month is a list of sources, what is done to it, and the model's view of hosts.
type month struct {
	began   time.Time
	end     time.Time
	sources []*monthSource
	changes []change
	free    map[string]time.Time // until when a host is at work or in its delay
	pause   map[string]time.Time // until when it asked to be left alone
	refused map[string]int       // answers of 429 and 503 in a row
}

func (m *month) after(days, hours float64) time.Time {
	return m.began.Truncate(24 * time.Hour).Add(time.Duration((days*24 + hours) * float64(time.Hour)))
}

// during answers badly in a window.
func (m *month) during(fromDay, fromHour, toDay, toHour float64, bad reply) func(time.Time) reply {
	return func(at time.Time) reply {
		if at.After(m.after(fromDay, fromHour)) && at.Before(m.after(toDay, toHour)) {
			return bad
		}
		return reply{status: 200}
	}
}

func newMonth(length time.Duration) *month {
	began := time.Now()
	m := &month{began: began, end: began.Add(length), free: map[string]time.Time{}, pause: map[string]time.Time{}, refused: map[string]int{}}
	delayed := freshet.Config{PollDelaySeconds: new(float64)}
	*delayed.PollDelaySeconds = 45
	page := "<html><head><title>T</title></head><body><article><p>" + strings.Repeat("The pool is open all the year round. ", 20) + "</p></article></body></html>"
	always := func(r reply) func(time.Time) reply { return func(time.Time) reply { return r } }
	limited := func(at time.Time) reply { // daily from ten to twelve
		if h := at.UTC().Hour(); h == 10 || h == 11 {
			return reply{status: 429, retryAfter: 3 * time.Hour}
		}
		return reply{status: 200}
	}
	night := "<skipHours><hour>0</hour><hour>1</hour><hour>2</hour><hour>3</hour><hour>4</hour><hour>5</hour></skipHours><skipDays><day>Sunday</day></skipDays>"
	const quarter, hour = 15 * time.Minute, time.Hour
	there := &monthSource{address: "new.example/feed", rule: "where the one above moved to", every: hour, off: true}
	m.sources = []*monthSource{
		{address: "plain.example/feed", rule: "configured default: every 60 min", every: hour},
		{address: "eight.example/feed", rule: "cadence: every 480 min", every: 8 * hour, config: minutes(480)},
		{address: "floor.example/feed", rule: "cadence of 3 min, least interval 15 min", every: quarter, config: minutes(3)},
		{address: "ttl.example/feed", rule: "ttl of 90 min", every: hour, ttl: 90 * time.Minute, channel: "<ttl>90</ttl>"},
		{address: "long.example/feed", rule: "ttl of 3 days, of which a day counts", every: hour, ttl: 24 * time.Hour, channel: "<ttl>4320</ttl>"},
		{address: "short.example/feed", rule: "ttl of 5 min does not shorten", every: hour, ttl: 5 * time.Minute, channel: "<ttl>5</ttl>"},
		{address: "age.example/feed", rule: "Cache-Control: max-age of 2 h", every: hour, answers: always(reply{status: 200, maxAge: 2 * hour})},
		{address: "night.example/feed", rule: "skipHours 0 to 5, skipDays Sunday", every: hour, skipHours: func(h int) bool { return h < 6 }, skipDay: time.Sunday, channel: night},
		{address: "flaky.example/feed", rule: "every 30 min, 500 for a day and a half: ladder", every: hour / 2, config: minutes(30), answers: m.during(0, 20, 2, 8, reply{status: 500})},
		{address: "doubling.example/feed", rule: "500 for 8 days: exponential", every: hour, doubling: true, config: freshet.Config{Retry: freshet.Exponential}, answers: m.during(1, 3, 9, 3, reply{status: 500})},
		{address: "missing.example/feed", rule: "404: switched off after 15", every: hour, answers: always(reply{status: 404})},
		{address: "nowhere.example/feed", rule: "no such host: switched off after 15", every: hour, answers: always(reply{})},
		{address: "gone.example/feed", rule: "410 on day 1: switched off at once", every: hour, answers: m.during(1, 6, 99, 0, reply{status: 410})},
		{address: "limited.example/1", rule: "429 with Retry-After of 3 h, daily", every: hour, answers: limited},
		{address: "limited.example/2", rule: "on the same host, every 45 min", every: 45 * time.Minute, config: minutes(45), answers: limited},
		{address: "busy.example/feed", rule: "503 without Retry-After for 6 h", every: hour, answers: m.during(1, 12, 1, 18, reply{status: 503})},
		{address: "old.example/feed", rule: "301 from day 1: moved after 3", every: hour, answers: m.during(1, 9, 99, 0, reply{status: 301, movedTo: there})},
		there,
		{address: "slow.example/1", rule: "delay of 20 s by host", every: hour, delay: 20 * time.Second, takes: 2 * time.Second},
		{address: "slow.example/2", rule: "on the same host", every: hour, delay: 20 * time.Second, takes: 2 * time.Second},
		{address: "slow.example/3", rule: "on the same host, delay of 45 s of its own", every: hour, delay: 45 * time.Second, takes: 2 * time.Second, config: delayed},
		{address: "page.example/tariff", rule: "website", kind: freshet.Website, every: hour, document: page},
		{address: "data.example/1", rule: "http, delay of 5 s by type", kind: freshet.HTTP, every: hour, delay: 5 * time.Second, document: "a,b"},
		{address: "data.example/2", rule: "on the same host", kind: freshet.HTTP, every: hour, delay: 5 * time.Second, document: "c,d"},
		{address: "asked.example/feed", rule: "a workflow asks for 20 min for a day", every: hour},
		{address: "hidden.example/feed", rule: "only a workflow asks, for 120 min", every: 2 * hour, workflow: 2 * hour},
		{address: "vain.example/feed", rule: "only a workflow asks, 500: off after 4", every: hour, workflow: hour, answers: always(reply{status: 500}), patience: 4},
		{address: "briefed.example/feed", rule: "briefing of 90 min, 500 for 3 days: exponential", every: 90 * time.Minute, briefing: 90 * time.Minute, doubling: true,
			answers: m.during(0, 9, 3, 9, reply{status: 500})},
		{address: "shared.example/feed", rule: "river and briefing of 45 min, 500: ladder", every: 45 * time.Minute, briefing: 45 * time.Minute, shared: true,
			answers: m.during(0, 16, 1, 16, reply{status: 500})},
		{address: "paused.example/feed", rule: "switched off by hand for 18 h of day 1", every: hour},
	}
	m.changes = append(m.asks("asked.example/feed", 24*hour+3*time.Minute, 46*hour+7*time.Minute, 20*time.Minute),
		m.switches("paused.example/feed", 26*hour+3*time.Minute, false),
		m.refreshes(34*hour+3*time.Minute),
		m.switches("paused.example/feed", 44*hour+3*time.Minute, true))
	slices.SortFunc(m.changes, func(a, b change) int { return cmp.Compare(a.at, b.at) }) // none of them at the moment of a poll
	return m
}

func (m *month) source(address string) *monthSource {
	for _, s := range m.sources {
		if s.address == address {
			return s
		}
	}
	return nil
}

// asks has a workflow watch a source for a time. It sees the source at once (W9).
func (m *month) asks(address string, from, to, asked time.Duration) []change {
	s := m.source(address)
	plain := s.every
	var workflow freshet.Workflow
	return []change{
		{from, func(t *testing.T, st *store.Store) { workflow = s.watchedBy(t, st, asked) },
			func(_ *month, now time.Time) { s.every, s.due = asked, now }},
		{to, func(t *testing.T, st *store.Store) {
			if err := st.DeleteWorkflow(t.Context(), workflow.ID, time.Now()); err != nil {
				t.Error(err)
			}
		}, func(_ *month, now time.Time) { s.every, s.due = plain, later(now, s.last.Add(plain)) }},
	}
}

// switches has a person switch a source on or off. One that is switched on is due at once.
func (m *month) switches(address string, at time.Duration, on bool) change {
	s := m.source(address)
	return change{at, func(t *testing.T, st *store.Store) {
		editSource(t, st, s.id, func(w *store.Watched) {
			if on {
				w.Source = w.Source.Enable(w.Host, time.Now())
			} else {
				w.Source = w.Source.Disable("by hand")
			}
		})
	}, func(m *month, now time.Time) { s.off, s.due = !on, now }}
}

// refreshes has a person refresh everything: what is not switched off is due, except where a server asked for a
// pause.
func (m *month) refreshes(at time.Duration) change {
	return change{at, func(t *testing.T, st *store.Store) {
		if _, err := st.StartRefresh(t.Context(), freshet.ByHand, nil, time.Now()); err != nil {
			t.Error(err)
		}
	}, func(m *month, now time.Time) {
		for _, s := range m.sources {
			if !m.pause[s.host()].After(now) {
				s.due = now
			}
		}
	}}
}

func editSource(t *testing.T, st *store.Store, id freshet.ID, edit func(*store.Watched)) {
	t.Helper()
	if _, err := st.EditSource(t.Context(), id, time.Now(), func(w *store.Watched) error {
		edit(w)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// addTo builds the sites and adds the sources, all at one moment.
func (m *month) addTo(t *testing.T, w *world, st *store.Store, s *Scheduler) {
	t.Helper()
	for _, src := range m.sources {
		w.set(src.address, src.site())
		if src.off {
			continue // the place that another moves to
		}
		src.add(t, st)
	}
	s.Kick()
}

// add adds a source as whoever wants it does.
func (s *monthSource) add(t *testing.T, st *store.Store) {
	t.Helper()
	if s.workflow > 0 {
		s.id = s.watchedBy(t, st, s.workflow).Source
		return
	}
	n := store.NewSource{Type: s.kind, URL: "https://" + s.address, Config: s.config, AtOnce: true}
	if n.Type == "" {
		n.Type = freshet.RSS
	}
	if s.briefing == 0 || s.shared {
		added, err := st.AddSource(t.Context(), n, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		s.id = added.Source.ID
	}
	if s.briefing > 0 {
		b := freshet.NewBriefing("Of "+s.host(), "")
		b.Interval = s.briefing
		if _, err := st.AddBriefing(t.Context(), b, []store.BriefingSource{{NewSource: n}}, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
}

// watchedBy adds a workflow that watches the source.
func (s *monthSource) watchedBy(t *testing.T, st *store.Store, every time.Duration) freshet.Workflow {
	t.Helper()
	w, err := st.AddWorkflow(t.Context(), freshet.Definition{Name: s.address, Enabled: true, Trigger: freshet.Trigger{Type: "poll",
		Config: freshet.TriggerConfig{URL: "https://" + s.address, IntervalMinutes: every.Minutes(), ContentType: freshet.ContentRSS}}}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// live lets the month pass.
func (m *month) live(t *testing.T, st *store.Store, s *Scheduler) {
	t.Helper()
	for _, c := range m.changes {
		if !m.began.Add(c.at).Before(m.end) {
			break
		}
		time.Sleep(time.Until(m.began.Add(c.at)))
		c.inLife(t, st)
		s.Kick()
	}
	time.Sleep(time.Until(m.end))
}

// site answers as the source's rule has it.
func (s *monthSource) site() site {
	doc := s.document
	if doc == "" {
		doc = strings.Replace(document(s.host(), 1), "</title>", "</title>"+s.channel, 1)
	}
	etag := strconv.Quote(s.address)
	return func(r *http.Request) (*http.Response, error) {
		a := s.answer(time.Now())
		sleep(r.Context(), s.takes)
		var header []string
		if a.retryAfter > 0 {
			header = append(header, "Retry-After", strconv.Itoa(int(a.retryAfter.Seconds())))
		}
		if a.maxAge > 0 {
			header = append(header, "Cache-Control", fmt.Sprintf("max-age=%d", int(a.maxAge.Seconds())))
		}
		switch {
		case a.status == 0:
			return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: s.host(), IsNotFound: true}}
		case a.movedTo != nil:
			return answer(a.status, "", append(header, "Location", "https://"+a.movedTo.address)...), nil
		case a.status != 200:
			return answer(a.status, "", header...), nil
		case r.Header.Get("If-None-Match") == etag:
			return answer(304, "", append(header, "ETag", etag)...), nil
		}
		return answer(200, doc, append(header, "ETag", etag)...), nil
	}
}

func (s *monthSource) answer(at time.Time) reply {
	if s.answers == nil {
		return reply{status: 200}
	}
	return s.answers(at)
}

// model computes which requests the rules allow.
func (m *month) model() {
	for _, s := range m.sources {
		s.due = m.began
	}
	changes := m.changes
	for {
		s, at := m.first()
		if len(changes) > 0 && !at.Before(m.began.Add(changes[0].at)) {
			changes[0].inRule(m, m.began.Add(changes[0].at))
			changes = changes[1:]
			continue
		}
		if !at.Before(m.end) {
			return
		}
		m.request(s, at)
	}
}

// first is the source that may be asked first, and when: when it is due, its host is not at work and does not
// want to be left alone. Of several the one that is due the longest goes first.
func (m *month) first() (first *monthSource, at time.Time) {
	at = m.end
	for _, s := range m.sources {
		if s.off {
			continue
		}
		may := later(s.due, later(m.free[s.host()], m.pause[s.host()]))
		if first == nil && may.Before(at) || first != nil && (may.Before(at) || may.Equal(at) && s.due.Before(first.due)) {
			first, at = s, may
		}
	}
	return first, at
}

// request is what the rules say of a request and its answer.
func (m *month) request(s *monthSource, at time.Time) {
	r, host := s.answer(at), s.host()
	s.allowed = append(s.allowed, at)
	s.last = at
	m.free[host] = at.Add(s.takes + s.delay)
	if r.status == 429 || r.status == 503 {
		m.refuses(host, at.Add(s.takes), r.retryAfter)
	} else if r.status != 0 {
		m.refused[host] = 0
	}
	if r.status == 200 || r.movedTo != nil {
		m.succeeds(s, at, r)
	} else {
		s.fails(at, r)
	}
}

func (m *month) refuses(host string, at time.Time, retryAfter time.Duration) {
	if retryAfter == 0 {
		retryAfter = min(time.Minute<<m.refused[host], time.Hour)
	}
	m.refused[host]++
	m.pause[host] = at.Add(retryAfter)
}

func (m *month) succeeds(s *monthSource, at time.Time, r reply) {
	s.failures, s.lasting = 0, 0
	s.due = s.unskipped(at, max(s.every, min(max(s.ttl, r.maxAge), 24*time.Hour)))
	if r.movedTo == nil {
		s.moves = 0
		return
	}
	to := r.movedTo
	to.allowed = append(to.allowed, at)
	if s.moves++; s.moves == 3 {
		s.off, to.off, to.due, to.last = true, false, s.due, at
	}
}

// unskipped is the first moment after a wait that the publisher did not ask to skip; when there is none within a
// day, the last full hour within it.
func (s *monthSource) unskipped(at time.Time, wait time.Duration) time.Time {
	due := at.Add(wait)
	for s.skipHours != nil && (s.skipHours(due.UTC().Hour()) || due.UTC().Weekday() == s.skipDay) {
		hour := due.Truncate(time.Hour).Add(time.Hour)
		if hour.Sub(at) > 24*time.Hour {
			break
		}
		due = hour
	}
	return due
}

func (s *monthSource) fails(at time.Time, r reply) {
	s.failures++
	wait := time.Hour
	switch n := s.failures; {
	case s.doubling:
		wait = min(s.every<<n, 24*time.Hour)
	case n <= 2:
		wait = s.every
	case n == 3:
		wait = 5 * time.Minute
	case n == 4:
		wait = 15 * time.Minute
	}
	s.due = at.Add(wait)
	switch r.status {
	case 0, 404:
		s.lasting++
	default:
		s.lasting = 0
	}
	s.off = s.lasting == 15 || r.status == 410 || s.patience > 0 && s.failures == s.patience
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
