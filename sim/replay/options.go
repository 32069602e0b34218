package replay

import (
	"fmt"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolbench/sim/recording"
	"toolbench/sim/stream"
	"toolbench/toolsys/schedule"
)

// Options are how to replay, and what to assume where nothing was measured. The zero value assumes DefaultPace and
// DefaultDuration, takes no tool for safe, and runs every policy.
type Options struct {
	// Safe are globs of tools that may run beside others.
	Safe Globs
	// Durations are those of tools that were not measured.
	Durations Durations
	// Pace is that of streams without times; nil stands for DefaultPace.
	Pace *stream.Pace
	// Policies are what is compared; none stands for all.
	Policies []schedule.Policy
	// Seed orders what happens in one instant.
	Seed   uint64
	Limits recording.Limits
	// Secrets are values to blank in the report, besides what looks like one.
	Secrets []string
	// Events keeps what happened, for timelines.
	Events bool
	// Seen keeps what a person at the conversation saw, under the last policy. Its texts are
	// as they are: whoever shows them blanks secrets.
	Seen bool
	// Moved is called whenever a replay goes on: when bytes of the recording were read, and when a turn
	// was played under a policy. It may be called on several goroutines at once; nil is not called.
	Moved func() `json:"-"`
}

// DefaultPace is assumed of a stream without times: 400 ms to the first byte, then 80 tokens a second.
func DefaultPace() stream.Pace {
	return stream.Pace{FirstByte: 400 * time.Millisecond, TokensPerSecond: 80}
}

// DefaultDuration is assumed of a call that was not measured and that no option names.
const DefaultDuration = time.Second

// Policies are those that can be compared, from the slowest.
func Policies() []schedule.Policy {
	return []schedule.Policy{schedule.Serial, schedule.Batch, schedule.Streaming}
}

// Globs are patterns of tool names: * stands for anything, ? for one character.
type Globs []string

// ParseGlobs reads patterns separated by commas: "view,ls,mcp__*".
func ParseGlobs(text string) (Globs, error) {
	var out Globs
	for g := range listed(text) {
		if _, err := path.Match(g, ""); err != nil {
			return nil, fmt.Errorf("%q is no pattern: a [ is not closed", g)
		}
		out = append(out, g)
	}
	return out, nil
}

// listed gives the parts of a text between commas or blanks.
func listed(text string) iter.Seq[string] {
	return strings.FieldsSeq(strings.ReplaceAll(text, ",", " "))
}

// Match reports whether one of the patterns is the name's.
func (gs Globs) Match(name string) bool {
	return slices.ContainsFunc(gs, func(g string) bool { return glob(g, name) })
}

// glob reports whether a name matches, as paths do; a pattern was checked when it was read.
func glob(pattern, name string) bool {
	if pattern == "*" {
		return true // whatever a name is made of
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// Durations gives tools their durations: by name, then by the first pattern that fits.
type Durations []ToolDuration

// ToolDuration is the duration of the tools that a pattern names.
type ToolDuration struct {
	Glob string
	Took time.Duration
}

// ParseDurations reads "Read=300ms,*=1s".
func ParseDurations(text string) (Durations, error) {
	var out Durations
	for part := range listed(text) {
		name, value, ok := strings.Cut(part, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q: write TOOL=DURATION, as Read=300ms", part)
		}
		if _, err := path.Match(name, ""); err != nil {
			return nil, fmt.Errorf("%q is no pattern: a [ is not closed", name)
		}
		d, err := duration(value)
		if err != nil {
			return nil, err
		}
		out = append(out, ToolDuration{name, d})
	}
	return out, nil
}

func duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no duration: write it with a unit, as 300ms", text)
	}
	if d < 0 || d > maxDuration {
		return 0, fmt.Errorf("%s is no duration of a tool: it must be from 0 to %s", text, maxDuration)
	}
	return d, nil
}

// maxDuration keeps sums of times from wrapping round.
const maxDuration = 365 * 24 * time.Hour

// Of gives a tool's duration; ok is false when nothing names it.
func (ds Durations) Of(name string) (d time.Duration, ok bool) {
	i := slices.IndexFunc(ds, func(e ToolDuration) bool { return e.Glob == name })
	if i < 0 {
		i = slices.IndexFunc(ds, func(e ToolDuration) bool { return glob(e.Glob, name) })
	}
	if i < 0 {
		return 0, false
	}
	return ds[i].Took, true
}

// ParsePace reads "first_byte=400ms,tps=80". What is left out is DefaultPace's.
func ParsePace(text string) (stream.Pace, error) {
	p := DefaultPace()
	for part := range listed(text) {
		name, value, _ := strings.Cut(part, "=")
		var err error
		switch name {
		case "first_byte":
			p.FirstByte, err = duration(value)
		case "tps", "tokens_per_second":
			if p.TokensPerSecond, err = strconv.ParseFloat(value, 64); err != nil || !(p.TokensPerSecond >= 0.01 && p.TokensPerSecond < 1e9) {
				err = fmt.Errorf("%q is no speed: write tokens a second, 0.01 or more, as tps=80", value)
			}
		default:
			err = fmt.Errorf("unknown part %q: write first_byte=400ms,tps=80", name)
		}
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

// complete fills in what was left out.
func (o Options) complete() Options {
	if o.Pace == nil {
		o.Pace = new(DefaultPace())
	}
	if len(o.Policies) == 0 {
		o.Policies = Policies()
	}
	if o.Moved == nil {
		o.Moved = func() {}
	}
	return o
}
