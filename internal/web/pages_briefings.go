package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"freshet"
	"freshet/internal/store"
)

// briefingsView lists the briefings and has the form of a new one (SPEC.md section 8).
type briefingsView struct {
	layout
	Briefings []freshet.Briefing
	Form      briefingForm
}

// briefingView is one briefing: the articles that wait, its sources, its settings.
type briefingView struct {
	layout
	freshet.Briefing
	Articles []freshet.Article
	More     bool
	Form     briefingForm
}

// briefingForm is a form as it was filled in.
type briefingForm struct {
	Name, Owner, Days, Every string
	Addresses                string // one a line
	Type                     freshet.Type
}

func readBriefingForm(f url.Values) briefingForm {
	field := func(name string) string { return strings.TrimSpace(f.Get(name)) }
	return briefingForm{Name: field("name"), Owner: field("owner"), Days: field("days"), Every: field("every"),
		Addresses: f.Get("addresses"), Type: freshet.Type(f.Get("type"))}
}

// briefingFormOf is the form with what a briefing has.
func briefingFormOf(b *freshet.Briefing) briefingForm {
	shown := ShowBriefing(b)
	return briefingForm{Name: b.Name, Owner: b.Owner, Days: decimal(&shown.MaxArticleAgeDays), Every: decimal(shown.IntervalMinutes)}
}

// apply puts the settings of the form into a briefing.
func (f *briefingForm) apply(b *freshet.Briefing) error {
	b.Name, b.Owner, b.Interval = f.Name, f.Owner, 0
	b.MaxAge = freshet.NewBriefing("", "").MaxAge
	if f.Days != "" {
		days, err := strconv.ParseFloat(f.Days, 64)
		if err != nil {
			return &freshet.FieldError{Field: "max_article_age_days", Reason: "must be a number of days"}
		}
		b.MaxAge = ageOf(days)
	}
	if f.Every != "" {
		every, err := strconv.ParseFloat(f.Every, 64)
		if err != nil {
			return &freshet.FieldError{Field: "interval_minutes", Reason: "must be a number of minutes"}
		}
		b.Interval = minutes(every)
	}
	return nil
}

// sourcesOf are the addresses of the form as sources.
func (s *Server) sourcesOf(f *briefingForm) ([]store.BriefingSource, error) {
	var list []briefingSourceInput
	for _, address := range strings.Fields(f.Addresses) {
		list = append(list, briefingSourceInput{URL: address, Type: cmp.Or(f.Type, freshet.RSS)})
	}
	sources, err := s.briefingSources(list[:min(len(list), mostAddresses)])
	var wrong *Problem
	var at int
	if errors.As(err, &wrong) && len(wrong.Errors) > 0 {
		if _, none := fmt.Sscanf(wrong.Errors[0].Location, "body.sources[%d]", &at); none == nil { // a form has addresses, not places in a document
			return nil, problem(invalid, list[at].URL+": "+wrong.Errors[0].Message+".", wrong.Errors...)
		}
	}
	return sources, err
}

// mostAddresses is how many addresses of a form are taken.
const mostAddresses = 1000

func (s *Server) showBriefings(w http.ResponseWriter, r *http.Request) error {
	return s.renderBriefings(w, r, briefingForm{}, nil)
}

// renderBriefings shows the list, with what is wrong in the form of a new one.
func (s *Server) renderBriefings(w http.ResponseWriter, r *http.Request, form briefingForm, wrong error) error {
	l, err := s.newLayout(r, "sources", "Briefings")
	if err != nil {
		return err
	}
	page := briefingsView{layout: l, Form: form}
	page.Back = "/briefings"
	if page.Briefings, err = s.Store.Briefings(r.Context()); err != nil {
		return err
	}
	status, err := page.tell(wrong)
	if err != nil {
		return err
	}
	return render(w, status, "briefings", page)
}

// tell shows an error that whoever filled a form in can mend; another is returned.
func (l *layout) tell(wrong error) (status int, err error) {
	if wrong == nil {
		return http.StatusOK, nil
	}
	told := problemOf(wrong)
	if told.Status == http.StatusInternalServerError || errors.Is(wrong, freshet.ErrNotFound) {
		return 0, wrong
	}
	l.Problem = told.Detail
	return told.Status, nil
}

