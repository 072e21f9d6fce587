package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"freshet"
)

// config is what holds for this run, resolved from flags, environment, file and defaults.
type config struct {
	File        string // the file that was read, "" for none
	Data        string
	Database    string
	Listen      string
	Hosts       []string
	Password    string
	Token       string
	BehindProxy bool
	FetchAllow  []netip.Prefix
	Contact     string // where publishers reach who polls them
	Timeout     time.Duration
	Tick        time.Duration
	Concurrency int
	MasterKey   string
	XAPI        string
	// XMonthlyReads is what may be read of X in a month with an owner's token, 0 for no cap.
	XMonthlyReads      int
	DeliverAllow       []netip.Prefix
	DeliverConcurrency int
	AllowCommands      bool
	Discord            string   // where alerts go to
	Notify             []string // and where else
	LogFormat          string
	LogLevel           string
	freshet.Settings

	values map[string]value // by setting
}

// value is a setting's text and where it came from.
type value struct{ text, origin string }

// setting is one thing that people may configure. Its name is the key in the file; the flag is spelled
// with dashes, the environment variable with FRESHET_ and capitals.
type setting struct {
	name     string
	standard string // the default as a person would write it
	help     string
	secret   bool   // hidden when shown; may come from a file named by NAME_file
	variable string // a name in the environment that others gave it, beside ours
	set      func(c *config, text string) error
}

// settings is every setting, in the order in which they are shown.
var settings = []setting{
	{name: "data", help: "folder for the database, made when missing",
		set: into(func(c *config) *string { return &c.Data }, anyText)},
	{name: "database", help: "postgres:// address to use instead of the embedded database", secret: true,
		set: into(func(c *config) *string { return &c.Database }, database)},
	{name: "listen", standard: "127.0.0.1:8080", help: "address and port that the page and the API listen on",
		set: into(func(c *config) *string { return &c.Listen }, hostPort)},
	{name: "hosts", help: "more host names to answer to, comma separated",
		set: into(func(c *config) *[]string { return &c.Hosts }, list)},
	{name: "password", help: "password for the page", secret: true,
		set: into(func(c *config) *string { return &c.Password }, anyText)},
	{name: "token", help: "bearer token for the API", secret: true,
		set: into(func(c *config) *string { return &c.Token }, anyText)},
	{name: "behind_proxy", standard: "false", help: "a proxy in front guards the page: listen anywhere without a password",
		set: into(func(c *config) *bool { return &c.BehindProxy }, boolean)},
	{name: "interval", standard: "15m", help: "time between polls of a source that sets none",
		set: into(func(c *config) *time.Duration { return &c.Interval }, within(time.Millisecond, 366*day))},
	{name: "min_interval", standard: "1m", help: "floor of every interval",
		set: into(func(c *config) *time.Duration { return &c.MinInterval }, within(time.Millisecond, 366*day))},
	{name: "tick", standard: "10s", help: "how often the scheduler looks for what is due",
		set: into(func(c *config) *time.Duration { return &c.Tick }, within(10*time.Millisecond, time.Hour))},
	{name: "contact", standard: homepage, help: "where publishers can reach you: a page's or a mail address, told to every server in the User-Agent",
		set: into(func(c *config) *string { return &c.Contact }, contact)},
	{name: "timeout", standard: "10s", help: "time for one fetch in all",
		set: into(func(c *config) *time.Duration { return &c.Timeout }, within(10*time.Millisecond, 10*time.Minute))},
	{name: "concurrency", standard: "64", help: "requests under way at once; never two to one host",
		set: into(func(c *config) *int { return &c.Concurrency }, between(1, 1000))},
	{name: "retry", standard: "ladder", help: "how the wait grows while a source fails: ladder or exponential",
		set: into(func(c *config) *freshet.Retry { return &c.Retry }, oneOf(freshet.Ladder, freshet.Exponential))},
	{name: "max_backoff_hours", standard: "24", help: "longest wait of exponential",
		set: into(func(c *config) *time.Duration { return &c.MaxBackoff }, hours)},
	{name: "disable_after", standard: "15", help: "failures in a row that do not pass by themselves before a source is switched off; 0 for never",
		set: into(func(c *config) *int { return &c.DisableAfter }, between(0, 100000))},
	{name: "delay.hosts", help: "seconds to wait after each request to a host, as HOST=SECONDS, comma separated",
		set: into(func(c *config) *map[string]time.Duration { return &c.HostDelay }, delays(hostName))},
	{name: "delay.types", help: "the same by type of source: rss, website, http, twitter",
		set: into(func(c *config) *map[freshet.Type]time.Duration { return &c.TypeDelay },
			delays(oneOf(freshet.RSS, freshet.Website, freshet.HTTP, freshet.Twitter)))},
	{name: "retention", standard: "720h", help: "age at which items go",
		set: into(func(c *config) *time.Duration { return &c.Retention }, within(time.Hour, 36500*day))},
	{name: "fetch_allow", help: "networks that are not public but may be fetched from, as CIDR, comma separated",
		set: into(func(c *config) *[]netip.Prefix { return &c.FetchAllow }, networks)},
	{name: "master_key", help: "32 bytes in base64 that seal the tokens of other services and what workflows send with; without it a key file is made in the data folder", secret: true,
		set: into(func(c *config) *string { return &c.MasterKey }, anyText)},
	{name: "x_api", standard: "https://api.x.com", help: "base address of the X API",
		set: into(func(c *config) *string { return &c.XAPI }, webAddress)},
	{name: "x_monthly_reads", standard: "0", help: "posts and accounts that may be read of X in a month with one token, since each is paid for; 0 for no cap",
		set: into(func(c *config) *int { return &c.XMonthlyReads }, between(0, 100_000_000))},
	{name: "deliver_allow", help: "networks that are not public but may be delivered to, as CIDR, comma separated",
		set: into(func(c *config) *[]netip.Prefix { return &c.DeliverAllow }, networks)},
	{name: "deliver_concurrency", standard: "32", help: "deliveries under way at once; a quarter of them at most for one workflow",
		set: into(func(c *config) *int { return &c.DeliverConcurrency }, between(1, 1000))},
	{name: "allow_commands", standard: "false", help: "workflows may run programs on this machine",
		set: into(func(c *config) *bool { return &c.AllowCommands }, boolean)},
	{name: "discord_webhook_url", variable: "DISCORD_WEBHOOK_URL", help: "Discord webhook that is told when a workflow is switched off or something was not delivered; DISCORD_WEBHOOK_URL too", secret: true,
		set: into(func(c *config) *string { return &c.Discord }, discordWebhook)},
	{name: "notify", help: "notification addresses that are told the same, such as ntfy://ntfy.sh/topic, comma separated", secret: true,
		set: into(func(c *config) *[]string { return &c.Notify }, notifyAddresses)},
	{name: "log_format", standard: "text", help: "text or json",
		set: into(func(c *config) *string { return &c.LogFormat }, oneOf("text", "json"))},
	{name: "log_level", standard: "info", help: "debug, info, warn or error",
		set: into(func(c *config) *string { return &c.LogLevel }, oneOf("debug", "info", "warn", "error"))},
}

