package reader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"freshet"
	"freshet/internal/fetch"
)

// X says how X accounts are read (E4): by the X API, version 2, with the token of each source's owner (S7).
type X struct {
	API          string // base URL, such as https://api.x.com
	Keys         Keys
	MonthlyReads int           // what may be read with an owner's token in a month, 0 for no cap
	Timeout      time.Duration // of all requests of one read
	Policy       func(freshet.Source) freshet.Policy
}

// Keys hands out tokens.
type Keys interface {
	// Token returns an owner's token, freshet.ErrNotFound when there is none.
	Token(ctx context.Context, owner string, p freshet.Provider) (string, error)
	// Reads is what was read with it in a month (freshet.Month).
	Reads(ctx context.Context, owner string, p freshet.Provider, month string) (int, error)
}

// WithX lets the reader read X accounts. It is called before the first turn.
func (r *Reader) WithX(x X) *Reader {
	x.API = strings.TrimSuffix(x.API, "/")
	r.x = x
	return r
}

// Every post that X hands out is paid for, so a timeline is never read further than it must be.
const (
	fewPosts  = 5   // of the first poll: the least that X gives
	mostPosts = 100 // of a page
	mostPages = 10  // of a poll; a longer timeline goes on with the next one
)

// readTwitter reads what an X account posted since the last poll. What was paid for stays counted when the
// poll fails half-way.
func readTwitter(t *turn, ctx context.Context, s freshet.Source) *freshet.Outcome {
	a := &account{turn: t, source: s, o: &freshet.Outcome{}}
	if s.Cursor.X != nil {
		a.next = *s.Cursor.X
	}
	ctx, cancel := context.WithTimeout(ctx, t.x.Timeout)
	defer cancel()
	if a.o.Failure = a.read(ctx); a.o.Failure != nil {
		a.o.Posts = nil
	}
	freshet.Identify(a.o.Posts, s.ID, s.Host)
	if a.next != (freshet.XCursor{}) {
		a.o.X = &a.next
	}
	return a.o
}

// account is one read of an X account.
type account struct {
	*turn
	source freshet.Source
	token  string
	left   int // what may still be read this month
	next   freshet.XCursor
	o      *freshet.Outcome
}

func (a *account) read(ctx context.Context) *freshet.Failure {
	if f := a.unlock(ctx); f != nil {
		return f
	}
	known := a.next.UserID
	if known == "" {
		if f := a.lookUp(ctx); f != nil {
			return f
		}
	}
	f := a.readTimeline(ctx)
	if known == "" || f == nil || f.Code != "no_account" {
		return f
	}
	// Somebody else may have the name now.
	if again := a.lookUp(ctx); again != nil || a.next.UserID == known {
		return f
	}
	return a.readTimeline(ctx)
}

// unlock gets the token, unless what it may read this month is used up.
func (a *account) unlock(ctx context.Context) *freshet.Failure {
	if a.x.Keys == nil {
		return credentialFailure("This instance keeps no tokens, and an X account is read with one.")
	}
	owner, now := a.source.Owner, time.Now()
	token, err := a.x.Keys.Token(ctx, owner, freshet.X)
	switch {
	case errors.Is(err, freshet.ErrNotFound) && owner == "":
		return credentialFailure("An X account is read with a token of the X API, and none is set: freshet credentials set x.")
	case errors.Is(err, freshet.ErrNotFound):
		return credentialFailure(fmt.Sprintf("An X account is read with a token of the X API, and its owner %s has set none: freshet credentials set x --owner %s.", owner, owner))
	case err != nil:
		return &freshet.Failure{Class: freshet.Transient, Code: freshet.NeedsCredential, Sentence: "The token of the X API is not at hand: " + err.Error() + "."}
	}
	a.token, a.left = token, math.MaxInt
	if a.x.MonthlyReads == 0 {
		return nil
	}
	spent, err := a.x.Keys.Reads(ctx, owner, freshet.X, freshet.Month(now))
	if err != nil {
		return &freshet.Failure{Class: freshet.Transient, Code: "internal", Sentence: "What was read of X this month is not known: " + err.Error() + "."}
	}
	if a.left = a.x.MonthlyReads - spent; a.left <= 0 {
		return &freshet.Failure{Class: freshet.Transient, Code: freshet.SpendCap, Until: freshet.NextMonth(now), Sentence: fmt.Sprintf(
			"%d posts and accounts were read of X this month, and the cap is %d (x_monthly_reads).", spent, a.x.MonthlyReads)}
	}
	return nil
}

func credentialFailure(sentence string) *freshet.Failure {
	return &freshet.Failure{Class: freshet.Permanent, Code: freshet.NeedsCredential, Sentence: sentence}
}

// xAnswer is what every call answers. Errors may come with a 200, with or without data.
type xAnswer[T any] struct {
	Data T `json:"data"`
	Meta struct {
		NextToken string `json:"next_token"`
	} `json:"meta"`
	Errors []xProblem `json:"errors"`
}

type xUser struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Username string `json:"username"`
}

// lookUp asks for the number of the account. Another number than before is another account.
func (a *account) lookUp(ctx context.Context) *freshet.Failure {
	handle := freshet.Handle(a.source.URL)
	var got xAnswer[xUser]
	if f := a.get(ctx, "/2/users/by/username/"+url.PathEscape(handle), nil, &got); f != nil {
		return f
	}
	u := got.Data
	if !isID(u.ID) || freshet.AccountURL("@"+u.Username) == "" {
		return accountFailure(handle, got.Errors)
	}
	a.paid(1)
	if u.ID != a.next.UserID {
		a.next.SinceID, a.next.NewestID, a.next.UntilID = "", "", ""
	}
	a.next.UserID, a.next.Username = u.ID, u.Username
	a.o.Title = strings.TrimSpace(firstRunes(folded(u.Name), 100) + " (@" + u.Username + ")")
	a.o.SiteURL = freshet.AccountURL(u.Username)
	return nil
}

