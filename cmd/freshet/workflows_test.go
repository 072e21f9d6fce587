package main

import (
	"encoding/json"
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
	good(t, "executions", "retry", id)
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

// A webhook's secret is shown when it is made, and never again.
func TestWorkflowSecretIsShownOnce(t *testing.T) {
	instance(t)
	out := good(t, "workflows", "add", "--url", "https://example.org/feed", "--name", "Hook", "--webhook", "https://a.example/hook")
	_, rest, found := strings.Cut(out, "secret: ")
	secret, _, _ := strings.Cut(rest, "\n")
	if _, err := freshet.SigningKey(secret); !found || err != nil {
		t.Fatalf("added %q: %v", out, err)
	}
	for _, args := range [][]string{{"show", "Hook"}, {"show", "Hook", "--json"}, {"list", "--json"}} {
		if out := good(t, append([]string{"workflows"}, args...)...); strings.Contains(out, secret) {
			t.Errorf("%q shows the secret: %s", args, out)
		}
	}
}

func TestWorkflowFromFile(t *testing.T) {
	instance(t)
	file := writeFile(t, filepath.Join(t.TempDir(), "w.json"), `{"name": "Prices", "trigger": {"config": {"url": "https://example.org/prices", "content_type": "http", "selector": ".price"}}}`)
	var added web.Workflow
	goodJSON(t, &added, "workflows", "add", "--file", file)
	if added.Trigger.Config.Selector != ".price" || added.Trigger.Config.IntervalMinutes != 15 || !added.Enabled {
		t.Errorf("added %+v", added)
	}
}

func TestWorkflowRefused(t *testing.T) {
	instance(t)
	good(t, "workflows", "add", "--url", "https://example.org/a", "--name", "Twin")
	good(t, "workflows", "add", "--url", "https://example.org/b", "--name", "twin")
	unknown := writeFile(t, filepath.Join(t.TempDir(), "unknown.json"), `{"name": "x", "colour": "red"}`)
	for name, tc := range map[string]struct {
		args []string
		code int
		talk []string
	}{
		"nothing":        {[]string{"workflows", "add"}, exitUsage, []string{"--url"}},
		"several fields": {[]string{"workflows", "add", "--url", "ftp://x", "--every", "4", "--filter", "("}, exitFailed, []string{"trigger.config.url", "trigger.config.interval_minutes", "filter"}},
		"unknown field":  {[]string{"workflows", "add", "--file", unknown}, exitFailed, []string{"colour"}},
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
