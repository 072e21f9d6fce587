package deliver

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rabbitmq/amqp091-go"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"freshet"
	"freshet/internal/fetch"
)

// publish makes an attempt at a queue of its own.
func publish(t *testing.T, address string, change func(*freshet.Delivery)) freshet.Attempt {
	t.Helper()
	q := newQueue(loopback)
	defer q.close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	d := delivery("")
	d.Do = freshet.Action{ID: "a1", Type: freshet.Queue, URL: address}
	if change != nil {
		change(&d)
	}
	return q.Do(ctx, d)
}

func natsServer(t *testing.T, o server.Options) *server.Server {
	t.Helper()
	o.Host, o.Port, o.NoLog, o.NoSigs = "127.0.0.1", -1, true, true
	o.JetStream, o.StoreDir = true, t.TempDir()
	s, err := server.NewServer(&o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the NATS server does not start")
	}
	return s
}

func TestNATS(t *testing.T) {
	s := natsServer(t, server.Options{Username: "freshet", Password: "hunter22"})
	client, err := nats.Connect(s.ClientURL(), nats.UserInfo("freshet", "hunter22"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	js, err := jetstream.New(client)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "NEWS", Subjects: []string{"news.>"}})
	if err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(s.ClientURL(), "nats://")
	// The first attempt arrived and its confirmation was lost: the second has the same id.
	for range 2 {
		if a := publish(t, "nats://freshet:hunter22@"+host+"/news.items", nil); a.Error != "" {
			t.Fatal(a.Error)
		}
	}
	info, err := stream.Info(t.Context())
	if err != nil || info.State.Msgs != 1 {
		t.Fatalf("%d messages, want the one: %v", info.State.Msgs, err)
	}
	msg, err := stream.GetMsg(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if string(msg.Data) != string(delivery("").Data) || msg.Subject != "news.items" ||
		msg.Header.Get("Nats-Msg-Id") != "1234567890123" || msg.Header.Get("Freshet-Workflow") != "42" || msg.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%+v", msg)
	}
	for address, says := range map[string]string{
		"nats://freshet:hunter22@" + host + "/other":       "no JetStream stream takes the subject other",
		"nats://freshet:wrong-one@" + host + "/news.items": "Authorization Violation",
		"nats://freshet:hunter22@" + host:                  "must end with a subject",
	} {
		checkRefused(t, publish(t, address, nil), says)
	}
}

func TestKafka(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "news"), kfake.EnableSASL(), kfake.Superuser("PLAIN", "freshet", "hunter22"))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	host := cluster.ListenAddrs()[0]
	if a := publish(t, "kafka://freshet:hunter22@"+host+"/news", nil); a.Error != "" {
		t.Fatal(a.Error)
	}
	options := []kgo.Opt{kgo.SeedBrokers(host), kgo.ConsumeTopics("news")}
	login, err := kafkaLogin(parsed(t, "kafka://freshet:hunter22@"+host+"/news"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(append(options, kgo.SASL(login))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	records := client.PollFetches(t.Context()).Records()
	if len(records) != 1 {
		t.Fatalf("%d records", len(records))
	}
	headers := map[string]string{}
	for _, h := range records[0].Headers {
		headers[h.Key] = string(h.Value)
	}
	if string(records[0].Value) != string(delivery("").Data) || string(records[0].Key) != "42" || headers["Webhook-Id"] != "1234567890123" {
		t.Errorf("%s %s %v", records[0].Key, records[0].Value, headers)
	}
	checkRefused(t, publish(t, "kafka://freshet:hunter22@"+host+"/nothing", nil), "topic")
	checkRefused(t, publish(t, "kafka://freshet:hunter22@"+host, nil), "must end with a topic")
	checkRefused(t, publish(t, "kafka://freshet:hunter22@"+host+"/news?sasl=magic", nil), "not known")
}

// sqsStub answers SendMessage of the JSON protocol as Amazon documents it.
type sqsStub struct {
	mu   sync.Mutex
	got  []map[string]any
	auth []string
}

func (s *sqsStub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in map[string]any
	err := json.NewDecoder(r.Body).Decode(&in)
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	if err != nil || r.Header.Get("X-Amz-Target") != "AmazonSQS.SendMessage" || !strings.HasSuffix(in["QueueUrl"].(string), "/123/news.fifo") {
		w.WriteHeader(400)
		json.NewEncoder(w).Encode(map[string]string{"__type": "com.amazonaws.sqs#QueueDoesNotExist", "message": "The specified queue does not exist."})
		return
	}
	s.mu.Lock()
	s.got, s.auth = append(s.got, in), append(s.auth, r.Header.Get("Authorization"))
	s.mu.Unlock()
	sum := md5.Sum([]byte(in["MessageBody"].(string)))
	json.NewEncoder(w).Encode(map[string]string{"MessageId": "m-1", "MD5OfMessageBody": hex.EncodeToString(sum[:])})
}

func TestSQS(t *testing.T) {
	stub := &sqsStub{}
	s := httptest.NewServer(stub)
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "http://")
	address := "sqs://AKIDEXAMPLE:hunter22@" + host + "/123/news.fifo?region=eu-west-1&tls=false"
	if a := publish(t, address, nil); a.Error != "" {
		t.Fatal(a.Error)
	}
	if len(stub.got) != 1 {
		t.Fatalf("%d messages", len(stub.got))
	}
	got := stub.got[0]
	if got["MessageBody"] != string(delivery("").Data) || got["MessageDeduplicationId"] != "1234567890123" || got["MessageGroupId"] != "42" {
		t.Errorf("%v", got)
	}
	if !strings.Contains(stub.auth[0], "Credential=AKIDEXAMPLE/") || !strings.Contains(stub.auth[0], "/eu-west-1/sqs/") {
		t.Errorf("signed as %s", stub.auth[0])
	}
	if attributes := got["MessageAttributes"].(map[string]any); attributes["Webhook-Id"].(map[string]any)["StringValue"] != "1234567890123" {
		t.Errorf("%v", attributes)
	}
	checkRefused(t, publish(t, strings.Replace(address, "/123/", "/999/", 1), nil), "The specified queue does not exist")
	checkRefused(t, publish(t, strings.Replace(address, "region=eu-west-1&", "", 1), nil), "region")
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		t.Setenv(name, "")
	}
	checkRefused(t, publish(t, strings.Replace(address, "AKIDEXAMPLE:hunter22@", "", 1), nil), "no login")
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDOTHER")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "x")
	if a := publish(t, strings.Replace(address, "AKIDEXAMPLE:hunter22@", "", 1), nil); a.Error != "" || !strings.Contains(stub.auth[1], "AKIDOTHER") {
		t.Errorf("%+v", a)
	}
}

