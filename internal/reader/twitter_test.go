package reader_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"freshet"
	"freshet/internal/fetch"
	"freshet/internal/reader"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// purse is a vault and a count of what was spent.
type purse struct {
	tokens map[string]string
	reads  int
	broken error
}

func (p *purse) Token(_ context.Context, owner string, _ freshet.Provider) (string, error) {
	if p.broken != nil {
		return "", p.broken
	}
	token, ok := p.tokens[owner]
	if !ok {
		return "", fmt.Errorf("read the credential of x: %w", freshet.ErrNotFound)
	}
	return token, nil
}

func (p *purse) Reads(context.Context, string, freshet.Provider, string) (int, error) {
	return p.reads, nil
}

// follower polls one account, as scheduler and store do.
type follower struct {
	*testing.T
	x      *xStub
	purse  *purse
	cap    int
	src    freshet.Source
	policy freshet.Policy
	got    []freshet.Post // of all polls
}

func follow(t *testing.T, x *xStub, handle string) *follower {
	return &follower{T: t, x: x, purse: &purse{tokens: map[string]string{"": "token-one"}}, policy: freshet.DefaultSettings().Policy(freshet.Source{}),
		src: freshet.Source{ID: 7, Type: freshet.Twitter, URL: freshet.AccountURL(handle), Host: "api.x.com", Enabled: true, CreatedAt: time.Now()}}
}

func (f *follower) poll() *freshet.Outcome {
	f.Helper()
	r := reader.New(fetch.New(fetch.Settings{Allow: loopback, Timeout: 5 * time.Second}), slog.New(slog.DiscardHandler)).WithX(reader.X{
		API: f.x.URL + "/", Keys: f.purse, MonthlyReads: f.cap, Timeout: 5 * time.Second, Policy: func(freshet.Source) freshet.Policy { return f.policy }})
	turn := r.Turn()
	defer turn.Close()
	o := turn.Read(context.Background(), f.src)
	f.src = f.src.Observe(o, f.policy, freshet.Host{}, 0, time.Now())
	f.purse.reads += o.Reads
	f.got = append(f.got, o.Posts...)
	if fail := o.Failure; fail != nil && strings.Contains(fail.Sentence, "token-one") {
		f.Errorf("the sentence tells the token: %s", fail.Sentence)
	}
	return o
}

// ok polls and wants a whole success.
func (f *follower) ok() *freshet.Outcome {
	f.Helper()
	o := f.poll()
	if o.Failure != nil || o.Partial != "" {
		f.Fatalf("failure %v, partial %q", o.Failure, o.Partial)
	}
	return o
}

// fails polls and wants a failure with this code.
func (f *follower) fails(code string) *freshet.Failure {
	f.Helper()
	o := f.poll()
	if o.Failure == nil || o.Failure.Code != code {
		f.Fatalf("failure %+v, want %s", o.Failure, code)
	}
	return o.Failure
}

