package freshet

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// watched is a source that was read five hours ago and is due now.
func watched() Source {
	return Source{
		ID: 1, Type: RSS, URL: "https://a.example/feed", NormalizedURL: "a.example/feed", Host: "a.example", Enabled: true,
		CreatedAt: noon.AddDate(0, -1, 0), LastPollAt: noon.Add(-15 * time.Minute), LastSuccessAt: noon.Add(-15 * time.Minute), NextPollAt: noon,
		Cursor: Cursor{ETag: `"1"`, LastModified: "Tue, 17 Feb 2026 11:00:00 GMT", BodyHash: "aa"},
	}
}

func failing(n int) Source {
	s := watched()
	s.Failures, s.LastFailure = n, &Failure{Class: Transient, Sentence: "It broke."}
	return s
}

func observe(s Source, o Outcome) Source {
	o.At = noon
	return s.Observe(&o, DefaultSettings().Policy(s), Host{}, 0, noon.Add(time.Second))
}

// S3: last poll + interval after a success; S5 after failures; F3 for what the server asks.
func TestObserveNextPoll(t *testing.T) {
	broken := &Failure{Class: Transient}
	pause := func(d time.Duration) *Failure {
		return &Failure{Class: Transient, Status: 429, CoolHost: true, RetryAfter: noon.Add(d)}
	}
	doubling := watched()
	doubling.Failures, doubling.Config.Retry = 1, Exponential
	tests := []struct {
		name    string
		source  Source
		outcome Outcome
		want    time.Duration // after the request
	}{
		{"success", watched(), Outcome{Status: 200}, 15 * time.Minute},
		{"304", watched(), Outcome{Status: 304, Unchanged: true}, 15 * time.Minute},
		{"Feed fetch fails", watched(), Outcome{Failure: broken}, 15 * time.Minute},
		{"second failure", failing(1), Outcome{Failure: broken}, 15 * time.Minute},
		{"third failure", failing(2), Outcome{Failure: broken}, 5 * time.Minute},
		{"fourth failure", failing(3), Outcome{Failure: broken}, 15 * time.Minute},
		{"fifth failure", failing(4), Outcome{Failure: broken}, time.Hour},
		{"a hundredth failure", failing(99), Outcome{Failure: broken}, time.Hour},
		{"exponential", doubling, Outcome{Failure: broken}, time.Hour},
		{"recovery", failing(99), Outcome{Status: 200}, 15 * time.Minute},
		{"Retry-After later than the ladder", failing(2), Outcome{Status: 429, Failure: pause(2 * time.Hour)}, 2 * time.Hour},
		{"Retry-After sooner than the ladder", failing(5), Outcome{Status: 429, Failure: pause(time.Minute)}, time.Hour},
		{"the document's ttl", watched(), Outcome{Status: 200, Hints: Hints{Every: time.Hour, From: "ttl"}}, time.Hour},
		{"the answer's max-age", watched(), Outcome{Status: 304, Unchanged: true, MaxAge: 2 * time.Hour}, 2 * time.Hour},
		{"the longest wins", watched(), Outcome{Status: 200, MaxAge: 2 * time.Hour, Hints: Hints{Every: 3 * time.Hour, From: "ttl"}}, 3 * time.Hour},
		{"hints never shorten", watched(), Outcome{Status: 200, MaxAge: time.Second, Hints: Hints{Every: time.Minute}}, 15 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := observe(tt.source, tt.outcome)
			if got := s.NextPollAt.Sub(noon); got != tt.want {
				t.Errorf("next poll after %v, want %v", got, tt.want)
			}
			if !s.LastPollAt.Equal(noon) {
				t.Errorf("LastPollAt = %v, want the time of the request", s.LastPollAt)
			}
			if s.Seq != tt.source.Seq+1 {
				t.Errorf("Seq = %d, want %d", s.Seq, tt.source.Seq+1)
			}
		})
	}
}

// F3: what a document asks for holds while it is unchanged.
func TestObserveHintsOutliveA304(t *testing.T) {
	s := observe(watched(), Outcome{Status: 200, Hints: Hints{Every: time.Hour, From: "ttl", SkipHours: 1 << 13}})
	if got := s.NextPollAt.Sub(noon); got != 2*time.Hour {
		t.Fatalf("next poll after %v, want 2 h: an hour that is skipped, then the next", got)
	}
	s = observe(s, Outcome{Status: 304, Unchanged: true})
	if got := s.NextPollAt.Sub(noon); got != 2*time.Hour || s.Cursor.HintFrom != "ttl" {
		t.Errorf("next poll after %v because of %q, want 2 h because of ttl", got, s.Cursor.HintFrom)
	}
	s = observe(s, Outcome{Status: 200})
	if got := s.NextPollAt.Sub(noon); got != 15*time.Minute || s.Cursor.HintFrom != "" {
		t.Errorf("next poll after %v because of %q, want the interval: the new document asks for nothing", got, s.Cursor.HintFrom)
	}
}

