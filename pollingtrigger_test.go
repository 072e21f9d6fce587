package freshet_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"freshet"
	"freshet/internal/deliver"
	"freshet/internal/fetch"
	"freshet/internal/reader"
	"freshet/internal/store"
	"freshet/internal/testdb"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// watching is a database with one address and a clock of its own: what lies between a document and an execution.
type watching struct {
	*testing.T
	*store.Store
	dsn      string
	reader   *reader.Reader
	address  string
	document string // of the address; "" answers 500
	broken   error  // in place of an answer
	asked    int    // requests
	now      time.Time
}

// trigger plays a part of the seed on an empty database of each kind.
func trigger(t *testing.T, name string, play func(t *testing.T, w *watching)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel() // it is the making of a PostgreSQL schema that takes time
		t.Run("sqlite", func(t *testing.T) { play(t, newWatching(t, filepath.Join(t.TempDir(), "freshet.db"))) })
		t.Run("postgres", func(t *testing.T) {
			play(t, newWatching(t, testdb.Postgres(t, "synchronous_commit=off")))
		})
	})
}

func newWatching(t *testing.T, dsn string) *watching {
	w := &watching{T: t, dsn: dsn, now: time.Date(2025, 12, 21, 10, 30, 0, 0, time.UTC), address: "https://news.example/feed"}
	w.reader = reader.New(fetch.NewWith(w, fetch.Settings{}), slog.New(slog.DiscardHandler))
	w.open()
	t.Cleanup(func() { w.Close() })
	return w
}

func (w *watching) open() {
	w.Helper()
	settings := freshet.DefaultSettings()
	settings.Alerts = 1
	var err error
	if w.Store, err = store.Open(w.Context(), w.dsn, store.Options{Settings: settings}); err != nil {
		w.Fatal(err)
	}
}

// RoundTrip answers a request of the reader.
func (w *watching) RoundTrip(r *http.Request) (*http.Response, error) {
	w.asked++
	if w.broken != nil {
		return nil, w.broken
	}
	answer := httptest.NewRecorder()
	if w.document == "" {
		answer.WriteHeader(http.StatusInternalServerError)
	}
	io.WriteString(answer, w.document)
	result := answer.Result()
	result.Request = r
	return result, nil
}

// workflow adds one that watches the address.
func (w *watching) workflow(kind freshet.ContentType, change ...func(*freshet.Definition)) freshet.ID {
	w.Helper()
	d := freshet.Definition{Name: "Watch", Enabled: true}
	d.Trigger.Config = freshet.TriggerConfig{URL: w.address, ContentType: kind, IntervalMinutes: 5}
	for _, do := range change {
		do(&d)
	}
	added, err := w.AddWorkflow(w.Context(), d, w.now)
	if err != nil {
		w.Fatal(err)
	}
	return added.ID
}

// poll shows the workflow a document, a day later, and returns the data of the executions that it makes.
func (w *watching) poll(document string) []freshet.TriggerData {
	w.Helper()
	w.document = document
	w.now = w.now.Add(24 * time.Hour)
	before := len(w.fired())
	w.finish(w.claim())
	return w.fired()[before:]
}

// fired is the data of all executions that polls made, oldest first.
func (w *watching) fired() (fired []freshet.TriggerData) {
	w.Helper()
	for _, e := range slices.Backward(w.executions()) {
		var data freshet.TriggerData
		if err := json.Unmarshal(e.Data, &data); err != nil {
			w.Fatal(err)
		}
		if e.Kind == freshet.KindTrigger {
			fired = append(fired, data)
		}
	}
	return fired
}

func (w *watching) claim() []store.Watched {
	w.Helper()
	shards := make([]int, store.Shards)
	for i := range shards {
		shards[i] = i
	}
	claimed, err := w.Claim(w.Context(), store.ClaimRequest{Shards: shards, Limit: 10}, w.now)
	if err != nil {
		w.Fatal(err)
	}
	return claimed
}

// read polls what was claimed.
func (w *watching) read(claimed []store.Watched) []store.Poll {
	turn := w.reader.Turn()
	defer turn.Close()
	polls := make([]store.Poll, len(claimed))
	for i, c := range claimed {
		polls[i] = store.Poll{Source: c.Source.ID, Seq: c.Source.Seq, Outcome: turn.Read(w.Context(), c.Source)}
		polls[i].Outcome.At = w.now
	}
	return polls
}

