package deliver

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"freshet"
	"freshet/internal/fetch"
)

// loopback lets tests reach their own receivers.
var loopback = fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}, Setting: "FRESHET_DELIVER_ALLOW"}

func secret(fill byte) string { return freshet.NewSecret(bytes.Repeat([]byte{fill}, 32)) }

func delivery(url string) freshet.Delivery {
	return freshet.Delivery{
		Execution: freshet.Execution{
			ID: 1234567890123, Kind: freshet.KindTrigger, Workflow: 42, Action: "a1", Attempts: 3,
			CreatedAt: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
			Data:      []byte(`{"type":"poll","content_type":"rss","items":[{"title":"<b>&\u00fc","link":"https://a.example/1"}]}`),
		},
		WorkflowName: "News", Do: freshet.Action{ID: "a1", Type: freshet.Webhook, URL: url, Secret: secret(1)},
	}
}

// received is a request as a receiver saw it.
type received struct {
	header http.Header
	body   []byte
}

// receiver answers with a status and remembers what came.
func receiver(t *testing.T, answer http.HandlerFunc) (url string, got chan received) {
	got = make(chan received, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- received{r.Header, body}
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

func do(t *testing.T, d freshet.Delivery) freshet.Attempt {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	return webhook{newPoster(loopback, "Freshet/test")}.Do(ctx, d)
}

func TestWebhookIsSignedAsTheReferenceVerifies(t *testing.T) {
	url, got := receiver(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "thanks") })
	for name, c := range map[string]struct {
		secret, previous string
		good, bad        []string
	}{
		"one secret":        {secret(1), "", []string{secret(1)}, []string{secret(2)}},
		"while they change": {secret(2), secret(1), []string{secret(1), secret(2)}, []string{secret(3)}},
	} {
		d := delivery(url)
		d.Do.Secret, d.Do.PreviousSecret = c.secret, c.previous
		if a := do(t, d); a.Error != "" || a.Status != 200 || a.Answer != "thanks" {
			t.Fatalf("%s: %+v", name, a)
		}
		r := <-got
		for _, s := range c.good {
			if err := verify(t, s, r); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, s := range c.bad {
			if verify(t, s, r) == nil {
				t.Errorf("%s: another secret verifies", name)
			}
		}
		if !bytes.Equal(r.body, d.Data) {
			t.Errorf("%s: body %s", name, r.body)
		}
	}
}

func verify(t *testing.T, secret string, r received) error {
	t.Helper()
	hook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return hook.Verify(r.body, r.header)
}

func TestWebhookHeaders(t *testing.T) {
	url, got := receiver(t, func(http.ResponseWriter, *http.Request) {})
	d := delivery(url)
	d.Do.Headers = map[string]string{"authorization": "Bearer x", "User-Agent": "other", "Content-Type": "text/plain"}
	do(t, d)
	header := (<-got).header
	for name, want := range map[string]string{
		"Content-Type": "application/json", "Webhook-Id": "1234567890123", "Idempotency-Key": "1234567890123",
		"Freshet-Workflow": "42", "Freshet-Attempt": "3", "User-Agent": "Freshet/test", "Authorization": "Bearer x",
	} {
		if got := header.Values(name); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestWebhookWithoutSecretIsNotSigned(t *testing.T) {
	url, got := receiver(t, func(http.ResponseWriter, *http.Request) {})
	d := delivery(url)
	d.Do.Secret = ""
	do(t, d)
	if r := <-got; r.header.Get("Webhook-Signature") != "" || r.header.Get("Webhook-Id") == "" {
		t.Errorf("%v", r.header)
	}
}

func TestCloudEventIsReadByTheReference(t *testing.T) {
	url, got := receiver(t, func(http.ResponseWriter, *http.Request) {})
	d := delivery(url)
	d.Do.Format = freshet.CloudEvents
	do(t, d)
	r := <-got
	var e event.Event
	if err := json.Unmarshal(r.body, &e); err != nil {
		t.Fatal(err)
	}
	if err := e.Validate(); err != nil {
		t.Error(err)
	}
	if e.ID() != "1234567890123" || e.Source() != "/workflows/42" || e.Type() != "freshet.trigger" || !e.Time().Equal(d.CreatedAt) {
		t.Errorf("%s", e)
	}
	var sent, back any
	if json.Unmarshal(d.Data, &sent) != nil || json.Unmarshal(e.Data(), &back) != nil || string(freshet.MarshalData(sent)) != string(freshet.MarshalData(back)) {
		t.Errorf("data %s", e.Data())
	}
	if got := r.header.Get("Content-Type"); got != "application/cloudevents+json" {
		t.Errorf("content type %q", got)
	}
	if err := verify(t, secret(1), r); err != nil {
		t.Error(err)
	}
}

// The signature is over the id, the time and the body: a change of any is noticed.
func TestSignatureCoversEverything(t *testing.T) {
	key := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32))
	s := sign([]string{"whsec_" + key}, "1", "2", []byte("3"))
	for _, other := range [][3]string{{"9", "2", "3"}, {"1", "9", "3"}, {"1", "2", "9"}, {"1.2", "", "3"}} {
		if sign([]string{"whsec_" + key}, other[0], other[1], []byte(other[2])) == s {
			t.Errorf("%v has the signature of 1, 2, 3", other)
		}
	}
}

func TestJudge(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		status int
		after  string
		ok     bool
		gone   bool
		wait   time.Duration
		says   string
	}{
		{status: 200, ok: true},
		{status: 204, ok: true},
		{status: 202, after: "60", ok: true},
		{status: 301, says: "redirect (301)"},
		{status: 304, says: "304"},
		{status: 307, after: "60", says: "redirect (307)"},
		{status: 400, says: "400 Bad Request"},
		{status: 404, says: "404 Not Found"},
		{status: 410, gone: true, says: "(410)"},
		{status: 429, after: "30", wait: 30 * time.Second, says: "less often (429)"},
		{status: 429, after: "Sat, 21 Nov 2026 12:02:00 GMT", wait: 2 * time.Minute, says: "(429)"},
		{status: 429, after: "soon", says: "(429)"},
		{status: 500, says: "500 Internal Server Error"},
		{status: 503, after: "120", wait: 2 * time.Minute, says: "(503)"},
		{status: 599, says: "(599)"},
	} {
		a := judge(c.status, http.Header{"Retry-After": {c.after}}, []byte("x"), "a.example", now)
		if (a.Error == "") != c.ok || a.Gone != c.gone || a.Final || a.Status != c.status || a.Answer != "x" || !strings.Contains(a.Error, c.says) {
			t.Errorf("%d: %+v", c.status, a)
		}
		if c.wait == 0 != a.RetryAfter.IsZero() || c.wait != 0 && a.RetryAfter.Sub(now) != c.wait {
			t.Errorf("%d with Retry-After %q: again at %s, want %s later", c.status, c.after, a.RetryAfter, c.wait)
		}
	}
}

