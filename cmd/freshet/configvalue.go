package main

import (
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"freshet/internal/fetch"
)

// The functions here read a setting's text. Their errors say what the setting takes.

const day = 24 * time.Hour

func anyText(s string) (string, error) { return s, nil }

func database(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return "", errors.New("an address such as postgres://user:password@host/database (without one, SQLite lies in the data folder)")
	}
	return s, nil
}

func webAddress(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return "", errors.New("an address that begins with http:// or https://, without a query")
	}
	return s, nil
}

func discordWebhook(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.Trim(u.Path, "/") == "" {
		return "", errors.New("the address of a Discord webhook, https://discord.com/api/webhooks/...")
	}
	return s, nil
}

func notifyAddresses(s string) ([]string, error) {
	all, _ := list(s)
	for _, address := range all {
		if scheme, rest, ok := strings.Cut(address, "://"); !ok || scheme == "" || rest == "" {
			return nil, errors.New("notification addresses, comma separated, such as ntfy://ntfy.sh/topic")
		}
	}
	return all, nil
}

// contact is an address that the User-Agent may carry in its comment (RFC 9110 section 5.6.5).
func contact(s string) (string, error) {
	if _, err := mail.ParseAddress(s); err == nil && printable(s) {
		return s, nil
	}
	if _, err := webAddress(s); err != nil || !printable(s) {
		return "", errors.New("a page that begins with http:// or https://, or a mail address, in plain characters")
	}
	return s, nil
}

// printable says whether s is of visible ASCII characters that need no escape in a comment.
func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`()\<>`, r) })
}

func hostPort(s string) (string, error) {
	_, port, err := net.SplitHostPort(s)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return "", errors.New("an address and a port, such as 127.0.0.1:8080 or :8080")
	}
	return s, nil
}

func list(s string) ([]string, error) {
	var all []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all, nil
}

func boolean(s string) (bool, error) {
	switch s {
	case "true", "1":
		return true, nil
	case "false", "0":
		return false, nil
	}
	return false, errors.New("true or false")
}

func within(least, most time.Duration) func(string) (time.Duration, error) {
	return func(s string) (time.Duration, error) {
		d, err := duration(s)
		if err != nil || d < least || d > most {
			return 0, fmt.Errorf("a duration such as 30s, 15m, 24h or 30d, from %s to %s", short(least), short(most))
		}
		return d, nil
	}
}

// duration reads Go's durations and whole or broken days ("30d").
func duration(s string) (time.Duration, error) {
	if n, ok := strings.CutSuffix(s, "d"); ok {
		days, err := strconv.ParseFloat(n, 64)
		if err != nil || !(days >= 0 && days <= 36500) {
			return 0, errors.New("no number of days")
		}
		return time.Duration(days * float64(day)), nil
	}
	return time.ParseDuration(s)
}

// short writes a duration the way it is configured.
func short(d time.Duration) string {
	switch {
	case d >= day && d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	default:
		return d.String()
	}
}

func hours(s string) (time.Duration, error) {
	h, err := strconv.ParseFloat(s, 64)
	if err != nil || !(h > 0 && h <= 8784) {
		return 0, errors.New("a number of hours, more than 0 and at most 8784 (a year)")
	}
	return time.Duration(h * float64(time.Hour)), nil
}

func between(least, most int) func(string) (int, error) {
	return func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < least || n > most {
			return 0, fmt.Errorf("a whole number from %d to %d", least, most)
		}
		return n, nil
	}
}

func oneOf[T ~string](allowed ...T) func(string) (T, error) {
	return func(s string) (T, error) {
		if slices.Contains(allowed, T(s)) {
			return T(s), nil
		}
		names := make([]string, len(allowed))
		for i, a := range allowed {
			names[i] = string(a)
		}
		last := len(names) - 1
		return "", errors.New(strings.Join(names[:last], ", ") + " or " + names[last])
	}
}

func networks(s string) ([]netip.Prefix, error) {
	parts, _ := list(s)
	all := make([]netip.Prefix, len(parts))
	for i, part := range parts {
		p, err := fetch.ParseNetwork(part)
		if err != nil {
			return nil, fmt.Errorf("networks such as 127.0.0.0/8,fd00::/8 (%q is none)", part)
		}
		all[i] = p
	}
	return all, nil
}

func hostName(s string) (string, error) {
	if s == "" || strings.ContainsAny(s, "/:@ ") && net.ParseIP(s) == nil {
		return "", errors.New("a host name")
	}
	return strings.ToLower(s), nil
}

// delays reads KEY=SECONDS, comma separated.
func delays[K ~string](key func(string) (K, error)) func(string) (map[K]time.Duration, error) {
	return func(s string) (map[K]time.Duration, error) {
		parts, _ := list(s)
		all := make(map[K]time.Duration, len(parts))
		for _, part := range parts {
			name, text, _ := strings.Cut(part, "=")
			k, err := key(strings.TrimSpace(name))
			if err != nil {
				return nil, fmt.Errorf("NAME=SECONDS, comma separated; %q is not %w", name, err)
			}
			seconds, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil || !(seconds >= 0 && seconds <= 3600) {
				return nil, fmt.Errorf("NAME=SECONDS, comma separated, from 0 to 3600 seconds (%q is neither)", part)
			}
			all[k] = time.Duration(seconds * float64(time.Second))
		}
		return all, nil
	}
}
