package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"freshet"
	"freshet/internal/vault"
)

// TestSealedSecrets is what both databases must do with what workflows send with (S7).
func TestSealedSecrets(t *testing.T) {
	for _, engine := range engines() {
		t.Run(engine, func(t *testing.T) {
			for _, test := range []struct {
				name string
				run  func(*testing.T, *world)
			}{
				{"secrets lie sealed and are there for who needs them", testSealed},
				{"polls, receivers and people leave them as they are", testSealedStays},
				{"another key opens nothing and overwrites nothing", testOtherKey},
				{"what lay open is sealed when there is a key", testSealLater},
			} {
				t.Run(test.name, func(t *testing.T) { test.run(t, newWorld(t, engine)) })
			}
		})
	}
}

var (
	sealsA = vault.NewSeals(strings.Repeat("aa", 32), "")
	sealsB = vault.NewSeals(strings.Repeat("bb", 32), "")
)

// secrets are texts that must not lie in the database.
var secrets = []string{"c2lnbmVkIHdpdGggdGhpcyBzZWNyZXQgb2Ygb3VycyEhIQ", "b25jZSBzaWduZWQgd2l0aCB0aGlzIG9uZSBvZiBvdXJzIQ", "Bearer hunter2", "amqp-password", "ntfy-topic", "tk_token"}

func secretActions() []freshet.Action {
	return []freshet.Action{
		{Type: freshet.Webhook, URL: "https://hooks.example/in", Secret: "whsec_" + secrets[0] + "==", PreviousSecret: "whsec_" + secrets[1] + "==",
			Headers: map[string]string{"Authorization": secrets[2]}},
		{Type: freshet.Queue, URL: "amqp://me:" + secrets[3] + "@mq.example/news"},
		{Type: freshet.Notify, URL: "ntfy://:" + secrets[5] + "@ntfy.example/" + secrets[4]},
		{Type: freshet.Command, Command: []string{"/bin/true"}},
	}
}

func (w *world) secretWorkflow() freshet.Workflow {
	w.Helper()
	return w.workflow(func(d *freshet.Definition) { d.Actions = secretActions() })
}

