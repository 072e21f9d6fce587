package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// discord takes messages as Discord's webhooks do.
type discord struct {
	*httptest.Server
	mu       sync.Mutex
	messages []string
	wrong    []string
}

const discordPath = "/api/webhooks/1234/s3cret-token"

func startDiscord(t *testing.T) *discord {
	t.Helper()
	d := &discord{}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

func (d *discord) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var message struct {
		Content  string `json:"content"`
		Mentions *struct {
			Parse []string `json:"parse"`
		} `json:"allowed_mentions"`
	}
	err := json.NewDecoder(r.Body).Decode(&message)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil || r.Method != http.MethodPost || r.URL.Path != discordPath || r.Header.Get("Content-Type") != "application/json" ||
		message.Content == "" || len(message.Content) > 2000 || message.Mentions == nil || len(message.Mentions.Parse) > 0 {
		d.wrong = append(d.wrong, r.Method+" "+r.URL.Path+" "+message.Content)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	d.messages = append(d.messages, message.Content)
	w.WriteHeader(http.StatusNoContent)
}

func (d *discord) told() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.messages...)
}

// flow is a workflow as the API shows it.
type flow struct {
	ID             string  `json:"id"`
	Enabled        bool    `json:"enabled"`
	DisabledReason *string `json:"disabled_reason"`
	SourceID       string  `json:"source_id"`
	State          struct {
		Failures int     `json:"consecutive_failures"`
		Error    *string `json:"last_error"`
	} `json:"state"`
}

func (s server) flow(t *testing.T, id string) (f flow) {
	t.Helper()
	must(t, get(s.url+"/api/workflows/"+id, &f))
	return f
}

// pollSource makes the source of a workflow be polled once by hand.
func (s server) pollSource(t *testing.T, id string) {
	t.Helper()
	var r refresh
	must(t, post(s.url+"/api/feeds/"+id+"/refresh", "", nil, &r))
	s.finish(t, r.ID)
}

// W8: four failing polls in a row switch a workflow off, each by its own count, and Discord is told of each once.
// Switching one on again clears its count, and it works when its address does.
func TestFourFailingPollsDisableAndDiscordIsTold(t *testing.T) {
	databases(t, func(t *testing.T, env []string) {
		stand, d, r := newNewsstand(t, "127.0.0.2"), startDiscord(t), startReceiver(t)
		stand.status("/feed.xml", http.StatusInternalServerError)
		address := stand.url + "/feed.xml"
		s := serve(t, append(env, "FRESHET_TICK=50ms", "FRESHET_DELIVER_ALLOW=127.0.0.0/8", "DISCORD_WEBHOOK_URL="+d.URL+discordPath)...)
		source := s.add(t, address) // in the river, so that it can be refreshed; its first poll fails before there is a workflow

		early := s.addWorkflow(t, r, "Early *bird* @everyone", address) // polled at once
		s.failed(t, early, 1)
		s.pollSource(t, source)
		s.failed(t, early, 2)
		late := s.addWorkflow(t, r, "Late bird", address)
		s.failed(t, late, 1)
		if f := s.flow(t, early); !f.Enabled || f.State.Failures != 3 {
			t.Fatalf("after three failures: %+v", f)
		}
		s.pollSource(t, source)
		if f := s.flow(t, early); f.Enabled || f.State.Failures != 4 || f.DisabledReason == nil || !strings.Contains(*f.DisabledReason, "500") {
			t.Errorf("after four failures: %+v", f)
		}
		if f := s.flow(t, late); !f.Enabled || f.State.Failures != 2 {
			t.Errorf("the other one: %+v", f)
		}
		s.pollSource(t, source)
		s.pollSource(t, source)
		if f := s.flow(t, late); f.Enabled || f.State.Failures != 4 {
			t.Errorf("the other one: %+v", f)
		}
		await(t, "two alerts", func() (bool, error) { return len(d.told()) >= 2, nil })
		s.pollSource(t, source) // nobody is told again
		await(t, "every execution to end", func() (bool, error) { return s.waiting(t) == 0, nil })
		told := d.told()
		if len(told) != 2 || len(d.wrong) != 0 {
			t.Fatalf("told %q, refused %q", told, d.wrong)
		}
		for i, name := range []string{`Early \*bird\* @` + "\u200b" + `everyone`, "Late bird"} {
			for _, want := range []string{name, "<" + address + ">", "4", "500"} {
				if !strings.Contains(told[i], want) {
					t.Errorf("message %d lacks %q: %s", i, want, told[i])
				}
			}
		}

		stand.feed("/feed.xml", "Stand", entries("stand", 1, time.Hour)...)
		for _, id := range []string{early, late} {
			must(t, ask(http.MethodPatch, s.url+"/api/workflows/"+id+"/enabled", "application/json", strings.NewReader(`{"enabled": true}`), nil))
		}
		await(t, "both to fire", func() (bool, error) { return r.count() == 1 && r.deliveries() == 2, nil })
		for _, id := range []string{early, late} {
			if f := s.flow(t, id); !f.Enabled || f.State.Failures != 0 || f.State.Error != nil || f.DisabledReason != nil {
				t.Errorf("switched on: %+v", f)
			}
		}
		if out := s.out.String(); strings.Contains(out, "s3cret-token") || strings.Contains(out, "whsec_") {
			t.Error("the log has a secret")
		}
		answer, err := client.Get(s.url + "/system.atom")
		must(t, err)
		defer answer.Body.Close()
		system, err := io.ReadAll(answer.Body)
		must(t, err)
		if n := strings.Count(string(system), "Workflow switched off"); n < 2 || strings.Contains(string(system), "s3cret-token") {
			t.Errorf("the system's feed: %s", system)
		}
	})
}

// failed waits until a workflow has so many failures.
func (s server) failed(t *testing.T, id string, n int) {
	t.Helper()
	await(t, "a failure to be counted", func() (bool, error) { return s.flow(t, id).State.Failures == n, nil })
}

// deliveries counts the ids that came.
func (r *receiver) deliveries() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.bodies)
}
