package web

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"freshet/internal/syndicate"
)

// routes is the one list of what the server answers.
func (s *Server) routes() {
	s.api = humago.New(apiMux{s.mux, s.plainAPI}, apiConfig(s.Version))

	typed(s, "GET /api/feeds", "list-feeds", "All feeds with their health and their next poll.", 200, s.listFeeds)
	typed(s, "POST /api/feeds", "add-feed", "Add a feed; its first fetch follows at once.", 201, s.addFeed)
	typed(s, "GET /api/feeds/{id}", "get-feed", "One feed with its last polls.", 200, s.getFeed)
	typed(s, "PATCH /api/feeds/{id}", "edit-feed", "Change what is given; null clears.", 200, s.editFeed)
	typed(s, "DELETE /api/feeds/{id}", "remove-feed", "Stop polling; its items stay until retention.", 204, s.removeFeed)
	typed(s, "POST /api/feeds/{id}/restore", "restore-feed", "Bring back a feed that was removed.", 200, s.restoreFeed)
	typed(s, "POST /api/feeds/{id}/refresh", "refresh-feed", "Poll one feed now.", 202, s.refreshFeed)
	typed(s, "POST /api/refresh", "refresh", "Poll all feeds now; one under way is joined.", 202, s.refreshAll)
	typed(s, "GET /api/refresh/{id}", "get-refresh", "How far a refresh is.", 200, s.getRefresh)
	typed(s, "GET /api/items", "list-items", "The river, newest first.", 200, s.listItems)
	typed(s, "GET /api/items/{id}", "get-item", "One item with its text and posts.", 200, s.getItem)
	typed(s, "GET /api/rivers", "list-rivers", "Filters of the river that have a name.", 200, s.listRivers)
	typed(s, "POST /api/rivers", "save-river", "Give a filter a name, in place of what had it before.", 200, s.saveRiver)
	typed(s, "DELETE /api/rivers/{name}", "remove-river", "Forget a named river.", 204, s.removeRiver)
	typed(s, "POST /api/place", "reach-item", "Note how far the reader came in a river.", 204, s.reach)
	s.briefingRoutes()
	typed(s, "PUT /api/credentials/{provider}", "set-credential", "Keep a token, sealed; sources that waited for it are polled.", 200, s.setCredential)
	typed(s, "GET /api/credentials/{provider}", "get-credential", "Whether a token is kept, and what was read with it; never the token.", 200, s.getCredential)
	typed(s, "DELETE /api/credentials/{provider}", "remove-credential", "Forget a token.", 204, s.removeCredential)
	typed(s, "POST /api/ingest", "ingest", "Poll once what is due and answer with the result.", 200, s.ingest, unhurried)
	typed(s, "POST /api/discover", "discover", "Find the feeds of an address that somebody pasted.", 200, s.discover, unhurried)
	typed(s, "GET /api/status", "status", "How the instance is.", 200, s.status)
	typed(s, "GET /api/workflows", "list-workflows", "All workflows with their state.", 200, s.listWorkflows)
	typed(s, "POST /api/workflows", "add-workflow", "Add a workflow; its address is polled at once.", 201, s.addWorkflow)
	typed(s, "POST /api/workflows/dry-run", "rehearse-workflow", "What a workflow would have fired; nothing is kept.", 200, s.rehearseWorkflow)
	typed(s, "GET /api/workflows/{id}", "get-workflow", "One workflow with what it has seen.", 200, s.getWorkflow)
	typed(s, "PUT /api/workflows/{id}", "replace-workflow", "Give it another definition; secrets that are left out stay.", 200, s.replaceWorkflow)
	typed(s, "DELETE /api/workflows/{id}", "delete-workflow", "Remove it; what waits to be delivered is cancelled.", 204, s.deleteWorkflow)
	typed(s, "PATCH /api/workflows/{id}/enabled", "switch-workflow", "Switch it on or off.", 200, s.switchWorkflow)
	typed(s, "POST /api/workflows/{id}/test", "test-workflow", "Carry out its actions once with its newest entries.", 202, s.testWorkflow)
	typed(s, "GET /api/workflows/{id}/executions", "list-workflow-executions", "What a workflow made, newest first.", 200, s.listWorkflowExecutions)
	typed(s, "GET /api/executions", "list-executions", "What workflows made, newest first.", 200, s.listExecutions)
	typed(s, "POST /api/executions/lease", "lease-executions", "Fetch executions of workflows without actions, to carry them out.", 200, s.leaseExecutions)
	typed(s, "GET /api/executions/{id}", "get-execution", "One execution with its data and attempts.", 200, s.getExecution)
	typed(s, "POST /api/executions/{id}/retry", "retry-execution", "Carry it out again, at once.", 200, s.retryExecution)
	typed(s, "POST /api/executions/{id}/cancel", "cancel-execution", "Do not carry it out any more.", 200, s.cancelExecution)
	typed(s, "POST /api/executions/{id}/ack", "ack-execution", "A worker says that it is done.", 200, s.ackExecution)
	typed(s, "POST /api/executions/{id}/nack", "nack-execution", "A worker says that it failed; it is tried again later.", 200, s.nackExecution)
	s.raw("GET /api/events", "events", "Server-sent events: new items, feed health, refresh progress.", eventsDoc, s.events)
	s.raw("GET /api/opml", "export-opml", "All feeds as OPML.", opmlDoc, s.exportOPML)
	s.raw("POST /api/opml", "import-opml", "Add the feeds of an OPML document.", importDoc, s.importOPML)

	s.plain("GET /openapi.json", s.openAPIJSON)
	s.plain("GET /openapi.yaml", s.openAPIYAML)
	s.plain("GET /problems/{slug}", s.explainProblem)
	s.plain("GET /healthz", s.healthz)
	s.plain("GET /readyz", s.readyz)
	s.mux.Handle("GET /metrics", s.Metrics)

	s.mux.Handle("GET /{$}", s.page(s.showRiver))
	s.mux.Handle("GET /choices", s.page(s.showChoices))
	s.mux.Handle("POST /rivers", s.form(s.nameRiver))
	s.mux.Handle("GET /rivers/{name}", s.page(s.showNamed))
	s.mux.Handle("POST /rivers/{name}/remove", s.page(s.forgetRiver))
	s.mux.Handle("POST /pictures", s.form(s.setPictures))
	for suffix := range syndicate.Formats {
		s.mux.Handle("GET /river."+suffix, zipped(s.feedOf(suffix)))
	}
	s.plain("GET /river.opml", s.listOf)
	s.plain("GET /system.atom", s.systemFeed)
	s.mux.Handle("GET /items/{id}", s.page(s.showItem))
	s.mux.Handle("GET /sources", s.page(s.showSources))
	s.mux.Handle("POST /sources", s.form(s.addSource))
	s.mux.Handle("POST /sources/import", s.upload(maxOPML, s.importList))
	s.mux.Handle("POST /sources/check", s.upload(maxOPML, s.checkList))
	s.mux.Handle("GET /sources/check/{id}", s.page(s.showCheck))
	s.mux.Handle("POST /sources/check/{id}", s.form(s.changeCheck))
	s.mux.Handle("POST /sources/packs/{name}", s.form(s.addPack))
	s.mux.Handle("GET /sources/{id}", s.page(s.showSource))
	s.mux.Handle("POST /sources/{id}/{do}", s.form(s.changeSource))
	s.mux.Handle("GET /briefings", s.page(s.showBriefings))
	s.mux.Handle("POST /briefings", s.form(s.sendBriefing))
	s.mux.Handle("GET /briefings/{id}", s.page(s.showBriefing))
	s.mux.Handle("POST /briefings/{id}/{do}", s.form(s.pressBriefing))
	s.mux.Handle("GET /workflows", s.page(s.workflowsPage))
	s.mux.Handle("GET /workflows/new", s.page(s.newWorkflowPage))
	s.mux.Handle("POST /workflows", s.form(s.sendWorkflow))
	s.mux.Handle("POST /workflows/check", s.form(s.checkWorkflow))
	s.mux.Handle("GET /workflows/{id}", s.page(s.workflowPage))
	s.mux.Handle("POST /workflows/{id}", s.form(s.sendWorkflow))
	s.mux.Handle("POST /workflows/{id}/{do}", s.form(s.pressWorkflow))
	s.mux.Handle("GET /executions/{id}", s.page(s.executionPage))
	s.mux.Handle("POST /executions/{id}/{do}", s.page(s.pressExecution))
	s.mux.Handle("POST /refresh", s.form(s.refreshRiver))
	s.mux.Handle("GET /static/{version}/{name}", s.page(s.staticFile))
	s.mux.Handle("GET /login", s.page(s.loginForm))
	s.mux.Handle("POST /login", s.form(s.login))
	s.mux.Handle("POST /logout", s.page(s.logout))

	s.openAPI = newDocuments(s.api.OpenAPI())
}

