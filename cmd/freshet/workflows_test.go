package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"freshet"
	"freshet/internal/web"
)

// A workflow's life on the command line: added, tested, pulled by a worker, retried, switched off, removed.
func TestWorkflowsOnTheCommandLine(t *testing.T) {
	instance(t)
	at := site(t, map[string]string{"/feed": feedOf("News", "one", "two")})
	var added web.Workflow
	goodJSON(t, &added, "workflows", "add", "--url", at+"/feed", "--name", "Releases", "--every", "30", "--batch", "item", "--filter", `title != ""`)
	if added.Name != "Releases" || added.Trigger.Config.IntervalMinutes != 30 || !added.Enabled || added.Batch != freshet.BatchItem || len(added.Warnings) != 1 {
		t.Errorf("added %+v", added)
	}
	if out := good(t, "workflows", "list"); !strings.Contains(out, "Releases") || !strings.Contains(out, "on ") {
		t.Errorf("listed %q", out)
	}
	var made struct{ Executions []web.Execution }
	goodJSON(t, &made, "workflows", "test", "releases")
	if len(made.Executions) != 1 || made.Executions[0].Kind != freshet.KindTest {
		t.Fatalf("a test made %+v", made)
	}
	good(t, "ingest")
	var leased web.Leased
	var lines []string
	for line := range strings.Lines(good(t, "queue", "pull", "--workflow", added.ID.String(), "--limit", "10", "--json")) {
		lines = append(lines, line)
	}
	if len(lines) != 3 || json.Unmarshal([]byte(lines[2]), &leased) != nil || leased.Attempt != 1 || leased.Workflow != "Releases" || !strings.Contains(string(leased.Data), `"title":"one"`) {
		t.Fatalf("pulled %q; want a test and an execution for each of two entries, the newest one last", lines)
	}
	if out := good(t, "executions", "list"); strings.Count(out, " Releases ") != 3 {
		t.Errorf("executions are listed without their workflow: %s", out)
	}
	if out := good(t, "queue", "pull", "--json", "--wait", "1ms"); out != "" {
		t.Errorf("pulled twice: %q", out)
	}
	id := leased.ID.String()
	if r := freshetRun(t, "queue", "ack", id, "--attempt", "7"); r.code != exitFailed || !strings.Contains(r.talk, "lease") {
		t.Errorf("ack of an attempt that is not ours: exit %d, %q", r.code, r.talk)
	}
	good(t, "queue", "nack", id, "--attempt", "1", "--error", "disk full")
	var detail web.ExecutionDetail
	goodJSON(t, &detail, "executions", "show", id)
	if detail.State != freshet.Retrying || len(detail.Attempts) != 1 || *detail.Attempts[0].Error != "disk full" {
		t.Errorf("after nack %+v", detail)
	}
	if r := freshetRun(t, "executions", "retry", id, "7"); r.code != exitFailed || !strings.Contains(r.talk, id+" is tried again.") || !strings.Contains(r.talk, "7 is no execution here") {
		t.Errorf("retried with one that is none: exit %d, %q", r.code, r.talk)
	}
	good(t, "queue", "pull", "--workflow", "Releases")
	good(t, "queue", "ack", id, "--attempt", "2")
	goodJSON(t, &made, "executions", "list", "--workflow", "Releases", "--state", "succeeded")
	if len(made.Executions) != 1 || made.Executions[0].ID != leased.ID || made.Executions[0].Tries != 2 {
		t.Errorf("succeeded %+v", made)
	}
	if out := good(t, "executions", "show", id); !strings.Contains(out, "succeeded") || !strings.Contains(out, "disk full") {
		t.Errorf("shown %q", out)
	}
	good(t, "workflows", "disable", "Releases")
	if out := good(t, "workflows", "show", "Releases"); !strings.Contains(out, "off; id "+added.ID.String()) {
		t.Errorf("switched off: %q", out)
	}
	good(t, "workflows", "enable", added.ID.String())
	good(t, "workflows", "rm", "Releases")
	if out := good(t, "workflows", "list", "--json"); !strings.Contains(out, `"workflows": []`) {
		t.Errorf("after rm: %s", out)
	}
}

