package freshet

import (
	"crypto/sha256"
	"encoding/binary"
	"regexp"
	"strings"
	"time"
)

// Post is one entry as one source gave it (E1). Texts are plain text.
type Post struct {
	GUID, URL, Title, Author string
	Text                     string // content, else description (E1)
	Image                    string // thumbnail address, "" for none
	Published, Updated       time.Time
	Enclosures               []Enclosure

	Keys Keys        // set by Identify
	Hash ContentHash // set by Identify
}

// Enclosure is a file that a post points to.
type Enclosure struct {
	URL    string `json:"url"`
	Type   string `json:"type,omitempty"`
	Length int64  `json:"length,omitempty"`
}

// ContentHash is the SHA-256 of a post's content (E7).
type ContentHash [sha256.Size]byte

// Key is 16 bytes of a SHA-256 that stand for an identity (D1).
type Key [16]byte

// Keys are the identities of a post (D1). Where GUID and URL are both zero, Own is what is left.
type Keys struct {
	GUID Key // of a guid that counts; zero when there is none
	URL  Key // of the canonical URL; zero when there is none
	Own  Key // of source, title, dates and content: merges with nothing but itself
}

// Canonical is the key that names the post: guid, else URL, else its own (D1).
func (k Keys) Canonical() Key {
	switch {
	case k.GUID != Key{}:
		return k.GUID
	case k.URL != Key{}:
		return k.URL
	default:
		return k.Own
	}
}

// Identify sets keys and content hash of all posts of one document, which belongs to a source on
// host (D1, E7). It needs the document whole: a guid that the document gives to posts with
// different links counts only together with the link.
func Identify(posts []Post, source ID, host string) {
	ambiguous := ambiguousGUIDs(posts)
	for i := range posts {
		p := &posts[i]
		p.Hash = p.contentHash()
		p.Keys = Keys{}
		guid := strings.TrimSpace(p.GUID)
		link := CanonicalURL(p.URL)
		if guid != "" {
			known := ambiguous[guid]
			guid = identityOf(guid, link)
			scope := ""
			if !globallyUnique(guid) {
				scope = host
			}
			if known {
				scope += "\x00" + link
			}
			p.Keys.GUID = hashKey("g", scope, guid)
		}
		if link != "" {
			p.Keys.URL = hashKey("u", link)
		}
		if p.Keys == (Keys{}) {
			p.Keys.Own = hashKey("o", source.String(), p.Title, p.Published.UTC().Format(time.RFC3339),
				p.Updated.UTC().Format(time.RFC3339), string(p.Hash[:]))
		}
	}
}

// ambiguousGUIDs returns the guids that the document gives to posts with different links.
func ambiguousGUIDs(posts []Post) map[string]bool {
	links := make(map[string]string, len(posts))
	var ambiguous map[string]bool
	for _, p := range posts {
		guid := strings.TrimSpace(p.GUID)
		first, seen := links[guid]
		switch {
		case guid == "":
		case !seen:
			links[guid] = p.URL
		case first != p.URL && CanonicalURL(first) != CanonicalURL(p.URL):
			if ambiguous == nil {
				ambiguous = map[string]bool{}
			}
			ambiguous[guid] = true
		}
	}
	return ambiguous
}

var uuid = regexp.MustCompile(`^(?i:\{?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}?)$`)

// globallyUnique says whether a guid counts across feeds by its form: a URI with an authority or a
// registered scheme, a tag, a UUID (D1). A bare number or word counts only within its host.
func globallyUnique(guid string) bool {
	scheme, rest, ok := strings.Cut(guid, ":")
	if ok && rest != "" {
		switch strings.ToLower(scheme) {
		case "tag", "urn", "doi", "info", "at", "oai":
			return true
		case "http", "https", "ftp":
			return strings.HasPrefix(rest, "//") && len(rest) > 2
		}
	}
	return len(guid) >= 36 && uuid.MatchString(guid)
}

// contentHash is SHA-256 over the plain body; when that is blank, over title and URL, so that
// link-only feeds keep all their posts (E7).
func (p *Post) contentHash() ContentHash {
	if strings.TrimSpace(p.Text) != "" {
		return sha256.Sum256([]byte(p.Text))
	}
	return sha256.Sum256([]byte(p.Title + "\n" + p.URL))
}

func hashKey(kind string, parts ...string) Key {
	n := len(kind)
	for _, part := range parts {
		n += len(part) + 1
	}
	b := append(make([]byte, 0, n), kind...)
	for _, part := range parts {
		b = append(append(b, 0), part...)
	}
	sum := sha256.Sum256(b)
	return Key(sum[:16])
}

// prefix shortens a hash to what a window keeps of it.
func prefix(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }
