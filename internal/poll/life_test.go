package poll

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"freshet"
	"freshet/internal/store"
)

// journal is a feed that publishes an entry every so often and lists its latest.
type journal struct {
	name  string
	began time.Time
	every time.Duration
	lists int
}

// published is how many entries there are at a time.
func (j journal) published(at time.Time) int { return int(at.Sub(j.began)/j.every) + 1 }

func (j journal) when(entry int) time.Time { return j.began.Add(time.Duration(entry-1) * j.every) }

func (j journal) document() (doc, etag string) {
	n := j.published(time.Now())
	var b strings.Builder
	fmt.Fprintf(&b, "<rss version=\"2.0\"><channel><title>%s</title>", j.name)
	for e := n; e > max(0, n-j.lists); e-- {
		fmt.Fprintf(&b, `<item><guid>https://%s/%d</guid><title>%s %d</title><description>Text %d</description><pubDate>%s</pubDate></item>`,
			j.name, e, j.name, e, e, j.when(e).UTC().Format(time.RFC1123))
	}
	b.WriteString("</channel></rss>")
	return b.String(), fmt.Sprintf(`"%d"`, n)
}

func (j journal) answer(r *http.Request) (*http.Response, error) {
	doc, etag := j.document()
	if r.Header.Get("If-None-Match") == etag {
		return answer(304, "", "ETag", etag), nil
	}
	return answer(200, doc, "ETag", etag), nil
}