// A workflow that is switched off is shown, too, when its source was removed.
func TestWorkflowOfRemovedSource(t *testing.T) {
	instance(t)
	good(t, "workflows", "add", "--url", "https://example.org/feed", "--name", "Quiet")
	good(t, "workflows", "disable", "Quiet")
	good(t, "sources", "rm", "https://example.org/feed")
	if out := good(t, "workflows", "list"); !strings.Contains(out, "Quiet") {
		t.Errorf("listed %q", out)
	}
	if out := good(t, "workflows", "show", "Quiet"); !strings.Contains(out, "off; id ") {
		t.Errorf("shown %q", out)
	}
}

// Whoever waits for executions of a workflow that sends them is told so.
func TestPullOfWhatIsSent(t *testing.T) {
	instance(t)
	good(t, "workflows", "add", "--url", "https://example.org/feed", "--name", "Hook", "--webhook", "https://a.example/hook")
	if r := freshetRun(t, "queue", "pull", "--workflow", "hook"); r.code != 0 || r.out != "" || !strings.Contains(r.talk, "wait for no worker") {
		t.Errorf("exit %d, %q, %q", r.code, r.out, r.talk)
	}
}

// A webhook's secret is shown when it is made, and never again.
func TestWorkflowSecretIsShownOnce(t *testing.T) {
	instance(t)
	out := good(t, "workflows", "add", "--url", "https://example.org/feed", "--name", "Hook", "--webhook", "https://a.example/hook")
	_, rest, found := strings.Cut(out, "secret: ")
	secret, _, _ := strings.Cut(rest, " (shown only now")
	if _, err := freshet.SigningKey(secret); !found || err != nil {
		t.Fatalf("added %q: %v", out, err)
	}
	for _, args := range [][]string{{"show", "Hook"}, {"show", "Hook", "--json"}, {"list", "--json"}} {
		if out := good(t, append([]string{"workflows"}, args...)...); strings.Contains(out, secret) {
			t.Errorf("%q shows the secret: %s", args, out)
		}
	}
}

// What a workflow sends with lies sealed in the data folder; a server whose key does not open it says so at its start.
func TestWorkflowSecretsAreSealed(t *testing.T) {
	instance(t)
	data := t.TempDir()
	t.Setenv("FRESHET_DATA", data)
	out := good(t, "workflows", "add", "--url", "https://example.org/feed", "--name", "Hook", "--webhook", "https://a.example/hook")
	_, rest, _ := strings.Cut(out, "secret: ")
	secret, _, _ := strings.Cut(rest, " (shown only now")
	if len(secret) < 30 {
		t.Fatalf("added %q", out)
	}
	files, err := filepath.Glob(filepath.Join(data, "*"))
	if err != nil || len(files) < 3 {
		t.Fatalf("files: %v, %v", files, err)
	}
	for _, name := range files {
		if text, err := os.ReadFile(name); err != nil || bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s holds the secret in the clear (%v)", name, err)
		}
	}
	t.Setenv("FRESHET_MASTER_KEY", strings.Repeat("cd", 32))
	for _, args := range [][]string{{"serve", "--listen", "127.0.0.1:0"}, {"workflows", "add", "--url", "https://example.org/b", "--webhook", "https://a.example/hook"}} {
		r := freshetRun(t, args...)
		if r.code != exitFailed || !strings.Contains(r.talk, "another master key") || !strings.Contains(r.talk, "FRESHET_MASTER_KEY") || strings.Contains(r.talk, "cdcd") {
			t.Errorf("%q with a wrong key: %+v", args, r)
		}
	}
	good(t, "workflows", "rm", "Hook") // the way out when a key is lost
	good(t, "workflows", "add", "--url", "https://example.org/b", "--webhook", "https://a.example/hook")
}

