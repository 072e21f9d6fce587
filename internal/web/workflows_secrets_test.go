package web

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"freshet"
)

// notes is what was logged.
type notes struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.b.Write(p)
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.b.String()
}

// Whatever is asked of a workflow, no answer, no page, no error and no line of the log has what its actions send with.
func TestSecretsOfWorkflowsStayInside(t *testing.T) {
	var log notes
	s := newSite(t, func(c *Config) {
		c.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	const one, two = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwaaaa", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwbbbb"
	secrets := []string{one, two, one[6:], "open-sesame-header", "pass-of-hook", "token-of-discord", "key-of-sqs", "pass-of-broker"}
	actions := `[
		{"type": "webhook", "url": "https://me:pass-of-hook@a.example/hook", "secret": "` + one + `", "previous_secret": "` + two + `", "headers": {"Authorization": "open-sesame-header"}},
		{"type": "notify", "url": "discord://token-of-discord@1234"},
		{"type": "queue", "url": "sqs://id:key-of-sqs@sqs.eu-west-1.amazonaws.com/1/q"},
		{"type": "queue", "url": "amqp://me:pass-of-broker@b.example/?queue=q"}]`
	definition := func(config, actions string) string {
		return `{"name": "News", "trigger": {"config": {"url": "https://example.org/feed"` + config + `}}, "actions": ` + actions + `}`
	}
	silent := func(what, text string) {
		t.Helper()
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s tells %s: %.600s", what, secret, text)
			}
		}
	}
	a := s.want(201, "POST", "/api/workflows", definition("", actions))
	silent("the answer", a.Body.String())
	address := "/api/workflows/" + a.text("id")
	s.poll(posts(post("a", 5)))
	shown := s.want(200, "GET", address, "")

	for _, call := range []struct {
		status             int
		method, path, body string
	}{
		{200, "GET", "/api/workflows", ""}, {200, "GET", address, ""}, {200, "GET", address + "/executions", ""},
		{200, "PATCH", address + "/enabled", `{"enabled": false}`}, {200, "PATCH", address + "/enabled", `{"enabled": true}`},
		{200, "PUT", address, shown.Body.String()}, // as it was shown
		{200, "PUT", address, definition(`, "interval_minutes": 30`, actions)},
		{422, "PUT", address, definition(`, "interval_minutes": 1`, actions)},
		{422, "PUT", address, definition(`, "filter": 1`, actions)},
		{200, "POST", "/api/workflows/dry-run", definition("", actions)},
		{202, "POST", address + "/test", ""},
		{200, "GET", "/api/executions", ""},
	} {
		a := s.want(call.status, call.method, call.path, call.body)
		silent(call.method+" "+call.path, a.Body.String())
	}
	for _, page := range []string{"/workflows", "/workflows/" + shown.text("id"), "/system.atom", "/api/feeds"} {
		silent(page, s.call("GET", page, "", "Accept: text/html").Body.String())
	}
	flow, err := s.Store.Workflow(t.Context(), parse(t, shown.text("id")))
	if err != nil || flow.Actions[0].Secret != one || flow.Actions[0].Headers["Authorization"] != "open-sesame-header" || flow.Actions[1].URL != "discord://token-of-discord@1234" {
		t.Fatalf("what was sent back as it was shown is not what it was (%v): %+v", err, flow.Actions)
	}

	// What fails says which action it was, and not how it is reached.
	claimed, err := s.Store.ClaimExecutions(t.Context(), "me", 10, 10, nil, time.Minute, time.Now().Add(time.Second))
	if err != nil || len(claimed) == 0 {
		t.Fatalf("%d claimed (%v)", len(claimed), err)
	}
	for _, d := range claimed {
		if _, err := s.Store.FinishAttempts(t.Context(), []freshet.Attempted{{Execution: d.ID, Attempt: freshet.Attempt{N: d.Attempts, StartedAt: time.Now(), Error: "No.", Final: true}}}, time.Now()); err != nil {
			t.Fatal(err)
		}
		silent("the execution", s.want(200, "GET", "/api/executions/"+d.ID.String(), "").Body.String())
		silent("its page", s.call("GET", "/executions/"+d.ID.String(), "", "Accept: text/html").Body.String())
	}
	silent("the feed of the system", s.call("GET", "/system.atom", "").Body.String())
	silent("the log", log.String())
}
