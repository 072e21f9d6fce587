package reader_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// xStub is the X API, version 2, as it is published: two calls, their parameters with their bounds, fields
// that come only when asked for, pages, rate limit headers and problem documents. It notes every call.
type xStub struct {
	*httptest.Server
	mu       sync.Mutex
	tokens   map[string]bool
	accounts map[string]*xAccount // by name in lower case
	calls    []xCall
	queued   []http.HandlerFunc // answers of the next calls instead
	pages    map[string]int     // where a page begins, by its token
	limited  map[string]http.HandlerFunc
	limit    int // requests that are left; below 0 for enough
	resetAt  time.Time
}

type xAccount struct {
	ID, Name, Username string
	Posts              []map[string]any // oldest first
	Gone               *xProblem        // answered instead
}

type xProblem struct {
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Type   string `json:"type"`
	Status int    `json:"status,omitempty"`
}

// xCall is one request, with what the API is charging for its answer.
type xCall struct{ Token, Path, Query string }

func newXStub(t *testing.T) *xStub {
	x := &xStub{tokens: map[string]bool{"token-one": true}, accounts: map[string]*xAccount{}, pages: map[string]int{}, limit: -1}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2/users/by/username/{username}", x.lookUp)
	mux.HandleFunc("GET /2/users/{id}/tweets", x.timeline)
	x.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x.mu.Lock()
		defer x.mu.Unlock()
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		x.calls = append(x.calls, xCall{token, r.URL.Path, r.URL.RawQuery})
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		if len(x.queued) > 0 {
			answer := x.queued[0]
			x.queued = x.queued[1:]
			if answer != nil {
				answer(w, r)
				return
			}
		}
		if answer := x.limited[token]; answer != nil {
			answer(w, r)
			return
		}
		if !x.tokens[token] {
			problem(w, xProblem{"Unauthorized", "Unauthorized", "about:blank", 401})
			return
		}
		if x.limit == 0 {
			x.rates(w)
			problem(w, xProblem{"Too Many Requests", "Too Many Requests", "about:blank", 429})
			return
		}
		x.limit--
		x.rates(w)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(x.Close)
	return x
}

// rates writes what is left; there is no Retry-After.
func (x *xStub) rates(w http.ResponseWriter) {
	if x.resetAt.IsZero() {
		x.resetAt = time.Now().Add(10 * time.Minute)
	}
	left := x.limit
	if left < 0 {
		left = 900
	}
	w.Header().Set("x-rate-limit-limit", "900")
	w.Header().Set("x-rate-limit-remaining", strconv.Itoa(left))
	w.Header().Set("x-rate-limit-reset", strconv.FormatInt(x.resetAt.Unix(), 10))
}

func problem(w http.ResponseWriter, p xProblem) {
	w.WriteHeader(p.Status)
	answer(w, p)
}

func answer(w http.ResponseWriter, v any) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		panic(err)
	}
}

func invalidRequest(w http.ResponseWriter, detail string) {
	w.WriteHeader(400)
	answer(w, map[string]any{"title": "Invalid Request", "detail": "One or more parameters to your request was invalid.",
		"type": "https://api.x.com/2/problems/invalid-request", "errors": []any{map[string]any{"message": detail}}})
}

func (x *xStub) lookUp(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("username")
	a := x.accounts[strings.ToLower(name)]
	switch {
	case a == nil:
		answer(w, map[string]any{"errors": []xProblem{notThere("username", name)}})
	case a.Gone != nil && strings.Contains(a.Gone.Type, "resource-not-found"):
		answer(w, map[string]any{"errors": []xProblem{*a.Gone}})
	default:
		answer(w, map[string]any{"data": map[string]any{"id": a.ID, "name": a.Name, "username": a.Username}})
	}
}

func notThere(parameter, value string) xProblem {
	return xProblem{"Not Found Error", fmt.Sprintf("Could not find user with %s: [%s].", parameter, value), "https://api.twitter.com/2/problems/resource-not-found", 0}
}