func (f *follower) saw(want ...string) {
	f.Helper()
	if got := f.x.saw(); !reflect.DeepEqual(got, want) && len(got)+len(want) > 0 {
		f.Errorf("X saw\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func (f *follower) cursor() freshet.XCursor {
	if f.src.Cursor.X == nil {
		return freshet.XCursor{}
	}
	return *f.src.Cursor.X
}

func id(n int) string { return fmt.Sprint(uint64(1858000000000000000) + uint64(n)) }

// E4: the number of an account is asked for once; then only what is newer than the newest post.
func TestAccountIsRead(t *testing.T) {
	x := newXStub(t)
	a := x.add("NASA", 30)
	f := follow(t, x, "@nasa")

	o := f.ok()
	f.saw("token-one /2/users/by/username/nasa", "token-one /2/users/11000/tweets max_results=5")
	if len(o.Posts) != 5 || o.Title != "The NASA (@NASA)" || o.SiteURL != "https://x.com/NASA" || o.Reads != 6 || o.Status != 200 {
		t.Fatalf("the first poll gives %d posts, title %q, site %q, %d reads", len(o.Posts), o.Title, o.SiteURL, o.Reads)
	}
	p := o.Posts[0]
	if p.Title != "Post 30 of NASA" || p.Text != p.Title || p.URL != "https://x.com/NASA/status/"+id(30) || p.Author != "@NASA" || time.Since(p.Published) > 2*time.Minute || p.Keys.GUID == (freshet.Key{}) {
		t.Errorf("a post is %+v", p)
	}
	want := freshet.XCursor{UserID: "11000", Username: "NASA", SinceID: id(30), Month: freshet.Month(time.Now()), Reads: 6}
	if f.cursor() != want {
		t.Errorf("the cursor is %+v, want %+v", f.cursor(), want)
	}

	if o = f.ok(); len(o.Posts) != 0 || o.Reads != 0 {
		t.Errorf("with nothing new: %d posts, %d reads", len(o.Posts), o.Reads)
	}
	f.saw("token-one /2/users/11000/tweets max_results=100&since_id=" + id(30))
	if f.cursor() != want || f.src.FeedTitle != "The NASA (@NASA)" {
		t.Errorf("after a poll without news the cursor is %+v, the title %q", f.cursor(), f.src.FeedTitle)
	}

	a.post("One more", time.Now())
	if o = f.ok(); len(o.Posts) != 1 || o.Posts[0].Title != "One more" {
		t.Errorf("one new post gives %d", len(o.Posts))
	}
	f.saw("token-one /2/users/11000/tweets max_results=100&since_id=" + id(30))
	f.ok()
	f.saw("token-one /2/users/11000/tweets max_results=100&since_id=" + id(31))
}

// An account that had no posts at the first poll has them all read later.
func TestAccountWithoutPosts(t *testing.T) {
	x := newXStub(t)
	a := x.add("quiet", 0)
	f := follow(t, x, "quiet")
	f.ok()
	for i := range 7 {
		a.post(fmt.Sprint("Post ", i), time.Now())
	}
	x.saw()
	if o := f.ok(); len(o.Posts) != 7 {
		t.Errorf("%d of 7 posts", len(o.Posts))
	}
	f.saw("token-one /2/users/11000/tweets max_results=100")
}

// E4: pages are read until all is read; only then does the place to go on from move.
func TestPaging(t *testing.T) {
	x := newXStub(t)
	a := x.add("busy", 1)
	f := follow(t, x, "busy")
	f.ok()
	for i := range 250 {
		a.post(fmt.Sprint("Post ", i+2), time.Now())
	}
	x.saw()
	if o := f.ok(); len(o.Posts) != 250 || o.Reads != 250 {
		t.Fatalf("%d posts, %d reads of 250", len(o.Posts), o.Reads)
	}
	since := "since_id=" + id(1)
	f.saw("token-one /2/users/11000/tweets max_results=100&"+since,
		"token-one /2/users/11000/tweets max_results=100&pagination_token=7140dibdnow9c7btw0&"+since,
		"token-one /2/users/11000/tweets max_results=100&pagination_token=7140dibdnow9c7btw1&"+since)
	if got := f.cursor().SinceID; got != id(251) {
		t.Errorf("since_id is %s, want %s", got, id(251))
	}
}

// When paging breaks off what was read is kept, and the next poll goes on where it ended: every post once.
func TestPagingBreaksOff(t *testing.T) {
	for name, broken := range map[string]http.HandlerFunc{
		"503":        body(503, ""),
		"429":        says(xProblem{"Too Many Requests", "", "about:blank", 429}, "x-rate-limit-reset", strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)),
		"not JSON":   body(200, "<html>"),
		"500":        body(500, "{}"),
		"connection": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			x := newXStub(t)
			x.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
			a := x.add("busy", 1)
			f := follow(t, x, "busy")
			f.ok()
			for i := range 250 {
				a.post(fmt.Sprint("Post ", i+2), time.Now())
			}
			x.next(nil, broken)
			x.saw()
			o := f.poll()
			if o.Failure != nil || o.Partial == "" || len(o.Posts) != 100 {
				t.Fatalf("failure %v, partial %q, %d posts", o.Failure, o.Partial, len(o.Posts))
			}
			if name == "429" && time.Until(o.Pause) < 59*time.Minute {
				t.Errorf("the pause of the token is %v", o.Pause)
			}
			if c := f.cursor(); c.SinceID != id(1) || c.NewestID != id(251) || c.UntilID != id(152) {
				t.Errorf("half-way the cursor is %+v", c)
			}
			a.post("Meanwhile", time.Now())
			x.saw()
			f.ok()
			f.saw("token-one /2/users/11000/tweets max_results=100&since_id="+id(1)+"&until_id="+id(152),
				"token-one /2/users/11000/tweets max_results=100&pagination_token=7140dibdnow9c7btw1&since_id="+id(1)+"&until_id="+id(152))
			f.ok()
			f.saw("token-one /2/users/11000/tweets max_results=100&since_id=" + id(251))
			seen := map[string]int{}
			for _, p := range f.got {
				seen[p.URL]++
			}
			for url, n := range seen {
				if n != 1 {
					t.Errorf("%s came %d times", url, n)
				}
			}
			if len(seen) != 252 {
				t.Errorf("%d posts of 252", len(seen))
			}
		})
	}
}

