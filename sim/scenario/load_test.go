package scenario_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/scenario"
)

// good is a scenario that loads; the cases below break it.
const good = `name: good
about: It loads.
stream:
  turns:
    - text: Done.
      calls:
        - {id: call_1, tool: Read, input: {file_path: /repo/a.go}, at: 2s}
durations: {Read: 300ms}
expect:
  makespan: 2s
`

func TestABrokenFileNamesFilePlaceAndRemedy(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		prev, next := string(rune('a'+i)), string(rune('b'+i))
		bomb += next + ": &" + next + " [" + strings.Repeat("*"+prev+",", 8) + "*" + prev + "]\n"
	}
	deep := "a: &a 1\n"
	for i := range 9 {
		deep += fmt.Sprintf("%c: &%[1]c %s*%c%s\n", 'b'+i, strings.Repeat("[", 90), 'a'+i, strings.Repeat("]", 90))
	}
	cases := []struct {
		name, data, place, says, remedy string
	}{
		{"an unknown key", strings.Replace(good, "durations", "duration", 1), ":8:1", "unknown field", "did you mean durations?"},
		{"a duplicate key", good + "name: again\n", ":11:1", "already defined", "keep one"},
		{"a duration without a unit", strings.Replace(good, "300ms", "300", 1), ":8:19", "has no unit", "300ms"},
		{"a bound that is none", strings.Replace(good, "makespan: 2s", "makespan: soon", 1), ":10:13", "neither a number", ""},
		{"a rule that does not parse", good + "world: {permissions: {allow: ['Bash(git']}}\n", ":11:31", "permission rule", ""},
		{"no name", strings.Replace(good, "name: good\n", "", 1), "", "no name", "add `name"},
		{"no sentence", strings.Replace(good, "about: It loads.\n", "", 1), "", "what it guards", "about"},
		{"no stream", "name: x\nabout: y.\n", "", "no stream", "cassette"},
		{"an unknown policy", good + "policy: fast\n", ":11:1", "unknown policy", ""},
		{"a call twice", strings.Replace(good, "durations", "        - {id: call_1, tool: Read}\ndurations", 1), ":8:", "used twice", "unique"},
		{"an answer given twice", strings.Replace(good, "durations", "      events: ['{}']\ndurations", 1), ":8:", "stand beside what is to be written", "keep one"},
		{"a body without a status", good + "faults: [{request: 1, body: no}]\n", ":11:", "has no status", "status: 503"},
		{"an empty file", " \n", "", "empty", "README"},
		{"a binary file", "\x00\x01\x02", "", "binary", "UTF-8"},
		{"a file cut off in a list", good + "tags: [a, b", ":11:", "", "cut off"},
		{"a list in place of a mapping", "- a\n- b\n", ":1:1", "mapping", "name"},
		{"two documents", good + "---\n" + good, "", "2 documents", "one scenario"},
		{"an alias bomb", bomb, ":", "aliases", "write it out in less"},
		{"a long text with many aliases", "a: &a " + strings.Repeat("x", 4_000) + "\nb: [" + strings.Repeat("*a,", 50_000) + "*a]\n", ":2:4", "aliases", "write it out in less"},
		{"lists in lists through aliases", deep, ":4:", "nested more than 200 deep", "write it out in less"},
		{"several unknown keys", strings.Replace(good, "at: 2s", "zat: 2s, ax: 1, bt: 2", 1) + "world: {zz: 1, aa: 2}\nzoo: 1\nago: 1\n", ":7:68", "unknown field \"zat\"", ""},
		{"an unknown key above others", "zoo: 1\n" + good + "ago: 1\nworld: {zz: 1, aa: 2}\n", ":1:1", "unknown field \"zoo\"", ""},
		{"a format of the future", good + "format: 99\n", ":11:1", "format 99", "reads up to"},
		{"a wrong value in a group of keys", good + "world: {cwd: /a, stream_idle: 5}\n", ":11:31", "has no unit", "5ms"},
		{"an unknown key in a group of keys", good + "world: {cwd: /a, tools: [{name: T, saef: true}]}\n", ":11:36", "unknown field \"saef\"", "did you mean safe?"},
		{"an unknown key beside groups of keys", good + "world: {cwd: /a, setings: {}}\n", ":11:18", "unknown field \"setings\"", "did you mean settings?"},
		{"a fault without a key", good + "faults: [{call: call_1, huge: true}]\n", ":11:25", "unknown field \"huge\"", ""},
		{"a turn that is given less than once", strings.Replace(good, "durations", "      repeat: -1\ndurations", 1), ":8:", "repeat is -1, less than nothing", "0 or more"},
		{"an answer of less than nothing", good + "world: {tools: [{name: t, answer: x, repeat: -2}]}\n", ":11:", "repeat is -2", "0 or more"},
		{"an input without JSON", strings.Replace(good, "durations", "        - {id: call_2, tool: Read, input: {n: .nan}}\ndurations", 1), ":8:", "has no JSON", "as raw"},
		{"a range that ends before it begins", strings.Replace(good, "makespan: 2s", "makespan: 3s..1s", 1), ":10:13", "ends before it begins", "smaller one first"},
		{"a sign before a range", strings.Replace(good, "makespan: 2s", "makespan: '!= 1s..3s'", 1), ":10:13", "a sign before a range", "alone"},
		{"a bound that is no number", strings.Replace(good, "makespan: 2s", "max_running: nan", 1), ":10:16", "neither a number", ""},
		{"a duration beyond what a run can last", strings.Replace(good, "300ms", "2562047h", 1), ":8:19", "longer than a year", "8760h"},
		{"a stall beyond what a run can last", good + "faults: ['stall @ request=1 event=1 for 2562047h']\n", ":11:", "longer than a year", "8760h"},
		{"a pace that never ends", strings.Replace(good, "stream:\n", "stream:\n  pace: {tokens_per_second: 1e-300}\n", 1), ":4:", "a pace", "0.01"},
		{"a text where a number belongs", good + "faults: [{request: first}]\n", ":11:", "string was used where int is expected", "schema"},
		{"nothing under a name where a number belongs", good + "faults: [{request: &n ~}]\n", ":11:", "null was used where int is expected", "schema"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := scenario.Load(fstest.MapFS{"x.yaml": {Data: []byte(c.data)}}, "x.yaml")
			var fe *scenario.FileError
			require.ErrorAs(t, err, &fe)
			assert.Contains(t, err.Error(), "x.yaml"+c.place)
			assert.Contains(t, fe.Problem, c.says)
			assert.Contains(t, err.Error(), c.remedy)
			assert.NotContains(t, err.Error(), "\n", "one message, one line")
		})
	}
}

