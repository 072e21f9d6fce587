package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// build is what the program knows about itself.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// thisBuild reads what the compiler recorded.
func thisBuild() build {
	b := build{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "(devel)" {
		b.Version = cmp.Or(v, b.Version)
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// homepage is where publishers learn who asks for their feeds (F1), unless the configuration names somebody to reach.
const homepage = "https://freshet.example/"

// userAgent is how the program introduces itself to servers (F1).
func userAgent(contact string) string {
	return "Freshet/" + thisBuild().Version + " (+" + contact + ")"
}

func versionCmd() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := thisBuild()
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), b)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "freshet %s (%s, %s)\n", b.Version, b.Go, b.Platform)
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// jsonFlag gives a command the flag that stands beside every table.
func jsonFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print JSON")
}

// writeJSON prints v for programs, indented for people who look.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