func TestSQSRegion(t *testing.T) {
	for address, want := range map[string]string{
		"sqs://sqs.eu-west-1.amazonaws.com/1/q":                  "eu-west-1",
		"sqs://sqs.cn-north-1.amazonaws.com.cn/1/q":              "cn-north-1",
		"sqs://sqs.eu-west-1.amazonaws.com/1/q?region=us-east-1": "us-east-1",
		"sqs://localhost:9324/1/q?region=elasticmq":              "elasticmq",
		"sqs://localhost:9324/1/q":                               "",
	} {
		if got := sqsRegion(parsed(t, address)); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

func TestRabbit(t *testing.T) {
	s := rabbitServer(t)
	login := "amqp://freshet:hunter22@" + s.addr
	if a := publish(t, login+"/vhost?exchange=news&route=items", nil); a.Error != "" {
		t.Fatal(a.Error)
	}
	got := s.published(t)
	if got.vhost != "vhost" || got.exchange != "news" || got.key != "items" || got.body != string(delivery("").Data) || !got.mandatory {
		t.Errorf("%+v", got)
	}
	for _, part := range []string{"1234567890123", "application/json", "Freshet-Workflow"} {
		if !strings.Contains(got.properties, part) {
			t.Errorf("the properties lack %s: %q", part, got.properties)
		}
	}
	checkRefused(t, publish(t, login+"/vhost?exchange=news&route=refused", nil), "refused the message")
	checkRefused(t, publish(t, login+"/vhost?queue=unrouted", nil), "no queue takes messages")
	checkRefused(t, publish(t, login+"/vhost?exchange=missing&route=x", nil), "NOT_FOUND")
	checkRefused(t, publish(t, strings.Replace(login, "hunter22", "wrong-one", 1)+"/vhost?queue=q", nil), "ACCESS_REFUSED")
	checkRefused(t, publish(t, login+"/vhost", nil), "must say ?queue=")
}

// The same against a real RabbitMQ, where FRESHET_TEST_RABBITMQ is its address (amqp://guest:guest@127.0.0.1/).
func TestRealRabbit(t *testing.T) {
	server := os.Getenv("FRESHET_TEST_RABBITMQ")
	if server == "" {
		t.Skip("SKIPPED: FRESHET_TEST_RABBITMQ names no RabbitMQ")
	}
	conn, err := amqp091.Dial(server)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	channel, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	queue, err := channel.QueueDeclare("", false, true, true, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a := publish(t, server+"?queue="+queue.Name, nil); a.Error != "" {
		t.Fatal(a.Error)
	}
	got, ok, err := channel.Get(queue.Name, true)
	if err != nil || !ok || string(got.Body) != string(delivery("").Data) || got.MessageId != "1234567890123" ||
		got.ContentType != "application/json" || got.Headers["Freshet-Workflow"] != "42" || got.DeliveryMode != amqp091.Persistent {
		t.Errorf("%+v, %v, %v", got, ok, err)
	}
	full, err := channel.QueueDeclare("", false, true, true, false, amqp091.Table{"x-max-length": 1, "x-overflow": "reject-publish"})
	if err != nil {
		t.Fatal(err)
	}
	if a := publish(t, server+"?queue="+full.Name, nil); a.Error != "" {
		t.Error(a.Error)
	}
	checkRefused(t, publish(t, server+"?queue="+full.Name, nil), "refused the message")
	checkRefused(t, publish(t, server+"?queue=nothing-of-the-kind", nil), "no queue takes messages")
	checkRefused(t, publish(t, server+"?exchange=missing&route=x", nil), "NOT_FOUND")
	address := parsed(t, server)
	address.User = url.UserPassword("guest", "wrong-one")
	checkRefused(t, publish(t, address.String()+"?queue=q", nil), "password not allowed")
	address.User, address.Path = parsed(t, server).User, "/no-such-vhost"
	checkRefused(t, publish(t, address.String()+"?queue=q", nil), "did not take it")
}

// checkRefused wants a failure that says something and no secret, and is tried again.
func checkRefused(t *testing.T, a freshet.Attempt, says string) {
	t.Helper()
	if !strings.Contains(a.Error, says) || !strings.HasSuffix(a.Error, ".") || a.Final {
		t.Errorf("%+v, want %q in it", a, says)
	}
	for _, secret := range []string{"hunter22", "wrong-one", "AKIDEXAMPLE"} {
		if strings.Contains(a.Error, secret) {
			t.Errorf("%q shows %s", a.Error, secret)
		}
	}
}

// Every kind of broker: not there, silent, and behind the guard.
func TestBrokersThatCannotBeReached(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "k")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for name, address := range map[string]string{
		"nats": "nats://HOST/news", "kafka": "kafka://HOST/news", "amqp": "amqp://HOST/v?queue=q", "sqs": "sqs://HOST/1/q?region=r&tls=false",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for where, guard := range map[string]fetch.Guard{nobody.Addr().String(): loopback, silent.Addr().String(): loopback, "10.1.2.3:1": {Setting: "FRESHET_DELIVER_ALLOW"}} {
				q := newQueue(guard)
				ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
				d := delivery("")
				d.Do = freshet.Action{Type: freshet.Queue, URL: strings.Replace(address, "HOST", where, 1)}
				a := q.Do(ctx, d)
				cancel()
				q.close()
				if a.Error == "" || a.Final || strings.HasPrefix(where, "10.") != strings.Contains(a.Error, "FRESHET_DELIVER_ALLOW") {
					t.Errorf("%s: %+v", where, a)
				}
			}
		})
	}
}

