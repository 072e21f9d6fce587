package deliver

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"
)

func parsed(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// stubRabbit speaks as much of AMQP 0-9-1 and of RabbitMQ's confirms as one publisher needs. It confirms what is
// published, but refuses the key "refused", sends back "unrouted" and knows no exchange "missing".
type stubRabbit struct {
	addr string
	got  chan published
}

type published struct {
	vhost, exchange, key string
	mandatory            bool
	properties, body     string
}

func rabbitServer(t *testing.T) *stubRabbit {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := &stubRabbit{addr: l.Addr().String(), got: make(chan published, 10)}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				(&rabbitConn{stub: s, r: bufio.NewReader(c), w: c}).serve()
			}()
		}
	}()
	return s
}

func (s *stubRabbit) published(t *testing.T) published {
	t.Helper()
	select {
	case p := <-s.got:
		return p
	case <-time.After(5 * time.Second):
		t.Fatal("nothing was published")
		return published{}
	}
}

type rabbitConn struct {
	stub  *stubRabbit
	r     *bufio.Reader
	w     io.Writer
	vhost string
	tag   uint64
	now   published // whose frames are coming
	left  uint64    // bytes of its body that are still to come
}

// method is the class and number of a method (AMQP 0-9-1, chapter 1 of the reference).
type method struct{ class, number uint16 }

var (
	connectionStart   = method{10, 10}
	connectionStartOk = method{10, 11}
	connectionTune    = method{10, 30}
	connectionTuneOk  = method{10, 31}
	connectionOpen    = method{10, 40}
	connectionOpenOk  = method{10, 41}
	connectionClose   = method{10, 50}
	connectionCloseOk = method{10, 51}
	channelOpen       = method{20, 10}
	channelOpenOk     = method{20, 11}
	channelClose      = method{20, 40}
	channelCloseOk    = method{20, 41}
	confirmSelect     = method{85, 10}
	confirmSelectOk   = method{85, 11}
	basicPublish      = method{60, 40}
	basicReturn       = method{60, 50}
	basicAck          = method{60, 80}
	basicNack         = method{60, 120}
)

const (
	frameMethod, frameHeader, frameBody = 1, 2, 3
	frameEnd                            = 0xCE
)

func (c *rabbitConn) serve() {
	protocol := make([]byte, 8)
	if _, err := io.ReadFull(c.r, protocol); err != nil || string(protocol) != "AMQP\x00\x00\x09\x01" {
		return
	}
	// Version 0.9, no server properties, mechanisms and locales as long strings.
	c.send(0, connectionStart, []byte{0, 9, 0, 0, 0, 0}, long("PLAIN"), long("en_US"))
	for {
		kind, channel, payload, err := c.frame()
		if err != nil || !c.handle(kind, channel, payload) {
			return
		}
	}
}

func (c *rabbitConn) frame() (kind byte, channel uint16, payload []byte, err error) {
	head := make([]byte, 7)
	if _, err = io.ReadFull(c.r, head); err != nil {
		return 0, 0, nil, err
	}
	payload = make([]byte, binary.BigEndian.Uint32(head[3:])+1)
	_, err = io.ReadFull(c.r, payload)
	return head[0], binary.BigEndian.Uint16(head[1:]), payload[:len(payload)-1], err
}

func (c *rabbitConn) handle(kind byte, channel uint16, payload []byte) (goOn bool) {
	switch kind {
	case frameHeader: // class, weight, size of the body, properties
		c.left = binary.BigEndian.Uint64(payload[4:])
		c.now.properties = string(payload[12:])
		return true
	case frameBody:
		c.now.body += string(payload)
		if c.left -= uint64(len(payload)); c.left == 0 {
			c.confirm(channel)
		}
		return true
	case frameMethod:
	default:
		return true // a heartbeat
	}
	m, args := method{binary.BigEndian.Uint16(payload), binary.BigEndian.Uint16(payload[2:])}, payload[4:]
	switch m {
	case connectionStartOk:
		if !bytes.Contains(args, []byte("\x00freshet\x00hunter22")) {
			c.send(0, connectionClose, short(403), brief("ACCESS_REFUSED - Login was refused"), short(0), short(0))
			return true
		}
		c.send(0, connectionTune, short(0), []byte{0, 1, 0, 0}, short(0))
	case connectionOpen:
		c.vhost, _ = text(args)
		c.send(0, connectionOpenOk, brief(""))
	case channelOpen:
		c.send(channel, channelOpenOk, long(""))
	case confirmSelect:
		c.send(channel, confirmSelectOk)
	case basicPublish:
		rest := args[2:]
		c.now = published{vhost: c.vhost}
		c.now.exchange, rest = text(rest)
		c.now.key, rest = text(rest)
		c.now.mandatory = rest[0]&1 != 0
	case channelClose:
		c.send(channel, channelCloseOk)
	case connectionClose:
		c.send(0, connectionCloseOk)
		return false
	}
	return true
}

// confirm answers what was published.
func (c *rabbitConn) confirm(channel uint16) {
	c.tag++
	tag := binary.BigEndian.AppendUint64(nil, c.tag)
	p := c.now
	switch {
	case p.exchange == "missing":
		c.send(channel, channelClose, short(404), brief("NOT_FOUND - no exchange 'missing'"), short(60), short(40))
	case p.key == "refused":
		c.send(channel, basicNack, tag, []byte{0})
	case p.key == "unrouted":
		c.send(channel, basicReturn, short(312), brief("NO_ROUTE"), brief(p.exchange), brief(p.key))
		header := append(append(short(60), short(0)...), binary.BigEndian.AppendUint64(nil, uint64(len(p.body)))...)
		c.write(frameHeader, channel, append(header, p.properties...))
		c.write(frameBody, channel, []byte(p.body))
		c.send(channel, basicAck, tag, []byte{0})
	default:
		c.stub.got <- p
		c.send(channel, basicAck, tag, []byte{0})
	}
}

func (c *rabbitConn) send(channel uint16, m method, args ...[]byte) {
	c.write(frameMethod, channel, append(append(short(m.class), short(m.number)...), bytes.Join(args, nil)...))
}

func (c *rabbitConn) write(kind byte, channel uint16, payload []byte) {
	frame := append([]byte{kind}, short(channel)...)
	frame = binary.BigEndian.AppendUint32(frame, uint32(len(payload)))
	c.w.Write(append(append(frame, payload...), frameEnd))
}

func short(n uint16) []byte                 { return binary.BigEndian.AppendUint16(nil, n) }
func brief(s string) []byte                 { return append([]byte{byte(len(s))}, s...) }
func long(s string) []byte                  { return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...) }
func text(b []byte) (s string, rest []byte) { return strings.Clone(string(b[1 : 1+b[0]])), b[1+b[0]:] }
