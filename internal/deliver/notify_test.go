package deliver

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"freshet"
	"freshet/internal/fetch"
)

func TestWords(t *testing.T) {
	changed := "- old\n+ new\n\n  \n+ more"
	content := "\n  First line \nsecond\n"
	for name, c := range map[string]struct {
		data freshet.TriggerData
		want string
	}{
		"entries": {freshet.TriggerData{Items: []freshet.Entry{
			{Title: "One", Link: "https://a.example/1"}, {Title: " Two\n words ", Link: ""}, {Link: "https://a.example/3"},
		}}, "News\nOne https://a.example/1\nTwo words\nhttps://a.example/3"},
		"what changed":    {freshet.TriggerData{Content: &content, Changes: changed}, "News\n- old\n+ new\n+ more"},
		"a page at first": {freshet.TriggerData{Content: &content}, "News\nFirst line\nsecond"},
		"nothing":         {freshet.TriggerData{}, "News"},
		"mentions": {freshet.TriggerData{Items: []freshet.Entry{{Title: "@everyone <@123> <!channel> a@b.example [x](https://evil.example)", Link: "https://a.example/@user"}}},
			"News\n@\u200beveryone <\u200b@\u200b123> <\u200b!channel> a@b.example [x]\u200b(https://evil.example) https://a.example/@\u200buser"},
		"control characters": {freshet.TriggerData{Items: []freshet.Entry{{Title: "a\x1b[31mb\u202ec"}}}, "News\na[31mbc"},
	} {
		if got := words("News", freshet.MarshalData(c.data)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := words("News", []byte("{")); got != "News" {
		t.Errorf("unreadable data: %q", got)
	}
}

// However much there is, the text fits, and says what it leaves out.
func TestWordsAreBounded(t *testing.T) {
	for _, c := range []struct {
		items, title int
		left         string
	}{
		{20, 10, ""}, {21, 10, "and 1 more"}, {100, 10, "and 80 more"}, {20, 240, "and 13 more"}, {3, 10_000, ""},
	} {
		var data freshet.TriggerData
		for range c.items {
			data.Items = append(data.Items, freshet.Entry{Title: strings.Repeat("ü", c.title)})
		}
		got := words("News", freshet.MarshalData(data))
		_, last, _ := strings.Cut(got[strings.LastIndex(got, "\n"):], "\n")
		if utf8.RuneCountInString(got) > 2000 || strings.HasPrefix(last, "and ") != (c.left != "") || c.left != "" && last != c.left {
			t.Errorf("%d items with %d characters: %d characters that end with %q, want %q", c.items, c.title, utf8.RuneCountInString(got), last, c.left)
		}
	}
}

// ntfy is a service whose server can stand here.
func ntfy(url, topic string) string {
	return strings.Replace(url, "http://", "ntfy://user:hunter22@", 1) + "/" + topic + "?scheme=http"
}

func TestNotify(t *testing.T) {
	url, got := receiver(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") })
	d := delivery("")
	d.Do = freshet.Action{Type: freshet.Notify, URL: ntfy(url, "news")}
	if a := newNotify(loopback).Do(t.Context(), d); a.Error != "" {
		t.Fatal(a.Error)
	}
	if r := <-got; !strings.Contains(string(r.body), "https://a.example/1") || !strings.Contains(string(r.body), "News") {
		t.Errorf("%s", r.body)
	}
}

func TestNotifyFailures(t *testing.T) {
	refuses, _ := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(500)
		io.WriteString(w, `{"code":500,"error":"no hunter22"}`)
	})
	over := make(chan struct{})
	hangs, _ := receiver(t, func(http.ResponseWriter, *http.Request) { <-over })
	t.Cleanup(func() { close(over) })
	closed := fetch.Guard{Setting: "FRESHET_DELIVER_ALLOW"}
	for name, c := range map[string]struct {
		guard   fetch.Guard
		address string
		says    string
	}{
		"refuses":         {loopback, ntfy(refuses, "news"), "ntfy did not take it"},
		"hangs":           {loopback, ntfy(hangs, "news"), "ntfy did not answer within 15 s."},
		"guard":           {closed, ntfy(refuses, "news"), "FRESHET_DELIVER_ALLOW"},
		"guard, generic":  {closed, strings.Replace(refuses, "http://", "generic+http://", 1) + "/hunter22", "FRESHET_DELIVER_ALLOW"},
		"guard, mail":     {closed, "smtp://user:hunter22@127.0.0.1:25/?from=a@a.example&to=b@a.example", "FRESHET_DELIVER_ALLOW"},
		"unknown service": {loopback, "pigeon://hunter22@loft", "unknown service"},
		"bad address":     {loopback, "discord://hunter22", "did not take it"},
		"no address":      {loopback, "://%zz", "cannot be read"},
	} {
		d := delivery("")
		d.Do = freshet.Action{Type: freshet.Notify, URL: c.address}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		a := newNotify(c.guard).Do(ctx, d)
		cancel()
		if !strings.Contains(a.Error, c.says) || strings.Contains(a.Error, "hunter22") || a.Final {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// A server that is allowed leads a notification to one that is not.
func TestNotifyIsNotLedAstray(t *testing.T) {
	standard := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = standard })
	http.DefaultTransport = Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}.Transport()
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skip("SKIPPED: this machine has no second loopback address")
	}
	var asked atomic.Bool
	inside := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) })}}
	inside.Start()
	t.Cleanup(inside.Close)
	url, _ := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, inside.URL, http.StatusTemporaryRedirect)
	})
	d := delivery("")
	d.Do = freshet.Action{Type: freshet.Notify, URL: strings.Replace(url, "http://", "generic+http://", 1) + "/"}
	if a := newNotify(loopback).Do(t.Context(), d); !strings.Contains(a.Error, "FRESHET_DELIVER_ALLOW") || asked.Load() {
		t.Errorf("%+v, reached: %v", a, asked.Load())
	}
}

