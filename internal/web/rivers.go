package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"freshet"
	"freshet/internal/store"
)

// River is a filter under a name as the API shows it.
type River struct {
	Name      string    `json:"name"`
	Filter    string    `json:"filter" example:"folders=News&days=7" doc:"The query of GET /api/items that it stands for, without limit and cursor."`
	CreatedAt time.Time `json:"created_at"`
}

type riversOutput struct {
	Body struct {
		Rivers []River `json:"rivers" nullable:"false"`
	}
}

type riverInput struct {
	Body struct {
		Name   string `json:"name" maxLength:"500"`
		Filter string `json:"filter" maxLength:"70000" example:"folders=News&days=7" doc:"A query of GET /api/items; limit and cursor do not count."`
	}
}

type riverOutput struct{ Body River }

type riverName struct {
	Name string `path:"name"`
}

func (s *Server) listRivers(ctx context.Context, _ *struct{}) (*riversOutput, error) {
	list, err := s.Store.Rivers(ctx)
	if err != nil {
		return nil, err
	}
	out := &riversOutput{}
	out.Body.Rivers = make([]River, len(list))
	for i, r := range list {
		out.Body.Rivers[i] = shownRiver(r)
	}
	return out, nil
}

func (s *Server) saveRiver(ctx context.Context, in *riverInput) (*riverOutput, error) {
	saved, err := s.keepRiver(ctx, in.Body.Name, in.Body.Filter)
	if err != nil {
		return nil, err
	}
	return &riverOutput{shownRiver(saved)}, nil
}

func (s *Server) removeRiver(ctx context.Context, in *riverName) (*struct{}, error) {
	return nil, s.Store.RemoveRiver(ctx, in.Name)
}

func shownRiver(r store.SavedRiver) River { return River{r.Name, r.Query, r.CreatedAt.UTC()} }

// keepRiver gives a filter a name, once it is known to be one.
func (s *Server) keepRiver(ctx context.Context, name, query string) (store.SavedRiver, error) {
	q, err := url.ParseQuery(query)
	if err != nil {
		return store.SavedRiver{}, invalidField("body.filter", "this is no query of an address", query)
	}
	f := filterOf(q)
	f.cursor = ""
	if _, err := riverQuery(f.input(), time.Now()); err != nil {
		return store.SavedRiver{}, err
	}
	return s.Store.SaveRiver(ctx, name, f.Values().Encode(), time.Now())
}

type placeInput struct {
	Body struct {
		River  string     `json:"river,omitempty" doc:"The name of a river; none for the river of everything."`
		ItemID freshet.ID `json:"item_id" doc:"The newest item that the reader saw."`
	}
}

// reach notes how far the reader came, for the line at the next visit.
func (s *Server) reach(ctx context.Context, in *placeInput) (*struct{}, error) {
	return nil, s.Store.ReachItem(ctx, in.Body.River, in.Body.ItemID, time.Now())
}

func riverPath(name string) string { return "/rivers/" + url.PathEscape(name) }

// nameRiver gives the shown filter a name, by the page's form.
func (s *Server) nameRiver(w http.ResponseWriter, r *http.Request) error {
	saved, err := s.keepRiver(r.Context(), r.PostForm.Get("name"), r.PostForm.Get("filter"))
	var field *freshet.FieldError
	if errors.As(err, &field) {
		return s.refuseName(w, r, sentence(field.Reason))
	}
	if err != nil {
		return err
	}
	return backTo(w, r, riverPath(saved.Name), "saved")
}

// refuseName shows the river again with what is wrong with the name beside its field.
func (s *Server) refuseName(w http.ResponseWriter, r *http.Request, reason string) error {
	q, err := url.ParseQuery(r.PostForm.Get("filter"))
	if err != nil {
		return formError(err)
	}
	return s.writeRiver(w, r, view{query: q, wrongName: reason, given: r.PostForm.Get("name")})
}

// forgetRiver removes a named river and shows what it held, so that it can be named again.
func (s *Server) forgetRiver(w http.ResponseWriter, r *http.Request) error {
	saved, err := s.Store.SavedRiver(r.Context(), r.PathValue("name"))
	if err == nil {
		err = s.Store.RemoveRiver(r.Context(), saved.Name)
	}
	if err != nil {
		return err
	}
	return backTo(w, r, "/?"+saved.Query, "forgotten")
}