// typed registers a call whose input and output are Go types: decoded, checked and documented by
// huma.
func typed[I, O any](s *Server, route, id, summary string, status int,
	h func(context.Context, *I) (*O, error), around ...func(huma.Context, func(huma.Context))) {
	op := operation(route, id, summary)
	op.DefaultStatus, op.Middlewares = status, around
	op.MaxBodyBytes, op.BodyReadTimeout = -1, -1 // plainAPI has read it
	op.Responses = map[string]*huma.Response{"default": problemDoc}
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := h(ctx, in)
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		return out, nil
	})
}

// raw registers a call that reads or writes something other than JSON, with its own documentation.
func (s *Server) raw(route, id, summary string, doc func(*huma.Operation, huma.Registry), h func(http.ResponseWriter, *http.Request) error) {
	op := operation(route, id, summary)
	op.Responses = map[string]*huma.Response{"default": problemDoc}
	doc(&op, s.api.OpenAPI().Components.Schemas)
	s.api.OpenAPI().AddOperation(&op)
	s.plain(route, h)
}

// plain registers a handler whose error becomes a problem.
func (s *Server) plain(route string, h func(http.ResponseWriter, *http.Request) error) {
	s.mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}

// page is the adapter of the HTML pages: an error becomes a page that says what is wrong.
func (s *Server) page(h func(http.ResponseWriter, *http.Request) error) http.Handler {
	return s.upload(maxJSON, h)
}