// Receivers of every kind, over a real connection.
func TestHostileReceivers(t *testing.T) {
	var elsewhere int
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		short  bool // the time of the attempt is over soon
		check  func(a freshet.Attempt) bool
	}{
		"redirect is not followed": {
			answer: func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
			},
			check: func(a freshet.Attempt) bool {
				return a.Status == 307 && strings.Contains(a.Error, "redirect") && elsewhere == 0
			},
		},
		"429 with Retry-After": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "3600")
				w.WriteHeader(429)
			},
			check: func(a freshet.Attempt) bool {
				return a.Status == 429 && time.Until(a.RetryAfter) > 59*time.Minute && !a.Final
			},
		},
		"503 with Retry-After": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "3600")
				w.WriteHeader(503)
			},
			check: func(a freshet.Attempt) bool { return a.Status == 503 && time.Until(a.RetryAfter) > 59*time.Minute },
		},
		"410": {
			answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(410) },
			check:  func(a freshet.Attempt) bool { return a.Gone },
		},
		"resets": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				c, _, _ := w.(http.Hijacker).Hijack()
				c.(*net.TCPConn).SetLinger(0)
				c.Close()
			},
			check: func(a freshet.Attempt) bool {
				return a.Status == 0 && strings.Contains(a.Error, "closed the connection")
			},
		},
		"does not speak HTTP": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				c, _, _ := w.(http.Hijacker).Hijack()
				io.WriteString(c, "220 mail.example ESMTP\r\n")
				c.Close()
			},
			check: func(a freshet.Attempt) bool { return strings.Contains(a.Error, "not HTTP") },
		},
		"hangs": {
			answer: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			short:  true,
			check:  func(a freshet.Attempt) bool { return a.Error == "127.0.0.1 did not answer within 15 s." },
		},
		"answers slowly, but says yes first": {
			answer: func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(200)
				io.WriteString(w, "wait")
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			},
			short: true,
			check: func(a freshet.Attempt) bool { return a.Error == "" && a.Status == 200 && a.Answer == "wait" },
		},
		"answers with a flood": {
			answer: func(w http.ResponseWriter, r *http.Request) {
				for range 1000 {
					if _, err := io.WriteString(w, strings.Repeat("ü", 8<<10)); err != nil {
						return
					}
				}
			},
			check: func(a freshet.Attempt) bool {
				return a.Error == "" && len(a.Answer) > mostAnswer/2 && len(a.Answer) <= mostAnswer
			},
		},
		"answers with what is no text": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(500)
				w.Write([]byte("a\x00\xff\xfeb"))
			},
			check: func(a freshet.Attempt) bool { return a.Answer == "ab" },
		},
		"floods of headers": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X", strings.Repeat("x", 200<<10))
			},
			check: func(a freshet.Attempt) bool { return a.Error != "" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			url, _ := receiver(t, c.answer)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if c.short {
				ctx, cancel = context.WithTimeout(ctx, 200*time.Millisecond)
				defer cancel()
			}
			if a := (webhook{newPoster(loopback, "x")}).Do(ctx, delivery(url)); !c.check(a) {
				t.Errorf("%+v", a)
			}
		})
	}
}

