package fetch

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"freshet"
)

// F5: which addresses are public.
func TestGuardCheck(t *testing.T) {
	public := []string{
		"93.184.216.34", "8.8.8.8", "1.1.1.1", "100.63.255.255", "100.128.0.0", "172.15.0.1", "172.32.0.1",
		"192.0.1.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "11.0.0.0", "169.253.0.1",
		"2606:2800:220:1:248:1893:25c8:1946", "2001:4860:4860::8888", "2a00:1450::1",
		"::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1",
	}
	for _, s := range public {
		if err := (Guard{}).Check(netip.MustParseAddr(s)); err != nil {
			t.Errorf("%s is refused: %v", s, err)
		}
	}
	refused := map[string]string{
		"127.0.0.1": "loopback", "127.255.255.254": "loopback", "::1": "loopback", "::ffff:127.0.0.1": "loopback",
		"0.0.0.0": "local", "0.1.2.3": "local", "::": "local",
		"10.0.0.1": "private", "172.16.0.1": "private", "172.31.255.255": "private", "192.168.1.1": "private",
		"::ffff:192.168.1.1": "private", "fc00::1": "private", "fdff::1": "private", "fec0::1": "private",
		"100.64.0.1": "shared", "100.127.255.255": "shared",
		"169.254.1.1": "link-local", "fe80::1": "link-local", "fe80::1%eth0": "link-local",
		"169.254.169.254": "metadata", "::ffff:169.254.169.254": "metadata", "fd00:ec2::254": "metadata",
		"168.63.129.16": "metadata", "64:ff9b::a9fe:a9fe": "metadata", "2002:a9fe:a9fe::1": "metadata",
		"224.0.0.1": "multicast", "239.255.255.250": "multicast", "ff02::1": "multicast",
		"255.255.255.255": "broadcast", "240.0.0.1": "reserved",
		"192.0.2.1": "documentation", "198.51.100.7": "documentation", "203.0.113.9": "documentation",
		"2001:db8::1": "documentation", "3fff::1": "documentation",
		"198.18.0.1": "benchmarking", "2001:2::1": "benchmarking", "192.0.0.1": "reserved",
		"64:ff9b::7f00:1": "loopback", "64:ff9b::a00:1": "private", "64:ff9b:1::808:808": "private",
		"2002:7f00:1::": "loopback", "2001:0:4136:e378:8000:63bf:3fff:fdd2": "Teredo", "2001:10::1": "reserved",
		"::127.0.0.1": "reserved", "::8.8.8.8": "reserved", "100::1": "reserved", "5f00::1": "reserved", "4000::1": "reserved",
	}
	for s, kind := range refused {
		err := Guard{Setting: "FRESHET_FETCH_ALLOW"}.Check(netip.MustParseAddr(s))
		var r *RefusedAddress
		if !errors.As(err, &r) || !strings.Contains(r.Kind, kind) || r.Setting != "FRESHET_FETCH_ALLOW" {
			t.Errorf("%s: got %v, want it refused as %s", s, err, kind)
		}
	}
}

func TestGuardAllow(t *testing.T) {
	var g Guard
	for _, s := range []string{"127.0.0.0/8", "10.1.0.0/16", "fe80::/10", "192.168.7.7/32", "::ffff:172.16.0.0/108"} {
		p, err := ParseNetwork(s)
		if err != nil {
			t.Fatal(err)
		}
		g.Allow = append(g.Allow, p)
	}
	for s, want := range map[string]bool{
		"127.0.0.1": true, "::ffff:127.0.0.1": true, "10.1.2.3": true, "10.2.0.1": false,
		"fe80::1%eth0": true, "192.168.7.7": true, "192.168.7.8": false, "172.16.5.5": true, "172.32.0.1": true, "172.48.0.1": true,
		// An allowed IPv4 network does not open the tunnels to it.
		"64:ff9b::7f00:1": false, "2002:7f00:1::": false, "::1": false,
	} {
		if got := g.Check(netip.MustParseAddr(s)) == nil; got != want {
			t.Errorf("%s: allowed %v, want %v", s, got, want)
		}
	}
}

func TestParseNetworkErrors(t *testing.T) {
	for _, s := range []string{"localhost", "10.0.0.0/33", "10.0.0.0/8;127.0.0.0/8", "10.0.0", "::/129", "*", " ", "10.0.0.1"} {
		if got, err := ParseNetwork(s); err == nil {
			t.Errorf("%q gives %v, want an error", s, got)
		}
	}
}

// The hook sees what is about to be connected to, with port and zone.
func TestGuardControl(t *testing.T) {
	for _, test := range []struct {
		network, address string
		ok               bool
	}{
		{"tcp4", "8.8.8.8:80", true},
		{"tcp6", "[2606:2800:220:1::1]:443", true},
		{"tcp4", "127.0.0.1:80", false},
		{"tcp6", "[::ffff:10.0.0.1]:80", false},
		{"tcp6", "[fe80::1%lo]:80", false},
		{"udp4", "8.8.8.8:53", false},
		{"tcp4", "8.8.8.8", false},
		{"unix", "/run/docker.sock", false},
	} {
		err := Guard{}.Control(context.Background(), test.network, test.address, nil)
		if (err == nil) != test.ok {
			t.Errorf("%s %s: %v", test.network, test.address, err)
		}
	}
}

// F5: every spelling of loopback that reaches a socket is refused there, and the failure names the setting.
func TestFetchRefusesLoopback(t *testing.T) {
	client := New(Settings{})
	for _, url := range []string{
		"http://127.0.0.1:1/", "http://[::1]:1/", "http://[::ffff:127.0.0.1]:1/", "http://[::ffff:7f00:1]:1/",
		"http://１２７.0.0.1:1/", "http://0.0.0.0:1/", "http://localhost:1/", "http://169.254.169.254/latest/meta-data/",
	} {
		_, err := client.Get(t.Context(), Request{URL: url})
		var f *freshet.Failure
		if !errors.As(err, &f) {
			t.Fatalf("%s: %v is no failure", url, err)
		}
		if f.Code != "refused_address" || !strings.Contains(f.Sentence, "FRESHET_FETCH_ALLOW") || f.Unreached {
			t.Errorf("%s: %+v", url, f)
		}
	}
}