// A text without quotation marks stays what somebody wrote, whatever else YAML would make of it.
func TestATextIsAsItIsWritten(t *testing.T) {
	for _, text := range []string{"1.10", "1.0", "010", "0x1F", "0o17", "1_000", "+5", ".5", "-0", "True", ".inf", ".nan", "1e3", "9007199254740993", "!!str 1.10"} {
		sc, err := scenario.Parse("x.yaml", []byte(good+"world: {files: {/version: "+text+"}, tools: [{name: t, answer: "+text+"}]}\ntags: ["+text+"]\n"))
		require.NoError(t, err, text)
		want := strings.TrimPrefix(text, "!!str ")
		assert.Equal(t, []string{want}, sc.Tags)
		assert.Equal(t, want, sc.World.Files["/version"])
	}
	sc, err := scenario.Parse("x.yaml", []byte("name: 1.10\nabout: It has names of digits.\nstream: {turns: [{calls: [{id: 01, tool: Read, input: {n: 010}}]}]}\nexpect: {starts: {01: 0s}}\n"))
	require.NoError(t, err)
	assert.Equal(t, "1.10", sc.Name)
	assert.Equal(t, "01", sc.Stream.Turns[0].Calls[0].ID)
	assert.Contains(t, sc.Expect.Starts, "01")
	assert.EqualValues(t, 8, sc.Stream.Turns[0].Calls[0].Input["n"], "an input is no text")
}

