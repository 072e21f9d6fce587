package fetch

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"
)

// Guard refuses connections to addresses that are not public, unless their network is allowed (F5).
// It looks when a socket is about to connect, after names are resolved, so that redirects, rebinding
// and odd spellings of an address are all covered.
type Guard struct {
	// Allow lists the networks that may be reached though they are not public.
	Allow []netip.Prefix
	// Setting is what the user changes to allow a network, FRESHET_FETCH_ALLOW or FRESHET_DELIVER_ALLOW.
	Setting string
}

// RefusedAddress is the error of a connection that Guard did not let happen.
type RefusedAddress struct {
	Addr    netip.Addr
	Kind    string // "loopback", "private", ...
	Setting string
}

func (e *RefusedAddress) Error() string {
	return fmt.Sprintf("refuse %s: a %s address, not a public one (see %s)", e.Addr, e.Kind, e.Setting)
}

// Dialer returns a dialer whose every connection passes the guard.
func (g Guard) Dialer(timeout time.Duration) *net.Dialer {
	// Connections live for one turn; probing them would cost system calls and find nothing.
	return &net.Dialer{Timeout: timeout, KeepAlive: -1, ControlContext: g.Control}
}

// Control has the signature of net.Dialer.ControlContext.
func (g Guard) Control(_ context.Context, network, address string, _ syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return fmt.Errorf("refuse a connection over %s", network)
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("refuse %q: %w", address, err)
	}
	return g.Check(to.Addr())
}

// Check returns a *RefusedAddress for an address that is neither public nor allowed.
func (g Guard) Check(addr netip.Addr) error {
	addr = addr.WithZone("").Unmap()
	for _, p := range g.Allow {
		if p.Contains(addr) {
			return nil
		}
	}
	if kind := special(addr); kind != "" {
		return &RefusedAddress{Addr: addr, Kind: kind, Setting: g.Setting}
	}
	return nil
}

// special names what an address, unmapped and without zone, is when it is not a public one, "" when it
// is. An address that carries an IPv4 address inside is as public as that one.
func special(addr netip.Addr) string {
	for _, n := range specialNetworks {
		if n.prefix.Contains(addr) {
			return n.kind
		}
	}
	if addr.Is4() {
		return ""
	}
	if v4, ok := embedded(addr); ok {
		return special(v4)
	}
	if !globalUnicast.Contains(addr) {
		return "reserved"
	}
	return ""
}

var (
	// globalUnicast is the only part of IPv6 that IANA gives out to the public.
	globalUnicast = netip.MustParsePrefix("2000::/3")

	nat64     = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour = netip.MustParsePrefix("2002::/16")
)

// embedded returns the IPv4 address that an IPv6 address stands for: NAT64 (RFC 6052), by which hosts
// without IPv4 reach the rest, and 6to4 (RFC 3056).
func embedded(addr netip.Addr) (v4 netip.Addr, ok bool) {
	b := addr.As16()
	switch {
	case nat64.Contains(addr):
		return netip.AddrFrom4([4]byte(b[12:16])), true
	case sixToFour.Contains(addr):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return netip.Addr{}, false
}

type network struct {
	prefix netip.Prefix
	kind   string
}

// specialNetworks follows the IANA registries of special-purpose IPv4 and IPv6 addresses (RFC 6890 and
// its successors) and of multicast. Metadata services come first: they lie within wider networks.
var specialNetworks = []network{
	{netip.MustParsePrefix("169.254.169.254/32"), "cloud metadata"},
	{netip.MustParsePrefix("169.254.170.2/32"), "cloud metadata"},
	{netip.MustParsePrefix("100.100.100.200/32"), "cloud metadata"},
	{netip.MustParsePrefix("168.63.129.16/32"), "cloud metadata"}, // Azure's, the one that is not in a registry
	{netip.MustParsePrefix("fd00:ec2::/32"), "cloud metadata"},

	{netip.MustParsePrefix("0.0.0.0/8"), "local"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private"},
	{netip.MustParsePrefix("100.64.0.0/10"), "shared (carrier-grade NAT)"},
	{netip.MustParsePrefix("127.0.0.0/8"), "loopback"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved"},
	{netip.MustParsePrefix("192.0.2.0/24"), "documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "reserved"},
	{netip.MustParsePrefix("192.168.0.0/16"), "private"},
	{netip.MustParsePrefix("198.18.0.0/15"), "benchmarking"},
	{netip.MustParsePrefix("198.51.100.0/24"), "documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("255.255.255.255/32"), "broadcast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},

	{netip.MustParsePrefix("::/128"), "local"},
	{netip.MustParsePrefix("::1/128"), "loopback"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "private"},
	{netip.MustParsePrefix("100::/64"), "reserved"},
	{netip.MustParsePrefix("2001::/32"), "tunnel (Teredo)"},
	{netip.MustParsePrefix("2001:2::/48"), "benchmarking"},
	{netip.MustParsePrefix("2001::/23"), "reserved"},
	{netip.MustParsePrefix("2001:db8::/32"), "documentation"},
	{netip.MustParsePrefix("3fff::/20"), "documentation"},
	{netip.MustParsePrefix("5f00::/16"), "reserved"},
	{netip.MustParsePrefix("fc00::/7"), "private"},
	{netip.MustParsePrefix("fe80::/10"), "link-local"},
	{netip.MustParsePrefix("fec0::/10"), "private"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
}

// ParseNetwork reads a network such as 10.0.0.0/8 or fd00::/8.
func ParseNetwork(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return netip.Prefix{}, err
	}
	// Addresses are unmapped before they are compared, so a mapped network is too.
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked(), nil
}
