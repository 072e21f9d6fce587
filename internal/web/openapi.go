package web

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

// apiConfig describes the API; documents and schemas are served by ourselves, and
// nothing is added to answers.
func apiConfig(version string) huma.Config {
	c := huma.DefaultConfig("Freshet", version)
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.CreateHooks = nil
	c.RejectUnknownQueryParameters = true
	c.Transformers = []huma.Transformer{ours}
	c.Info.Description = "A river of news. Times are RFC 3339 in UTC, ids are opaque strings, what is missing is null, errors are RFC 9457 problems."
	c.Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "")
	return c
}

// problemDoc documents what every call may answer instead.
var problemDoc = &huma.Response{
	Description: "A problem (RFC 9457).",
	Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: &huma.Schema{Ref: "#/components/schemas/Problem"}}},
}

// operation reads "METHOD /path".
func operation(route, id, summary string) huma.Operation {
	method, path, _ := strings.Cut(route, " ")
	return huma.Operation{OperationID: id, Method: method, Path: path, Summary: summary}
}

// documents are the OpenAPI document in both spellings, each written when it is first asked for.
type documents struct{ json, yaml func() ([]byte, error) }

func newDocuments(api *huma.OpenAPI) documents {
	for _, theirs := range []string{"ErrorModel", "ErrorDetail"} { // huma's model of an error, which ours() replaces
		delete(api.Components.Schemas.Map(), theirs)
	}
	return documents{json: sync.OnceValues(api.MarshalJSON), yaml: sync.OnceValues(api.YAML)}
}

func (s *Server) openAPIJSON(w http.ResponseWriter, _ *http.Request) error {
	return writeDocument(w, "application/json", s.openAPI.json)
}

func (s *Server) openAPIYAML(w http.ResponseWriter, _ *http.Request) error {
	return writeDocument(w, "application/yaml", s.openAPI.yaml)
}

func writeDocument(w http.ResponseWriter, kind string, written func() ([]byte, error)) error {
	text, err := written()
	if err != nil {
		return fmt.Errorf("write the OpenAPI document: %w", err)
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(text) // the asker is gone if this fails
	return nil
}