// same compares what actions are carried out with.
func (w *world) same(what string, got, want []freshet.Action) {
	w.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

// lying is the definition of a workflow as it lies in the database.
func (w *world) lying(id freshet.ID) string {
	w.Helper()
	var text string
	w.must(w.writer.QueryRow(w.dialect.translate("select definition from workflows where id = $1"), int64(id)).Scan(&text))
	return text
}

func (w *world) liesSealed(id freshet.ID) {
	w.Helper()
	for _, secret := range secrets {
		if text := w.lying(id); strings.Contains(text, secret) || !strings.Contains(text, `"sealed":`) {
			w.Fatalf("%q lies open in %s", secret, text)
		}
	}
}

func testSealed(t *testing.T, w *world) {
	w.seals = sealsA
	flow := w.secretWorkflow()
	want := flow.Actions
	w.same("what is answered when it is added", want, freshet.Renamed(secretActions(), nil))
	w.liesSealed(flow.ID)
	w.same("read", w.theWorkflow(flow.ID).Actions, want)
	list, err := w.Workflows(bg)
	w.must(err)
	w.same("listed", list[0].Actions, want)
	found, err := w.FindWorkflow(bg, flow.Name)
	w.must(err)
	w.same("found", found.Actions, want)
	w.read(flow.Source, w.articles("a")...)
	for _, d := range w.claimExecutions() {
		w.same("carried out", []freshet.Action{d.Do}, []freshet.Action{*flow.Action(d.Action)})
	}
	w.reopen()
	w.seals = sealsA
	w.must(w.SealSecrets(bg))
	w.same("read after a restart", w.theWorkflow(flow.ID).Actions, want)
	plain := w.workflow(func(d *freshet.Definition) {
		d.Actions = []freshet.Action{{Type: freshet.Command, Command: []string{"/bin/true"}}}
	})
	if text := w.lying(plain.ID); strings.Contains(text, "sealed") {
		t.Errorf("nothing secret is sealed: %s", text)
	}
}

func testSealedStays(t *testing.T, w *world) {
	w.seals = sealsA
	flow := w.secretWorkflow()
	want := slices.Clone(flow.Actions)
	w.read(flow.Source, w.articles("a")...)
	w.fails(flow.Source, timeout)
	w.same("after polls", w.theWorkflow(flow.ID).Actions, want)
	for _, d := range w.claimExecutions() {
		a := freshet.Attempt{}
		if d.Do.Type == freshet.Webhook {
			a = freshet.Attempt{Status: 410, Error: "gone", Gone: true}
		}
		w.attempted(d, a)
	}
	gone := w.theWorkflow(flow.ID)
	w.equal("disabled", gone.Actions[0].Disabled, "gone")
	w.liesSealed(flow.ID)
	gone.Actions[0].Disabled = ""
	w.same("after one is gone", gone.Actions, want)
	for _, on := range []bool{false, true} {
		_, err := w.SwitchWorkflow(bg, flow.ID, on, w.now)
		w.must(err)
	}
	w.liesSealed(flow.ID)
	shown := w.theWorkflow(flow.ID).Definition // sent back as it is shown
	for i := range shown.Actions {
		shown.Actions[i] = shown.Actions[i].Shown()
		shown.Actions[i].Disabled = ""
	}
	shown.Actions[0].URL = "https://hooks.example/other"
	replaced, err := w.ReplaceWorkflow(bg, flow.ID, shown, w.now)
	w.must(err)
	want[0].URL = "https://hooks.example/other"
	w.same("after it was sent back", replaced.Actions, want)
	w.same("read after it was sent back", w.theWorkflow(flow.ID).Actions, want)
	w.liesSealed(flow.ID)
}

func testOtherKey(t *testing.T, w *world) {
	w.seals = sealsA
	flow := w.secretWorkflow()
	w.read(flow.Source, w.articles("a")...)
	before := w.lying(flow.ID)
	for name, seals := range map[string]Seals{"another key": sealsB, "none": nil} {
		w.seals = seals
		w.is(w.SealSecrets(bg), freshet.ErrKey)
		got := w.theWorkflow(flow.ID)
		for i, a := range got.Actions {
			w.same(name+": shown", []freshet.Action{a}, []freshet.Action{flow.Actions[i].Shown()})
		}
		_, err := w.SwitchWorkflow(bg, flow.ID, false, w.now)
		w.must(err)
		_, err = w.SwitchWorkflow(bg, flow.ID, true, w.now)
		w.must(err)
		if after := w.lying(flow.ID); after != before {
			t.Errorf("%s: the definition became %s", name, after)
		}
		if _, err := w.ReplaceWorkflow(bg, flow.ID, got.Definition, w.now); err == nil {
			t.Errorf("%s: what is masked was taken for a secret", name)
		}
	}
	w.seals = sealsB
	_, err := w.AddWorkflow(bg, definition(nil), w.now)
	w.is(err, freshet.ErrKey)
	w.equal("workflows", w.count("select count(*) from workflows"), 1)

	w.equal("claimed without the key", len(w.claimExecutions()), 0)
	for _, e := range w.executions(flow.ID) {
		w.equal("state", e.State, freshet.Retrying)
		if !strings.Contains(e.LastError, "another master key") {
			t.Errorf("the execution says %q", e.LastError)
		}
	}
	w.seals = sealsA // as another instance has it
	w.now = w.now.Add(time.Hour)
	w.equal("claimed with the key", len(w.claimExecutions()), 4)

	w.seals = sealsB // the way out when the key is lost
	w.must(w.DeleteWorkflow(bg, flow.ID, w.now))
	w.must(w.SealSecrets(bg))
	w.secretWorkflow()
}

func testSealLater(t *testing.T, w *world) {
	flow := w.secretWorkflow()
	if text := w.lying(flow.ID); !strings.Contains(text, secrets[0]) {
		t.Fatalf("without a key it is %s", text)
	}
	w.must(w.SealSecrets(bg))
	w.seals = sealsA
	w.same("read before it is sealed", w.theWorkflow(flow.ID).Actions, flow.Actions)
	w.must(w.SealSecrets(bg))
	w.liesSealed(flow.ID)
	before := w.lying(flow.ID)
	w.must(w.SealSecrets(bg))
	w.equal("sealed once", w.lying(flow.ID) == before, true)
	w.same("read", w.theWorkflow(flow.ID).Actions, flow.Actions)
}

// A sealed text that was put in another workflow's place does not open.
func TestSealedSecretsStayInPlace(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		s.seals = sealsA
		one := freshet.Workflow{ID: 1, Definition: freshet.Definition{Actions: secretActions()}}
		kept, err := s.seal(one)
		if err != nil || bytes.Contains(kept.Sealed, []byte(secrets[0])) {
			t.Fatalf("%s, %v", kept.Sealed, err)
		}
		kept.ID = 2
		if err := s.open(&kept); err == nil || errors.Is(err, freshet.ErrKey) {
			t.Errorf("another's opens: %v", err)
		}
	})
}
