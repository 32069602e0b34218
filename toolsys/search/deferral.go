package search

import (
	_ "embed" // the table beside this file
	"fmt"
	"net/url"
	"strings"
)

// Entry is a tool as the search sees it.
type Entry struct {
	// Name is what the model calls: mcp__server__tool for most MCP tools.
	Name string
	// Hint is what it is good for, in 3 to 10 words.
	Hint string
	// Description is all of the text the model would get.
	Description string
	// MCP marks a tool of an MCP server, Server names it.
	MCP    bool
	Server string
	// Deferrable and AlwaysLoad are the tool's own wishes (SPEC A1, E1).
	Deferrable, AlwaysLoad bool
	// Params are its parameters, "name" or "name: description" each, as
	// [Parameters] lists them, for rankers that read them; the baseline does not.
	Params []string
}

// Flags are the features that change what is deferred (SPEC E1).
type Flags struct {
	ForkSubagent bool // FORK_SUBAGENT
	Kairos       bool // KAIROS
	Bridge       bool // KAIROS with an active bridge to the user
	DeferAgent   bool // DEFER_AGENT: Agent, which is sent in full by default
	DeferBrief   bool // DEFER_BRIEF: Brief, likewise
}

// ToolName is the search tool's own name, which can never be deferred.
const ToolName = "ToolSearch"

// Deferred reports whether a tool goes by name only until it is discovered. The order of the questions is the rule
// (SPEC E1): even an MCP tool named ToolSearch is deferred, and an always-loaded one is not.
func Deferred(e Entry, f Flags) bool {
	switch {
	case e.AlwaysLoad:
		return false
	case e.MCP:
		return true
	case e.Name == ToolName, f.ForkSubagent && e.Name == "Agent",
		f.Kairos && e.Name == "Brief", f.Kairos && f.Bridge && e.Name == "SendUserFile":
		return false
	case f.DeferAgent && e.Name == "Agent", f.DeferBrief && e.Name == "Brief":
		return true
	}
	return e.Deferrable
}

// Mode is when deferral happens (SPEC E2).
type Mode uint8

// The modes. Always is what an unset variable means.
const (
	Always    Mode = iota // whenever the model can
	Automatic             // where the deferred definitions outgrow a share of the window
	Off                   // never: every tool in full, no ToolSearch
)

// Optimistic is the decision at assembly: is ToolSearch in the pool (SPEC E3)? Gateways of other parties mostly do
// not support tool references, so for their addresses it is off, unless the mode was set explicitly.
func Optimistic(mode Mode, baseURL string, explicit bool) bool {
	return mode != Off && (explicit || firstParty(baseURL))
}

// firstParty reports whether requests go to the API's own host. Only the parsed
// host counts: addresses that merely look alike are somebody else's.
func firstParty(baseURL string) bool {
	if baseURL == "" {
		return true
	}
	u, err := url.Parse(baseURL)
	return err == nil && u.Scheme == "https" && (u.Port() == "" || u.Port() == "443") && strings.EqualFold(strings.TrimSuffix(u.Hostname(), "."), "api.anthropic.com")
}

// FinalInput is all that the decision before a request depends on.
type FinalInput struct {
	Mode Mode
	// Percent is the share of the window for automatic mode.
	Percent int
	// Model is the request's, in any spelling of any provider, and Betas are its beta headers.
	Model string
	Betas []string
	// Present reports whether ToolSearch is in the pool.
	Present bool
	// DeferredTokens is what the deferred definitions would cost in full.
	DeferredTokens int
}

// Final is the decision before a request: are deferred tools sent by name only (SPEC E3)? Where it is no, ToolSearch
// leaves the request too. The reason is a phrase for the trace.
func Final(in FinalInput) (on bool, reason string) {
	switch {
	case in.Mode == Off:
		return false, "deferral is off"
	case !in.Present:
		return false, ToolName + " is not in the pool"
	case !References(in.Model):
		return false, "model " + in.Model + " takes no tool references"
	case in.Mode == Automatic:
		return exceeds(in)
	}
	return true, "deferral is always on"
}

// exceeds compares the deferred tokens with the threshold, strictly.
func exceeds(in FinalInput) (bool, string) {
	window, known := Window(in.Model, in.Betas)
	threshold := window * in.Percent / 100
	note := map[bool]string{false: ", assumed for an unknown model"}[known]
	on := in.DeferredTokens > threshold
	verb := map[bool]string{true: "exceed", false: "stay within"}[on]
	return on, fmt.Sprintf("%d deferred tokens %s %d (%d %% of a window of %d%s)",
		in.DeferredTokens, verb, threshold, in.Percent, window, note)
}

// References reports whether a model takes tool references. The Haiku family does not (SPEC E3).
func References(model string) bool { return !strings.Contains(strings.ToLower(model), "haiku") }

// DefaultWindow is the context window of a model that is not known, in tokens.
const DefaultWindow = 200_000

// largeBeta begins the beta header that asks for the large window.
const largeBeta = "context-1m"

//go:embed windows.txt
var windowTable string

// window is a model's context window, without and with that beta.
type window struct{ plain, beta int }

// windows are those of the known models; families are the words of their names.
var windows, families = func() (map[string]window, map[string]bool) {
	sizes, words := map[string]window{}, map[string]bool{}
	err := eachLine("windows.txt", windowTable, func(line string) error {
		var name string
		var w window
		_, err := fmt.Sscanf(line, "%s %d %d", &name, &w.plain, &w.beta)
		sizes[name] = w
		for word := range strings.SplitSeq(name, "-") {
			words[word] = true
		}
		return err
	})
	if err != nil {
		panic(err) // the data are part of the program, and a test reads them
	}
	return sizes, words
}()

// Window is a model's context window in tokens, given the request's betas (SPEC E3). The name may carry a provider's
// prefix, a date, a revision, or [1m], which asks for the large window as the beta does. A model that is not in the
// table gets DefaultWindow, and ok is false.
func Window(model string, betas []string) (tokens int, ok bool) {
	name, large := strings.CutSuffix(strings.ToLower(strings.TrimSpace(model)), "[1m]")
	for _, beta := range betas {
		large = large || strings.HasPrefix(strings.ToLower(strings.TrimSpace(beta)), largeBeta)
	}
	row, ok := windows[bareModel(name)]
	switch {
	case !ok:
		return DefaultWindow, false
	case large:
		return row.beta, true
	}
	return row.plain, true
}

// bareModel finds the table's key in a provider's spelling: the words from claude on, up to the first that is neither
// a name nor a version of one or two digits. us.anthropic.claude-opus-4-5-20251101-v1:0 is claude-opus-4-5.
func bareModel(name string) string {
	_, tail, found := strings.Cut(name, "claude-")
	if !found {
		return name
	}
	words := strings.FieldsFunc(tail, func(r rune) bool { return strings.ContainsRune("-.@:_/", r) })
	key := "claude"
	for _, word := range words {
		digits := strings.Trim(word, "0123456789") == ""
		if digits && len(word) > 2 || !digits && !families[word] {
			break
		}
		key += "-" + word
	}
	return key
}