// Notifications that hang in the library are counted; there is an end to them.
func TestNotifyLeavesOnlySomeBehind(t *testing.T) {
	n := newNotify(loopback)
	for range mostSending {
		n.sending <- struct{}{}
	}
	d := delivery("")
	d.Do = freshet.Action{Type: freshet.Notify, URL: "logger://"}
	if a := n.Do(t.Context(), d); !strings.Contains(a.Error, "Too many") {
		t.Errorf("%+v", a)
	}
	<-n.sending
	if a := n.Do(t.Context(), d); a.Error != "" {
		t.Errorf("%+v", a)
	}
}

func alarm(n int) freshet.Delivery {
	d := delivery("")
	d.Kind, d.Workflow, d.Action, d.Do = freshet.KindAlert, 0, string(rune('0'+n)), freshet.Action{}
	d.Data = freshet.MarshalData(map[string]string{
		"title": "Workflow switched off: @everyone *News*", "text": "Address: https://a.example/x_y_z\nThe last: a_b failed.",
	})
	return d
}

func TestDiscordAlert(t *testing.T) {
	url, got := receiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) })
	if a := (discord{newPoster(loopback, "x"), url}).Do(t.Context(), alarm(0)); a.Error != "" {
		t.Fatal(a.Error)
	}
	r := <-got
	var body struct {
		Content  string `json:"content"`
		Mentions struct {
			Parse []string `json:"parse"`
		} `json:"allowed_mentions"`
	}
	if err := json.Unmarshal(r.body, &body); err != nil {
		t.Fatal(err)
	}
	want := "**Workflow switched off: @\u200beveryone \\*News\\***\nAddress: <https://a.example/x_y_z>\nThe last: a\\_b failed."
	if body.Content != want || body.Mentions.Parse == nil || len(body.Mentions.Parse) != 0 || r.header.Get("Content-Type") != "application/json" {
		t.Errorf("%s", r.body)
	}
	d := alarm(0)
	d.Data = freshet.MarshalData(map[string]string{"title": "x", "text": strings.Repeat("ü", 5000)})
	(discord{newPoster(loopback, "x"), url}).Do(t.Context(), d)
	json.Unmarshal((<-got).body, &body)
	if n := utf8.RuneCountInString(body.Content); n != mostDiscord {
		t.Errorf("a long text makes %d characters", n)
	}
}

func TestDiscordAsksForAPause(t *testing.T) {
	for name, c := range map[string]struct{ header, body string }{
		"in the answer": {"", `{"message":"You are being rate limited.","retry_after":3600.5,"global":false}`},
		"in a header":   {"3600", `{}`},
		"both":          {"1", `{"retry_after":3600}`},
	} {
		url, _ := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
			if c.header != "" {
				w.Header().Set("Retry-After", c.header)
			}
			w.WriteHeader(429)
			io.WriteString(w, c.body)
		})
		a := discord{newPoster(loopback, "x"), url}.Do(t.Context(), alarm(0))
		if wait := time.Until(a.RetryAfter); wait < 59*time.Minute || wait > 61*time.Minute || a.Final {
			t.Errorf("%s: %+v", name, a)
		}
	}
	for _, odd := range []string{"", "x", `{"retry_after":-1}`, `{"retry_after":1e300}`, `{"retry_after":"1"}`} {
		if at := rateLimit(odd, time.Now()); !at.IsZero() {
			t.Errorf("%q: %s", odd, at)
		}
	}
}

// Alerts go to Discord first and then to each notification address, by number.
func TestAlertsByNumber(t *testing.T) {
	first, gotFirst := receiver(t, func(http.ResponseWriter, *http.Request) {})
	second, gotSecond := receiver(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") })
	o := Options{Allow: loopback.Allow, Discord: first, Notify: []string{ntfy(second, "alerts")}}
	if o.Alerts() != 2 || (Options{}).Alerts() != 0 {
		t.Fatalf("%d alerts", o.Alerts())
	}
	a := New(o)
	defer a.Close()
	for n, got := range []chan received{gotFirst, gotSecond} {
		if at := a.Do(t.Context(), alarm(n)); at.Error != "" {
			t.Errorf("%d: %+v", n, at)
			continue
		}
		if r := <-got; !strings.Contains(string(r.body), "Workflow switched off") || strings.Contains(string(r.body), "@everyone") {
			t.Errorf("%d: %s", n, r.body)
		}
	}
	if at := a.Do(t.Context(), alarm(2)); !at.Final {
		t.Errorf("%+v", at)
	}
}

func TestHidden(t *testing.T) {
	for _, c := range []struct{ text, address, want string }{
		{"Post \"https://discord.com/api/webhooks/123456/s3cr3t\": EOF", "discord://s3cr3t@123456", `Post "https://…": EOF`},
		{"telegram: bot 110201543:AAHdqTcv said no", "telegram://110201543:AAHdqTcv@telegram?chats=@mine", "telegram: bot …:… said no"},
		{"sending to ntfy://u:pass1@h.example/topic: 500", "ntfy://u:pass1@h.example/topic", "sending to its address: 500"},
		{"nothing in it", "ntfy://u:pass1@h.example/topic", "nothing in it"},
	} {
		if got := hidden(c.text, c.address); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