// into makes a setting's set of where its value goes and how its text is read.
func into[T any](field func(*config) *T, read func(string) (T, error)) func(*config, string) error {
	return func(c *config, text string) error {
		v, err := read(text)
		if err == nil {
			*field(c) = v
		}
		return err
	}
}

// flagName is the setting's spelling on the command line.
func flagName(name string) string { return strings.NewReplacer("_", "-", ".", "-").Replace(name) }

// envName is the setting's spelling in the environment.
func envName(name string) string {
	return "FRESHET_" + strings.ToUpper(strings.ReplaceAll(name, ".", "_"))
}

// fileOf names the companion of a secret: the file that holds it.
func fileOf(name string) string { return name + "_file" }

// addSettingFlags gives every setting its flag.
func addSettingFlags(flags *pflag.FlagSet) {
	flags.String("config", "", "configuration file (FRESHET_CONFIG); by default freshet/config.toml in $XDG_CONFIG_HOME or ~/.config, then /etc/freshet/config.toml")
	for _, s := range settings {
		flags.String(flagName(s.name), s.standard, s.help)
		if s.secret {
			flags.String(flagName(fileOf(s.name)), "", "file that holds "+s.name)
		}
	}
}

// loadConfig resolves every setting: flags, then FRESHET_*, then the file, then the default. Its errors
// name the setting in the spelling that was used.
func loadConfig(flags *pflag.FlagSet) (*config, error) {
	path, explicit := configPath(flags)
	file, err := readConfigFile(path)
	if errors.Is(err, fs.ErrNotExist) && !explicit {
		path, err = "", nil
	}
	if err != nil {
		return nil, err
	}
	c := &config{File: path, Settings: freshet.DefaultSettings(), values: map[string]value{}}
	for _, s := range settings {
		v, err := resolve(s, flags, file)
		if err != nil {
			return nil, err
		}
		c.values[s.name] = v
		if v.text == "" && s.standard == "" {
			continue
		}
		if err := s.set(c, v.text); err != nil {
			return nil, badValue(s, v, err)
		}
	}
	c.Configured = c.configured()
	c.Alerts = c.deliveries().Alerts()
	if c.Data == "" {
		c.Data = standardData()
		c.values["data"] = value{c.Data, "default"}
	}
	return c, nil
}

