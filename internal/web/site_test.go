package web

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"freshet"
	"freshet/internal/discover"
	"freshet/internal/fetch"
	"freshet/internal/river"
	"freshet/internal/store"
)

// site is a server on a database of its own, without network and scheduler.
type site struct {
	*Server
	t     testing.TB
	bell  *river.Bell
	kicks int
	doc   *apiDocument
}

// newSite makes a site; change may be nil.
func newSite(t testing.TB, change func(*Config)) *site {
	t.Helper()
	st, err := store.Open(context.Background(), ":memory:", store.Options{Settings: freshet.DefaultSettings()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	site := &site{t: t, bell: river.NewBell()}
	c := Config{
		Store: st, Bell: site.bell, Kick: func() { site.kicks++ },
		Find: func(_ context.Context, pasted string) ([]discover.Candidate, error) {
			u, _, err := fetch.CheckURL(pasted)
			if err != nil {
				return nil, &freshet.Failure{Code: "address", Sentence: err.Error()}
			}
			return []discover.Candidate{{URL: u.String(), Title: "Found", Type: "rss", Titles: []string{"one"}, Entries: 1}}, nil
		},
		Look: func(_ context.Context, address string) discover.Sight {
			return discover.Sight{Finding: discover.Works, URL: address, Title: "Found", Entries: 1}
		},
		Ingest:  func(context.Context, time.Time, []freshet.ID, bool) (IngestResult, error) { return IngestResult{}, nil },
		Metrics: http.NotFoundHandler(), Logger: slog.New(slog.DiscardHandler), Version: "test", Listen: "127.0.0.1:8080",
	}
	if change != nil {
		change(&c)
	}
	if site.Server, err = New(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(site.Close)
	text, err := site.openAPI.json()
	if err != nil {
		t.Fatal(err)
	}
	site.doc = newAPIDocument(t, text)
	return site
}

// reply is an answer with its body read.
type reply struct {
	*httptest.ResponseRecorder
	json map[string]any
}

// request makes a request as a program on this machine does; a header line is "Name: value".
func request(method, target, body string, header ...string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = "127.0.0.1:8080"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(name, value)
		if value == "" {
			r.Header.Del(name)
		}
	}
	return r
}

// do answers a request, and holds the answer against the document that the server itself serves.
func (s *site) do(r *http.Request) reply {
	s.t.Helper()
	a := reply{ResponseRecorder: httptest.NewRecorder()}
	s.Handler().ServeHTTP(a, r)
	if strings.HasSuffix(a.Header().Get("Content-Type"), "json") {
		d := json.NewDecoder(bytes.NewReader(a.Body.Bytes()))
		d.UseNumber()
		if err := d.Decode(&a.json); err != nil && err != io.EOF {
			s.t.Fatalf("%s %s: answer is no JSON: %v\n%s", r.Method, r.URL, err, a.Body)
		}
	}
	s.doc.check(s.t, r, a)
	return a
}

func (s *site) call(method, target, body string, header ...string) reply {
	s.t.Helper()
	return s.do(request(method, target, body, header...))
}

// want is call with the status that is expected.
func (s *site) want(status int, method, target, body string, header ...string) reply {
	s.t.Helper()
	a := s.call(method, target, body, header...)
	if a.Code != status {
		s.t.Fatalf("%s %s answers %d, want %d: %s", method, target, a.Code, status, a.Body)
	}
	return a
}

// at digs into an answer: at("errors", 0, "location").
func (a reply) at(path ...any) any { return dig(a.json, path...) }

func dig(v any, path ...any) any {
	for _, step := range path {
		switch in := v.(type) {
		case map[string]any:
			name, _ := step.(string)
			v = in[name]
		case []any:
			i, _ := step.(int)
			if i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// text is at for strings; "" for anything else.
func (a reply) text(path ...any) string {
	s, _ := a.at(path...).(string)
	return s
}

// number is at for numbers; -1 for anything else.
func (a reply) number(path ...any) int {
	n, _ := a.at(path...).(json.Number)
	i, err := n.Int64()
	if err != nil {
		return -1
	}
	return int(i)
}

func (a reply) list(path ...any) []any {
	l, _ := a.at(path...).([]any)
	return l
}

// add adds a feed through the API and returns its id.
func (s *site) add(url string) string {
	s.t.Helper()
	return s.want(201, "POST", "/api/feeds", `{"url":"`+url+`"}`).text("id")
}

// poll ends a poll of everything that is due, as the scheduler would.
func (s *site) poll(outcome func(freshet.Source) *freshet.Outcome) {
	s.t.Helper()
	shards := make([]int, store.Shards)
	for i := range shards {
		shards[i] = i
	}
	now := time.Now()
	for {
		claimed, err := s.Store.Claim(context.Background(), store.ClaimRequest{Shards: shards, Limit: 100}, now)
		if err != nil {
			s.t.Fatal(err)
		}
		if len(claimed) == 0 {
			return
		}
		polls := make([]store.Poll, len(claimed))
		for i, w := range claimed {
			o := outcome(w.Source)
			o.At = now
			freshet.Identify(o.Posts, w.Source.ID, w.Source.Host)
			polls[i] = store.Poll{Source: w.Source.ID, Seq: w.Source.Seq, Outcome: o}
		}
		if _, err := s.Store.FinishPolls(context.Background(), polls, now); err != nil {
			s.t.Fatal(err)
		}
	}
}

// post is an entry of a feed, published so many minutes ago.
func post(guid string, minutes int) freshet.Post {
	return freshet.Post{GUID: guid, URL: "https://example.org/" + guid, Title: "Title of " + guid, Text: "Text of " + guid,
		Author: "A. Author", Published: time.Now().Add(-time.Duration(minutes) * time.Minute).Truncate(time.Second).UTC()}
}

func posts(list ...freshet.Post) func(freshet.Source) *freshet.Outcome {
	return func(freshet.Source) *freshet.Outcome {
		return &freshet.Outcome{Status: 200, Posts: append([]freshet.Post(nil), list...), Title: "Example"}
	}
}

// plainAnswer answers a request without looking at the answer.
func (s *site) plainAnswer(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}
