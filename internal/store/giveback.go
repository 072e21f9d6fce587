package store

import (
	"context"
	"fmt"
	"time"

	"freshet"
)

// GiveBack undoes claims whose sources were not asked, because the poller stops, lost its lease or was told
// to wait: they are due at again, or when their host allows. Of the polls it reads Source and Seq; a claim
// that somebody else has taken over is left alone.
func (s *Store) GiveBack(ctx context.Context, polls []Poll, again time.Time) error {
	seqs, ids := make(map[freshet.ID]int64, len(polls)), make([]freshet.ID, len(polls))
	for i, p := range polls {
		seqs[p.Source], ids[i] = p.Seq, p.Source
	}
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		list, err := watched(ctx, t, "where s.id in ($1...) and p."+scheduled+" order by s.id for update of p", ids)
		if err != nil {
			return err
		}
		claims := t.rows(updateClaims)
		for _, w := range list {
			if w.Source.Seq == seqs[w.Source.ID] {
				claims.add(w.Source.ID, w.Source.Seq, later(again, w.Host.NotBefore))
			}
		}
		return runAll(ctx, claims)
	})
	if err != nil {
		return fmt.Errorf("give back %d claims: %w", len(polls), err)
	}
	return nil
}
