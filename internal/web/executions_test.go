package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"freshet"
)

// lease fetches executions as a worker does.
func (s *site) lease(body string) []any {
	s.t.Helper()
	return s.want(200, "POST", "/api/executions/lease", body).list("executions")
}

// A worker fetches what a workflow without actions made, and says how it went.
func TestPull(t *testing.T) {
	s := newSite(t, nil)
	id := s.addWorkflow(w1)
	if got := s.lease(`{}`); len(got) != 0 {
		t.Fatalf("there is work before anything appeared: %v", got)
	}
	s.poll(posts(post("a", 5), post("b", 6)))
	got := s.lease(`{"workflow": "` + id + `", "lease_seconds": 60}`)
	if len(got) != 1 {
		t.Fatalf("leased %v", got)
	}
	e := got[0]
	target := "/api/executions/" + fmt.Sprint(dig(e, "id"))
	if dig(e, "workflow") != "Releases" || dig(e, "workflow_id") != id || fmt.Sprint(dig(e, "attempt")) != "1" || dig(e, "data", "items", 1, "guid") != "b" {
		t.Errorf("leased %v", e)
	}
	if until, err := time.Parse(time.RFC3339, fmt.Sprint(dig(e, "lease_until"))); err != nil || time.Until(until) > time.Minute || time.Until(until) < 30*time.Second {
		t.Errorf("leased until %v", dig(e, "lease_until"))
	}
	if again := s.lease(`{}`); len(again) != 0 {
		t.Errorf("it was handed out twice: %v", again)
	}
	if a := s.want(409, "POST", target+"/retry", ""); a.text("type") != "/problems/still-running" {
		t.Errorf("retry while it runs: %s", a.Body)
	}
	if a := s.want(409, "POST", target+"/ack", `{"attempt": 2}`); a.text("type") != "/problems/lease-lost" {
		t.Errorf("ack of an attempt that nobody leased: %s", a.Body)
	}
	a := s.want(200, "POST", target+"/nack", `{"attempt": 1, "error": "disk full", "retry_after_seconds": 3600}`)
	if due, _ := time.Parse(time.RFC3339, a.text("due_at")); a.text("state") != "retrying" || a.text("last_error") != "disk full" || time.Until(due) < 59*time.Minute {
		t.Errorf("nack: %s", a.Body)
	}
	s.want(200, "POST", target+"/retry", "")
	if got = s.lease(`{"workflow": null}`); len(got) != 1 || fmt.Sprint(dig(got[0], "attempt")) != "2" || dig(got[0], "id") != dig(e, "id") {
		t.Fatalf("after a retry: %v", got)
	}
	if a := s.want(200, "POST", target+"/ack", `{"attempt": 2}`); a.text("state") != "succeeded" || a.at("due_at") != nil || a.text("done_at") == "" {
		t.Errorf("ack: %s", a.Body)
	}
	if again := s.want(200, "POST", target+"/ack", `{"attempt": 2}`); again.text("state") != "succeeded" { // whose answer was lost
		t.Errorf("ack again: %s", again.Body)
	}
	s.want(409, "POST", target+"/nack", `{"attempt": 2}`)
	a = s.want(200, "GET", target, "")
	if a.number("tries") != 2 || len(a.list("attempts")) != 2 || a.text("attempts", 0, "error") != "disk full" || a.at("attempts", 1, "error") != nil || a.text("data", "type") != "poll" {
		t.Errorf("the execution: %s", a.Body)
	}
}

func TestNackWithoutAWord(t *testing.T) {
	s := newSite(t, nil)
	s.addWorkflow(w1)
	s.poll(posts(post("a", 5)))
	id := fmt.Sprint(dig(s.lease(`{}`), 0, "id"))
	if a := s.want(200, "POST", "/api/executions/"+id+"/nack", `{"attempt": 1}`); a.text("state") != "retrying" || a.text("last_error") == "" {
		t.Errorf("nack: %s", a.Body)
	}
}

// A worker that waits has the execution as soon as it is there, and an empty hand when its patience ends.
func TestLeaseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		s.addWorkflow(w1)
		began := time.Now()
		answer := make(chan reply, 1)
		go func() { answer <- s.call("POST", "/api/executions/lease", `{"wait_seconds": 20}`) }()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		select {
		case a := <-answer:
			t.Fatalf("it did not wait: %s", a.Body)
		default:
		}
		s.poll(posts(post("a", 5)))
		s.bell.Ring()
		if a := <-answer; len(a.list("executions")) != 1 || time.Since(began) != 3*time.Second {
			t.Errorf("after %s: %s", time.Since(began), a.Body)
		}
		began = time.Now()
		if a := s.want(200, "POST", "/api/executions/lease", `{"wait_seconds": 20}`); len(a.list("executions")) != 0 || time.Since(began) != 20*time.Second {
			t.Errorf("an empty hand after %s: %s", time.Since(began), a.Body)
		}
		s.Close()
		s.Store.Close()
	})
}

