package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"freshet"
	"freshet/internal/discover"
	"freshet/internal/fetch"
	"freshet/internal/store"
)

// sourcesPage lists the sources with their health (U2), those in trouble first.
type sourcesPage struct {
	layout
	Pasted   string // what was pasted, when it could not be added
	Found    []discover.Candidate
	Existing *freshet.Source // what the pasted address is already
	Search   string
	State    string
	Sources  []sourceRow
	Total    int
	Counts   map[freshet.Health]int
	NextURL  string
}

// sourceRow is one source with what the page says of it.
type sourceRow struct {
	freshet.Source
	HostState freshet.Host
	Reason    string
	State     freshet.Health
	Polls     []freshet.Poll // oldest first, for the strip
	Interval  float64        // minutes, as its cadence sets it; 0 for none
}

const sourcesPerPage = 200

func (s *Server) showSources(w http.ResponseWriter, r *http.Request) error {
	page, err := s.newSourcesPage(r)
	if err != nil {
		return err
	}
	return render(w, http.StatusOK, "sources", page)
}

func (s *Server) newSourcesPage(r *http.Request) (*sourcesPage, error) {
	l, err := s.newLayout(r, "sources", "Sources")
	if err != nil {
		return nil, err
	}
	all, err := s.Store.Sources(r.Context(), store.SourceFilter{})
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	page := &sourcesPage{layout: l, Search: strings.TrimSpace(q.Get("name")), State: q.Get("state"), Total: len(all), Counts: map[freshet.Health]int{}}
	var rows []sourceRow
	for _, w := range all {
		row := s.row(w, l)
		page.Counts[row.State]++
		if page.shows(row) {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b sourceRow) int { return cmp.Compare(trouble(a), trouble(b)) })
	from, err := strconv.Atoi(q.Get("from"))
	if err != nil || from < 0 || from > len(rows) {
		from = 0
	}
	page.Sources = rows[from:min(from+sourcesPerPage, len(rows))]
	if from+sourcesPerPage < len(rows) {
		q.Set("from", strconv.Itoa(from+sourcesPerPage))
		q.Del("notice")
		page.NextURL = "/sources?" + q.Encode()
	}
	return page, nil
}

// row gathers what the page says of a source.
func (s *Server) row(w store.Watched, l layout) sourceRow {
	row := sourceRow{
		Source: w.Source, HostState: w.Host, State: w.Source.Health(),
		Reason: w.Source.Explain(s.Store.Settings().Policy(w.Source), w.Host, l.Now),
		Polls:  w.Source.History.Polls(),
	}
	slices.Reverse(row.Polls)
	if c := w.Source.Config.Cadence; c != nil {
		row.Interval = c.EveryMinutes
	}
	return row
}

// trouble sorts what needs a look to the top.
func trouble(r sourceRow) int {
	switch {
	case r.State == freshet.Unhealthy:
		return 0
	case r.State == freshet.Disabled:
		return 1
	case r.LastFailure != nil:
		return 2
	default:
		return 3
	}
}

func (p *sourcesPage) shows(r sourceRow) bool {
	if p.State != "" && string(r.State) != p.State {
		return false
	}
	find := strings.ToLower(p.Search)
	return find == "" || strings.Contains(strings.ToLower(r.Name()), find) || strings.Contains(strings.ToLower(r.URL), find)
}

// addSource adds what was pasted: a feed, or the one feed of a site; of several the user chooses.
func (s *Server) addSource(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return formError(err)
	}
	if chosen := r.PostForm["choice"]; len(chosen) > 0 {
		return s.addChosen(w, r, chosen)
	}
	page, err := s.newSourcesPage(r)
	if err != nil {
		return err
	}
	page.Pasted = strings.TrimSpace(r.PostForm.Get("url"))
	address, _, err := fetch.CheckURL(page.Pasted)
	if err != nil {
		return page.refuse(w, badAddress(page.Pasted, err))
	}
	if known, err := s.Store.FindSource(r.Context(), address.String()); err == nil {
		return page.refuse(w, &freshet.DuplicateError{Existing: known.Source})
	}
	found, err := s.Find(r.Context(), page.Pasted)
	if err != nil {
		return page.refuse(w, err)
	}
	if len(found) > 1 {
		page.Found = found
		return render(w, http.StatusOK, "sources", page)
	}
	added, err := s.addFound(r.Context(), found[0])
	if err != nil {
		return page.refuse(w, err)
	}
	return backTo(w, r, "/sources/"+added.Source.ID.String(), "added")
}

// refuse shows the form again with what is wrong.
func (p *sourcesPage) refuse(w http.ResponseWriter, err error) error {
	var duplicate *freshet.DuplicateError
	if errors.As(err, &duplicate) {
		p.Existing = &duplicate.Existing
	}
	problem := problemOf(err)
	if problem.Status == http.StatusInternalServerError {
		return err
	}
	p.Problem = problem.Detail
	return render(w, problem.Status, "sources", p)
}

func (s *Server) addFound(ctx context.Context, c discover.Candidate) (store.Watched, error) {
	added, err := s.Store.AddSource(ctx, store.NewSource{Type: freshet.RSS, URL: c.URL, AtOnce: true}, time.Now())
	if err == nil {
		s.Kick()
	}
	return added, err
}

func (s *Server) addChosen(w http.ResponseWriter, r *http.Request, chosen []string) error {
	if len(chosen) > 100 {
		chosen = chosen[:100]
	}
	for _, address := range chosen {
		checked, _, err := fetch.CheckURL(address)
		if err != nil {
			return badAddress(address, err)
		}
		var duplicate *freshet.DuplicateError
		if _, err := s.addFound(r.Context(), discover.Candidate{URL: checked.String()}); err != nil && !errors.As(err, &duplicate) {
			return err
		}
	}
	return backTo(w, r, "/sources", "added")
}

