package freshet

import (
	"fmt"
	"strings"
	"testing"
)

func TestRenamedActions(t *testing.T) {
	hook := func(id, url string) Action { return Action{ID: id, Type: Webhook, URL: url} }
	before := []Action{hook("a1", "x"), hook("a3", "y")}
	for name, test := range map[string]struct {
		actions []Action
		want    string
	}{
		"as they were":         {[]Action{hook("a1", "x"), hook("a3", "y")}, "a1 a3"},
		"without ids":          {[]Action{hook("", "y"), hook("", "x")}, "a3 a1"},
		"moved and changed":    {[]Action{hook("a3", "z"), hook("a1", "x")}, "a3 a1"},
		"one more":             {[]Action{hook("a1", "x"), hook("a3", "y"), hook("", "z")}, "a1 a3 a4"},
		"none is named twice":  {[]Action{hook("a1", "x"), hook("a1", "z")}, "a1 a4"},
		"a name of nobody":     {[]Action{hook("a9", "z")}, "a10"},
		"twice the same":       {[]Action{hook("", "x"), hook("", "x")}, "a1 a4"},
		"an id is not reused":  {[]Action{hook("", "w")}, "a4"},
		"an id that is a text": {[]Action{hook("mine", "w")}, "a4"},
	} {
		var got []string
		for _, a := range Renamed(test.actions, before) {
			got = append(got, a.ID)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestKeepSecrets(t *testing.T) {
	one, two := NewSecret([]byte(strings.Repeat("1", 32))), NewSecret([]byte(strings.Repeat("2", 32)))
	before := Action{ID: "a1", Type: Webhook, URL: "https://me:pass@a.example/", Secret: one, PreviousSecret: two, Headers: map[string]string{"X-Key": "sesame-open-sesame"}}
	discord := Action{ID: "a2", Type: Notify, URL: "discord://token@1"}
	change := func(do func(*Action)) Action {
		a := before.Shown()
		do(&a)
		return a
	}
	for name, test := range map[string]struct{ sent, want Action }{
		"sent back as shown": {change(func(*Action) {}), before},
		"left out": {Action{ID: "a1", Type: Webhook, URL: before.URL}, func() Action {
			a := before
			a.PreviousSecret, a.Headers = "", nil // only the signing secret stays by itself
			return a
		}()},
		"another secret": {change(func(a *Action) { a.Secret = two }), func() Action { a := before; a.Secret = two; return a }()},
		"another header": {change(func(a *Action) { a.Headers = map[string]string{"X-Key": "new"} }), func() Action { a := before; a.Headers = map[string]string{"X-Key": "new"}; return a }()},
		"a notification": {discord.Shown(), discord},
		"another notify": {Action{ID: "a2", Type: Notify, URL: "ntfy://ntfy.sh/x"}, Action{ID: "a2", Type: Notify, URL: "ntfy://ntfy.sh/x"}},
	} {
		if got := KeepSecrets([]Action{test.sent}, []Action{before, discord})[0]; fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
	stranger := KeepSecrets([]Action{{Type: Webhook, URL: "https://thief.example/"}}, []Action{before})[0]
	if stranger.Secret != "" || stranger.Headers != nil {
		t.Errorf("another receiver inherits secrets: %+v", stranger)
	}
}

func TestKeepSecretsLeavesInputAlone(t *testing.T) {
	before := []Action{{ID: "a1", Type: Webhook, URL: "https://a.example", Headers: map[string]string{"X": "sesame-open-sesame"}}}
	sent := []Action{before[0].Shown()}
	KeepSecrets(sent, before)
	if !sent[0].Masked() {
		t.Error("what was sent was changed: a secret went into what a caller holds")
	}
}

func TestActionShown(t *testing.T) {
	for name, test := range map[string]struct {
		a    Action
		want string
	}{
		"password": {Action{Type: Webhook, URL: "https://me:pass@a.example/x"}, "https://me:••••@a.example/x"},
		"none":     {Action{Type: Webhook, URL: "https://a.example/x?y=1"}, "https://a.example/x?y=1"},
		"token":    {Action{Type: Queue, URL: "nats://token@a.example/x"}, "nats://••••@a.example/x"},
		"empty":    {Action{Type: Webhook, URL: "https://token:@a.example/x"}, "https://••••@a.example/x"},
		"notify":   {Action{Type: Notify, URL: "telegram://token@telegram?chats=1"}, "telegram://••••"},
	} {
		shown := test.a.Shown()
		if shown.URL != test.want {
			t.Errorf("%s: shown as %s, want %s", name, shown.URL, test.want)
		}
		if shown.Masked() == (shown.URL == test.a.URL) {
			t.Errorf("%s: masked %t", name, shown.Masked())
		}
		if again := shown.Shown(); again.URL != shown.URL {
			t.Errorf("%s: shown once more it is %s", name, again.URL)
		}
	}
	a := Action{Type: Webhook, Secret: "whsec_abcdefghijklmnop", PreviousSecret: "short", Headers: map[string]string{"X": "y"}}.Shown()
	if a.Secret != "••••mnop" || a.PreviousSecret != "••••" || a.Headers["X"] != "••••" {
		t.Errorf("shown %+v", a)
	}
}
