package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"freshet"
	"freshet/internal/fetch"
	"freshet/internal/opml"
	"freshet/internal/store"
)

// Imported answers an import, address by address in the order of the list.
type Imported struct {
	Added   int            `json:"added"`
	Known   int            `json:"known" doc:"Feeds that were there already."`
	Refused int            `json:"refused"`
	Feeds   []ImportedFeed `json:"feeds" nullable:"false"`
}

// ImportedFeed is one address of an imported list.
type ImportedFeed struct {
	URL    string      `json:"url"`
	Title  *string     `json:"title"`
	Result string      `json:"result" enum:"added,known,refused"`
	Reason *string     `json:"reason" doc:"Why it was refused."`
	FeedID *freshet.ID `json:"feed_id"`
}

// exportOPML writes all feeds, addresses whole, so that another reader can go on with them.
func (s *Server) exportOPML(w http.ResponseWriter, r *http.Request) error {
	watched, err := s.Store.Sources(r.Context(), store.SourceFilter{})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Disposition", `attachment; filename="freshet.opml"`)
	writeOPML(w, watched)
	return nil
}

// writeOPML writes sources as a list.
func writeOPML(w http.ResponseWriter, watched []store.Watched) {
	outlines := make([]opml.Outline, len(watched))
	for i := range watched {
		src := &watched[i].Source
		outlines[i] = opml.Outline{Title: src.Name(), URL: src.URL, SiteURL: src.SiteURL, Folder: src.Folder}
	}
	w.Header().Set("Content-Type", "text/x-opml; charset=utf-8")
	_ = opml.Write(w, "Freshet", outlines) // the asker is gone if this fails
}

// importOPML adds the feeds of a list; their first polls are spread (S4).
func (s *Server) importOPML(w http.ResponseWriter, r *http.Request) error {
	result, err := s.readList(w, r)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(result) // the asker is gone if this fails
	return nil
}

// readList reads the list that a request carries and adds its feeds.
func (s *Server) readList(w http.ResponseWriter, r *http.Request) (*Imported, error) {
	outlines, err := s.outlines(w, r)
	if err != nil {
		return nil, err
	}
	return s.addOutlines(r.Context(), outlines)
}

// outlines reads the list that a request carries.
func (s *Server) outlines(w http.ResponseWriter, r *http.Request) ([]opml.Outline, error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxOPML)
	list, err := document(r)
	if err != nil {
		return nil, err
	}
	return opml.Read(list, opml.MaxOutlines)
}

// addOutlines adds what can be added; what cannot is told with its reason and holds up nothing else.
func (s *Server) addOutlines(ctx context.Context, outlines []opml.Outline) (*Imported, error) {
	result := &Imported{Feeds: make([]ImportedFeed, len(outlines))}
	var sources []store.NewSource
	var at []int // place of each source in the list
	for i, o := range outlines {
		f := &result.Feeds[i]
		f.URL, f.Title = shownURL(o.URL), given(o.Title)
		source, err := newSource(o)
		if err != nil {
			reason := reasonOf(err)
			f.Result, f.Reason = "refused", &reason
			result.Refused++
			continue
		}
		sources = append(sources, source)
		at = append(at, i)
	}
	added, err := s.Store.AddSources(ctx, sources, time.Now())
	if err != nil {
		return nil, err
	}
	for n := range added {
		f := &result.Feeds[at[n]]
		f.FeedID = &added[n].Source.ID
		if f.Result = "added"; added[n].Known {
			f.Result = "known"
			result.Known++
		} else {
			result.Added++
		}
	}
	s.Kick()
	return result, nil
}

// newSource is the source that a feed of a list becomes.
func newSource(o opml.Outline) (store.NewSource, error) {
	u, _, err := fetch.CheckURL(o.URL)
	if err != nil {
		return store.NewSource{}, err
	}
	n := store.NewSource{Type: freshet.RSS, URL: u.String(), Title: o.Title, Folder: folder(o.Folder), SiteURL: freshet.WebLink(o.SiteURL)}
	return n, n.Check()
}

// document finds the list in a request: the body itself, or the first file of a form.
func document(r *http.Request) (io.Reader, error) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "text/x-opml", "text/xml", "application/xml", "application/opml+xml", "text/opml":
		return r.Body, nil
	case "multipart/form-data":
		return formFile(r)
	default:
		return nil, problem(mediaType, "Send the list as text/x-opml, application/xml or text/xml, or as a form file.")
	}
}

func formFile(r *http.Request) (io.Reader, error) {
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, problem(badRequest, "The form cannot be read.")
	}
	for {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return nil, invalidField("body.file", "the form has no file", nil)
		case err != nil:
			return nil, formError(err)
		case part.FileName() != "":
			return part, nil
		}
	}
}

func opmlDoc(op *huma.Operation, _ huma.Registry) {
	op.Responses["200"] = &huma.Response{Description: "The list.",
		Content: map[string]*huma.MediaType{"text/x-opml": {Schema: &huma.Schema{Type: huma.TypeString}}}}
}

func importDoc(op *huma.Operation, schemas huma.Registry) {
	list := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"text/x-opml": list, "application/xml": list, "text/xml": list,
		"multipart/form-data": {Schema: &huma.Schema{Type: huma.TypeObject,
			Properties: map[string]*huma.Schema{"file": {Type: huma.TypeString, Format: "binary"}}}},
	}}
	op.Responses["200"] = &huma.Response{Description: "What became of each feed.",
		Content: map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[Imported](), true, "")}}}
}

// importedPage says what became of an imported list.
type importedPage struct {
	layout
	Result *Imported
}

// Of are the feeds of the list with a result.
func (p importedPage) Of(result string) []ImportedFeed {
	return slices.DeleteFunc(slices.Clone(p.Result.Feeds), func(f ImportedFeed) bool { return f.Result != result })
}

// importList adds the feeds of an uploaded list (OPML) without looking at them.
func (s *Server) importList(w http.ResponseWriter, r *http.Request) error {
	result, err := s.readList(w, r)
	if err != nil {
		return s.refuseList(w, r, err)
	}
	return s.showImported(w, r, result)
}

func (s *Server) showImported(w http.ResponseWriter, r *http.Request, result *Imported) error {
	l, err := s.newLayout(r, "sources", "Imported")
	if err != nil {
		return err
	}
	return render(w, http.StatusOK, "imported", importedPage{l, result})
}
