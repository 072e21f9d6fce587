package e2e

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A kill at any moment of a refresh loses no item and doubles none (P3): twenty times, then the
// refresh is left to end.
func TestKilledDuringRefresh(t *testing.T) {
	const feeds, perFeed = 120, 10
	databases(t, func(t *testing.T, env []string) {
		f := startFarm(t, "-feeds", "120", "-hosts", "30", "-items", "10", "-etag", "-latency", "lognormal:15ms")
		env = append(env, "FRESHET_MIN_INTERVAL=1s", "FRESHET_INTERVAL=5s") // what a kill left open is tried again after so long
		s := serve(t, env...)
		if added := s.importFrom(t, f); added != feeds {
			t.Fatalf("%d feeds were added, want %d", added, feeds)
		}
		random := rand.New(rand.NewPCG(20, 26))
		for range 20 {
			s.refresh(t)
			pause := time.NewTimer(time.Duration(random.IntN(120)) * time.Millisecond)
			<-pause.C // not a wait for something: the moment of the kill is what varies
			s.kill()
			s = serve(t, env...)
		}
		last := s.refresh(t)
		if r := s.finish(t, last.ID); r.Failed > 0 {
			t.Errorf("%d of %d polls failed", r.Failed, r.Total)
		}
		checkOnce(t, s.items(t), feeds*perFeed)
		if p := f.stats(t).HostParallelMax; p > 1 {
			t.Logf("a host saw %d requests at once: one of a killed process that its server still answered", p)
		}
	})
}

// Two instances share one PostgreSQL without a double poll; when one is killed, the other goes on
// with its hosts (S6).
func TestTwoInstancesOnPostgres(t *testing.T) {
	const feeds, perFeed = 400, 5
	env := postgres(t)
	f := startFarm(t, "-feeds", "400", "-hosts", "100", "-items", "5", "-etag", "-latency", "lognormal:30ms")
	env = append(env, "FRESHET_INTERVAL=24h") // so that nothing but the refresh asks
	a, b := serve(t, env...), serve(t, env...)
	a.importFrom(t, f)

	first := a.finish(t, b.refresh(t).ID)
	counted := f.stats(t)
	if first.Failed > 0 || counted.Requests != feeds || counted.UniqueFeeds != feeds {
		t.Errorf("%d requests for %d of %d feeds, %d failed; want each once", counted.Requests, counted.UniqueFeeds, feeds, first.Failed)
	}
	if counted.HostParallelMax != 1 {
		t.Errorf("a host saw %d requests at once", counted.HostParallelMax)
	}
	checkOnce(t, a.items(t), feeds*perFeed)

	f.reset(t)
	second := a.refresh(t)
	b.kill()
	a.finish(t, second.ID)
	if r := f.stats(t); r.UniqueFeeds != feeds {
		t.Errorf("%d of %d feeds were polled after one instance was killed", r.UniqueFeeds, feeds)
	}
	checkOnce(t, a.items(t), feeds*perFeed)
}
