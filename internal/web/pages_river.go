package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"freshet"
	"freshet/internal/store"
)

// riverPage is the river: items under day headings, with the filter that the address names (U1, U3).
type riverPage struct {
	layout
	Name      string // of a named river; "" for the river of the address
	NewName   string // for the filter, when it was refused
	WrongName string // why
	Rivers    []store.SavedRiver
	Filter    filter
	Chips     []chip
	Offer     offer
	Wrong     map[string]string // field of the filter -> what is wrong with it
	Days      []day
	Count     int
	Older     bool       // begins at a cursor: what is new does not belong here
	NextURL   string     // the next page; "" at the end
	Feeds     []feedLink // the same view as a feed
	OPML      string     // the sources of the view as a list
	Pictures  bool       // the reader wants pictures, which come from the sites themselves
}

// offer is what the filter's form offers.
type offer struct {
	Count   int // of all sources
	Folders []choice
	Types   []choice
	Sources []choice
	Search  string // a part of the names of the sources
}

// All says that every source is listed.
func (o offer) All() bool { return o.Count <= mostOffer }

// choice is a value that the form offers.
type choice struct {
	Value  string
	Name   string
	Chosen bool
}

const (
	riverLimit = 200 // U1
	mostOffer  = 60  // sources that the filter lists; of more, those that are looked for
)

func (s *Server) showRiver(w http.ResponseWriter, r *http.Request) error {
	return s.writeRiver(w, r, view{query: r.URL.Query()})
}

// showNamed shows the river that has a name.
func (s *Server) showNamed(w http.ResponseWriter, r *http.Request) error {
	saved, err := s.Store.SavedRiver(r.Context(), r.PathValue("name"))
	if err != nil {
		return err
	}
	q, err := url.ParseQuery(saved.Query)
	if err != nil {
		return err
	}
	q.Set("cursor", r.URL.Query().Get("cursor"))
	return s.writeRiver(w, r, view{name: saved.Name, query: q})
}

// view is which river is shown.
type view struct {
	name             string // of a named one
	query            url.Values
	given, wrongName string // a name that was refused, and why
}

func (s *Server) writeRiver(w http.ResponseWriter, r *http.Request, v view) error {
	page := riverPage{Name: v.name, NewName: v.given, WrongName: v.wrongName, Filter: filterOf(v.query), Wrong: map[string]string{}, Pictures: wantsPictures(r)}
	var err error
	if page.layout, err = s.newLayout(r, "river", riverTitle(v.name)); err != nil {
		return err
	}
	if page.Rivers, err = s.Store.Rivers(r.Context()); err != nil {
		return err
	}
	query, wrong := riverQuery(page.Filter.input(), page.Now)
	if page.Offer, err = s.offer(r.Context(), page.Filter, query.Sources, v.query.Get("source")); err != nil {
		return err
	}
	page.Chips = page.Filter.chips(page.Offer.names())
	page.Feeds, page.OPML = feedLinks(v.query)
	if wrong != nil {
		if page.Wrong = wrongFields(wrong); page.Wrong == nil {
			return wrong
		}
		return render(w, http.StatusUnprocessableEntity, "river", page)
	}
	if err := s.fill(r.Context(), &page, query); err != nil {
		return err
	}
	status := http.StatusOK
	if v.wrongName != "" {
		status, page.Back = http.StatusUnprocessableEntity, address("/", page.Filter.Values())
	}
	return render(w, status, "river", page)
}

func riverTitle(name string) string {
	if name == "" {
		return "River"
	}
	return name
}

// fill reads the page's items, and where the reader is among them.
func (s *Server) fill(ctx context.Context, page *riverPage, query store.RiverQuery) error {
	result, err := s.Store.River(ctx, query)
	if err != nil {
		return err
	}
	visit, err := s.visit(ctx, page, query, result.Items)
	if err != nil {
		return err
	}
	page.Count, page.Older = len(result.Items), query.After != freshet.Place{}
	if page.Count == 0 && page.Offer.Count > 0 && !page.Older && !page.Filter.Active() {
		page.Waiting = true // for the first polls
	}
	fold := query.Text == "" && len(query.Sources) != 1 && hasMany(result.Items)
	page.Days = days(result.Items, hereIndex(result.Items, query.After, visit.Line), fold)
	if result.More {
		q := page.Filter.Values()
		path := "/"
		if page.Name != "" {
			q, path = url.Values{}, riverPath(page.Name)
		}
		q.Set("cursor", result.Next.String())
		page.NextURL = address(path, q)
	}
	return nil
}

