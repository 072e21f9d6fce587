package freshet

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Action is one thing that a workflow does with an execution (W7).
type Action struct {
	ID   string     `json:"id,omitempty"` // names it within its workflow, for executions that wait
	Type ActionType `json:"type" enum:"webhook,queue,notify,command"`
	// URL is the receiver of a webhook, the queue, or the notification's address.
	URL string `json:"url,omitempty"`
	// Secret signs webhooks; PreviousSecret signs beside it while receivers change over.
	Secret         string            `json:"secret,omitempty"`
	PreviousSecret string            `json:"previous_secret,omitempty"`
	Headers        map[string]string `json:"headers,omitempty"`                   // of a webhook
	Format         string            `json:"format,omitempty" enum:"cloudevents"` // "cloudevents", or "" for the bare trigger data
	Command        []string          `json:"command,omitempty"`                   // program and arguments; no shell
	// Disabled is why the action is not carried out any more, "" while it is.
	Disabled string `json:"disabled,omitempty"`
}

// ActionType is the kind of an action.
type ActionType string

const (
	Webhook ActionType = "webhook"
	Queue   ActionType = "queue"
	Notify  ActionType = "notify"
	Command ActionType = "command"
)

// CloudEvents is the format of an action that sends a CloudEvent in structured mode.
const CloudEvents = "cloudevents"

// queueSchemes are the brokers that an action of type queue knows.
var queueSchemes = []string{"nats", "tls", "sqs", "amqp", "amqps", "kafka"}

const (
	mostArguments  = 100
	mostHeaders    = 20
	mostHeaderSize = 4096
)

func (a *Action) check(at string, bad *FieldErrors) {
	switch a.Type {
	case Webhook:
		a.checkWebhook(at, bad)
	case Queue:
		if u, err := url.Parse(a.URL); err != nil || !slices.Contains(queueSchemes, u.Scheme) {
			bad.add(at+"url", "must be the address of a queue: nats://, sqs://, amqp:// or kafka://")
		}
	case Notify:
		if scheme, _, ok := strings.Cut(a.URL, "://"); !ok || scheme == "" {
			bad.add(at+"url", "must be a notification address such as discord://token@id or ntfy://ntfy.sh/topic")
		}
	case Command:
		if len(a.Command) == 0 || a.Command[0] == "" || len(a.Command) > mostArguments || strings.Contains(strings.Join(a.Command, ""), "\x00") {
			bad.add(at+"command", "must be a program and its arguments, each an entry of the list")
		}
	default:
		bad.add(at+"type", `must be "webhook", "queue", "notify" or "command"`)
	}
	if isHidden(a.URL) {
		bad.add(at+"url", "has the dots that hide a secret, and not the secret")
	}
	if len(a.URL) > mostAddress {
		bad.add(at+"url", fmt.Sprintf("is longer than %d bytes", mostAddress))
	}
	if a.Format != "" && a.Format != CloudEvents {
		bad.add(at+"format", `must be "cloudevents" or left out`)
	}
}

func (a *Action) checkWebhook(at string, bad *FieldErrors) {
	if WebLink(a.URL) == "" {
		bad.add(at+"url", "must be an address that begins with https:// (or http://)")
	}
	for field, secret := range map[string]string{"secret": a.Secret, "previous_secret": a.PreviousSecret} {
		if _, err := SigningKey(secret); secret != "" && err != nil {
			bad.add(at+field, err.Error())
		}
	}
	size := 0
	for name, text := range a.Headers {
		size += len(name) + len(text)
		if !isToken(name) || strings.ContainsAny(text, "\r\n\x00") || strings.HasPrefix(strings.ToLower(name), "webhook-") {
			bad.add(at+"headers", fmt.Sprintf("%q cannot be sent", name))
		}
		if isHidden(text) {
			bad.add(at+"headers", fmt.Sprintf("%q has the dots that hide a value, and not the value", name))
		}
	}
	if len(a.Headers) > mostHeaders || size > mostHeaderSize {
		bad.add(at+"headers", fmt.Sprintf("has more than %d entries or %d bytes", mostHeaders, mostHeaderSize))
	}
}

// isToken says whether a text can be the name of a header field (RFC 9110, 5.6.2).
func isToken(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	}) < 0
}

