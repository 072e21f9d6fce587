package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"freshet"
)

func readCredential(c *freshet.Credential) []any {
	return []any{&c.Owner, &c.Provider, &c.KeyID, &c.Sealed, moment{&c.UpdatedAt}}
}

const credentialColumns = "select owner, provider, key_id, sealed, updated_at from credentials "

// SetCredential adds or replaces an owner's credential; it is ErrKey when others are sealed with another key.
// What was paused for want of a token that works is polled again (S7).
func (s *Store) SetCredential(ctx context.Context, c freshet.Credential) error {
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		// One at a time, so that two new keys do not miss each other.
		if _, err := t.exec(ctx, "update counters set value = value + 1 where name = 'credential'"); err != nil {
			return err
		}
		other, _, err := one(ctx, t, number, "select count(*) from credentials where key_id <> $1", c.KeyID)
		if err != nil {
			return err
		}
		if other > 0 {
			return freshet.ErrKey
		}
		if _, err := t.exec(ctx, `insert into credentials (owner, provider, key_id, sealed, updated_at) values ($1, $2, $3, $4, $5)
 on conflict (owner, provider) do update set key_id = excluded.key_id, sealed = excluded.sealed, updated_at = excluded.updated_at`,
			c.Owner, string(c.Provider), c.KeyID, c.Sealed, c.UpdatedAt); err != nil {
			return err
		}
		return t.resume(ctx, c.Owner, c.UpdatedAt)
	})
	if err != nil {
		return fmt.Errorf("keep the credential of %s: %w", c.Provider, err)
	}
	return nil
}

// resume polls the owner's X accounts again that waited for a token, and takes back what X asked of the one
// before: pauses are counted by token.
func (t *tx) resume(ctx context.Context, owner string, now time.Time) error {
	group := freshet.HostGroup(freshet.Twitter, "", owner)
	if _, err := t.exec(ctx, "update hosts set not_before = null, failures = 0, status = 0 where name = $1", group); err != nil {
		return err
	}
	list, err := watched(ctx, t, "where s.type = $1 and s.owner = $2 and s.removed_at is null and (p.failure is not null or p.next_poll_at > $3) order by s.id for update of p",
		string(freshet.Twitter), owner, now)
	if err != nil {
		return err
	}
	for i := range list {
		w := &list[i]
		before := w.Source
		w.Source = before.Resume(t.s.settings.Policy(before), w.Host, now)
		if w.Source.Enabled == before.Enabled && w.Source.NextPollAt.Equal(before.NextPollAt) {
			continue
		}
		if w.Source.Enabled != before.Enabled {
			w.Source.Seq++ // what a poll in flight brings belongs to the time before
		}
		t.emitFeed(&w.Source, now)
		if err := t.saveSource(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// Credential returns an owner's credential as it is sealed, else ErrNotFound.
func (s *Store) Credential(ctx context.Context, owner string, p freshet.Provider) (freshet.Credential, error) {
	c, err := the(all(ctx, s, readCredential, credentialColumns+"where owner = $1 and provider = $2", owner, string(p)))
	if err != nil {
		return c, fmt.Errorf("read the credential of %s: %w", p, err)
	}
	return c, nil
}

// Credentials returns all credentials as they are sealed, by owner.
func (s *Store) Credentials(ctx context.Context) ([]freshet.Credential, error) {
	list, err := all(ctx, s, readCredential, credentialColumns+"order by owner, provider")
	if err != nil {
		return nil, fmt.Errorf("list credentials: %w", err)
	}
	return list, nil
}

// RemoveCredential forgets an owner's credential.
func (s *Store) RemoveCredential(ctx context.Context, owner string, p freshet.Provider) error {
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		n, err := t.exec(ctx, "delete from credentials where owner = $1 and provider = $2", owner, string(p))
		if err == nil && n == 0 {
			err = freshet.ErrNotFound
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("remove the credential of %s: %w", p, err)
	}
	return nil
}

// Reads returns what was read with an owner's token in a month (freshet.Month) and is paid for.
func (s *Store) Reads(ctx context.Context, owner string, p freshet.Provider, month string) (int, error) {
	n, _, err := one(ctx, s, number, "select reads from spend where owner = $1 and provider = $2 and month = $3", owner, string(p), month)
	if err != nil {
		return 0, fmt.Errorf("read what %s costs: %w", p, err)
	}
	return int(n), nil
}

// spend counts what polls read that is paid for, with whatever else they leave.
func (t *tx) spend(ctx context.Context, turns []*turn) error {
	for _, u := range turns {
		if u.outcome.Reads == 0 {
			continue
		}
		if _, err := t.exec(ctx, `insert into spend (owner, provider, month, reads) values ($1, $2, $3, $4)
 on conflict (owner, provider, month) do update set reads = spend.reads + excluded.reads`,
			u.before.Owner, string(freshet.X), freshet.Month(u.outcome.At), u.outcome.Reads); err != nil {
			return err
		}
	}
	return nil
}

// regroup moves X accounts whose owner changed into the group of the new owner's token (S6), what is no X account any
// more out of it, and leaves them out: they are due there.
func (t *tx) regroup(ctx context.Context, list []Watched, now time.Time) (rest []Watched, err error) {
	group := func(w Watched) string { return freshet.HostGroup(w.Source.Type, w.Source.URL, w.Source.Owner) }
	ofX := freshet.HostGroup(freshet.Twitter, "", "")
	strayed := func(w Watched) bool {
		return (w.Source.Type == freshet.Twitter || strings.HasSuffix(w.Host.Name, ofX)) && w.Host.Name != group(w)
	}
	if !slices.ContainsFunc(list, strayed) {
		return list, nil
	}
	var names []string
	for _, w := range list {
		if strayed(w) {
			names = append(names, group(w))
		}
	}
	hosts, err := t.hosts(ctx, names, now)
	if err != nil {
		return nil, err
	}
	sources, homes, polls := t.rows(updateSources), t.rows(updateHome), t.rows(updatePolls)
	for _, w := range list {
		if !strayed(w) {
			rest = append(rest, w)
			continue
		}
		w.Host = hosts[group(w)]
		w.Source.NextPollAt = later(w.Source.NextPollAt, w.Host.NotBefore)
		sources.addSource(&w)
		homes.addHome(&w)
		polls.addPoll(&w.Source)
	}
	return rest, runAll(ctx, sources, homes, polls)
}
