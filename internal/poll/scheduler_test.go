package poll

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"freshet"
	"freshet/internal/store"
)

func TestHostGroupsPolledInParallel(t *testing.T) {
	t.Run("Host groups polled in parallel", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, st := newWorld(), openStore(t, freshet.DefaultSettings())
			s := New(st, w.reader(), calm(st.Settings()))
			serve(t, s)
			const hosts = 20
			for i := range hosts {
				host := fmt.Sprintf("h%d.example", i)
				w.set(host+"/a", constant(time.Second, document(host, 1)))
				w.set(host+"/b", constant(time.Second, document(host, 2)))
				watch(t, st, "https://"+host+"/a", freshet.Config{})
				watch(t, st, "https://"+host+"/b", freshet.Config{})
			}
			s.Kick()
			time.Sleep(500 * time.Millisecond)
			synctest.Wait()
			if n := w.underWay(); n != hosts {
				t.Errorf("%d requests under way, want one to each of %d hosts", n, hosts)
			}
			time.Sleep(3 * time.Second)
			if got := len(titles(t, st)); got != 2*hosts {
				t.Errorf("%d items, want %d", got, 2*hosts)
			}
			for host, n := range w.mostAtOnce() {
				if n != 1 {
					t.Errorf("%s had %d requests at once", host, n)
				}
			}
		})
	})
}

// S6: sources of a host one after the other, with the delay after each and between visits.
func TestDelayWithinAHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings := freshet.DefaultSettings()
		settings.HostDelay = map[string]time.Duration{"slow.example": 3 * time.Second}
		w, st := newWorld(), openStore(t, settings)
		s := New(st, w.reader(), Options{Settings: settings})
		serve(t, s)
		time.Sleep(time.Minute) // beyond the delay after a takeover
		own := freshet.Config{PollDelaySeconds: new(float64)}
		*own.PollDelaySeconds = 7
		for i := range 4 {
			path := fmt.Sprintf("slow.example/%d", i)
			w.set(path, constant(time.Second, document("slow.example", i)))
			config := freshet.Config{}
			if i == 0 {
				config = own
			}
			watch(t, st, "https://"+path, config)
		}
		s.Kick()
		time.Sleep(time.Minute)
		if w.count() != 4 {
			t.Fatalf("%d requests, want 4", w.count())
		}
		asked := w.all()
		for i := 1; i < 4; i++ {
			want := 3 * time.Second
			if strings.HasSuffix(asked[i-1].url, "/0") {
				want = 7 * time.Second
			}
			if gap := asked[i].at.Sub(asked[i-1].ended); gap != want {
				t.Errorf("%v between %s and %s, want %v", gap, asked[i-1].url, asked[i].url, want)
			}
		}
	})
}

// S6: many sources of one slow host starve nobody, and its delay holds no request slot.
func TestManySourcesOfOneHostStarveNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings := freshet.DefaultSettings()
		settings.HostDelay = map[string]time.Duration{"big.example": 10 * time.Second}
		w, st := newWorld(), openStore(t, settings)
		s := New(st, w.reader(), Options{Settings: settings, Concurrency: 4})
		serve(t, s)
		time.Sleep(time.Minute)
		for i := range 300 {
			path := fmt.Sprintf("big.example/%d", i)
			w.set(path, constant(9*time.Second, document("big.example", i)))
			watch(t, st, "https://"+path, freshet.Config{})
		}
		for i := range 50 {
			host := fmt.Sprintf("h%d.example", i)
			w.set(host+"/", constant(100*time.Millisecond, document(host, i)))
			watch(t, st, "https://"+host+"/", freshet.Config{})
		}
		s.Kick()
		time.Sleep(11 * time.Second)
		small := 0
		for _, a := range w.all() {
			if a.host != "big.example" && a.status == 200 {
				small++
			}
		}
		if small != 50 {
			t.Errorf("%d of 50 small hosts were read beside the big one", small)
		}
		if n := w.mostOfAll(); n > 4 {
			t.Errorf("%d requests at once, the limit is 4", n)
		}
	})
}