// A backlog is read in parts of ten pages; what is older than would be stored is not read.
func TestBacklog(t *testing.T) {
	x := newXStub(t)
	a := x.add("back", 1)
	f := follow(t, x, "back")
	f.ok()
	for i := range 1234 {
		a.post(fmt.Sprint("Post ", i), time.Now())
	}
	if o := f.poll(); len(o.Posts) != 1000 || o.Partial == "" {
		t.Fatalf("the first part has %d posts, partial %q", len(o.Posts), o.Partial)
	}
	if o := f.ok(); len(o.Posts) != 234 {
		t.Errorf("the rest has %d posts", len(o.Posts))
	}

	old := x.add("old", 1)
	f = follow(t, x, "old")
	f.ok()
	for i := range 500 {
		old.post(fmt.Sprint("Old ", i), time.Now().Add(-40*24*time.Hour))
	}
	for i := range 150 {
		old.post(fmt.Sprint("New ", i), time.Now())
	}
	if o := f.ok(); len(o.Posts) != 200 {
		t.Errorf("%d posts were paid for, of 150 that can be stored", len(o.Posts))
	}
	x.saw()
	f.ok()
	f.saw("token-one /2/users/11001/tweets max_results=100&since_id=" + id(651))
}

// What may be read in a month is not passed: the source pauses, says why, and goes on in the next one.
func TestMonthlyCap(t *testing.T) {
	x := newXStub(t)
	a := x.add("dear", 20)
	f := follow(t, x, "dear")
	f.cap = 30
	f.ok()
	for i := range 100 {
		a.post(fmt.Sprint("Post ", i), time.Now())
	}
	x.saw()
	o := f.poll()
	f.saw("token-one /2/users/11000/tweets max_results=24&since_id=" + id(20))
	if o.Reads != 24 || o.Partial == "" || f.purse.reads != 30 || f.cursor().Reads != 30 {
		t.Errorf("%d reads, %d in all, partial %q", o.Reads, f.purse.reads, o.Partial)
	}
	fail := f.fails(freshet.SpendCap)
	f.saw()
	if !fail.Until.Equal(freshet.NextMonth(time.Now())) || fail.Class != freshet.Transient || !strings.Contains(fail.Sentence, "cap is 30") {
		t.Errorf("the cap pauses with %+v", fail)
	}
	f.purse.reads = 0 // the month turned
	f.cap = 1000
	if o := f.ok(); len(o.Posts) != 76 {
		t.Errorf("the rest has %d posts, want 76", len(o.Posts))
	}
}

// S7: without a token, or with one that cannot be opened, X is not asked.
func TestNoToken(t *testing.T) {
	x := newXStub(t)
	x.add("NASA", 3)
	f := follow(t, x, "NASA")
	f.purse.tokens = map[string]string{"bob": "token-one"}
	if fail := f.fails(freshet.NeedsCredential); fail.Class != freshet.Permanent || !strings.HasSuffix(fail.Sentence, "none is set: freshet credentials set x.") {
		t.Errorf("without a token: %+v", fail)
	}
	f.src.Owner = "alice"
	if fail := f.fails(freshet.NeedsCredential); !strings.Contains(fail.Sentence, "freshet credentials set x --owner alice") {
		t.Errorf("without the owner's token: %+v", fail)
	}
	f.purse.broken = fmt.Errorf("%w: give the right one", freshet.ErrKey)
	if fail := f.fails(freshet.NeedsCredential); fail.Class != freshet.Transient || !strings.Contains(fail.Sentence, "another master key") {
		t.Errorf("with a token that does not open: %+v", fail)
	}
	f.saw()
}

