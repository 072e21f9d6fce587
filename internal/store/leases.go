package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A lease is a row: "shard/017", "node/OWNER", "job/retention". It belongs to its owner until it expires;
// taking an expired one counts its epoch up. Leases keep hosts with one instance for politeness; that no
// result is written twice is seq's business.
type lease struct {
	name, owner string
	expires     time.Time
}

func (l *lease) columns() []any { return []any{&l.name, &l.owner, moment{&l.expires}} }

const (
	shardLease = "shard/%03d"
	nodeLease  = "node/"
	jobLease   = "job/"
)

// Acquire says that the owner lives, renews its shards and takes free or expired ones up to its fair
// share. Above the share shards are no longer renewed: they are not returned, and go to others when they
// expire, after the polls in flight. It returns the shards that are held until now+ttl.
func (s *Store) Acquire(ctx context.Context, owner string, ttl time.Duration, now time.Time) ([]int, error) {
	return s.acquire(ctx, owner, ttl, now, true)
}

// AcquireFree takes every shard that nobody holds, for a run that polls once and ends. It does not count
// as an instance, so that others do not make room for it.
func (s *Store) AcquireFree(ctx context.Context, owner string, ttl time.Duration, now time.Time) ([]int, error) {
	return s.acquire(ctx, owner, ttl, now, false)
}

func (s *Store) acquire(ctx context.Context, owner string, ttl time.Duration, now time.Time, node bool) (shards []int, err error) {
	err = s.write(ctx, func(ctx context.Context, t *tx) error {
		// One at a time: so shares are counted right and nobody waits for half of another's rows.
		if _, err := t.exec(ctx, "update counters set value = value + 1 where name = 'lease'"); err != nil {
			return err
		}
		if _, err := t.exec(ctx, "delete from leases where name like 'node/%' and expires_at <= $1", now); err != nil {
			return err
		}
		take := t.rows(takeLeases)
		if node {
			take.add(nodeLease+owner, owner, now.Add(ttl), 1)
		}
		if _, err := take.run(ctx); err != nil {
			return err
		}
		leases, err := all(ctx, t, (*lease).columns, "select name, owner, expires_at from leases where name like 'node/%' or name like 'shard/%'")
		if err != nil {
			return err
		}
		shards = share(leases, owner, node, now)
		take = t.rows(takeLeases)
		for _, shard := range shards {
			take.add(fmt.Sprintf(shardLease, shard), owner, now.Add(ttl), 1)
		}
		_, err = take.run(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("acquire shards: %w", err)
	}
	return shards, nil
}

// share chooses the shards that an owner holds from now on: those it has, then free ones, up to its fair
// share. One that is no node has no share and takes what is free.
func share(leases []lease, owner string, node bool, now time.Time) []int {
	held, nodes := map[string]lease{}, 0
	for _, l := range leases {
		held[l.name] = l
		if strings.HasPrefix(l.name, nodeLease) {
			nodes++
		}
	}
	most := Shards
	if node {
		most = (Shards + nodes - 1) / max(nodes, 1)
	}
	var mine, free []int
	for shard := range Shards {
		l := held[fmt.Sprintf(shardLease, shard)]
		switch {
		case l.owner == owner:
			mine = append(mine, shard)
		case !l.expires.After(now):
			free = append(free, shard)
		}
	}
	mine = mine[:min(len(mine), most)]
	mine = append(mine, free[:min(len(free), most-len(mine))]...)
	slices.Sort(mine)
	return mine
}

// takeLeases writes leases that the transaction knows to be free or the owner's.
var takeLeases = inserting("leases", "name text, owner text, expires_at bigint, epoch bigint",
	"on conflict (name) do update set owner = excluded.owner, expires_at = excluded.expires_at, epoch = leases.epoch + case when leases.owner = excluded.owner then 0 else 1 end")

// ReleaseLeases gives back all that the owner holds.
func (s *Store) ReleaseLeases(ctx context.Context, owner string) error {
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		if _, err := t.exec(ctx, "delete from leases where name = $1", nodeLease+owner); err != nil {
			return err
		}
		_, err := t.exec(ctx, "update leases set owner = '', expires_at = 0 where owner = $1", owner)
		return err
	})
	if err != nil {
		return fmt.Errorf("release leases: %w", err)
	}
	return nil
}

// AcquireJob says whether the owner may do what one instance does for all, until now+ttl: "retention",
// "search". Such work is harmless to do twice.
func (s *Store) AcquireJob(ctx context.Context, job, owner string, ttl time.Duration, now time.Time) (bool, error) {
	n := 0
	err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		n, err = t.exec(ctx, `insert into leases (name, owner, expires_at, epoch) values ($1, $2, $3, 1)
 on conflict (name) do update set owner = excluded.owner, expires_at = excluded.expires_at, epoch = leases.epoch + case when leases.owner = excluded.owner then 0 else 1 end
 where leases.owner = excluded.owner or leases.expires_at <= $4`, jobLease+job, owner, now.Add(ttl), now)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("acquire job %s: %w", job, err)
	}
	return n > 0, nil
}
