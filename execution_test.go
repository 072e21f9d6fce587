package freshet

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"
)

// W6: how often and when a failing delivery is tried, from the table of Standard Webhooks to its end.
func TestDeliveryRhythm(t *testing.T) {
	want := []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}
	e, now := Execution{State: Queued, DueAt: noon}, noon
	for i, wait := range want {
		e = e.Claim("me", time.Minute, now)
		if e.State != Running || e.Owner != "me" || e.Attempts != i+1 || !e.DueAt.Equal(now.Add(time.Minute)) {
			t.Fatalf("attempt %d: %+v", i+1, e)
		}
		for random, longest := range map[float64]time.Duration{0: wait, 0.999: wait + wait/5} {
			after := e.Finish(Attempt{Error: "no"}, random, now)
			if got := after.DueAt.Sub(now); after.State != Retrying || got < wait || got > longest || random == 0 && got != wait {
				t.Errorf("failure %d with %v: %s in %s, want %s to %s", i+1, random, after.State, got, wait, longest)
			}
		}
		e = e.Finish(Attempt{Error: "no"}, 0, now)
		now = e.DueAt
	}
	e = e.Claim("me", time.Minute, now).Finish(Attempt{Error: "the last"}, 0, now)
	if e.State != Dead || !e.DueAt.IsZero() || !e.DoneAt.Equal(now) || e.Attempts != 10 || e.LastError != "the last" {
		t.Errorf("after the last attempt: %+v", e)
	}
	again := e.Retry(now)
	if again.State != Queued || !again.DueAt.Equal(now) || !again.DoneAt.IsZero() || again.Attempts != 10 || again.Failures != 0 {
		t.Errorf("retried by a person: %+v", again)
	}
}

func TestFinish(t *testing.T) {
	running := Execution{State: Running, Owner: "me", Attempts: 3, Failures: 1, DueAt: noon}
	for name, test := range map[string]struct {
		a     Attempt
		state ExecutionState
		wait  time.Duration
	}{
		"success":                       {Attempt{}, Succeeded, 0},
		"failure":                       {Attempt{Error: "no"}, Retrying, 5 * time.Minute},
		"it cannot help":                {Attempt{Error: "no", Final: true}, Dead, 0},
		"the receiver is gone":          {Attempt{Error: "410", Gone: true}, Dead, 0},
		"the receiver wants more time":  {Attempt{Error: "503", RetryAfter: noon.Add(time.Hour)}, Retrying, time.Hour},
		"the receiver wants less time":  {Attempt{Error: "503", RetryAfter: noon.Add(time.Second)}, Retrying, 5 * time.Minute},
		"the receiver wants for ever":   {Attempt{Error: "503", RetryAfter: noon.AddDate(1, 0, 0)}, Retrying, 24 * time.Hour},
		"whoever tried died":            {Attempt{Error: "?", Abandoned: true}, Retrying, 0},
		"a success asks for time":       {Attempt{RetryAfter: noon.Add(time.Hour)}, Succeeded, 0},
		"a final failure asks for time": {Attempt{Error: "no", Final: true, RetryAfter: noon.Add(time.Hour)}, Dead, 0},
	} {
		got := running.Finish(test.a, 0, noon)
		if got.State != test.state || got.Owner != "" || got.LastError != test.a.Error || got.Attempts != 3 {
			t.Errorf("%s: %+v", name, got)
		}
		if over := got.State.Over(); over != got.DueAt.IsZero() || over == got.DoneAt.IsZero() || !over && got.DueAt.Sub(noon) != test.wait {
			t.Errorf("%s: due at %s, done at %s", name, got.DueAt, got.DoneAt)
		}
	}
}

// An attempt that nobody saw the end of costs no try, but one that kills whoever makes it is not made for ever.
func TestAbandoned(t *testing.T) {
	e := Execution{State: Queued}
	for i := range 20 {
		e = e.Claim("me", time.Minute, noon).Finish(Attempt{Error: "?", Abandoned: true}, 0, noon)
		if e.State != Retrying || e.Failures != 0 || !e.DueAt.Equal(noon) {
			t.Fatalf("abandoned %d times: %+v", i+1, e)
		}
	}
	if e = e.Claim("me", time.Minute, noon).Finish(Attempt{Error: "?", Abandoned: true}, 0, noon); e.State != Dead {
		t.Errorf("after the 21st: %s", e.State)
	}
}

func TestCancel(t *testing.T) {
	for _, state := range ExecutionStates {
		got := Execution{State: state, LastError: "before"}.Cancel("Its workflow was deleted.", noon)
		if state.Over() {
			if got.State != state || got.LastError != "before" {
				t.Errorf("%s, which is over, becomes %+v", state, got)
			}
			continue
		}
		if got.State != Cancelled || got.LastError != "Its workflow was deleted." || !got.DoneAt.Equal(noon) {
			t.Errorf("%s becomes %+v", state, got)
		}
	}
}

func TestSigningKey(t *testing.T) {
	key := []byte(strings.Repeat("k", 32))
	if got, err := SigningKey(NewSecret(key)); err != nil || string(got) != string(key) {
		t.Errorf("read back as %q, %v", got, err)
	}
	of := func(n int) string { return "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, n)) }
	for secret, good := range map[string]bool{
		"": false, "whsec_": false, "hush": false, "whsec_$$$": false, of(23): false, of(24): true, of(64): true, of(65): false, strings.TrimPrefix(of(32), "whsec_"): false,
	} {
		if _, err := SigningKey(secret); (err == nil) != good {
			t.Errorf("%q: %v", secret, err)
		}
	}
}

// W8: the notice names the workflow, its address, the count and the last error.
func TestNewNotice(t *testing.T) {
	w := Workflow{ID: 7, Definition: workflowOf(nil), State: WorkflowState{Failures: 4}}
	n := NewNotice(WorkflowDisabled, &w, "It hangs.", noon)
	if n.Workflow != 7 || !n.At.Equal(noon) || n.Title != "Workflow switched off: Watch" {
		t.Errorf("notice %+v", n)
	}
	for _, want := range []string{"Watch", "https://example.org/feed", "4", "It hangs."} {
		if !strings.Contains(n.Text, want) {
			t.Errorf("the text lacks %q: %s", want, n.Text)
		}
	}
	for _, kind := range []NoticeKind{WorkflowDisabled, WorkflowRecovered, ActionDisabled, ExecutionDead} {
		if n := NewNotice(kind, &w, "", noon); n.Title == w.Name {
			t.Errorf("%s has no words", kind)
		}
	}
}
