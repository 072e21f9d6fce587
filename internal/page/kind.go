package page

import (
	"bytes"
	"mime"
	"net/http"
	"strings"

	"freshet"
)

// notPage says what a document is when it is plainly no page, by its first bytes and, where those say
// nothing, by the type that the server gave it.
func notPage(body []byte, contentType string) *freshet.Failure {
	declared, _, _ := mime.ParseMediaType(contentType)
	switch head := bytes.TrimLeft(body[:min(len(body), 1024)], "\ufeff \t\r\n"); {
	case len(bytes.TrimSpace(head)) == 0:
		return failure("no_text", "The page is empty.")
	case bytes.HasPrefix(head, []byte("%PDF-")):
		return failure("not_a_page", "This is a PDF, not a web page.")
	case isFeed(head):
		return failure("not_a_page", "This is a feed, not a web page. Add it with the type rss.")
	case head[0] == '{' || declared == "application/json" && head[0] != '<':
		return failure("not_a_page", "This is JSON, not a web page. The type http tells when it changes.")
	}
	sniffed, _, _ := strings.Cut(http.DetectContentType(body[:min(len(body), 512)]), ";")
	kind, _, _ := strings.Cut(sniffed, "/")
	switch kind {
	case "image", "audio", "video", "font":
		return failure("not_a_page", "This is "+article[kind]+" ("+sniffed+"), not a web page.")
	case "application":
		if archives[sniffed] {
			return failure("not_a_page", "This is an archive ("+sniffed+"), not a web page.")
		}
	}
	return nil
}

var (
	article  = map[string]string{"image": "an image", "audio": "a sound file", "video": "a video", "font": "a font"}
	archives = map[string]bool{
		"application/zip": true, "application/x-gzip": true, "application/x-rar-compressed": true, "application/wasm": true,
	}
)

// isFeed tells a feed by its root element.
func isFeed(head []byte) bool {
	if !bytes.HasPrefix(head, []byte("<")) {
		return false
	}
	head = bytes.ToLower(head)
	for _, root := range []string{"<rss", "<feed", "<rdf:rdf"} {
		at := bytes.Index(head, []byte(root))
		if at == 0 || at > 0 && !bytes.Contains(head[:at], []byte("<html")) && bytes.HasPrefix(head, []byte("<?xml")) {
			return true
		}
	}
	return false
}

// isPlain says whether a document is text without markup.
func isPlain(text []byte, contentType string) bool {
	declared, _, _ := mime.ParseMediaType(contentType)
	switch declared {
	case "text/plain", "text/markdown", "text/csv":
		return !strings.HasPrefix(http.DetectContentType(text[:min(len(text), 512)]), "text/html")
	}
	return false
}