// 500 hosts go in parallel up to the limit, and not beyond.
func TestConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, st := newWorld(), openStore(t, freshet.DefaultSettings())
		s := New(st, w.reader(), Options{Settings: st.Settings(), Concurrency: 50})
		serve(t, s)
		var list []store.NewSource
		for i := range 500 {
			host := fmt.Sprintf("h%d.example", i)
			w.set(host+"/", constant(time.Second, document(host, i)))
			list = append(list, store.NewSource{URL: "https://" + host + "/", AtOnce: true})
		}
		if _, err := st.AddSources(t.Context(), list, time.Now()); err != nil {
			t.Fatal(err)
		}
		s.Kick()
		time.Sleep(11 * time.Second)
		if n := w.mostOfAll(); n != 50 {
			t.Errorf("%d requests at once, want 50", n)
		}
		if n := len(titles(t, st)); n != 500 {
			t.Errorf("%d of 500 hosts of a second each were read in 11 s: slots stand empty", n)
		}
	})
}

func TestDisabledSourceNeverPolled(t *testing.T) {
	t.Run("Disabled source never polled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, st := newWorld(), openStore(t, freshet.DefaultSettings())
			w.set("a.example/", constant(0, document("a.example", 1)))
			src := watch(t, st, "https://a.example/", freshet.Config{})
			if _, err := st.EditSource(t.Context(), src.ID, time.Now(), func(w *store.Watched) error {
				w.Source = w.Source.Disable("by hand")
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			s := New(st, w.reader(), calm(st.Settings()))
			running(t, s)
			time.Sleep(time.Hour)
			if _, err := st.StartRefresh(t.Context(), freshet.ByHand, nil, time.Now()); err != nil {
				t.Fatal(err)
			}
			s.Kick()
			time.Sleep(time.Hour)
			if w.count() != 0 {
				t.Errorf("%d requests", w.count())
			}
		})
	})
}

// S3, S1: what a person added is read when kicked; what becomes due is read then, not at the next tick.
func TestDueSourcesDoNotWaitForATick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, st := newWorld(), openStore(t, freshet.DefaultSettings())
		w.set("a.example/", constant(0, document("a.example", 1)))
		s := New(st, w.reader(), Options{Settings: st.Settings(), Tick: time.Hour, LeaseTTL: time.Hour})
		serve(t, s)
		watch(t, st, "https://a.example/", freshet.Config{})
		s.Kick()
		synctest.Wait()
		time.Sleep(time.Second)
		if w.count() != 1 {
			t.Fatalf("%d requests after a kick, want 1", w.count())
		}
		time.Sleep(15 * time.Minute)
		if asked := w.of("https://a.example/"); len(asked) != 2 || asked[1].at.Sub(asked[0].at) > 15*time.Minute+100*time.Millisecond {
			t.Errorf("asked %+v, want the second time after 15 min", asked)
		}
	})
}

func TestLogMessagesShowSourceURL(t *testing.T) {
	t.Run("Log messages show source URL", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, st := newWorld(), openStore(t, freshet.DefaultSettings())
			w.set("a.example/feed?key=s3cret", constant(0, document("a.example", 1, 2, 3)))
			w.set("b.example/feed", func(*http.Request) (*http.Response, error) { return answer(500, ""), nil })
			var log logbook
			s := New(st, w.reader(), logged(calm(st.Settings()), log.logger(slog.LevelDebug)))
			serve(t, s)
			src := watch(t, st, "https://user:pass@a.example/feed?key=s3cret", freshet.Config{})
			watch(t, st, "https://b.example/feed", freshet.Config{})
			s.Kick()
			time.Sleep(20 * time.Minute)
			got := log.String()
			for _, want := range []string{
				`level=INFO msg="[Polling] source polled" source="https://a.example/feed?key=REDACTED" host=a.example status=200 new=3`,
				`level=DEBUG msg="[Polling] source polled" source="https://a.example/feed?key=REDACTED" host=a.example status=304 new=0`,
				`level=INFO msg="[Polling] source failed" source=https://b.example/feed host=b.example status=500`,
			} {
				if !strings.Contains(got, want) {
					t.Errorf("no line with %s in\n%s", want, got)
				}
			}
			for _, secret := range []string{"pass", "s3cret", src.ID.String()} {
				if strings.Contains(got, secret) {
					t.Errorf("the log shows %q", secret)
				}
			}
			for line := range strings.Lines(got) {
				if !strings.Contains(line, `msg="[Polling] `) {
					t.Errorf("a line without the prefix: %s", line)
				}
			}
		})
	})
}

// panics is a reader with a fault for one address.
type panics struct {
	Reader
	url string
}

func (p panics) Turn() Turn { return panicTurn{p.Reader.Turn(), p.url} }

type panicTurn struct {
	Turn
	url string
}

func (p panicTurn) Read(ctx context.Context, s freshet.Source) *freshet.Outcome {
	if s.URL == p.url {
		panic("a fault")
	}
	return p.Turn.Read(ctx, s)
}