func retain(t *testing.T, st *store.Store) {
	t.Helper()
	for {
		n, err := st.Retain(t.Context(), time.Now(), 200)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
}

// A month of polling: failures and recovery, pauses, a move, a farewell, retention, restarts.
func TestLifeCycleOfAMonth(t *testing.T) {
	if underRace {
		t.Skip("a month takes minutes under the race detector; a day and the simulation run under it")
	}
	settings := freshet.DefaultSettings()
	settings.Interval = 2 * time.Hour
	w := newWorld()
	var began, now time.Time
	var steady, flaky, limited, moving journal
	var river []string
	sources := map[string]freshet.Source{}
	day := func(d float64) time.Time { return began.Add(time.Duration(d * 24 * float64(time.Hour))) }
	synctest.Test(t, func(t *testing.T) {
		st := openStore(t, settings)
		s := New(st, w.reader(), calm(settings))
		stop := serve(t, s)
		began = time.Now()
		during := func(from, to float64) bool { return time.Now().After(day(from)) && time.Now().Before(day(to)) }

		steady = journal{"steady.example", began, 6 * time.Hour, 20}
		w.set("steady.example/feed", steady.answer)
		flaky = journal{"flaky.example", began, 8 * time.Hour, 20}
		w.set("flaky.example/feed", func(r *http.Request) (*http.Response, error) {
			if during(3, 5) {
				return answer(500, "oops"), nil
			}
			return flaky.answer(r)
		})
		limited = journal{"limited.example", began, 24 * time.Hour, 20}
		for _, path := range []string{"/1", "/2"} {
			w.set("limited.example"+path, func(r *http.Request) (*http.Response, error) {
				if h := time.Now().UTC().Hour(); h == 10 || h == 11 {
					return answer(429, "", "Retry-After", "10800"), nil
				}
				return limited.answer(r)
			})
		}
		moving = journal{"old.example", began, 24 * time.Hour, 20}
		w.set("new.example/feed", moving.answer)
		w.set("old.example/feed", func(r *http.Request) (*http.Response, error) {
			if during(2, 99) {
				return answer(301, "", "Location", "https://new.example/feed"), nil
			}
			return moving.answer(r)
		})
		leaving := journal{"gone.example", began, 24 * time.Hour, 20}
		w.set("gone.example/feed", func(r *http.Request) (*http.Response, error) {
			if during(4, 99) {
				return answer(410, ""), nil
			}
			return leaving.answer(r)
		})
		w.set("still.example/feed", journal{"still.example", began, 365 * 24 * time.Hour, 1}.answer)
		w.define(t, `
-- script.example/feed --
HTTP/1.1 200 OK
ETag: "first"

`+document("script.example", 1)+`
-- script.example/feed --
HTTP/1.1 200 OK
Last-Modified: Tue, 04 Jan 2000 00:00:00 GMT

`+document("script.example", 2, 1)+`
-- script.example/feed --
HTTP/1.1 304 Not Modified

`)
		ids := map[string]freshet.ID{}
		for _, u := range []string{"steady.example/feed", "flaky.example/feed", "limited.example/1", "limited.example/2", "old.example/feed",
			"gone.example/feed", "still.example/feed", "script.example/feed", "nowhere.example/feed"} {
			ids[u] = watch(t, st, "https://"+u, freshet.Config{}).ID
		}
		s.Kick()
		for d := range 33 {
			if d%10 == 9 { // a restart
				stop()
				s = New(st, w.reader(), calm(settings))
				stop = serve(t, s)
			}
			retain(t, st)
			time.Sleep(time.Until(day(float64(d + 1))))
		}
		retain(t, st)
		stop()
		now = time.Now()
		river = titles(t, st)
		for u, id := range ids {
			sources[u] = sourceOf(t, st, id).Source
		}
	})

	t.Run("every entry once, none beyond retention", func(t *testing.T) {
		var want []string
		for _, j := range []journal{steady, flaky, limited, moving} {
			for e := 1; e <= j.published(now); e++ {
				if j.when(e).After(now.Add(time.Hour-settings.Retention)) && j.when(e).Before(now.Add(-3*time.Hour)) {
					want = append(want, fmt.Sprintf("%s %d", j.name, e))
				}
			}
		}
		got := map[string]int{}
		for _, title := range river {
			got[title]++
		}
		for _, title := range want {
			if got[title] != 1 {
				t.Errorf("%q is there %d times", title, got[title])
			}
		}
		for title, n := range got {
			if n > 1 || strings.HasPrefix(title, "still.example") || title == "steady.example 1" {
				t.Errorf("%q is there %d times", title, n)
			}
		}
	})
	t.Run("polls of a healthy source", func(t *testing.T) {
		asked := w.of("https://steady.example/feed")
		if n := len(asked); n < 33*12-6 || n > 33*12+2 {
			t.Errorf("%d polls in 33 days, want about %d", n, 33*12)
		}
		unchanged := 0
		for i, a := range asked {
			if i > 0 && (!a.conditional || a.at.Sub(asked[i-1].at) < 2*time.Hour) {
				t.Errorf("poll %d at %v: conditional %v, %v after the last", i, a.at, a.conditional, a.at.Sub(asked[i-1].at))
			}
			if a.status == 304 {
				unchanged++
			}
		}
		if news := len(asked) - unchanged; news > steady.published(now) {
			t.Errorf("%d documents were sent for %d entries", news, steady.published(now))
		}
	})
	t.Run("Source with failures uses backoff interval", func(t *testing.T) {
		polls := w.of("https://flaky.example/feed")
		first := slices.IndexFunc(polls, func(a asked) bool { return a.status == 500 })
		for i, want := range []time.Duration{2 * time.Hour, 2 * time.Hour, 5 * time.Minute, 15 * time.Minute, time.Hour, time.Hour} {
			if gap := polls[first+i+1].at.Sub(polls[first+i].at); gap < want || gap > want+time.Second {
				t.Errorf("after failure %d the next try came after %v, want %v", i+1, gap, want)
			}
		}
		if src := sources["flaky.example/feed"]; src.Failures != 0 || src.Health() != freshet.Healthy {
			t.Errorf("after its recovery the source is %s with %d failures", src.Health(), src.Failures)
		}
	})
	t.Run("a server's pause holds for its host", func(t *testing.T) {
		var until time.Time
		pauses := 0
		for _, a := range w.all() {
			if a.host != "limited.example" {
				continue
			}
			if a.at.Before(until) {
				t.Errorf("%s was asked at %v, within a pause until %v", a.url, a.at, until)
			}
			if a.status == 429 {
				until = a.ended.Add(3 * time.Hour)
				pauses++
			}
		}
		if pauses < 30 || pauses > 33 {
			t.Errorf("%d pauses in 33 days, want one a day", pauses)
		}
	})
	t.Run("a source that moved", func(t *testing.T) {
		src := sources["old.example/feed"]
		if src.URL != "https://new.example/feed" || src.MovedFrom != "https://old.example/feed" || src.Host != "new.example" {
			t.Errorf("source = %s, moved from %s", src.URL, src.MovedFrom)
		}
		redirects := 0
		for _, a := range w.of("https://old.example/feed") {
			if a.status == 301 {
				redirects++
			}
		}
		if redirects != 3 {
			t.Errorf("%d redirects were followed, want 3", redirects)
		}
	})
	t.Run("a source that is gone", func(t *testing.T) {
		src := sources["gone.example/feed"]
		asked := w.of("https://gone.example/feed")
		if src.Enabled || !strings.Contains(src.DisabledReason, "410") || asked[len(asked)-1].at.After(day(4.2)) {
			t.Errorf("enabled %v because %q, last asked at %v", src.Enabled, src.DisabledReason, asked[len(asked)-1].at)
		}
	})
	t.Run("a source that never was", func(t *testing.T) {
		src := sources["nowhere.example/feed"]
		if n := len(w.of("https://nowhere.example/feed")); src.Enabled || n != 15 || !strings.Contains(src.DisabledReason, "15 times") {
			t.Errorf("after %d tries enabled %v because %q", n, src.Enabled, src.DisabledReason)
		}
	})
	t.Run("what is still listed stays known after retention", func(t *testing.T) {
		if src := sources["still.example/feed"]; src.Health() != freshet.Healthy {
			t.Errorf("the source is %s", src.Health())
		}
		if n := len(w.of("https://still.example/feed")); n < 300 {
			t.Errorf("polled %d times", n)
		}
	})
	t.Run("answers by the book", func(t *testing.T) {
		for i, a := range w.of("https://script.example/feed") {
			if a.conditional != (i > 0) {
				t.Errorf("poll %d: conditional %v", i, a.conditional)
			}
		}
		if src := sources["script.example/feed"]; src.Cursor.ETag != "" || src.Cursor.LastModified != "Tue, 04 Jan 2000 00:00:00 GMT" {
			t.Errorf("validators are %q and %q, want those of the last document", src.Cursor.ETag, src.Cursor.LastModified)
		}
	})
}

// A day of many sources added in bulk: jitter spreads them, each is polled every 15 min, hosts in order.
func TestLifeCycleOfADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings := freshet.DefaultSettings()
		settings.TypeDelay = map[freshet.Type]time.Duration{freshet.RSS: time.Second}
		w, st := newWorld(), openStore(t, settings)
		began := time.Now()
		var list []store.NewSource
		var journals []journal
		for i := range 12 {
			j := journal{fmt.Sprintf("j%d.example", i), began, time.Duration(i+1) * time.Hour, 10}
			path := fmt.Sprintf("h%d.example/%d", i%4, i)
			w.set(path, j.answer)
			journals = append(journals, j)
			list = append(list, store.NewSource{URL: "https://" + path})
		}
		if _, err := st.AddSources(t.Context(), list, began); err != nil {
			t.Fatal(err)
		}
		stop := running(t, New(st, w.reader(), calm(settings)))
		time.Sleep(24*time.Hour + 20*time.Minute)
		stop()
		stored := titles(t, st)
		for i, n := range list {
			asked := w.of(n.URL)
			if len(asked) < 95 || len(asked) > 98 {
				t.Errorf("%s was polled %d times in a day, want 96", n.URL, len(asked))
			}
			if first := asked[0].at.Sub(began); first > 15*time.Minute+10*time.Second {
				t.Errorf("%s was first polled after %v", n.URL, first)
			}
			for e := range journals[i].published(began.Add(24 * time.Hour)) {
				if !slices.Contains(stored, fmt.Sprintf("%s %d", journals[i].name, e+1)) {
					t.Errorf("entry %d of %s is missing", e+1, journals[i].name)
				}
			}
		}
		last := map[string]time.Time{}
		for _, a := range w.all() {
			if gap := a.at.Sub(last[a.host]); gap < time.Second {
				t.Errorf("%s was asked again after %v, want the delay of a second", a.host, gap)
			}
			last[a.host] = a.ended
		}
		if len(stored) != len(slices.Compact(slices.Clone(stored))) {
			t.Error("an entry is there twice")
		}
	})
}
