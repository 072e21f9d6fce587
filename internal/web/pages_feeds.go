package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"freshet"
	"freshet/internal/store"
	"freshet/internal/syndicate"
)

// feedLink leads to the shown view of the river in a format.
type feedLink struct{ Name, Type, URL string }

// feedLinks are the addresses at which a view is a feed, and that of the list of its sources: the view's own
// with /river.SUFFIX for its path.
func feedLinks(q url.Values) (feeds []feedLink, list string) {
	query := ""
	if encoded := filterOf(q).Values().Encode(); encoded != "" {
		query = "?" + encoded
	}
	for _, f := range []struct{ name, suffix string }{{"Atom", "atom"}, {"RSS", "rss"}, {"JSON Feed", "json"}} {
		kind, _, _ := strings.Cut(syndicate.Formats[f.suffix].MediaType, ";")
		feeds = append(feeds, feedLink{f.name, kind, "/river." + f.suffix + query})
	}
	return feeds, "/river.opml" + query
}

// feedOf writes the view that the address names as a feed, with the filter of GET /api/items.
func (s *Server) feedOf(suffix string) http.Handler {
	format := syndicate.Formats[suffix]
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.writeFeed(w, r, format); err != nil {
			s.fail(w, r, err)
		}
	})
}

func (s *Server) writeFeed(w http.ResponseWriter, r *http.Request, format syndicate.Format) error {
	query, err := viewOf(r)
	if err != nil {
		return err
	}
	event, err := s.Store.LastEvent(r.Context())
	if err != nil {
		return err
	}
	// Nothing that shows changes without an event; the days of an open range end without one.
	tag := fmt.Sprintf(`W/"%d-%s"`, event, time.Now().UTC().Format(time.DateOnly))
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "private, no-cache")
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	page, err := s.Store.River(r.Context(), query)
	if err != nil {
		return err
	}
	items := make([]*freshet.Item, len(page.Items))
	channel := syndicate.Channel{Title: "Freshet", Self: s.ownAddress(r) + r.URL.RequestURI(), Home: s.ownAddress(r) + "/"}
	for i := range page.Items {
		items[i] = &page.Items[i]
		if items[i].UpdatedAt.After(channel.Updated) {
			channel.Updated = items[i].UpdatedAt
		}
	}
	if channel.Updated.IsZero() {
		channel.Updated = s.started
	}
	if r.URL.RawQuery != "" {
		channel.Home += "?" + r.URL.RawQuery
	}
	w.Header().Set("Content-Type", format.MediaType)
	_ = format.Write(w, channel, slices.Values(items)) // the asker is gone if this fails
	return nil
}

// viewOf reads the filter of an address.
func viewOf(r *http.Request) (store.RiverQuery, error) {
	return riverQuery(filterOf(r.URL.Query()).input(), time.Now())
}

// ownAddress is the start of our addresses as the asker knows them.
func (s *Server) ownAddress(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil || s.BehindProxy && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}

// listOf writes the sources of the view as OPML.
func (s *Server) listOf(w http.ResponseWriter, r *http.Request) error {
	query, err := viewOf(r)
	if err != nil {
		return err
	}
	ids, narrowed, err := s.Store.Chosen(r.Context(), query)
	if err != nil {
		return err
	}
	if narrowed && ids == nil {
		ids = []freshet.ID{}
	}
	watched, err := s.Store.Sources(r.Context(), store.SourceFilter{IDs: ids})
	if err != nil {
		return err
	}
	writeOPML(w, watched)
	return nil
}
