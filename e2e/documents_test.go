package e2e

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// document is one of the conformance data's.
type document struct {
	Path        string
	ContentType string `json:"content_type"`
	entries     int    // that retention leaves
}

// Thousands of real, odd and broken documents, subscribed to at once: none brings the program down;
// each feed either has its items or says in a sentence what is wrong (F6, P4).
func TestRealDocuments(t *testing.T) {
	documents := conformance(t)
	hosts := serveDocuments(t, documents, 40)
	s := serve(t, "FRESHET_DATA="+t.TempDir(), "FRESHET_RETENTION=876000h")
	importDocuments(t, s, hosts)
	ended := s.finish(t, s.refresh(t).ID)
	if ended.Done != len(documents) {
		t.Errorf("%d of %d documents were polled", ended.Done, len(documents))
	}

	var list struct {
		Feeds []struct {
			ID, URL       string
			LastError     *string `json:"last_error"`
			LastSuccessAt *string `json:"last_success_at"`
		}
	}
	must(t, get(s.url+"/api/feeds", &list))
	read := 0
	for _, feed := range list.Feeds {
		d := documents[feed.URL[strings.LastIndexByte(feed.URL, '/')+1:]]
		switch {
		case feed.LastSuccessAt != nil:
			read++
			if d.entries > 0 && count(t, s, feed.ID) == 0 {
				t.Errorf("%s: read, but none of its %d entries is in the river", d.Path, d.entries)
			}
		case feed.LastError == nil || !strings.HasSuffix(*feed.LastError, "."):
			t.Errorf("%s: neither read nor explained", d.Path)
		case d.entries > 0:
			t.Errorf("%s has %d entries, but: %s", d.Path, d.entries, *feed.LastError)
		}
	}
	t.Logf("%d documents: %d read, %d explained, %d items", len(list.Feeds), read, len(list.Feeds)-read, ended.NewItems)
}

// conformance reads the list of documents by a name that is safe in an address.
func conformance(t *testing.T) map[string]document {
	t.Helper()
	root := filepath.Join("..", "..", "shared", "conformance", "feeds")
	manifest, err := os.ReadFile(filepath.Join(root, "manifest.json"))
	if err != nil {
		t.Skip("SKIPPED: the conformance documents are not beside the repository")
	}
	var all map[string]document
	must(t, json.Unmarshal(manifest, &all))
	golden, err := os.ReadFile(filepath.Join(root, "goldens.json"))
	must(t, err)
	var goldens map[string]struct {
		Entries []struct {
			PublishedAt *string `json:"published_at"`
		}
	}
	must(t, json.Unmarshal(golden, &goldens))
	named := map[string]document{}
	for path, d := range all {
		d.Path = filepath.Join(root, path)
		for _, e := range goldens[path].Entries {
			if e.PublishedAt == nil || *e.PublishedAt > "1970" { // older than any retention
				d.entries++
			}
		}
		named[fmt.Sprintf("d%04d", len(named))] = d
	}
	return named
}

// serveDocuments serves the documents from several loopback addresses and returns each one's address.
func serveDocuments(t *testing.T, documents map[string]document, hosts int) []string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{name}", func(w http.ResponseWriter, r *http.Request) {
		d := documents[r.PathValue("name")]
		body, err := os.ReadFile(d.Path)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header()["Content-Type"] = nil
		if d.ContentType != "" {
			w.Header().Set("Content-Type", d.ContentType)
		}
		w.Write(body)
	})
	var bases, addresses []string
	for i := range hosts {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.7.%d:0", i+1))
		must(t, err)
		server := &http.Server{Handler: mux}
		go server.Serve(l)
		t.Cleanup(func() { server.Close() })
		bases = append(bases, "http://"+l.Addr().String()+"/")
	}
	for name := range documents {
		addresses = append(addresses, name)
	}
	slices.Sort(addresses)
	for i, name := range addresses {
		addresses[i] = bases[i%hosts] + name
	}
	return addresses
}

func importDocuments(t *testing.T, s server, addresses []string) {
	t.Helper()
	type outline struct {
		Type   string `xml:"type,attr"`
		XMLURL string `xml:"xmlUrl,attr"`
	}
	list := struct {
		XMLName  xml.Name  `xml:"opml"`
		Version  string    `xml:"version,attr"`
		Outlines []outline `xml:"body>outline"`
	}{Version: "2.0"}
	for _, address := range addresses {
		list.Outlines = append(list.Outlines, outline{"rss", address})
	}
	text, err := xml.Marshal(list)
	must(t, err)
	must(t, post(s.url+"/api/opml", "text/x-opml", strings.NewReader(string(text)), nil))
}

func count(t *testing.T, s server, feed string) int {
	t.Helper()
	var page struct{ Items []item }
	must(t, get(s.url+"/api/items?limit=1&feed_ids="+feed, &page))
	return len(page.Items)
}