func (w *watching) finish(claimed []store.Watched) {
	w.Helper()
	if _, err := w.FinishPolls(w.Context(), w.read(claimed), w.now); err != nil {
		w.Fatal(err)
	}
}

func (w *watching) executions() []freshet.Execution {
	w.Helper()
	list, err := w.Executions(w.Context(), store.ExecutionQuery{Limit: 1000})
	if err != nil {
		w.Fatal(err)
	}
	return list
}

func (w *watching) state(id freshet.ID) freshet.Workflow {
	w.Helper()
	found, err := w.Workflow(w.Context(), id)
	if err != nil {
		w.Fatal(err)
	}
	return found
}

func rss(items ...string) string {
	return `<rss version="2.0"><channel><title>T</title>` + strings.Join(items, "") + `</channel></rss>`
}

// rssItem is an item whose title and link end in name.
func rssItem(name string) string {
	return fmt.Sprintf(`<item><title>Title %[1]s</title><link>https://example.org/%[1]s</link><guid isPermaLink="false">id-%[1]s</guid></item>`, name)
}

func guids(fired []freshet.TriggerData) string {
	var list []string
	for _, data := range fired {
		for _, e := range data.Items {
			list = append(list, e.GUID)
		}
	}
	return strings.Join(list, " ")
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Seed 004 (polling trigger): its unit tests by name, from the document to the execution.
func TestPollingTrigger(t *testing.T) {
	trigger(t, "test_parse_rss_feed", func(t *testing.T, w *watching) {
		w.workflow(freshet.ContentRSS)
		fired := w.poll(rss(`<item><title>Go &amp; more</title><link>https://example.org/1</link><guid isPermaLink="false">g1</guid>
			<pubDate>Sun, 21 Dec 2025 10:30:00 GMT</pubDate><description>` + strings.Repeat("é", 600) + `</description></item>`))
		if len(fired) != 1 || fired[0].Type != "poll" || fired[0].ContentType != "rss" || len(fired[0].Items) != 1 {
			t.Fatalf("fired %+v", fired)
		}
		if got, want := fired[0].Items[0], (freshet.Entry{Title: "Go & more", Link: "https://example.org/1", GUID: "g1", Published: "2025-12-21T10:30:00Z", Summary: strings.Repeat("é", 500)}); got != want {
			t.Errorf("entry %+v, want %+v", got, want)
		}
	})
	atom := func(id string) string {
		return `<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><entry><title>One</title>` + id + `<link href="https://example.org/one"/><updated>2025-12-21T10:30:00Z</updated></entry></feed>`
	}
	trigger(t, "test_parse_atom_feed", func(t *testing.T, w *watching) {
		w.workflow(freshet.ContentAtom)
		if got := guids(w.poll(atom("<id>urn:one</id>"))); got != "urn:one" {
			t.Errorf("guid %q, want the id", got)
		}
	})
	trigger(t, "test_parse_atom_feed_fallback_link", func(t *testing.T, w *watching) {
		w.workflow(freshet.ContentAtom)
		if got := guids(w.poll(atom(""))); got != "https://example.org/one" {
			t.Errorf("guid %q, want the link", got)
		}
		if got := w.poll(atom("<!-- again -->")); len(got) != 0 {
			t.Errorf("an entry without id fired again: %+v", got)
		}
	})
	trigger(t, "test_find_new_items", func(t *testing.T, w *watching) {
		w.workflow(freshet.ContentRSS)
		w.poll(rss(rssItem("2"), rssItem("1")))
		if got := guids(w.poll(rss(rssItem("4"), rssItem("3"), rssItem("2"), rssItem("1")))); got != "id-4 id-3" {
			t.Errorf("new are %q, want those that were not seen", got)
		}
		if got := w.poll(rss(rssItem("1"), rssItem("2"), rssItem("3"), rssItem("4"))); len(got) != 0 {
			t.Errorf("another order fired %+v", got)
		}
	})
	trigger(t, "test_hash_content", func(t *testing.T, w *watching) {
		id := w.workflow(freshet.ContentHTTP)
		fired := w.poll("hello")
		if len(fired) != 1 || fired[0].ContentType != "http" || *fired[0].Content != "hello" || fired[0].ContentHash != "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" {
			t.Errorf("fired %+v", fired)
		}
		if got := w.state(id).State.ContentHash; got != fired[0].ContentHash {
			t.Errorf("the state's hash is %s", got)
		}
	})
	trigger(t, "test_check_http_changed", func(t *testing.T, w *watching) {
		w.workflow(freshet.ContentHTTP)
		for i, step := range []struct {
			document string
			fires    bool
		}{{"one", true}, {"one", false}, {"two", true}, {"two", false}, {"one", true}} {
			fired := w.poll(step.document)
			if (len(fired) == 1) != step.fires || step.fires && fired[0].ContentHash != sha(step.document) {
				t.Errorf("step %d: fired %+v, want %t", i, fired, step.fires)
			}
		}
	})
	trigger(t, "test_handle_failure_increments_counter", func(t *testing.T, w *watching) {
		id := w.workflow(freshet.ContentRSS)
		for i := 1; i <= 3; i++ {
			w.poll("")
			got := w.state(id)
			if got.State.Failures != i || got.State.LastError == "" || !got.State.CheckedAt.Equal(w.now) || !got.Enabled {
				t.Errorf("after %d failures: enabled %t, %+v", i, got.Enabled, got.State)
			}
		}
		w.poll("no feed")
		if got := w.state(id); got.State.Failures != 4 {
			t.Errorf("what is no feed is no failure: %+v", got.State)
		}
	})
	trigger(t, "a success resets the counter", func(t *testing.T, w *watching) {
		id := w.workflow(freshet.ContentRSS)
		w.poll("")
		w.poll("")
		w.poll(rss(rssItem("1")))
		if got := w.state(id).State; got.Failures != 0 || got.LastError != "" {
			t.Errorf("state %+v", got)
		}
	})
	trigger(t, "test_auto_disable_after_four_failures", func(t *testing.T, w *watching) {
		id := w.workflow(freshet.ContentRSS)
		for range 4 {
			if !w.state(id).Enabled {
				t.Fatal("switched off too early")
			}
			w.poll("")
		}
		got := w.state(id)
		if got.Enabled || got.DisabledReason == "" || got.State.Failures != 4 {
			t.Errorf("after four failures: enabled %t, %q, %+v", got.Enabled, got.DisabledReason, got.State)
		}
		asked := w.asked
		if w.poll(rss(rssItem("1"))); w.asked != asked {
			t.Error("its address is still asked")
		}
		if _, err := w.SwitchWorkflow(t.Context(), id, true, w.now); err != nil {
			t.Fatal(err)
		}
		if got := w.state(id); !got.Enabled || got.State.Failures != 0 || got.State.LastError != "" {
			t.Errorf("switched on again: %+v", got.State)
		}
		if got := guids(w.poll(rss(rssItem("1")))); got != "id-1" {
			t.Errorf("switched on again it fires %q", got)
		}
	})
	trigger(t, "test_send_discord_notification", func(t *testing.T, w *watching) {
		var told struct{ Content string }
		discord := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if err := json.NewDecoder(r.Body).Decode(&told); err != nil || r.Method != "POST" {
				t.Errorf("%s with %v", r.Method, err)
			}
			out.WriteHeader(http.StatusNoContent)
		}))
		defer discord.Close()
		actions := deliver.New(deliver.Options{Allow: loopback, Discord: discord.URL + "/api/webhooks/1/token"})
		defer actions.Close()
		w.workflow(freshet.ContentRSS)
		for range 4 {
			w.poll("")
		}
		claimed, err := w.ClaimExecutions(t.Context(), "me", 10, 10, nil, time.Minute, w.now)
		if err != nil || len(claimed) != 1 || claimed[0].Kind != freshet.KindAlert {
			t.Fatalf("alerts %+v, %v", claimed, err)
		}
		if a := actions.Do(t.Context(), claimed[0]); a.Error != "" {
			t.Errorf("not told: %s", a.Error)
		}
		for _, want := range []string{"Watch", w.address, "4", "500"} {
			if !strings.Contains(told.Content, want) {
				t.Errorf("the message lacks %q: %s", want, told.Content)
			}
		}
	})
	trigger(t, "test_skip_disabled_workflow", func(t *testing.T, w *watching) {
		off := func(d *freshet.Definition) { d.Enabled = false }
		w.workflow(freshet.ContentRSS, off)
		if got := w.poll(rss(rssItem("1"))); len(got) != 0 || w.asked != 0 {
			t.Errorf("fired %+v, asked %d times", got, w.asked)
		}
		w.workflow(freshet.ContentRSS) // another one watches the same
		w.poll(rss(rssItem("1")))
		if n := len(w.executions()); n != 1 {
			t.Errorf("%d executions, want that of the one that is on", n)
		}
	})
	trigger(t, "test_skip_wrong_trigger_type", func(t *testing.T, w *watching) {
		d := freshet.Definition{Name: "x", Enabled: true}
		d.Trigger.Type, d.Trigger.Config.URL = "webhook", w.address
		_, err := w.AddWorkflow(t.Context(), d, w.now)
		bad, _ := errors.AsType[freshet.FieldErrors](err)
		if len(bad) != 1 || bad[0].Field != "trigger.type" {
			t.Errorf("error %v, want one about trigger.type", err)
		}
		if w.poll(rss(rssItem("1"))); w.asked != 0 {
			t.Error("its address was asked")
		}
	})
	trigger(t, "test_prune_seen_ids", func(t *testing.T, w *watching) {
		id := w.workflow(freshet.ContentRSS)
		for page := range 7 {
			var items []string
			for i := range 90 {
				items = append(items, rssItem(fmt.Sprint(page*90+89-i)))
			}
			w.poll(rss(items...))
		}
		ids := w.state(id).Memory.IDs
		if len(ids) != 500 || ids[0] != "id-629" || ids[499] != "id-130" {
			t.Errorf("%d ids from %s to %s; want the newest 500", len(ids), ids[0], ids[len(ids)-1])
		}
	})
}