// Refusals: what the token is to blame for pauses the source, what passes by itself waits.
func TestRefusals(t *testing.T) {
	at := time.Now().Add(7 * time.Minute).Truncate(time.Second)
	reset := strconv.FormatInt(at.Unix(), 10)
	for name, test := range map[string]struct {
		answer   http.HandlerFunc
		code     string
		paused   bool
		coolHost bool
		wait     time.Duration // about
		sentence string
	}{
		"401":               {answer: says(xProblem{"Unauthorized", "Unauthorized", "about:blank", 401}), code: "credential", paused: true, sentence: "freshet credentials set x"},
		"401 of old":        {answer: body(401, `{"errors":[{"code":89,"message":"Invalid or expired token"}]}`), code: "credential", paused: true, sentence: "401: Invalid or expired token"},
		"401 that tells it": {answer: body(401, `{"title":"Unauthorized","detail":"token-one is unknown"}`), code: "credential", paused: true, sentence: "401: ... is unknown"},
		"403":               {answer: says(xProblem{"Client Forbidden", "Use keys of an App that is attached to a Project.", "https://api.twitter.com/2/problems/client-forbidden", 403}), code: "credential", paused: true, sentence: "403: Use keys of an App that is attached to a Project"},
		"403 without words": {answer: body(403, "<html>no</html>"), code: "credential", paused: true, sentence: "403"},
		"429":               {answer: says(xProblem{"Too Many Requests", "Too Many Requests", "about:blank", 429}, "x-rate-limit-reset", reset), code: "http_429", coolHost: true, wait: 7 * time.Minute, sentence: "too many requests"},
		"429 of old": {answer: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("x-rate-limit-reset", reset)
			body(429, `{"errors":[{"code":88,"message":"Rate limit exceeded"}]}`)(w, r)
		}, code: "http_429", coolHost: true, wait: 7 * time.Minute},
		"429 that names no time": {answer: body(429, ""), code: "http_429", coolHost: true},
		"429 for ever":           {answer: says(xProblem{"", "", "", 429}, "x-rate-limit-reset", "99999999999"), code: "http_429", coolHost: true, wait: 24 * time.Hour},
		"429 long past":          {answer: says(xProblem{"", "", "", 429}, "x-rate-limit-reset", "1"), code: "http_429", coolHost: true},
		"usage capped":           {answer: says(xProblem{"UsageCapExceeded", "Usage cap exceeded: Monthly product cap", "https://api.twitter.com/2/problems/usage-capped", 429}, "x-rate-limit-reset", reset), code: "http_429", coolHost: true, wait: min(24*time.Hour, time.Until(freshet.NextMonth(time.Now()))), sentence: "used up (429: Usage cap exceeded: Monthly product cap)"},
		"no credits":             {answer: says(xProblem{"CreditsDepleted", "Your enrolled account does not have any credits.", "https://api.x.com/2/problems/credits", 402}), code: "http_402", coolHost: true, wait: min(24*time.Hour, time.Until(freshet.NextMonth(time.Now()))), sentence: "used up (402"},
		"400":                    {answer: body(400, `{"title":"Invalid Request","detail":"One or more parameters to your request was invalid.","type":"https://api.x.com/2/problems/invalid-request"}`), code: "http_400", sentence: "400: One or more parameters"},
		"503":                    {answer: body(503, `{"title":"Service Unavailable","detail":"Service Unavailable","type":"about:blank","status":503}`), code: "http_503", coolHost: true},
		"500":                    {answer: body(500, ""), code: "http_500"},
		"404":                    {answer: body(404, "not here"), code: "http_404"},
		"not JSON":               {answer: body(200, "<html>"), code: "parse"},
		"JSON of another kind":   {answer: body(200, `[1,2]`), code: "parse"},
	} {
		for _, place := range []string{"lookup", "timeline"} {
			t.Run(name+" at the "+place, func(t *testing.T) {
				x := newXStub(t)
				x.add("NASA", 3)
				f := follow(t, x, "NASA")
				if place == "timeline" {
					x.next(nil)
				}
				x.next(test.answer)
				fail := f.fails(test.code)
				wait := time.Duration(0)
				if !fail.RetryAfter.IsZero() {
					wait = time.Until(fail.RetryAfter)
				}
				if fail.Paused != test.paused || fail.CoolHost != test.coolHost || (wait-test.wait).Abs() > 5*time.Second || !strings.Contains(fail.Sentence, test.sentence) {
					t.Errorf("failure %+v, in %v", fail, wait)
				}
				if f.src.Enabled == test.paused || test.paused && f.src.DisabledReason != fail.Sentence {
					t.Errorf("enabled %v because %q", f.src.Enabled, f.src.DisabledReason)
				}
				// What the lookup cost is kept and it is not asked again.
				x.saw()
				f.ok()
				if calls := x.saw(); len(calls) != map[string]int{"lookup": 2, "timeline": 1}[place] {
					t.Errorf("the next poll makes the calls %q", calls)
				}
				if f.cursor().Reads != 4 {
					t.Errorf("%d reads in all, want 4", f.cursor().Reads)
				}
			})
		}
	}
}

