package fetch

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/http/httpguts"
)

// maxHeader bounds the headers of an answer, in bytes.
const maxHeader = 128 << 10

// maxValidator bounds a stored validator; longer ones are dropped whole, since a part of one is none.
const maxValidator = 4 << 10

// validator returns a validator as it came, or "" for one that could not be stored or sent back.
func validator(v string) string {
	if len(v) > maxValidator || !utf8.ValidString(v) || !httpguts.ValidHeaderFieldValue(v) {
		return ""
	}
	return v
}

// maxRetryAfter is the longest pause that a server gets by asking.
const maxRetryAfter = 7 * 24 * time.Hour

// RetryAfter reads Retry-After, seconds or an HTTP date (RFC 9110 10.2.3). It is zero for what is not
// understood or past, and at most maxRetryAfter from now.
func RetryAfter(value string, now time.Time) time.Time {
	value = strings.TrimSpace(value)
	latest := now.Add(maxRetryAfter)
	var at time.Time
	if seconds, ok := deltaSeconds(value); ok {
		if seconds >= maxRetryAfter {
			return latest
		}
		at = now.Add(seconds)
	} else if date, err := http.ParseTime(value); err == nil {
		at = date
	}
	switch {
	case !at.After(now):
		return time.Time{}
	case at.After(latest):
		return latest
	}
	return at
}

// deltaSeconds reads a number of seconds; one too large for a Duration becomes the largest (RFC 9111 1.2.2).
func deltaSeconds(s string) (time.Duration, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n > math.MaxInt64/uint64(time.Second) {
		return math.MaxInt64, true
	}
	return time.Duration(n) * time.Second, true
}

// maxAge returns how long an answer stays fresh by Cache-Control: max-age, less the time it spent in
// caches on its way (Age), or 0 when it does not say or forbids keeping it (RFC 9111 4.2, 5.2.2).
func maxAge(header http.Header) time.Duration {
	var fresh time.Duration
	found := false
	for _, line := range header["Cache-Control"] {
		for directive := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "no-cache", "no-store":
				return 0
			case "max-age":
				d, ok := deltaSeconds(strings.Trim(strings.TrimSpace(value), `"`))
				if ok && !found { // of several the first counts
					fresh, found = d, true
				}
			}
		}
	}
	if age, ok := deltaSeconds(strings.TrimSpace(header.Get("Age"))); ok {
		fresh -= min(age, fresh)
	}
	return fresh
}
