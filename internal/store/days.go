package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"freshet"
)

const day = 24 * time.Hour

// RiverDays counts the river's items by the day (UTC) on which they were published: n days, the last of them that
// of now. It walks an index over all of them, so it counts anew only when the last count took no more than a
// thousandth of the time since: a large river's counts may be some minutes old.
func (s *Store) RiverDays(ctx context.Context, n int, now time.Time) ([]int, error) {
	counts, err := s.days.read(func() (perDay, error) {
		return s.perDay(ctx, `select published_at / $1, count(*) from items where in_river = 1 and published_at >= $2 group by 1`,
			day, firstDay(n, now))
	}, n, now)
	if err != nil {
		return nil, fmt.Errorf("count the items of %d days: %w", n, err)
	}
	return counts.list(n, now), nil
}

// SourceDays is RiverDays for the posts of one source, which are few enough to be counted each time.
func (s *Store) SourceDays(ctx context.Context, source freshet.ID, n int, now time.Time) ([]int, error) {
	counts, err := s.perDay(ctx, `select published_at / $1, count(*) from posts where source_id = $3 and published_at >= $2 group by 1`,
		day, firstDay(n, now), source)
	if err != nil {
		return nil, fmt.Errorf("count the posts of source %s: %w", source, err)
	}
	return counts.list(n, now), nil
}

// perDay is a count by the number of a day since 1970.
type perDay map[int64]int

func (s *Store) perDay(ctx context.Context, text string, args ...any) (perDay, error) {
	type count struct {
		day int64
		n   int
	}
	list, err := all(ctx, s, func(c *count) []any { return []any{&c.day, &c.n} }, text, args...)
	counts := make(perDay, len(list))
	for _, c := range list {
		counts[c.day] = c.n
	}
	return counts, err
}

func dayOf(t time.Time) int64 { return t.Unix() / int64(day.Seconds()) }

// firstDay is when the first of n days began of which now is in the last.
func firstDay(n int, now time.Time) time.Time {
	return now.UTC().Truncate(day).Add(-time.Duration(n-1) * day)
}

func (p perDay) list(n int, now time.Time) []int {
	counts, last := make([]int, n), dayOf(now)
	for i := range counts {
		counts[i] = p[last-int64(n-1-i)]
	}
	return counts
}

// calendar keeps the last count of the river's days.
type calendar struct {
	mu     sync.Mutex // guards the rest, and lets one count at a time
	until  time.Time
	first  time.Time // day that was counted from
	counts perDay
}

func (c *calendar) read(count func() (perDay, error), n int, now time.Time) (perDay, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	start := time.Now()
	if first := firstDay(n, now); start.Before(c.until) && !first.Before(c.first) {
		return c.counts, nil
	}
	counts, err := count()
	if err != nil {
		return nil, err
	}
	c.counts, c.first, c.until = counts, firstDay(n, now), start.Add(1000*time.Since(start))
	return counts, nil
}
