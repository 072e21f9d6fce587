package web

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// apiDocument is the OpenAPI document as a client reads it.
type apiDocument struct {
	root  map[string]any
	paths *http.ServeMux // finds the path of the document that a request is for
}

func newAPIDocument(t testing.TB, text []byte) *apiDocument {
	t.Helper()
	d := &apiDocument{paths: http.NewServeMux()}
	if err := json.Unmarshal(text, &d.root); err != nil {
		t.Fatal(err)
	}
	for path := range d.object("paths") {
		d.paths.Handle(path, http.NotFoundHandler())
	}
	return d
}

func (d *apiDocument) object(path ...any) map[string]any {
	o, _ := dig(d.root, path...).(map[string]any)
	return o
}

// check holds an answer against what the document says of it.
func (d *apiDocument) check(t testing.TB, r *http.Request, a reply) {
	t.Helper()
	_, path := d.paths.Handler(r)
	operation := d.object("paths", path, strings.ToLower(r.Method))
	if operation == nil {
		return // not a call of the API
	}
	response, _ := dig(operation, "responses", fmt.Sprint(a.Code)).(map[string]any)
	if response == nil {
		response, _ = dig(operation, "responses", "default").(map[string]any)
	}
	if response == nil {
		t.Errorf("%s %s answers %d, which the document does not know", r.Method, path, a.Code)
		return
	}
	content, _ := response["content"].(map[string]any)
	kind, _, _ := mime.ParseMediaType(a.Header().Get("Content-Type"))
	media, _ := content[kind].(map[string]any)
	if media == nil {
		if len(content) > 0 || a.Body.Len() > 0 {
			t.Errorf("%s %s answers %d as %q, which the document does not know", r.Method, path, a.Code, kind)
		}
		return
	}
	if !strings.HasSuffix(kind, "json") {
		return
	}
	schema, _ := media["schema"].(map[string]any)
	for _, wrong := range d.validate(schema, a.json, "$") {
		t.Errorf("%s %s answers %d unlike its document: %s\n%s", r.Method, path, a.Code, wrong, a.Body)
	}
}

// validate is as much of JSON Schema as the document uses; a keyword it does not know is an error.
func (d *apiDocument) validate(schema map[string]any, v any, at string) (wrong []string) {
	if ref, ok := schema["$ref"].(string); ok {
		target := d.object("components", "schemas", strings.TrimPrefix(ref, "#/components/schemas/"))
		if target == nil {
			return []string{at + ": " + ref + " is not in the document"}
		}
		return d.validate(target, v, at)
	}
	fail := func(format string, args ...any) { wrong = append(wrong, at+": "+fmt.Sprintf(format, args...)) }
	for keyword, rule := range schema {
		switch keyword {
		case "type":
			if types := asList(rule); !slices.ContainsFunc(types, func(t any) bool { return hasType(v, t) }) {
				fail("%v is none of %v", v, types)
			}
		case "enum":
			if !slices.Contains(rule.([]any), v) {
				fail("%v is none of %v", v, rule)
			}
		case "format":
			if s, ok := v.(string); ok && rule == "date-time" {
				if _, err := time.Parse(time.RFC3339, s); err != nil || !strings.HasSuffix(s, "Z") {
					fail("%q is no RFC 3339 time in UTC", s)
				}
			}
		case "properties":
			o, _ := v.(map[string]any)
			for name, sub := range rule.(map[string]any) {
				if inner, there := o[name]; there {
					wrong = append(wrong, d.validate(sub.(map[string]any), inner, at+"."+name)...)
				}
			}
		case "required":
			o, isObject := v.(map[string]any)
			for _, name := range rule.([]any) {
				if _, there := o[name.(string)]; isObject && !there {
					fail("%s is missing", name)
				}
			}
		case "additionalProperties":
			o, _ := v.(map[string]any)
			known, _ := schema["properties"].(map[string]any)
			for name := range o {
				if _, there := known[name]; !there && rule == false {
					fail("%s is not in the document", name)
				}
			}
		case "items":
			l, _ := v.([]any)
			for i, inner := range l {
				wrong = append(wrong, d.validate(rule.(map[string]any), inner, fmt.Sprintf("%s[%d]", at, i))...)
			}
		case "description", "examples", "default", "minimum", "maximum", "maxItems", "maxLength", "title", "contentEncoding", "readOnly":
		default:
			fail("the document uses %q, which this test does not know", keyword)
		}
	}
	return wrong
}