func TestLeaseWait(t *testing.T) {
	now := time.Unix(1000, 0)
	at := func(seconds int) time.Time { return now.Add(time.Duration(seconds) * time.Second) }
	for name, test := range map[string]struct {
		next, end time.Time
		want      time.Duration
	}{
		"nothing is there":             {time.Time{}, at(30), 30 * time.Second},
		"something comes later":        {at(60), at(30), 30 * time.Second},
		"something comes in between":   {at(12), at(30), 12 * time.Second},
		"something is there and waits": {at(-5), at(30), time.Second},
		"patience is nearly over":      {at(-5), now.Add(time.Millisecond), time.Millisecond},
	} {
		if got := leaseWait(test.next, test.end, now); got != test.want {
			t.Errorf("%s: waits %s, want %s", name, got, test.want)
		}
	}
}

func TestBadLease(t *testing.T) {
	s := newSite(t, nil)
	for body, want := range map[string]string{
		`{"limit": 101}`: "body.limit", `{"limit": -1}`: "body.limit", `{"lease_seconds": 9}`: "body.lease_seconds", `{"lease_seconds": 3601}`: "body.lease_seconds",
		`{"wait_seconds": 31}`: "body.wait_seconds", `{"workers": 1}`: "body.workers", `{"workflow": 7}`: "body.workflow", `{"workflow": "Go"}`: "body.workflow",
	} {
		if a := s.want(422, "POST", "/api/executions/lease", body); a.text("errors", 0, "location") != want {
			t.Errorf("%s names %s", body, a.Body)
		}
	}
	s.want(404, "POST", "/api/executions/lease", `{"workflow": "17"}`)
}

func TestListExecutions(t *testing.T) {
	s := newSite(t, nil)
	id := s.addWorkflow(strings.Replace(w1, `"actions"`, `"batch": "item", "actions"`, 1))
	other := s.addWorkflow(strings.Replace(w1, "/feed", "/other", 1))
	s.poll(posts(post("a", 1), post("b", 2), post("c", 3), post("d", 4), post("e", 5)))
	guids := func(target string) (all []string, pages int) {
		t.Helper()
		for cursor := ""; ; {
			a := s.want(200, "GET", target+cursor, "")
			pages++
			for i := range a.list("executions") {
				e := s.want(200, "GET", "/api/executions/"+a.text("executions", i, "id"), "")
				all = append(all, e.text("data", "items", 0, "guid"))
			}
			if a.at("next_cursor") == nil {
				return all, pages
			}
			cursor = "&cursor=" + a.text("next_cursor")
		}
	}
	for _, target := range []string{"/api/executions?limit=2&workflow=" + id, "/api/workflows/" + id + "/executions?limit=2"} {
		if got, pages := guids(target); fmt.Sprint(got) != "[a b c d e]" || pages != 3 {
			t.Errorf("%s lists %v on %d pages; the newest entry was made last", target, got, pages)
		}
	}
	if n := len(s.want(200, "GET", "/api/executions", "").list("executions")); n != 6 {
		t.Errorf("%d executions in all, want 6", n)
	}
	cancelled := s.want(200, "GET", "/api/executions?workflow="+other, "").text("executions", 0, "id")
	if a := s.want(200, "POST", "/api/executions/"+cancelled+"/cancel", ""); a.text("state") != "cancelled" || a.text("last_error") == "" {
		t.Errorf("cancelled: %s", a.Body)
	}
	if a := s.want(200, "GET", "/api/executions?state=cancelled", ""); len(a.list("executions")) != 1 || a.text("executions", 0, "id") != cancelled {
		t.Errorf("those cancelled: %s", a.Body)
	}
	if a := s.want(200, "POST", "/api/executions/"+cancelled+"/retry", ""); a.text("state") != "queued" {
		t.Errorf("retried: %s", a.Body)
	}
	for target, status := range map[string]int{"?state=lost": 422, "?workflow=x": 422, "?cursor=x": 400, "?limit=0": 422, "/x": 404, "/17": 404} {
		s.want(status, "GET", "/api/executions"+target, "")
	}
	for _, call := range []string{"/17/retry", "/17/cancel", "/x/retry"} {
		s.want(http.StatusNotFound, "POST", "/api/executions"+call, "")
	}
	s.want(404, "POST", "/api/executions/17/ack", `{"attempt": 1}`)
}

// Seed 004: one deleted while its poll is under way makes no execution, and what waits is cancelled (W9).
func TestDeleteWhileExecutionsWait(t *testing.T) {
	s := newSite(t, nil)
	id := s.addWorkflow(w1)
	s.poll(posts(post("a", 1)))
	s.want(204, "DELETE", "/api/workflows/"+id, "")
	if a := s.want(200, "GET", "/api/executions", ""); a.text("executions", 0, "state") != string(freshet.Cancelled) {
		t.Errorf("after the deletion: %s", a.Body)
	}
	if got := s.lease(`{}`); len(got) != 0 {
		t.Errorf("a worker gets %v", got)
	}
}