// Seed 004: its edge cases.
func TestPollingTriggerEdges(t *testing.T) {
	// Only last_checked_at is updated.
	trigger(t, "Empty feed", func(t *testing.T, w *watching) {
		id := w.workflow(freshet.ContentRSS)
		if got := w.poll(rss()); len(got) != 0 {
			t.Errorf("fired %+v", got)
		}
		if got := w.state(id); !got.State.CheckedAt.Equal(w.now) || got.State.Failures != 0 || len(got.Memory.IDs) != 0 {
			t.Errorf("state %+v", got.State)
		}
	})
	// The first 100 items count.
	trigger(t, "Very large feed", func(t *testing.T, w *watching) {
		w.workflow(freshet.ContentRSS)
		var items []string
		for i := range 3000 {
			items = append(items, rssItem(fmt.Sprint(i)))
		}
		fired := w.poll(rss(items...))
		if len(fired) != 1 || len(fired[0].Items) != 100 || fired[0].Items[0].GUID != "id-0" || fired[0].Items[99].GUID != "id-99" {
			t.Fatalf("fired %d executions, %q", len(fired), guids(fired))
		}
		if got := guids(w.poll(rss(append([]string{rssItem("new")}, items...)...))); got != "id-new" {
			t.Errorf("then %q, want the new one only", got)
		}
	})
	// The link is the identifier.
	trigger(t, "Missing guid/id", func(t *testing.T, w *watching) {
		w.workflow(freshet.ContentRSS)
		item := `<item><title>%s</title><link>https://example.org/x</link></item>`
		if got := guids(w.poll(rss(fmt.Sprintf(item, "One")))); got != "https://example.org/x" {
			t.Errorf("guid %q", got)
		}
		if got := w.poll(rss(fmt.Sprintf(item, "Two"))); len(got) != 0 {
			t.Errorf("an edit of it fired %+v", got)
		}
	})
	// One fires.
	trigger(t, "Duplicate items", func(t *testing.T, w *watching) {
		w.workflow(freshet.ContentRSS)
		if got := guids(w.poll(rss(rssItem("1"), rssItem("1"), rssItem("2"), rssItem("1")))); got != "id-1 id-2" {
			t.Errorf("fired %q", got)
		}
	})
	// No execution.
	trigger(t, "Workflow deleted mid-poll", func(t *testing.T, w *watching) {
		id := w.workflow(freshet.ContentRSS)
		w.document = rss(rssItem("1"))
		claimed := w.claim()
		if len(claimed) != 1 {
			t.Fatalf("claimed %d", len(claimed))
		}
		if err := w.DeleteWorkflow(t.Context(), id, w.now); err != nil {
			t.Fatal(err)
		}
		w.finish(claimed)
		if got := w.executions(); len(got) != 0 {
			t.Errorf("made %+v", got)
		}
	})
}

