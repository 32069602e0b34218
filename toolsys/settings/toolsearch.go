package settings

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Kind is when deferral happens (SPEC E2).
type Kind uint8

// The kinds of deferral. Always is the zero value since it is what unset means.
const (
	Always Kind = iota // deferrable tools go by name only
	Auto               // only when their definitions outgrow a share of the window
	Off                // every tool in full, no ToolSearch
)

// String is the kind in a word: always, auto, off.
func (k Kind) String() string { return [...]string{"always", "auto", "off"}[min(k, Off)] }

// DefaultPercent is the share of the context window that a bare "auto" means.
const DefaultPercent = 10

// ToolSearch is the parsed value of ENABLE_TOOL_SEARCH (SPEC E2).
type ToolSearch struct {
	Kind Kind
	// Percent is the share of the context window, 1 to 99, above which Auto
	// defers; 0 for the other kinds.
	Percent int
	// Explicit is true where the variable was set: then a base URL of another
	// party does not switch ToolSearch off (SPEC E3).
	Explicit bool
}

// String gives a value back that parses to the same mode.
func (t ToolSearch) String() string {
	switch t.Kind {
	case Auto:
		return "auto:" + strconv.Itoa(t.Percent)
	case Off:
		return "false"
	default:
		return "true"
	}
}

// ParseToolSearch reads a value of ENABLE_TOOL_SEARCH: a boolean, auto, or
// auto:N with N from 0 to 100 (SPEC E2). The empty value is as good as unset.
// Anything else is an error that names the value: what was meant is not guessed.
func ParseToolSearch(value string) (ToolSearch, error) {
	text := strings.ToLower(strings.TrimSpace(value))
	if text == "" {
		return ToolSearch{Kind: Always}, nil
	}
	if text == "auto" {
		return ToolSearch{Kind: Auto, Percent: DefaultPercent, Explicit: true}, nil
	}
	if number, is := strings.CutPrefix(text, "auto:"); is {
		return parseAuto(value, number)
	}
	on, err := parseBool(text)
	if err != nil {
		return ToolSearch{}, fmt.Errorf("%q is none of true, false, auto, auto:0 to auto:100", value)
	}
	if on {
		return ToolSearch{Kind: Always, Explicit: true}, nil
	}
	return ToolSearch{Kind: Off, Explicit: true}, nil
}

// parseAuto reads N of auto:N. The ends are not automatic at all: 0 % is
// always exceeded, 100 % never.
func parseAuto(value, number string) (ToolSearch, error) {
	percent, err := strconv.ParseUint(number, 10, 8)
	if err != nil || percent > 100 {
		return ToolSearch{}, fmt.Errorf("%q: write a whole percentage from 0 to 100 after \"auto:\"", value)
	}
	switch percent {
	case 0:
		return ToolSearch{Kind: Always, Explicit: true}, nil
	case 100:
		return ToolSearch{Kind: Off, Explicit: true}, nil
	}
	return ToolSearch{Kind: Auto, Percent: int(percent), Explicit: true}, nil
}

// parseBool reads the usual spellings of yes and no. The empty value is no:
// in a shell, setting a variable to nothing is how one switches it off.
func parseBool(value string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "1", "true", "yes", "on":
		return true, nil
	case "", "0", "false", "no", "off":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", value)
}

// parseConcurrency reads a number of calls, at least 1 (SPEC I2).
func parseConcurrency(value string) (int, error) {
	if strings.TrimSpace(value) == "" {
		return DefaultConcurrency, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(value))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is not a whole number of at least 1", value)
	}
	return n, nil
}

// Rankers are the names of the ways to score that TOOL_SEARCH_RANKER chooses from
// (SPEC E9), the baseline first.
func Rankers() []string { return []string{"seed", "bm25", "bm25-params", "lexicon"} }

// parseRanker takes the names of Rankers; nothing means the default.
func parseRanker(value string) (string, error) {
	text := strings.TrimSpace(value)
	if text != "" && !slices.Contains(Rankers(), text) {
		return "", fmt.Errorf("%q is none of %s", value, strings.Join(Rankers(), ", "))
	}
	return text, nil
}

// parseBaseURL accepts an absolute http(s) address, or nothing. A password in
// it is kept out of the error, which repeats nothing of an address that does not parse.
func parseBaseURL(value string) (string, error) {
	text := strings.TrimSpace(value)
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	switch unparsed, unread := errors.AsType[*url.Error](err); {
	case unread && strings.Contains(text, "@"):
		return "", errors.New("not an address: look at its port and its % signs, or leave the name and password out")
	case unread:
		return "", fmt.Errorf("not an address: %q: %w", text, unparsed.Err)
	case strings.Contains(text, "@") && u.User == nil:
		return "", errors.New("not an absolute http or https address")
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return "", fmt.Errorf("%q is not an absolute http or https address", u.Redacted())
	}
	return text, nil
}

// parseUserType takes ant and external; nothing means external.
func parseUserType(value string) (UserType, error) {
	switch text := strings.TrimSpace(value); UserType(text) {
	case "", Outside:
		return Outside, nil
	case Ant:
		return Ant, nil
	}
	return "", fmt.Errorf("%q is neither %s nor %s", value, Ant, Outside)
}

// parseFlag reads a feature's switch. Asking for what the build left out is an
// error: the run would silently lack what its author counts on.
func parseFlag(f Flag, value string) (bool, error) {
	on, err := parseBool(value)
	if err == nil && on && !f.Compiled() {
		return false, fmt.Errorf("%q asks for a feature that this build left out (tag %s)", value, f.BuildTag())
	}
	return on, err
}
