package deliver

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"freshet"
)

// news is the data of an alert (W8).
type news struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

func newsOf(d freshet.Delivery) news {
	var n news
	if json.Unmarshal(d.Data, &n) != nil || n.Title == "" {
		n.Title = "Freshet has something to say, and its words were lost."
	}
	return n
}

// alert tells one notification address what happened.
type alert struct {
	notify  *notify
	address string
}

func (a alert) Do(ctx context.Context, d freshet.Delivery) freshet.Attempt {
	n := newsOf(d)
	return a.notify.send(ctx, a.address, cut(harmless(n.Title+"\n"+n.Text), mostMessage))
}

// discord tells a Discord webhook what happened.
type discord struct {
	*poster
	address string
}

// mostDiscord is how long Discord lets a message be, in characters.
const mostDiscord = 2000

func (w discord) Do(ctx context.Context, d freshet.Delivery) freshet.Attempt {
	n := newsOf(d)
	body := freshet.MarshalData(map[string]any{
		"content":          cut("**"+markdown(cut(n.Title, 300))+"**\n"+markdown(n.Text), mostDiscord),
		"allowed_mentions": map[string]any{"parse": []string{}},
	})
	a := w.post(ctx, w.address, http.Header{"Content-Type": {"application/json"}}, body)
	if a.Status == http.StatusTooManyRequests {
		a.RetryAfter = later(a.RetryAfter, rateLimit(a.Answer, time.Now()))
	}
	return a
}

// rateLimit is when Discord lets us come again, by the retry_after of its answer, in seconds.
func rateLimit(answer string, now time.Time) time.Time {
	var limit struct {
		RetryAfter float64 `json:"retry_after"`
	}
	if json.Unmarshal([]byte(answer), &limit) != nil || !(limit.RetryAfter > 0 && limit.RetryAfter < 1e6) {
		return time.Time{}
	}
	return now.Add(time.Duration(limit.RetryAfter * float64(time.Second)))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// markdown writes a text so that Discord shows it as it is: its marks are escaped, and addresses are put in
// angle brackets, which keep them whole and without a preview.
func markdown(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		text := strings.TrimRight(line, "\n")
		for i, word := range strings.Split(text, " ") {
			if i > 0 {
				b.WriteByte(' ')
			}
			if isAddress(word) {
				b.WriteString("<" + word + ">")
				continue
			}
			b.WriteString(marks.Replace(word))
		}
		b.WriteString(line[len(text):])
	}
	return b.String()
}

func isAddress(word string) bool {
	return (strings.HasPrefix(word, "https://") || strings.HasPrefix(word, "http://")) && !strings.ContainsAny(word, "<>")
}

var marks = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "~", `\~`, "`", "\\`", "|", `\|`, ">", `\>`, "<", `\<`,
	"#", `\#`, "[", `\[`, "]", `\]`, "(", `\(`, ")", `\)`, "-", `\-`, "@", "@\u200b")
