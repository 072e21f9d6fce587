package fetch

import (
	"crypto/tls"
	"errors"
)

// NoAnswer says in a sentence why a host gave no answer: its address is refused, it is not found or not
// reached, TLS failed, it hung up. It is "" for an error of another kind.
func NoAnswer(err error, host string) string {
	var refused *RefusedAddress
	switch {
	case errors.As(err, &refused):
		return refusedFailure(refused, host).Sentence
	case isTLS(err):
		return tlsSentence(err, host)
	case isDNS(err), isDial(err):
		return connectFailure(err, host).Sentence
	case closedEarly(err):
		return answerFailure(err, host).Sentence
	}
	return ""
}

// isTLS recognises what crypto/tls says before there is a secure connection.
func isTLS(err error) bool {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	return errors.As(err, &certificate) || errors.As(err, &record) || errors.As(err, &alert)
}
