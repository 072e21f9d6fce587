package fetch

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
)

func TestNoAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string // a part of the sentence
	}{
		"refused address": {&RefusedAddress{Addr: netip.MustParseAddr("10.0.0.1"), Kind: "private", Setting: "FRESHET_DELIVER_ALLOW"}, "FRESHET_DELIVER_ALLOW"},
		"no such host":    {&net.DNSError{Name: "a.example", IsNotFound: true}, "There is no host named a.example."},
		"refuses":         {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, "a.example refuses connections."},
		"certificate":     {&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, "signed by nobody"},
		"not https":       {tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, "does not speak https"},
		"hung up":         {io.EOF, "closed the connection"},
		"reset":           {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, "closed the connection"},
		"another kind":    {errors.New("odd"), ""},
	} {
		got := NoAnswer(fmt.Errorf("send: %w", c.err), "a.example")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q in it", name, got, c.want)
		}
	}
}
