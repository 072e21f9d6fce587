package feed

import (
	"bytes"
	"strings"
)

// cleanURL makes an address that came from elsewhere fit to be part of a result: valid UTF-8 without control characters.
func cleanURL(s string) string {
	s = strings.ToValidUTF8(s, "")
	if isClean([]byte(s)) {
		return s
	}
	return string(appendClean(nil, []byte(s)))
}

// resolve appends to dst the absolute form of the reference ref (RFC 3986, section 5). Without a
// base that has a hierarchy, and for addresses that would run a script, ref stays as it is or vanishes.
func resolve(dst []byte, base string, ref []byte) []byte {
	ref = trimReference(ref)
	n := schemeLength(ref)
	if n > 0 && isActive(ref[:n]) {
		return dst
	}
	if n > 0 && bytes.HasPrefix(ref[n:], []byte("://")) {
		return appendAbsolute(dst, ref, n)
	}
	origin, path := splitBase(base)
	if n > 0 && !(len(origin) > n && strings.EqualFold(origin[:n+1], string(ref[:n+1])) && !bytes.HasPrefix(ref[n+1:], []byte("/"))) {
		return appendAbsolute(dst, ref, n)
	}
	if n > 0 {
		ref = ref[n+1:]
	}
	if len(ref) == 0 || origin == "" {
		return append(dst, ref...)
	}
	return appendRelative(dst, origin, path, ref)
}

// appendRelative resolves a reference without a scheme against the two parts of a base.
func appendRelative(dst []byte, origin, path string, ref []byte) []byte {
	if bytes.HasPrefix(ref, []byte("//")) {
		dst = append(dst, origin[:strings.IndexByte(origin, ':')+1]...)
		return append(dst, ref...)
	}
	dst = append(dst, origin...)
	root := len(dst)
	switch ref[0] {
	case '/':
		return appendPath(dst, root, ref)
	case '?':
		dst = append(dst, cutAt(path, "?#")...)
	case '#':
		dst = append(dst, cutAt(path, "#")...)
	default:
		directory := cutAt(path, "?#")
		directory = directory[:strings.LastIndexByte(directory, '/')+1]
		if directory == "" {
			directory = "/"
		}
		dst = append(dst, directory...)
		return appendPath(dst, root, ref)
	}
	return append(dst, ref...)
}

// appendPath appends a reference that has a path, and removes the dot segments of what follows root.
func appendPath(dst []byte, root int, ref []byte) []byte {
	end := len(ref)
	if i := bytes.IndexAny(ref, "?#"); i >= 0 {
		end = i
	}
	dst = append(dst, ref[:end]...)
	if bytes.Contains(dst[root:], []byte("/.")) {
		dst = dst[:root+removeDots(dst[root:])]
	}
	return append(dst, ref[end:]...)
}

// removeDots removes "." and ".." segments from a path in place (RFC 3986, 5.2.4) and returns its new length.
func removeDots(path []byte) int {
	out := 0
	for i := 0; i < len(path); {
		j := i + 1
		for j < len(path) && path[j] != '/' {
			j++
		}
		last := j == len(path)
		switch string(path[i:j]) {
		case "/..":
			out = max(0, bytes.LastIndexByte(path[:out], '/'))
			if last {
				path[out] = '/'
				out++
			}
		case "/.":
			if last {
				path[out] = '/'
				out++
			}
		default:
			out += copy(path[out:], path[i:j])
		}
		i = j
	}
	return out
}

// appendAbsolute appends an address whose scheme has n bytes, without the surplus slashes of "http:///host".
func appendAbsolute(dst, ref []byte, n int) []byte {
	rest := ref[n+1:]
	if bytes.HasPrefix(rest, []byte("///")) && !bytes.EqualFold(ref[:n], []byte("file")) {
		dst = append(dst, ref[:n+3]...)
		return append(dst, bytes.TrimLeft(rest, "/")...)
	}
	return append(dst, ref...)
}

// trimReference removes what carries nothing: an empty query or fragment, white space around, and control characters
// inside.
func trimReference(ref []byte) []byte {
	for len(ref) > 0 && ref[0] <= ' ' {
		ref = ref[1:]
	}
	for len(ref) > 0 && ref[len(ref)-1] <= ' ' {
		ref = ref[:len(ref)-1]
	}
	if len(ref) > 1 {
		ref = bytes.TrimSuffix(bytes.TrimSuffix(ref, []byte("#")), []byte("?"))
	}
	for i, c := range ref {
		if isControlByte(c) {
			return appendWithoutControls(append([]byte(nil), ref[:i]...), ref[i:])
		}
	}
	return ref
}

func appendWithoutControls(dst, ref []byte) []byte {
	for _, c := range ref {
		if !isControlByte(c) {
			dst = append(dst, c)
		}
	}
	return dst
}

func isControlByte(c byte) bool { return c < ' ' || c == 0x7f }

// schemeLength is the length of the scheme that an address begins with, 0 when it has none.
func schemeLength(ref []byte) int {
	for i, c := range ref {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return i
		default:
			return 0
		}
	}
	return 0
}

// isActive reports whether following an address of this scheme would run what a feed wrote (SPEC.md P2).
func isActive(scheme []byte) bool {
	switch len(scheme) {
	case 4:
		return bytes.EqualFold(scheme, []byte("data"))
	case 8:
		return bytes.EqualFold(scheme, []byte("vbscript"))
	case 10:
		return bytes.EqualFold(scheme, []byte("javascript"))
	}
	return false
}

// splitBase cuts an address into "scheme://authority" and the rest; both are empty when it has no authority.
func splitBase(base string) (origin, path string) {
	i := strings.Index(base, "://")
	if i <= 0 {
		return "", ""
	}
	if j := strings.IndexAny(base[i+3:], "/?#"); j >= 0 {
		return base[:i+3+j], base[i+3+j:]
	}
	return base, ""
}

// cutAt returns s up to the first of the bytes in stops.
func cutAt(s, stops string) string {
	if i := strings.IndexAny(s, stops); i >= 0 {
		return s[:i]
	}
	return s
}

// isWeb reports whether an address begins with http: or https:.
func isWeb(b []byte) bool {
	n := schemeLength(b)
	return n >= 4 && n <= 5 && bytes.EqualFold(b[:n], []byte("https")[:n])
}
