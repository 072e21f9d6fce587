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
		return s.perDay(ctx, itemsOfDays, day, daysFrom(n, now))
	}, n, now)
	if err != nil {
		return nil, fmt.Errorf("count the items of %d days: %w", n, err)
	}
	return counts.list(n, now), nil
}

// SourceDays is RiverDays for the posts of one source, which are few enough to be counted each time.
func (s *Store) SourceDays(ctx context.Context, source freshet.ID, n int, now time.Time) ([]int, error) {
	counts, err := s.perDay(ctx, postsOfDays, day, daysFrom(n, now), source)
	if err != nil {
		return nil, fmt.Errorf("count the posts of source %s: %w", source, err)
	}
	return counts.list(n, now), nil
}

// A count for each day walks no more of an index than that day; sorting all of them into days takes five times as long.
const (
	itemsOfDays = `select d.value, (select count(*) from items where in_river = 1 and published_at >= d.value * $1 and published_at < (d.value + 1) * $1)
 from list($2) d`
	postsOfDays = `select d.value, (select count(*) from posts where source_id = $3 and published_at >= d.value * $1 and published_at < (d.value + 1) * $1)
 from list($2) d`
)

// daysFrom lists the numbers of n days of which now is in the last.
func daysFrom(n int, now time.Time) []int64 {
	days, last := make([]int64, n), dayOf(now)
	for i := range days {
		days[i] = last - int64(n-1-i)
	}
	return days
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

func (p perDay) list(n int, now time.Time) []int {
	counts := make([]int, n)
	for i, d := range daysFrom(n, now) {
		counts[i] = p[d]
	}
	return counts
}

// calendar keeps the last count of the river's days.
type calendar struct {
	mu     sync.Mutex // guards the rest, and lets one count at a time
	until  time.Time
	first  int64 // day that was counted from
	counts perDay
}

func (c *calendar) read(count func() (perDay, error), n int, now time.Time) (perDay, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	start := time.Now()
	first := dayOf(now) - int64(n-1)
	if start.Before(c.until) && first >= c.first {
		return c.counts, nil
	}
	counts, err := count()
	if err != nil {
		return nil, err
	}
	c.counts, c.first, c.until = counts, first, start.Add(1000*time.Since(start))
	return counts, nil
}
