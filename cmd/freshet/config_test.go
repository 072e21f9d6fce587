package main

import (
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"freshet"
	"freshet/internal/fetch"
)

// alone takes everything that configures the program out of the test's environment.
func alone(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "FRESHET_") || strings.HasPrefix(name, "XDG_") || name == "STATE_DIRECTORY" || name == "DISCORD_WEBHOOK_URL" {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	t.Setenv("HOME", home)
	return home
}

func load(t *testing.T, args ...string) (*config, error) {
	t.Helper()
	flags := pflag.NewFlagSet("freshet", pflag.ContinueOnError)
	addSettingFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return loadConfig(flags)
}

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNothingConfigured(t *testing.T) {
	home := alone(t)
	c, err := load(t)
	if err != nil {
		t.Fatal(err)
	}
	want := freshet.DefaultSettings()
	if c.Interval != want.Interval || c.MinInterval != want.MinInterval || c.Retry != want.Retry ||
		c.MaxBackoff != want.MaxBackoff || c.Retention != want.Retention || c.DisableAfter != want.DisableAfter {
		t.Errorf("settings %+v, want the defaults of the root package, %+v", c.Settings, want)
	}
	if c.Listen != "127.0.0.1:8080" || c.Tick != 10*time.Second || c.Timeout != 10*time.Second || c.Database != "" {
		t.Errorf("listen %q, tick %v, timeout %v, database %q", c.Listen, c.Tick, c.Timeout, c.Database)
	}
	if want := filepath.Join(home, ".local/share/freshet"); c.Data != want {
		t.Errorf("data folder %q, want %q", c.Data, want)
	}
}

// Each setting has one name in three spellings, and flags win over environment over file over default.
func TestPrecedence(t *testing.T) {
	samples := map[string]string{
		"data": "/d/", "database": "postgres://h/", "listen": "127.0.0.1:1", "hosts": "h", "password": "p", "token": "t",
		"behind_proxy": "true", "interval": "1h", "min_interval": "3s", "tick": "4s", "timeout": "5s", "concurrency": "6",
		"retry": "exponential", "max_backoff_hours": "7", "disable_after": "8", "delay.hosts": "a.org=9", "delay.types": "rss=1",
		"retention": "48h", "fetch_allow": "10.0.0.0/8", "log_format": "json", "log_level": "warn",
		"contact": "me@my.example", "master_key": "k", "x_api": "https://x.example", "x_monthly_reads": "10",
		"deliver_allow": "10.0.0.0/8", "deliver_concurrency": "9", "allow_commands": "true",
		"discord_webhook_url": "https://discord.com/api/webhooks/1/x", "notify": "ntfy://ntfy.sh/topic",
	}
	if got, want := slices.Sorted(maps.Keys(samples)), settingsByName(); !slices.Equal(got, want) {
		t.Fatalf("samples for %q, settings are %q", got, want)
	}
	for _, s := range settings {
		t.Run(s.name, func(t *testing.T) {
			home := alone(t)
			sample := samples[s.name]
			if c, err := load(t); err != nil || c.values[s.name].origin != "default" {
				t.Fatalf("unset: from %q, %v", c.values[s.name].origin, err)
			}
			path := writeFile(t, filepath.Join(home, ".config/freshet/config.toml"), "# first line\n"+s.name+" = \""+sample+"\"\n")
			c, err := load(t)
			if err != nil || c.values[s.name] != (value{sample, path + " line 2: " + s.name}) {
				t.Fatalf("in the file: %+v, %v", c, err)
			}
			t.Setenv(envName(s.name), sample)
			if c, err = load(t); err != nil || c.values[s.name] != (value{sample, envName(s.name)}) {
				t.Fatalf("in the environment: %+v, %v", c.values[s.name], err)
			}
			flag := "--" + flagName(s.name)
			if c, err = load(t, flag+"="+sample); err != nil || c.values[s.name] != (value{sample, flag}) {
				t.Fatalf("as a flag: %+v, %v", c.values[s.name], err)
			}
		})
	}
}

func settingsByName() []string {
	var names []string
	for _, s := range settings {
		names = append(names, s.name)
	}
	slices.Sort(names)
	return names
}

func TestSpellings(t *testing.T) {
	for name, want := range map[string][2]string{
		"listen":      {"listen", "FRESHET_LISTEN"},
		"fetch_allow": {"fetch-allow", "FRESHET_FETCH_ALLOW"},
		"delay.hosts": {"delay-hosts", "FRESHET_DELAY_HOSTS"},
	} {
		if got := [2]string{flagName(name), envName(name)}; got != want {
			t.Errorf("%s is spelled %q, want %q", name, got, want)
		}
	}
}

