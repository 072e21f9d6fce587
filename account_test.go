package freshet

import (
	"strings"
	"testing"
	"time"
)

// E4: a source URL is a handle or a profile URL; whatever the spelling, it is one source.
func TestAccountURL(t *testing.T) {
	for _, test := range []struct {
		raw, want string
		names     bool // it can be nothing else
	}{
		{"NASA", "https://x.com/NASA", false},
		{"@NASA", "https://x.com/NASA", true},
		{"  @nasa_2 \n", "https://x.com/nasa_2", true},
		{"https://x.com/NASA", "https://x.com/NASA", true},
		{"https://x.com/NASA/", "https://x.com/NASA", true},
		{"x.com/NASA", "https://x.com/NASA", true},
		{"http://www.twitter.com/NASA?lang=en#top", "https://x.com/NASA", true},
		{"https://mobile.twitter.com/@NASA/with_replies", "https://x.com/NASA", true},
		{"https://X.com/NASA/media", "https://x.com/NASA", true},
		{"https://nitter.net/NASA/rss", "https://x.com/NASA", false},
		{"https://nitter.poast.example/NASA", "https://x.com/NASA", false},
		{"https://xcancel.com/NASA", "https://x.com/NASA", false},

		{"", "", false}, {"@", "", false}, {"@@NASA", "", false},
		{"@sixteen_letters_", "", false},
		{"@name@mastodon.example", "", false}, {"two words", "", false}, {"@na-me", "", false}, {"@näme", "", false},
		{"https://x.com", "", false}, {"https://x.com/", "", false}, {"https://x.com/home", "", false}, {"https://x.com/i/lists/1", "", false},
		{"https://x.com/NASA/status/1", "", false}, {"https://x.com/search?q=NASA", "", false},
		{"https://example.org/NASA", "", false}, {"https://notx.com/NASA", "", false}, {"https://x.com.example.org/NASA", "", false},
		{"ftp://x.com/NASA", "", false}, {"https://[::1", "", false},
	} {
		if got := AccountURL(test.raw); got != test.want {
			t.Errorf("AccountURL(%q) = %q, want %q", test.raw, got, test.want)
		}
		if got := NamesAccount(test.raw); got != test.names {
			t.Errorf("NamesAccount(%q) = %v", test.raw, got)
		}
		if test.want != "" && Handle(test.want) != strings.TrimPrefix(test.want, "https://x.com/") {
			t.Errorf("Handle(%q) = %q", test.want, Handle(test.want))
		}
	}
	for _, same := range []string{"https://x.com/nasa", "http://twitter.com/NASA/", "https://mobile.twitter.com/Nasa", "https://www.x.com/NASA"} {
		if got := NormalizedURL(same); got != "x.com/nasa" {
			t.Errorf("NormalizedURL(%q) = %q", same, got)
		}
	}
	for raw, want := range map[string]string{"https://x.com/home": "x.com/home", "https://x.com/NASA?x=1": "x.com/NASA?x=1", "https://example.org/NASA": "example.org/NASA"} {
		if got := NormalizedURL(raw); got != want {
			t.Errorf("NormalizedURL(%q) = %q, want %q", raw, got, want)
		}
	}
}

// D1, D2: all copies of a post on X have one address, and nothing else has it.
func TestStatusIsOneAddress(t *testing.T) {
	for _, raw := range []string{
		"https://x.com/NASA/status/1234567890123456789", "https://twitter.com/nasa/status/1234567890123456789?s=20",
		"https://mobile.twitter.com/NASA/status/1234567890123456789/photo/1", "https://x.com/i/web/status/1234567890123456789",
		"https://x.com/i/status/1234567890123456789", "https://nitter.net/NASA/status/1234567890123456789#m", "http://twitter.com/NASA/statuses/1234567890123456789",
		"https://nitter.poast.example/NASA/status/1234567890123456789", "https://my-nitter.example/NASA/status/1234567890123456789", "https://xcancel.com/NASA/status/1234567890123456789#m",
	} {
		if got, want := CanonicalURL(raw), "https://x.com/i/status/1234567890123456789"; got != want {
			t.Errorf("CanonicalURL(%q) = %q, want %q", raw, got, want)
		}
	}
	for _, raw := range []string{
		"https://x.com/NASA/status/abc", "https://x.com/NASA/status/", "https://mastodon.example/NASA/status/12", "https://x.com/NASA",
		"https://example.org/?u=https://x.com/NASA/status/1", "https://x.com/a/b/status/1", "https://internitter.example/NASA/status/1",
	} {
		if got := CanonicalURL(raw); strings.HasPrefix(got, StatusURL("")) {
			t.Errorf("CanonicalURL(%q) = %q, which is a post on X", raw, got)
		}
	}
}

