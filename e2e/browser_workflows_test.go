package e2e

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// U4: the form, filled by a browser, makes a workflow that fires; what is wrong is said beside the fields; runs and
// their tries can be looked at and sent again. With script and without.
func TestWorkflowPages(t *testing.T) {
	for _, how := range []struct {
		name   string
		script bool
	}{{"with script", true}, {"without script", false}} {
		t.Run(how.name, func(t *testing.T) {
			stand := newNewsstand(t, "127.0.0.2")
			stand.feed("/feed.xml", "The Daily Stand", entries("stand", 3, time.Hour)...)
			r := startReceiver(t)
			s := reader(t, "FRESHET_DELIVER_ALLOW=127.0.0.0/8")
			var b *tab
			if how.script {
				b = browse(t, s.url)
			} else {
				b = browse(t, s.url, noScript())
			}
			b.open("/workflows")
			b.says("main", "No workflows yet")
			b.follow(".first .button")

			t.Run("what is wrong is beside the fields", func(t *testing.T) {
				b := b.in(t)
				b.fill("[name=interval_minutes]", "4")
				b.fill("[name=filter]", "title contains")
				b.fill("[name=url]", "ftp://stand.example/feed")
				b.follow("button[value=save]")
				for field, reason := range map[string]string{
					"name": "must not be empty", "url": "https://", "interval_minutes": "at least 5", "filter": "cannot be used", "action0_url": "https://",
				} {
					b.says("#wrong-"+field, reason)
				}
				b.says("#problem", "Nothing was saved: 5 fields")
				if got := eval[string](b, "document.querySelector('[name=url]').value"); got != "ftp://stand.example/feed" {
					t.Errorf("the address is %q after the answer", got)
				}
				b.looks("wrong")
			})
			if how.script {
				t.Run("a field is checked while the form is filled in", func(t *testing.T) {
					b := b.in(t)
					b.open("/workflows/new")
					b.fill("[name=interval_minutes]", "3")
					eval[bool](b, "document.querySelector('[name=interval_minutes]').dispatchEvent(new Event('change', {bubbles: true}))")
					b.waitText("#wrong-interval_minutes", "at least 5")
					b.fill("[name=interval_minutes]", "5")
					eval[bool](b, "document.querySelector('[name=interval_minutes]').dispatchEvent(new Event('change', {bubbles: true}))")
					b.wait("the field to be right", "!document.getElementById('wrong-interval_minutes')")
				})
			}

			b.open("/workflows/new")
			b.fill("[name=name]", "Stand to the hook")
			b.fill("[name=url]", stand.url+"/feed.xml")
			b.fill("[name=interval_minutes]", "5")
			b.click("[name=first_poll][value=all]")
			b.click("[name=batch][value=item]")
			b.fill("[name=filter]", `not (title contains "2")`)
			b.fill("[name=action0_url]", r.URL)
			t.Run("it is rehearsed without being saved", func(t *testing.T) {
				b := b.in(t)
				b.follow("button[value=rehearse]")
				b.says("#rehearsal", "it would have run 2 times: 2 of 3 entries pass")
				b.says("#rehearsal pre", "stand")
				b.looks("rehearsed")
				if r.count() != 0 {
					t.Error("a rehearsal sent something")
				}
			})
			b.follow("button[value=save]")
			b.says(".secret", "whsec_")
			await(t, "the workflow to fire", func() (bool, error) { return r.count() == 2, nil })
			r.check(t, 2)

			b.open("/workflows")
			b.says(".workflow", "Stand to the hook")
			b.waitReload("succeeded", ".workflow")
			b.looks("list")
			b.follow(".workflow .name")
			b.says("h1", "on")
			if n := b.count(".runs tbody tr"); n != 2 {
				t.Errorf("%d runs are shown, want 2", n)
			}
			b.looks("workflow")
			b.follow(".runs a")
			b.says("main", "taken")
			b.looks("run")
			b.follow(`form[action$="/retry"] button`)
			await(t, "the run to be sent again", func() (bool, error) {
				r.mu.Lock()
				defer r.mu.Unlock()
				return r.again == 1, nil
			})

			b.open("/workflows")
			b.follow(".workflow .buttons button")
			b.says(".workflow", "paused")
			b.follow(".workflow .name")
			b.click(".remove summary")
			b.follow(".remove button")
			b.says("main", "No workflows yet")
			if strings.Contains(s.out.String(), "whsec_") {
				t.Error("the log has a secret")
			}
		})
	}
}

// waitReload loads the page again until an element holds a text.
func (b *tab) waitReload(part, css string) {
	b.t.Helper()
	await(b.t, css+" to say "+part, func() (bool, error) {
		if strings.Contains(b.text(css), part) {
			return true, nil
		}
		b.open(b.where())
		return false, nil
	})
}

// failedRun makes a workflow whose receiver refuses, and returns its id and that of its first run.
func (s server) failedRun(t *testing.T, address string) (flow, run string) {
	t.Helper()
	refusing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(refusing.Close)
	s.addWorkflow(t, &receiver{Server: refusing}, "Refused", address)
	var page struct {
		Executions []struct {
			ID         string `json:"id"`
			WorkflowID string `json:"workflow_id"`
		} `json:"executions"`
	}
	await(t, "a run to fail", func() (bool, error) {
		err := get(s.url+"/api/executions?limit=1&state=retrying", &page)
		return len(page.Executions) > 0, err
	})
	return page.Executions[0].WorkflowID, page.Executions[0].ID
}