// The values of a file keep their TOML types.
func TestConfigFile(t *testing.T) {
	home := alone(t)
	writeFile(t, filepath.Join(home, ".config/freshet/config.toml"), `
listen = "127.0.0.1:9000"
concurrency = 8
behind_proxy = true
fetch_allow = ["127.0.0.0/8", "fd00::/8"]
retention = "30d"
max_backoff_hours = 1.5

[delay.hosts]
"Reddit.com" = 2

[delay]
types = { website = 0.5 }
`)
	c, err := load(t)
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:9000" || c.Concurrency != 8 || !c.BehindProxy || c.Retention != 720*time.Hour || c.MaxBackoff != 90*time.Minute {
		t.Errorf("read %+v", c)
	}
	if want := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}; !slices.Equal(c.FetchAllow, want) {
		t.Errorf("fetch_allow %v", c.FetchAllow)
	}
	if c.HostDelay["reddit.com"] != 2*time.Second || c.TypeDelay[freshet.Website] != 500*time.Millisecond {
		t.Errorf("delays %v %v", c.HostDelay, c.TypeDelay)
	}
}

// Addresses are compared as IPv4 where they are, so a network that is written in the long form must be too.
func TestMappedNetwork(t *testing.T) {
	alone(t)
	c, err := load(t, "--fetch-allow=::ffff:10.1.0.0/112")
	if err != nil {
		t.Fatal(err)
	}
	if err := (fetch.Guard{Allow: c.FetchAllow}).Check(netip.MustParseAddr("10.1.2.3")); err != nil {
		t.Errorf("allowed %v: %v", c.FetchAllow, err)
	}
}

// A mistake is named in the words of the person who made it.
func TestConfigMistakes(t *testing.T) {
	for name, tc := range map[string]struct {
		file string
		env  string
		args []string
		want string // in the complaint
	}{
		"unknown key":            {file: "listen = \"127.0.0.1:1\"\n\nlisten_on = 1\n", want: `config.toml line 3: unknown key "listen_on"`},
		"key with dashes":        {file: "fetch-allow = \"10.0.0.0/8\"\n", want: `line 1: unknown key "fetch-allow" (did you mean "fetch_allow"?)`},
		"unknown table":          {file: "\n[polling]\ntick = \"1s\"\n", want: `line 2: unknown key "polling"`},
		"unknown key in a table": {file: "[delay]\nhost = 1\n", want: `line 2: unknown key "delay.host"`},
		"no TOML":                {file: "listen = \n", want: "config.toml line 1:"},
		"value in the file":      {file: "# one\n# two\ninterval = 15\n", want: `config.toml line 3: interval: "15" cannot be used: it takes a duration such as`},
		"value in the environment": {env: "FRESHET_CONCURRENCY=many",
			want: `FRESHET_CONCURRENCY: "many" cannot be used: it takes a whole number from 1 to 1000`},
		"value of a flag": {args: []string{"--fetch-allow", "10.0.0.1"}, want: `--fetch-allow: "10.0.0.1" cannot be used: it takes networks`},
		"listen":          {args: []string{"--listen", "localhost"}, want: "--listen: \"localhost\" cannot be used: it takes an address and a port"},
		"empty listen":    {args: []string{"--listen="}, want: "--listen: \"\" cannot be used"},
		"retry":           {args: []string{"--retry", "never"}, want: "it takes ladder or exponential"},
		"delay":           {args: []string{"--delay-types", "blog=1"}, want: "is not rss, website, http or twitter"},
		"contact":         {args: []string{"--contact", "ask me"}, want: "--contact: \"ask me\" cannot be used: it takes a page that begins with http"},
		"contact header":  {args: []string{"--contact", "https://a.example/)\r\nX: 1"}, want: "cannot be used: it takes a page that begins with http"},
		"delay unit":      {args: []string{"--delay-hosts", "a.org=2s"}, want: "NAME=SECONDS"},
		"secret stays hidden": {env: "FRESHET_DATABASE=mysql://u:hunter2@h/d",
			want: "FRESHET_DATABASE: the value cannot be used: it takes an address such as postgres://"},
		"config that is not there": {args: []string{"--config", "/nowhere/freshet.toml"}, want: "read configuration: open /nowhere/freshet.toml"},
		"secret file not there":    {env: "FRESHET_PASSWORD_FILE=/nowhere/secret", want: "FRESHET_PASSWORD_FILE: read secret"},
	} {
		t.Run(name, func(t *testing.T) {
			home := alone(t)
			if tc.file != "" {
				writeFile(t, filepath.Join(home, ".config/freshet/config.toml"), tc.file)
			}
			if name, text, ok := strings.Cut(tc.env, "="); ok {
				t.Setenv(name, text)
			}
			_, err := load(t, tc.args...)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("complaint %v, want %q in it", err, tc.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the complaint tells the secret: %v", err)
			}
		})
	}
}