func asList(v any) []any {
	if l, ok := v.([]any); ok {
		return l
	}
	return []any{v}
}

func hasType(v, t any) bool {
	switch v := v.(type) {
	case nil:
		return t == "null"
	case bool:
		return t == "boolean"
	case string:
		return t == "string"
	case json.Number:
		_, err := v.Int64()
		return t == "number" || t == "integer" && err == nil
	case []any:
		return t == "array"
	default:
		return t == "object"
	}
}

// The checker itself: what is unlike the document is found.
func TestDocumentCheckerFinds(t *testing.T) {
	d := newAPIDocument(t, []byte(`{"paths":{},"components":{"schemas":{"S":{"type":"object","required":["a"],"additionalProperties":false,
		"properties":{"a":{"type":["string","null"],"format":"date-time"},"n":{"type":"array","items":{"type":"integer"}}}}}}}`))
	s := map[string]any{"$ref": "#/components/schemas/S"}
	good := map[string]any{"a": "2026-01-02T03:04:05Z", "n": []any{json.Number("1")}}
	if wrong := d.validate(s, good, "$"); len(wrong) > 0 {
		t.Errorf("a good value is refused: %v", wrong)
	}
	for name, bad := range map[string]any{
		"missing": map[string]any{}, "unknown": map[string]any{"a": nil, "z": 1}, "not UTC": map[string]any{"a": "2026-01-02T03:04:05+01:00"},
		"wrong type": map[string]any{"a": true}, "wrong item": map[string]any{"a": nil, "n": []any{json.Number("1.5")}}, "no object": "x",
	} {
		if len(d.validate(s, bad, "$")) == 0 {
			t.Errorf("%s: nothing was found", name)
		}
	}
}

// Every call of SPEC.md section 6 that has been built is in the document, and every call in the
// document is answered.
func TestDocument(t *testing.T) {
	s := newSite(t, nil)
	want := []string{"DELETE /api/feeds/{id}", "DELETE /api/rivers/{name}", "GET /api/events", "GET /api/feeds", "GET /api/feeds/{id}", "GET /api/items", "GET /api/items/{id}",
		"GET /api/opml", "GET /api/refresh/{id}", "GET /api/rivers", "GET /api/status", "PATCH /api/feeds/{id}", "POST /api/discover", "POST /api/feeds",
		"POST /api/feeds/{id}/refresh", "POST /api/feeds/{id}/restore", "POST /api/ingest", "POST /api/opml", "POST /api/place", "POST /api/refresh", "POST /api/rivers"}
	want = append(want, workflowCalls...)
	slices.Sort(want)
	var got []string
	for path, operations := range s.doc.object("paths") {
		for method := range operations.(map[string]any) {
			got = append(got, strings.ToUpper(method)+" "+path)
		}
	}
	want = append(append(want, briefingCalls...), credentialCalls...)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the document knows\n%q, want\n%q", got, want)
	}
	if v := s.doc.root["openapi"]; v != "3.1.0" {
		t.Errorf("OpenAPI %v, want 3.1.0", v)
	}
	for name := range s.doc.object("components", "schemas") {
		if strings.HasPrefix(name, "Error") {
			t.Errorf("%s is not our model of a problem", name)
		}
	}
	for target, kind := range map[string]string{"/openapi.json": "application/json", "/openapi.yaml": "application/yaml"} {
		if a := s.want(200, "GET", target, ""); a.Header().Get("Content-Type") != kind || a.Body.Len() < 1000 {
			t.Errorf("%s: %q, %d bytes", target, a.Header().Get("Content-Type"), a.Body.Len())
		}
	}
}
