package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// E2, E3: a page and a file are added, read, changed and shown with what changed.
func TestWebsiteSources(t *testing.T) {
	instance(t)
	var price atomic.Pointer[string]
	set := func(s string) { price.Store(&s) }
	set("5 €")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write([]byte(`<!doctype html><title>Tariff</title><nav>Home</nav><div class="prices"><p>A ticket costs ` + *price.Load() +
			`.</p><p>Children pay half.</p><p>Updated by ` + *price.Load() + `</p></div><p class="ad">Buy now!</p>`))
	}))
	t.Cleanup(server.Close)
	type result struct {
		Sources []struct {
			URL, Status string
			New         int
			Error       *string
		}
	}
	ingest := func(want map[string]int) {
		t.Helper()
		var r result
		goodJSON(t, &r, "ingest")
		for _, s := range r.Sources {
			if s.Status != "ok" || s.New != want[strings.TrimPrefix(s.URL, server.URL)] {
				t.Errorf("%s: %s, %d new, want %d", s.URL, s.Status, s.New, want[s.URL])
			}
		}
	}

	var added sourceView
	goodJSON(t, &added, "sources", "add", server.URL+"/page", "--type", "website", "--selector", ".prices", "--ignore", "/^Updated by/")
	if added.Type != "website" || added.Config.Selector != ".prices" || len(added.Config.Ignore) != 1 {
		t.Errorf("added %+v", added)
	}
	goodJSON(t, &added, "sources", "add", server.URL+"/file", "--type", "http", "--items")
	if !added.Config.Items {
		t.Errorf("added %+v", added)
	}
	ingest(map[string]int{"/page": 1, "/file": 1})
	ingest(map[string]int{"/page": 0, "/file": 0})
	set("6 €")
	ingest(map[string]int{"/page": 1, "/file": 1})

	river := good(t, "river", "--json")
	for _, want := range []string{"Changed since the last version", "- A ticket costs 5 €.", "+ A ticket costs 6 €.", "Changed: 127.0.0.1"} {
		if !strings.Contains(river, want) {
			t.Errorf("the river lacks %q: %s", want, river)
		}
	}
	for _, other := range []string{"Updated by", "Buy now", "Home"} {
		if strings.Contains(river, other) {
			t.Errorf("the river holds %q", other)
		}
	}
	var edited sourceView
	goodJSON(t, &edited, "sources", "edit", server.URL+"/page", "--ignore", "", "--selector", "main")
	if edited.Config.Ignore != nil && len(edited.Config.Ignore) > 0 || edited.Config.Selector != "main" || edited.Cursor.Document == nil || edited.Cursor.Document.Text != nil {
		t.Errorf("edited %+v", edited)
	}
	if r := freshetRun(t, "sources", "add", server.URL+"/other", "--type", "website", "--selector", "p:hover"); r.code != exitFailed || !strings.Contains(r.talk, "config.selector") {
		t.Errorf("a bad selector: exit %d, %s", r.code, r.talk)
	}
}
