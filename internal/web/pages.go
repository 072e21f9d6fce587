package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"freshet"
)

//go:embed templates static packs
var embedded embed.FS

// layout is what every page shows around its own part.
type layout struct {
	Title   string
	Here    string           // the part of the site that is shown: "river", "sources"
	Back    string           // the address of the page, for forms that lead back to it
	Event   int64            // the last event that the page knows of
	Refresh *freshet.Refresh // by hand, that runs or ended just now
	Offline time.Time        // since when our own network is down (S5)
	Notice  string           // what the last form did
	Problem string           // what is wrong with what the last form sent
	Now     time.Time
	Plain   bool // a page that knows nothing of the river: no navigation, no events
	Waiting bool // for something that a page without script sees only when it is loaded again

	Packs     []pack // to begin with
	Retention string // how long items stay
}

// notices are the sentences that a redirect may ask the next page to show: a fixed list, so that no
// link can make our pages say something else.
var notices = map[string]string{
	"added":     "Added. Its first poll is under way.",
	"removed":   "Removed. It is not polled any more; what it brought stays until retention takes it.",
	"restored":  "It is back, with everything that it had.",
	"packed":    "Added. First polls are under way; what they bring appears here.",
	"nochoice":  "Nothing was chosen.",
	"paused":    "Paused. It is not polled until you resume it.",
	"resumed":   "Resumed. It is polled now.",
	"saved":     "Saved.",
	"forgotten": "The name is forgotten. This is what it stood for.",
	"refresh":   "A refresh is under way.",
	"putoff":    "Its server asked for a pause, so it is left alone until then.",
	"nothing":   "There is nothing to refresh yet.",
	"enabled":   "Switched on. Its address is looked at now.",
	"disabled":  "Switched off. It does not look any more; what waits to be delivered still is.",
	"deleted":   "Deleted.",
	"tested":    "A test is on its way; it is the first of the runs below.",
	"retried":   "It is tried again now.",
	"cancelled": "Cancelled.",

	"briefed":      "Made. Its sources are polled now; compose when something has come.",
	"composed":     "Composed.",
	"nothingnew":   "Nothing has come since the last time.",
	"acknowledged": "Acknowledged. They are kept, and not shown again.",
	"takenout":     "Taken out. It is polled no more where nobody else wants it.",
}

// tellRefresh is how long a page tells how the last refresh ended.
const tellRefresh = time.Minute

// newLayout gathers what is around every page.
func (s *Server) newLayout(r *http.Request, here, title string) (layout, error) {
	l := layout{
		Title: title, Here: here, Now: time.Now().UTC(), Notice: notices[r.URL.Query().Get("notice")],
		Back: backOf(r, here), Packs: s.packs, Retention: freshet.Span(s.Store.Settings().Retention),
		Offline: s.Offline(),
	}
	var err error
	if l.Event, err = s.Store.LastEvent(r.Context()); err != nil {
		return l, err
	}
	last, ok, err := s.Store.LastRefresh(r.Context())
	if ok && last.Total > 0 && (last.Running() || l.Now.Sub(last.FinishedAt) < tellRefresh) {
		l.Refresh, l.Waiting = &last, last.Running()
	}
	return l, err
}

// partRoots are the first pages of the parts of the site.
var partRoots = map[string]string{"river": "/", "sources": "/sources", "workflows": "/workflows"}

// backOf is where the forms of a page lead back to: to its own address or, where it answers a form and has none, to its
// part of the site.
func backOf(r *http.Request, here string) string {
	if r.Method == http.MethodPost {
		return partRoots[here]
	}
	return address(r.URL.EscapedPath(), withoutNotice(r.URL.Query()))
}

// withoutNotice takes out of a query what the page before told.
func withoutNotice(q url.Values) url.Values {
	q.Del("notice")
	q.Del("removed")
	return q
}

// pageTemplates are the pages by name. Each is parsed, together with the layout and the shared parts, when it is
// first shown: all of them take more memory than anything else that a start makes.
var pageTemplates = parsePages()