// Name says which action it is without what may be secret in its address.
func (a *Action) Name() string {
	if a.Type == Command {
		return string(a.Type) + " " + a.Command[0]
	}
	u, err := url.Parse(a.URL)
	if err != nil || a.Type == Notify && u.Scheme != "ntfy" {
		scheme, _, _ := strings.Cut(a.URL, ":")
		return string(a.Type) + " " + scheme
	}
	return string(a.Type) + " " + u.Host
}

// Renamed returns the actions with an id each: those that had one keep it, one that is as it was before takes
// its old one, and no id is used for another action again.
func Renamed(actions, before []Action) []Action {
	actions, last := slices.Clone(actions), 0
	taken := map[string]bool{}
	for _, a := range slices.Concat(before, actions) {
		if n, err := strconv.Atoi(strings.TrimPrefix(a.ID, "a")); err == nil {
			last = max(last, n)
		}
	}
	for i := range actions {
		a := &actions[i]
		known := slices.ContainsFunc(before, func(b Action) bool { return b.ID == a.ID })
		if a.ID == "" || !known || taken[a.ID] {
			a.ID = ""
		}
		taken[a.ID] = true
	}
	for i := range actions {
		a := &actions[i]
		if a.ID != "" {
			continue
		}
		for _, b := range before {
			if !taken[b.ID] && b.Type == a.Type && b.URL == a.URL && slices.Equal(b.Command, a.Command) {
				a.ID = b.ID
				break
			}
		}
		if a.ID == "" {
			last++
			a.ID = "a" + strconv.Itoa(last)
		}
		taken[a.ID] = true
	}
	return actions
}

// KeepSecrets gives actions the secrets that they had: those that are left out, and those that are sent back as
// they are shown (Action.Shown).
func KeepSecrets(actions, before []Action) []Action {
	actions = slices.Clone(actions)
	for i := range actions {
		a := &actions[i]
		for _, b := range before {
			shown := b.Shown()
			if b.Type != a.Type || a.ID != b.ID && (a.ID != "" || a.URL != b.URL && a.URL != shown.URL) {
				continue
			}
			if a.URL == shown.URL {
				a.URL = b.URL
			}
			if a.Secret == "" || a.Secret == shown.Secret {
				a.Secret = b.Secret
			}
			if a.PreviousSecret != "" && a.PreviousSecret == shown.PreviousSecret {
				a.PreviousSecret = b.PreviousSecret
			}
			a.Headers = maps.Clone(a.Headers)
			for name, text := range a.Headers {
				if text == shown.Headers[name] {
					a.Headers[name] = b.Headers[name]
				}
			}
			break
		}
	}
	return actions
}

// Shown is the action as people and programs see it: without what is secret in it.
func (a Action) Shown() Action {
	a.Secret, a.PreviousSecret = hidden(a.Secret), hidden(a.PreviousSecret)
	if a.Headers != nil {
		headers := make(map[string]string, len(a.Headers))
		for name, text := range a.Headers {
			headers[name] = hidden(text)
		}
		a.Headers = headers
	}
	if a.Type == Notify { // most notification addresses are made of tokens
		scheme, _, _ := strings.Cut(a.URL, "://")
		a.URL = scheme + "://" + hiddenText
		return a
	}
	a.URL = withoutPassword(a.URL)
	return a
}

// hiddenText stands where something secret was.
const hiddenText = "••••"

// Masked says that something of the action is as it is shown and not as it is.
func (a *Action) Masked() bool {
	return slices.ContainsFunc(append(slices.Collect(maps.Values(a.Headers)), a.URL, a.Secret, a.PreviousSecret), isHidden)
}

func isHidden(text string) bool { return strings.Contains(text, hiddenText) }

// hidden shows that there is a secret, and its end, so that two can be told apart.
func hidden(secret string) string {
	switch {
	case secret == "":
		return ""
	case len(secret) < 16:
		return hiddenText
	default:
		return hiddenText + secret[len(secret)-4:]
	}
}

// withoutPassword hides the password of an address, or the name where that stands alone: it may be a token.
func withoutPassword(raw string) string {
	if isHidden(raw) {
		return raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		return hiddenText
	}
	if u.User == nil {
		return raw
	}
	login := hiddenText
	if password, _ := u.User.Password(); password != "" {
		login = u.User.Username() + ":" + hiddenText
	}
	u.User = nil
	return u.Scheme + "://" + login + "@" + strings.TrimPrefix(u.String(), u.Scheme+"://")
}
