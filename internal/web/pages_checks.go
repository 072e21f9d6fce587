package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"freshet"
	"freshet/internal/discover"
	"freshet/internal/fetch"
	"freshet/internal/opml"
	"freshet/internal/store"
)

// checkPage shows how far the check of a list is, and then what it found, to choose from.
type checkPage struct {
	layout
	checked
	ID     string
	Groups []checkGroup
}

// checkGroup are the feeds of a list with the same finding.
type checkGroup struct {
	Finding discover.Finding
	Name    string
	Help    string
	Offered bool // they can be chosen
	Chosen  bool // they are unless the user says otherwise
	Rows    []checkRow
	More    int // that are not shown one by one
}

// checkRow is a feed with its place in the list, which is what a form sends.
type checkRow struct {
	At int
	looked
}

// mostRows is how many feeds of a group are shown one by one.
const mostRows = 500

var checkGroups = []checkGroup{
	{Finding: discover.Works, Name: "works", Offered: true, Chosen: true},
	{Finding: discover.Moved, Name: "moved", Help: "There is another address now, which is taken.", Offered: true, Chosen: true},
	{Finding: discover.Page, Name: "page with feeds", Help: "The address is a page, not a feed; these are the feeds that it names.", Offered: true, Chosen: true},
	{Finding: discover.Trouble, Name: "no answer now", Help: "It may pass; what is added is tried again and again.", Offered: true, Chosen: true},
	{Finding: unseen, Name: "not looked at", Offered: true, Chosen: true},
	{Finding: discover.Dead, Name: "dead", Help: "There is no feed any more.", Offered: true},
	{Finding: refused, Name: "cannot be used"},
	{Finding: known, Name: "there already"},
}

// checkList begins to look at the feeds of an uploaded list.
func (s *Server) checkList(w http.ResponseWriter, r *http.Request) error {
	outlines, err := s.outlines(w, r)
	if err != nil {
		return s.refuseList(w, r, err)
	}
	all, err := s.Store.Sources(r.Context(), store.SourceFilter{})
	if err != nil {
		return err
	}
	there := make(map[string]bool, len(all))
	for i := range all {
		there[all[i].Source.NormalizedURL] = true
	}
	c := newCheck(outlines, there)
	s.checks.start(s.working, c, s.Look, func(host string) time.Duration {
		return s.Store.Settings().Policy(freshet.Source{Type: freshet.RSS, Host: host}).Delay
	})
	http.Redirect(w, r, "/sources/check/"+c.ID, http.StatusSeeOther)
	return nil
}

// refuseList shows the sources with what is wrong with a list.
func (s *Server) refuseList(w http.ResponseWriter, r *http.Request, err error) error {
	page, broken := s.newSourcesPage(r)
	if broken != nil {
		return broken
	}
	told := problemOf(err)
	if told.Status == http.StatusInternalServerError {
		return err
	}
	page.List = told.Detail
	page.Problem = "Nothing was imported. " + told.Detail
	return render(w, told.Status, "sources", page)
}

// errNoCheck: the process that knew of a check is gone, or many others came after it.
var errNoCheck = problem(notFound, "This check is not there any more: the server was started anew, or it was long ago. Choose the file again.")

func (s *Server) showCheck(w http.ResponseWriter, r *http.Request) error {
	c := s.checks.find(r.PathValue("id"))
	if c == nil {
		return errNoCheck
	}
	l, err := s.newLayout(r, "sources", "A look at the list")
	if err != nil {
		return err
	}
	page := checkPage{layout: l, checked: c.state(), ID: c.ID}
	page.Waiting = !page.Over
	page.Groups = groupRows(page.Rows, page.Over)
	return render(w, http.StatusOK, "check", page)
}

// groupRows sorts what was looked at by what was found; the rows themselves are listed when all is over.
func groupRows(rows []looked, over bool) []checkGroup {
	var groups []checkGroup
	for _, g := range checkGroups {
		for i, row := range rows {
			switch {
			case row.Finding != g.Finding:
			case over && len(g.Rows) < mostRows:
				g.Rows = append(g.Rows, checkRow{i, row})
			default:
				g.More++
			}
		}
		if len(g.Rows)+g.More > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}

// Count is how many feeds are in the group.
func (g checkGroup) Count() int { return len(g.Rows) + g.More }

// changeCheck stops a check, or subscribes to what was chosen of it.
func (s *Server) changeCheck(w http.ResponseWriter, r *http.Request) error {
	c := s.checks.find(r.PathValue("id"))
	if c == nil {
		return errNoCheck
	}
	if r.PostForm.Has("stop") {
		c.stop()
		http.Redirect(w, r, "/sources/check/"+c.ID, http.StatusSeeOther)
		return nil
	}
	chosen := chosenOf(c.state().Rows, r.PostForm)
	if len(chosen) == 0 {
		return backTo(w, r, "/sources/check/"+c.ID, "nochoice")
	}
	result, err := s.addOutlines(r.Context(), chosen)
	if err != nil {
		return err
	}
	s.checks.drop(c.ID)
	return s.showImported(w, r, result)
}

// chosenOf are the feeds of a list that a form names: by their places, by the places and the links of pages, and whole
// groups beyond what was shown.
func chosenOf(rows []looked, form map[string][]string) []opml.Outline {
	var chosen []opml.Outline
	take := func(row looked, address string) {
		o := row.Outline
		o.URL = address
		chosen = append(chosen, o)
	}
	for _, n := range form["n"] {
		place, link, isPage := strings.Cut(n, ".")
		i, err := strconv.Atoi(place)
		if err != nil || i < 0 || i >= len(rows) {
			continue
		}
		row := rows[i]
		if l, err := strconv.Atoi(link); isPage && err == nil && l >= 0 && l < len(row.Feeds) {
			take(row, row.Feeds[l].URL)
		} else if !isPage {
			take(row, row.address())
		}
	}
	shown := map[discover.Finding]int{}
	for _, row := range rows {
		if shown[row.Finding]++; shown[row.Finding] > mostRows && slices.Contains(form["rest"], string(row.Finding)) {
			take(row, row.address())
		}
	}
	return chosen
}

// address is where a feed is subscribed to: where it moved to, the first feed that a page names, or as it stands.
func (l looked) address() string {
	switch {
	case l.Finding == discover.Moved:
		return l.Sight.URL
	case l.Finding == discover.Page:
		return l.Feeds[0].URL
	default:
		return l.Outline.URL
	}
}

// Name is what the list calls the feed, else what it calls itself, else its address.
func (l looked) Name() string {
	switch {
	case l.Outline.Title != "":
		return l.Outline.Title
	case l.Sight.Title != "":
		return l.Sight.Title
	default:
		return fetch.Redact(l.Outline.URL)
	}
}

// Shown is its address without secrets.
func (l looked) Shown() string { return shownURL(l.Outline.URL) }

// Target is where it moved to, without secrets.
func (l looked) Target() string { return shownURL(l.Sight.URL) }
