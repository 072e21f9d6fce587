package store

import (
	"maps"
	"testing"
	"time"

	"freshet"
)

func TestStats(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		now := testTime
		for id, set := range map[freshet.ID]string{1: "", 2: "", 3: "enabled = 0", 4: "", 5: "removed_at = 1", 6: ""} {
			testSource(t, s, id, set)
		}
		mustExec(t, s, "update poll_state set shard = source_id")
		mustExec(t, s, "update poll_state set last_success_at = 1, failures = 2, next_poll_at = $1 where source_id = 1", now.Add(time.Hour))
		mustExec(t, s, "update poll_state set last_success_at = 1, failures = 3, next_poll_at = $1 where source_id = 2", now.Add(-time.Minute))
		mustExec(t, s, "update poll_state set next_poll_at = $1 where source_id = 4", now.Add(-90*time.Second))
		mustExec(t, s, "update hosts set not_before = $1 where id = 1", now.Add(time.Second))
		mustExec(t, s, "update hosts set not_before = $1 where id = 2", now)
		testEntry(t, s, testItem{id: 1, published: now, ingested: now, sources: []freshet.ID{1}})
		testEntry(t, s, testItem{id: 2, published: now, ingested: now, sources: []freshet.ID{1}, hidden: true})
		stats, err := s.Stats(t.Context(), now)
		if err != nil {
			t.Fatal(err)
		}
		want := map[freshet.Health]int{freshet.Healthy: 1, freshet.Unhealthy: 1, freshet.Disabled: 1, freshet.Pending: 2}
		if !maps.Equal(stats.Sources, want) {
			t.Errorf("sources %v, want %v", stats.Sources, want)
		}
		if stats.Items != 2 || stats.SearchPending != 2 || stats.HostsCooling != 1 || stats.Overdue != 90*time.Second {
			t.Errorf("%+v; want 2 items, 2 pending, 1 cooling host, 90 s overdue", stats)
		}
	})
}

func TestStatsOfNothing(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		stats, err := s.Stats(t.Context(), testTime)
		if err != nil || stats.Items != 0 || stats.Overdue != 0 {
			t.Errorf("%+v, %v", stats, err)
		}
	})
}
