package web

import "testing"

// Pages are parsed when they are first shown; a page that cannot be is found here.
func TestPagesParse(t *testing.T) {
	if len(pageTemplates) == 0 {
		t.Error("there are no pages")
	}
	for name, page := range pageTemplates {
		if page().Lookup("layout") == nil {
			t.Errorf("page %s has no layout", name)
		}
	}
}
