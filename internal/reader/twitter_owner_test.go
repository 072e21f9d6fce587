package reader_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"freshet"
	"freshet/internal/fetch"
	"freshet/internal/poll"
	"freshet/internal/reader"
	"freshet/internal/store"
	"freshet/internal/vault"
)

// instance is everything between the database and X: store, vault, reader, scheduler.
type instance struct {
	*testing.T
	*store.Store
	vault *vault.Vault
	x     *xStub
	log   bytes.Buffer // read between polls only: the log's handler has the lock
}

var bg = context.Background()

func newInstance(t *testing.T, x *xStub) *instance {
	t.Helper()
	st, err := store.Open(bg, ":memory:", store.Options{Settings: freshet.DefaultSettings()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	v, err := vault.Open(bg, st, "", filepath.Join(t.TempDir(), "freshet.key"))
	if err != nil {
		t.Fatal(err)
	}
	return &instance{T: t, Store: st, vault: v, x: x}
}

func (i *instance) must(err error) {
	i.Helper()
	if err != nil {
		i.Fatal(err)
	}
}

// token sets an owner's token, which X knows.
func (i *instance) token(owner, token string) {
	i.Helper()
	i.x.tokens[token] = true
	_, err := i.vault.Set(bg, owner, freshet.X, token, time.Now())
	i.must(err)
}

// follow adds an account, in a briefing of its owner when there is one.
func (i *instance) follow(handle, owner string) freshet.ID {
	i.Helper()
	source := store.NewSource{Type: freshet.Twitter, URL: handle, AtOnce: true}
	if owner == "" {
		added, err := i.AddSource(bg, source, time.Now())
		i.must(err)
		return added.Source.ID
	}
	_, err := i.AddBriefing(bg, freshet.Briefing{Name: "Of " + owner + " with " + handle, Owner: owner, MaxAge: 7 * 24 * time.Hour}, []store.BriefingSource{{NewSource: source}}, time.Now())
	i.must(err)
	found, err := i.FindSource(bg, freshet.AccountURL(handle))
	i.must(err)
	return found.Source.ID
}

type keys struct {
	*vault.Vault
	*store.Store
}

// pollAll polls every enabled source once, by the scheduler, as an ingest run does.
func (i *instance) pollAll() {
	i.Helper()
	log := slog.New(slog.NewTextHandler(&i.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	settings := freshet.DefaultSettings()
	r := reader.New(fetch.New(fetch.Settings{Allow: loopback}), log).WithX(reader.X{API: i.x.URL, Keys: keys{i.vault, i.Store}, Timeout: 10 * time.Second, Policy: settings.Policy})
	s := poll.New(i.Store, r, poll.Options{Settings: settings, Logger: log, Tick: 10 * time.Millisecond})
	started, err := i.StartRefresh(bg, freshet.ByIngest, nil, time.Now())
	i.must(err)
	ctx, cancel := context.WithTimeout(bg, 30*time.Second)
	defer cancel()
	i.must(s.RunRefresh(ctx, started.ID))
}

func (i *instance) source(id freshet.ID) freshet.Source {
	i.Helper()
	w, err := i.Source(bg, id)
	i.must(err)
	return w.Source
}

// The seeds' scenarios on X, with the store, the vault and the scheduler, over HTTP.
func TestOwners(t *testing.T) {
	t.Run("Twitter source polled with user context", func(t *testing.T) {
		x := newXStub(t)
		i := newInstance(t, x)
		i.token("", "key-of-the-instance")
		i.token("alice", "key-of-alice")
		i.token("bob", "key-of-bob")
		want := map[string]string{}
		for _, who := range []struct{ handle, owner, key string }{
			{"nasa", "", "key-of-the-instance"}, {"esa", "alice", "key-of-alice"}, {"jaxa", "alice", "key-of-alice"}, {"isro", "bob", "key-of-bob"},
		} {
			a := x.add(who.handle, 3)
			i.follow("@"+who.handle, who.owner)
			want["/2/users/by/username/"+who.handle], want["/2/users/"+a.ID+"/tweets"] = who.key, who.key
		}
		i.pollAll()
		got := map[string]string{}
		for _, call := range x.saw() {
			part := strings.SplitN(call, " ", 3)
			if got[part[1]] != "" {
				t.Errorf("%s was asked twice", part[1])
			}
			got[part[1]] = part[0]
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("X saw\n%v, want\n%v", got, want)
		}
		for owner, reads := range map[string]int{"": 4, "alice": 8, "bob": 4} {
			if n, err := i.Reads(bg, owner, freshet.X, freshet.Month(time.Now())); n != reads || err != nil {
				t.Errorf("%q read %d, %v, want %d", owner, n, err, reads)
			}
		}
		if said := i.log.String(); strings.Contains(said, "key-of-") || !strings.Contains(said, "source=https://x.com/nasa") {
			t.Errorf("the log tells a key, or not the source by its address:\n%s", said)
		}
	})

	t.Run("a source whose owner has no key is never read with another's", func(t *testing.T) {
		x := newXStub(t)
		i := newInstance(t, x)
		x.add("esa", 3)
		i.token("", "key-of-the-instance")
		i.token("bob", "key-of-bob")
		id := i.follow("@esa", "alice")
		i.pollAll()
		if calls := x.saw(); len(calls) > 0 {
			t.Errorf("X saw %q", calls)
		}
		if f := i.source(id).LastFailure; f == nil || !strings.Contains(f.Sentence, "owner alice has set none") {
			t.Fatalf("failure %+v", f)
		}
		i.token("alice", "key-of-alice") // and it goes on by itself
		if src := i.source(id); src.NextPollAt.After(time.Now()) || src.Failures != 0 {
			t.Errorf("after the key was set: %d failures, next %v", src.Failures, src.NextPollAt)
		}
		i.pollAll()
		if calls := x.saw(); len(calls) != 2 || !strings.HasPrefix(calls[0], "key-of-alice ") {
			t.Errorf("X saw %q", calls)
		}
	})

	t.Run("a key that is refused pauses its source and tells why", func(t *testing.T) {
		x := newXStub(t)
		i := newInstance(t, x)
		x.add("nasa", 3)
		id := i.follow("@nasa", "")
		i.token("", "revoked")
		delete(x.tokens, "revoked")
		i.pollAll()
		if src := i.source(id); src.Enabled || !strings.Contains(src.DisabledReason, "freshet credentials set x") || strings.Contains(src.DisabledReason, "revoked") {
			t.Errorf("enabled %v because %q", src.Enabled, src.DisabledReason)
		}
		i.pollAll()
		if calls := x.saw(); len(calls) != 1 {
			t.Errorf("X saw %q", calls)
		}
		i.token("", "renewed")
		i.pollAll()
		if calls := x.saw(); len(calls) != 2 || !strings.HasPrefix(calls[0], "renewed ") || !i.source(id).Enabled {
			t.Errorf("X saw %q", calls)
		}
	})

	t.Run("a limit of one token leaves another's alone", func(t *testing.T) {
		x := newXStub(t)
		i := newInstance(t, x)
		i.token("alice", "key-of-alice")
		i.token("bob", "key-of-bob")
		var alices []freshet.ID
		for n := range 3 {
			x.add(fmt.Sprint("a", n), 2)
			alices = append(alices, i.follow(fmt.Sprint("@a", n), "alice"))
		}
		x.add("b", 2)
		bobs := i.follow("@b", "bob")
		i.pollAll()
		x.saw()
		end := time.Now().Add(20 * time.Minute).Truncate(time.Second)
		limited := says(xProblem{"Too Many Requests", "", "about:blank", 429}, "x-rate-limit-reset", fmt.Sprint(end.Unix()))
		x.limitToken("key-of-alice", limited)
		i.pollAll()
		var of []string
		for _, call := range x.saw() {
			of = append(of, strings.Fields(call)[0])
		}
		slices.Sort(of)
		if fmt.Sprint(of) != "[key-of-alice key-of-bob]" {
			t.Errorf("X saw calls with %q, want one of each", of)
		}
		for _, id := range alices {
			if next := i.source(id).NextPollAt; next.Before(end) {
				t.Errorf("one of the token's accounts is polled %v, before %v", next, end)
			}
		}
		if next := i.source(bobs).NextPollAt; !next.Before(end) {
			t.Errorf("another token's account waits until %v", next)
		}
		i.pollAll()
		if calls := x.saw(); len(calls) != 1 || !strings.HasPrefix(calls[0], "key-of-bob ") {
			t.Errorf("during the pause X saw %q", calls)
		}
	})

	t.Run("posts and cursor are stored together, each post once", func(t *testing.T) {
		x := newXStub(t)
		i := newInstance(t, x)
		i.token("", "key")
		a := x.add("nasa", 3)
		id := i.follow("@nasa", "")
		i.pollAll()
		for n := range 120 {
			a.post(fmt.Sprint("More ", n), time.Now())
		}
		x.next(nil, body(503, "")) // the second page
		i.pollAll()
		i.must(i.clearPause())
		i.pollAll()
		page, err := i.River(bg, store.RiverQuery{Limit: 1000})
		i.must(err)
		if len(page.Items) != 123 {
			t.Errorf("%d items of 123", len(page.Items))
		}
		if c := i.source(id).Cursor.X; c.SinceID != a.Posts[122]["id"] || c.Reads != 124 {
			t.Errorf("the cursor is %+v", c)
		}
	})
}

// clearPause sets the token again, which ends the pause that the one before brought.
func (i *instance) clearPause() error {
	_, err := i.vault.Set(bg, "", freshet.X, "key", time.Now())
	return err
}
