package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

func configCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Show or check the configuration"}
	group(cmd, configShowCmd(), configCheckCmd())
	return cmd
}

// shownSetting is a line of "config show".
type shownSetting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"`
}

func configShowCmd() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print every setting, its value and where that came from; secrets are hidden",
		Args:  exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := configOf(cmd)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), c.shown())
			}
			var rows [][]string
			for _, s := range c.shown() {
				rows = append(rows, []string{s.Name, s.Value, s.From})
			}
			return table(cmd.OutOrStdout(), []string{"SETTING", "VALUE", "FROM"}, rows)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (c *config) shown() []shownSetting {
	all := make([]shownSetting, len(settings))
	for i, s := range settings {
		v := c.values[s.name]
		all[i] = shownSetting{s.name, s.shown(v), v.origin}
	}
	return all
}

func configCheckCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Check file, environment and flags; exit with 2 when something cannot be used",
		Args:  exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := configOf(cmd)
			if err != nil {
				return err
			}
			if stray := strayVariables(os.Environ()); len(stray) > 0 {
				return usageError{errors.New("not a setting: " + strings.Join(stray, ", "))}
			}
			if c.File == "" {
				fmt.Fprintln(cmd.ErrOrStderr(), "The configuration is good. No file was read.")
			} else {
				fmt.Fprintf(cmd.ErrOrStderr(), "The configuration is good. It was read from %s.\n", c.File)
			}
			return nil
		},
	}
}