func TestWorkflowFromFile(t *testing.T) {
	instance(t)
	file := writeFile(t, filepath.Join(t.TempDir(), "w.json"), `{"name": "Prices", "trigger": {"config": {"url": "https://example.org/prices", "content_type": "http", "selector": ".price"}}}`)
	var added web.Workflow
	goodJSON(t, &added, "workflows", "add", "--file", file)
	again := writeFile(t, filepath.Join(t.TempDir(), "shown.json"), good(t, "workflows", "show", "Prices", "--json"))
	good(t, "workflows", "add", "--file", again) // what was shown can be given back
	if out := good(t, "workflows", "list", "--json"); strings.Count(out, `"selector": ".price"`) != 2 {
		t.Errorf("what was shown is not added: %s", out)
	}
	if added.Trigger.Config.Selector != ".price" || added.Trigger.Config.IntervalMinutes != 15 || !added.Enabled {
		t.Errorf("added %+v", added)
	}
}

func TestWorkflowRefused(t *testing.T) {
	instance(t)
	good(t, "workflows", "add", "--url", "https://example.org/a", "--name", "Twin")
	good(t, "workflows", "add", "--url", "https://example.org/b", "--name", "twin")
	file := func(text string) string { return writeFile(t, filepath.Join(t.TempDir(), "w.json"), text) }
	for name, tc := range map[string]struct {
		args []string
		code int
		talk []string
	}{
		"nothing":        {[]string{"workflows", "add"}, exitUsage, []string{"--url"}},
		"several fields": {[]string{"workflows", "add", "--url", "ftp://x", "--every", "4", "--filter", "("}, exitFailed, []string{"trigger.config.url", "trigger.config.interval_minutes", "filter"}},
		"unknown field":  {[]string{"workflows", "add", "--file", file(`{"name": "x", "colour": "red"}`)}, exitFailed, []string{"w.json: unknown field \"colour\""}},
		"wrong type":     {[]string{"workflows", "add", "--file", file(`{"name": "x", "trigger": {"config": {"interval_minutes": "4"}}}`)}, exitFailed, []string{"w.json: trigger.config.interval_minutes cannot be of the type string"}},
		"no object":      {[]string{"workflows", "add", "--file", file(`[]`)}, exitFailed, []string{"w.json: the whole cannot be of the type array"}},
		"half a file":    {[]string{"workflows", "add", "--file", file(`{"name": "x"`)}, exitFailed, []string{"w.json: it is no whole JSON document"}},
		"hidden secret":  {[]string{"workflows", "add", "--file", file(`{"name": "x", "trigger": {"config": {"url": "https://example.org/feed"}}, "actions": [{"type": "webhook", "url": "https://a.example", "secret": "••••abcd"}]}`)}, exitFailed, []string{"actions[0].secret"}},
		"no such one":    {[]string{"workflows", "show", "none"}, exitFailed, []string{"is no workflow here"}},
		"two of a name":  {[]string{"workflows", "rm", "Twin"}, exitFailed, []string{"2 workflows"}},
		"state":          {[]string{"executions", "list", "--state", "lost"}, exitUsage, []string{"--state"}},
		"no execution":   {[]string{"executions", "show", "17"}, exitFailed, []string{"is no execution here"}},
		"no id":          {[]string{"executions", "retry", "x"}, exitFailed, []string{"is no execution here"}},
		"no attempt":     {[]string{"queue", "ack", "17"}, exitUsage, []string{"--attempt"}},
		"short lease":    {[]string{"queue", "pull", "--lease", "1s"}, exitUsage, []string{"--lease"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := freshetRun(t, tc.args...)
			if r.code != tc.code || r.out != "" {
				t.Errorf("exit %d, output %q; want %d and none", r.code, r.out, tc.code)
			}
			for _, want := range tc.talk {
				if !strings.Contains(r.talk, want) {
					t.Errorf("%q lacks %q", r.talk, want)
				}
			}
		})
	}
}
