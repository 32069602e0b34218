package secret

import (
	"net/url"
	"strings"
)

// telltale are words in the names of variables that hold secrets.
var telltale = map[string]bool{
	"KEY": true, "KEYS": true, "APIKEY": true, "TOKEN": true, "TOKENS": true, "SECRET": true, "SECRETS": true, "PASSWORD": true, "PASSWD": true, "PASS": true,
	"PASSPHRASE": true, "CREDENTIAL": true, "CREDENTIALS": true, "AUTH": true, "COOKIE": true, "PAT": true, "BEARER": true,
}

// leastValue is how long a variable's value must be: a shorter one stands everywhere.
const leastValue = 8

// FromEnv gives the values of variables ("NAME=value") whose names say that they are
// secrets, and the passwords of addresses among the others. Paths are none.
func FromEnv(env []string) []Known {
	var out []Known
	for _, pair := range env {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || len(value) < leastValue {
			continue
		}
		if u, err := url.Parse(value); err == nil && u.User != nil {
			if password, ok := u.User.Password(); ok && len(password) >= MinKnown {
				out = append(out, Known{name, password})
			}
			continue
		}
		if isTelling(name) && !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "./") && !strings.Contains(value, ":/") {
			out = append(out, Known{name, value})
		}
	}
	return out
}

func isTelling(name string) bool {
	for word := range strings.SplitSeq(strings.ToUpper(name), "_") {
		if telltale[word] {
			return true
		}
	}
	return false
}