// Seed 004: its expected errors. Each counts as one failure, and nothing is lost for it.
func TestPollingTriggerErrors(t *testing.T) {
	counts := func(t *testing.T, w *watching, breaks func()) {
		id := w.workflow(freshet.ContentRSS)
		w.poll(rss(rssItem("1")))
		breaks()
		if got := w.state(id); got.State.Failures != 1 || got.State.LastError == "" || !got.Enabled {
			t.Errorf("enabled %t, %+v", got.Enabled, got.State)
		}
		w.broken = nil
		if got := guids(w.poll(rss(rssItem("2"), rssItem("1")))); got != "id-2" || w.state(id).State.Failures != 0 {
			t.Errorf("when it works again %q fires, with %d failures", got, w.state(id).State.Failures)
		}
	}
	trigger(t, "ConnectionError", func(t *testing.T, w *watching) {
		counts(t, w, func() {
			w.broken = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
			w.poll("unreached")
		})
	})
	trigger(t, "TimeoutError", func(t *testing.T, w *watching) {
		counts(t, w, func() {
			w.broken = context.DeadlineExceeded
			w.poll("unreached")
		})
	})
	trigger(t, "ParseError", func(t *testing.T, w *watching) {
		counts(t, w, func() { w.poll("no feed") })
	})
	// The database is away while the poll is recorded: it is recorded when it is back, and counts as no failure.
	trigger(t, "DynamoDB throttle", func(t *testing.T, w *watching) {
		id := w.workflow(freshet.ContentRSS)
		w.document = rss(rssItem("1"))
		polls := w.read(w.claim())
		w.Close()
		if _, err := w.FinishPolls(t.Context(), polls, w.now); err == nil {
			t.Fatal("a poll was recorded in a database that is closed")
		}
		w.open()
		if _, err := w.FinishPolls(t.Context(), polls, w.now); err != nil {
			t.Fatal(err)
		}
		if _, err := w.FinishPolls(t.Context(), polls, w.now); err != nil { // its answer was lost
			t.Fatal(err)
		}
		if got := w.state(id); len(w.executions()) != 1 || got.State.Failures != 0 {
			t.Errorf("%d executions, %+v", len(w.executions()), got.State)
		}
	})
}