func TestQueueAddresses(t *testing.T) {
	for _, address := range []string{"", "https://a.example", "ftp://a.example/x", "nats://%zz"} {
		if a := publish(t, address, nil); !a.Final || a.Error == "" {
			t.Errorf("%q: %+v", address, a)
		}
	}
}

// fakeBroker counts what becomes of it.
type fakeBroker struct {
	err    error
	closed *atomic.Int32
}

func (b fakeBroker) publish(context.Context, message) error { return b.err }
func (b fakeBroker) close()                                 { b.closed.Add(1) }

func TestLinksAreKeptAndGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made, closed atomic.Int32
		var trouble error
		q := newQueue(loopback)
		q.brokers = map[string]dial{"nats": func(context.Context, *url.URL, fetch.Guard) (broker, error) {
			made.Add(1)
			return fakeBroker{trouble, &closed}, nil
		}}
		send := func() freshet.Attempt {
			d := delivery("")
			d.Do = freshet.Action{Type: freshet.Queue, URL: "nats://a.example/x"}
			ctx, cancel := context.WithTimeout(t.Context(), Timeout)
			defer cancel()
			return q.Do(ctx, d)
		}
		expect := func(when string, wantMade, wantClosed int32) {
			t.Helper()
			synctest.Wait()
			if made.Load() != wantMade || closed.Load() != wantClosed {
				t.Errorf("%s: %d made and %d closed, want %d and %d", when, made.Load(), closed.Load(), wantMade, wantClosed)
			}
		}
		for range 3 {
			send()
			time.Sleep(idleBroker / 2)
		}
		expect("used again within the time", 1, 0)
		time.Sleep(idleBroker)
		expect("idle", 1, 1)
		trouble = context.DeadlineExceeded
		send()
		expect("after an error", 2, 2)
		trouble = nil
		send()
		expect("anew", 3, 2)
		q.close()
		expect("closed", 3, 3)
		time.Sleep(2 * idleBroker)
		expect("closed once", 3, 3)
	})
}
