package web

import (
	"html/template"
	"net/http"
)

// loginForm is what the login page shows.
type loginForm struct {
	Next    string   // where to go after it
	Problem *Problem // what was wrong with the last try, nil for none
}

var plainPages = template.Must(template.New("").Parse(`{{define "head"}}<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.}} · Freshet</title><h1>{{.}}</h1>{{end}}
{{define "problem"}}{{template "head" .Title}}<p>{{.Detail}}</p>{{range .Errors}}<p>{{.Location}}: {{.Message}}</p>{{end}}<p><a href="/">To the river</a></p>{{end}}
{{define "login"}}{{template "head" "Log in"}}{{with .Problem}}<p role="alert">{{.Detail}}</p>{{end}}<form method="post" action="/login"><input type="hidden" name="next" value="{{.Next}}"><label>Password <input type="password" name="password" autocomplete="current-password" required autofocus></label> <button>Log in</button></form>{{end}}`))

// showProblem answers with a page that says what is wrong.
func (s *Server) showProblem(w http.ResponseWriter, _ *http.Request, p *Problem) {
	showPlain(w, p.Status, "problem", p)
}

// showLogin answers with the login form.
func (s *Server) showLogin(w http.ResponseWriter, _ *http.Request, form loginForm) error {
	status := http.StatusOK
	if form.Problem != nil {
		status = form.Problem.Status
	}
	showPlain(w, status, "login", form)
	return nil
}

func showPlain(w http.ResponseWriter, status int, name string, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = plainPages.ExecuteTemplate(w, name, data) // the asker is gone if this fails
}