func TestSecretFromFile(t *testing.T) {
	home := alone(t)
	path := writeFile(t, filepath.Join(home, "secret"), "hunter2\n")
	t.Setenv("FRESHET_PASSWORD_FILE", path)
	c, err := load(t, "--token-file", path)
	if err != nil || c.Password != "hunter2" || c.Token != "hunter2" {
		t.Fatalf("password %q, token %q, %v", c.Password, c.Token, err)
	}
	for _, s := range c.shown() {
		if strings.Contains(s.Value, "hunter2") {
			t.Errorf("%s is shown as %q", s.Name, s.Value)
		}
	}
}

func TestShownDatabaseHidesItsPassword(t *testing.T) {
	alone(t)
	c, err := load(t, "--database", "postgres://me:hunter2@db/river")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.shown() {
		if s.Name == "database" && s.Value != "postgres://me:xxxxx@db/river" {
			t.Errorf("shown as %q", s.Value)
		}
	}
}

// W8 names the variable; ours wins over it. Neither it nor a notification's address is ever shown.
func TestAlertAddresses(t *testing.T) {
	alone(t)
	t.Setenv("DISCORD_WEBHOOK_URL", "https://discord.com/api/webhooks/1/hunter2")
	c, err := load(t, "--notify", "discord://hunter2@1, ntfy://ntfy.sh/hunter2")
	if err != nil || c.Discord != "https://discord.com/api/webhooks/1/hunter2" || len(c.Notify) != 2 || c.Alerts != 3 {
		t.Fatalf("%q, %q, %d alerts, %v", c.Discord, c.Notify, c.Alerts, err)
	}
	for _, s := range c.shown() {
		if strings.Contains(s.Value, "hunter2") {
			t.Errorf("%s is shown as %q", s.Name, s.Value)
		}
	}
	t.Setenv("FRESHET_DISCORD_WEBHOOK_URL", "https://discord.com/api/webhooks/2/x")
	if c, err = load(t); err != nil || c.Discord != "https://discord.com/api/webhooks/2/x" || c.Alerts != 1 {
		t.Errorf("%q, %d alerts, %v", c.Discord, c.Alerts, err)
	}
	t.Setenv("FRESHET_DISCORD_WEBHOOK_URL", "")
	t.Setenv("DISCORD_WEBHOOK_URL", "discord.com/hunter2")
	if _, err = load(t); err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "DISCORD_WEBHOOK_URL") {
		t.Errorf("a wrong one: %v", err)
	}
}

func TestDataFolder(t *testing.T) {
	home := alone(t)
	t.Setenv("XDG_DATA_HOME", "/xdg")
	for _, step := range []struct{ env, text, want string }{
		{"XDG_DATA_HOME", "/xdg", "/xdg/freshet"},
		{"STATE_DIRECTORY", "/var/lib/freshet:/var/lib/other", "/var/lib/freshet"},
		{"FRESHET_DATA", home + "/mine", home + "/mine"},
	} {
		t.Setenv(step.env, step.text)
		if c, err := load(t); err != nil || c.Data != step.want {
			t.Errorf("with %s the data folder is %q, want %q (%v)", step.env, c.Data, step.want, err)
		}
	}
}

func TestStrayVariables(t *testing.T) {
	got := strayVariables([]string{"FRESHET_TICK=1s", "FRESHET_TIKC=1s", "FRESHET_CONFIG=x", "FRESHET_TEST_POSTGRES=x",
		"FRESHET_PASSWORD_FILE=x", "FRESHET_LISTEN_FILE=x", "HOME=/"})
	if want := []string{"FRESHET_LISTEN_FILE", "FRESHET_TIKC"}; !slices.Equal(got, want) {
		t.Errorf("stray: %q, want %q", got, want)
	}
}

// The README's table is the table of settings.
func TestReadmeListsEverySetting(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## Configuration\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := map[string]bool{}
	for line := range strings.Lines(section) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "| `") {
			rows[line] = true
		}
	}
	for _, s := range settings {
		row := readmeRow(s)
		if !rows[row] {
			t.Errorf("not in README.md: %s", row)
		}
		delete(rows, row)
	}
	for row := range rows {
		t.Errorf("no such setting: %s", row)
	}
}

func readmeRow(s setting) string {
	standard := s.standard
	if standard != "" {
		standard = "`" + standard + "`"
	}
	return "| `" + s.name + "` | " + standard + " | " + s.help + " |"
}
