package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"freshet"
	"freshet/internal/discover"
	"freshet/internal/store"
)

// sourcesPage lists the sources with their health (U2): what waits for a server first, host by host, then what needs a
// look.
type sourcesPage struct {
	layout
	Form     *sourceForm // what was pasted, when it could not be added
	Found    []discover.Candidate
	NoFeed   bool            // what was pasted is a page without feeds, which can be watched
	List     string          // what is wrong with an uploaded list
	Existing *freshet.Source // what the pasted address is already
	Removed  *freshet.Source // what was removed just now and can be brought back
	Search   string
	State    condition
	States   []stateChoice
	Groups   []sourceGroup
	Total    int
	Days     chart
	Polls    chart
	NextURL  string
}

// stateChoice is a state to choose in the filter, with how many sources are in it.
type stateChoice struct {
	Name  condition
	Count int
}

// sourceGroup is a part of the list under a heading.
type sourceGroup struct {
	Name    string
	Host    freshet.Host // that asked all of the group for a pause; else the zero host
	Sources []sourceRow
}

// sourceRow is one source with what the page says of it.
type sourceRow struct {
	freshet.Source
	Reason string
	State  condition
	Polls  []freshet.Poll // oldest first, for the strip
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
	page := &sourcesPage{layout: l, Form: s.newForm(), Search: strings.TrimSpace(q.Get("name")), State: condition(q.Get("state")), Total: len(all)}
	if page.Total > 0 {
		if err := s.addCharts(r.Context(), page, all); err != nil {
			return nil, err
		}
	}
	chosen := page.choose(all)
	from, err := strconv.Atoi(q.Get("from"))
	if err != nil || from < 0 || from > len(chosen) {
		from = 0
	}
	s.group(page, chosen[from:min(from+sourcesPerPage, len(chosen))])
	if from+sourcesPerPage < len(chosen) {
		q.Set("from", strconv.Itoa(from+sourcesPerPage))
		page.NextURL = address("/sources", withoutNotice(q))
	}
	return page, s.addRemoved(r, page)
}

func (s *Server) addCharts(ctx context.Context, page *sourcesPage, all []store.Watched) error {
	days, err := s.Store.RiverDays(ctx, chartDays, page.Now)
	if err != nil {
		return err
	}
	histories := make([]freshet.History, len(all))
	for i := range all {
		histories[i] = all[i].Source.History
	}
	page.Days, page.Polls = daysChart("Items per day", days, page.Now), pollsChart(histories)
	return nil
}

// standing is a source with its state and its place in the list.
type standing struct {
	*store.Watched
	State   condition
	Part    int    // of partNames
	Pausing string // the host that asked for a pause which holds for it, "" for none
}

var partNames = []string{"", "Need a look", "In good order", "Paused"}

// standingOf tells how a source is and where it belongs: what waits for a host comes first.
func standingOf(w *store.Watched, now time.Time) standing {
	st := standing{Watched: w, State: conditionOf(w.Source, w.Host, now), Part: 2}
	switch {
	case w.Source.Enabled && w.Host.Cooling(now):
		st.Part, st.Pausing = 0, w.Host.Name
	case st.State == unhealthy || st.State == off || st.State == retrying:
		st.Part = 1
	case st.State == paused:
		st.Part = 3
	}
	return st
}

// choose counts the sources by their state and returns those that the filter lets through, in the order of the page.
func (p *sourcesPage) choose(all []store.Watched) (chosen []standing) {
	counts := map[condition]int{}
	find := strings.ToLower(p.Search)
	for i := range all {
		st, src := standingOf(&all[i], p.Now), &all[i].Source
		counts[st.State]++
		named := find == "" || strings.Contains(strings.ToLower(src.Name()), find) || strings.Contains(strings.ToLower(src.URL), find) ||
			strings.Contains(strings.ToLower(src.Folder), find)
		if named && (p.State == "" || p.State == st.State) {
			chosen = append(chosen, st)
		}
	}
	for _, c := range conditions {
		if counts[c] > 0 || c == p.State {
			p.States = append(p.States, stateChoice{c, counts[c]})
		}
	}
	slices.SortStableFunc(chosen, func(a, b standing) int {
		return cmp.Or(cmp.Compare(a.Part, b.Part), strings.Compare(a.Pausing, b.Pausing))
	})
	return chosen
}

// group puts the sources of a page under headings.
func (s *Server) group(p *sourcesPage, list []standing) {
	for _, st := range list {
		name, host := partNames[st.Part], freshet.Host{}
		if st.Pausing != "" {
			name, host = st.Pausing+" asked for a pause", st.Host
		}
		if n := len(p.Groups); n == 0 || p.Groups[n-1].Name != name {
			p.Groups = append(p.Groups, sourceGroup{Name: name, Host: host})
		}
		last := &p.Groups[len(p.Groups)-1]
		last.Sources = append(last.Sources, s.row(st, p.Now))
	}
}

