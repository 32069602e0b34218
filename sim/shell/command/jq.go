package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"
)

// jq [-aCcejMnrSs] [--tab] [--indent N] [--arg N V] [--argjson N V] [--args | --jsonargs] [--slurpfile N F]
// [--rawfile N F] [-f FILE] FILTER [FILE...]
//
// Keys come out sorted, as with -S: the library behind it keeps no other order.
func runJq(p *Proc) int {
	vars, args, err := p.jqVariables(p.Args)
	if err != nil {
		return p.usage("%v", err)
	}
	p.Args = args
	o, ok := p.parse("CceMnrSsjRf:", "compact-output>c", "exit-status>e", "monochrome-output>M", "null-input>n", "raw-output>r", "sort-keys>S", "slurp>s", "join-output>j",
		"raw-input>R", "from-file=>f", "tab", "indent=", "color-output>C", "unbuffered")
	if !ok {
		return exitUsage
	}
	names := o.rest
	source := o.get("f", "")
	if o.has("f") {
		data, err := p.Files.ReadFile(source)
		if err != nil {
			return p.usage("Could not open %s: %s", source, Reason(err))
		}
		source = string(data)
	} else if len(names) > 0 {
		source, names = names[0], names[1:]
	} else {
		source = "."
	}
	j := &jqRun{p: p, o: o, vars: vars, names: names}
	if code := j.compile(source); code != 0 {
		return code
	}
	return j.run()
}

// jqVariables takes the options with two values out of the arguments.
func (p *Proc) jqVariables(args []string) (vars map[string]any, rest []string, err error) {
	vars = map[string]any{}
	named := map[string]any{}
	for i := 0; i < len(args); i++ {
		switch a := args[i]; a {
		case "--arg", "--argjson", "--slurpfile", "--rawfile":
			if i+2 >= len(args) {
				return nil, nil, fmt.Errorf("%s takes two parameters (e.g. %s varname value)", a, a)
			}
			v, err := p.jqValue(a, args[i+2])
			if err != nil {
				return nil, nil, fmt.Errorf("%s %s: %w", a, args[i+1], err)
			}
			vars["$"+args[i+1]], named[args[i+1]] = v, v
			i += 2
		case "--args", "--jsonargs":
			return nil, nil, fmt.Errorf("option '%s' is not supported in the in-process shell", a)
		default:
			rest = append(rest, a)
		}
	}
	vars["$ARGS"] = map[string]any{"named": named, "positional": []any{}}
	return vars, rest, nil
}

func (p *Proc) jqValue(option, text string) (any, error) {
	if option == "--arg" {
		return text, nil
	}
	if option != "--argjson" {
		data, err := p.Files.ReadFile(text)
		if err != nil {
			return nil, errors.New(Reason(err))
		}
		if option == "--rawfile" {
			return string(data), nil
		}
		values, err := jsonValues(strings.NewReader(string(data)))
		return values, err
	}
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	err := d.Decode(&v)
	return plainJSON(v), err
}

func jsonValues(in io.Reader) ([]any, error) {
	values := []any{}
	d := json.NewDecoder(in)
	d.UseNumber()
	for {
		var v any
		if err := d.Decode(&v); err == io.EOF {
			return values, nil
		} else if err != nil {
			return values, err
		}
		values = append(values, plainJSON(v))
	}
}

// plainJSON keeps whole numbers whole: gojq knows int, float64 and big integers.
func plainJSON(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.Atoi(v.String()); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = plainJSON(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plainJSON(v[k])
		}
	}
	return v
}

type jqRun struct {
	p      *Proc
	o      options
	vars   map[string]any
	names  []string
	code   *gojq.Code
	values []any // of vars, in the compiled order
	inputs []any
	bad    error // the input stopped being JSON
	last   any
	any    bool
	loaded bool
	unread int // 2 if some input could not be read
}