// sourcePage shows one source: health, schedule with its reason, settings.
type sourcePage struct {
	layout
	Source sourceRow
	Rules  []freshet.Line
	Items  []freshet.Item
}

func (s *Server) showSource(w http.ResponseWriter, r *http.Request) error {
	watched, err := s.sourceOf(r)
	if err != nil {
		return err
	}
	return s.renderSource(w, r, http.StatusOK, watched, "")
}

func (s *Server) renderSource(w http.ResponseWriter, r *http.Request, status int, watched store.Watched, wrong string) error {
	l, err := s.newLayout(r, "sources", watched.Source.Name())
	if err != nil {
		return err
	}
	l.Problem = wrong
	items, err := s.Store.River(r.Context(), store.RiverQuery{Sources: []freshet.ID{watched.Source.ID}, Limit: 20})
	if err != nil {
		return err
	}
	rules := s.Store.Settings().Policy(watched.Source).Lines()
	return render(w, status, "source", sourcePage{layout: l, Source: s.row(watched, l), Rules: rules, Items: items.Items})
}

func (s *Server) sourceOf(r *http.Request) (store.Watched, error) {
	id, err := freshet.ParseID(r.PathValue("id"))
	if err != nil {
		return store.Watched{}, err
	}
	return s.Store.Source(r.Context(), id)
}

// changeSource carries out a button or the form of a source: what is in the path's last part.
func (s *Server) changeSource(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return formError(err)
	}
	watched, err := s.sourceOf(r)
	if err != nil {
		return err
	}
	id, back := watched.Source.ID, cmp.Or(r.PostForm.Get("back"), "/sources")
	switch r.PathValue("do") {
	case "refresh":
		return s.refreshFrom(w, r, back, []freshet.ID{id})
	case "pause":
		err = s.edit(r.Context(), id, func(w *store.Watched) error {
			w.Source = w.Source.Disable("Paused by hand.")
			return nil
		})
		return s.changed(w, r, err, back, "paused")
	case "resume":
		err = s.edit(r.Context(), id, func(w *store.Watched) error {
			w.Source = w.Source.Enable(w.Host, time.Now())
			return nil
		})
		return s.changed(w, r, err, back, "resumed")
	case "remove":
		return s.changed(w, r, s.Store.RemoveSource(r.Context(), id, time.Now()), "/sources", "removed")
	case "edit":
		err = s.edit(r.Context(), id, func(w *store.Watched) error { return s.applyForm(w, r.PostForm) })
		var field *freshet.FieldError
		if errors.As(err, &field) {
			return s.renderSource(w, r, http.StatusUnprocessableEntity, watched, problemOf(err).Detail)
		}
		return s.changed(w, r, err, back, "saved")
	default:
		return freshet.ErrNotFound
	}
}

func (s *Server) edit(ctx context.Context, id freshet.ID, change func(*store.Watched) error) error {
	_, err := s.Store.EditSource(ctx, id, time.Now(), change)
	return err
}

func (s *Server) changed(w http.ResponseWriter, r *http.Request, err error, back, notice string) error {
	if err != nil {
		return err
	}
	s.Kick()
	return backTo(w, r, back, notice)
}

// applyForm puts the fields of a source's form into it.
func (s *Server) applyForm(w *store.Watched, form url.Values) error {
	src := &w.Source
	src.Title = strings.TrimSpace(form.Get("title"))
	src.Folder = strings.TrimSpace(form.Get("folder"))
	src.Config.Cadence = nil
	if every, err := number(form, "every_minutes"); err != nil {
		return err
	} else if every != nil {
		src.Config.Cadence = &freshet.Cadence{Mode: "interval", EveryMinutes: *every}
	}
	var err error
	if src.Config.PollDelaySeconds, err = number(form, "poll_delay_seconds"); err != nil {
		return err
	}
	if err := src.Config.Check(); err != nil {
		return err
	}
	*src = src.Reschedule(s.Store.Settings().Policy(*src), w.Host, time.Now())
	return nil
}

// number reads a field that may be empty.
func number(form url.Values, field string) (*float64, error) {
	text := strings.TrimSpace(form.Get(field))
	if text == "" {
		return nil, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, &freshet.FieldError{Field: field, Reason: "must be a number"}
	}
	return &n, nil
}

// refreshRiver starts a refresh of everything (U2).
func (s *Server) refreshRiver(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return formError(err)
	}
	return s.refreshFrom(w, r, cmp.Or(r.PostForm.Get("back"), "/"), nil)
}

func (s *Server) refreshFrom(w http.ResponseWriter, r *http.Request, back string, ids []freshet.ID) error {
	started, err := s.Store.StartRefresh(r.Context(), freshet.ByHand, ids, time.Now())
	if err != nil {
		return err
	}
	s.Kick()
	switch {
	case started.Total > 0:
		return backTo(w, r, back, "refresh")
	case len(started.PutOff) > 0:
		return backTo(w, r, back, "putoff")
	default:
		return backTo(w, r, back, "nothing")
	}
}

// importedPage says what became of an imported list.
type importedPage struct {
	layout
	Result *Imported
}

// importList adds the feeds of an uploaded list (OPML).
func (s *Server) importList(w http.ResponseWriter, r *http.Request) error {
	result, err := s.readList(w, r)
	if err != nil {
		page, broken := s.newSourcesPage(r)
		if broken != nil {
			return broken
		}
		return page.refuse(w, err)
	}
	l, err := s.newLayout(r, "sources", "Imported")
	if err != nil {
		return err
	}
	return render(w, http.StatusOK, "imported", importedPage{l, result})
}
