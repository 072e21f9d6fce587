package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// askWho answers somebody we do not know: people with a browser get the login page.
func (s *Server) askWho(w http.ResponseWriter, r *http.Request, err error) {
	var p *Problem
	if wantsPage(r) && r.Method == http.MethodGet && errors.As(err, &p) && p.Status == http.StatusUnauthorized {
		http.Redirect(w, r, "/login?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
		return
	}
	w.Header().Add("WWW-Authenticate", `Bearer realm="Freshet"`)
	if r.Header.Get("Sec-Fetch-Mode") == "" { // a page's own script would make the browser ask
		w.Header().Add("WWW-Authenticate", `Basic realm="Freshet", charset="UTF-8"`)
	}
	s.fail(w, r, err)
}

func (s *Server) loginForm(w http.ResponseWriter, r *http.Request) error {
	if s.guard.secrets == nil {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return nil
	}
	return s.showLogin(w, r, loginForm{Next: ownPath(r.URL.Query().Get("next"))})
}

func (s *Server) login(w http.ResponseWriter, r *http.Request) error {
	x := s.guard.secrets
	next := ownPath(r.PostForm.Get("next"))
	if x != nil {
		if err := x.try(r.PostForm.Get("password")); err != nil {
			return s.showLogin(w, r, loginForm{Next: next, Wrong: problemOf(err)})
		}
		http.SetCookie(w, x.cookie(r, x.sign(time.Now().Add(sessionLength)), sessionLength))
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
	return nil
}

func (s *Server) logout(w http.ResponseWriter, r *http.Request) error {
	if x := s.guard.secrets; x != nil {
		http.SetCookie(w, x.cookie(r, "", -time.Second))
	}
	http.Redirect(w, r, "/login", http.StatusSeeOther)
	return nil
}

// formError keeps a body that is too large apart from one that is no form.
func formError(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return err
	}
	return problem(badRequest, "The form cannot be read.")
}

// ownPath is where to go after the login: a path of ours and never another site.
func ownPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}
