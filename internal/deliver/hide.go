package deliver

import (
	"net/url"
	"regexp"
	"strings"
)

// leastSecret is the length from which a part of an address is taken for a secret when a library repeats it.
const leastSecret = 4

// hidden takes from what a library says whatever of an address may be a secret: all of it but its scheme and
// host names of any address that is mentioned.
func hidden(text, address string) string {
	text = strings.ReplaceAll(text, address, "its address")
	text = anyAddress.ReplaceAllString(text, "$1…")
	u, err := url.Parse(address)
	if err != nil {
		return "the address cannot be read"
	}
	for _, secret := range secretsOf(u) {
		if len(secret) >= leastSecret {
			text = strings.ReplaceAll(text, secret, "…")
			text = strings.ReplaceAll(text, url.QueryEscape(secret), "…")
		}
	}
	return cut(line(text), 2*mostLine)
}

// anyAddress finds addresses within a text, and how they begin.
var anyAddress = regexp.MustCompile(`\b([a-z][a-z0-9+.-]*://)[^\s"'<>]+`)

// secretsOf lists the parts of a notification's address that let whoever has them use it.
func secretsOf(u *url.URL) (list []string) {
	if u.User != nil {
		password, _ := u.User.Password()
		list = append(list, u.User.Username(), password)
	}
	for _, values := range u.Query() {
		list = append(list, values...)
	}
	list = append(list, strings.Split(strings.Trim(u.Path, "/"), "/")...)
	if !strings.Contains(u.Host, ".") && u.Host != u.Scheme { // then it is no name of a server: discord://token@id
		list = append(list, u.Host)
	}
	return list
}
