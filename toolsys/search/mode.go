package search

import (
	"fmt"
	"net/url"
	"strings"
)

// Mode is when deferral happens (SPEC E2).
type Mode uint8

// The modes. Always is what an unset variable means.
const (
	Always    Mode = iota // whenever the model can
	Automatic             // where the deferred definitions outgrow a share of the window
	Off                   // never: every tool whole, no ToolSearch
)

// Optimistic is the decision at assembly: is ToolSearch in the pool (SPEC E3)?
// Gateways of other parties mostly do not know tool references, so for their
// addresses it is off, unless the mode was set explicitly.
func Optimistic(mode Mode, baseURL string, explicit bool) bool {
	return mode != Off && (explicit || firstParty(baseURL))
}

// firstParty tells whether requests go to the API's own host. Only the parsed
// host counts: addresses that merely look alike are somebody else's.
func firstParty(baseURL string) bool {
	if baseURL == "" {
		return true
	}
	u, err := url.Parse(baseURL)
	if err != nil || u.Scheme != "https" || (u.Port() != "" && u.Port() != "443") {
		return false
	}
	return strings.EqualFold(strings.TrimSuffix(u.Hostname(), "."), "api.anthropic.com")
}

// FinalInput is all that the decision before a request depends on.
type FinalInput struct {
	Mode Mode
	// Percent is the share of the window for automatic mode.
	Percent int
	// Model is the request's, in any spelling of any provider, and Betas are
	// its beta headers.
	Model string
	Betas []string
	// Present tells whether ToolSearch is in the pool.
	Present bool
	// DeferredTokens is what the deferred definitions would cost whole.
	DeferredTokens int
}

// Final is the decision before a request: are deferred tools sent by name only
// (SPEC E3)? Where it is no, ToolSearch leaves the request too. The reason is
// a phrase for the trace.
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
	note := ""
	if !known {
		note = ", assumed for an unknown model"
	}
	on := in.DeferredTokens > threshold
	verb := "stay within"
	if on {
		verb = "exceed"
	}
	return on, fmt.Sprintf("%d deferred tokens %s %d (%d %% of a window of %d%s)",
		in.DeferredTokens, verb, threshold, in.Percent, window, note)
}

// References tells whether a model takes tool references. The Haiku family
// does not (SPEC E3).
func References(model string) bool {
	return !strings.Contains(strings.ToLower(model), "haiku")
}
