package settings_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/toolsys/settings"
)

// from answers look-ups out of a map, as a process answers out of its environment.
func from(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, set := values[name]
		return value, set
	}
}

// compiledIn is some flag of this build; a build that left out all has none to test with.
func compiledIn(t *testing.T) settings.Flag {
	on := settings.EveryFlag().On()
	if len(on) == 0 {
		t.Skip("this build holds no feature at all")
	}
	return on[0]
}

func TestAnEmptyEnvironmentGivesTheExternalProfile(t *testing.T) {
	s, err := settings.FromEnv(from(nil))
	require.NoError(t, err)
	assert.Equal(t, settings.External(), s)
	assert.Equal(t, 10, s.MaxConcurrency)
	assert.Equal(t, settings.Always, s.ToolSearch.Kind)
	assert.False(t, s.ToolSearch.Explicit)
	assert.False(t, s.Internal())
	assert.Empty(t, s.On())
}

func TestEveryVariableIsRead(t *testing.T) {
	s, err := settings.FromEnv(from(map[string]string{
		"CLAUDE_CODE_SIMPLE":                   "1",
		"CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY": "3",
		"ENABLE_TOOL_SEARCH":                   "auto:25",
		"ANTHROPIC_BASE_URL":                   "https://gateway.example/v1",
		"USER_TYPE":                            "ant",
		"ENABLE_LSP_TOOL":                      "yes",
		compiledIn(t).Variable():               "true",
	}))
	require.NoError(t, err)
	assert.True(t, s.Simple)
	assert.Equal(t, 3, s.MaxConcurrency)
	assert.Equal(t, settings.ToolSearch{Kind: settings.Auto, Percent: 25, Explicit: true}, s.ToolSearch)
	assert.Equal(t, "https://gateway.example/v1", s.BaseURL)
	assert.True(t, s.Internal())
	assert.True(t, s.LSP)
	assert.Equal(t, []settings.Flag{compiledIn(t)}, s.On())
}

func TestNothingButTheListedVariablesIsAskedFor(t *testing.T) {
	var asked, listed []string
	_, err := settings.FromEnv(func(name string) (string, bool) {
		asked = append(asked, name)
		return "", false
	})
	require.NoError(t, err)
	for _, key := range settings.Keys() {
		listed = append(listed, key.Name)
		assert.NotEmpty(t, key.About, key.Name)
	}
	assert.Equal(t, listed, asked)
	assert.True(t, slices.IsSorted(listed))
	assert.Len(t, slices.Compact(listed), 12+len(settings.Flags()))
}

func TestDefaultsOfTheKeysAreTheDefaultSettings(t *testing.T) {
	values := map[string]string{}
	for _, key := range settings.Keys() {
		values[key.Name] = key.Default
	}
	s, err := settings.FromMap(values)
	require.NoError(t, err)
	s.ToolSearch.Explicit = false // spelling the default out is still explicit
	assert.Equal(t, settings.External(), s)
}

func TestAnEmptyValueCountsAsUnset(t *testing.T) {
	values := map[string]string{}
	for _, key := range settings.Keys() {
		values[key.Name] = ""
	}
	s, err := settings.FromEnv(from(values))
	require.NoError(t, err)
	assert.Equal(t, settings.External(), s)
}

// Blanks around a value come of files of variables and of quoting; they are no part of it.
func TestBlanksAroundAValueAreNoPartOfIt(t *testing.T) {
	for name, value := range map[string]string{
		"CLAUDE_CODE_SIMPLE": "On", "CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY": "7", "ENABLE_LSP_TOOL": "yes", "USER_TYPE": "ant",
		"ANTHROPIC_BASE_URL": "https://gateway.example/v1", "TOOL_SEARCH_RANKER": "bm25",
	} {
		plain, err := settings.FromEnv(from(map[string]string{name: value}))
		require.NoError(t, err, name)
		assert.NotEqual(t, settings.External(), plain, name)
		blank, err := settings.FromEnv(from(map[string]string{name: " " + value + "\t"}))
		require.NoError(t, err, name)
		assert.Equal(t, plain, blank, name)
	}
}