// When the last request of a window was answered the token rests until the window ends, ahead of a 429.
func TestLimitIsHeeded(t *testing.T) {
	x := newXStub(t)
	a := x.add("NASA", 3)
	f := follow(t, x, "NASA")
	x.limit, x.resetAt = 2, time.Now().Add(9*time.Minute)
	if o := f.ok(); (time.Until(o.Pause) - 9*time.Minute).Abs() > 5*time.Second {
		t.Errorf("the pause is %v", o.Pause)
	}
	for i := range 150 {
		a.post(fmt.Sprint("Post ", i), time.Now())
	}
	x.limit = 1
	x.saw()
	if o := f.poll(); o.Failure != nil || o.Partial == "" || len(o.Posts) != 100 || o.Pause.IsZero() {
		t.Errorf("failure %v, partial %q, %d posts, pause %v", o.Failure, o.Partial, len(o.Posts), o.Pause)
	}
	if calls := x.saw(); len(calls) != 1 {
		t.Errorf("calls beyond the limit: %q", calls)
	}
}

// Accounts that are gone, suspended, protected; and a name that somebody else has now.
func TestAccountsThatAreNotGiven(t *testing.T) {
	suspended := &xProblem{"Forbidden", "User has been suspended: [bad].", "https://api.twitter.com/2/problems/resource-not-found", 0}
	protected := &xProblem{"Authorization Error", "Sorry, you are not authorized to see the user with id: [11000].", "https://api.twitter.com/2/problems/not-authorized-for-resource", 0}
	strange := &xProblem{"Strange", "Something else.", "https://api.x.com/2/problems/other", 0}
	for name, test := range map[string]struct {
		gone     *xProblem
		code     string
		class    freshet.Class
		sentence string
	}{
		"never there": {nil, "no_account", freshet.Permanent, "X does not give @bad: Could not find user with username: [bad]."},
		"suspended":   {suspended, "no_account", freshet.Permanent, "User has been suspended: [bad]"},
		"protected":   {protected, "protected", freshet.Permanent, "not authorized to see the user"},
		"other":       {strange, "refused_account", freshet.Transient, "Something else"},
	} {
		t.Run(name, func(t *testing.T) {
			x := newXStub(t)
			if test.gone != nil {
				x.add("bad", 2).Gone = test.gone
			}
			f := follow(t, x, "bad")
			if fail := f.fails(test.code); fail.Class != test.class || !strings.Contains(fail.Sentence, test.sentence) {
				t.Errorf("%+v", fail)
			}
			reads := f.cursor().Reads
			f.fails(test.code)
			if f.cursor().Reads != reads {
				t.Error("a failure that stays is paid for again")
			}
		})
	}
	t.Run("a name that somebody else has now", func(t *testing.T) {
		x := newXStub(t)
		x.add("name", 10)
		f := follow(t, x, "name")
		f.ok()
		x.add("other", 0)
		x.accounts["name"] = &xAccount{ID: "500", Name: "New", Username: "Name"}
		x.accounts["name"].post("Of another person", time.Now())
		x.saw()
		if o := f.ok(); len(o.Posts) != 1 || o.Posts[0].Author != "@Name" || f.cursor().UserID != "500" {
			t.Errorf("%d posts, cursor %+v", len(o.Posts), f.cursor())
		}
		f.saw("token-one /2/users/11000/tweets max_results=100&since_id="+id(10), "token-one /2/users/by/username/name", "token-one /2/users/500/tweets max_results=100")
	})
}