// S6: a panic in one group never stops another, nor the rest of its own.
func TestPanicInOneGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, st := newWorld(), openStore(t, freshet.DefaultSettings())
		s := New(st, panics{w.reader(), "https://a.example/2"}, calm(st.Settings()))
		serve(t, s)
		for _, path := range []string{"a.example/1", "a.example/2", "a.example/3", "b.example/1"} {
			w.set(path, constant(time.Second, document(path[:9], int(path[10]))))
			watch(t, st, "https://"+path, freshet.Config{})
		}
		s.Kick()
		time.Sleep(10 * time.Second)
		if got := titles(t, st); len(got) != 3 {
			t.Errorf("river = %v, want all but the faulty source", got)
		}
		bad, err := st.FindSource(t.Context(), "https://a.example/2")
		if err != nil || bad.Source.LastFailure == nil || bad.Source.LastFailure.Code != "internal" || bad.Source.Failures != 1 {
			t.Errorf("the faulty source is %+v, %v", bad.Source, err)
		}
	})
}

// A 429 cools the whole host down: its other sources wait, a refresh by hand too, and are read after.
func TestCoolDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, st := newWorld(), openStore(t, freshet.DefaultSettings())
		s := New(st, w.reader(), calm(st.Settings()))
		serve(t, s)
		var cold atomic.Bool
		cold.Store(true)
		for i := range 5 {
			path := fmt.Sprintf("a.example/%d", i)
			read := constant(time.Second, document("a.example", i))
			w.set(path, func(r *http.Request) (*http.Response, error) {
				if cold.Load() {
					return answer(429, "", "Retry-After", "600"), nil
				}
				return read(r)
			})
			watch(t, st, "https://"+path, freshet.Config{})
		}
		s.Kick()
		time.Sleep(time.Minute)
		if w.count() != 1 {
			t.Errorf("%d requests to a host that asked for a pause at the first", w.count())
		}
		cold.Store(false)
		started, err := st.StartRefresh(t.Context(), freshet.ByHand, nil, time.Now())
		if err != nil || len(started.PutOff) != 5 {
			t.Errorf("refresh: %d put off, %v; want all 5", len(started.PutOff), err)
		}
		s.Kick()
		time.Sleep(8 * time.Minute)
		if w.count() != 1 {
			t.Errorf("%d requests within the pause", w.count())
		}
		time.Sleep(2 * time.Minute)
		if w.count() != 5 || len(titles(t, st)) != 4 {
			t.Errorf("after the pause: %d requests, %d items; want the four others read", w.count(), len(titles(t, st)))
		}
		time.Sleep(5 * time.Minute)
		if got := titles(t, st); len(got) != 5 {
			t.Errorf("%d items after the interval of the one that failed, want 5", len(got))
		}
	})
}

// A stop lets requests under way end, records them, gives the rest back and releases the leases.
func TestStopLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, st := newWorld(), openStore(t, freshet.DefaultSettings())
		s := New(st, w.reader(), calm(st.Settings()))
		stop := serve(t, s)
		daily := freshet.Config{Cadence: &freshet.Cadence{EveryMinutes: 24 * 60}}
		for i := range 3 {
			for j := range 4 {
				path := fmt.Sprintf("h%d.example/%d", i, j)
				w.set(path, constant(2*time.Second, document(path[:10], i, j+10)))
				watch(t, st, "https://"+path, daily)
			}
		}
		w.set("silent.example/", constant(time.Hour, document("silent.example", 1)))
		watch(t, st, "https://silent.example/", daily)
		s.Kick()
		time.Sleep(5 * time.Second) // the third of each host is under way
		began := time.Now()
		stop()
		if d := time.Since(began); d > longestGrace+time.Second {
			t.Errorf("the stop took %v", d)
		}
		asked := w.count()
		if asked != 3*3+1 {
			t.Fatalf("%d requests before and after the stop, want 10", asked)
		}
		if shards, err := st.AcquireFree(t.Context(), "another", time.Minute, time.Now()); err != nil || len(shards) != store.Shards {
			t.Errorf("%d shards are free after the stop, %v", len(shards), err)
		}
		if err := st.ReleaseLeases(t.Context(), "another"); err != nil {
			t.Fatal(err)
		}
		read := 0
		all, err := st.Sources(t.Context(), store.SourceFilter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			if !s.Source.LastSuccessAt.IsZero() {
				read++
			}
			if s.Source.Failures != 0 {
				t.Errorf("%s was counted as failed: %v", s.Source.URL, s.Source.LastFailure)
			}
		}
		if read != 9 {
			t.Errorf("%d sources are recorded, want the 9 whose answer came", read)
		}
		due := 0
		for _, s := range all {
			if s.Source.Due(time.Now()) {
				due++
			}
		}
		if due != 3 {
			t.Errorf("%d sources are due after the stop, want the 3 that were not asked", due)
		}
	})
}

