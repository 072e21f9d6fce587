package deliver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/nicholas-fedor/shoutrrr"

	"freshet"
	"freshet/internal/fetch"
)

// notify sends a line of text about new things to people: Discord, Slack, Telegram, ntfy, mail and whatever
// else shoutrrr knows (W7).
//
// The library takes no context and no dialer. So an address that names its own server is looked up and checked
// before, the program gives the standard transport a guard (Options.Transport), a notification that does not
// end in time is left behind, and only so many are left behind.
type notify struct {
	guard   fetch.Guard
	sending chan struct{} // those under way, the ones left behind included
}

// mostSending is how many notifications are under way at once.
const mostSending = 64

func newNotify(guard fetch.Guard) *notify {
	return &notify{guard: guard, sending: make(chan struct{}, mostSending)}
}

func (n *notify) Do(ctx context.Context, d freshet.Delivery) freshet.Attempt {
	return n.send(ctx, d.Do.URL, words(d.WorkflowName, d.Data))
}

// send sends a text to a notification address.
func (n *notify) send(ctx context.Context, address, text string) freshet.Attempt {
	service, _, _ := strings.Cut(address, ":")
	if sentence := n.refused(ctx, address); sentence != "" {
		return failed(sentence)
	}
	select {
	case n.sending <- struct{}{}:
	default:
		return failed("Too many notifications hang; this one waits for them.")
	}
	sent := make(chan error, 1)
	go func() {
		defer func() { <-n.sending }()
		sent <- shout(address, text)
	}()
	select {
	case err := <-sent:
		if err != nil {
			return failed(fmt.Sprintf("%s did not take it: %s.", service, strings.TrimRight(hidden(err.Error(), address), ".")))
		}
		return freshet.Attempt{}
	case <-ctx.Done():
		return failed(tooLong(service))
	}
}

// shout hands a text to the library.
func shout(address, text string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the notification library broke: %v", p)
		}
	}()
	sender, err := shoutrrr.NewSender(log.New(io.Discard, "", 0), address)
	if err != nil {
		return err
	}
	for _, err := range sender.Send(text, nil) {
		if err != nil {
			return err
		}
	}
	return nil
}

// ownServer lists the services whose address names the server that is talked to.
var ownServer = []string{"bark", "generic", "gotify", "matrix", "mattermost", "ntfy", "opsgenie", "pagerduty", "rocketchat", "signal", "smtp", "teams", "zulip"}

// refused says why an address may not be reached, "" when it may.
func (n *notify) refused(ctx context.Context, address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "The notification address cannot be read."
	}
	service, _, _ := strings.Cut(u.Scheme, "+")
	if !slices.Contains(ownServer, service) || u.Hostname() == "" {
		return ""
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return fetch.NoAnswer(err, u.Hostname())
	}
	for _, addr := range addrs {
		if err := n.guard.Check(addr); err != nil {
			return fetch.NoAnswer(err, u.Hostname())
		}
	}
	return ""
}

const (
	mostMessage = 1900 // characters of a notification; Discord takes 2000
	mostLines   = 20   // things that it lists
	mostLine    = 250  // characters of a title or line
)

// words puts trigger data into words for people: the workflow's name, then a line for each entry, or what changed.
func words(name string, data []byte) string {
	var t freshet.TriggerData
	if err := json.Unmarshal(data, &t); err != nil {
		return harmless(line(name))
	}
	list := make([]string, 0, len(t.Items)+1)
	switch {
	case t.Changes != "":
		list = lines(t.Changes)
	case t.Content != nil:
		list = lines(*t.Content)
	}
	for _, e := range t.Items {
		list = append(list, strings.TrimSpace(line(e.Title)+" "+line(e.Link)))
	}
	return harmless(bounded(line(name), list))
}

// bounded puts as many lines below a title as fit, and says how many do not.
func bounded(title string, list []string) string {
	text, size := title, len([]rune(title))
	for i, l := range list {
		more := len([]rune(l)) + 1
		if i == mostLines || size+more > mostMessage-len("\nand 100 more") {
			return fmt.Sprintf("%s\nand %d more", text, len(list)-i)
		}
		text += "\n" + l
		size += more
	}
	return text
}

// lines are the lines of a text that have something in them.
func lines(s string) (list []string) {
	for l := range strings.Lines(s) {
		if l = line(l); l != "" {
			list = append(list, l)
		}
	}
	return list
}

// line makes one line of a text.
func line(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s)
	return cut(strings.Join(strings.Fields(s), " "), mostLine)
}

// gap is a space that nobody sees.
const gap = "\u200b"

// harmless takes from a text what chats would make more of than words: mentions of people and groups, links
// under other words.
func harmless(s string) string {
	var b strings.Builder
	last := ' '
	for i, r := range s {
		b.WriteRune(r)
		next := s[i+len(string(r)):]
		word := next != "" && next[0] > ' '
		switch {
		case r == '@' && word && !unicode.IsLetter(last) && !unicode.IsDigit(last),
			r == '<' && word,
			r == ']' && strings.HasPrefix(next, "("):
			b.WriteString(gap)
		}
		last = r
	}
	return b.String()
}
