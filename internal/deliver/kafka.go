package deliver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"freshet/internal/fetch"
)

// kafka publishes to a topic: kafka://[user:password@]host[:port][,host...]/topic[?tls=true][&sasl=plain].
// Messages of one workflow have one key, so that they keep their order. Kafka drops what its own client sends
// twice, not what an earlier attempt sent: the message's id is in the header Webhook-Id.
type kafka struct {
	client *kgo.Client
	topic  string
}

func dialKafka(ctx context.Context, u *url.URL, guard fetch.Guard) (broker, error) {
	topic := strings.Trim(u.Path, "/")
	if topic == "" {
		return nil, errors.New("the address must end with a topic, as in kafka://host/news")
	}
	options := []kgo.Opt{
		kgo.SeedBrokers(strings.Split(u.Host, ",")...), kgo.DefaultProduceTopic(topic), kgo.ClientID("freshet"),
		kgo.Dialer(kafkaDial(guard, u.Query().Get("tls") == "true")), kgo.RecordDeliveryTimeout(Timeout),
		kgo.ProducerLinger(0), kgo.UnknownTopicRetries(1),
	}
	if u.User != nil {
		login, err := kafkaLogin(u)
		if err != nil {
			return nil, err
		}
		options = append(options, kgo.SASL(login))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, err
	}
	// A client that cannot connect tries until its time is over and does not say why.
	if err := client.Ping(ctx); err != nil {
		client.Close()
		return nil, err
	}
	return &kafka{client, topic}, nil
}

type dialContext = func(ctx context.Context, network, address string) (net.Conn, error)

func kafkaDial(guard fetch.Guard, secure bool) dialContext {
	dialer := guard.Dialer(Timeout)
	if secure {
		return (&tls.Dialer{NetDialer: dialer}).DialContext
	}
	return dialer.DialContext
}

func kafkaLogin(u *url.URL) (sasl.Mechanism, error) {
	user := u.User.Username()
	password, _ := u.User.Password()
	switch kind := u.Query().Get("sasl"); kind {
	case "", "plain":
		return plain.Auth{User: user, Pass: password}.AsMechanism(), nil
	case "scram-sha-256":
		return scram.Auth{User: user, Pass: password}.AsSha256Mechanism(), nil
	case "scram-sha-512":
		return scram.Auth{User: user, Pass: password}.AsSha512Mechanism(), nil
	default:
		return nil, fmt.Errorf("sasl=%s is not known; plain, scram-sha-256 and scram-sha-512 are", kind)
	}
}

func (k *kafka) publish(ctx context.Context, m message) error {
	record := &kgo.Record{Topic: k.topic, Key: []byte(m.workflow), Value: m.body}
	for _, f := range m.fields {
		record.Headers = append(record.Headers, kgo.RecordHeader{Key: f.name, Value: []byte(f.text)})
	}
	return k.client.ProduceSync(ctx, record).FirstErr()
}

func (k *kafka) close() { k.client.Close() }