// S6: with two instances a host is polled by one at a time, and what a dead one held is taken over.
func TestTwoInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, st := newWorld(), openStore(t, freshet.DefaultSettings())
		const hosts, each = 16, 2
		var list []store.NewSource
		for i := range hosts {
			for j := range each {
				path := fmt.Sprintf("h%d.example/%d", i, j)
				w.set(path, constant(300*time.Millisecond, document(fmt.Sprintf("h%d.example", i), j)))
				list = append(list, store.NewSource{URL: "https://" + path, AtOnce: true})
			}
		}
		var polls [2]atomic.Int64
		var dead atomic.Bool
		options := func(i int) Options {
			return Options{Settings: st.Settings(), Tick: time.Minute, LeaseTTL: 2 * time.Minute, Finished: func(f store.Finished, _ *freshet.Outcome) {
				if !f.Recorded {
					t.Errorf("a double poll of %s", f.Source.URL)
				}
				polls[i].Add(1)
			}}
		}
		first := New(dying{Store: st, dead: &dead}, w.reader(), options(0))
		serve(t, first)
		if _, err := st.AddSources(t.Context(), list, time.Now()); err != nil {
			t.Fatal(err)
		}
		first.Kick()
		time.Sleep(3 * time.Second)
		stopSecond := running(t, New(st, w.reader(), options(1)))
		time.Sleep(35 * time.Minute)
		if polls[0].Load() == 0 || polls[1].Load() == 0 {
			t.Fatalf("polls are %d and %d: the hosts are not shared", polls[0].Load(), polls[1].Load())
		}
		for host, n := range w.mostAtOnce() {
			if n != 1 {
				t.Errorf("%s had %d requests at once", host, n)
			}
		}
		for _, s := range list {
			asked := w.of(s.URL)
			for i := 1; i < len(asked); i++ {
				if gap := asked[i].at.Sub(asked[i-1].at); gap < 15*time.Minute {
					t.Errorf("%s was asked again after %v", s.URL, gap)
				}
			}
		}
		// The first one dies: nothing of what it does reaches the store any more.
		dead.Store(true)
		at := time.Now()
		time.Sleep(18 * time.Minute)
		for _, s := range list {
			src, err := st.FindSource(t.Context(), s.URL)
			if err != nil || src.Source.LastPollAt.Before(at.Add(time.Minute-15*time.Minute)) {
				t.Errorf("%s was last polled at %v, the other died at %v (%v)", s.URL, src.Source.LastPollAt, at, err)
			}
		}
		stopSecond()
	})
}

var errDead = errors.New("killed")

// dying is a store as a killed process sees it: nothing reaches it any more.
type dying struct {
	Store
	dead *atomic.Bool
}

func (d dying) Acquire(ctx context.Context, owner string, ttl time.Duration, now time.Time) ([]int, error) {
	if d.dead.Load() {
		return nil, errDead
	}
	return d.Store.Acquire(ctx, owner, ttl, now)
}

func (d dying) AcquireFree(ctx context.Context, owner string, ttl time.Duration, now time.Time) ([]int, error) {
	if d.dead.Load() {
		return nil, errDead
	}
	return d.Store.AcquireFree(ctx, owner, ttl, now)
}

func (d dying) Claim(ctx context.Context, r store.ClaimRequest, now time.Time) ([]store.Watched, error) {
	if d.dead.Load() {
		return nil, errDead
	}
	return d.Store.Claim(ctx, r, now)
}

func (d dying) NextDue(ctx context.Context, shards []int) (time.Time, error) {
	if d.dead.Load() {
		return time.Time{}, errDead
	}
	return d.Store.NextDue(ctx, shards)
}

func (d dying) FinishPolls(ctx context.Context, polls []store.Poll, now time.Time) ([]store.Finished, error) {
	if d.dead.Load() {
		return nil, errDead
	}
	return d.Store.FinishPolls(ctx, polls, now)
}

func (d dying) GiveBack(ctx context.Context, polls []store.Poll, again time.Time) error {
	if d.dead.Load() {
		return errDead
	}
	return d.Store.GiveBack(ctx, polls, again)
}

