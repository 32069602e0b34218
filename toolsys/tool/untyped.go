package tool

import (
	"context"
	"encoding/json"

	"toolbench/toolsys/render"
)

// untyped gives d as functions of any value. All else is built of the result, so that what is
// compiled anew for each tool's types is an assertion a member and no more: while it was all of
// Build, the 32 tools of one family were 7,610 functions and a sixth of what this repository takes to build.
func untyped[In, Out any](d Def[In, Out]) Def[any, any] {
	return Def[any, any]{
		Name: d.Name, Aliases: d.Aliases, Hint: d.Hint, Origin: d.Origin, LSP: d.LSP,
		Description: d.Description, Describe: ofInput(d.Describe), Prompt: d.Prompt, Texts: d.Texts,
		InputSchema: d.InputSchema, OutputSchema: d.OutputSchema, Strict: d.Strict, Wire: d.Wire,
		Coordinates: d.Coordinates, Internal: d.Internal, Complete: untypedComplete(d.Complete),
		Call: untypedCall(d.Call), Text: ofInput(d.Text), Block: ofInput(d.Block),
		Validate: ofCall(d.Validate), Permit: ofCall(d.Permit), Subject: ofCall(d.Subject),
		Traits: Traits[any]{
			Enabled: d.Traits.Enabled, Safe: ofInput(d.Traits.Safe), ReadOnly: ofInput(d.Traits.ReadOnly),
			Destructive: ofInput(d.Traits.Destructive), OpenWorld: ofInput(d.Traits.OpenWorld),
			NeedsUser: ofInput(d.Traits.NeedsUser), Class: ofInput(d.Traits.Class),
			Interrupt: d.Traits.Interrupt, EditsFiles: d.Traits.EditsFiles, Wrapper: d.Traits.Wrapper,
			FailureStopsSiblings: d.Traits.FailureStopsSiblings, Effects: ofCall(d.Traits.Effects),
		},
		Loading: d.Loading,
		Shaping: Shaping[any]{Backfill: d.Shaping.Backfill, Equivalent: untypedEquivalent(d.Shaping.Equivalent), Classifier: ofInput(d.Shaping.Classifier)},
		Limits: Limits[any]{
			ResultChars: d.Limits.ResultChars, Timeout: ofInput(d.Limits.Timeout), Total: d.Limits.Total,
			Asks: d.Limits.Asks, Heartbeat: d.Limits.Heartbeat,
		},
		View: View[any]{Title: ofInput(d.View.Title), Color: d.View.Color, Summary: ofInput(d.View.Summary), Activity: ofInput(d.View.Activity)},
		Draw: Drawing[any, any]{
			Use: ofInput(d.Draw.Use), Queued: ofInput(d.Draw.Queued), Progress: untypedProgress(d.Draw.Progress),
			Result: ofOutcome(d.Draw.Result), Rejected: ofOutcome(d.Draw.Rejected), Error: ofOutcome(d.Draw.Error),
			Tag: ofInput(d.Draw.Tag), Grouped: untypedGrouped(d.Draw.Grouped), Search: ofOutcome(d.Draw.Search),
		},
	}
}

// ofInput takes any value for f's argument, which is an input or, in Text and Block, the data. One of another type,
// which a decorator swapped in, is a programmer's mistake and panics, as every caller expects of f. It is nil where f
// is. It is not inlined, and neither are those below, so that one function serves all members of a type.
//
//go:noinline
func ofInput[In, T any](f func(In) T) func(any) T {
	if f == nil {
		return nil
	}
	return func(in any) T { return f(in.(In)) }
}

// ofCall is ofInput for a function that also looks at the call's context.
//
//go:noinline
func ofCall[In, T any](f func(In, *Context) T) func(any, *Context) T {
	if f == nil {
		return nil
	}
	return func(in any, c *Context) T { return f(in.(In), c) }
}

// ofOutcome is ofInput for a function that also looks at what came of the call.
//
//go:noinline
func ofOutcome[In, Out, T any](f func(In, Outcome[Out]) T) func(any, Outcome[any]) T {
	if f == nil {
		return nil
	}
	return func(in any, a Outcome[any]) T { return f(in.(In), typed[Out](a)) }
}

// typed gives an answer its type; data of another one is not known.
func typed[Out any](a Outcome[any]) Outcome[Out] {
	out := Outcome[Out]{Text: a.Text, Blocks: a.Blocks}
	if a.Known {
		out.Data, out.Known = a.Data.(Out)
	}
	return out
}

func untypedCall[In, Out any](f func(context.Context, In, *Context) (Result[Out], error)) func(context.Context, any, *Context) (Result[any], error) {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, in any, c *Context) (Result[any], error) {
		r, err := f(ctx, in.(In), c)
		return Result[any]{Data: r.Data, Failed: r.Failed, Messages: r.Messages, Modify: r.Modify, Observed: r.Observed, Meta: r.Meta}, err
	}
}

func untypedComplete[In any](f func(In, *Context) (json.RawMessage, bool)) func(any, *Context) (json.RawMessage, bool) {
	if f == nil {
		return nil
	}
	return func(in any, c *Context) (json.RawMessage, bool) { return f(in.(In), c) }
}

func untypedEquivalent[In any](f func(a, b In) bool) func(a, b any) bool {
	if f == nil {
		return nil
	}
	return func(a, b any) bool { return f(a.(In), b.(In)) }
}

func untypedProgress[In any](f func(In, []string) []render.Node) func(any, []string) []render.Node {
	if f == nil {
		return nil
	}
	return func(in any, reports []string) []render.Node { return f(in.(In), reports) }
}

func untypedGrouped[In, Out any](f func([]Called[In, Out]) []render.Node) func([]Called[any, any]) []render.Node {
	if f == nil {
		return nil
	}
	return func(calls []Called[any, any]) []render.Node {
		own := make([]Called[In, Out], len(calls))
		for i, c := range calls {
			own[i] = Called[In, Out]{c.In.(In), typed[Out](c.Outcome)}
		}
		return f(own)
	}
}