// Seed 004: its integration tests. Its EventBridge rule is the schedule of the workflow's source here.
func TestPollingTriggerSchedule(t *testing.T) {
	rule := func(w *watching, id freshet.ID) (every time.Duration, next time.Time) {
		w.Helper()
		src, err := w.Source(w.Context(), w.state(id).Source)
		if err != nil {
			w.Fatal(err)
		}
		return src.Source.Asked, src.Source.NextPollAt
	}
	trigger(t, "Create workflow with poll trigger → EventBridge rule created", func(t *testing.T, w *watching) {
		id := w.workflow(freshet.ContentRSS)
		if every, next := rule(w, id); every != 5*time.Minute || !next.Equal(w.now) {
			t.Errorf("every %s, next at %s", every, next)
		}
		w.poll(rss(rssItem("1")))
		if _, next := rule(w, id); !next.Equal(w.now.Add(5 * time.Minute)) {
			t.Errorf("next at %s, polled at %s", next, w.now)
		}
	})
	trigger(t, "Update poll interval → EventBridge rule updated", func(t *testing.T, w *watching) {
		id := w.workflow(freshet.ContentRSS)
		w.poll(rss(rssItem("1")))
		d := w.state(id).Definition
		d.Trigger.Config.IntervalMinutes = 45
		if _, err := w.ReplaceWorkflow(t.Context(), id, d, w.now); err != nil {
			t.Fatal(err)
		}
		if every, next := rule(w, id); every != 45*time.Minute || !next.Equal(w.now.Add(45*time.Minute)) {
			t.Errorf("every %s, next at %s, polled at %s", every, next, w.now)
		}
	})
	trigger(t, "Delete poll workflow → EventBridge rule deleted", func(t *testing.T, w *watching) {
		id := w.workflow(freshet.ContentRSS)
		w.poll(rss(rssItem("1")))
		source := w.state(id).Source
		if err := w.DeleteWorkflow(t.Context(), id, w.now); err != nil {
			t.Fatal(err)
		}
		if src, err := w.Source(t.Context(), source); !errors.Is(err, freshet.ErrNotFound) {
			t.Errorf("its source is there, next at %s (%v)", src.Source.NextPollAt, err)
		}
		asked := w.asked
		if w.poll(rss(rssItem("2"))); w.asked != asked {
			t.Error("its address is still asked")
		}
	})
	trigger(t, "Enable/disable poll workflow → EventBridge rule state matches", func(t *testing.T, w *watching) {
		id := w.workflow(freshet.ContentRSS)
		w.poll(rss(rssItem("1")))
		for _, on := range []bool{false, true} {
			if _, err := w.SwitchWorkflow(t.Context(), id, on, w.now); err != nil {
				t.Fatal(err)
			}
			asked := w.asked
			w.poll(rss(rssItem("2"), rssItem("1")))
			if every, next := rule(w, id); (every > 0) != on || next.IsZero() == on || (w.asked > asked) != on {
				t.Errorf("switched on %t: every %s, next at %s, %d requests", on, every, next, w.asked-asked)
			}
		}
		if got := guids(w.fired()); got != "id-1 id-2" {
			t.Errorf("fired %q", got)
		}
	})
}