// D1: what Nitter, RSSHub and the API give for the same post meets by guid or by address.
func TestMirrorsMeet(t *testing.T) {
	const id = "1234567890123456789"
	api := Post{GUID: StatusURL(id), URL: "https://x.com/NASA/status/" + id, Text: "a"}
	for name, other := range map[string]Post{
		"Nitter":                   {GUID: "https://nitter.net/NASA/status/" + id + "#m", URL: "https://nitter.net/NASA/status/" + id + "#m"},
		"Nitter with a bare guid":  {GUID: id, URL: "https://nitter.net/NASA/status/" + id + "#m"},
		"RSSHub":                   {GUID: "https://twitter.com/NASA/status/" + id, URL: "https://x.com/NASA/status/" + id},
		"a feed without guids":     {URL: "https://mobile.twitter.com/nasa/status/" + id},
		"a repost through the API": {GUID: StatusURL(id), URL: "https://x.com/someone/status/99"},
	} {
		posts := []Post{api}
		Identify(posts, 1, "api.x.com")
		mirror := []Post{other}
		Identify(mirror, 2, "nitter.net")
		a, b := posts[0].Keys, mirror[0].Keys
		if a.GUID != b.GUID && a.URL != b.URL {
			t.Errorf("%s: keys %x and %x do not meet", name, a, b)
		}
	}
	// An article about a post keeps an identity of its own.
	blog := []Post{{GUID: "https://blog.example/7", URL: "https://x.com/NASA/status/" + id}, {GUID: "7", URL: "https://blog.example/7"}}
	Identify(blog, 3, "blog.example")
	x := []Post{api}
	Identify(x, 1, "api.x.com")
	if blog[0].Keys.GUID == x[0].Keys.GUID || blog[1].Keys.GUID == x[0].Keys.GUID {
		t.Error("a blog's entry has the guid of a post on X")
	}
}

// S6: accounts are polled in the group of their owner's token, everything else by host.
func TestHostGroup(t *testing.T) {
	for _, test := range []struct {
		kind                 Type
		address, owner, want string
	}{
		{Twitter, "https://x.com/NASA", "", "api.x.com"},
		{Twitter, "https://x.com/NASA", "alice", "alice@api.x.com"},
		{RSS, "https://Nitter.net/NASA/rss", "alice", "nitter.net"},
		{Website, "https://x.com/NASA", "", "x.com"},
	} {
		if got := HostGroup(test.kind, test.address, test.owner); got != test.want {
			t.Errorf("HostGroup(%s, %s, %q) = %q, want %q", test.kind, test.address, test.owner, got, test.want)
		}
	}
}

// A failure can pause its source: until a time of our own, or until a person does something.
func TestPausingFailures(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	p := DefaultSettings().Policy(Source{})
	src := Source{Type: Twitter, Enabled: true, CreatedAt: now, LastSuccessAt: now}

	cap := &Failure{Class: Transient, Code: SpendCap, Sentence: "The cap is reached.", Until: NextMonth(now)}
	capped := src.Observe(&Outcome{At: now, Failure: cap}, p, Host{}, 0, now)
	if want := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC); !capped.NextPollAt.Equal(want) || !capped.Enabled {
		t.Errorf("with the cap reached it is next polled %v, want %v", capped.NextPollAt, want)
	}
	if at := capped.PutOff(Host{}, now); !at.IsZero() {
		t.Errorf("a refresh by hand is put off until %v by our own cap", at)
	}
	if got := capped.Explain(p, Host{}, now); !strings.Contains(got, "paused until 1 December 00:00 UTC: The cap is reached") {
		t.Errorf("explained as %q", got)
	}

	refused := &Failure{Class: Permanent, Code: NeedsCredential, Status: 401, Sentence: "X does not accept the token.", Paused: true}
	paused := src.Observe(&Outcome{At: now, Status: 401, Failure: refused}, p, Host{}, 0, now)
	if paused.Enabled || paused.DisabledReason != refused.Sentence || !paused.NextPollAt.IsZero() {
		t.Errorf("after a refusal it is enabled %v because %q, next %v", paused.Enabled, paused.DisabledReason, paused.NextPollAt)
	}
}

// A cursor that a poll paid for is kept though the poll failed.
func TestCursorOfXOutlivesFailure(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	o := &Outcome{At: now, Failure: &Failure{Class: Transient, Sentence: "no"}, X: &XCursor{UserID: "11", Month: "2026-11", Reads: 1}, Reads: 1}
	src := Source{Enabled: true}.Observe(o, DefaultSettings().Policy(Source{}), Host{}, 0, now)
	if src.Cursor.X == nil || src.Cursor.X.UserID != "11" {
		t.Errorf("the cursor is %+v", src.Cursor.X)
	}
}

// S6: a host may ask for a pause with a good answer.
func TestPauseWithAGoodAnswer(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	until := now.Add(10 * time.Minute)
	if h := (Host{}).Observe(&Outcome{Status: 200, Pause: until}, now); !h.NotBefore.Equal(until) || h.Failures != 0 {
		t.Errorf("the host is %+v", h)
	}
	if h := (Host{NotBefore: until}).Observe(&Outcome{Status: 200, Pause: now.Add(time.Minute)}, now); !h.NotBefore.Equal(until) {
		t.Errorf("a shorter pause replaces a longer one: %+v", h)
	}
}