// S6: the host's pause holds for each of its sources.
func TestObserveHostPause(t *testing.T) {
	h := Host{NotBefore: noon.Add(time.Hour)}
	s := watched()
	got := s.Observe(&Outcome{At: noon, Status: 200}, DefaultSettings().Policy(s), h, 0, noon)
	if !got.NextPollAt.Equal(h.NotBefore) {
		t.Errorf("next poll %v, want %v", got.NextPollAt, h.NotBefore)
	}
}

// F2, F4: validators follow the last answer to the letter, and none outlives a move or a document read in part.
func TestObserveCursor(t *testing.T) {
	first := observe(watched(), Outcome{
		Status: 200, ETag: `W/"x"`, LastModified: "not even a date", ValidatorsFrom: "https://b.example/feed", BodyHash: "bb", Title: "A feed", SiteURL: "https://a.example/",
		Posts: []Post{{Published: noon.Add(-2 * time.Hour)}, {}, {Published: noon.Add(-time.Hour)}},
	})
	c := first.Cursor
	if c.ETag != `W/"x"` || c.LastModified != "not even a date" || c.ValidatorsFrom != "https://b.example/feed" || c.BodyHash != "bb" {
		t.Errorf("cursor = %+v, want the answer's validators", c)
	}
	if !c.NewestPublishedAt.Equal(noon.Add(-time.Hour)) || !c.LastFetchAt.Equal(noon) {
		t.Errorf("newest = %v, last fetch = %v", c.NewestPublishedAt, c.LastFetchAt)
	}
	if first.FeedTitle != "A feed" || first.SiteURL != "https://a.example/" || first.Name() != "A feed" {
		t.Errorf("title = %q, site = %q", first.FeedTitle, first.SiteURL)
	}
	same := observe(first, Outcome{Status: 304, Unchanged: true, ETag: `W/"y"`})
	if same.Cursor.BodyHash != "bb" || same.Cursor.ETag != `W/"y"` || same.Cursor.NewestPublishedAt == nil || same.FeedTitle != "A feed" {
		t.Errorf("after a 304 the source is %+v", same)
	}
	partial := observe(first, Outcome{Status: 200, Partial: "the document ends before its end"})
	if partial.Cursor.ETag != "" || partial.Cursor.BodyHash != "" || partial.Cursor.Partial == "" {
		t.Errorf("after a document in part the cursor is %+v", partial.Cursor)
	}
	failed := observe(first, Outcome{Failure: &Failure{Class: Transient}})
	if !reflect.DeepEqual(failed.Cursor, first.Cursor) {
		t.Errorf("a failure changed the cursor to %+v", failed.Cursor)
	}
}

// S10: last_fetch_at is written only after a fetch that ended ok or partial.
func TestObserveLastFetchAt(t *testing.T) {
	s := observe(watched(), Outcome{Failure: &Failure{}})
	if s.Cursor.LastFetchAt != nil {
		t.Errorf("last_fetch_at = %v after a failure", s.Cursor.LastFetchAt)
	}
	for _, o := range []Outcome{{Status: 200}, {Status: 304, Unchanged: true}, {Status: 200, Partial: "a part"}} {
		if s = observe(watched(), o); s.Cursor.LastFetchAt == nil || !s.Cursor.LastFetchAt.Equal(noon) {
			t.Errorf("last_fetch_at = %v after %+v", s.Cursor.LastFetchAt, o)
		}
	}
}

// River seed 7.2 and F1: unhealthy after three failures in a row, healthy after any success.
func TestHealth(t *testing.T) {
	disabled := watched().Disable("by hand")
	tests := []struct {
		name   string
		source Source
		want   Health
	}{
		{"never polled", Source{Enabled: true}, Pending},
		{"first poll failed", Source{Enabled: true, Failures: 1}, Pending},
		{"read", watched(), Healthy},
		{"two failures", failing(2), Healthy},
		{"three failures", failing(3), Unhealthy},
		{"Any successful fetch resets failure count", observe(failing(30), Outcome{Status: 200}), Healthy},
		{"disabled", disabled, Disabled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.source.Health(); got != tt.want {
				t.Errorf("Health = %v, want %v", got, tt.want)
			}
		})
	}
}

