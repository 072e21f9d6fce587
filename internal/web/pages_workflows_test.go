package web

import (
	"errors"
	"html"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"freshet"
	"freshet/internal/store"
)

// workflowFields are those of a form that can be saved.
func workflowFields(change ...string) url.Values {
	form := url.Values{"name": {"Releases"}, "url": {"https://example.org/feed"}, "content_type": {"rss"}, "interval_minutes": {"15"}, "first_poll": {"all"},
		"batch": {"poll"}, "enabled": {"1"}, "action0_type": {"webhook"}, "action0_url": {"https://a.example/hook"}, "do": {"save"}}
	for i := 0; i < len(change); i += 2 {
		form.Set(change[i], change[i+1])
	}
	return form
}

// theWorkflow is the only one there is.
func (s *site) theWorkflow() freshet.Workflow {
	s.t.Helper()
	list, err := s.Store.Workflows(s.t.Context())
	if err != nil || len(list) != 1 {
		s.t.Fatalf("%d workflows (%v)", len(list), err)
	}
	return list[0]
}

var wrongField = regexp.MustCompile(`id="wrong-([a-z0-9_]+)">([^<]+)<`)

// What is wrong with the form of a workflow stands beside its field, all at once, what was typed stays, and nothing is saved.
func TestWorkflowFormNamesEveryField(t *testing.T) {
	for name, test := range map[string]struct {
		change []string
		want   []string
	}{
		"interval 4":           {[]string{"interval_minutes", "4"}, []string{"interval_minutes"}},
		"interval in words":    {[]string{"interval_minutes", "often"}, []string{"interval_minutes"}},
		"no URL":               {[]string{"url", ""}, []string{"url"}},
		"ftp URL":              {[]string{"url", "ftp://example.org/feed"}, []string{"url"}},
		"unknown content type": {[]string{"content_type", "pdf"}, []string{"content_type"}},
		"unknown action":       {[]string{"action0_type", "fax"}, []string{"action0_type"}},
		"filter is none":       {[]string{"filter", "title contains"}, []string{"filter"}},
		"long name":            {[]string{"name", strings.Repeat("x", 300)}, []string{"name"}},
		"everything": {[]string{"name", "", "url", "gopher://x", "content_type", "pdf", "interval_minutes", "1", "filter", "(", "first_poll", "some", "batch", "window",
			"action0_url", "x", "action0_secret", "hush", "action0_headers", "no colon", "action1_type", "command", "action2_type", "queue", "action2_url", "http://x"},
			[]string{"action0_headers", "action0_secret", "action0_url", "action1_command", "action2_url", "content_type", "filter", "first_poll", "interval_minutes", "name", "url", "window_minutes"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, nil)
			form := workflowFields(test.change...)
			a := s.send("/workflows", form)
			var fields []string
			for _, match := range wrongField.FindAllStringSubmatch(a.Body.String(), -1) {
				fields = append(fields, match[1])
				if len(match[2]) < 10 {
					t.Errorf("%s has no reason: %q", match[1], match[2])
				}
			}
			slices.Sort(fields)
			if a.Code != 422 || !slices.Equal(fields, test.want) {
				t.Errorf("%d names %q, want %q", a.Code, fields, test.want)
			}
			if shown := html.UnescapeString(a.Body.String()); !strings.Contains(shown, form.Get("url")) || !strings.Contains(shown, "Nothing was saved") {
				t.Error("what was typed is gone, or it is not said that nothing was saved")
			}
			list, err := s.Store.Workflows(t.Context())
			sources, err2 := s.Store.Sources(t.Context(), store.SourceFilter{Hidden: true, Removed: true})
			if len(list)+len(sources) != 0 || errors.Join(err, err2) != nil {
				t.Errorf("%d workflows and %d sources were kept (%v, %v)", len(list), len(sources), err, err2)
			}
			if got := s.want(200, "POST", "/workflows/check", form.Encode(), "Content-Type: application/x-www-form-urlencoded"); len(got.json["wrong"].(map[string]any)) != len(test.want) {
				t.Errorf("the check while typing says %s", got.Body)
			}
		})
	}
	s := newSite(t, nil)
	if a := s.send("/workflows", workflowFields("name", strings.Repeat("x", 10<<20))); a.Code != 413 {
		t.Errorf("10 MB of name: %d", a.Code)
	}
}