func parsePages() map[string]func() *template.Template {
	base := sync.OnceValue(func() *template.Template {
		return template.Must(template.New("").Funcs(pageFuncs).ParseFS(embedded, "templates/layout.html", "templates/parts.html", "templates/sourceparts.html"))
	})
	files, err := fs.Glob(embedded, "templates/*.html")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	pages := map[string]func() *template.Template{}
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".html")
		if name != "layout" && name != "parts" && name != "sourceparts" {
			pages[name] = sync.OnceValue(func() *template.Template {
				return template.Must(template.Must(base().Clone()).ParseFS(embedded, file))
			})
		}
	}
	return pages
}

var pageFuncs = template.FuncMap{
	"ago":       ago,
	"until":     until,
	"iso":       func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"stamp":     func(t time.Time) string { return t.UTC().Format("Monday 2 January 2006, 15:04 UTC") },
	"asset":     assetURL,
	"modules":   modules,
	"plural":    plural,
	"span":      freshet.Span,
	"webLink":   freshet.WebLink,
	"dict":      dict,
	"riverPath": riverPath,
	"pictureOf": pictureOf,
	"progress":  progress,
}

// dict makes the argument of a shared part out of names and values.
func dict(pairs ...any) map[string]any {
	m := make(map[string]any, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

// render writes a page; nothing is sent before all of it is made.
func render(w http.ResponseWriter, status int, name string, page any) error {
	return renderPart(w, status, name, "layout", page)
}

// renderPart is render for one part of a page.
func renderPart(w http.ResponseWriter, status int, name, part string, page any) error {
	var b bytes.Buffer
	if err := pageTemplates[name]().ExecuteTemplate(&b, part, page); err != nil {
		return fmt.Errorf("make page %s: %w", name, err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, err := b.WriteTo(w)
	return err
}

// ago says how long ago t was, as people do.
func ago(t, now time.Time) string {
	switch d := now.Sub(t); {
	case t.IsZero():
		return "never"
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	case d < 48*time.Hour:
		return "yesterday"
	case d < 30*24*time.Hour:
		return fmt.Sprintf("%d days ago", int(d.Hours()/24))
	default:
		return t.Format("2 January 2006")
	}
}

// until says how long it is to t.
func until(t, now time.Time) string {
	if !t.After(now) {
		return "now"
	}
	return "in " + freshet.Span(t.Sub(now).Round(time.Second))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// needALook says what was not done, because of how many fields of a form.
func needALook(undone string, wrong map[string]string) string {
	return undone + ": " + plural(len(wrong), "field needs", "fields need") + " a look."
}

// assets are the files of static/ by name; their version is a hash of them all. It is part of their
// address, under which browsers may keep them for ever and modules find one another.
var assets, assetVersion = loadAssets()

func loadAssets() (files map[string][]byte, version string) {
	list, err := fs.ReadDir(embedded, "static")
	if err != nil {
		panic(err) // embedded at build time
	}
	files, sum := map[string][]byte{}, sha256.New()
	for _, f := range list {
		body, err := embedded.ReadFile("static/" + f.Name())
		if err != nil {
			panic(err)
		}
		files[f.Name()] = body
		sum.Write(body)
	}
	return files, hex.EncodeToString(sum.Sum(nil)[:6])
}

func assetURL(name string) string { return "/static/" + assetVersion + "/" + name }

// modules are the scripts that every page's first one asks for, for browsers to fetch at once.
func modules() []string { return firstModules }

var firstModules = importsOf("freshet.js", nil)

var moduleImport = regexp.MustCompile(`(?m)^import .*"\./([a-z]+\.js)";$`)

// importsOf adds what a script asks for, and what that asks for in turn.
func importsOf(name string, names []string) []string {
	for _, m := range moduleImport.FindAllSubmatch(assets[name], -1) {
		if other := string(m[1]); !slices.Contains(names, other) {
			names = importsOf(other, append(names, other))
		}
	}
	return names
}

// staticFile answers with an embedded file.
func (s *Server) staticFile(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	body, ok := assets[name]
	if !ok {
		return freshet.ErrNotFound
	}
	if r.PathValue("version") == assetVersion {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(body))
	return nil
}

// backTo leads to a page of ours after a form, with a notice.
func backTo(w http.ResponseWriter, r *http.Request, address, notice string) error {
	u, err := url.Parse(ownPath(address))
	if err != nil {
		u = &url.URL{Path: "/"}
	}
	q := u.Query()
	q.Set("notice", notice)
	u.RawQuery = q.Encode()
	http.Redirect(w, r, u.String(), http.StatusSeeOther)
	return nil
}
