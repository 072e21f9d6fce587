package store

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"freshet"
)

// Stats are figures for metrics and pages.
type Stats struct {
	Sources       map[freshet.Health]int // those that were not removed
	Items         int64                  // about how many
	Overdue       time.Duration          // how long the oldest due source has waited to be claimed
	SearchPending int                    // texts that wait to be indexed, counted up to 100,000
	HostsCooling  int
}

// Stats returns figures that cost little, however many items there are.
func (s *Store) Stats(ctx context.Context, now time.Time) (Stats, error) {
	stats, err := s.stats(ctx, now)
	if err != nil {
		return Stats{}, fmt.Errorf("read figures: %w", err)
	}
	return stats, nil
}

// oldestDue asks every shard for its first: poll_due leads with the shard.
const oldestDue = `with recursive shards (n) as (select 0 union all select n + 1 from shards where n < $1 - 1)
select coalesce(min((select min(p.next_poll_at) from poll_state p where p.shard = shards.n and p.next_poll_at is not null)), $2) from shards`

func (s *Store) stats(ctx context.Context, now time.Time) (Stats, error) {
	counted, err := s.census.read(ctx, s)
	if err != nil {
		return Stats{}, err
	}
	stats := Stats{Sources: maps.Clone(counted.sources), Items: counted.items}
	due, _, err := one(ctx, s, number, oldestDue, Shards, now)
	if err != nil {
		return Stats{}, err
	}
	stats.Overdue = max(0, time.Duration(now.UnixMilli()-due)*time.Millisecond)
	pending, _, err := one(ctx, s, number, "select count(*) from (select 1 from search_pending limit 100000) pending")
	if err != nil {
		return Stats{}, err
	}
	cooling, _, err := one(ctx, s, number, coolingHosts, now)
	stats.SearchPending, stats.HostsCooling = int(pending), int(cooling)
	return stats, err
}

const coolingHosts = "select count(*) from hosts where not_before > $1"

// census counts what can only be counted row by row. It counts again when the last count took no more
// than a thousandth of the time since, so a small database is always up to date and a large one
// pays little.
type census struct {
	mu    sync.Mutex // guards the rest, and lets one count at a time
	until time.Time
	counts
}

type counts struct {
	sources map[freshet.Health]int
	items   int64
}

func (c *census) read(ctx context.Context, s *Store) (counts, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	start := time.Now()
	if start.Before(c.until) {
		return c.counts, nil
	}
	sources, err := s.health(ctx)
	if err != nil {
		return counts{}, err
	}
	items, _, err := one(ctx, s, number, `select (select count(*) from items where in_river = 1) + (select count(*) from items where in_river = 0)`)
	if err != nil {
		return counts{}, err
	}
	c.counts = counts{sources, items}
	c.until = start.Add(1000 * time.Since(start))
	return c.counts, nil
}

// health counts the sources by how they are.
func (s *Store) health(ctx context.Context) (map[freshet.Health]int, error) {
	type group struct {
		source freshet.Source // what its health follows from
		count  int
	}
	groups, err := all(ctx, s, func(g *group) []any {
		return []any{flag{&g.source.Enabled}, &g.source.Failures, moment{&g.source.LastSuccessAt}, &g.count}
	}, `select s.enabled, p.failures, max(p.last_success_at), count(*) from sources s join poll_state p on p.source_id = s.id
where s.removed_at is null group by s.enabled, p.failures, p.last_success_at is null`)
	if err != nil {
		return nil, err
	}
	health := map[freshet.Health]int{freshet.Healthy: 0, freshet.Unhealthy: 0, freshet.Disabled: 0, freshet.Pending: 0}
	for _, g := range groups {
		health[g.source.Health()] += g.count
	}
	return health, nil
}