func (x *xStub) timeline(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	for name := range q {
		if !slices.Contains([]string{"max_results", "since_id", "until_id", "pagination_token", "tweet.fields"}, name) {
			invalidRequest(w, "The query parameter ["+name+"] is not one of those allowed.")
			return
		}
	}
	most, err := strconv.Atoi(q.Get("max_results"))
	if err != nil || most < 5 || most > 100 {
		invalidRequest(w, "The max_results query parameter value ["+q.Get("max_results")+"] is not between 5 and 100.")
		return
	}
	var a *xAccount
	for _, each := range x.accounts {
		if each.ID == r.PathValue("id") {
			a = each
		}
	}
	if a == nil || a.Gone != nil {
		p := notThere("id", r.PathValue("id"))
		if a != nil {
			p = *a.Gone
		}
		answer(w, map[string]any{"errors": []xProblem{p}})
		return
	}
	var found []map[string]any // newest first
	for _, p := range slices.Backward(a.Posts) {
		id := p["id"].(string)
		if since := q.Get("since_id"); since != "" && number(id) <= number(since) {
			continue
		}
		if until := q.Get("until_id"); until != "" && number(id) >= number(until) {
			continue
		}
		found = append(found, p)
	}
	from := 0
	if token := q.Get("pagination_token"); token != "" {
		var known bool
		if from, known = x.pages[token]; !known {
			invalidRequest(w, "The pagination_token is not valid.")
			return
		}
	}
	page := found[min(from, len(found)):min(from+most, len(found))]
	meta := map[string]any{"result_count": len(page)}
	body := map[string]any{"meta": meta}
	if len(page) > 0 {
		body["data"] = withFields(page, q.Get("tweet.fields"))
		meta["newest_id"], meta["oldest_id"] = page[0]["id"], page[len(page)-1]["id"]
	}
	if from+len(page) < len(found) {
		token := fmt.Sprintf("7140dibdnow9c7btw%d", len(x.pages))
		x.pages[token] = from + len(page)
		meta["next_token"] = token
	}
	answer(w, body)
}

func number(id string) uint64 {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// withFields leaves out what was not asked for.
func withFields(posts []map[string]any, fields string) []map[string]any {
	asked := append(strings.Split(fields, ","), "id", "text", "edit_history_tweet_ids")
	var list []map[string]any
	for _, p := range posts {
		some := map[string]any{}
		for name, v := range p {
			if slices.Contains(asked, name) {
				some[name] = v
			}
		}
		list = append(list, some)
	}
	return list
}

// add makes an account with so many posts, a minute apart, the newest a minute ago; their numbers begin
// beyond what a float64 holds.
func (x *xStub) add(name string, posts int) *xAccount {
	a := &xAccount{ID: fmt.Sprint(11000 + len(x.accounts)), Name: "The " + name, Username: name}
	for i := range posts {
		a.post(fmt.Sprintf("Post %d of %s", i+1, name), time.Now().Add(-time.Duration(posts-i)*time.Minute))
	}
	x.accounts[strings.ToLower(name)] = a
	return a
}

func (a *xAccount) post(text string, at time.Time, more ...any) map[string]any {
	id := fmt.Sprint(uint64(1858000000000000000) + uint64(len(a.Posts)+1))
	p := map[string]any{"id": id, "text": text, "created_at": at.UTC().Format("2006-01-02T15:04:05.000Z"), "edit_history_tweet_ids": []string{id}}
	for i := 0; i+1 < len(more); i += 2 {
		p[more[i].(string)] = more[i+1]
	}
	a.Posts = append(a.Posts, p)
	return p
}

// saw returns the calls since it was asked last, "TOKEN PATH QUERY" without what is the same in all.
func (x *xStub) saw() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var list []string
	for _, c := range x.calls {
		query := strings.ReplaceAll(c.Query, "&tweet.fields=created_at%2Centities%2Cnote_tweet%2Creferenced_tweets%2Cedit_history_tweet_ids", "")
		list = append(list, strings.TrimSpace(c.Token+" "+c.Path+" "+query))
	}
	x.calls = nil
	return list
}

// next lets the next calls be answered otherwise; nil is a call as usual.
func (x *xStub) next(answers ...http.HandlerFunc) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.queued = append(x.queued, answers...)
}

func says(p xProblem, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		problem(w, p)
	}
}

func body(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	}
}

// limitToken lets every call with a token be answered so.
func (x *xStub) limitToken(token string, answer http.HandlerFunc) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.limited = map[string]http.HandlerFunc{token: answer}
}
