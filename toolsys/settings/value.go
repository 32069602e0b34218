package settings

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

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

// parseRanker knows the names of Rankers; nothing means the default.
func parseRanker(value string) (string, error) {
	text := strings.TrimSpace(value)
	if text != "" && !slices.Contains(Rankers(), text) {
		return "", fmt.Errorf("%q is none of %s", value, strings.Join(Rankers(), ", "))
	}
	return text, nil
}

// parseBaseURL accepts an absolute http(s) address, or nothing. A password in
// it is kept out of the error.
func parseBaseURL(value string) (string, error) {
	text := strings.TrimSpace(value)
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("not an address: %w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return "", fmt.Errorf("%q is not an absolute http or https address", u.Redacted())
	}
	return text, nil
}

// parseUserType knows ant and external; nothing means external.
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
