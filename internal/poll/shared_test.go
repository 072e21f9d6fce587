package poll

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"freshet"
	"freshet/internal/store"
)

// W2: two workflows, the river and a manual refresh on one address cause one request per interval, and all of them
// get what it brings.
func TestWorkflowsTheRiverAndARefreshShareOneRequest(t *testing.T) {
	onDatabases(t, func(t *testing.T, dsn string) {
		synctest.Test(t, func(t *testing.T) { playShared(newStage(t, dsn)) })
	})
}

func playShared(sg *stage) {
	const address = "https://a.example/feed"
	n := 0
	var documents []string
	sg.set("a.example/feed", func(*http.Request) (*http.Response, error) {
		n++
		documents = append([]string{feedItem(fmt.Sprint("item ", n), time.Now())}, documents...)
		time.Sleep(2 * time.Second) // a refresh comes while it is asked
		return answer(200, rss(documents[:min(len(documents), 20)]...)), nil
	})
	began := time.Now()
	sg.add(freshet.RSS, address, minutes(30))
	flows := []freshet.ID{sg.watches(address, 10), sg.watches(address, 60)}
	time.Sleep(3 * time.Second) // both see the whole document, which is the second request

	time.Sleep(34 * time.Minute)
	sg.refreshes()
	time.Sleep(time.Second)
	sg.refreshes() // joins the request that is under way
	time.Sleep(26 * time.Minute)

	var at []time.Duration
	for _, a := range sg.of(address) {
		at = append(at, a.at.Sub(began).Round(10*time.Second))
	}
	minute := time.Minute
	if want := []time.Duration{0, 0, 10 * minute, 20 * minute, 30 * minute, 34 * minute, 44 * minute, 54 * minute}; !slices.Equal(at, want) {
		sg.Errorf("asked after %v, want %v: every 10 minutes, by the one that wants it most, and once by hand", at, want)
	}
	if got := len(titles(sg.T, sg.st)); got != n {
		sg.Errorf("the river has %d of %d items", got, n)
	}
	for _, flow := range flows {
		items := 0
		list, err := sg.st.Executions(sg.Context(), store.ExecutionQuery{Workflow: flow, Limit: 100})
		if err != nil {
			sg.Fatal(err)
		}
		for _, e := range list {
			items += e.Items
		}
		if items != n {
			sg.Errorf("a workflow was given %d of %d items", items, n)
		}
	}
}

// watches adds a workflow that waits for a worker.
func (sg *stage) watches(address string, every float64) freshet.ID {
	sg.Helper()
	d := freshet.Definition{Name: "Watch", Enabled: true, Trigger: freshet.Trigger{Config: freshet.TriggerConfig{URL: address, IntervalMinutes: every}}}
	flow, err := sg.st.AddWorkflow(sg.Context(), d, time.Now())
	if err != nil {
		sg.Fatal(err)
	}
	sg.s.Kick()
	return flow.ID
}

func (sg *stage) refreshes() {
	sg.Helper()
	if _, err := sg.st.StartRefresh(sg.Context(), freshet.ByHand, nil, time.Now()); err != nil {
		sg.Fatal(err)
	}
	sg.s.Kick()
}

// W8, S6: a poll that fails counts once on each workflow of its source; a poll that is put off because the host asked for
// a pause counts on none.
func TestPausesOfAHostCountOncePerFailingPoll(t *testing.T) {
	onDatabases(t, func(t *testing.T, dsn string) {
		synctest.Test(t, func(t *testing.T) { playPauses(newStage(t, dsn)) })
	})
}

func playPauses(sg *stage) {
	sg.set("a.example/one", func(*http.Request) (*http.Response, error) { return answer(429, "", "Retry-After", "3600"), nil })
	sg.feeds("a.example/two", rss(feedItem("two", time.Now())))
	two := sg.watches("https://a.example/two", 5)
	time.Sleep(time.Minute)
	same := sg.watches("https://a.example/one", 30)
	one := sg.watches("https://a.example/one", 5) // before the first poll, or put off
	time.Sleep(time.Second)
	asked := len(sg.of("https://a.example/one")) // twice when the second one came while the first poll was under way
	failures := func() (n []int) {
		for _, id := range []freshet.ID{one, same, two} {
			w, err := sg.st.Workflow(sg.Context(), id)
			if err != nil {
				sg.Fatal(err)
			}
			n = append(n, w.State.Failures)
		}
		return n
	}
	for polls := 1; polls <= 3; polls++ {
		time.Sleep(30 * time.Minute) // within the pause; a refresh by hand is put off, too
		sg.refreshes()
		time.Sleep(29 * time.Minute)
		if got := failures(); !slices.Equal(got, []int{polls, polls, 0}) || len(sg.of("https://a.example/one")) != asked+polls-1 {
			sg.Errorf("after %d requests the workflows count %v, want %d for those of the source and none for the other of its host", len(sg.of("https://a.example/one")), got, polls)
		}
		time.Sleep(time.Minute)
	}
	time.Sleep(time.Minute)
	if got := failures(); !slices.Equal(got, []int{4, 4, 0}) {
		sg.Errorf("after the fourth: %v", got)
	}
}