func TestWebhookReachesNoPrivateAddress(t *testing.T) {
	url, got := receiver(t, func(http.ResponseWriter, *http.Request) {})
	a := webhook{newPoster(fetch.Guard{Setting: "FRESHET_DELIVER_ALLOW"}, "x")}.Do(t.Context(), delivery(url))
	if !strings.Contains(a.Error, "FRESHET_DELIVER_ALLOW") || a.Final || len(got) != 0 {
		t.Errorf("%+v", a)
	}
}

func TestNothingListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if a := do(t, delivery("http://"+l.Addr().String())); a.Error != "127.0.0.1 refuses connections." {
		t.Errorf("%+v", a)
	}
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	remotes := map[string]bool{}
	url, _ := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		remotes[r.RemoteAddr] = true
		io.WriteString(w, strings.Repeat("x", 10<<10))
	})
	w := webhook{newPoster(loopback, "x")}
	for range 5 {
		if a := w.Do(t.Context(), delivery(url)); a.Error != "" {
			t.Fatal(a.Error)
		}
	}
	if len(remotes) != 1 {
		t.Errorf("5 deliveries over %d connections", len(remotes))
	}
}

// What is said of an error never shows what may be secret in an address.
func TestWebhookErrorsAreWithoutSecrets(t *testing.T) {
	for _, url := range []string{"http://user:hunter22@127.0.0.1:1/hunter22?token=hunter22", "https://hunter22:hunter22@nowhere.invalid/hunter22", "http://%zz/hunter22"} {
		if a := do(t, delivery(url)); a.Error == "" || strings.Contains(a.Error, "hunter22") {
			t.Errorf("%s: %+v", url, a)
		}
	}
}

func TestUnknownAndForbiddenActions(t *testing.T) {
	a := New(Options{})
	defer a.Close()
	d := delivery("https://a.example")
	d.Do.Type = "fax"
	if got := a.Do(t.Context(), d); !got.Final || !strings.Contains(got.Error, "fax") {
		t.Errorf("%+v", got)
	}
	d.Do = freshet.Action{Type: freshet.Command, Command: []string{"true"}}
	if got := a.Do(t.Context(), d); !got.Final || !strings.Contains(got.Error, "--allow-commands") {
		t.Errorf("%+v", got)
	}
	d.Kind, d.Action = freshet.KindAlert, "0"
	if got := a.Do(t.Context(), d); !got.Final || !strings.Contains(got.Error, "not configured any more") {
		t.Errorf("%+v", got)
	}
}
