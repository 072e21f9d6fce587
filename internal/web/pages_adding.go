package web

import (
	"errors"
	"net/http"
	"time"

	"freshet"
	"freshet/internal/store"
)

// maxChosen is how many of the feeds that were found can be added at once.
const maxChosen = 100

// addSource adds what was pasted: a page or any content as it is, a feed or the one feed of a site; of several the
// user chooses.
func (s *Server) addSource(w http.ResponseWriter, r *http.Request) error {
	page, err := s.newSourcesPage(r)
	if err != nil {
		return err
	}
	form := s.readForm(r.PostForm)
	page.Form = form
	if chosen := r.PostForm["choice"]; len(chosen) > 0 {
		return s.addAll(w, r, page, chosen[:min(len(chosen), maxChosen)])
	}
	if form.apply(freshet.Config{}); len(form.Wrong) > 0 {
		return page.refuse(w, problem(invalid, needALook("Nothing was added", form.Wrong)))
	}
	addresses, err := s.find(r, page)
	if err != nil {
		return page.refuse(w, err)
	}
	if len(addresses) == 0 {
		return render(w, http.StatusOK, "sources", page)
	}
	return s.addAll(w, r, page, addresses)
}

// find returns the one address that is meant. Of several feeds it returns none, and the page lets the user choose.
func (s *Server) find(r *http.Request, page *sourcesPage) ([]string, error) {
	form := page.Form
	address, _, err := sourceAddress(form.Type, form.URL)
	if err != nil {
		return nil, err
	}
	if known, err := s.Store.FindSource(r.Context(), address); err == nil {
		return nil, &freshet.DuplicateError{Existing: known.Source}
	}
	if form.Type != freshet.RSS || freshet.NamesAccount(form.URL) {
		return []string{address}, nil
	}
	found, err := s.Find(r.Context(), form.URL)
	if err != nil {
		return nil, err
	}
	if len(found) > 1 {
		page.Found = found
		return nil, nil
	}
	return []string{found[0].URL}, nil
}

// addAll adds sources at these addresses as the form says. A title is for one.
func (s *Server) addAll(w http.ResponseWriter, r *http.Request, page *sourcesPage, addresses []string) error {
	form, now := page.Form, time.Now()
	if len(addresses) > 1 {
		form.Title = ""
	}
	sources := make([]store.NewSource, len(addresses))
	for i, address := range addresses {
		checked, _, err := sourceAddress(form.Type, address)
		if err != nil {
			return page.refuse(w, err)
		}
		sources[i] = form.new(checked)
	}
	if len(sources) > 1 {
		if _, err := s.Store.AddSources(r.Context(), sources, now); err != nil {
			return page.refuse(w, err)
		}
		return s.changed(w, r, nil, "/sources", "added")
	}
	added, err := s.Store.AddSource(r.Context(), sources[0], now)
	if err != nil {
		return page.refuse(w, err)
	}
	return s.changed(w, r, nil, "/sources/"+added.Source.ID.String(), "added")
}

// refuse shows the form again with what is wrong, at its field where there is one.
func (p *sourcesPage) refuse(w http.ResponseWriter, err error) error {
	var duplicate *freshet.DuplicateError
	if errors.As(err, &duplicate) {
		p.Existing = &duplicate.Existing
	}
	var failure *freshet.Failure
	p.NoFeed = errors.As(err, &failure) && failure.Code == "not_a_feed"
	told := problemOf(err)
	if told.Status == http.StatusInternalServerError {
		return err
	}
	if len(p.Form.Wrong) == 0 && !p.Form.refuse(err) {
		p.Form.Wrong["url"] = told.Detail
	}
	p.Problem = p.Form.Wrong["url"]
	if p.Problem == "" {
		p.Problem = told.Detail
	}
	return render(w, told.Status, "sources", p)
}