// S8: what an account costs is said with its schedule.
func TestExplainTellsTheCost(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	src := Source{Enabled: true, LastPollAt: now, Cursor: Cursor{X: &XCursor{Month: "2026-11", Reads: 12}}}
	p := DefaultSettings().Policy(src)
	if got := src.Explain(p, Host{}, now); !strings.Contains(got, "12 reads of X paid for this month") {
		t.Errorf("explained as %q", got)
	}
	if got := src.Explain(p, Host{}, NextMonth(now)); strings.Contains(got, "reads") {
		t.Errorf("in the next month explained as %q", got)
	}
}

func TestResume(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	p := DefaultSettings().Policy(Source{})
	failed := func(f Failure, enabled bool, reason string, permanent int) Source {
		return Source{Type: Twitter, Enabled: enabled, DisabledReason: reason, Failures: max(1, permanent), PermanentFailures: permanent,
			LastFailure: &f, LastPollAt: now.Add(-time.Minute), NextPollAt: now.Add(time.Hour)}
	}
	refused := Failure{Code: NeedsCredential, Sentence: "refused", Paused: true}
	missing := Failure{Code: NeedsCredential, Sentence: "missing"}
	for name, test := range map[string]struct {
		src     Source
		enabled bool
		next    time.Time
	}{
		"refused token":              {failed(refused, false, "refused", 1), true, now},
		"refused, then off by hand":  {failed(refused, false, "Paused by hand.", 1), false, time.Time{}},
		"missing token":              {failed(missing, true, "", 3), true, now},
		"missing for long":           {failed(missing, false, "It failed 15 times in a row", 15), true, now},
		"missing, then off by hand":  {failed(missing, false, "by hand", 2), false, time.Time{}},
		"cap reached":                {failed(Failure{Code: SpendCap, Until: now.Add(time.Hour)}, true, "", 0), true, now},
		"rate limit of the old one":  {failed(Failure{Code: "http_429", CoolHost: true, RetryAfter: now.Add(time.Hour)}, true, "", 0), true, now},
		"a failure of another kind":  {failed(Failure{Code: "no_account"}, true, "", 1), true, now.Add(-time.Minute).Add(p.Backoff(1))},
		"put off with its neighbour": {Source{Type: Twitter, Enabled: true, LastPollAt: now.Add(-time.Minute), NextPollAt: now.Add(time.Hour)}, true, now.Add(14 * time.Minute)},
	} {
		if !test.enabled {
			test.src.NextPollAt = time.Time{}
		}
		got := test.src.Resume(p, Host{}, now)
		if got.Enabled != test.enabled || !got.NextPollAt.Equal(test.next) {
			t.Errorf("%s: enabled %v, next %v; want %v, %v", name, got.Enabled, got.NextPollAt, test.enabled, test.next)
		}
	}
}

func TestSpend(t *testing.T) {
	var c XCursor
	end := time.Date(2026, 12, 31, 23, 59, 0, 0, time.UTC)
	c.Spend(5, end)
	c.Spend(2, end)
	if c.Month != "2026-12" || c.Reads != 7 {
		t.Errorf("spent %+v", c)
	}
	c.Spend(1, NextMonth(end))
	if c.Month != "2027-01" || c.Reads != 1 {
		t.Errorf("in the new month %+v", c)
	}
	east := time.FixedZone("east", 3600)
	if got := Month(time.Date(2027, 1, 1, 0, 30, 0, 0, east)); got != "2026-12" {
		t.Errorf("half an hour into January in the east is %s, want December in UTC", got)
	}
}

func TestParseProvider(t *testing.T) {
	for _, name := range []string{"x", "X", " twitter "} {
		if p, err := ParseProvider(name); p != X || err != nil {
			t.Errorf("%q: %q, %v", name, p, err)
		}
	}
	for _, name := range []string{"", " ", "mastodon", "x.com"} {
		if p, err := ParseProvider(name); err == nil || p != "" {
			t.Errorf("%q: %q, %v", name, p, err)
		}
	}
}

func TestCheckToken(t *testing.T) {
	for given, want := range map[string]string{"abc%3D": "abc%3D", "  abc\n": "abc", "Bearer abc": "abc", "bearer  abc ": "abc"} {
		if got, err := CheckToken(given); got != want || err != nil {
			t.Errorf("%q: %q, %v", given, got, err)
		}
	}
	for _, bad := range []string{"", "  ", "Bearer ", "two words", "a\r\nX: 1", "tökén", "a\x00", strings.Repeat("a", 4097)} {
		got, err := CheckToken(bad)
		if err == nil || got != "" {
			t.Errorf("%q is taken", bad)
		} else if word := strings.TrimSpace(bad); len(word) > 5 && strings.Contains(err.Error(), word) {
			t.Errorf("the error tells %q: %v", bad, err)
		}
	}
}