func (s *Server) sendBriefing(w http.ResponseWriter, r *http.Request) error {
	form := readBriefingForm(r.PostForm)
	var b freshet.Briefing
	sources, err := s.sourcesOf(&form)
	if err == nil {
		err = form.apply(&b)
	}
	if err == nil {
		b, err = s.Store.AddBriefing(r.Context(), b, sources, time.Now())
	}
	if err != nil {
		return s.renderBriefings(w, r, form, err)
	}
	return s.changed(w, r, nil, briefingPath(b.ID), "briefed")
}

func briefingPath(id freshet.ID) string { return "/briefings/" + id.String() }

const (
	articlesShown = 100
	textShown     = 2000 // characters of an article
)

func (s *Server) showBriefing(w http.ResponseWriter, r *http.Request) error {
	return s.renderBriefing(w, r, nil, nil)
}

// renderBriefing shows one briefing, with what is wrong in a form of it.
func (s *Server) renderBriefing(w http.ResponseWriter, r *http.Request, form *briefingForm, wrong error) error {
	b, err := s.briefing(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	l, err := s.newLayout(r, "sources", b.Name)
	if err != nil {
		return err
	}
	page := briefingView{layout: l, Briefing: b, Form: briefingFormOf(&b)}
	page.Back = briefingPath(b.ID)
	if form != nil {
		page.Form = *form
	}
	if page.Articles, page.More, err = s.Store.Articles(r.Context(), store.ArticleQuery{Briefing: b.ID, Limit: articlesShown}); err != nil {
		return err
	}
	for i := range page.Articles {
		a := &page.Articles[i]
		a.Text = firstOf(a.Text, textShown)
	}
	status, err := page.tell(wrong)
	if err != nil {
		return err
	}
	return render(w, status, "briefing", page)
}

// firstOf is the first n characters of a text, with dots where that is not all.
func firstOf(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i] + "…"
		}
		n--
	}
	return text
}

// pressBriefing carries out a button of a briefing: what is in the path's last part.
func (s *Server) pressBriefing(w http.ResponseWriter, r *http.Request) error {
	b, err := s.briefing(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	ctx, now, back := r.Context(), time.Now(), briefingPath(b.ID)
	switch r.PathValue("do") {
	case "compose":
		made, err := s.Store.Compose(ctx, b.ID, now)
		notice := "composed"
		if made.Articles == 0 {
			notice = "nothingnew"
		}
		return s.changed(w, r, err, back, notice)
	case "acknowledge":
		ids, err := articleIDs(r.PostForm["article"])
		if err == nil {
			_, err = s.Store.Acknowledge(ctx, b.ID, ids, now)
		}
		return s.changed(w, r, err, back, "acknowledged")
	case "remove":
		id, err := freshet.ParseID(r.PostForm.Get("source"))
		if err == nil {
			_, err = s.Store.RemoveFromBriefing(ctx, b.ID, id, now)
		}
		return s.changed(w, r, err, back, "takenout")
	case "delete":
		return s.changed(w, r, s.Store.RemoveBriefing(ctx, b.ID, now), "/briefings", "deleted")
	case "add", "save":
		return s.changeBriefing(w, r, &b)
	default:
		return freshet.ErrNotFound
	}
}

// changeBriefing carries out the form of more sources, or that of the settings.
func (s *Server) changeBriefing(w http.ResponseWriter, r *http.Request, b *freshet.Briefing) error {
	form := readBriefingForm(r.PostForm)
	if r.PathValue("do") == "add" {
		filled := briefingFormOf(b)
		filled.Addresses, filled.Type = form.Addresses, form.Type
		sources, err := s.sourcesOf(&form)
		if err == nil && len(sources) == 0 {
			err = &freshet.FieldError{Field: "addresses", Reason: "must not be empty"}
		}
		if err == nil {
			_, err = s.Store.AddToBriefing(r.Context(), b.ID, sources, time.Now())
		}
		if err != nil {
			return s.renderBriefing(w, r, &filled, err)
		}
		return s.changed(w, r, nil, briefingPath(b.ID), "added")
	}
	_, err := s.Store.EditBriefing(r.Context(), b.ID, time.Now(), form.apply)
	if err != nil {
		return s.renderBriefing(w, r, &form, err)
	}
	return s.changed(w, r, nil, briefingPath(b.ID), "saved")
}

// articleIDs reads the articles that a form names; none is an empty list, not all.
func articleIDs(list []string) ([]freshet.ID, error) {
	ids := make([]freshet.ID, len(list))
	for i, text := range list {
		var err error
		if ids[i], err = freshet.ParseID(text); err != nil {
			return nil, fmt.Errorf("article %q: %w", short(text), err)
		}
	}
	return ids, nil
}
