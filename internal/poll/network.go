package poll

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"freshet"
	"freshet/internal/store"
)

const (
	downHosts  = 5                // so many hosts that were all unreachable
	downWithin = time.Minute      // within this
	downSettle = 2 * time.Second  // and none that answered meanwhile: requests under way have their say
	probeEvery = 15 * time.Second // one source is tried so often
	probeGap   = 5 * time.Second  // and never sooner, however often somebody kicks
	probeAgain = time.Minute      // before the same source is tried again, so that others are
)

// network is the verdict about our own network (S5): down when at least five hosts were tried within a
// minute and none could be reached, up again when one is. A nil network is always up.
type network struct {
	kick func()
	log  *slog.Logger

	mu      sync.Mutex // guards the rest
	streak  []miss     // since a host was last reached, of the last minute
	settle  *time.Timer
	since   time.Time // of the pause
	blamed  []freshet.ID
	probed  time.Time
	resumed bool // a pause ended and what it left overdue is not spread yet
}

// miss is a recorded poll that did not reach its host.
type miss struct {
	host, source freshet.ID
	at           time.Time
}

func newNetwork(log *slog.Logger, kick func()) *network {
	return &network{kick: kick, log: log}
}

// paused says since when and why polling is paused; a zero time when it is not.
func (n *network) paused() (since time.Time, reason string) {
	if n == nil {
		return time.Time{}, ""
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.since.IsZero() {
		return time.Time{}, ""
	}
	return n.since, fmt.Sprintf("None of the last %d hosts could be reached, so our own network is presumed down. "+
		"Polling pauses, one source is tried every %s, and nothing is counted against the sources.", hosts(n.streak), freshet.Span(probeEvery))
}

// reached says that a host answered.
func (n *network) reached() {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.streak = nil
	if n.settle != nil {
		n.settle.Stop()
		n.settle = nil
	}
	if !n.since.IsZero() {
		n.log.Info("[Polling] our own network is back", "after", time.Since(n.since).Round(time.Second))
		n.since, n.resumed = time.Time{}, true
		n.kick()
	}
}

// unreached says that a poll that was counted as a failure did not reach its host.
func (n *network) unreached(host, source freshet.ID) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	if !n.since.IsZero() { // was under way when the pause began
		n.blamed = append(n.blamed, source)
		n.kick()
		return
	}
	n.streak = append(recent(n.streak, now), miss{host, source, now})
	if n.settle == nil && hosts(n.streak) >= downHosts {
		n.settle = time.AfterFunc(downSettle, n.decide)
	}
}

// decide pauses polling unless a host answered since.
func (n *network) decide() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.settle = nil
	if n.streak = recent(n.streak, time.Now()); hosts(n.streak) < downHosts {
		return
	}
	n.since = time.Now()
	for _, m := range n.streak {
		n.blamed = append(n.blamed, m.source)
	}
	n.log.Warn("[Polling] no host can be reached: our own network is presumed down, polling pauses", "hosts", hosts(n.streak))
	n.kick()
}

// takeBlamed returns, once, the sources whose last failure was our own.
func (n *network) takeBlamed() []freshet.ID {
	n.mu.Lock()
	defer n.mu.Unlock()
	ids := n.blamed
	n.blamed = nil
	return ids
}

// takeResumed says, once, that a pause ended.
func (n *network) takeResumed() bool {
	if n == nil {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	resumed := n.resumed
	n.resumed = false
	return resumed
}

// probeNow returns how long to wait for the next probe; 0 means that it is now and counts as made.
func (n *network) probeNow(now time.Time) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	if wait := n.probed.Add(probeGap).Sub(now); wait > 0 {
		return wait
	}
	n.probed = now
	return 0
}

// recent are the misses of the last minute.
func recent(streak []miss, now time.Time) []miss {
	for len(streak) > 0 && now.Sub(streak[0].at) > downWithin {
		streak = streak[1:]
	}
	return streak
}

// hosts counts different hosts.
func hosts(streak []miss) int {
	seen := make(map[freshet.ID]bool, len(streak))
	for _, m := range streak {
		seen[m.host] = true
	}
	return len(seen)
}

// probe takes back what was counted while our own network was down and tries one due source. It
// returns when to look again.
func (r *run) probe(ctx context.Context, shards []int) time.Duration {
	now := time.Now()
	if ids := r.network.takeBlamed(); len(ids) > 0 {
		if err := r.store.Forgive(ctx, ids, now); err != nil {
			r.log.Warn("[Polling] failures of our own network could not be taken back", "sources", len(ids), "err", err)
		}
	}
	if wait := r.network.probeNow(now); wait > 0 {
		return wait
	}
	claimed, err := r.store.Claim(ctx, store.ClaimRequest{Shards: shards, Busy: r.turns.busy(), Limit: 1}, now)
	if err != nil {
		return r.troubled(ctx, err)
	}
	for _, w := range claimed {
		r.start(ctx, &visit{host: w.Host, sources: []freshet.Source{w.Source}, probing: true, again: probeAgain})
	}
	return probeEvery
}
