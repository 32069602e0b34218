package permission

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// Tools by what the contents of their rules are about.
var (
	shellTools = []string{"Bash", "PowerShell"}
	fileTools  = []string{"Read", "Edit", "Write", "NotebookEdit", "Glob", "Grep", "LSP"}
	hostTools  = []string{"WebFetch", "WebBrowser"}
)

// missed gives the reason why no call of a tool has what a rule's content describes, and what may have
// been meant; "" where some call may.
func missed(tool, content string) (why, meant string) {
	switch {
	case twoRules.MatchString(content):
		return "it is several rules in one text; write each by itself", ""
	case slices.Contains(hostTools, tool):
		return missedHost(tool, content)
	case slices.Contains(fileTools, tool):
		return missedFile(content)
	case slices.Contains(shellTools, tool):
		return missedCommand(content)
	case tool == "Skill" && strings.HasPrefix(content, "/"):
		return "a skill is named without the slash", strings.TrimLeft(content, "/")
	}
	return "", ""
}

// twoRules finds the end of one rule and the beginning of another.
var twoRules = regexp.MustCompile(`\),?\s*[A-Z][A-Za-z]+\(`)

// missedHost looks at the content of a rule about a host: domain: and the host's name or address alone.
func missedHost(tool, content string) (why, meant string) {
	host, named := content, isDomain(content)
	if named {
		host = content[len(domainPrefix):]
	}
	bare := bareHost(host)
	_, odd := netip.ParseAddr(bare)
	switch fixed, _, star := strings.Cut(content, "*"); {
	case bare == "":
		return tool + " is matched by its host, and it names none", ""
	case odd != nil && numbered.MatchString(bare):
		return "the network knows such an address as four numbers with dots between them", ""
	case named && hostname(content) == hostname(domainPrefix+bare), !named && star && strings.HasPrefix(domainPrefix, strings.ToLower(fixed)):
		return "", ""
	}
	return tool + " is matched by its host alone", domainPrefix + bare
}

// numbered finds an address of version 4 that is written in a way of its own.
var numbered = regexp.MustCompile(`^(?:[0-9]+|0[xX][0-9a-fA-F]+)(?:\.(?:[0-9]+|0[xX][0-9a-fA-F]+)){0,3}$`)

// bareHost is a host without what else an address has: blanks, a scheme, a user, a path, a port.
func bareHost(text string) string {
	text = strings.TrimSpace(strings.TrimPrefix(text, "domain="))
	if _, rest, found := strings.Cut(text, "://"); found {
		text = rest
	}
	if end := strings.IndexAny(text, "/?#"); end >= 0 {
		text = text[:end]
	}
	text = text[strings.LastIndexByte(text, '@')+1:]
	if inner, isIPv6 := strings.CutPrefix(text, "["); isIPv6 {
		inner, _, _ = strings.Cut(inner, "]")
		return inner
	}
	if _, err := netip.ParseAddr(text); err == nil || strings.HasSuffix(text, ":*") {
		return text
	}
	host, _, _ := strings.Cut(text, ":")
	return host
}

// missedFile looks at the content of a rule about files: a path or a glob, in which nothing is replaced but
// a ~ in front.
func missedFile(content string) (why, meant string) {
	plain, quoted := unwrapped(content)
	rest, isURL := strings.CutPrefix(strings.ToLower(content), "file://")
	member := pathMember.FindString(content)
	switch {
	case member != "":
		return "a path stands there without the name of a member", content[len(member):]
	case strings.HasSuffix(content, ":*"):
		return "a path has no words that more could follow", strings.TrimSuffix(content, ":*")
	case quoted:
		return "quotes are no part of a path", plain
	case isURL:
		return "a file is named by its path, not by an address", content[len(content)-len(rest):]
	case strings.HasPrefix(content, "$HOME/"), strings.HasPrefix(content, "${HOME}/"):
		_, below, _ := strings.Cut(content, "/")
		return "variables are not replaced in rules", "~/" + below
	case strings.HasPrefix(content, "!"):
		return "a rule has no exceptions, and paths do not begin with an exclamation mark", ""
	}
	return "", ""
}

// pathMember finds the name of the member of an input that has a path.
var pathMember = regexp.MustCompile(`^(?:(?:file|notebook)_)?path[=:] ?`)

// missedCommand looks at the content of a rule about commands: their words, without quotes around them all, and
// with stars instead of regular expressions.
func missedCommand(content string) (why, meant string) {
	plain, quoted := unwrapped(content)
	switch {
	case quoted:
		return "no command stands in quotes as a whole", plain
	case strings.HasPrefix(content, "^"):
		return "a rule is no regular expression; * stands for any text", ""
	case strings.Trim(content, ": \t") == "*":
		return "it names no words", "*"
	}
	return "", ""
}

// unwrapped is a text without the quotes that it begins and ends with, where those are all it has.
func unwrapped(text string) (plain string, quoted bool) {
	if len(text) < 3 || !strings.ContainsRune("\"'`", rune(text[0])) || text[len(text)-1] != text[0] {
		return text, false
	}
	plain = text[1 : len(text)-1]
	return plain, !strings.ContainsRune(plain, rune(text[0]))
}
