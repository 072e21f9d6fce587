//go:build unix

package store

import (
	"path/filepath"
	"testing"
	"time"

	"freshet"
)

// P3: who restarts after a kill polls at once; who joins a process that lives waits for its leases.
func TestLeasesOfAKilledProcess(t *testing.T) {
	file, now := filepath.Join(t.TempDir(), "freshet.db"), time.Now()
	open := func() *Store {
		st, err := Open(t.Context(), file, Options{Settings: freshet.DefaultSettings()})
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	acquire := func(st *Store, owner string, want int) {
		t.Helper()
		shards, err := st.Acquire(t.Context(), owner, time.Minute, now)
		if err != nil {
			t.Fatal(err)
		}
		if len(shards) != want {
			t.Errorf("%s holds %d shards, want %d", owner, len(shards), want)
		}
	}
	first := open()
	acquire(first, "first", Shards)
	second := open()
	acquire(second, "second", 0)
	second.Close()
	first.Close() // without giving its leases back, as a kill does
	third := open()
	defer third.Close()
	acquire(third, "third", Shards)
}
