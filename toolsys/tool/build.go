package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/schema"
	"toolbench/toolsys/settings"
)

// ErrDefinition is wrapped by every error of Build.
var ErrDefinition = errors.New("invalid tool definition")

var validName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// Build is the only way from a definition to a tool (A2). What the definition
// leaves out gets its safe value; a definition that cannot work is an error here
// and not at the first call.
func Build[In, Out any](d Def[In, Out]) (*Tool, error) {
	if err := check(d); err != nil {
		return nil, err
	}
	input, err := inputSchema[In](d.InputSchema, d.Origin != nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: input schema: %w", ErrDefinition, d.Name, err)
	}
	output, err := outputSchema[Out](d.OutputSchema, d.Origin != nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: output schema: %w", ErrDefinition, d.Name, err)
	}
	t := &Tool{
		Name: d.Name, Aliases: slices.Clone(d.Aliases), Hint: d.Hint, Origin: d.Origin, LSP: d.LSP,
		Strict: d.Strict, Internal: slices.Clone(d.Internal), Description: d.Description,
		Describe: describe(d), Prompt: prompt(d), Input: input, Output: output,
		Complete: eraseComplete(d), Call: eraseCall(d), Validate: eraseValidate(d), Permit: erasePermit(d), Subject: eraseSubject(d),
		TakesContent: d.Subject != nil,
		Behaviour:    eraseTraits(d.Traits), Loading: d.Loading, Shape: eraseShaping(d.Shaping),
		Limit: eraseLimits(d.Limits), Present: eraseView(d.Name, d.View),
	}
	t.Parse, t.Decode = parser[In](t.Input, d.InputSchema == nil), decode[In]
	return t, nil
}

// Must is Build for definitions written in code, where an error is the
// programmer's mistake and shows at start.
func Must[In, Out any](d Def[In, Out]) *Tool {
	t, err := Build(d)
	if err != nil {
		panic(err)
	}
	return t
}