func TestABaseURLHasAHost(t *testing.T) {
	for _, address := range []string{"http://:8080", "https:///v1", "//gateway.example"} {
		_, err := settings.FromEnv(from(map[string]string{"ANTHROPIC_BASE_URL": address}))
		require.ErrorContains(t, err, address)
	}
}

func TestGarbageIsAnErrorThatNamesTheVariableAndTheValue(t *testing.T) {
	for name, value := range map[string]string{
		"CLAUDE_CODE_SIMPLE":                     "maybe",
		"CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY":   "0",
		"ENABLE_TOOL_SEARCH":                     "auto:101",
		"CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "2",
		"ANTHROPIC_BASE_URL":                     "localhost:8080",
		"USER_TYPE":                              "martian",
		"ENABLE_LSP_TOOL":                        "perhaps",
		"FEATURE_KAIROS":                         "sometimes",
	} {
		_, err := settings.FromEnv(from(map[string]string{name: value}))
		assert.ErrorContains(t, err, name)
		assert.ErrorContains(t, err, value)
	}
}

func TestAllThatIsWrongIsReportedAtOnce(t *testing.T) {
	_, err := settings.FromMap(map[string]string{
		"USER_TYPE": "x", "ENABLE_TOOL_SEARCH": "y", "FEATURE_KAIRO": "1",
	})
	require.Error(t, err)
	assert.Equal(t, 3, strings.Count(err.Error(), "settings: "))
}

func TestConcurrencyIsAtLeastOne(t *testing.T) {
	for _, bad := range []string{"0", "-1", "ten", "1.5", "9999999999999999999"} {
		_, err := settings.FromEnv(from(map[string]string{"CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY": bad}))
		assert.ErrorContains(t, err, bad)
	}
	s, err := settings.FromEnv(from(map[string]string{"CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY": "1"}))
	require.NoError(t, err)
	assert.Equal(t, 1, s.MaxConcurrency)
}

func TestAPasswordInTheBaseURLStaysOutOfTheError(t *testing.T) {
	for _, address := range []string{
		"ftp://me:hunter2@files.example", "https://me:hunter2@files.example:port", "https://me:hunter2@files example", "https://me:hunter2%zz@files.example", "me:hunter2@files.example",
	} {
		_, err := settings.FromEnv(from(map[string]string{"ANTHROPIC_BASE_URL": address}))
		require.ErrorContains(t, err, "ANTHROPIC_BASE_URL", address)
		assert.NotContains(t, err.Error(), "hunter2")
	}
	_, err := settings.FromEnv(from(map[string]string{"ANTHROPIC_BASE_URL": "https://files.example:port"}))
	require.ErrorContains(t, err, "https://files.example:port", "what holds no password is repeated")
}

func TestToolSearchModes(t *testing.T) {
	always := settings.ToolSearch{Kind: settings.Always, Explicit: true}
	off := settings.ToolSearch{Kind: settings.Off, Explicit: true}
	auto := func(n int) settings.ToolSearch {
		return settings.ToolSearch{Kind: settings.Auto, Percent: n, Explicit: true}
	}
	for value, want := range map[string]settings.ToolSearch{
		"": {}, " ": {}, "true": always, "TRUE": always, "1": always, "auto:0": always, "yes": always, "on": always, " true ": always,
		"auto": auto(10), "auto:1": auto(1), "auto:99": auto(99), "Auto:42": auto(42),
		"false": off, "0": off, "auto:100": off, "no": off, "Off": off, "\tauto ": auto(10),
	} {
		got, err := settings.ParseToolSearch(value)
		require.NoError(t, err, value)
		assert.Equal(t, want, got, value)
	}
	for _, bad := range []string{"auto:", "auto:101", "auto:-1", "auto:+5", "auto:5%", "auto 5", "automatic", "tst", "2"} {
		_, err := settings.ParseToolSearch(bad)
		assert.ErrorContains(t, err, bad)
	}
}

func TestAToolSearchModeReadsBackAsItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 100).Draw(t, "percent")
		mode, err := settings.ParseToolSearch("auto:" + strconv.Itoa(n))
		require.NoError(t, err)
		again, err := settings.ParseToolSearch(mode.String())
		require.NoError(t, err)
		assert.Equal(t, mode, again)
	})
}

func TestDisabledBetasBeatEveryMode(t *testing.T) {
	for _, mode := range []string{"", "true", "auto", "auto:1", "false"} {
		s, err := settings.FromEnv(from(map[string]string{
			"ENABLE_TOOL_SEARCH": mode, "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "1",
		}))
		require.NoError(t, err)
		assert.Equal(t, settings.Off, s.ToolSearch.Kind, mode)
		assert.Zero(t, s.ToolSearch.Percent)
	}
	_, err := settings.FromEnv(from(map[string]string{
		"ENABLE_TOOL_SEARCH": "gibberish", "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "1",
	}))
	assert.ErrorContains(t, err, "gibberish", "garbage is never hidden by another switch")
}

func TestAnUnknownFeatureNamesTheNearest(t *testing.T) {
	_, err := settings.FromMap(map[string]string{"FEATURE_KAIRSO": "1"})
	assert.ErrorContains(t, err, "FEATURE_KAIRSO; did you mean FEATURE_KAIROS?")

	_, err = settings.FromMap(map[string]string{"FEATURE_KAIXXROS": "1"})
	assert.ErrorContains(t, err, "did you mean FEATURE_KAIROS?")

	_, err = settings.FromMap(map[string]string{"FEATURE_SOMETHING_ELSE_ENTIRELY": "1"})
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "did you mean", "a far-off guess is worse than none")

	_, err = settings.FromMap(map[string]string{"FEATURE_TODO_V3": "1"})
	assert.ErrorContains(t, err, "FEATURE_TODO_V2")

	_, err = settings.FromMap(map[string]string{"FEATURE_KAIXYZ": "1"})
	assert.ErrorContains(t, err, "did you mean FEATURE_KAIROS?", "half of a name may differ")
	_, err = settings.FromMap(map[string]string{"FEATURE_KAWXYZ": "1"})
	assert.NotContains(t, err.Error(), "did you mean", "more than half is a guess")
}

func TestAnUnknownVariableNamesTheNearest(t *testing.T) {
	_, err := settings.FromMap(map[string]string{"ENABLE_TOOLSEARCH": "true"})
	assert.ErrorContains(t, err, "did you mean ENABLE_TOOL_SEARCH?")
}

// The names of the flags stand in a file of their own, in the order of the constants.
func TestFlagsHaveTheNamesOfTheirConstants(t *testing.T) {
	source, err := os.ReadFile("flag.go")
	require.NoError(t, err)
	_, list, _ := strings.Cut(string(source), "const (\n")
	list, _, _ = strings.Cut(list, "\n)")
	var names, listed []string
	for line := range strings.Lines(list) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		names = append(names, strings.ToUpper(name))
	}
	for _, f := range settings.Flags() {
		listed = append(listed, strings.ReplaceAll(f.String(), "_", ""))
	}
	assert.Equal(t, names, listed)
}

