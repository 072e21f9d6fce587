// Package deliver carries out what workflows ordered: it claims executions, does their actions and reports how
// that ended (SPEC.md section 7, W6 to W8). There is one file for each kind of action: webhook, queue, notify,
// command; alert.go tells people what happened to their workflows.
//
// It keeps nothing that matters: what is due, claimed and tried lies in the store (Queue), and when an
// execution is tried again is decided by freshet.Execution. In memory are the attempts under way, the ends of
// attempts that wait for the next commit, and connections to receivers. Delivery is at least once: an attempt
// is written down before it is made, and carries the execution's id, which stays the same at every attempt.
package deliver

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"freshet"
	"freshet/internal/fetch"
)

// Timeout is how long one attempt may take.
const Timeout = 15 * time.Second

// Action carries deliveries out. Do returns within the context's time and leaves N, StartedAt and Took of
// the attempt to its caller. What it says of an error is a sentence for people, without secrets.
type Action interface {
	Do(ctx context.Context, d freshet.Delivery) freshet.Attempt
}

// Options say what deliveries may do.
type Options struct {
	Allow         []netip.Prefix // networks that are reached though they are not public
	AllowCommands bool           // actions of type command are carried out
	UserAgent     string         // as the fetcher's
	Discord       string         // address of a Discord webhook that alerts go to, "" for none
	Notify        []string       // notification addresses that alerts go to
}

// Alerts is how many addresses alerts go to.
func (o Options) Alerts() int {
	n := len(o.Notify)
	if o.Discord != "" {
		n++
	}
	return n
}

// Transport makes and keeps connections to what may be delivered to. Libraries that send by themselves are
// to send over it.
func (o Options) Transport() *http.Transport {
	t := transport(o.guard())
	t.ResponseHeaderTimeout = Timeout
	return t
}

func (o Options) guard() fetch.Guard {
	return fetch.Guard{Allow: o.Allow, Setting: "FRESHET_DELIVER_ALLOW"}
}

// Actions does every kind of action, and alerts.
type Actions struct {
	types  map[freshet.ActionType]Action
	queue  *queue
	alerts []Action
}

// New returns the actions that the options allow.
func New(o Options) *Actions {
	guard := o.guard()
	post := newPoster(guard, cmp.Or(o.UserAgent, "Freshet"))
	notify := newNotify(guard)
	a := &Actions{queue: newQueue(guard)}
	a.types = map[freshet.ActionType]Action{
		freshet.Webhook: webhook{post}, freshet.Queue: a.queue, freshet.Notify: notify, freshet.Command: command{o.AllowCommands},
	}
	if o.Discord != "" {
		a.alerts = append(a.alerts, discord{post, o.Discord})
	}
	for _, address := range o.Notify {
		a.alerts = append(a.alerts, alert{notify, address})
	}
	return a
}

// Close ends the connections to brokers.
func (a *Actions) Close() { a.queue.close() }

// Do carries out an alert, or the delivery's action.
func (a *Actions) Do(ctx context.Context, d freshet.Delivery) freshet.Attempt {
	if d.Kind == freshet.KindAlert {
		n, err := strconv.Atoi(d.Action)
		if err != nil || n < 0 || n >= len(a.alerts) {
			return final("The address that this alert was meant for is not configured any more.")
		}
		return a.alerts[n].Do(ctx, d)
	}
	action := a.types[d.Do.Type]
	if action == nil {
		return final(fmt.Sprintf("This version does not know actions of type %q.", d.Do.Type))
	}
	return action.Do(ctx, d)
}

// failed is an attempt that another may make good.
func failed(sentence string) freshet.Attempt { return freshet.Attempt{Error: sentence} }

// final is an attempt after which another cannot help.
func final(sentence string) freshet.Attempt { return freshet.Attempt{Error: sentence, Final: true} }

// tooLong is the sentence for what did not end within the time of an attempt.
func tooLong(who string) string {
	return fmt.Sprintf("%s did not answer within %d s.", who, Timeout/time.Second)
}

// mostAnswer is how much of an answer is kept, in bytes.
const mostAnswer = 4 << 10

// kept is the part of an answer that is kept: its beginning as text that every database takes.
func kept(answer []byte) string {
	text := strings.ToValidUTF8(string(answer[:min(len(answer), mostAnswer)]), "")
	text = strings.ReplaceAll(text, "\x00", "")
	return strings.TrimSpace(text)
}

// cut returns the first n characters of a text.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	runes := []rune(s)
	return string(runes[:n-1]) + "…"
}
