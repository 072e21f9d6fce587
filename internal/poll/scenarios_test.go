package poll

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"freshet"
	"freshet/internal/fetch"
	"freshet/internal/reader"
	"freshet/internal/store"
	"freshet/internal/vault"
)

// The scenarios of the polling seeds (000, 003), each from the scheduler over reader and parser to the database
// and back, in fake time, on both databases. docs/scenarios.md says which others hold a scenario up.
func TestScenarios(t *testing.T) {
	for _, scenario := range []struct {
		name string
		play func(*stage)
	}{
		{"Source polled when interval has elapsed", playElapsed},
		{"Source skipped when interval has not elapsed", playNotElapsed},
		{"Disabled source never polled", playDisabled},
		{"Twitter source polled with user context", playTwitter},
		{"Source with failures uses backoff interval", playBackoff},
		{"Host groups polled in parallel", playHostGroups},
		{"Scheduler method is a suspend function", playSuspend},
		{"Log messages show source URL", playLog},
		{"New RSS entries stored as individual posts", playNewEntries},
		{"Nitter RSS entries stored as individual posts", playNitter},
		{"No new entries since last poll", playNothingNew},
		{"Feed fetch fails", playFetchFails},
		{"HTML content stripped from RSS entry", playMarkup},
		{"Author extracted from RSS entry", playAuthor},
		{"New content detected on website", playNewContent},
		{"No content change on website", playNoChange},
		{"Identical content from different polls", playIdentical},
		{"Post older than max age is skipped", playTooOld},
		{"Post with null publishedAt is saved", playUndated},
		{"First poll of new source skips historical posts", playHistorical},
		{"First poll of new source accepts recent posts", playRecent},
		{"Subsequent polls ignore createdAt filter", playLaterPolls},
		{"First poll with null publishedAt post is not filtered", playFirstUndated},
	} {
		t.Run(scenario.name, func(t *testing.T) {
			t.Parallel() // it is the making of a PostgreSQL schema that takes time
			onDatabases(t, func(t *testing.T, dsn string) {
				synctest.Test(t, func(t *testing.T) { scenario.play(newStage(t, dsn)) })
			})
		})
	}
}

// stage is a running scheduler with its database and its web. Its clock begins at the seed's moment,
// 2026-02-17T10:00:00Z.
type stage struct {
	*testing.T
	*world
	st     *store.Store
	tokens *vault.Vault
	s      *Scheduler
	log    *logbook
	stop   func()
}

// keys are tokens of the X API, and what they cost.
type keys struct {
	*vault.Vault
	*store.Store
}

