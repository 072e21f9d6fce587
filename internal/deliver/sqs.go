package deliver

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"freshet/internal/fetch"
)

// sqsBroker sends to an Amazon SQS queue: sqs://[key:secret@]sqs.region.amazonaws.com/account/queue, with
// ?region= for another host and ?tls=false for a stand-in without TLS. Without a login in it the variables
// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN hold. A FIFO queue (its name ends with .fifo)
// drops a message whose deduplication id it took within five minutes, and keeps the order of each workflow.
type sqsBroker struct {
	client *sqs.Client
	http   *http.Client
	queue  string // its address
}

func dialSQS(_ context.Context, u *url.URL, guard fetch.Guard) (broker, error) {
	login, err := sqsLogin(u)
	if err != nil {
		return nil, err
	}
	region := sqsRegion(u)
	if region == "" {
		return nil, errors.New("the address does not say the region; add ?region= to it")
	}
	endpoint := url.URL{Scheme: "https", Host: u.Host}
	if u.Query().Get("tls") == "false" {
		endpoint.Scheme = "http"
	}
	b := &sqsBroker{queue: endpoint.String() + u.Path, http: client(guard)}
	b.client = sqs.New(sqs.Options{
		Region: region, BaseEndpoint: aws.String(endpoint.String()), HTTPClient: b.http,
		Credentials: login, Retryer: aws.NopRetryer{}, AppID: "freshet",
	})
	return b, nil
}

// sqsRegion is the region that an address names or lies in.
func sqsRegion(u *url.URL) string {
	labels := strings.Split(u.Hostname(), ".")
	if len(labels) >= 4 && labels[0] == "sqs" {
		return cmp.Or(u.Query().Get("region"), labels[1])
	}
	return u.Query().Get("region")
}

func sqsLogin(u *url.URL) (aws.CredentialsProvider, error) {
	login := aws.Credentials{
		AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: os.Getenv("AWS_SESSION_TOKEN"),
	}
	if u.User != nil {
		secret, _ := u.User.Password()
		login = aws.Credentials{AccessKeyID: u.User.Username(), SecretAccessKey: secret}
	}
	if login.AccessKeyID == "" || login.SecretAccessKey == "" {
		return nil, errors.New("there is no login: neither in the address nor in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return login, nil }), nil
}

func (b *sqsBroker) publish(ctx context.Context, m message) error {
	input := &sqs.SendMessageInput{
		QueueUrl: aws.String(b.queue), MessageBody: aws.String(string(m.body)),
		MessageAttributes: make(map[string]types.MessageAttributeValue, len(m.fields)),
	}
	for _, f := range m.fields {
		input.MessageAttributes[f.name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(f.text)}
	}
	if strings.HasSuffix(b.queue, ".fifo") {
		input.MessageGroupId, input.MessageDeduplicationId = aws.String(m.workflow), aws.String(m.id)
	}
	_, err := b.client.SendMessage(ctx, input)
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return errors.New(cmp.Or(api.ErrorMessage(), api.ErrorCode()))
	}
	return err
}

func (b *sqsBroker) close() { b.http.CloseIdleConnections() }
