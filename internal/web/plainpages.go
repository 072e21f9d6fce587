package web

import (
	"log/slog"
	"net/http"
	"time"
)

// problemPage says what is wrong. It needs nothing of the store, which may be what is wrong.
type problemPage struct {
	layout
	What *Problem
}

// showProblem answers with a page that says what is wrong.
func (s *Server) showProblem(w http.ResponseWriter, _ *http.Request, p *Problem) {
	s.showPlain(w, p.Status, "problem", problemPage{plainLayout(p.Title), p})
}

// loginForm is what the login page shows.
type loginForm struct {
	layout
	Next  string   // where to go after it
	Wrong *Problem // what was wrong with the last try, nil for none
}

// showLogin answers with the login form.
func (s *Server) showLogin(w http.ResponseWriter, _ *http.Request, form loginForm) error {
	status := http.StatusOK
	if form.Wrong != nil {
		status = form.Wrong.Status
	}
	form.layout = plainLayout("Log in")
	s.showPlain(w, status, "login", form)
	return nil
}

// plainLayout is the layout of a page that knows nothing of the river.
func plainLayout(title string) layout {
	return layout{Title: title, Plain: true, Now: time.Now().UTC()}
}

func (s *Server) showPlain(w http.ResponseWriter, status int, name string, page any) {
	if err := render(w, status, name, page); err != nil {
		s.Logger.Debug("page not sent", slog.String("page", name), attrErr(err))
	}
}
