package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"

	"toolbench/toolsys/jsonscan"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/schema"
	"toolbench/toolsys/settings"
)

// ErrDefinition is wrapped by every error of Build.
var ErrDefinition = errors.New("invalid tool definition")

var validName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// Build is the only way from a definition to a tool (A2). What the definition leaves out gets its safe value; a
// definition that cannot work is an error here and not at the first call.
func Build[In, Out any](d Def[In, Out]) (*Tool, error) {
	return build(untyped(d), reflect.TypeFor[In](), reflect.TypeFor[Out]())
}

// build builds a tool whose inputs are of the type in and whose data is of the type out.
func build(d Def[any, any], in, out reflect.Type) (*Tool, error) {
	if d.Prompt == nil && d.Texts.Prompt != "" {
		d.Prompt = Prompt(d.Texts.Prompt)
	}
	d.Hint, d.Description = cmp.Or(d.Hint, d.Texts.Hint), cmp.Or(d.Description, d.Texts.Description)
	if err := check(d); err != nil {
		return nil, err
	}
	input, err := inputSchema(in, d.InputSchema, d.Origin != nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: input schema: %w", ErrDefinition, d.Name, err)
	}
	output, err := outputSchema(out, d.OutputSchema, d.Origin != nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: output schema: %w", ErrDefinition, d.Name, err)
	}
	t := &Tool{
		Name: d.Name, Aliases: slices.Clone(d.Aliases), Hint: d.Hint, Origin: d.Origin, LSP: d.LSP,
		Strict: d.Strict, Wire: d.Wire, Coordinates: d.Coordinates, Internal: slices.Clone(d.Internal), Description: d.Description,
		Describe: erased("", d.Describe, d.Description), Prompt: prompt(d), Input: input, Output: output,
		Complete: eraseComplete(d.Complete), Call: eraseCall(d), Validate: unguarded(d.Validate), Subject: unguarded(d.Subject),
		Permit: inContext("permit", d.Permit, permission.Opinion{}, func(err error) permission.Opinion { // fail closed
			return permission.Opinion{Behaviour: permission.Deny, Text: "the tool's permission check failed: " + err.Error()}
		}),
		TakesContent: d.Subject != nil,
		Enabled:      enabled(d.Traits.Enabled), Behaviour: eraseTraits(d.Traits), Loading: d.Loading,
		Shape: Shaping[Input]{Backfill: d.Shaping.Backfill, Equivalent: equivalent(d.Shaping.Equivalent), Classifier: erased("classifier", d.Shaping.Classifier, "")},
		Limit: Limits[Input]{
			ResultChars: cmp.Or(d.Limits.ResultChars, DefaultResultChars), Timeout: erased("timeout", d.Limits.Timeout, 0),
			Total: d.Limits.Total, Asks: d.Limits.Asks, Heartbeat: d.Limits.Heartbeat,
		},
		Present: eraseView(d.Name, d.View),
	}
	t.Draw, t.Partly = eraseDrawing(d.Draw, t.Present, t.Behaviour), partly(in)
	t.Parse, t.Decode = parser(in, t.Input, d.InputSchema == nil), decoder(in)
	return t, checkExamples(t)
}

// checkExamples holds examples against the schema: an API refuses a request with one that does not fit.
func checkExamples(t *Tool) error {
	for i, example := range t.Wire.Examples {
		if _, problems := t.Parse(example); len(problems) > 0 {
			return fmt.Errorf("%w: %s: example %d does not fit the schema: %s", ErrDefinition, t.Name, i+1, problems.String())
		}
	}
	return nil
}

// Must is Build for definitions written in code, where an error is the programmer's mistake and shows at start.
func Must[In, Out any](d Def[In, Out]) *Tool {
	t, err := Build(d)
	if err != nil {
		panic(err)
	}
	return t
}

var rawInput = reflect.TypeFor[json.RawMessage]()

// Taking gives a copy of t that takes what another schema describes; t's own input is any JSON (json.RawMessage).
func (t *Tool) Taking(given json.RawMessage) (*Tool, error) {
	input, err := inputSchema(rawInput, given, false)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: input schema: %w", ErrDefinition, t.Name, err)
	}
	taking := *t
	taking.Input, taking.Parse = input, parser(rawInput, input, false)
	return &taking, nil
}