func (d dying) Forgive(ctx context.Context, ids []freshet.ID, again time.Time) error {
	if d.dead.Load() {
		return errDead
	}
	return d.Store.Forgive(ctx, ids, again)
}

func (d dying) SpreadOverdue(ctx context.Context, shards []int, now time.Time) (int, error) {
	if d.dead.Load() {
		return 0, errDead
	}
	return d.Store.SpreadOverdue(ctx, shards, now)
}

func (d dying) ReleaseLeases(ctx context.Context, owner string) error {
	if d.dead.Load() {
		return nil
	}
	return d.Store.ReleaseLeases(ctx, owner)
}

// S5: our own network is down: polling pauses and probes, nothing is counted, and the page is told.
func TestOwnNetworkDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, st := newWorld(), &stuck{Store: openStore(t, freshet.DefaultSettings())}
		s := New(st, w.reader(), calm(st.Settings()))
		serve(t, s)
		var down atomic.Bool
		const hosts = 12
		var ids []freshet.ID
		for i := range hosts {
			host := fmt.Sprintf("h%d.example", i)
			read := constant(100*time.Millisecond, document(host, i))
			w.set(host+"/", func(r *http.Request) (*http.Response, error) {
				if down.Load() {
					return nil, &net.OpError{Op: "dial", Err: errors.New("network is unreachable")}
				}
				return read(r)
			})
			ids = append(ids, watch(t, st.Store, "https://"+host+"/", freshet.Config{}).ID)
		}
		s.Kick()
		time.Sleep(5 * time.Minute)
		if since, _ := s.Paused(); !since.IsZero() || w.count() != hosts {
			t.Fatalf("paused since %v after %d requests", since, w.count())
		}
		down.Store(true)
		before := w.count()
		time.Sleep(2 * time.Hour)
		since, reason := s.Paused()
		if since.IsZero() || !strings.Contains(reason, "network") {
			t.Fatalf("not paused: %q", reason)
		}
		if n := w.count() - before; n < 2*3600/20 || n > hosts+2*3600/15+5 {
			t.Errorf("%d requests in two hours without a network, want about one probe every 15 s", n)
		}
		for _, id := range ids {
			if src := sourceOf(t, st.Store, id).Source; src.Failures != 0 || src.Health() != freshet.Healthy {
				t.Errorf("%s is %s with %d failures", src.URL, src.Health(), src.Failures)
			}
		}
		down.Store(false)
		time.Sleep(time.Minute)
		if since, _ := s.Paused(); !since.IsZero() {
			t.Error("still paused though the network is back")
		}
		time.Sleep(20 * time.Minute)
		for _, id := range ids {
			if src := sourceOf(t, st.Store, id).Source; time.Since(src.LastSuccessAt) > 20*time.Minute {
				t.Errorf("%s was last read %v ago", src.URL, time.Since(src.LastSuccessAt))
			}
		}
		if n := st.spread.Load(); n != 2 {
			t.Errorf("overdue sources were spread %d times, want at the start and after the pause", n)
		}
	})
}

// One dead host among good ones is that host's own failure.
func TestDeadHostsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, st := newWorld(), openStore(t, freshet.DefaultSettings())
		s := New(st, w.reader(), calm(st.Settings()))
		serve(t, s)
		var deadOnes []freshet.ID
		for i := range 6 {
			deadOnes = append(deadOnes, watch(t, st, fmt.Sprintf("https://dead%d.example/", i), freshet.Config{}).ID)
			host := fmt.Sprintf("good%d.example", i)
			w.set(host+"/", constant(time.Second, document(host, i)))
			watch(t, st, "https://"+host+"/", freshet.Config{})
		}
		s.Kick()
		time.Sleep(5 * time.Hour)
		for _, id := range deadOnes {
			if src := sourceOf(t, st, id).Source; src.Health() != freshet.Unhealthy {
				t.Errorf("%s is %s after 5 hours", src.URL, src.Health())
			}
		}
	})
}

// S5: what is overdue after a long stop is spread.
func TestSpreadAfterALongStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, st := newWorld(), openStore(t, freshet.DefaultSettings())
		s := New(st, w.reader(), calm(st.Settings()))
		stop := serve(t, s)
		const hosts = 30
		for i := range hosts {
			host := fmt.Sprintf("h%d.example", i)
			w.set(host+"/", constant(0, document(host, i)))
			watch(t, st, "https://"+host+"/", freshet.Config{})
		}
		s.Kick()
		time.Sleep(time.Minute)
		stop()
		time.Sleep(24 * time.Hour)
		before := w.count()
		running(t, New(st, w.reader(), calm(st.Settings())))
		time.Sleep(10 * time.Second)
		if n := w.count() - before; n > hosts/2 {
			t.Errorf("%d of %d overdue sources were fired in the first 10 s", n, hosts)
		}
		time.Sleep(6 * time.Minute)
		if n := w.count() - before; n < hosts {
			t.Errorf("%d of %d overdue sources were polled within 6 min", n, hosts)
		}
	})
}

