package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"freshet"
)

const ttl = time.Minute

func (w *world) acquire(owner string) []int {
	w.Helper()
	shards, err := w.Acquire(bg, owner, ttl, w.now)
	w.must(err)
	return shards
}

func testLeases(t *testing.T, w *world) {
	w.equal("alone", len(w.acquire("a")), 256)
	w.equal("the second, before the first made room", len(w.acquire("b")), 0)
	w.now = w.now.Add(20 * time.Second)
	half := w.acquire("a")
	w.equal("the first, with two", len(half), 128)
	w.equal("the second, before what the first let go has expired", len(w.acquire("b")), 0)
	w.now = w.now.Add(45 * time.Second)
	w.equal("the first, renewed", w.acquire("a"), half)
	others := w.acquire("b")
	w.equal("the second", len(others), 128)
	if slices.ContainsFunc(others, func(s int) bool { return slices.Contains(half, s) }) {
		t.Error("one shard has two owners")
	}
	// The first dies. Its shards go to the second when they expire, not before.
	w.now = w.now.Add(ttl - time.Millisecond)
	w.equal("the second, before the first's leases expire", len(w.acquire("b")), 128)
	w.now = w.now.Add(time.Millisecond)
	w.equal("the second, after", len(w.acquire("b")), 256)
	w.must(w.ReleaseLeases(bg, "b"))
	w.equal("the third, after the second gave all back", len(w.acquire("c")), 256)
}

func testLeaseRivals(t *testing.T, w *world) {
	const rivals = 8
	held := make([][]int, rivals)
	var wg sync.WaitGroup
	for r := range rivals {
		wg.Go(func() {
			shards, err := w.Acquire(bg, fmt.Sprint("rival", r), ttl, w.now)
			if err != nil {
				t.Error(err)
			}
			held[r] = shards
		})
	}
	wg.Wait()
	owners := map[int]int{}
	for r, shards := range held {
		for _, shard := range shards {
			if other, taken := owners[shard]; taken {
				t.Fatalf("shard %d is held by %d and %d", shard, other, r)
			}
			owners[shard] = r
		}
	}
	w.now = w.now.Add(ttl / 3)
	for round := range 6 { // renewals: everyone ends with its fair share
		for r := range rivals {
			held[r] = w.acquire(fmt.Sprint("rival", r))
		}
		w.now = w.now.Add(ttl / 3)
		_ = round
	}
	total := 0
	for r := range rivals {
		w.equal(fmt.Sprint("the share of rival ", r), len(held[r]), 32)
		total += len(held[r])
	}
	w.equal("shards held", total, 256)
}

func testAcquireFree(t *testing.T, w *world) {
	w.equal("a node", len(w.acquire("node")), 256)
	free, err := w.AcquireFree(bg, "once", ttl, w.now)
	w.must(err)
	w.equal("free beside a node", len(free), 0)
	w.now = w.now.Add(ttl)
	free, err = w.AcquireFree(bg, "once", ttl, w.now)
	w.must(err)
	w.equal("free after the node died", len(free), 256)
	w.must(w.ReleaseLeases(bg, "once"))
	w.equal("the share of a node after a run that ended", len(w.acquire("new")), 256)
}

func testJob(t *testing.T, w *world) {
	take := func(job, owner string) bool {
		ok, err := w.AcquireJob(bg, job, owner, ttl, w.now)
		w.must(err)
		return ok
	}
	w.equal("the first", take("retention", "a"), true)
	w.equal("the second", take("retention", "b"), false)
	w.equal("another job", take("search", "b"), true)
	w.equal("the first again", take("retention", "a"), true)
	w.now = w.now.Add(ttl)
	w.equal("the second after the first died", take("retention", "b"), true)
	w.equal("the first, back", take("retention", "a"), false)
}

// batch makes polls of all sources, each with an article of its own and one that all share.
func (w *world) batch(sources []freshet.Source, seqs []int64, label string) []Poll {
	polls := make([]Poll, len(sources))
	for i, src := range sources {
		posts := []freshet.Post{article("shared "+label, w.now), article(fmt.Sprint("own ", label, i), w.now)}
		freshet.Identify(posts, src.ID, src.Host)
		polls[i] = Poll{src.ID, seqs[i], &freshet.Outcome{At: w.now, Status: 200, Posts: posts}}
	}
	return polls
}

func (w *world) manySources(n int) (sources []freshet.Source, seqs []int64) {
	var list []NewSource
	for i := range n {
		list = append(list, NewSource{URL: fmt.Sprintf("https://host%d.example/feed%d", i%7, i), AtOnce: true})
	}
	added, err := w.AddSources(bg, list, w.now)
	w.must(err)
	for _, a := range added {
		sources, seqs = append(sources, a.Source), append(seqs, a.Source.Seq)
	}
	return sources, seqs
}

