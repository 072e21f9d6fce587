package poll

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"freshet"
	"freshet/internal/store"
)

// records is a store that only records; fail decides what it refuses.
type records struct {
	mu      sync.Mutex
	batches []int
	stored  []freshet.ID
	failed  []freshet.ID // recorded with a failure
	fail    func(polls []store.Poll) error
	takes   time.Duration
	at      []time.Time
}

func (r *records) FinishPolls(ctx context.Context, polls []store.Poll, now time.Time) ([]store.Finished, error) {
	time.Sleep(r.takes)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		if err := r.fail(polls); err != nil {
			return nil, err
		}
	}
	r.batches = append(r.batches, len(polls))
	r.at = append(r.at, time.Now())
	finished := make([]store.Finished, len(polls))
	for i, p := range polls {
		r.stored = append(r.stored, p.Source)
		if p.Outcome.Failure != nil {
			r.failed = append(r.failed, p.Source)
		}
		finished[i] = store.Finished{Recorded: true}
	}
	return finished, nil
}

// commits are the sizes of the commits so far and when the first one was.
func (r *records) commits() (sizes []int, first time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.at) > 0 {
		first = r.at[0]
	}
	return slices.Clone(r.batches), first
}

// count is how many outcomes are recorded.
func (r *records) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.stored)
}

func (r *records) GiveBack(context.Context, []store.Poll, time.Time) error { return nil }

// recording runs fn with a recorder and stops it; it returns how many entries were told of.
func recording(t *testing.T, st *records, log *slog.Logger, fn func(r *recorder, add func(id freshet.ID, size int))) (told int) {
	t.Helper()
	return recordingFor(t, 1, st, log, fn)
}

func recordingFor(t *testing.T, requests int, st *records, log *slog.Logger, fn func(r *recorder, add func(id freshet.ID, size int))) (told int) {
	t.Helper()
	r := newRecorder(st, log, requests, func(*entry, store.Finished) { told++ })
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r.start(ctx)
	fn(r, func(id freshet.ID, size int) {
		r.reserve()
		r.add(&entry{source: freshet.Source{ID: id, URL: "https://user:pass@a.example/"}, done: func() {},
			outcome: &freshet.Outcome{Posts: []freshet.Post{{Text: strings.Repeat("x", size)}}}})
	})
	r.stop()
	return told
}

var quiet = slog.New(slog.DiscardHandler)

// Outcomes that end at about the same time share a commit; a lone one does not wait long.
func TestRecorderGroupsCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &records{}
		told := recording(t, st, quiet, func(r *recorder, add func(freshet.ID, int)) {
			began := time.Now()
			for id := range freshet.ID(40) {
				add(id+1, 10)
				time.Sleep(time.Millisecond)
			}
			time.Sleep(time.Second)
			if sizes, first := st.commits(); len(sizes) != 1 || first.Sub(began) > batchWait {
				t.Errorf("40 outcomes in 40 ms: commits of %v after %v, want one after %v", sizes, first.Sub(began), batchWait)
			}
			for id := range freshet.ID(batchPolls) {
				add(100+id, 10)
			}
			synctest.Wait()
			if sizes, _ := st.commits(); len(sizes) != 2 {
				t.Error("a full batch waits")
			}
			for range 3 {
				add(200, batchBytes/2)
			}
			synctest.Wait()
			if sizes, _ := st.commits(); len(sizes) < 3 {
				t.Error("large outcomes wait")
			}
		})
		if told != 40+batchPolls+3 {
			t.Errorf("%d outcomes told of", told)
		}
	})
}

// What waits at a stop is recorded at once.
func TestRecorderStopRecordsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &records{}
		began := time.Now()
		recording(t, st, quiet, func(r *recorder, add func(freshet.ID, int)) {
			for id := range freshet.ID(3*batchPolls + 1) {
				add(id+1, 10)
			}
		})
		if len(st.stored) != 3*batchPolls+1 || time.Since(began) != 0 {
			t.Errorf("%d stored after %v", len(st.stored), time.Since(began))
		}
	})
}

