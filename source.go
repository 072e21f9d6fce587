package freshet

import (
	"fmt"
	"slices"
	"time"
)

// Type is the kind of a source (SPEC.md section 1).
type Type string

const (
	RSS     Type = "rss"     // any RSS, RDF, Atom or JSON feed
	Website Type = "website" // a page whose article text is extracted
	HTTP    Type = "http"    // any content; only whether it changed matters
	Twitter Type = "twitter" // an X account
)

// Source is a URL that is polled. What people edit comes first, then what polling writes.
type Source struct {
	ID             ID
	Type           Type
	URL            string
	MovedFrom      string // the address before a permanent redirect was followed (F3)
	NormalizedURL  string
	Host           string // host group (S6)
	Title          string // given by a person; "" for the feed's own
	FeedTitle      string // what the document calls itself
	SiteURL        string
	Folder         string
	InRiver        bool // false: only a workflow or a briefing asked for it (W2)
	Enabled        bool
	DisabledReason string
	Config         Config
	CreatedAt      time.Time
	UpdatedAt      time.Time
	RemovedAt      time.Time // zero unless removed (D7)

	Asked    time.Duration  // the shortest interval that an enabled workflow asks for (S2); 0 for none
	Briefing BriefingPolicy // what the briefings it belongs to ask for; zero for none
	Owner    string         // whose credentials it is polled with (S7): its briefing's owner; "" for the instance
	Parts    []Part         // what of its document workflows watch (W4)

	Seq               int64 // version: an outcome of an older one is refused
	NextPollAt        time.Time
	LastPollAt        time.Time // the last request, whatever came of it
	LastSuccessAt     time.Time
	Failures          int // in a row
	PermanentFailures int // in a row (F6)
	LastFailure       *Failure
	Cursor            Cursor
	History           History
	Refresh           ID // the refresh that waits for this source; 0 for none
}

// Config is a source's own configuration, a JSON document in the API (S10).
type Config struct {
	Cadence           *Cadence `json:"cadence,omitempty"`
	PollDelaySeconds  *float64 `json:"poll_delay_seconds,omitempty"`
	Retry             Retry    `json:"retry,omitempty"`
	SkipHistory       *bool    `json:"skip_history,omitempty"`
	MaxArticleAgeDays *float64 `json:"max_article_age_days,omitempty"`

	// Selector and Ignore choose what of a page counts (E2): a CSS selector, and selectors or lines
	// (a regular expression between slashes) that do not.
	Selector string   `json:"selector,omitempty"`
	Ignore   []string `json:"ignore,omitempty"`
	// Items asks a source of type http for an item whenever it changed (E3).
	Items bool `json:"items,omitempty"`
}

// Check refuses values that cannot be kept, naming the field.
func (c Config) Check() error {
	if c.Cadence != nil {
		if err := c.Cadence.check(); err != nil {
			return err
		}
	}
	if d := c.PollDelaySeconds; d != nil && !(*d >= 0 && *d <= 3600) {
		return &FieldError{"config.poll_delay_seconds", "must be between 0 and 3600 seconds"}
	}
	if c.Retry != "" && c.Retry != Ladder && c.Retry != Exponential {
		return &FieldError{"config.retry", `must be "ladder" or "exponential"`}
	}
	if d := c.MaxArticleAgeDays; d != nil && !(*d > 0 && *d <= 36500) {
		return &FieldError{"config.max_article_age_days", "must be more than 0 and at most 36500 days"}
	}
	return c.checkRules()
}

// checkRules refuses selectors and lines that cannot be read.
func (c Config) checkRules() error {
	if c.Selector != "" {
		if _, err := ParseSelector(c.Selector); err != nil {
			return &FieldError{"config.selector", "is no selector that can be used: " + err.Error()}
		}
	}
	if len(c.Ignore) > maxIgnored {
		return &FieldError{"config.ignore", fmt.Sprintf("has more than %d entries", maxIgnored)}
	}
	for i, rule := range c.Ignore {
		if _, _, err := ParseIgnore(rule); err != nil {
			return &FieldError{fmt.Sprintf("config.ignore[%d]", i), "cannot be used: " + err.Error()}
		}
	}
	return nil
}

// maxIgnored is how many rules a source has for what does not count.
const maxIgnored = 50

// Name is what people call the source: their title, else the feed's own, else its address.
func (s Source) Name() string {
	switch {
	case s.Title != "":
		return s.Title
	case s.FeedTitle != "":
		return s.FeedTitle
	default:
		return displayURL(s.URL)
	}
}

// Health is a source's state in a word.
type Health string