// configured are the settings that somebody set.
func (c *config) configured() map[string]bool {
	names := map[string]bool{}
	for name, v := range c.values {
		if v.origin != "default" {
			names[name] = true
		}
	}
	return names
}

func badValue(s setting, v value, err error) error {
	text := fmt.Sprintf("%q", v.text)
	if s.secret {
		text = "the value"
	}
	return fmt.Errorf("%s: %s cannot be used: it takes %w", v.origin, text, err)
}

// configPath says where the file lies and whether somebody named it.
func configPath(flags *pflag.FlagSet) (path string, explicit bool) {
	if f := flags.Lookup("config"); f != nil && f.Changed {
		return f.Value.String(), true
	}
	if path := os.Getenv("FRESHET_CONFIG"); path != "" {
		return path, true
	}
	home := os.Getenv("XDG_CONFIG_HOME")
	if home == "" {
		home = filepath.Join(homeFolder(), ".config")
	}
	for _, folder := range []string{filepath.Join(home, "freshet"), "/etc/freshet"} {
		path := filepath.Join(folder, "config.toml")
		if _, err := os.Stat(path); err == nil {
			return path, false
		}
	}
	return "", false
}

// standardData is where the database lies when nobody said otherwise.
func standardData() string {
	if state, _, _ := strings.Cut(os.Getenv("STATE_DIRECTORY"), ":"); state != "" {
		return state
	}
	if home := os.Getenv("XDG_DATA_HOME"); home != "" {
		return filepath.Join(home, "freshet")
	}
	return filepath.Join(homeFolder(), ".local", "share", "freshet")
}

// homeFolder is the user's; without one paths are relative to where the program runs.
func homeFolder() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}

// resolve finds a setting's text in the first place that has it.
func resolve(s setting, flags *pflag.FlagSet, file *configFile) (value, error) {
	for _, look := range []func(name string) (value, bool){
		func(name string) (value, bool) {
			f := flags.Lookup(flagName(name))
			if f == nil || !f.Changed {
				return value{}, false
			}
			return value{f.Value.String(), "--" + f.Name}, true
		},
		func(name string) (value, bool) {
			text := os.Getenv(envName(name))
			return value{text, envName(name)}, text != ""
		},
		func(name string) (value, bool) {
			if s.variable == "" || name != s.name {
				return value{}, false
			}
			text := os.Getenv(s.variable)
			return value{text, s.variable}, text != ""
		},
		file.value,
	} {
		if v, ok := look(s.name); ok {
			return v, nil
		}
		if !s.secret {
			continue
		}
		if v, ok := look(fileOf(s.name)); ok {
			return readSecret(v)
		}
	}
	return value{s.standard, "default"}, nil
}

// readSecret reads a secret from the file that v names.
func readSecret(v value) (value, error) {
	b, err := os.ReadFile(v.text)
	if err != nil {
		return v, fmt.Errorf("%s: read secret: %w", v.origin, err)
	}
	text := strings.TrimRight(string(b), "\r\n")
	if text == "" {
		return v, fmt.Errorf("%s: %s is empty", v.origin, v.text)
	}
	return value{text, v.origin}, nil
}

// strayVariables lists variables that look like settings of ours and are none.
func strayVariables(environ []string) []string {
	known := map[string]bool{"FRESHET_CONFIG": true}
	for _, s := range settings {
		known[envName(s.name)] = true
		if s.secret {
			known[envName(fileOf(s.name))] = true
		}
	}
	var stray []string
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "FRESHET_") && !strings.HasPrefix(name, "FRESHET_TEST_") && !known[name] {
			stray = append(stray, name)
		}
	}
	slices.Sort(stray)
	return stray
}

// shown is a value as it may be shown to whoever asks.
func (s setting) shown(v value) string {
	if !s.secret || v.text == "" {
		return v.text
	}
	if u, err := url.Parse(v.text); err == nil && strings.HasPrefix(u.Scheme, "postgres") {
		return u.Redacted()
	}
	return "(hidden)"
}