// Eight pollers finish the same polls at once, each in another order: each is recorded once.
func testPollRivals(t *testing.T, w *world) {
	sources, seqs := w.manySources(40)
	const rivals = 8
	recorded := make([]int, rivals)
	var wg sync.WaitGroup
	for r := range rivals {
		polls := w.batch(sources, seqs, "x")
		rand.Shuffle(len(polls), func(i, j int) { polls[i], polls[j] = polls[j], polls[i] })
		wg.Go(func() {
			for part := range slices.Chunk(polls, 10) {
				finished, err := w.FinishPolls(bg, part, w.now)
				if err != nil {
					t.Error(err)
				}
				for _, f := range finished {
					if f.Recorded {
						recorded[r]++
					}
				}
			}
		})
	}
	wg.Wait()
	total := 0
	for _, n := range recorded {
		total += n
	}
	w.equal("recorded", total, 40)
	w.equal("items and posts", []int{w.count("select count(*) from items"), w.count("select count(*) from posts")}, []int{41, 80})
}

// Pollers of different sources bring the same articles at once, in other orders: one item each.
func testItemRivals(t *testing.T, w *world) {
	sources, seqs := w.manySources(8)
	var wg sync.WaitGroup
	for i, src := range sources {
		var posts []freshet.Post
		for n := range 25 {
			posts = append(posts, article(fmt.Sprint("story", n), w.now))
		}
		rand.Shuffle(len(posts), func(i, j int) { posts[i], posts[j] = posts[j], posts[i] })
		freshet.Identify(posts, src.ID, src.Host)
		wg.Go(func() {
			finished, err := w.FinishPolls(bg, []Poll{{src.ID, seqs[i], &freshet.Outcome{At: w.now, Status: 200, Posts: posts}}}, w.now)
			if err != nil || !finished[0].Recorded || finished[0].New != 25 {
				t.Errorf("%+v, %v", finished, err)
			}
		})
	}
	wg.Wait()
	w.equal("items, posts and keys", []int{w.count("select count(*) from items"), w.count("select count(*) from posts"), w.count("select count(*) from item_keys")}, []int{25, 200, 50})
}

// Pollers sleep past their leases between claim and finish, so that others poll the same sources
// meanwhile. A clock that all share moves at random. Every recorded poll left exactly one item and one
// step of its source; those that came late left nothing.
func testPausedPollers(t *testing.T, w *world) {
	sources, _ := w.manySources(20)
	var mu sync.Mutex // guards the rest
	clock := w.now
	recorded, refused, taken := 0, 0, 0
	owned := map[int]string{}
	tick := func(d time.Duration) time.Time {
		mu.Lock()
		defer mu.Unlock()
		clock = clock.Add(d)
		return clock
	}
	poller := func(owner string, seed uint64) {
		random := rand.New(rand.NewPCG(seed, seed))
		for round := range 16 {
			pause := time.Duration(random.IntN(40)) * time.Second
			if random.IntN(4) == 0 {
				pause = 20 * time.Minute // sources are due, so that there is something to be late with
			}
			now := tick(pause)
			shards, err := w.Acquire(bg, owner, ttl, now)
			if err != nil {
				t.Error(err)
				return
			}
			claimed, err := w.Claim(bg, ClaimRequest{Shards: shards, Limit: 8}, now)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			for _, shard := range shards {
				if owned[shard] != owner {
					owned[shard] = owner
					taken++
				}
			}
			mu.Unlock()
			if random.IntN(3) == 0 {
				now = tick(2 * time.Hour) // it slept: leases and claims are others' by now
				if _, err := w.Acquire(bg, "spare"+owner, ttl, now); err != nil {
					t.Error(err)
				}
				again, err := w.Claim(bg, ClaimRequest{Shards: everyShard, Limit: 100}, now)
				if err != nil {
					t.Error(err)
				}
				claimed = append(claimed, again...)
			}
			polls := make([]Poll, 0, len(claimed))
			for _, c := range claimed {
				posts := []freshet.Post{article(fmt.Sprint(c.Source.ID, owner, round, c.Source.Seq), now)}
				freshet.Identify(posts, c.Source.ID, c.Source.Host)
				polls = append(polls, Poll{c.Source.ID, c.Source.Seq, &freshet.Outcome{At: now, Status: 200, Posts: posts}})
			}
			finished, err := w.FinishPolls(bg, polls, now)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			for _, f := range finished {
				if f.Recorded {
					recorded++
				} else {
					refused++
				}
			}
			mu.Unlock()
		}
	}
	var wg sync.WaitGroup
	for p := range 4 {
		wg.Go(func() { poller(fmt.Sprint("poller", p), uint64(p)) })
	}
	wg.Wait()
	t.Logf("%d polls recorded, %d late ones refused, %d shards taken", recorded, refused, taken)
	w.equal("items", w.count("select count(*) from items"), recorded)
	if refused == 0 {
		t.Error("no poller came late: the test shows nothing")
	}
	steps, full := 0, false
	for _, src := range sources {
		polls := len(w.source(src.ID).History.Polls())
		steps, full = steps+polls, full || polls == 30 // which is all that a strip keeps
	}
	if !full && steps != recorded {
		t.Errorf("sources took %d steps, %d polls were recorded", steps, recorded)
	}
}
