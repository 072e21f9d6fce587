package store

import (
	"testing"
	"time"

	"freshet"
)

// A claim that is given back is due again, unless somebody has taken it over or its host asked for a pause.
func TestGiveBack(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		ctx, now := t.Context(), time.Date(2026, 2, 17, 12, 0, 0, 0, time.UTC)
		var all []int
		for shard := range Shards {
			all = append(all, shard)
		}
		ids := map[string]freshet.ID{}
		for _, u := range []string{"https://a.example/", "https://b.example/", "https://cold.example/1", "https://cold.example/2", "https://off.example/"} {
			w, err := s.AddSource(ctx, NewSource{URL: u, AtOnce: true}, now)
			if err != nil {
				t.Fatal(err)
			}
			ids[u] = w.Source.ID
		}
		claimed, err := s.Claim(ctx, ClaimRequest{Shards: all, Limit: 10}, now)
		if err != nil || len(claimed) != 5 {
			t.Fatalf("%d claimed, %v", len(claimed), err)
		}
		var back []Poll
		for _, w := range claimed {
			p := Poll{Source: w.Source.ID, Seq: w.Source.Seq}
			switch w.Source.URL {
			case "https://b.example/": // claimed by somebody else meanwhile
				p.Seq--
			case "https://cold.example/1":
				p.Outcome = &freshet.Outcome{At: now, Status: 429, Failure: &freshet.Failure{Status: 429, CoolHost: true, RetryAfter: now.Add(time.Hour)}}
				if _, err := s.FinishPolls(ctx, []Poll{p}, now); err != nil {
					t.Fatal(err)
				}
				continue
			case "https://off.example/":
				if _, err := s.EditSource(ctx, p.Source, now, func(w *Watched) error { w.Source = w.Source.Disable("by hand"); return nil }); err != nil {
					t.Fatal(err)
				}
			}
			back = append(back, p)
		}
		if err := s.GiveBack(ctx, back, now); err != nil {
			t.Fatal(err)
		}
		for u, want := range map[string]time.Time{
			"https://a.example/":     now,
			"https://b.example/":     now.Add(time.Minute), // as its claim says
			"https://cold.example/2": now.Add(time.Hour),
			"https://off.example/":   {},
		} {
			w, err := s.Source(ctx, ids[u])
			if err != nil || !w.Source.NextPollAt.Equal(want) {
				t.Errorf("%s is due at %v, want %v (%v)", u, w.Source.NextPollAt, want, err)
			}
		}
	})
}