// P3: while the database is locked or full nothing is lost, it is said once, and those who bring more wait.
func TestRecorderWaitsForTheDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var down atomic.Bool
		down.Store(true)
		st := &records{fail: func([]store.Poll) error {
			if down.Load() {
				return errors.New("database or disk is full")
			}
			return nil
		}}
		const n = 40
		recording(t, st, slog.New(slog.NewTextHandler(&log, nil)), func(r *recorder, add func(freshet.ID, int)) {
			var taken atomic.Int64
			var all sync.WaitGroup
			all.Go(func() {
				for id := range freshet.ID(n) {
					add(id+1, mostBytes/16)
					taken.Add(1)
				}
			})
			time.Sleep(time.Hour)
			synctest.Wait()
			if n := taken.Load(); n > 16 || n < 12 {
				t.Errorf("%d outcomes taken while nothing can be recorded, want nearly 16", n)
			}
			down.Store(false)
			all.Wait()
		})
		if len(st.stored) != n {
			t.Errorf("%d of %d outcomes recorded", len(st.stored), n)
		}
		seen := map[freshet.ID]bool{}
		for _, id := range st.stored {
			if seen[id] {
				t.Errorf("outcome %d recorded twice", id)
			}
			seen[id] = true
		}
		if got := strings.Count(log.String(), "disk is full"); got != 1 {
			t.Errorf("the trouble is logged %d times:\n%s", got, log.String())
		}
		if !strings.Contains(log.String(), "recorded again") {
			t.Errorf("the recovery is not logged:\n%s", log.String())
		}
	})
}

// Only as many are asked at once as what they may bring has room for; who was asked in vain makes room for another.
func TestRecorderReserves(t *testing.T) {
	for _, requests := range []int{1, mostBytes / expected, 200} {
		synctest.Test(t, func(t *testing.T) {
			want := int64(max(requests, mostBytes/expected))
			var asked atomic.Int64
			recordingFor(t, requests, &records{}, quiet, func(r *recorder, _ func(freshet.ID, int)) {
				var all sync.WaitGroup
				for range 300 {
					all.Go(func() {
						r.reserve()
						asked.Add(1)
						time.Sleep(time.Second)
						r.cancel()
					})
				}
				synctest.Wait()
				if n := asked.Load(); n != want {
					t.Errorf("%d of 300 asked, want %d", n, want)
				}
				all.Wait()
			})
		})
	}
}

// One outcome that the database refuses holds up no other, and its source fails visibly.
func TestRecorderSetsAPoisonedOutcomeApart(t *testing.T) {
	for _, whatever := range []bool{false, true} { // true: not even the failure can be recorded
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			st := &records{fail: func(polls []store.Poll) error {
				for _, p := range polls {
					if p.Source == 3 && (whatever || p.Outcome.Failure == nil) {
						return errors.New("invalid byte sequence")
					}
				}
				return nil
			}}
			var began, all time.Time
			recording(t, st, slog.New(slog.NewTextHandler(&log, nil)), func(r *recorder, add func(freshet.ID, int)) {
				began = time.Now()
				for id := range freshet.ID(5) {
					add(id+1, 10)
				}
				for st.count() < 4 {
					time.Sleep(time.Millisecond)
				}
				all = time.Now()
			})
			if d := all.Sub(began); d > time.Second {
				t.Errorf("the others waited %v", d)
			}
			switch {
			case whatever && len(st.failed) != 0, !whatever && (len(st.failed) != 1 || st.failed[0] != 3):
				t.Errorf("recorded with a failure: %v", st.failed)
			case !strings.Contains(log.String(), "a.example") || strings.Contains(log.String(), "pass"):
				t.Errorf("log: %s", log.String())
			}
		})
	}
}

// At a stop the database gets its time and no more.
func TestRecorderGivesUpInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &records{fail: func([]store.Poll) error { return errors.New("no such server") }}
		r := newRecorder(st, quiet, 1, func(*entry, store.Finished) { t.Error("told of an outcome that was not recorded") })
		ctx, cancel := context.WithCancel(t.Context())
		r.start(ctx)
		done := 0
		for range 2 * batchPolls {
			r.reserve()
			r.add(&entry{outcome: &freshet.Outcome{}, done: func() { done++ }})
		}
		time.AfterFunc(lastCommit, cancel)
		began := time.Now()
		r.stop()
		if d := time.Since(began); d > lastCommit {
			t.Errorf("the stop took %v", d)
		}
		if done != 2*batchPolls {
			t.Errorf("%d of %d visits were let go", done, 2*batchPolls)
		}
	})
}
