package freshet_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"freshet"
	"freshet/internal/deliver"
	"freshet/internal/fetch"
	"freshet/internal/reader"
	"freshet/internal/store"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// watching is a database with one address and a clock of its own: what lies between a document and an execution.
type watching struct {
	*testing.T
	*store.Store
	reader   *reader.Reader
	address  string
	document atomic.Value // string; "" answers 500
	asked    atomic.Int32
	now      time.Time
}

func newWatching(t *testing.T) *watching {
	settings := freshet.DefaultSettings()
	settings.Alerts = 1
	quiet := slog.New(slog.DiscardHandler)
	st, err := store.Open(t.Context(), ":memory:", store.Options{Settings: settings, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	w := &watching{T: t, Store: st, now: time.Now().UTC().Truncate(time.Second),
		reader: reader.New(fetch.New(fetch.Settings{Timeout: 5 * time.Second, Allow: loopback}), quiet)}
	w.document.Store("")
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		w.asked.Add(1)
		if text := w.document.Load().(string); text != "" {
			fmt.Fprint(out, text)
			return
		}
		out.WriteHeader(http.StatusInternalServerError)
	}))
	t.Cleanup(server.Close)
	w.address = server.URL + "/feed"
	return w
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
	w.document.Store(document)
	w.now = w.now.Add(24 * time.Hour)
	before := len(w.executions())
	w.finish(w.claim())
	var fired []freshet.TriggerData
	made := w.executions()
	for i := len(made) - before - 1; i >= 0; i-- {
		var data freshet.TriggerData
		if err := json.Unmarshal(made[i].Data, &data); err != nil {
			w.Fatal(err)
		}
		if made[i].Kind == freshet.KindTrigger {
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

func (w *watching) finish(claimed []store.Watched) {
	w.Helper()
	turn := w.reader.Turn()
	defer turn.Close()
	for _, c := range claimed {
		o := turn.Read(w.Context(), c.Source)
		o.At = w.now
		if _, err := w.FinishPolls(w.Context(), []store.Poll{{Source: c.Source.ID, Seq: c.Source.Seq, Outcome: o}}, w.now); err != nil {
			w.Fatal(err)
		}
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
	t.Run("test_parse_rss_feed", func(t *testing.T) {
		w := newWatching(t)
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
	t.Run("test_parse_atom_feed", func(t *testing.T) {
		w := newWatching(t)
		w.workflow(freshet.ContentAtom)
		if got := guids(w.poll(atom("<id>urn:one</id>"))); got != "urn:one" {
			t.Errorf("guid %q, want the id", got)
		}
	})
	t.Run("test_parse_atom_feed_fallback_link", func(t *testing.T) {
		w := newWatching(t)
		w.workflow(freshet.ContentAtom)
		if got := guids(w.poll(atom(""))); got != "https://example.org/one" {
			t.Errorf("guid %q, want the link", got)
		}
		if got := w.poll(atom("<!-- again -->")); len(got) != 0 {
			t.Errorf("an entry without id fired again: %+v", got)
		}
	})
	t.Run("test_find_new_items", func(t *testing.T) {
		w := newWatching(t)
		w.workflow(freshet.ContentRSS)
		w.poll(rss(rssItem("2"), rssItem("1")))
		if got := guids(w.poll(rss(rssItem("4"), rssItem("3"), rssItem("2"), rssItem("1")))); got != "id-4 id-3" {
			t.Errorf("new are %q, want those that were not seen", got)
		}
		if got := w.poll(rss(rssItem("1"), rssItem("2"), rssItem("3"), rssItem("4"))); len(got) != 0 {
			t.Errorf("another order fired %+v", got)
		}
	})
	t.Run("test_hash_content", func(t *testing.T) {
		w := newWatching(t)
		id := w.workflow(freshet.ContentHTTP)
		fired := w.poll("hello")
		if len(fired) != 1 || fired[0].ContentType != "http" || *fired[0].Content != "hello" || fired[0].ContentHash != "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" {
			t.Errorf("fired %+v", fired)
		}
		if got := w.state(id).State.ContentHash; got != fired[0].ContentHash {
			t.Errorf("the state's hash is %s", got)
		}
	})
	t.Run("test_check_http_changed", func(t *testing.T) {
		w := newWatching(t)
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
	t.Run("test_handle_failure_increments_counter", func(t *testing.T) {
		w := newWatching(t)
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
	t.Run("a success resets the counter", func(t *testing.T) {
		w := newWatching(t)
		id := w.workflow(freshet.ContentRSS)
		w.poll("")
		w.poll("")
		w.poll(rss(rssItem("1")))
		if got := w.state(id).State; got.Failures != 0 || got.LastError != "" {
			t.Errorf("state %+v", got)
		}
	})
	t.Run("test_auto_disable_after_four_failures", func(t *testing.T) {
		w := newWatching(t)
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
		asked := w.asked.Load()
		if w.poll(rss(rssItem("1"))); w.asked.Load() != asked {
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
	t.Run("test_send_discord_notification", func(t *testing.T) {
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
		w := newWatching(t)
		w.workflow(freshet.ContentRSS)
		for range 4 {
			w.poll("")
		}
		claimed, err := w.ClaimExecutions(t.Context(), "me", 10, nil, time.Minute, w.now)
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
	t.Run("test_skip_disabled_workflow", func(t *testing.T) {
		w := newWatching(t)
		off := func(d *freshet.Definition) { d.Enabled = false }
		w.workflow(freshet.ContentRSS, off)
		if got := w.poll(rss(rssItem("1"))); len(got) != 0 || w.asked.Load() != 0 {
			t.Errorf("fired %+v, asked %d times", got, w.asked.Load())
		}
		w.workflow(freshet.ContentRSS) // another one watches the same
		w.poll(rss(rssItem("1")))
		if n := len(w.executions()); n != 1 {
			t.Errorf("%d executions, want that of the one that is on", n)
		}
	})
	t.Run("test_skip_wrong_trigger_type", func(t *testing.T) {
		w := newWatching(t)
		d := freshet.Definition{Name: "x", Enabled: true}
		d.Trigger.Type, d.Trigger.Config.URL = "webhook", w.address
		_, err := w.AddWorkflow(t.Context(), d, w.now)
		bad, _ := errors.AsType[freshet.FieldErrors](err)
		if len(bad) != 1 || bad[0].Field != "trigger.type" {
			t.Errorf("error %v, want one about trigger.type", err)
		}
		if w.poll(rss(rssItem("1"))); w.asked.Load() != 0 {
			t.Error("its address was asked")
		}
	})
	t.Run("test_prune_seen_ids", func(t *testing.T) {
		w := newWatching(t)
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
	t.Run("Empty feed: only last_checked_at is updated", func(t *testing.T) {
		w := newWatching(t)
		id := w.workflow(freshet.ContentRSS)
		if got := w.poll(rss()); len(got) != 0 {
			t.Errorf("fired %+v", got)
		}
		if got := w.state(id); !got.State.CheckedAt.Equal(w.now) || got.State.Failures != 0 || len(got.Memory.IDs) != 0 {
			t.Errorf("state %+v", got.State)
		}
	})
	t.Run("Very large feed: the first 100 items", func(t *testing.T) {
		w := newWatching(t)
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
	t.Run("Missing guid: the link is the identifier", func(t *testing.T) {
		w := newWatching(t)
		w.workflow(freshet.ContentRSS)
		item := `<item><title>%s</title><link>https://example.org/x</link></item>`
		if got := guids(w.poll(rss(fmt.Sprintf(item, "One")))); got != "https://example.org/x" {
			t.Errorf("guid %q", got)
		}
		if got := w.poll(rss(fmt.Sprintf(item, "Two"))); len(got) != 0 {
			t.Errorf("an edit of it fired %+v", got)
		}
	})
	t.Run("Duplicate items: one fires", func(t *testing.T) {
		w := newWatching(t)
		w.workflow(freshet.ContentRSS)
		if got := guids(w.poll(rss(rssItem("1"), rssItem("1"), rssItem("2"), rssItem("1")))); got != "id-1 id-2" {
			t.Errorf("fired %q", got)
		}
	})
	t.Run("Workflow deleted mid-poll: no execution", func(t *testing.T) {
		w := newWatching(t)
		id := w.workflow(freshet.ContentRSS)
		w.document.Store(rss(rssItem("1")))
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