// paid counts what X charges for.
func (a *account) paid(n int) {
	a.o.Reads += n
	a.left -= n
	a.next.Spend(n, time.Now())
}

// readTimeline reads what was posted since the last timeline was read to its end, newest first. A part of it
// is kept, and gone on from with the next poll: the place to go on from moves only when all is read.
func (a *account) readTimeline(ctx context.Context) *freshet.Failure {
	first := a.source.FirstPoll() && a.next.SinceID == "" && a.next.UntilID == ""
	q := url.Values{"tweet.fields": {"created_at,entities,note_tweet,referenced_tweets,edit_history_tweet_ids"}}
	set(q, "since_id", a.next.SinceID)
	set(q, "until_id", a.next.UntilID)
	for page := 1; ; page++ {
		q.Set("max_results", strconv.Itoa(a.pageSize(first)))
		var got xAnswer[[]xPost]
		f := a.get(ctx, "/2/users/"+a.next.UserID+"/tweets", q, &got)
		if f == nil && got.Data == nil && len(got.Errors) > 0 {
			f = accountFailure(freshet.Handle(a.source.URL), got.Errors)
		}
		if f != nil && page == 1 {
			return f
		}
		if f != nil {
			if f.CoolHost {
				a.o.Pause = f.RetryAfter
			}
			a.o.Partial = "Older posts are read next time. " + f.Sentence
			return nil
		}
		oldest := a.take(got)
		switch {
		case got.Meta.NextToken == "" || first || a.tooOld(oldest):
			a.end()
			return nil
		case page == mostPages || a.left <= 0 || !a.o.Pause.IsZero() || ctx.Err() != nil:
			a.o.Partial = "There are more posts than are read at once; older ones are read next time."
			return nil
		}
		q.Set("pagination_token", got.Meta.NextToken)
	}
}

func set(q url.Values, name, value string) {
	if value != "" {
		q.Set(name, value)
	}
}

// pageSize is how many posts to ask for.
func (a *account) pageSize(first bool) int {
	if first {
		return fewPosts
	}
	return min(max(a.left, fewPosts), mostPosts)
}

// take keeps the posts of a page and returns when the oldest was posted.
func (a *account) take(got xAnswer[[]xPost]) (oldest time.Time) {
	a.paid(len(got.Data))
	begins := a.next.UntilID == ""
	for i := range got.Data {
		p := &got.Data[i]
		if !isID(p.ID) {
			a.o.Partial = "A post without a number was left out."
			continue
		}
		if a.next.NewestID == "" || begins && isNewer(p.ID, a.next.NewestID) {
			a.next.NewestID = p.ID
		}
		if a.next.UntilID == "" || isNewer(a.next.UntilID, p.ID) {
			a.next.UntilID = p.ID
		}
		post := p.post(a.next.Username)
		if oldest.IsZero() || post.Published.Before(oldest) {
			oldest = post.Published
		}
		a.o.Posts = append(a.o.Posts, post)
	}
	if len(got.Errors) > 0 {
		a.o.Partial = "X left something out: " + got.Errors[0].says() + "."
	}
	return oldest
}

// end notes that the timeline was read to its end.
func (a *account) end() {
	if a.next.NewestID != "" {
		a.next.SinceID = a.next.NewestID
	}
	a.next.NewestID, a.next.UntilID = "", ""
}

// tooOld says whether what is older than this would not be stored (E6).
func (a *account) tooOld(t time.Time) bool {
	p := a.x.Policy(a.source)
	return !t.IsZero() && p.MaxAge > 0 && t.Before(time.Now().Add(-p.MaxAge))
}

// get makes one call. Its failure says what X said.
func (a *account) get(ctx context.Context, path string, q url.Values, into any) *freshet.Failure {
	address := a.x.API + path
	if len(q) > 0 {
		address += "?" + q.Encode()
	}
	resp, err := a.fetch.Get(ctx, fetch.Request{URL: address, KeepRefusal: true,
		Accept: "application/json", Header: http.Header{"Authorization": {"Bearer " + a.token}}})
	if resp != nil {
		defer resp.Release()
		a.o.Status = resp.Status
		a.o.Took += resp.Took
	}
	if err != nil {
		return a.refused(err, resp)
	}
	if err := json.Unmarshal(resp.Body, into); err != nil {
		return &freshet.Failure{Class: freshet.Transient, Code: "parse", Status: resp.Status, Sentence: "The X API answered with something that is not its JSON."}
	}
	// The limit of lookups is another one than that of timelines.
	if timeline := q != nil; timeline && resp.Header.Get("X-Rate-Limit-Remaining") == "0" {
		a.o.Pause = reset(resp.Header, time.Now())
	}
	return nil
}

// isID says whether s is a number that X gives.
func isID(s string) bool {
	return s != "" && len(s) <= 20 && s[0] != '0' && strings.Trim(s, "0123456789") == ""
}

// isNewer compares two numbers that X gave.
func isNewer(a, b string) bool { return len(a) > len(b) || len(a) == len(b) && a > b }