// F6 and F3: fifteen permanent failures in a row, or one 410, disable; re-enabling clears the state.
func TestObserveDisables(t *testing.T) {
	missing := &Failure{Class: Permanent, Status: 404, Sentence: "There is nothing (404)."}
	s := watched()
	for n := 1; n < 15; n++ {
		if s = observe(s, Outcome{Failure: missing}); !s.Enabled {
			t.Fatalf("disabled after %d permanent failures", n)
		}
	}
	interrupted := observe(s, Outcome{Failure: &Failure{Class: Transient}})
	if interrupted = observe(interrupted, Outcome{Failure: missing}); !interrupted.Enabled {
		t.Error("disabled though a transient failure lay between")
	}
	s = observe(s, Outcome{Failure: missing})
	if s.Enabled || !s.NextPollAt.IsZero() || !strings.Contains(s.DisabledReason, "15 times") || !strings.Contains(s.DisabledReason, missing.Sentence) {
		t.Errorf("after 15: enabled %v, next %v, reason %q", s.Enabled, s.NextPollAt, s.DisabledReason)
	}
	if s.Due(noon.AddDate(1, 0, 0)) {
		t.Error("Disabled source never polled: it is due")
	}
	on := s.Enable(Host{}, noon)
	if !on.Enabled || on.Failures != 0 || on.PermanentFailures != 0 || on.LastFailure != nil || on.DisabledReason != "" || !on.Due(noon) {
		t.Errorf("after enabling: %+v", on)
	}
	if cooling := s.Enable(Host{NotBefore: noon.Add(time.Hour)}, noon); !cooling.NextPollAt.Equal(noon.Add(time.Hour)) {
		t.Errorf("enabled on a host that asked for a pause: next %v", cooling.NextPollAt)
	}
	gone := observe(watched(), Outcome{Failure: &Failure{Class: Permanent, Status: 410, Gone: true}})
	if gone.Enabled || !strings.Contains(gone.DisabledReason, "410") {
		t.Errorf("after a 410: enabled %v, reason %q", gone.Enabled, gone.DisabledReason)
	}
}

// F3: three permanent redirects in a row to one place that answers move the source.
func TestObserveMove(t *testing.T) {
	const to, elsewhere = "https://b.example/feed", "https://c.example/feed"
	moved := func(to string) Outcome { return Outcome{Status: 200, MovedTo: to, ETag: `"2"`, BodyHash: "cc"} }
	tests := []struct {
		name     string
		outcomes []Outcome
		want     bool
	}{
		{"once", []Outcome{moved(to)}, false},
		{"twice", []Outcome{moved(to), moved(to)}, false},
		{"three times", []Outcome{moved(to), moved(to), moved(to)}, true},
		{"three times, one unchanged", []Outcome{moved(to), {Status: 304, Unchanged: true, MovedTo: to}, moved(to)}, true},
		{"another place between", []Outcome{moved(to), moved(elsewhere), moved(to), moved(to)}, false},
		{"answered at home between", []Outcome{moved(to), moved(to), {Status: 200}, moved(to)}, false},
		{"failed between", []Outcome{moved(to), moved(to), {Failure: &Failure{}}, moved(to)}, false},
		{"to itself", []Outcome{moved(watched().URL), moved(watched().URL), moved(watched().URL)}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := watched()
			for _, o := range tt.outcomes {
				s = observe(s, o)
			}
			if got := s.URL == to; got != tt.want {
				t.Fatalf("URL = %s, moved: want %v", s.URL, tt.want)
			}
			if !tt.want {
				return
			}
			if s.MovedFrom != watched().URL || s.Host != "b.example" || s.NormalizedURL != "b.example/feed" {
				t.Errorf("moved source = %+v", s)
			}
			if c := s.Cursor; c.ETag != "" || c.LastModified != "" || c.ValidatorsFrom != "" || c.BodyHash != "" || c.Move != nil {
				t.Errorf("validators outlive the change of address: %+v", c)
			}
		})
	}
}