// visit is the reader's visit. The first page of the whole river or of a named one is a step of it.
func (s *Server) visit(ctx context.Context, page *riverPage, query store.RiverQuery, items []freshet.Item) (freshet.Visit, error) {
	first, own := query.After == freshet.Place{}, page.Name != "" || !page.Filter.Active()
	if first && own && len(items) > 0 {
		return s.Store.ShowRiver(ctx, page.Name, items[0].Place(), page.Now)
	}
	return s.Store.Visit(ctx, page.Name)
}

// wrongFields are the fields of the filter that a problem names, nil when it names none.
func wrongFields(err error) map[string]string {
	var p *Problem
	if !errors.As(err, &p) || len(p.Errors) == 0 {
		return nil
	}
	wrong := map[string]string{}
	for _, e := range p.Errors {
		wrong[name(e.Location)] = sentence(e.Message)
	}
	return wrong
}

// offer finds what the form offers: of many sources those that are chosen or looked for.
func (s *Server) offer(ctx context.Context, f filter, chosen []freshet.ID, search string) (o offer, err error) {
	o.Search = strings.TrimSpace(search)
	if o.Count, err = s.Store.CountSources(ctx); err != nil {
		return o, err
	}
	groups, err := s.Store.Groups(ctx)
	if err != nil {
		return o, err
	}
	for _, folder := range groups.Folders {
		o.Folders = append(o.Folders, choice{folder, folder, slices.Contains(f.Folders, folder)})
	}
	for _, kind := range groups.Types {
		o.Types = append(o.Types, choice{string(kind), kindWords[kind], slices.Contains(f.Types, string(kind))})
	}
	o.Sources, err = s.choices(ctx, o, chosen)
	return o, err
}

func (s *Server) choices(ctx context.Context, o offer, chosen []freshet.ID) (list []choice, err error) {
	limit := mostOffer
	if o.Search == "" && !o.All() {
		if limit = 0; len(chosen) == 0 {
			return nil, nil
		}
	}
	names, err := s.Store.SourceNames(ctx, o.Search, chosen, limit)
	for _, n := range names {
		list = append(list, choice{n.ID.String(), n.Name, slices.Contains(chosen, n.ID)})
	}
	return list, err
}

// names are the names of the sources that are offered, by id.
func (o offer) names() map[string]string {
	names := make(map[string]string, len(o.Sources))
	for _, c := range o.Sources {
		names[c.Value] = c.Name
	}
	return names
}

// showChoices answers the form's script with the sources that a part of a name finds.
func (s *Server) showChoices(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	chosen, err := feedIDs(filterOf(q).Feeds)
	if err != nil {
		return err
	}
	o := offer{Search: strings.TrimSpace(q.Get("source"))}
	if o.Count, err = s.Store.CountSources(r.Context()); err != nil {
		return err
	}
	if o.Sources, err = s.choices(r.Context(), o, chosen); err != nil {
		return err
	}
	return renderPart(w, http.StatusOK, "river", "choices", o)
}

// picturesCookie remembers that the reader wants pictures; without it pages load nothing from other sites (P2).
const picturesCookie = "freshet_pictures"

func wantsPictures(r *http.Request) bool {
	c, err := r.Cookie(picturesCookie)
	return err == nil && c.Value == "on"
}

// setPictures remembers whether the reader wants pictures.
func (s *Server) setPictures(w http.ResponseWriter, r *http.Request) error {
	c := &http.Cookie{Name: picturesCookie, Value: "on", Path: "/", MaxAge: int((365 * 24 * time.Hour).Seconds()), HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if r.PostForm.Get("pictures") != "on" {
		c.Value, c.MaxAge = "", -1
	}
	http.SetCookie(w, c)
	http.Redirect(w, r, ownPath(r.PostForm.Get("back")), http.StatusSeeOther)
	return nil
}

// itemPage shows one item with its stored text.
type itemPage struct {
	layout
	Item     store.ItemDetail
	Changes  []change // what changed of a page since its last version
	Text     []string // paragraphs
	Pictures bool
}

func (s *Server) showItem(w http.ResponseWriter, r *http.Request) error {
	id, err := freshet.ParseID(r.PathValue("id"))
	if err != nil {
		return err
	}
	detail, err := s.Store.Item(r.Context(), id)
	if err != nil {
		return err
	}
	l, err := s.newLayout(r, "river", detail.Title)
	if err != nil {
		return err
	}
	changes, text := freshet.SplitChanges(detail.Body)
	return render(w, http.StatusOK, "item", itemPage{layout: l, Item: detail, Changes: readChanges(changes), Text: paragraphs(text), Pictures: wantsPictures(r)})
}

// paragraphs are the lines of a text that say something.
func paragraphs(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
}

// pictureOf is the address of a picture that may be shown: one that nobody on the way can read along.
func pictureOf(address string) string {
	if isWeb(address, "https://") {
		return address
	}
	return ""
}