func newStage(t *testing.T, dsn string) *stage {
	t.Helper()
	sg := &stage{T: t, world: newWorld(), log: new(logbook)}
	sg.until(time.Date(2026, 2, 17, 10, 0, 0, 0, time.UTC))
	st, err := store.Open(t.Context(), dsn, store.Options{Settings: freshet.DefaultSettings()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	sg.st = st
	if sg.tokens, err = vault.Open(t.Context(), st, strings.Repeat("5eed", 16), ""); err != nil {
		t.Fatal(err)
	}
	rd := reader.New(fetch.NewWith(sg.world, fetch.Settings{}), quiet).WithX(reader.X{
		API: "https://api.x.com", Keys: keys{sg.tokens, st}, Timeout: 10 * time.Second, Policy: st.Settings().Policy,
	})
	sg.s = New(st, rd, Options{Settings: st.Settings(), Tick: time.Minute, LeaseTTL: 6 * time.Hour, Logger: sg.log.logger(slog.LevelDebug)})
	sg.stop = serve(t, sg.s)
	return sg
}

func (sg *stage) until(at time.Time) { time.Sleep(time.Until(at)) }

// add adds a source and polls it.
func (sg *stage) add(kind freshet.Type, url string, config freshet.Config) freshet.Source {
	sg.Helper()
	w, err := sg.st.AddSource(sg.Context(), store.NewSource{Type: kind, URL: url, Config: config, AtOnce: true}, time.Now())
	if err != nil {
		sg.Fatal(err)
	}
	sg.s.Kick()
	time.Sleep(time.Second)
	return w.Source
}

func (sg *stage) source(id freshet.ID) freshet.Source {
	sg.Helper()
	return sourceOf(sg.T, sg.st, id).Source
}

// stored are the items of the river in full, newest first.
func (sg *stage) stored() (list []store.ItemDetail) {
	sg.Helper()
	page, err := sg.st.River(sg.Context(), store.RiverQuery{Limit: 1000})
	if err != nil {
		sg.Fatal(err)
	}
	for _, item := range page.Items {
		detail, err := sg.st.Item(sg.Context(), item.ID)
		if err != nil {
			sg.Fatal(err)
		}
		list = append(list, detail)
	}
	return list
}

// has compares the titles of what is stored.
func (sg *stage) has(want ...string) {
	sg.Helper()
	if got := titles(sg.T, sg.st); fmt.Sprint(got) != fmt.Sprint(want) {
		sg.Errorf("stored %q, want %q", got, want)
	}
}

// feeds serves documents in turn; the last one stays.
func (sg *stage) feeds(address string, documents ...string) {
	n := 0
	sg.set(address, func(*http.Request) (*http.Response, error) {
		d := documents[min(n, len(documents)-1)]
		n++
		return answer(200, d), nil
	})
}

// rss is a document of these items.
func rss(items ...string) string {
	return `<rss version="2.0"><channel><title>Feed</title>` + strings.Join(items, "") + `</channel></rss>`
}

// feedItem is an item of a feed; a zero time is left out.
func feedItem(name string, published time.Time) string {
	date := ""
	if !published.IsZero() {
		date = "<pubDate>" + published.Format(time.RFC1123) + "</pubDate>"
	}
	return fmt.Sprintf(`<item><guid isPermaLink="false">tag:a.example,2026:%[1]s</guid><link>https://a.example/%[1]s</link><title>%[1]s</title><description>Text of %[1]s</description>%[2]s</item>`, name, date)
}

func minutes(n float64) freshet.Config {
	return freshet.Config{Cadence: &freshet.Cadence{EveryMinutes: n}}
}

func playElapsed(sg *stage) {
	sg.feeds("a.example/feed", rss(feedItem("one", time.Now())), rss(feedItem("two", time.Now()), feedItem("one", time.Now())))
	sg.add(freshet.RSS, "https://a.example/feed", minutes(60))
	sg.has("one")
	time.Sleep(time.Hour)
	polls := sg.of("https://a.example/feed")
	if len(polls) != 2 || polls[1].at.Sub(polls[0].at) < time.Hour {
		sg.Errorf("polled %+v, want again after 60 min", polls)
	}
	sg.has("one", "two")
}

func playNotElapsed(sg *stage) {
	sg.feeds("a.example/feed", rss(feedItem("one", time.Now())))
	sg.add(freshet.RSS, "https://a.example/feed", minutes(60))
	for range 58 { // each of them a cycle of the scheduler, and a nudge
		time.Sleep(time.Minute)
		sg.s.Kick()
	}
	if n := sg.count(); n != 1 {
		sg.Errorf("%d requests within the interval, want 1", n)
	}
}

func playDisabled(sg *stage) {
	sg.feeds("a.example/feed", rss(feedItem("one", time.Now())))
	src := sg.add(freshet.RSS, "https://a.example/feed", freshet.Config{})
	if _, err := sg.st.EditSource(sg.Context(), src.ID, time.Now(), func(w *store.Watched) error {
		w.Source = w.Source.Disable("by hand")
		return nil
	}); err != nil {
		sg.Fatal(err)
	}
	if _, err := sg.st.StartRefresh(sg.Context(), freshet.ByHand, nil, time.Now()); err != nil {
		sg.Fatal(err)
	}
	sg.s.Kick()
	time.Sleep(2 * time.Hour)
	if n := sg.count(); n != 1 {
		sg.Errorf("%d requests, want only the one before it was disabled", n)
	}
}

// The owner of a source is its briefing's owner (S7): Ann's accounts are read with Ann's token, Bob's with Bob's, and
// those of whoever has none not at all.
func playTwitter(sg *stage) {
	for _, owner := range []string{"ann", "bob"} {
		if _, err := sg.tokens.Set(sg.Context(), owner, freshet.X, "the-token-of-"+owner, time.Now()); err != nil {
			sg.Fatal(err)
		}
	}
	var calls []string
	var mu sync.Mutex // guards calls
	sg.xAccount(&calls, &mu, "city_pool", "11", "The pool is open")
	sg.xAccount(&calls, &mu, "city_zoo", "22", "The zoo is open")
	sg.xAccount(&calls, &mu, "city_hall", "33", "The hall is open")
	briefed := map[string]freshet.Briefing{}
	for owner, url := range map[string]string{"ann": "https://x.com/city_pool", "bob": "https://x.com/city_zoo", "eve": "https://x.com/city_hall"} {
		b, err := sg.st.AddBriefing(sg.Context(), freshet.NewBriefing("Of "+owner, owner),
			[]store.BriefingSource{{NewSource: store.NewSource{Type: freshet.Twitter, URL: url, AtOnce: true}}}, time.Now())
		if err != nil {
			sg.Fatal(err)
		}
		briefed[owner] = b
	}
	sg.s.Kick()
	time.Sleep(20 * time.Minute) // the first poll, and one more
	mu.Lock()
	defer mu.Unlock()
	for call, want := range map[string]int{
		"/2/users/by/username/city_pool the-token-of-ann": 1, "/2/users/11/tweets the-token-of-ann": 2,
		"/2/users/by/username/city_zoo the-token-of-bob": 1, "/2/users/22/tweets the-token-of-bob": 2,
	} {
		n := 0
		for i := len(calls) - 1; i >= 0; i-- {
			if calls[i] == call {
				calls = append(calls[:i], calls[i+1:]...)
				n++
			}
		}
		if n != want {
			sg.Errorf("%s was called %d times, want %d", call, n, want)
		}
	}
	if len(calls) != 0 {
		sg.Errorf("other calls: %q", calls)
	}
	for owner, want := range map[string]int{"ann": 1, "bob": 1, "eve": 0} {
		if c, err := sg.st.Compose(sg.Context(), briefed[owner].ID, time.Now()); err != nil || c.Posts != want {
			sg.Errorf("%s's briefing has %d posts, want %d (%v)", owner, c.Posts, want, err)
		}
	}
	if f := sg.source(briefed["eve"].Sources[0].Source.ID).LastFailure; f == nil || f.Code != freshet.NeedsCredential {
		sg.Errorf("the source of an owner without a token: %+v", f)
	}
}

// xAccount answers for an account as the X API does, and notes each call with its token.
func (sg *stage) xAccount(calls *[]string, mu *sync.Mutex, name, id, text string) {
	serve := func(path, body string) {
		sg.set("api.x.com"+path, func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			*calls = append(*calls, path+" "+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
			return answer(200, body, "Content-Type", "application/json"), nil
		})
	}
	serve("/2/users/by/username/"+name, fmt.Sprintf(`{"data":{"id":%q,"name":"City","username":%q}}`, id, name))
	serve("/2/users/"+id+"/tweets", fmt.Sprintf(`{"data":[{"id":"1%s","text":%q,"created_at":%q}],"meta":{"result_count":1}}`,
		id, text, time.Now().Add(time.Minute).UTC().Format(time.RFC3339)))
}

func playBackoff(sg *stage) {
	sg.set("a.example/feed", func(*http.Request) (*http.Response, error) { return answer(500, "oops"), nil })
	config := minutes(60)
	config.Retry = freshet.Exponential
	src := sg.add(freshet.RSS, "https://a.example/feed", config)
	time.Sleep(2*time.Hour + time.Minute) // the first wait is 60 x 2
	if n := sg.source(src.ID).Failures; n != 2 {
		sg.Fatalf("%d failures, want 2", n)
	}
	second := sg.of("https://a.example/feed")[1].at
	sg.until(second.Add(240*time.Minute - time.Second))
	if n := sg.count(); n != 2 {
		sg.Errorf("%d requests before 240 min have passed, want 2", n)
	}
	time.Sleep(time.Minute)
	if n := sg.count(); n != 3 {
		sg.Errorf("%d requests after 240 min have passed, want 3", n)
	}
}

func playHostGroups(sg *stage) {
	const hosts = 12
	for i := range hosts {
		host := fmt.Sprintf("h%d.example", i)
		for _, path := range []string{"/a", "/b"} {
			sg.set(host+path, constant(5*time.Second, document(host, int(path[1]))))
			watch(sg.T, sg.st, "https://"+host+path, freshet.Config{})
		}
	}
	sg.s.Kick()
	time.Sleep(3 * time.Second)
	if n := sg.underWay(); n != hosts {
		sg.Errorf("%d requests under way, want one to each of %d hosts", n, hosts)
	}
	time.Sleep(9 * time.Second)
	if n := len(titles(sg.T, sg.st)); n != 2*hosts {
		sg.Errorf("%d of %d feeds were read", n, 2*hosts)
	}
	for host, n := range sg.mostAtOnce() {
		if n != 1 {
			sg.Errorf("%s had %d requests at once", host, n)
		}
	}
}

// A coroutine that is suspended holds no thread, and is cancelled with its scope: while requests wait for slow
// hosts the scheduler goes on polling others, and when it is stopped it returns and leaves nothing behind.
func playSuspend(sg *stage) {
	for i := range 20 {
		address := fmt.Sprintf("slow%d.example/", i)
		sg.set(address, constant(9*time.Second, document("slow", i)))
		watch(sg.T, sg.st, "https://"+address, freshet.Config{})
	}
	sg.s.Kick()
	time.Sleep(time.Second)
	sg.feeds("quick.example/feed", rss(feedItem("quick", time.Now())))
	sg.add(freshet.RSS, "https://quick.example/feed", freshet.Config{})
	if n := sg.underWay(); n != 20 {
		sg.Errorf("%d slow requests are under way, want 20", n)
	}
	sg.has("quick")
	began := time.Now()
	sg.stop()
	if took := time.Since(began); took > 6*time.Second {
		sg.Errorf("the scheduler returned %v after its context ended", took)
	}
	if n := sg.underWay(); n != 0 {
		sg.Errorf("%d requests outlive the scheduler", n)
	}
}

func playLog(sg *stage) {
	sg.feeds("a.example/feed", rss(feedItem("one", time.Now())))
	var ids []freshet.ID
	for _, url := range []string{"https://a.example/feed", "https://nowhere.example/feed"} {
		ids = append(ids, sg.add(freshet.RSS, url, freshet.Config{}).ID)
		if !strings.Contains(sg.log.String(), "source="+url) {
			sg.Errorf("the log does not name %s:\n%s", url, sg.log)
		}
	}
	for line := range strings.Lines(sg.log.String()) {
		if !strings.Contains(line, `msg="[Polling] `) {
			sg.Errorf("a line without the prefix: %s", line)
		}
		for _, id := range ids {
			if strings.Contains(line, id.String()) {
				sg.Errorf("a line names a source by its id: %s", line)
			}
		}
	}
}

func playNewEntries(sg *stage) {
	now := time.Now().UTC()
	last := feedItem("last", now.Add(-time.Hour))
	items := []string{feedItem("two", now.Add(time.Minute)), feedItem("three", now.Add(2*time.Minute)),
		`<item><guid>https://a.example/full</guid><link>https://a.example/full</link><title>In &lt;b&gt;full&lt;/b&gt;</title><author>Ann</author>` +
			`<description>&lt;p&gt;All of it&lt;/p&gt;</description><pubDate>` + now.Add(3*time.Minute).Format(time.RFC1123) + `</pubDate></item>`}
	again := strings.Replace(feedItem("other", now), "Text of other", "Text of two", 1) // the hash of what is stored
	sg.feeds("a.example/feed", rss(last), rss(append(items, last)...), rss(append(items, last, again)...))
	sg.add(freshet.RSS, "https://a.example/feed", freshet.Config{})
	time.Sleep(16 * time.Minute)
	sg.has("In full", "last", "three", "two")
	full := sg.stored()[0]
	if full.Title != "In full" || full.Body != "All of it" || full.URL != "https://a.example/full" || full.Author != "Ann" || !full.PublishedAt.Equal(now.Add(3*time.Minute).Truncate(time.Second)) {
		sg.Errorf("stored %+v", full)
	}
	time.Sleep(15 * time.Minute)
	sg.has("In full", "last", "three", "two")
}

func playNitter(sg *stage) {
	var items []string
	for i := range 5 {
		items = append(items, feedItem(fmt.Sprint("post", i), time.Now().Add(time.Duration(i)*time.Minute)))
	}
	sg.feeds("nitter.example/name/rss", rss(), rss(items...))
	b, err := sg.st.AddBriefing(sg.Context(), freshet.NewBriefing("Morning", ""),
		[]store.BriefingSource{{NewSource: store.NewSource{URL: "https://nitter.example/name/rss", AtOnce: true}}}, time.Now())
	if err != nil {
		sg.Fatal(err)
	}
	sg.s.Kick()
	time.Sleep(20 * time.Minute)
	if polls := sg.source(b.Sources[0].Source.ID).History.Polls(); len(polls) != 2 || polls[0].New+polls[1].New != 5 {
		sg.Errorf("the polls: %+v, want 5 posts of two", polls)
	}
	if list, _, err := sg.st.Articles(sg.Context(), store.ArticleQuery{Briefing: b.ID}); err != nil || len(list) != 0 {
		sg.Errorf("polling made articles: %+v (%v)", list, err)
	}
	if c, err := sg.st.Compose(sg.Context(), b.ID, time.Now()); err != nil || c.Posts != 5 || c.Articles != 1 {
		sg.Errorf("composed %+v (%v), want one article of 5 posts", c, err)
	}
}

func playNothingNew(sg *stage) {
	sg.feeds("a.example/feed", rss(feedItem("one", time.Now())))
	src := sg.add(freshet.RSS, "https://a.example/feed", freshet.Config{})
	first := sg.source(src.ID).LastPollAt
	time.Sleep(15 * time.Minute)
	sg.has("one")
	if got := sg.source(src.ID); got.LastPollAt.Sub(first) < 15*time.Minute || got.Failures != 0 {
		sg.Errorf("last polled at %v and %v, %d failures", first, got.LastPollAt, got.Failures)
	}
}

func playFetchFails(sg *stage) {
	sg.set("a.example/feed", func(*http.Request) (*http.Response, error) { return answer(500, "oops"), nil })
	for _, url := range []string{"https://a.example/feed", "https://nowhere.example/feed"} {
		began := time.Now()
		src := sg.add(freshet.RSS, url, freshet.Config{})
		got := sg.source(src.ID)
		if got.LastFailure == nil || !strings.Contains(sg.log.String(), "source="+url+" ") || !strings.Contains(sg.log.String(), fmt.Sprintf("%q", got.LastFailure.Sentence)) {
			sg.Errorf("the log does not have the error of %s:\n%s", url, sg.log)
		}
		if got.LastPollAt.Before(began.Truncate(time.Millisecond)) || got.NextPollAt.Sub(got.LastPollAt) < 15*time.Minute {
			sg.Errorf("%s: last poll %v, next %v", url, got.LastPollAt, got.NextPollAt)
		}
		time.Sleep(10 * time.Minute)
		if n := len(sg.of(url)); n != 1 {
			sg.Errorf("%s was asked %d times, want no retry immediately", url, n)
		}
	}
	sg.has()
}

func playMarkup(sg *stage) {
	sg.feeds("a.example/feed", rss(strings.Replace(feedItem("one", time.Now()), "Text of one",
		`&lt;p&gt;Breaking news&lt;/p&gt;&lt;a href="https://a.example/"&gt;link&lt;/a&gt;`, 1)))
	sg.add(freshet.RSS, "https://a.example/feed", freshet.Config{})
	if items := sg.stored(); len(items) != 1 || items[0].Body != "Breaking news link" {
		sg.Errorf("stored %+v", items)
	}
}

func playAuthor(sg *stage) {
	by := func(name, author string, at time.Duration) string {
		return strings.Replace(feedItem(name, time.Now().Add(-at)), "</item>", author+"</item>", 1)
	}
	sg.feeds("a.example/feed", strings.Replace(rss(
		by("one", "<author>John Smith</author>", time.Minute),
		by("two", "<author> </author><dc:creator> </dc:creator><dc:creator>Jane Roe</dc:creator>", 2*time.Minute),
		by("three", "<author> </author>", 3*time.Minute)), `<rss `, `<rss xmlns:dc="http://purl.org/dc/elements/1.1/" `, 1))
	sg.add(freshet.RSS, "https://a.example/feed", freshet.Config{})
	items := sg.stored()
	if len(items) != 3 || items[0].Author != "John Smith" || items[1].Author != "Jane Roe" || items[2].Author != "" {
		sg.Errorf("stored %+v", items)
	}
}

// articlePage is a page with a text in it, and something else that changes all the time.
func articlePage(text string) string {
	return `<!doctype html><html><head><title>Tariff</title><meta name="author" content=" "><meta property="article:author" content="Pool Office"></head>
<body><nav>Home</nav><article><h1>Tariff</h1><p>` + text + `</p>
<p>The pool is open from six in the morning until nine in the evening, and until ten on Fridays, all the year round.</p>
<p>Tickets are sold at the door and are valid until the evening; whoever leaves the building may come back on the same day.</p></article><footer>It is ` + time.Now().Format(time.TimeOnly) + `</footer></body></html>`
}

// pages serves pages with these texts in turn.
func (sg *stage) pages(address string, texts ...string) {
	n := 0
	sg.set(address, func(*http.Request) (*http.Response, error) {
		text := texts[min(n, len(texts)-1)]
		n++
		return answer(200, articlePage(text), "Content-Type", "text/html; charset=utf-8"), nil
	})
}

func playNewContent(sg *stage) {
	sg.pages("a.example/tariff", "A day ticket costs 5.", "A day ticket costs 6.")
	sg.add(freshet.Website, "https://a.example/tariff", freshet.Config{})
	items := sg.stored()
	if len(items) != 1 || !strings.Contains(items[0].Body, "A day ticket costs 5.") || strings.Contains(items[0].Body, "Home") || items[0].Author != "Pool Office" {
		sg.Fatalf("stored %+v", items)
	}
	time.Sleep(15 * time.Minute)
	if items = sg.stored(); len(items) != 2 || !strings.Contains(items[0].Body, "A day ticket costs 6.") {
		sg.Errorf("stored %+v", items)
	}
}

func playNoChange(sg *stage) {
	sg.pages("a.example/tariff", "A day ticket costs 5.")
	sg.add(freshet.Website, "https://a.example/tariff", freshet.Config{})
	time.Sleep(time.Hour)
	if polls, items := sg.count(), sg.stored(); polls != 5 || len(items) != 1 {
		sg.Errorf("%d polls stored %d posts, want 5 and 1", polls, len(items))
	}
}

func playIdentical(sg *stage) {
	copied := strings.Replace(feedItem("copy", time.Now()), "Text of copy", "Text of one", 1)
	sg.feeds("a.example/feed", rss(feedItem("one", time.Now())), rss(copied), rss(copied))
	sg.add(freshet.RSS, "https://a.example/feed", freshet.Config{})
	time.Sleep(31 * time.Minute)
	if n := sg.count(); n != 3 {
		sg.Fatalf("%d polls, want 3", n)
	}
	sg.has("one")
}

func playTooOld(sg *stage) {
	days := 7.0
	sg.feeds("a.example/feed", rss(feedItem("old", time.Now().Add(-7*24*time.Hour-time.Minute)), feedItem("young", time.Now().Add(-7*24*time.Hour+time.Hour))))
	sg.add(freshet.RSS, "https://a.example/feed", freshet.Config{MaxArticleAgeDays: &days})
	sg.has("young")
}

func playUndated(sg *stage) {
	days := 7.0
	sg.feeds("a.example/feed", rss(feedItem("one", time.Now())), rss(feedItem("undated", time.Time{})))
	sg.add(freshet.RSS, "https://a.example/feed", freshet.Config{MaxArticleAgeDays: &days})
	time.Sleep(15 * time.Minute)
	sg.has("one", "undated")
}

// skipping is a source that is created at 2026-02-17T10:00:00Z and skips its history.
func (sg *stage) skipping(items ...string) freshet.Source {
	yes, days := true, 7.0
	sg.feeds("a.example/feed", rss(items...))
	return sg.add(freshet.RSS, "https://a.example/feed", freshet.Config{SkipHistory: &yes, MaxArticleAgeDays: &days})
}

func february(day, hour int) time.Time { return time.Date(2026, 2, day, hour, 0, 0, 0, time.UTC) }

func playHistorical(sg *stage) {
	src := sg.skipping(feedItem("historical", february(15, 8)), feedItem("recent", february(17, 12)))
	sg.has("recent")
	if n := sg.source(src.ID).History.Polls()[0].New; n != 1 {
		sg.Errorf("%d new by the first poll, want 1", n)
	}
}

func playRecent(sg *stage) {
	sg.skipping(feedItem("recent", february(17, 12)))
	sg.has("recent")
}

func playLaterPolls(sg *stage) {
	sg.skipping(feedItem("recent", february(17, 12)))
	sg.feeds("a.example/feed", rss(feedItem("late", february(16, 8)), feedItem("too old", february(9, 8))))
	time.Sleep(15 * time.Minute)
	sg.has("late", "recent")
}

func playFirstUndated(sg *stage) {
	sg.skipping(feedItem("undated", time.Time{}))
	sg.has("undated")
}

// What a page becomes that is none any more is said, and nothing that was read before is lost: the articles stay, and
// so does what the page is compared with when it comes back.
func TestBadPages(t *testing.T) {
	for name, bad := range map[string]struct{ body, kind, sentence string }{
		"a page of 50 MB":      {strings.Repeat("<p>a page of fifty megabytes, word for word</p>", 50<<20/47), "text/html", "larger than the limit of 10 MiB"},
		"a page that is a PDF": {"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "application/pdf", "This is a PDF, not a web page."},
	} {
		t.Run(name, func(t *testing.T) {
			onDatabases(t, func(t *testing.T, dsn string) {
				synctest.Test(t, func(t *testing.T) {
					sg := newStage(t, dsn)
					sg.pages("a.example/tariff", "A day ticket costs 5.")
					src := sg.add(freshet.Website, "https://a.example/tariff", freshet.Config{})
					before := sg.source(src.ID).Cursor
					sg.set("a.example/tariff", func(*http.Request) (*http.Response, error) {
						return answer(200, bad.body, "Content-Type", bad.kind, "ETag", `"bad"`), nil
					})
					time.Sleep(15 * time.Minute)
					got := sg.source(src.ID)
					if f := got.LastFailure; f == nil || !strings.Contains(f.Sentence, bad.sentence) || got.Failures != 1 || !got.Enabled {
						t.Errorf("%d failures, the last %+v", got.Failures, f)
					}
					if c := got.Cursor; c.ETag != before.ETag || c.BodyHash != before.BodyHash || !c.LastFetchAt.Equal(*before.LastFetchAt) || c.Document.Hash != before.Document.Hash {
						t.Errorf("the cursor was %+v and is %+v", before, c)
					}
					sg.has("Tariff")
					sg.pages("a.example/tariff", "A day ticket costs 6.")
					time.Sleep(15 * time.Minute)
					if items := sg.stored(); len(items) != 2 || !strings.Contains(items[0].Body, "- A day ticket costs 5.") {
						t.Errorf("stored when it is back: %+v", items)
					}
				})
			})
		})
	}
}