func (j *jqRun) compile(source string) int {
	query, err := gojq.Parse(source)
	if err != nil {
		j.p.complain("error: %v", err)
		return 3
	}
	var names []string
	for _, name := range sortedKeysOf(j.vars) {
		names = append(names, name)
		j.values = append(j.values, j.vars[name])
	}
	j.code, err = gojq.Compile(query, gojq.WithVariables(names), gojq.WithEnvironLoader(j.p.Environ), gojq.WithInputIter(j))
	if err != nil {
		j.p.complain("error: %v", err)
		return 3
	}
	return 0
}

// Next serves the filter's own input function.
func (j *jqRun) Next() (any, bool) {
	if !j.loaded {
		j.loaded = true
		j.unread = j.load()
	}
	if len(j.inputs) == 0 {
		return nil, false
	}
	v := j.inputs[0]
	j.inputs = j.inputs[1:]
	return v, true
}

func (j *jqRun) run() int {
	code := 0
	if j.o.has("n") {
		code = j.filter(nil)
	} else {
		for v, ok := j.Next(); ok && code != exitHalted; v, ok = j.Next() {
			code = max(code, j.filter(v))
		}
	}
	code = max(code, j.unread)
	if j.bad != nil {
		j.p.complain("error: %v", j.bad)
		code = exitUsage
	}
	if code == 0 && j.o.has("e") {
		switch {
		case !j.any:
			return 4
		case j.last == nil || j.last == false:
			return 1
		}
	}
	return code & 0xff
}

// exitHalted marks a program that ended itself with code 0.
const exitHalted = 0x100

func (j *jqRun) load() int {
	code := 0
	var text strings.Builder
	names := j.names
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, name := range names {
		data, err := j.p.read(name)
		if err != nil {
			j.p.complain("error: Could not open %s: %s", name, Reason(err))
			code = exitUsage
			continue
		}
		text.Write(data)
	}
	switch {
	case j.o.has("R") && j.o.has("s"):
		j.inputs = []any{text.String()}
	case j.o.has("R"):
		lines, _ := splitLines(text.String())
		for _, line := range lines {
			j.inputs = append(j.inputs, line)
		}
	default:
		j.inputs, j.bad = jsonValues(strings.NewReader(text.String()))
		if j.o.has("s") {
			j.inputs = []any{j.inputs}
		}
	}
	return code
}

func (j *jqRun) filter(v any) int {
	iter := j.code.RunWithContext(j.p.Ctx, v, j.values...)
	for {
		out, ok := iter.Next()
		if !ok {
			return 0
		}
		if err, isErr := out.(error); isErr {
			return j.failed(err)
		}
		j.last, j.any = out, true
		if err := j.write(out); err != nil {
			return exitUsage
		}
	}
}

func (j *jqRun) failed(err error) int {
	var halt *gojq.HaltError
	if errors.As(err, &halt) {
		if s, ok := halt.Value().(string); ok {
			io.WriteString(j.p.Stderr, s)
		}
		if halt.ExitCode() == 0 {
			return exitHalted
		}
		return halt.ExitCode()
	}
	j.p.complain("error: %v", err)
	return 5
}

func (j *jqRun) write(v any) error {
	s, isText := v.(string)
	if !isText || !j.o.has("r") && !j.o.has("j") {
		data, err := gojq.Marshal(v) // sorts keys
		if err != nil {
			return err
		}
		s = j.indented(string(data))
	}
	if !j.o.has("j") {
		s += "\n"
	}
	return j.p.print(s)
}

func (j *jqRun) indented(s string) string {
	indent := "  "
	switch j.o.last("c", "tab", "indent") {
	case "c":
		return s
	case "tab":
		indent = "\t"
	case "indent":
		n, _ := natural(j.o.get("indent", ""))
		if n == 0 {
			return s
		}
		indent = strings.Repeat(" ", int(min(n, 7)))
	}
	return indentJSON(s, indent)
}