const (
	Healthy   Health = "healthy"
	Unhealthy Health = "unhealthy" // three failures in a row or more
	Disabled  Health = "disabled"
	Pending   Health = "pending" // no poll has succeeded yet
)

// unhealthyAt is how many failures in a row make a source unhealthy (river seed 7.2).
const unhealthyAt = 3

// Health returns the source's state.
func (s Source) Health() Health {
	switch {
	case !s.Enabled:
		return Disabled
	case s.Failures >= unhealthyAt:
		return Unhealthy
	case s.FirstPoll():
		return Pending
	default:
		return Healthy
	}
}

// FirstPoll says that no fetch has succeeded yet (S4).
func (s Source) FirstPoll() bool { return s.LastSuccessAt.IsZero() }

// Unwanted says that nobody asks for the source any more: it is in no river and no briefing, and no workflow
// waits for it. The store does not schedule it (W2).
func (s Source) Unwanted() bool {
	return !s.InRiver && s.Asked == 0 && s.Briefing == (BriefingPolicy{})
}

// Ask makes the source what its workflows want: polled as often as the one that wants it most, read as a feed
// when one of them watches entries, with the parts that the others watch (W2, W4).
func (s *Source) Ask(workflows []Workflow) {
	s.Asked, s.Parts = 0, nil
	feed := false
	for i := range workflows {
		w := &workflows[i]
		if !w.Wanted() {
			continue
		}
		if every := w.Every(); s.Asked == 0 || every < s.Asked {
			s.Asked = every
		}
		part, document := w.Part()
		feed = feed || !document
		if document && !slices.ContainsFunc(s.Parts, part.Equal) {
			s.Parts = append(s.Parts, part)
		}
	}
	if s.Type == HTTP && feed && !s.InRiver && s.Briefing == (BriefingPolicy{}) {
		s.Type = RSS
	}
}

// Forget makes the next poll read the whole document, whatever is known of it.
func (s *Source) Forget() {
	c := &s.Cursor
	c.ETag, c.LastModified, c.ValidatorsFrom, c.BodyHash = "", "", "", ""
}

// Restart has the whole document read at once, but for a pause that its server asked for (W9). A poll that is
// under way does not count.
func (s Source) Restart(h Host, now time.Time) Source {
	s = s.Enable(h, now)
	s.Seq++
	s.Forget()
	s.NextPollAt = latest(now, s.PutOff(h, now))
	return s
}

// Claim returns the source as it is while it is polled: the next try is already written down, so
// that a crash between request and commit does not ask twice within the interval. One that a person
// waits for, or that has never been read, is tried again sooner.
func (s Source) Claim(p Policy, now time.Time) Source {
	wait := p.Interval
	if s.Refresh != 0 || s.FirstPoll() {
		wait = min(wait, time.Minute)
	}
	s.Seq++
	s.NextPollAt = now.Add(wait)
	return s
}

// Observe returns the source after an outcome: cursor, health, next poll (S3, S5, F2, F3, F6).
// stored is how many posts were new. The host is as Host.Observe left it.
func (s Source) Observe(o *Outcome, p Policy, h Host, stored int, now time.Time) Source {
	s.Seq++
	s.LastPollAt = o.At
	s.Refresh = 0
	if o.X != nil {
		s.Cursor.X = o.X
	}
	s.History = s.History.Add(Poll{At: o.At, Took: o.Took, Status: o.Status, Result: o.Result(), New: stored})
	if o.Failure != nil {
		s.observeFailure(o.Failure, p, now)
	} else {
		s.observeSuccess(o, p)
	}
	if !s.Enabled {
		s.NextPollAt = time.Time{}
	} else if h.NotBefore.After(s.NextPollAt) {
		s.NextPollAt = h.NotBefore
	}
	return s
}

func (s *Source) observeFailure(f *Failure, p Policy, now time.Time) {
	s.LastFailure = f
	s.Failures++
	s.Cursor.Move = nil
	if f.Class == Permanent {
		s.PermanentFailures++
	} else {
		s.PermanentFailures = 0
	}
	s.NextPollAt = s.LastPollAt.Add(p.Backoff(s.Failures))
	s.NextPollAt = latest(s.NextPollAt, latest(f.RetryAfter, f.Until))
	switch {
	case f.Paused:
		s.disable(f.Sentence, now)
	case f.Gone:
		s.disable("The server says that it is gone for good (410).", now)
	case p.DisableAfter > 0 && s.PermanentFailures >= p.DisableAfter:
		s.disable(fmt.Sprintf("It failed %d times in a row in a way that does not pass by itself. The last: %s", s.PermanentFailures, f.Sentence), now)
	}
}