func check(d Def[any, any]) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrDefinition, fmt.Sprintf(format, args...))
	}
	switch {
	case d.Name == "":
		return fail("it has no name")
	case !validName.MatchString(d.Name):
		return fail("bad name %q: use 1 to 128 letters, digits, _ and -", d.Name)
	case d.Call == nil:
		return fail("%s has no Call", d.Name)
	case d.Description == "" && d.Origin == nil:
		return fail("%s has no description", d.Name)
	case d.Limits.ResultChars < Unlimited:
		return fail("%s: result size %d; use a positive number, 0 for the default, or Unlimited", d.Name, d.Limits.ResultChars)
	}
	for i, a := range d.Aliases {
		switch {
		case !validName.MatchString(a):
			return fail("%s: bad alias %q", d.Name, a)
		case a == d.Name || slices.Contains(d.Aliases[:i], a):
			return fail("%s: the alias %q is given twice", d.Name, a)
		}
	}
	return nil
}

// inputSchema derives or takes the schema. A server's schema that does not resolve is the server's business: the tool
// is loaded unvalidated and whoever loads it reports that, so only our own are compiled here.
func inputSchema(in reflect.Type, given json.RawMessage, served bool) (*schema.Lazy, error) {
	if given == nil {
		if kind := in.Kind(); kind != reflect.Struct {
			return nil, fmt.Errorf("none given, and none can be derived from a %s; give InputSchema or use a struct", kind)
		}
		lazy := schema.LazyOf(in)
		_, err := lazy.Raw()
		return lazy, err
	}
	lazy := schema.NewLazy(func() (json.RawMessage, error) { return schema.Canonical(given) })
	if served {
		return lazy, nil
	}
	_, err := lazy.Schema()
	return lazy, err
}

// outputSchema is nil for data that is no object and has no schema given. As with the
// input, only our own are compiled here.
func outputSchema(out reflect.Type, given json.RawMessage, served bool) (*schema.Lazy, error) {
	if given != nil {
		lazy := schema.NewLazy(func() (json.RawMessage, error) { return schema.Canonical(given) })
		if served {
			_, err := lazy.Raw()
			return lazy, err
		}
		_, err := lazy.Schema()
		return lazy, err
	}
	if out.Kind() != reflect.Struct {
		return nil, nil
	}
	return schema.LazyOf(out), nil
}

// prompt falls back to the description, also for a function that panics.
func prompt(d Def[any, any]) func(PromptOptions) string {
	if d.Prompt == nil {
		return Prompt(d.Description)
	}
	return func(o PromptOptions) string {
		text, err := guard(func() string { return d.Prompt(o) })
		if err == nil {
			return text
		}
		if o.Broke != nil {
			o.Broke(err)
		}
		return d.Description
	}
}

// erased makes f a function of any input. Where there is no f, or it panics, otherwise
// stands; a panic is reported as that of a member, unless that is "".
func erased[T any](member string, f func(any) T, otherwise T) func(Input) T {
	if f == nil {
		return func(Input) T { return otherwise }
	}
	return func(in Input) T {
		got, err := guard(func() T { return f(in.Value) })
		if err == nil {
			return got
		}
		if member != "" {
			in.report(member, err)
		}
		return otherwise
	}
}

// inContext is erased for a function that also looks at the call's context.
func inContext[T any](member string, f func(any, *Context) T, without T, broken func(error) T) func(Input, *Context) T {
	if f == nil {
		return func(Input, *Context) T { return without }
	}
	return func(in Input, c *Context) T {
		got, err := guard(func() T { return f(in.Value, c) })
		if err != nil {
			in.report(member, err)
			return broken(err)
		}
		return got
	}
}

// unguarded is for a function whose panic is the call's own failure.
func unguarded[T any](f func(any, *Context) T) func(Input, *Context) T {
	if f == nil {
		return func(Input, *Context) (none T) { return none }
	}
	return func(in Input, c *Context) T { return f(in.Value, c) }
}

func eraseCall(d Def[any, any]) func(context.Context, Input, *Context) (Output, error) {
	block := d.Block
	switch {
	case block != nil:
	case d.Text != nil:
		block = func(out any) []message.Block { return []message.Block{message.Text(d.Text(out))} }
	default:
		block = jsonBlock
	}
	return func(ctx context.Context, in Input, c *Context) (Output, error) {
		r, err := d.Call(ctx, in.Value, c)
		if err != nil {
			return Output{Observed: r.Observed, Meta: r.Meta}, err
		}
		blocks, err := guard(func() []message.Block { return block(r.Data) })
		if err != nil { // it ran: what it did counts, and the model reads so
			in.report("block", err)
			r.Failed = true
			blocks = []message.Block{message.Text(fmt.Sprintf("%s ran, but its answer cannot be shown: %v", d.Name, err))}
		}
		return Output{
			Data: r.Data, Blocks: blocks, Failed: r.Failed, Messages: r.Messages,
			Modify: r.Modify, Observed: r.Observed, Meta: r.Meta,
		}, nil
	}
}