// stuck is a store whose next answer takes a while, as if the machine had slept.
type stuck struct {
	*store.Store
	sleep  atomic.Int64
	spread atomic.Int64

	mu    sync.Mutex
	asked []string // when it was asked what is due, how long it slept, and what went wrong
}

func (s *stuck) NextDue(ctx context.Context, shards []int) (time.Time, error) {
	at, slept := time.Now(), time.Duration(s.sleep.Swap(0))
	time.Sleep(slept)
	next, err := s.Store.NextDue(ctx, shards)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, fmt.Sprintf("%s slept %v, %v", at.Format(time.TimeOnly), slept, err))
	return next, err
}

func (s *stuck) SpreadOverdue(ctx context.Context, shards []int, now time.Time) (int, error) {
	s.spread.Add(1)
	return s.Store.SpreadOverdue(ctx, shards, now)
}

// unleased is a store that gives no leases while it is set.
type unleased struct {
	*stuck
	down atomic.Bool
}

func (s *unleased) Acquire(ctx context.Context, owner string, ttl time.Duration, now time.Time) ([]int, error) {
	if s.down.Load() {
		return nil, errors.New("the database is gone")
	}
	return s.Store.Acquire(ctx, owner, ttl, now)
}

// S1, S6: an instance is ready while it would poll what is due, and says what is missing when it would not.
func TestReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &unleased{stuck: &stuck{Store: openStore(t, freshet.DefaultSettings())}}
		s := New(st, newWorld().reader(), Options{Settings: freshet.DefaultSettings(), Tick: time.Minute, LeaseTTL: 6 * time.Minute})
		want := func(reason string) {
			t.Helper()
			synctest.Wait()
			if err := s.Ready(); err == nil && reason != "" || err != nil && err.Error() != reason {
				t.Errorf("not ready: %v, want %q", err, reason)
			}
		}
		want("polling does not run")
		st.down.Store(true)
		stop := running(t, s)
		want("polling has no leases on hosts")
		st.down.Store(false)
		time.Sleep(2 * time.Second)
		want("")
		time.Sleep(10 * time.Minute)
		want("")
		st.down.Store(true)
		time.Sleep(7 * time.Minute)
		want("polling has no leases on hosts")
		st.down.Store(false)
		time.Sleep(2 * time.Second)
		want("")
		st.sleep.Store(int64(10 * time.Minute))
		time.Sleep(4 * time.Minute)
		want("polling stands still")
		time.Sleep(10 * time.Minute)
		want("")
		stop()
		want("polling does not run")
	})
}

func TestSpreadAfterASuspend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &stuck{Store: openStore(t, freshet.DefaultSettings())}
		running(t, New(st, newWorld().reader(), calm(freshet.DefaultSettings())))
		time.Sleep(90 * time.Minute)
		if n := st.spread.Load(); n != 1 {
			t.Fatalf("spread %d times before the suspend, want once at the start", n)
		}
		st.sleep.Store(int64(2 * time.Hour))
		time.Sleep(5 * time.Hour)
		st.mu.Lock()
		defer st.mu.Unlock()
		if n := st.spread.Load(); n != 2 {
			t.Errorf("spread %d times, want once more after the suspend; asked at %q", n, st.asked)
		}
	})
}