// Long posts, reposts, edits, quotes, links, escapes: what a post becomes.
func TestPostsOfX(t *testing.T) {
	x := newXStub(t)
	a := x.add("NASA", 0)
	at := time.Now().Add(-time.Hour).Truncate(time.Second).UTC()
	hundred := strings.Repeat("é", 100)
	link := func(short, long string) any {
		return map[string]any{"urls": []any{map[string]any{"start": 0, "end": 1, "url": short, "expanded_url": long, "display_url": "x"}}}
	}
	cases := []struct {
		name               string
		post               map[string]any
		title, text, known string // known: the number that the guid names, "" for its own
	}{
		{"hundred characters", a.post(hundred, at), hundred, hundred, ""},
		{"a hundred and one", a.post(hundred+"x", at), hundred + "...", hundred + "x", ""},
		{"lines", a.post("One\n\n two", at), "One two", "One\n\n two", ""},
		{"escapes", a.post("a &lt;b&gt; &amp;amp; c", at), "a <b> &amp; c", "a <b> &amp; c", ""},
		{"a long post", a.post("The begin… https://t.co/1", at, "note_tweet", map[string]any{"text": "The beginning and the end https://t.co/2", "entities": link("https://t.co/2", "https://nasa.example/long")}),
			"The beginning and the end https://nasa.example/long", "The beginning and the end https://nasa.example/long", ""},
		{"a link", a.post("Read https://t.co/3 now", at, "entities", link("https://t.co/3", "https://nasa.example/a?b=1&c=2")), "Read https://nasa.example/a?b=1&c=2 now", "Read https://nasa.example/a?b=1&c=2 now", ""},
		{"a hostile link", a.post("Read https://t.co/4", at, "entities", link("https://t.co/4", "javascript:alert(1)")), "Read https://t.co/4", "Read https://t.co/4", ""},
		{"a picture", a.post("Look https://t.co/5", at, "entities", link("https://t.co/5", "https://twitter.com/NASA/status/1858000000000000008/photo/1")), "Look", "Look", ""},
		{"a repost", a.post("RT @ESA: Hello", at, "referenced_tweets", []any{map[string]any{"type": "retweeted", "id": "42"}}), "RT @ESA: Hello", "RT @ESA: Hello", "42"},
		{"a repost of its own", a.post("RT @nasa: Hello", at, "referenced_tweets", []any{map[string]any{"type": "retweeted", "id": "43"}}), "RT @nasa: Hello", "RT @nasa: Hello", ""},
		{"a quote", a.post("So true", at, "referenced_tweets", []any{map[string]any{"type": "quoted", "id": "44"}}), "So true", "So true", ""},
		{"an edit", a.post("Corrected", at, "edit_history_tweet_ids", []string{"41", id(12)}), "Corrected", "Corrected", "41"},
	}
	f := follow(t, x, "NASA")
	f.src.LastSuccessAt = at // so that all are read
	o := f.ok()
	if len(o.Posts) != len(cases) {
		t.Fatalf("%d posts of %d", len(o.Posts), len(cases))
	}
	for i, test := range cases {
		got := o.Posts[len(cases)-1-i]
		own := test.post["id"].(string)
		known := test.known
		if known == "" {
			known = own
		}
		if got.Title != test.title || got.Text != test.text || got.GUID != freshet.StatusURL(known) || got.URL != "https://x.com/NASA/status/"+own || !got.Published.Equal(at) {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
}

// What X says beside the posts is told; what it sends that no API sends does no harm.
func TestOddAnswers(t *testing.T) {
	user := `{"data":{"id":"1","name":"N","username":"nasa"}}`
	for name, test := range map[string]struct {
		lookup, timeline string
		posts            int
		partial, code    string
	}{
		"partial errors":       {user, `{"data":[{"id":"9","text":"a"}],"errors":[{"title":"Not Found Error","detail":"Could not find tweet with referenced_tweets.id: [8].","type":"https://api.x.com/2/problems/resource-not-found"}],"meta":{"result_count":1}}`, 1, "Could not find tweet", ""},
		"no data, no meta":     {user, `{}`, 0, "", ""},
		"null":                 {user, `null`, 0, "", ""},
		"data is null":         {user, `{"data":null,"meta":{"result_count":0}}`, 0, "", ""},
		"an old date":          {user, `{"data":[{"id":"9","text":"a","created_at":"Wed Jan 06 18:40:40 +0000 2021"}]}`, 1, "", ""},
		"no date":              {user, `{"data":[{"id":"9","text":"a","created_at":"yesterday"}]}`, 1, "", ""},
		"no id":                {user, `{"data":[{"text":"a"},{"id":"9","text":"b"}]}`, 1, "without a number", ""},
		"an id that is none":   {user, `{"data":[{"id":"../../etc","text":"a"},{"id":"0","text":"a"},{"id":"99999999999999999999999","text":"b"}]}`, 0, "without a number", ""},
		"an id that is a path": {`{"data":{"id":"1/../2","name":"N","username":"nasa"}}`, "", 0, "", "no_account"},
		"a name that is none":  {`{"data":{"id":"1","name":"N","username":"<script>"}}`, "", 0, "", "no_account"},
		"an id as a number":    {`{"data":{"id":1,"name":"N","username":"nasa"}}`, "", 0, "", "parse"},
		"nothing about it":     {`{}`, "", 0, "", "no_account"},
		"control characters":   {user, `{"data":[{"id":"9","text":"\u0000\u001b[31m\ud800"}]}`, 1, "", ""},
		"deep":                 {user, `{"data":[{"id":"9","entities":` + strings.Repeat(`{"urls":[`, 5000), 0, "", "parse"},
		"a page for ever":      {user, `{"data":[{"id":"9","text":"a"}],"meta":{"next_token":"again"}}`, 1, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			x := newXStub(t)
			f := follow(t, x, "nasa")
			x.next(body(200, test.lookup), body(200, test.timeline))
			o := f.poll()
			code := ""
			if o.Failure != nil {
				code = o.Failure.Code
			}
			if code != test.code || len(o.Posts) != test.posts || !strings.Contains(o.Partial, test.partial) || test.partial == "" && o.Partial != "" {
				t.Errorf("failure %+v, %d posts, partial %q", o.Failure, len(o.Posts), o.Partial)
			}
		})
	}
	t.Run("pages without end", func(t *testing.T) {
		x := newXStub(t)
		f := follow(t, x, "nasa")
		f.src.LastSuccessAt = time.Now()
		x.next(body(200, user))
		for range 20 {
			x.next(body(200, `{"data":[{"id":"9","text":"a"}],"meta":{"next_token":"again"}}`))
		}
		if o := f.poll(); o.Partial == "" || len(o.Posts) != 10 {
			t.Errorf("%d posts, partial %q", len(o.Posts), o.Partial)
		}
	})
}

// Numbers are compared as numbers, in whatever order a page gives them.
func TestNewestIsANumber(t *testing.T) {
	x := newXStub(t)
	f := follow(t, x, "nasa")
	x.next(body(200, `{"data":{"id":"1","name":"N","username":"nasa"}}`), body(200, `{"data":[{"id":"99","text":"a"},{"id":"100","text":"b"},{"id":"98","text":"c"}]}`))
	f.ok()
	if got := f.cursor().SinceID; got != "100" {
		t.Errorf("since_id is %s", got)
	}
}

// A token goes to the API and nowhere else, whatever the API says.
func TestTokenStaysWithItsHost(t *testing.T) {
	var stolen []string
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stolen = append(stolen, r.Header.Get("Authorization"))
		fmt.Fprint(w, `{"data":{"id":"1","name":"N","username":"nasa"}}`)
	}))
	defer thief.Close()
	x := newXStub(t)
	f := follow(t, x, "nasa")
	x.next(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, thief.URL+"/2/users/by/username/nasa", http.StatusMovedPermanently)
	})
	o := f.poll()
	if len(stolen) != 1 || stolen[0] != "" {
		t.Errorf("the other host saw %q", stolen)
	}
	if o.MovedTo != "" || f.src.URL != "https://x.com/nasa" {
		t.Errorf("the source moved to %q", o.MovedTo)
	}
}

// The time of a poll bounds all its requests together.
func TestSlowAPI(t *testing.T) {
	x := newXStub(t)
	x.add("slow", 1)
	f := follow(t, x, "slow")
	release := make(chan struct{})
	x.next(func(w http.ResponseWriter, r *http.Request) { <-release })
	r := reader.New(fetch.New(fetch.Settings{Allow: loopback}), slog.New(slog.DiscardHandler)).WithX(reader.X{
		API: x.URL, Keys: f.purse, Timeout: 50 * time.Millisecond, Policy: func(freshet.Source) freshet.Policy { return f.policy }})
	turn := r.Turn()
	o := turn.Read(context.Background(), f.src)
	close(release)
	turn.Close()
	if o.Failure == nil || o.Failure.Code != "timeout" {
		t.Errorf("a silent API gives %+v", o.Failure)
	}
}