func TestFlagsAreNamedOnceAndReadBack(t *testing.T) {
	names := map[string]bool{}
	for _, f := range settings.Flags() {
		names[f.String()] = true
		if !f.Compiled() {
			continue // asking for it is an error, see below
		}
		s, err := settings.FromMap(map[string]string{f.Variable(): "1"})
		require.NoError(t, err)
		assert.Equal(t, []settings.Flag{f}, s.On())
	}
	assert.Len(t, names, len(settings.Flags()))
	assert.True(t, slices.IsSortedFunc(settings.Flags(), func(a, b settings.Flag) int {
		return strings.Compare(a.String(), b.String())
	}))
	past := settings.Flag(len(settings.Flags()))
	for _, none := range []settings.Flag{past, 200} {
		assert.Equal(t, fmt.Sprintf("Flag(%d)", none), none.String(), "no flag, and no panic")
		assert.Empty(t, none.About())
		assert.False(t, none.Compiled())
	}
	assert.False(t, settings.EveryFlag().Has(200))
}

func TestSettingsAreValues(t *testing.T) {
	base := settings.External()
	derived := base.With(settings.Kairos, settings.TodoV2)
	assert.False(t, base.Has(settings.Kairos))
	assert.Equal(t, settings.Kairos.Compiled(), derived.Has(settings.Kairos))
	assert.True(t, base == derived.Without(settings.Kairos, settings.TodoV2))
	assert.True(t, base == base.Without(settings.Kairos), "what is off stays off")
}

func TestEveryFlagTurnsOnAllThatIsCompiledIn(t *testing.T) {
	s := settings.EveryFlag()
	for _, f := range settings.Flags() {
		assert.Equal(t, f.Compiled(), s.Has(f), f)
	}
	assert.True(t, s.Internal())
	assert.True(t, s.LSP)
}

func TestProfilesAreFoundByName(t *testing.T) {
	for _, p := range settings.Profiles() {
		s, err := settings.FindProfile(p.Name)
		require.NoError(t, err)
		assert.Equal(t, p.Settings, s)
	}
	_, err := settings.FindProfile("interna")
	assert.ErrorContains(t, err, "internal")
}

// Building this test again with a flag's tag proves that the tag reaches the
// flag; the inner run is recognised by the flag being out.
func TestABuildTagRemovesItsFlagWhateverTheSettingsSay(t *testing.T) {
	if !settings.Kairos.Compiled() {
		assert.False(t, settings.EveryFlag().Has(settings.Kairos))
		assert.Equal(t, settings.Proactive.Compiled(), settings.EveryFlag().Has(settings.Proactive), "and only that flag")
		_, err := settings.FromEnv(from(map[string]string{"FEATURE_KAIROS": "1"}))
		assert.ErrorContains(t, err, "no_kairos")
		_, err = settings.FromEnv(from(map[string]string{"FEATURE_KAIROS": "0"}))
		assert.NoError(t, err)
		return
	}
	if testing.Short() {
		t.Skip("builds the package once more")
	}
	out, err := exec.Command("go", "test", "-tags", "no_kairos", ".").CombinedOutput()
	assert.NoError(t, err, string(out))
}

// A token is never printed, by whatever verb, nor written as JSON.
func TestASecretIsNotPrinted(t *testing.T) {
	s, err := settings.FromMap(map[string]string{"REMOTE_TRIGGER_TOKEN": "tok-123", "PULL_REQUEST_TOKEN": "tok-456", "REMOTE_TRIGGER_URL": "https://a.example"})
	require.NoError(t, err)
	assert.Equal(t, "tok-123", s.TriggerToken.Reveal())
	raw, err := json.Marshal(s)
	require.NoError(t, err)
	for _, text := range []string{fmt.Sprint(s), fmt.Sprintf("%+v", s), fmt.Sprintf("%#v", s), fmt.Sprintf("%q", s.TriggerToken), fmt.Sprintf("%s %x", s.TriggerToken, s.TriggerToken), string(raw)} {
		assert.NotContains(t, text, "tok-")
		assert.NotContains(t, text, fmt.Sprintf("%x", "tok-"))
	}
	assert.Empty(t, settings.Secret{}.String())
	_, err = settings.FromMap(map[string]string{"REMOTE_TRIGGER_URL": "ftp://a.example"})
	assert.ErrorContains(t, err, "REMOTE_TRIGGER_URL")
}