// S4: sources added in bulk have their first polls spread over the interval, and a restart does not roll again.
func TestStartupJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, st := newWorld(), openStore(t, freshet.DefaultSettings())
		const hosts = 60
		var list []store.NewSource
		for i := range hosts {
			host := fmt.Sprintf("h%d.example", i)
			w.set(host+"/", constant(0, document(host, i)))
			list = append(list, store.NewSource{URL: "https://" + host + "/"})
		}
		if _, err := st.AddSources(t.Context(), list, time.Now()); err != nil {
			t.Fatal(err)
		}
		next := map[string]time.Time{}
		for _, n := range list {
			src, err := st.FindSource(t.Context(), n.URL)
			if err != nil || src.Source.Cursor.SyntheticPollAt == nil {
				t.Fatalf("%s has no synthetic last poll, %v", n.URL, err)
			}
			next[n.URL] = src.Source.NextPollAt
		}
		for range 5 { // restarts
			stop := running(t, New(st, w.reader(), calm(st.Settings())))
			time.Sleep(time.Second)
			stop()
		}
		running(t, New(st, w.reader(), calm(st.Settings())))
		time.Sleep(15 * time.Minute)
		buckets := map[time.Time]int{}
		for _, n := range list {
			asked := w.of(n.URL)
			if len(asked) == 0 {
				t.Errorf("%s was not polled within its interval", n.URL)
				continue
			}
			if late := asked[0].at.Sub(next[n.URL]); late < 0 || late > 2*time.Second {
				t.Errorf("%s was first polled %v after its time: a restart rolled again", n.URL, late)
			}
			buckets[asked[0].at.Truncate(3*time.Minute)]++
		}
		for at, n := range buckets {
			if n > hosts/2 {
				t.Errorf("%d of %d first polls within 3 min of %v", n, hosts, at)
			}
		}
	})
}

// P3: a database that is locked or full for a while costs no outcome and no double item.
func TestDatabaseRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, st := newWorld(), openStore(t, freshet.DefaultSettings())
		var locked atomic.Bool
		var log logbook
		s := New(dying{Store: st, dead: &locked}, w.reader(), logged(Options{Settings: st.Settings()}, log.logger(slog.LevelInfo)))
		serve(t, s)
		const hosts = 10
		for i := range hosts {
			host := fmt.Sprintf("h%d.example", i)
			w.set(host+"/", constant(time.Second, document(host, i)))
			watch(t, st, "https://"+host+"/", freshet.Config{})
		}
		s.Kick()
		time.Sleep(500 * time.Millisecond)
		locked.Store(true) // after the claims, before the outcomes
		time.Sleep(time.Minute)
		locked.Store(false)
		time.Sleep(10 * time.Second)
		if got := titles(t, st); len(got) != hosts {
			t.Errorf("%d items, want %d", len(got), hosts)
		}
		for _, said := range []string{"does not say what is due", "outcomes could not be recorded", "leases could not be renewed", "recorded again"} {
			if n := strings.Count(log.String(), said); n != 1 {
				t.Errorf("%q is said %d times:\n%s", said, n, log.String())
			}
		}
		if w.count() != hosts {
			t.Errorf("%d requests, want %d: what was read was asked for again", w.count(), hosts)
		}
	})
}

func TestRunRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, st := newWorld(), openStore(t, freshet.DefaultSettings())
		const hosts = 10
		var ids []freshet.ID
		for i := range hosts {
			host := fmt.Sprintf("h%d.example", i)
			w.set(host+"/", constant(time.Second, document(host, i)))
			ids = append(ids, watch(t, st, "https://"+host+"/", freshet.Config{}).ID)
		}
		w.set("h3.example/", func(*http.Request) (*http.Response, error) { return answer(404, ""), nil })
		started, err := st.StartRefresh(t.Context(), freshet.ByIngest, ids[:7], time.Now())
		if err != nil || started.Total != 7 {
			t.Fatalf("refresh of %d, %v", started.Total, err)
		}
		if err := New(st, w.reader(), calm(st.Settings())).RunRefresh(t.Context(), started.ID); err != nil {
			t.Fatal(err)
		}
		r, err := st.Refresh(t.Context(), started.ID)
		if err != nil || r.Running() || r.Done != 7 || r.Failed != 1 || r.NewItems != 6 || w.count() != 7 {
			t.Errorf("refresh = %+v, %v after %d requests", r, err, w.count())
		}
		if shards, _ := st.AcquireFree(t.Context(), "another", time.Minute, time.Now()); len(shards) != store.Shards {
			t.Errorf("%d shards are free afterwards", len(shards))
		}
	})
}

// A one-shot run beside a serving instance leaves the hosts to it and waits for the end.
func TestRunRefreshBesideRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, st := newWorld(), openStore(t, freshet.DefaultSettings())
		s := New(st, w.reader(), calm(st.Settings()))
		serve(t, s)
		for i := range 10 {
			host := fmt.Sprintf("h%d.example", i)
			w.set(host+"/", constant(time.Second, document(host, i)))
			watch(t, st, "https://"+host+"/", freshet.Config{})
		}
		s.Kick()
		time.Sleep(time.Minute)
		started, err := st.StartRefresh(t.Context(), freshet.ByIngest, nil, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if err := New(st, w.reader(), calm(st.Settings())).RunRefresh(t.Context(), started.ID); err != nil {
			t.Fatal(err)
		}
		if w.count() != 20 {
			t.Errorf("%d requests, want 20", w.count())
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := New(st, w.reader(), Options{}).RunRefresh(ctx, started.ID); !errors.Is(err, context.Canceled) {
			t.Errorf("a stopped run returns %v", err)
		}
		if err := New(st, w.reader(), Options{}).RunRefresh(t.Context(), 12345); !errors.Is(err, freshet.ErrNotFound) {
			t.Errorf("a run for no refresh returns %v", err)
		}
	})
}

