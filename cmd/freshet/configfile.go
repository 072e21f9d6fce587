package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// configFile is the TOML file: its text for line numbers, its values by setting.
type configFile struct {
	path  string
	text  string
	texts map[string]string // by the name of the setting
}

// readConfigFile reads the file at path; no path gives an empty one.
func readConfigFile(path string) (*configFile, error) {
	if path == "" {
		return &configFile{}, nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	f := &configFile{path: path, text: string(b), texts: map[string]string{}}
	var document map[string]any
	meta, err := toml.Decode(f.text, &document)
	if parse, ok := errors.AsType[toml.ParseError](err); ok {
		return nil, fmt.Errorf("%s line %d: %s", path, parse.Position.Line, parse.Message)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, name := range settingNames() {
		if v, ok := lookUp(document, strings.Split(name, ".")); ok {
			f.texts[name] = configText(v)
		}
	}
	for _, key := range meta.Keys() {
		if !knownKey(key) {
			return nil, fmt.Errorf("%s line %d: unknown key %q%s", path, f.line(key), key, suggestion(key.String()))
		}
	}
	return f, nil
}

// value returns a setting's text and where in the file it stands.
func (f *configFile) value(name string) (value, bool) {
	text, ok := f.texts[name]
	if !ok {
		return value{}, false
	}
	return value{text, fmt.Sprintf("%s line %d: %s", f.path, f.line(strings.Split(name, ".")), name)}, true
}

// line is where a key's value is complete: the first line up to which the document has the key.
func (f *configFile) line(key []string) int {
	lines := strings.SplitAfter(f.text, "\n")
	for n := range lines {
		var ignored map[string]any
		meta, err := toml.Decode(strings.Join(lines[:n+1], ""), &ignored)
		if err == nil && meta.IsDefined(key...) {
			return n + 1
		}
	}
	return len(lines)
}

// settingNames are the keys that the file may have.
func settingNames() []string {
	var names []string
	for _, s := range settings {
		names = append(names, s.name)
		if s.secret {
			names = append(names, fileOf(s.name))
		}
	}
	return names
}

// knownKey says whether a key is a setting, a table that holds some, or an entry of one that is a table.
func knownKey(key toml.Key) bool {
	return slices.ContainsFunc(settingNames(), func(name string) bool {
		parts := strings.Split(name, ".")
		n := min(len(parts), len(key))
		return slices.Equal(parts[:n], key[:n]) && (len(key) <= len(parts) || len(parts) > 1)
	})
}

// suggestion names the setting that an unknown key is close to.
func suggestion(key string) string {
	plain := func(s string) string {
		return strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(s))
	}
	for _, name := range settingNames() {
		if plain(name) == plain(key) {
			return fmt.Sprintf(" (did you mean %q?)", name)
		}
	}
	return ""
}

func lookUp(document map[string]any, path []string) (any, bool) {
	v, ok := document[path[0]]
	if !ok || len(path) == 1 {
		return v, ok
	}
	table, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	return lookUp(table, path[1:])
}

// configText is a TOML value as it would be written in the environment.
func configText(v any) string {
	switch v := v.(type) {
	case []any:
		parts := make([]string, len(v))
		for i, part := range v {
			parts[i] = configText(part)
		}
		return strings.Join(parts, ",")
	case map[string]any:
		var parts []string
		for name, part := range v {
			parts = append(parts, name+"="+configText(part))
		}
		slices.Sort(parts)
		return strings.Join(parts, ",")
	default:
		return fmt.Sprint(v)
	}
}
