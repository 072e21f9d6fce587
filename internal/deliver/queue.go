package deliver

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"freshet"
	"freshet/internal/fetch"
)

// broker is a connection to a message broker. It is used from many goroutines.
type broker interface {
	// publish returns when the broker has confirmed the message.
	publish(ctx context.Context, m message) error
	close()
}

// message is a delivery as brokers take it.
type message struct {
	id          string // the same at every attempt; brokers that drop what they know by id know it by this
	workflow    string
	contentType string
	fields      []field // the headers of a webhook
	body        []byte
}

// dial connects to the broker of an address.
type dial func(ctx context.Context, u *url.URL, guard fetch.Guard) (broker, error)

// brokers are the kinds of broker by the scheme of their addresses.
var brokers = map[string]dial{
	"nats": dialNATS, "tls": dialNATS, "sqs": dialSQS, "amqp": dialRabbit, "amqps": dialRabbit, "kafka": dialKafka,
}

// idleBroker is how long a connection to a broker is kept without use.
const idleBroker = time.Minute

// queue publishes deliveries to message brokers (W7). A connection is kept for each address while it is used,
// and given up after an error, so that the next attempt makes a new one.
type queue struct {
	guard   fetch.Guard
	brokers map[string]dial // by scheme

	mu     sync.Mutex // guards the rest, and links but for what their ready publishes
	links  map[string]*link
	ending sync.WaitGroup // connections that are being closed
}

// link is a connection that is being made or kept.
type link struct {
	ready  chan struct{} // closed when broker and err are there
	broker broker
	err    error
	users  int
	given  bool // not in links any more: the last user closes it
	idle   *time.Timer
}

func newQueue(guard fetch.Guard) *queue {
	return &queue{guard: guard, brokers: brokers, links: map[string]*link{}}
}

func (q *queue) Do(ctx context.Context, d freshet.Delivery) freshet.Attempt {
	u, err := url.Parse(d.Do.URL)
	if err != nil || q.brokers[u.Scheme] == nil {
		return final("The address of the queue cannot be used: it must begin with nats://, tls://, sqs://, amqp://, amqps:// or kafka://.")
	}
	body, contentType := bodyOf(d)
	m := message{
		id: d.ID.String(), workflow: d.Workflow.String(), contentType: contentType,
		fields: fieldsOf(d, contentType), body: body,
	}
	l := q.take(ctx, d.Do.URL, u)
	select {
	case <-l.ready:
	case <-ctx.Done():
		q.release(d.Do.URL, l, ctx.Err())
		return failed(tooLong(serverOf(u)))
	}
	err = l.err
	if err == nil {
		err = l.broker.publish(ctx, m)
	}
	q.release(d.Do.URL, l, err)
	return q.attempt(ctx, u, err)
}

// attempt says how publishing ended.
func (q *queue) attempt(ctx context.Context, u *url.URL, err error) freshet.Attempt {
	if err == nil {
		return freshet.Attempt{}
	}
	server := serverOf(u)
	if sentence := fetch.NoAnswer(err, server); sentence != "" {
		return failed(sentence)
	}
	if ctx.Err() != nil {
		return failed(tooLong(server))
	}
	return failed(fmt.Sprintf("%s did not take it: %s.", server, strings.TrimRight(withoutLogin(err.Error(), u), ".")))
}

// serverOf names the broker of an address.
func serverOf(u *url.URL) string {
	if host := u.Hostname(); !strings.Contains(host, ",") {
		return host
	}
	return u.Host
}

// withoutLogin takes the login and the secrets of an address from what a library says.
func withoutLogin(text string, u *url.URL) string {
	bare := url.URL{Scheme: u.Scheme, User: u.User, Host: "."}
	for name, values := range u.Query() {
		if fetch.Redact("?"+name+"=x") != "?"+name+"=x" {
			bare.RawQuery += "&" + url.Values{name: values}.Encode()
		}
	}
	return hidden(text, bare.String())
}

// take returns the link of an address, a new one when there is none, and counts its user.
func (q *queue) take(ctx context.Context, address string, u *url.URL) *link {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.links[address]
	if l == nil {
		l = &link{ready: make(chan struct{})}
		q.links[address] = l
		go func() {
			defer close(l.ready)
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Timeout) // others may wait for it, too
			defer cancel()
			l.broker, l.err = q.brokers[u.Scheme](ctx, u, q.guard)
		}()
	}
	if l.idle != nil {
		l.idle.Stop()
		l.idle = nil
	}
	l.users++
	return l
}

// release ends a use. After an error nobody else gets the link.
func (q *queue) release(address string, l *link, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l.users--
	if err != nil {
		q.give(address, l)
	}
	switch {
	case l.users > 0:
	case l.given:
		q.ending.Go(l.end)
	default:
		l.idle = time.AfterFunc(idleBroker, func() { q.expire(address, l) })
	}
}

// expire closes a link that nobody has used for a while.
func (q *queue) expire(address string, l *link) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l.users == 0 && !l.given {
		q.give(address, l)
		q.ending.Go(l.end)
	}
}

// give takes a link out of use; mu is held.
func (q *queue) give(address string, l *link) {
	if q.links[address] == l {
		delete(q.links, address)
	}
	l.given = true
}

// end closes a link's connection.
func (l *link) end() {
	<-l.ready
	if l.broker != nil {
		l.broker.close()
	}
}

// closeWithin is how long brokers may take to say goodbye. What they took is confirmed already.
const closeWithin = 500 * time.Millisecond

// close ends the connections that nobody uses.
func (q *queue) close() {
	q.mu.Lock()
	for address, l := range q.links {
		if l.idle != nil {
			l.idle.Stop()
		}
		q.give(address, l)
		if l.users == 0 {
			q.ending.Go(l.end)
		}
	}
	q.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		q.ending.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(closeWithin):
	}
}