func TestAFileOverTheLimitIsRefused(t *testing.T) {
	data := []byte(good + "# " + strings.Repeat("x", scenario.MaxFileBytes))
	_, err := scenario.Load(fstest.MapFS{"big.yaml": {Data: data}}, "big.yaml")
	assert.ErrorContains(t, err, "larger than")
}

func TestFindReportsWhatItCannotReadAndLoadsTheRest(t *testing.T) {
	fsys := fstest.MapFS{
		"a/good.yaml":        {Data: []byte(good)},
		"a/bad.yaml":         {Data: []byte("name: [")},
		"a/cassettes/c.yaml": {Data: []byte("version: 1")},
		"a/notes.txt":        {Data: []byte("x")},
		"empty/notes.txt":    {Data: []byte("x")},
	}
	all, errs := scenario.Find(fsys, "a", "empty", "gone.yaml")
	require.Len(t, all, 1)
	assert.Equal(t, "good", all[0].Name)
	text := errors.Join(errs...).Error()
	assert.Len(t, errs, 3, text)
	assert.Contains(t, text, "a/bad.yaml")
	assert.Contains(t, text, "no scenario in this folder")
	assert.Contains(t, text, "gone.yaml")
}

// locked is a disk with a folder that cannot be read.
type locked struct{ fstest.MapFS }

func (d locked) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == "a/locked" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return d.MapFS.ReadDir(name)
}

func TestAFolderThatCannotBeReadKeepsNoneBack(t *testing.T) {
	all, errs := scenario.Find(locked{fstest.MapFS{"a/good.yaml": {Data: []byte(good)}, "a/locked/x.yaml": {Data: []byte(good)}}}, "a")
	assert.Len(t, all, 1)
	assert.EqualError(t, errors.Join(errs...), "a/locked: permission denied")
}

// broken is a disk whose files cannot even be opened without a panic.
type broken struct{ fstest.MapFS }

func (d broken) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, ".yaml") {
		panic("the disk broke")
	}
	return d.MapFS.Open(name)
}

// A panic while files are read side by side reaches who asked for them, and can be reported.
func TestAPanicWhileReadingReachesTheCaller(t *testing.T) {
	disk := broken{fstest.MapFS{"a.yaml": {Data: []byte(good)}, "b.yaml": {Data: []byte(good)}}}
	assert.PanicsWithValue(t, "the disk broke", func() { scenario.Find(disk, ".") })
}

func TestTwoScenariosOfOneNameAreAnError(t *testing.T) {
	fsys := fstest.MapFS{"a.yaml": {Data: []byte(good)}, "b.yaml": {Data: []byte(good)}}
	_, errs := scenario.Find(fsys, ".")
	require.Len(t, errs, 1)
	assert.ErrorContains(t, errs[0], "taken by a.yaml")
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("name: x\nabout: &a y\nstream: *a"))
	f.Add([]byte(good + "faults: [{request: &n ~}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		sc, err := scenario.Parse("f.yaml", data)
		if err == nil && sc.Name == "" {
			t.Fatal("a scenario without a name was accepted")
		}
		var fe *scenario.FileError
		if err != nil && !errors.As(err, &fe) {
			t.Fatalf("an error without a file: %v", err)
		}
	})
}

// A cassette's calls are not in the scenario, so that there are none to propose.
func TestACallThatNobodyMakesHasARemedyOrNone(t *testing.T) {
	sc, err := scenario.Parse("x.yaml", []byte("name: x\nabout: It has a cassette.\nstream: {cassette: x.yaml}\nexpect: {starts: {call_1: 0s}}\n"))
	require.NoError(t, err)
	none := func(string) bool { return false }
	assert.EqualError(t, sc.CheckNames(none, none, nil), `x.yaml:4:19: the model makes no call "call_1"`)
}