// A crash between request and commit does not ask twice within the interval.
func TestClaim(t *testing.T) {
	p := DefaultSettings().Policy(watched())
	refreshed := watched()
	refreshed.Refresh = 9
	tests := []struct {
		name   string
		source Source
		want   time.Duration
	}{
		{"polled before", watched(), 15 * time.Minute},
		{"a person waits", refreshed, time.Minute},
		{"never read", Source{Enabled: true}, time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.source.Claim(p, noon)
			if got.NextPollAt.Sub(noon) != tt.want || got.Seq != tt.source.Seq+1 || got.Due(noon) {
				t.Errorf("claimed until %v with seq %d", got.NextPollAt, got.Seq)
			}
		})
	}
}

// W9: a changed policy takes effect on the schedule at once.
func TestReschedule(t *testing.T) {
	hourAgo := noon.Add(-time.Hour)
	polled := watched()
	polled.LastPollAt = hourAgo
	spread := Source{Enabled: true, Cursor: Cursor{SyntheticPollAt: &hourAgo}, NextPollAt: noon.Add(7 * time.Hour)}
	hinted := polled
	hinted.Cursor.HintSeconds, hinted.Cursor.HintFrom = 3*3600, "ttl"
	paused := polled
	paused.Failures, paused.LastFailure = 1, &Failure{RetryAfter: noon.Add(2 * time.Hour)}
	fresh := Source{Enabled: true, NextPollAt: noon}
	tests := []struct {
		name   string
		source Source
		every  time.Duration
		host   Host
		want   time.Time
	}{
		{"longer", polled, 90 * time.Minute, Host{}, noon.Add(30 * time.Minute)},
		{"shorter: due now, not in the past", polled, time.Minute, Host{}, noon},
		{"never polled, spread over an interval", spread, 90 * time.Minute, Host{}, noon.Add(30 * time.Minute)},
		{"never polled: still due at once", fresh, 90 * time.Minute, Host{}, noon},
		{"the publisher's hint holds", hinted, 5 * time.Minute, Host{}, noon.Add(2 * time.Hour)},
		{"the server's pause holds", paused, time.Minute, Host{}, noon.Add(2 * time.Hour)},
		{"the host's pause holds", polled, time.Minute, Host{NotBefore: noon.Add(time.Hour)}, noon.Add(time.Hour)},
		{"disabled", polled.Disable("by hand"), time.Minute, Host{}, time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.source.Reschedule(Policy{Interval: tt.every}, tt.host, noon); !got.NextPollAt.Equal(tt.want) {
				t.Errorf("next poll %v, want %v", got.NextPollAt, tt.want)
			}
		})
	}
}

// S5: a refresh by hand ignores ladder and interval, not a pause that the server asked for.
func TestPutOff(t *testing.T) {
	paused := failing(1)
	paused.LastFailure.RetryAfter = noon.Add(time.Hour)
	tests := []struct {
		name   string
		source Source
		host   Host
		want   time.Time
	}{
		{"Manual refresh attempts all feeds immediately, including unhealthy feeds", failing(9), Host{}, time.Time{}},
		{"the server asked for a pause", paused, Host{}, noon.Add(time.Hour)},
		{"the host asked for a longer one", paused, Host{NotBefore: noon.Add(2 * time.Hour)}, noon.Add(2 * time.Hour)},
		{"the pause is over", watched(), Host{NotBefore: noon}, time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.source.PutOff(tt.host, noon); !got.Equal(tt.want) {
				t.Errorf("PutOff = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestConfigCheck(t *testing.T) {
	tests := []struct {
		name  string
		c     Config
		field string
	}{
		{"empty", Config{}, ""},
		{"all of it", Config{PollDelaySeconds: ptr(1.5), Retry: Exponential, MaxArticleAgeDays: ptr(7.0)}, ""},
		{"negative delay", Config{PollDelaySeconds: ptr(-1.0)}, "config.poll_delay_seconds"},
		{"delay of a day", Config{PollDelaySeconds: ptr(86400.0)}, "config.poll_delay_seconds"},
		{"unknown retry", Config{Retry: "linear"}, "config.retry"},
		{"age of zero", Config{MaxArticleAgeDays: ptr(0.0)}, "config.max_article_age_days"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if e, ok := tt.c.Check().(*FieldError); ok {
				got = e.Field
			}
			if got != tt.field {
				t.Errorf("Check complains about %q, want %q", got, tt.field)
			}
		})
	}
}

func TestOutcomeResult(t *testing.T) {
	for want, o := range map[Result]Outcome{
		ResultOK: {Status: 200}, ResultPartial: {Status: 200, Partial: "a part"}, ResultError: {Failure: &Failure{}, Partial: "a part"},
	} {
		if got := o.Result(); got != want {
			t.Errorf("Result of %+v = %s, want %s", o, got, want)
		}
	}
}