func (s *Source) disable(reason string, now time.Time) {
	s.Enabled, s.DisabledReason, s.UpdatedAt = false, reason, now
}

func (s *Source) observeSuccess(o *Outcome, p Policy) {
	s.LastFailure, s.Failures, s.PermanentFailures = nil, 0, 0
	s.LastSuccessAt = o.At
	c := &s.Cursor
	at := o.At
	c.LastFetchAt, c.SyntheticPollAt = &at, nil
	if !o.Unchanged {
		c.Partial, c.BodyHash, c.DocumentHints = o.Partial, o.BodyHash, nil
		if hints := o.Hints; hints != (Hints{}) {
			c.DocumentHints = &hints
		}
		c.Document = o.Document
		c.NewestPublishedAt = newest(c.NewestPublishedAt, o.Posts)
		if o.Title != "" {
			s.FeedTitle = o.Title
		}
		if o.SiteURL != "" {
			s.SiteURL = o.SiteURL
		}
	}
	c.ETag, c.LastModified, c.ValidatorsFrom = o.ETag, o.LastModified, o.ValidatorsFrom
	s.observeMove(o.MovedTo)
	hints := c.hints().Lengthened(o.MaxAge, "Cache-Control: max-age")
	c.HintSeconds, c.HintFrom = 0, ""
	if hints.Every > p.Interval {
		c.HintSeconds, c.HintFrom = int(min(hints.Every, maxHint).Seconds()), hints.From
	}
	s.NextPollAt = hints.Next(s.LastPollAt, p.Interval)
}

// observeMove counts permanent redirects and follows one after three in a row (F3).
func (s *Source) observeMove(to string) {
	c := &s.Cursor
	switch {
	case to == "" || to == s.URL:
		c.Move = nil
		return
	case c.Move == nil || c.Move.To != to:
		c.Move = &Move{To: to}
	default:
		moved := *c.Move
		c.Move = &moved
	}
	if c.Move.Times++; c.Move.Times < movesToBelieve {
		return
	}
	if s.MovedFrom == "" {
		s.MovedFrom = s.URL
	}
	s.setURL(to)
}

// setURL points the source to another address; validators do not outlive the change (F2).
func (s *Source) setURL(to string) {
	s.URL, s.NormalizedURL, s.Host = to, NormalizedURL(to), HostOf(to)
	s.Cursor.Move = nil
	s.Forget()
}

func newest(last *time.Time, posts []Post) *time.Time {
	for i := range posts {
		if t := posts[i].Published; !t.IsZero() && (last == nil || t.After(*last)) {
			last = &posts[i].Published
		}
	}
	if last == nil {
		return nil
	}
	t := *last
	return &t
}

// Enable switches the source on; its failures are forgotten (F6) and it is due at once (S3), but
// for a pause that its host asked for.
func (s Source) Enable(h Host, now time.Time) Source {
	if s.Enabled {
		return s
	}
	s.Enabled, s.DisabledReason = true, ""
	s.Failures, s.PermanentFailures, s.LastFailure = 0, 0, nil
	s.NextPollAt = latest(now, h.NotBefore)
	return s
}

// Disable switches the source off: it is not polled, by hand neither (S7).
func (s Source) Disable(reason string) Source {
	s.Enabled, s.DisabledReason = false, reason
	s.NextPollAt = time.Time{}
	return s
}

// Reschedule returns the source with the next poll that its changed policy calls for (W9).
func (s Source) Reschedule(p Policy, h Host, now time.Time) Source {
	last, c := s.LastPollAt, s.Cursor
	if c.SyntheticPollAt != nil && last.IsZero() {
		last = *c.SyntheticPollAt
	}
	if !s.Enabled || last.IsZero() {
		return s
	}
	next := last.Add(p.Backoff(s.Failures))
	if s.Failures == 0 {
		next = c.hints().Lengthened(time.Duration(c.HintSeconds)*time.Second, c.HintFrom).Next(last, p.Interval)
	}
	s.NextPollAt = latest(next, latest(now, h.NotBefore))
	if f := s.LastFailure; f != nil {
		s.NextPollAt = latest(s.NextPollAt, latest(f.RetryAfter, f.Until))
	}
	return s
}

// PutOff returns until when a refresh by hand must leave the source alone, because its server asked
// for a pause (S5); zero when it need not.
func (s Source) PutOff(h Host, now time.Time) time.Time {
	until := h.NotBefore
	if f := s.LastFailure; f != nil {
		until = latest(until, f.RetryAfter)
	}
	if until.After(now) {
		return until
	}
	return time.Time{}
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