// form is page for what a form sends, which is parsed when h begins.
func (s *Server) form(h func(http.ResponseWriter, *http.Request) error) http.Handler {
	return s.page(func(w http.ResponseWriter, r *http.Request) error {
		if err := r.ParseForm(); err != nil {
			return formError(err)
		}
		return h(w, r)
	})
}

// upload is page for a form with a body of up to limit bytes.
func (s *Server) upload(limit int64, h func(http.ResponseWriter, *http.Request) error) http.Handler {
	return zipped(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		w.Header().Set("Cache-Control", "private, no-cache")
		if err := h(w, r); err != nil {
			s.fail(w, r, err)
		}
	}))
}

// dispatch answers by the routes, and by a problem where no route fits.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request) {
	h, pattern := s.mux.Handler(r)
	if pattern != "" {
		s.mux.ServeHTTP(w, r)
		return
	}
	refusal := &headerOnly{header: http.Header{}}
	h.ServeHTTP(refusal, r)
	if allow := refusal.header.Get("Allow"); refusal.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", allow)
		s.fail(w, r, problem(methodNotAllowed, r.URL.Path+" knows "+allow+", not "+r.Method+"."))
		return
	}
	s.fail(w, r, problem(notFound, "There is nothing at "+r.URL.Path+"."))
}

// headerOnly keeps status and header of an answer.
type headerOnly struct {
	header http.Header
	status int
}

func (h *headerOnly) Header() http.Header         { return h.header }
func (h *headerOnly) Write(p []byte) (int, error) { return len(p), nil }
func (h *headerOnly) WriteHeader(status int)      { h.status = status }
