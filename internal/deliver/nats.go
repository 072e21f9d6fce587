package deliver

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"freshet/internal/fetch"
)

// natsBroker publishes to a JetStream stream: nats://[user:password@|token@]host[:port]/subject. The stream
// drops a message whose Nats-Msg-Id it took within its duplicate window.
type natsBroker struct {
	conn    *nats.Conn
	stream  jetstream.JetStream
	subject string
}

func dialNATS(ctx context.Context, u *url.URL, guard fetch.Guard) (broker, error) {
	subject := strings.Trim(u.Path, "/")
	if subject == "" || strings.ContainsAny(subject, " */>") {
		return nil, errors.New("the address must end with a subject, as in nats://host/news.items")
	}
	server := url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host}
	conn, err := nats.Connect(server.String(), nats.Name("Freshet"), nats.NoReconnect(), nats.IgnoreDiscoveredServers(),
		nats.Timeout(Timeout), nats.SetCustomDialer(&guardedDialer{ctx, guard.Dialer(Timeout)}))
	if err != nil {
		return nil, err
	}
	stream, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &natsBroker{conn, stream, subject}, nil
}

func (b *natsBroker) publish(ctx context.Context, m message) error {
	msg := nats.NewMsg(b.subject)
	msg.Data = m.body
	for _, f := range m.fields {
		msg.Header.Set(f.name, f.text)
	}
	_, err := b.stream.PublishMsg(ctx, msg, jetstream.WithMsgID(m.id), jetstream.WithRetryAttempts(0))
	if errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, nats.ErrNoResponders) {
		return errors.New("no JetStream stream takes the subject " + b.subject)
	}
	return err
}

func (b *natsBroker) close() { b.conn.Close() }

// guardedDialer dials for libraries that have no context to give; it dials within the one it was made in.
type guardedDialer struct {
	ctx    context.Context // of the one connection that it makes
	dialer *net.Dialer
}

func (d *guardedDialer) Dial(network, address string) (net.Conn, error) {
	conn, err := d.dialer.DialContext(d.ctx, network, address)
	if err != nil {
		return nil, err
	}
	// A server that accepts and says nothing must not hold us: the handshake is bounded, what follows is
	// bounded by whoever publishes.
	return conn, conn.SetDeadline(time.Now().Add(Timeout))
}
