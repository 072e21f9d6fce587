package web

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// apiConfig describes the API; documents and schemas are served by ourselves, from memory, and
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

// documents are the OpenAPI document in both spellings.
type documents struct{ json, yaml []byte }

func (d *documents) write(api *huma.OpenAPI) (err error) {
	for _, theirs := range []string{"ErrorModel", "ErrorDetail"} { // huma's model of an error, which ours() replaces
		delete(api.Components.Schemas.Map(), theirs)
	}
	if d.json, err = api.MarshalJSON(); err != nil {
		return fmt.Errorf("write the OpenAPI document: %w", err)
	}
	if d.yaml, err = api.YAML(); err != nil {
		return fmt.Errorf("write the OpenAPI document: %w", err)
	}
	return nil
}

func (s *Server) openAPIJSON(w http.ResponseWriter, _ *http.Request) error {
	return writeDocument(w, "application/json", s.openAPI.json)
}

func (s *Server) openAPIYAML(w http.ResponseWriter, _ *http.Request) error {
	return writeDocument(w, "application/yaml", s.openAPI.yaml)
}

func writeDocument(w http.ResponseWriter, kind string, text []byte) error {
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(text) // the asker is gone if this fails
	return nil
}