func jsonBlock(out any) []message.Block {
	if s, ok := out.(string); ok {
		return []message.Block{message.Text(s)}
	}
	text, err := jsonscan.Marshal(out) // the model reads code, not web pages
	if err != nil {
		return []message.Block{message.Text(fmt.Sprintf("%+v", out))}
	}
	return []message.Block{message.Text(string(text))}
}

// eraseComplete erases the types of Complete. A completion that panics leaves the input as it
// is, so that the call runs as it was approved.
func eraseComplete(f func(any, *Context) (json.RawMessage, bool)) func(Input, *Context) (json.RawMessage, bool) {
	if f == nil {
		return func(Input, *Context) (json.RawMessage, bool) { return nil, false }
	}
	return func(in Input, c *Context) (json.RawMessage, bool) {
		var ok bool
		raw, err := guard(func() (raw json.RawMessage) { raw, ok = f(in.Value, c); return raw })
		in.report("complete", err)
		return raw, ok && err == nil
	}
}

func eraseTraits(t Traits[any]) Traits[Input] {
	everything := Effects{Everything: true}
	return Traits[Input]{
		Safe:        erased("safe", t.Safe, false),
		ReadOnly:    erased("read-only", t.ReadOnly, false),
		Destructive: erased("destructive", t.Destructive, false),
		OpenWorld:   erased("open-world", t.OpenWorld, false),
		NeedsUser:   erased("needs-user", t.NeedsUser, false),
		Class:       erased("", t.Class, Class{}),
		Interrupt:   t.Interrupt, EditsFiles: t.EditsFiles, Wrapper: t.Wrapper,
		FailureStopsSiblings: t.FailureStopsSiblings,
		Effects:              inContext("effects", t.Effects, everything, func(error) Effects { return everything }),
	}
}

func enabled(f func(settings.Settings) bool) func(settings.Settings) (bool, error) {
	if f == nil {
		return func(settings.Settings) (bool, error) { return true, nil }
	}
	return func(s settings.Settings) (bool, error) { return guard(func() bool { return f(s) }) }
}

// guard runs a tool's own function and turns a panic into an error (A5).
func guard[T any](f func() T) (got T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f(), nil
}

func equivalent(f func(a, b any) bool) func(a, b Input) bool {
	if f == nil {
		return func(a, b Input) bool { return reflect.DeepEqual(a.Value, b.Value) }
	}
	return func(a, b Input) bool {
		same, _ := guard(func() bool { return f(a.Value, b.Value) })
		return same
	}
}

func eraseView(name string, v View[any]) View[Input] {
	summary := erased("", v.Summary, "")
	return View[Input]{
		Title: erased("", v.Title, name), Color: v.Color, Activity: erased("", v.Activity, name),
		Summary: func(in Input) string { return message.Line(summary(in), SummaryChars) },
	}
}

// parser makes the way from raw bytes into a tool's own type. Where the schema is the type's own, one pass does both;
// a schema that was given is held against the bytes first. A given schema that does not resolve lets every input
// through that the type can hold: such a tool was loaded unvalidated, with a report.
func parser(in reflect.Type, lazy *schema.Lazy, derived bool) func(json.RawMessage) (Input, schema.Problems) {
	decode := decoder(in)
	return func(raw json.RawMessage) (Input, schema.Problems) {
		compiled, err := lazy.Schema()
		if err != nil {
			return decode(raw)
		}
		if derived {
			v, problems := compiled.Decode(in, raw)
			return Input{Raw: raw, Value: v}, problems
		}
		if problems := compiled.Validate(raw); len(problems) > 0 {
			return Input{}, problems
		}
		return decode(raw)
	}
}

func decoder(in reflect.Type) func(json.RawMessage) (Input, schema.Problems) {
	return func(raw json.RawMessage) (Input, schema.Problems) {
		v := reflect.New(in)
		if err := json.Unmarshal(raw, v.Interface()); err != nil {
			return Input{}, schema.Problems{{Keyword: "decode", Message: fmt.Sprintf("The input cannot be read: %v", err)}}
		}
		return Input{Raw: raw, Value: v.Elem().Interface()}, nil
	}
}