// row gathers what a page says of a source.
func (s *Server) row(st standing, now time.Time) sourceRow {
	row := sourceRow{
		Source: st.Source, State: st.State, Polls: st.Source.History.Polls(),
		Reason: st.Source.Explain(s.Store.Settings().Policy(st.Source), st.Host, now),
	}
	slices.Reverse(row.Polls)
	return row
}

// addRemoved finds the source that the address says was removed just now, if it can still be brought back.
func (s *Server) addRemoved(r *http.Request, page *sourcesPage) error {
	id, err := freshet.ParseID(r.URL.Query().Get("removed"))
	if err != nil {
		return nil
	}
	list, err := s.Store.Sources(r.Context(), store.SourceFilter{Hidden: true, Removed: true, IDs: []freshet.ID{id}})
	if err == nil && len(list) == 1 && (!list[0].Source.RemovedAt.IsZero() || !list[0].Source.InRiver) {
		page.Removed, page.Notice = &list[0].Source, "" // it says more
	}
	return err
}

// sourcePage shows one source: health, schedule with its reason, settings.
type sourcePage struct {
	layout
	Source   sourceRow
	Form     *sourceForm
	Rules    []freshet.Line
	Days     chart
	Items    []freshet.Item
	Removing bool // the reader comes from Remove in the list, and is asked
}

func (s *Server) showSource(w http.ResponseWriter, r *http.Request) error {
	watched, err := s.sourceOf(r)
	if err != nil {
		return err
	}
	return s.renderSource(w, r, http.StatusOK, watched, s.formOf(watched.Source))
}

func (s *Server) renderSource(w http.ResponseWriter, r *http.Request, status int, watched store.Watched, form *sourceForm) error {
	src := watched.Source
	l, err := s.newLayout(r, "sources", src.Name())
	if err != nil {
		return err
	}
	if len(form.Wrong) > 0 {
		l.Back = "/sources/" + src.ID.String()
		l.Problem = needALook("Nothing was saved", form.Wrong)
	}
	items, err := s.Store.River(r.Context(), store.RiverQuery{Sources: []freshet.ID{src.ID}, Limit: 20})
	if err != nil {
		return err
	}
	days, err := s.Store.SourceDays(r.Context(), src.ID, chartDays, l.Now)
	if err != nil {
		return err
	}
	return render(w, status, "source", sourcePage{
		layout: l, Source: s.row(standingOf(&watched, l.Now), l.Now), Form: form, Rules: s.Store.Settings().Policy(src).Lines(),
		Days: daysChart("Items per day", days, l.Now), Items: items.Items, Removing: r.URL.Query().Has("remove"),
	})
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
	if r.PathValue("do") == "restore" {
		return s.restoreSource(w, r)
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
		err = s.edit(r.Context(), id, func(w *store.Watched) { w.Source = w.Source.Disable(pausedByHand) })
		return s.changed(w, r, err, back, "paused")
	case "resume":
		err = s.edit(r.Context(), id, func(w *store.Watched) { w.Source = w.Source.Enable(w.Host, time.Now()) })
		return s.changed(w, r, err, back, "resumed")
	case "remove":
		return s.changed(w, r, s.Store.RemoveSource(r.Context(), id, time.Now()), "/sources?removed="+id.String(), "removed")
	case "edit":
		form := s.readForm(r.PostForm).of(watched.Source, r.PostForm)
		if form.apply(freshet.Config{}); len(form.Wrong) > 0 {
			return s.renderSource(w, r, http.StatusUnprocessableEntity, watched, form)
		}
		err = s.edit(r.Context(), id, func(w *store.Watched) { form.edit(w, s.Store.Settings(), time.Now()) })
		return s.changed(w, r, err, back, "saved")
	default:
		return freshet.ErrNotFound
	}
}

// restoreSource takes a removal back.
func (s *Server) restoreSource(w http.ResponseWriter, r *http.Request) error {
	id, err := freshet.ParseID(r.PathValue("id"))
	if err != nil {
		return err
	}
	_, err = s.Store.RestoreSource(r.Context(), id, time.Now())
	return s.changed(w, r, err, "/sources/"+id.String(), "restored")
}

func (s *Server) edit(ctx context.Context, id freshet.ID, change func(*store.Watched)) error {
	_, err := s.Store.EditSource(ctx, id, time.Now(), func(w *store.Watched) error { change(w); return nil })
	return err
}

func (s *Server) changed(w http.ResponseWriter, r *http.Request, err error, back, notice string) error {
	if err != nil {
		return err
	}
	s.Kick()
	return backTo(w, r, back, notice)
}

// refreshRiver starts a refresh of everything (U2).
func (s *Server) refreshRiver(w http.ResponseWriter, r *http.Request) error {
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
