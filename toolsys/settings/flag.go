package settings

import (
	_ "embed" // what the flags bring
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
)

// Flag is one feature that a build tag can remove and a FEATURE_ variable can
// switch on (SPEC C1, C2).
type Flag uint8

// The feature flags, by name. What each one gates stands in [Keys].
const (
	AgentSwarms Flag = iota
	AgentTriggers
	ContextCollapse
	CoordinatorMode
	DeferAgent
	DeferBrief
	DeltaDiscovery
	EmbeddedSearch
	ForkSubagent
	HistorySnip
	Kairos
	KairosBridge
	MonitorTool
	OverflowTest
	PowerShellTool
	Proactive
	ReplMode
	Testing
	TodoV2
	VerifyPlan
	WebBrowserTool
	WorkflowScripts
	WorktreeMode
)

// FlagPrefix is what a feature flag's variable begins with.
const FlagPrefix = "FEATURE_"

//go:embed flags.txt
var flagTexts string

// flagTable has each flag's name and what it brings, indexed by Flag and sorted by name.
var flagTable = func() (all [][2]string) {
	for line := range strings.Lines(flagTexts) {
		name, about, _ := strings.Cut(strings.TrimSpace(line), ": ")
		all = append(all, [2]string{name, about})
	}
	return all
}()

// Flags lists every flag, by name, also those that this build left out.
func Flags() []Flag {
	all := make([]Flag, len(flagTable))
	for i := range all {
		all[i] = Flag(i)
	}
	return all
}

// String is the flag's name without the prefix: KAIROS.
func (f Flag) String() string {
	if int(f) >= len(flagTable) {
		return fmt.Sprintf("Flag(%d)", uint8(f))
	}
	return flagTable[f][0]
}

// Variable is the environment variable that sets the flag: FEATURE_KAIROS.
func (f Flag) Variable() string { return FlagPrefix + f.String() }

// BuildTag is the tag that takes the flag's code out of the binary: no_kairos.
func (f Flag) BuildTag() string { return "no_" + strings.ToLower(f.String()) }

// About is a phrase on what the flag brings.
func (f Flag) About() string {
	if int(f) >= len(flagTable) {
		return ""
	}
	return flagTable[f][1]
}

// Compiled reports whether this build holds the flag's code (SPEC C1).
func (f Flag) Compiled() bool { return int(f) < len(flagTable) && leftOut&(1<<f) == 0 }

// leftOut are the flags whose build tags this program was built with. The tags take
// the code itself out where it stands: each tool or function behind a feature is
// registered from a file with the feature's tag.
var leftOut = flagsOfTags(buildTags())

// buildTags are the tags that this program was built with, as the go command notes
// them in it.
func buildTags() []string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, s := range info.Settings {
		if s.Key == "-tags" {
			return strings.Split(s.Value, ",")
		}
	}
	return nil
}

func flagsOfTags(tags []string) (flags uint64) {
	for _, f := range Flags() {
		if slices.Contains(tags, f.BuildTag()) {
			flags |= 1 << f
		}
	}
	return flags
}