// Seed 004: those of its success criteria that no single test of its own lists shows.
func TestPollingTriggerCriteria(t *testing.T) {
	trigger(t, "Can create workflow with poll trigger (RSS, Atom, or HTTP type)", func(t *testing.T, w *watching) {
		for _, kind := range []freshet.ContentType{freshet.ContentRSS, freshet.ContentAtom, freshet.ContentHTTP} {
			w.address = "https://news.example/" + string(kind)
			if got := w.state(w.workflow(kind)); got.Trigger.Type != "poll" || got.Trigger.Config.ContentType != kind || got.Trigger.Config.URL != w.address {
				t.Errorf("%s: %+v", kind, got.Trigger)
			}
		}
		w.poll(rss(rssItem("1")))
		of := map[freshet.ContentType]int{}
		for _, data := range w.fired() {
			of[data.ContentType]++
		}
		if of["rss"] != 1 || of["atom"] != 1 || of["http"] != 1 {
			t.Errorf("fired %v, want each once", of)
		}
	})
	trigger(t, "EventBridge rule created with configurable interval (min 5 minutes)", func(t *testing.T, w *watching) {
		for minutes, ok := range map[float64]bool{4: false, 4.99: false, -15: false, 5: true, 90: true} {
			d := freshet.Definition{Name: "x", Enabled: true}
			d.Trigger.Config = freshet.TriggerConfig{URL: w.address, IntervalMinutes: minutes}
			_, err := w.AddWorkflow(t.Context(), d, w.now)
			if bad, _ := errors.AsType[freshet.FieldErrors](err); ok != (err == nil) || !ok && (len(bad) != 1 || bad[0].Field != "trigger.config.interval_minutes") {
				t.Errorf("%g minutes: %v", minutes, err)
			}
		}
	})
	trigger(t, "Poll state persisted in DynamoDB (seen items, last hash)", func(t *testing.T, w *watching) {
		feed := w.workflow(freshet.ContentRSS)
		w.poll(rss(rssItem("1")))
		w.address = "https://news.example/page"
		page := w.workflow(freshet.ContentHTTP)
		w.poll(rss(rssItem("1")))
		w.poll("") // both fail
		before := []freshet.WorkflowState{w.state(feed).State, w.state(page).State}
		w.Close()
		w.open()
		if after := []freshet.WorkflowState{w.state(feed).State, w.state(page).State}; !slices.Equal(after, before) || after[0].Failures != 1 || after[1].ContentHash != sha(rss(rssItem("1"))) {
			t.Errorf("%+v, before %+v", after, before)
		}
		if ids := w.state(feed).Memory.IDs; !slices.Equal(ids, []string{"id-1"}) {
			t.Errorf("seen %q", ids)
		}
		if fired := w.poll(rss(rssItem("1"))); len(fired) != 0 {
			t.Errorf("after a restart it fires again: %+v", fired)
		}
	})
}
