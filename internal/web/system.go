package web

import (
	"net/http"
	"slices"

	"freshet"
	"freshet/internal/syndicate"
)

// maxNotices is how many of the system's events its feed has.
const maxNotices = 100

// systemFeed writes what people may want to know of as Atom: workflows switched off, what could not be delivered (W8).
func (s *Server) systemFeed(w http.ResponseWriter, r *http.Request) error {
	notices, err := s.Store.Notices(r.Context(), maxNotices)
	if err != nil {
		return err
	}
	at := s.ownAddress(r)
	channel := syndicate.Channel{Title: "Freshet: system", Self: at + r.URL.RequestURI(), Home: at + "/workflows", Updated: s.started}
	items := make([]*freshet.Item, len(notices))
	for i, n := range notices {
		items[i] = &freshet.Item{ID: n.ID, GUID: "urn:freshet:notice:" + n.ID.String(), Title: n.Title, Snippet: n.Text, PublishedAt: n.At, UpdatedAt: n.At}
		if n.Workflow != 0 {
			items[i].URL = at + "/workflows/" + n.Workflow.String()
		}
	}
	if len(notices) > 0 {
		channel.Updated = notices[0].At
	}
	format := syndicate.Formats["atom"]
	w.Header().Set("Content-Type", format.MediaType)
	w.Header().Set("Cache-Control", "private, no-cache")
	_ = format.Write(w, channel, slices.Values(items)) // the asker is gone if this fails
	return nil
}