func check[In, Out any](d Def[In, Out]) error {
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

// inputSchema derives or takes the schema. A server's schema that does not
// resolve is the server's business: the tool is loaded unvalidated and whoever
// loads it reports that, so only our own are compiled here.
func inputSchema[In any](given json.RawMessage, served bool) (*schema.Lazy, error) {
	if given == nil {
		if kind := reflect.TypeFor[In]().Kind(); kind != reflect.Struct {
			return nil, fmt.Errorf("none given, and none can be derived from a %s; give InputSchema or use a struct", kind)
		}
		lazy := schema.LazyFor[In]()
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
func outputSchema[Out any](given json.RawMessage, served bool) (*schema.Lazy, error) {
	if given != nil {
		lazy := schema.NewLazy(func() (json.RawMessage, error) { return schema.Canonical(given) })
		if served {
			_, err := lazy.Raw()
			return lazy, err
		}
		_, err := lazy.Schema()
		return lazy, err
	}
	if reflect.TypeFor[Out]().Kind() != reflect.Struct {
		return nil, nil
	}
	return schema.LazyFor[Out](), nil
}

// prompt falls back to the description, also for a function that panics.
func prompt[In, Out any](d Def[In, Out]) func(PromptOptions) string {
	if d.Prompt == nil {
		return func(PromptOptions) string { return d.Description }
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

func describe[In, Out any](d Def[In, Out]) func(Input) string {
	if d.Describe == nil {
		return func(Input) string { return d.Description }
	}
	return func(in Input) string {
		text, err := guard(func() string { return d.Describe(value[In](in)) })
		if err != nil {
			return d.Description
		}
		return text
	}
}

// value gives the typed input; a decorator that swapped the value for a foreign
// type is a programmer's mistake and panics here, which every caller guards.
func value[In any](in Input) In { return in.Value.(In) }

func eraseCall[In, Out any](d Def[In, Out]) func(context.Context, Input, *Context) (Output, error) {
	block := d.Block
	if block == nil {
		block = jsonBlock[Out]
	}
	return func(ctx context.Context, in Input, c *Context) (Output, error) {
		r, err := d.Call(ctx, value[In](in), c)
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

func jsonBlock[Out any](out Out) []message.Block {
	if s, ok := any(out).(string); ok {
		return []message.Block{message.Text(s)}
	}
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // the model reads code, not web pages
	if err := enc.Encode(out); err != nil {
		return []message.Block{message.Text(fmt.Sprintf("%+v", out))}
	}
	return []message.Block{message.Text(strings.TrimSuffix(text.String(), "\n"))}
}

func eraseValidate[In, Out any](d Def[In, Out]) func(Input, *Context) *Refusal {
	if d.Validate == nil {
		return func(Input, *Context) *Refusal { return nil }
	}
	return func(in Input, c *Context) *Refusal { return d.Validate(value[In](in), c) }
}

// erasePermit: without a check of its own a tool leaves the call to the general
// rules; a check that panics denies (fail closed).
func erasePermit[In, Out any](d Def[In, Out]) func(Input, *Context) permission.Opinion {
	if d.Permit == nil {
		return func(Input, *Context) permission.Opinion { return permission.Opinion{} }
	}
	return func(in Input, c *Context) permission.Opinion {
		got, err := guard(func() permission.Opinion { return d.Permit(value[In](in), c) })
		if err != nil {
			in.report("permit", err)
			return permission.Opinion{Behaviour: permission.Deny, Text: "the tool's permission check failed: " + err.Error()}
		}
		return got
	}
}

// eraseComplete: a completion that panics leaves the input as it is, so that the call
// runs as it was approved.
func eraseComplete[In, Out any](d Def[In, Out]) func(Input, *Context) (json.RawMessage, bool) {
	if d.Complete == nil {
		return func(Input, *Context) (json.RawMessage, bool) { return nil, false }
	}
	return func(in Input, c *Context) (json.RawMessage, bool) {
		var ok bool
		raw, err := guard(func() (raw json.RawMessage) { raw, ok = d.Complete(value[In](in), c); return raw })
		in.report("complete", err)
		return raw, ok && err == nil
	}
}

func eraseSubject[In, Out any](d Def[In, Out]) func(Input, *Context) Subject {
	if d.Subject == nil {
		return func(Input, *Context) Subject { return Subject{} }
	}
	return func(in Input, c *Context) Subject { return d.Subject(value[In](in), c) }
}

func eraseTraits[In any](t Traits[In]) Behaviour {
	return Behaviour{
		Enabled:     enabled(t.Enabled),
		Safe:        predicate(t.Safe, false),
		ReadOnly:    predicate(t.ReadOnly, false),
		Destructive: predicate(t.Destructive, false),
		OpenWorld:   predicate(t.OpenWorld, false),
		NeedsUser:   predicate(t.NeedsUser, false),
		Class: func(in Input) Class {
			if t.Class == nil {
				return Class{}
			}
			c, _ := guard(func() Class { return t.Class(value[In](in)) })
			return c
		},
		Interrupt: t.Interrupt, EditsFiles: t.EditsFiles, Wrapper: t.Wrapper,
		FailureStopsSiblings: t.FailureStopsSiblings,
		Effects: func(in Input, c *Context) Effects {
			if t.Effects == nil {
				return Effects{Everything: true}
			}
			e, err := guard(func() Effects { return t.Effects(value[In](in), c) })
			if err != nil {
				in.report("effects", err)
				return Effects{Everything: true}
			}
			return e
		},
	}
}

func enabled(f func(settings.Settings) bool) func(settings.Settings) (bool, error) {
	if f == nil {
		return func(settings.Settings) (bool, error) { return true, nil }
	}
	return func(s settings.Settings) (bool, error) { return guard(func() bool { return f(s) }) }
}

func predicate[In any](f func(In) bool, safe bool) func(Input) (bool, error) {
	if f == nil {
		return func(Input) (bool, error) { return safe, nil }
	}
	return func(in Input) (bool, error) {
		got, err := guard(func() bool { return f(value[In](in)) })
		if err != nil {
			return safe, err
		}
		return got, nil
	}
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

func eraseShaping[In any](s Shaping[In]) Shape {
	shape := Shape{Backfill: s.Backfill, Equivalent: equivalent(s.Equivalent), Classifier: func(Input) string { return "" }}
	if s.Classifier != nil {
		shape.Classifier = func(in Input) string {
			text, err := guard(func() string { return s.Classifier(value[In](in)) })
			in.report("classifier", err)
			return text
		}
	}
	return shape
}

func equivalent[In any](f func(a, b In) bool) func(a, b Input) bool {
	if f == nil {
		return func(a, b Input) bool { return reflect.DeepEqual(a.Value, b.Value) }
	}
	return func(a, b Input) bool {
		same, _ := guard(func() bool { return f(value[In](a), value[In](b)) })
		return same
	}
}

func eraseLimits[In any](l Limits[In]) Limit {
	limit := Limit{ResultChars: l.ResultChars, Heartbeat: l.Heartbeat, Total: l.Total, Timeout: func(Input) time.Duration { return 0 }}
	if limit.ResultChars == 0 {
		limit.ResultChars = DefaultResultChars
	}
	if l.Timeout != nil {
		limit.Timeout = func(in Input) time.Duration {
			d, err := guard(func() time.Duration { return l.Timeout(value[In](in)) })
			in.report("timeout", err)
			return d
		}
	}
	return limit
}

func eraseView[In any](name string, v View[In]) Present {
	text := func(f func(In) string, otherwise string) func(Input) string {
		if f == nil {
			return func(Input) string { return otherwise }
		}
		return func(in Input) string {
			got, err := guard(func() string { return f(value[In](in)) })
			if err != nil {
				return otherwise
			}
			return got
		}
	}
	summary := text(v.Summary, "")
	return Present{
		Title: text(v.Title, name), Color: v.Color, Activity: text(v.Activity, name),
		Summary: func(in Input) string { return message.Line(summary(in), SummaryChars) },
	}
}

// parser makes the way from raw bytes into a tool's own type. Where the schema is
// the type's own, one pass does both; a schema that was given is held against the
// bytes first. A given schema that does not resolve lets every input through that
// the type can hold: such a tool was loaded unvalidated, with a report.
func parser[In any](lazy *schema.Lazy, derived bool) func(json.RawMessage) (Input, schema.Problems) {
	return func(raw json.RawMessage) (Input, schema.Problems) {
		compiled, err := lazy.Schema()
		if err != nil {
			return decode[In](raw)
		}
		if derived {
			v, problems := schema.Decode[In](compiled, raw)
			return Input{Raw: raw, Value: v}, problems
		}
		if problems := compiled.Validate(raw); len(problems) > 0 {
			return Input{}, problems
		}
		return decode[In](raw)
	}
}

func decode[In any](raw json.RawMessage) (Input, schema.Problems) {
	var v In
	if err := json.Unmarshal(raw, &v); err != nil {
		return Input{}, schema.Problems{{Keyword: "decode", Message: fmt.Sprintf("The input cannot be read: %v", err)}}
	}
	return Input{Raw: raw, Value: v}, nil
}
