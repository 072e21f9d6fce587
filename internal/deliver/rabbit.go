package deliver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"freshet/internal/fetch"
)

// rabbit publishes to RabbitMQ: amqp://[user:password@]host[:port][/vhost]?exchange=E&route=K, or ?queue=Q for the
// queue itself. A message counts as delivered when the broker has confirmed it and had a queue for it.
// RabbitMQ drops no duplicates; the message's id is its message_id.
type rabbit struct {
	socket          net.Conn
	conn            *amqp091.Connection
	channel         *amqp091.Channel
	exchange, route string
	returned        chan amqp091.Return
	closed          chan *amqp091.Error // why the channel was closed
	turn            chan struct{}       // one message is under way at a time, so that a return is known to be its own
}

func dialRabbit(ctx context.Context, u *url.URL, guard fetch.Guard) (broker, error) {
	query := u.Query()
	b := &rabbit{
		exchange: query.Get("exchange"), route: cmp.Or(query.Get("route"), query.Get("queue")),
		returned: make(chan amqp091.Return, 1), closed: make(chan *amqp091.Error, 1), turn: make(chan struct{}, 1),
	}
	if b.exchange == "" && b.route == "" {
		return nil, errors.New("the address must say ?queue= or ?exchange= and &route=")
	}
	server := url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	dialer := guardedDialer{ctx, guard.Dialer(Timeout)}
	var err error
	b.conn, err = amqp091.DialConfig(server.String(), amqp091.Config{
		Heartbeat: Timeout, Locale: "en_US", Properties: amqp091.Table{"product": "Freshet", "connection_name": "freshet"},
		Dial: func(network, address string) (socket net.Conn, err error) {
			b.socket, err = dialer.Dial(network, address)
			return b.socket, err
		},
	})
	if err != nil {
		return nil, err
	}
	if b.channel, err = b.conn.Channel(); err == nil {
		err = b.channel.Confirm(false)
	}
	if err != nil {
		b.close()
		return nil, err
	}
	b.channel.NotifyReturn(b.returned)
	b.channel.NotifyClose(b.closed)
	return b, nil
}

func (b *rabbit) publish(ctx context.Context, m message) error {
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if until, ok := ctx.Deadline(); ok { // the library writes without looking at ctx
		b.socket.SetWriteDeadline(until)
		defer b.socket.SetWriteDeadline(time.Time{})
	}
	headers := amqp091.Table{}
	for _, f := range m.fields {
		headers[f.name] = f.text
	}
	confirmed, err := b.channel.PublishWithDeferredConfirmWithContext(ctx, b.exchange, b.route, true, false, amqp091.Publishing{
		MessageId: m.id, ContentType: m.contentType, DeliveryMode: amqp091.Persistent, Timestamp: time.Now(), AppId: "freshet",
		Headers: headers, Body: m.body,
	})
	if err != nil {
		return err
	}
	taken, err := confirmed.WaitContext(ctx)
	switch {
	case err != nil:
		return err
	case !taken:
		return b.refused()
	}
	return b.unrouted(m)
}

// refused says why a message was not taken.
func (b *rabbit) refused() error {
	select {
	case why := <-b.closed:
		if why != nil {
			return errors.New(why.Reason)
		}
	default:
	}
	return errors.New("it refused the message")
}

// unrouted is an error when the message came back because no queue wanted it. That is said before the
// message is confirmed.
func (b *rabbit) unrouted(m message) error {
	select {
	case r, ok := <-b.returned:
		if !ok || r.MessageId == m.id {
			return fmt.Errorf("no queue takes messages of exchange %q with routing key %q", b.exchange, b.route)
		}
	default:
	}
	return nil
}

func (b *rabbit) close() { b.conn.Close() }