// Each webhook's secret is shown when it is made, and never again; a form that is sent back as it was shown keeps everything.
func TestWorkflowFormKeepsWhatItDoesNotShow(t *testing.T) {
	s := newSite(t, nil)
	a := s.send("/workflows", workflowFields("action0_headers", "B: two-two-two-two-two\nA: one", "action1_type", "webhook", "action1_url", "https://b.example/hook"))
	made := s.theWorkflow()
	for i, action := range made.Actions {
		if strings.Count(html.UnescapeString(a.Body.String()), action.Secret) != 1 || i == 1 && action.Secret == made.Actions[0].Secret {
			t.Errorf("the secret of action %s is not shown once", action.ID)
		}
	}
	_, err := s.Store.EditWorkflow(t.Context(), made.ID, time.Now(), func(w *freshet.Workflow) (bool, error) {
		w.Trigger.Config.ContentType, w.Trigger.Config.On = freshet.ContentAtom, []freshet.Change{freshet.ChangeUpdated}
		w.Actions[1].Disabled = "It is gone (410)."
		return false, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	made = s.theWorkflow()
	address := "/workflows/" + made.ID.String()
	page := s.want(200, "GET", address, "", "Accept: text/html").Body.String()
	if strings.Contains(html.UnescapeString(page), made.Actions[0].Secret) || strings.Contains(page, "two-two") {
		t.Error("the page shows a secret")
	}
	form := formOf(t, page)
	if a := s.send(address, form); a.Code != 303 {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	after := s.theWorkflow()
	if got, want := freshet.MarshalData(after.Definition), freshet.MarshalData(made.Definition); string(got) != string(want) {
		t.Errorf("saved as it was shown it is\n%s\nand was\n%s", got, want)
	}
	form.Set("action1_url", "https://c.example/hook")
	form.Set("name", "Another")
	s.send(address, form)
	if after := s.theWorkflow(); after.Actions[1].Disabled != "" || after.Name != "Another" || after.Actions[0].Secret != made.Actions[0].Secret {
		t.Errorf("an action that leads elsewhere: %+v", after.Actions[1])
	}
}

var (
	input      = regexp.MustCompile(`<input ([^>]*)>`)
	textarea   = regexp.MustCompile(`(?s)<textarea name="([^"]+)"[^>]*>(.*?)</textarea>`)
	option     = regexp.MustCompile(`(?s)<select name="([^"]+)"[^>]*>.*?<option value="([^"]*)" selected>`)
	fieldName  = regexp.MustCompile(`name="([^"]*)"`)
	fieldValue = regexp.MustCompile(`value="([^"]*)"`)
)

// formOf is what a browser would send of the form of a page.
func formOf(t *testing.T, page string) url.Values {
	t.Helper()
	_, rest, _ := strings.Cut(page, `<form id="workflow"`)
	body, _, found := strings.Cut(rest, "</form>")
	if !found {
		t.Fatalf("there is no form in %s", page)
	}
	form := url.Values{"do": {"save"}}
	set := func(name, value string) { form.Set(name, html.UnescapeString(value)) }
	for _, field := range input.FindAllStringSubmatch(body, -1) {
		name, value := fieldName.FindStringSubmatch(field[1]), fieldValue.FindStringSubmatch(field[1])
		choice := strings.Contains(field[1], `type="radio"`) || strings.Contains(field[1], `type="checkbox"`)
		if name != nil && value != nil && (!choice || strings.Contains(field[1], " checked")) {
			set(name[1], value[1])
		}
	}
	for _, field := range slices.Concat(textarea.FindAllStringSubmatch(body, -1), option.FindAllStringSubmatch(body, -1)) {
		set(field[1], field[2])
	}
	if len(slices.Collect(maps.Keys(form))) < 12 {
		t.Fatalf("the form has only %v", form)
	}
	return form
}

// A rehearsal and one more action keep nothing, and the form stays as it was filled in.
func TestWorkflowFormRehearses(t *testing.T) {
	s := newSite(t, nil)
	s.add("https://example.org/feed")
	s.poll(posts(post("a", 5), post("b", 6)))
	a := s.send("/workflows", workflowFields("do", "rehearse", "batch", "item", "filter", `title contains "a"`))
	if body := a.Body.String(); a.Code != 200 || !strings.Contains(body, "it would have run 1 time: 1 of 2 entries pass") || !strings.Contains(body, "Nothing was saved or sent") {
		t.Errorf("%d %s", a.Code, body)
	}
	a = s.send("/workflows", workflowFields("do", "action"))
	if form := formOf(t, a.Body.String()); a.Code != 200 || form.Get("action0_url") != "https://a.example/hook" || form.Get("action1_type") != "webhook" {
		t.Errorf("%d %v", a.Code, form)
	}
	if list, err := s.Store.Workflows(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%d workflows were kept (%v)", len(list), err)
	}
}