// Manual refresh attempts all feeds immediately, including unhealthy feeds (river seed 7.2).
func TestManualRefresh(t *testing.T) {
	t.Run("Manual refresh attempts all feeds immediately, including unhealthy feeds", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, st := newWorld(), openStore(t, freshet.DefaultSettings())
			w.set("good.example/", constant(0, document("good.example", 1)))
			w.set("bad.example/", func(*http.Request) (*http.Response, error) { return answer(500, ""), nil })
			s := New(st, w.reader(), calm(st.Settings()))
			serve(t, s)
			watch(t, st, "https://good.example/", freshet.Config{})
			bad := watch(t, st, "https://bad.example/", freshet.Config{})
			s.Kick()
			time.Sleep(3 * time.Hour)
			if h := sourceOf(t, st, bad.ID).Source.Health(); h != freshet.Unhealthy {
				t.Fatalf("the failing source is %s", h)
			}
			time.Sleep(10 * time.Minute)
			before := len(w.of("https://bad.example/")) + len(w.of("https://good.example/"))
			began := time.Now()
			started, err := st.StartRefresh(t.Context(), freshet.ByHand, nil, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			s.Kick()
			for {
				r, err := st.Refresh(t.Context(), started.ID)
				if err != nil {
					t.Fatal(err)
				}
				if !r.Running() {
					if r.Done != 2 || r.Failed != 1 {
						t.Errorf("refresh = %+v", r)
					}
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			if d := time.Since(began); d > time.Second {
				t.Errorf("the refresh took %v", d)
			}
			if n := len(w.of("https://bad.example/")) + len(w.of("https://good.example/")) - before; n != 2 {
				t.Errorf("%d requests, want 2", n)
			}
		})
	})
}

// BenchmarkSweep polls 500 hosts with four sources each, first everything new, then all unchanged.
func BenchmarkSweep(b *testing.B) {
	for _, batch := range []string{"first", "unchanged"} {
		b.Run(batch, func(b *testing.B) {
			b.ReportAllocs()
			var cpu time.Duration
			for b.Loop() {
				b.StopTimer()
				st, w, ids := farm(b)
				if batch == "unchanged" {
					sweep(b, st, w, ids)
				}
				b.StartTimer()
				before := cpuTime(b)
				sweep(b, st, w, ids)
				cpu += cpuTime(b) - before
			}
			b.ReportMetric(cpu.Seconds()/float64(b.N)/farmFeeds*1000, "cpu-s/1000polls")
		})
	}
}

const farmFeeds = 2000

// cpuTime is what this process has used: the machine's other work does not count.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func farm(b *testing.B) (*store.Store, *world, []freshet.ID) {
	st, err := store.Open(b.Context(), b.TempDir()+"/farm.db", store.Options{Settings: freshet.DefaultSettings()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { st.Close() })
	w := newWorld()
	var list []store.NewSource
	var thirty []int
	for i := range 30 {
		thirty = append(thirty, i)
	}
	for i := range farmFeeds {
		path := fmt.Sprintf("h%d.example/%d", i%500, i)
		w.set(path, constant(0, document(fmt.Sprintf("f%d.example", i), thirty...)))
		list = append(list, store.NewSource{URL: "https://" + path, AtOnce: true})
	}
	added, err := st.AddSources(b.Context(), list, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	var ids []freshet.ID
	for _, a := range added {
		ids = append(ids, a.Source.ID)
	}
	return st, w, ids
}

func sweep(b *testing.B, st *store.Store, w *world, ids []freshet.ID) {
	started, err := st.StartRefresh(b.Context(), freshet.ByHand, ids, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	if err := New(st, w.reader(), calm(st.Settings())).RunRefresh(b.Context(), started.ID); err != nil {
		b.Fatal(err)
	}
	if r, _ := st.Refresh(b.Context(), started.ID); r.Done != len(ids) || r.Failed != 0 {
		b.Errorf("refresh = %+v", r)
	}
}
