package fetch

import (
	"net/url"
	"strings"
)

// redacted stands where a secret was.
const redacted = "REDACTED"

// Redact returns an address as it may be logged: without userinfo and fragment, and with the values of
// query parameters that look secret replaced (S9). It never fails; what is no URL is treated alike.
func Redact(raw string) string {
	raw, _, _ = strings.Cut(raw, "#")
	base, query, asked := strings.Cut(raw, "?")
	base = withoutUserinfo(base)
	if !asked {
		return base
	}
	return base + "?" + redactQuery(query)
}

// withoutUserinfo drops everything up to the last @ of the authority. Where there are backslashes
// parsers disagree about its end, so the authority reaches as far as any of them thinks.
func withoutUserinfo(base string) string {
	start := 0
	if i := strings.IndexAny(base, ":/\\"); i >= 0 && base[i] == ':' && strings.IndexAny(base[i+1:], "/\\") == 0 {
		start = i + 1
	}
	for start < len(base) && (base[start] == '/' || base[start] == '\\') {
		start++
	}
	end := len(base)
	if i := strings.IndexByte(base[start:], '/'); i >= 0 {
		end = start + i
	}
	if at := strings.LastIndexByte(base[start:end], '@'); at > 0 {
		return base[:start] + base[start+at+1:]
	}
	return base
}

// redactQuery keeps the order and the spelling of everything that is not secret.
func redactQuery(query string) string {
	var out strings.Builder
	for query != "" {
		end := strings.IndexAny(query, "&;")
		pair, mark := query, ""
		if end >= 0 {
			pair, mark = query[:end], query[end:end+1]
		}
		query = query[len(pair)+len(mark):]
		name, value, _ := strings.Cut(pair, "=")
		if value != "" && secretName(name) {
			pair = name + "=" + redacted
		}
		out.WriteString(pair + mark)
	}
	return out.String()
}

// secretName reports whether a query parameter is likely to hold a secret. It would rather hide a
// harmless value than show a secret one.
func secretName(name string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	name = strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r == '[' || r == ']' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(name))
	switch name {
	case "pass", "pw", "pwd", "sid", "session", "jwt", "hmac", "code":
		return true
	}
	for _, part := range []string{"token", "secret", "passw", "credential", "sessionid", "signature"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	for _, end := range []string{"key", "auth", "sig", "pwd"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}
