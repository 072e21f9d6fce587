package deliver

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"freshet"
)

// webhook posts the trigger data as it was frozen, signed after Standard Webhooks 1.0 (W7).
type webhook struct{ *poster }

func (w webhook) Do(ctx context.Context, d freshet.Delivery) freshet.Attempt {
	body, contentType := bodyOf(d)
	header := make(http.Header, 10+len(d.Do.Headers))
	for name, text := range d.Do.Headers {
		header.Set(name, text)
	}
	for _, field := range fieldsOf(d, contentType) {
		header.Set(field.name, field.text)
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	header.Set("Webhook-Timestamp", at)
	if signatures := sign([]string{d.Do.Secret, d.Do.PreviousSecret}, d.ID.String(), at, body); signatures != "" {
		header.Set("Webhook-Signature", signatures)
	}
	return w.post(ctx, d.Do.URL, header, body)
}

// field is a header of a delivery.
type field struct{ name, text string }

// fieldsOf are the headers that every delivery has, by webhook or by queue.
func fieldsOf(d freshet.Delivery, contentType string) []field {
	id := d.ID.String()
	return []field{
		{"Content-Type", contentType}, {"Webhook-Id", id}, {"Idempotency-Key", id},
		{"Freshet-Workflow", d.Workflow.String()}, {"Freshet-Attempt", strconv.Itoa(d.Attempts)},
	}
}

// sign returns a signature with each secret, separated by spaces; "" without a secret.
func sign(secrets []string, id, at string, body []byte) string {
	var signatures []string
	for _, secret := range secrets {
		key, err := freshet.SigningKey(secret)
		if err != nil {
			continue // there is none: what is stored was checked
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + at + "."))
		mac.Write(body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(signatures, " ")
}

// bodyOf returns what is sent and its content type: the bare data, or a CloudEvent around it.
func bodyOf(d freshet.Delivery) (body []byte, contentType string) {
	if d.Do.Format != freshet.CloudEvents {
		return d.Data, "application/json"
	}
	return freshet.MarshalData(cloudEvent{
		SpecVersion: "1.0", ID: d.ID.String(), Source: "/workflows/" + d.Workflow.String(), Type: "freshet." + string(d.Kind),
		Time: d.CreatedAt.UTC().Format(time.RFC3339Nano), DataContentType: "application/json", Data: d.Data,
	}), "application/cloudevents+json"
}

// cloudEvent is an event in structured mode (CloudEvents 1.0, JSON format).
type cloudEvent struct {
	SpecVersion     string          `json:"specversion"`
	ID              string          `json:"id"`
	Source          string          `json:"source"`
	Type            string          `json:"type"`
	Time            string          `json:"time"`
	DataContentType string          `json:"datacontenttype"`
	Data            json.RawMessage `json:"data"`
}
