package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// validate is the tool's own look at an input that fits its schema. Who coordinates other
// agents does no work beside them, whatever the rules say.
func (r *run) validate(context.Context) *Result {
	if r.context.State.Coordinates() && !r.pre.tool.Coordinates {
		return r.failed(Refused, "Coordinator mode is on, in which %s is not used: have an agent do it, or leave the mode with CoordinatorMode", r.pre.tool.Name)
	}
	if refusal := r.pre.tool.Validate(r.pre.input, r.context); refusal != nil && !r.forbidden() {
		return r.failed(Refused, "%s (code %d)", refusal.Message, refusal.Code)
	}
	return nil
}

// forbidden reports whether a rule denies the call. What is wrong with such a call is not given, since it may show what the
// rule is to keep from being seen; permission denies it.
func (r *run) forbidden() bool {
	var q permission.Query
	describe(&q, r.pre.tool, &r.pre.input, r.context, r.p.Handlers.Resolve)
	hit := r.context.Rules.Match(q)
	return hit != nil && hit.Behaviour == permission.Deny
}

// classify starts the classifier beside the other stages; permission waits for
// the verdict only where it counts (H1). An empty classifier input skips it (A2).
func (r *run) classify(ctx context.Context) *Result {
	r.verdict = nil // of another input, after a rewriting
	classify := r.p.Handlers.Classify
	if classify == nil || r.context.Mode != permission.Auto {
		return nil
	}
	name, input := r.pre.tool.Name, r.pre.tool.Shape.Classifier(r.pre.input)
	if input == "" {
		return nil
	}
	done := make(chan permission.Verdict, 1)
	r.classified++
	r.p.Handlers.Clock.Go(fmt.Sprintf("classify/%s/%d", r.pre.Call.ID, r.classified), func() { done <- guardVerdict(ctx, classify, name, input) })
	r.verdict = func(ctx context.Context) permission.Verdict {
		select {
		case v := <-done:
			done <- v // a second look sees the same
			return v
		case <-ctx.Done():
			return permission.Verdict{}
		}
	}
	return nil
}

// guardVerdict asks the classifier. One that fails or panics has no opinion, and in auto mode
// no opinion means asking.
func guardVerdict(ctx context.Context, classify func(context.Context, string, string) (permission.Verdict, error), name, input string) (v permission.Verdict) {
	defer func() {
		if recover() != nil {
			v = permission.Verdict{}
		}
	}()
	v, err := classify(ctx, name, input)
	if err != nil {
		return permission.Verdict{}
	}
	return v
}

// strip takes out the members only the permission layer may set. The schema
// rejects them as well; this holds where a schema would let them through (H3).
func (r *run) strip(context.Context) *Result {
	clean, changed := without(r.pre.input.Raw, r.pre.tool.Internal)
	if !changed {
		return nil
	}
	input, problems := r.pre.tool.Parse(clean)
	if len(problems) > 0 {
		return r.failed(Invalid, "%s", problems.String())
	}
	r.pre.input = r.p.reporting(input, r.pre)
	return nil
}

// without gives raw less the named members.
func without(raw json.RawMessage, names []string) (json.RawMessage, bool) {
	if len(names) == 0 {
		return raw, false
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return raw, false
	}
	before := len(members)
	for _, name := range names {
		delete(members, name)
	}
	if len(members) == before {
		return raw, false
	}
	clean, err := json.Marshal(members)
	return clean, err == nil
}

// observed is the input as hooks and persons see it: a clone with derived members
// added, never the input that is sent on (G2).
func (r *run) observed() json.RawMessage {
	if r.pre.tool.Shape.Backfill == nil {
		return r.pre.input.Raw
	}
	var members map[string]any
	if json.Unmarshal(r.pre.input.Raw, &members) != nil || r.backfill(members) != nil {
		return r.pre.input.Raw
	}
	raw, err := json.Marshal(members)
	if err != nil {
		return r.pre.input.Raw
	}
	return raw
}

// backfill adds the derived members; one that panics leaves them out, and the trace has it.
func (r *run) backfill(members map[string]any) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
			r.p.predicateFailed(r.pre, "backfill", err)
		}
	}()
	r.pre.tool.Shape.Backfill(members, r.context)
	return nil
}

// rewrite takes an input that a hook or permission put in the place of the model's: schema and the tool's validation
// hold for it too, and an input that is no longer safe waits until it is alone (G2).
func (r *run) rewrite(ctx context.Context, raw, seen json.RawMessage, by string) *Result {
	raw = unfill(raw, seen, r.pre.input.Raw)
	raw, _ = without(raw, r.pre.tool.Internal)
	input, problems := r.pre.tool.Parse(raw)
	if len(problems) > 0 {
		return r.failed(Invalid, "The input was changed by %s and no longer fits the tool. %s", by, problems.String())
	}
	r.pre.input = r.p.reporting(input, r.pre)
	if res := r.validate(ctx); res != nil {
		return res
	}
	r.classify(ctx) // what was cleared is not what would run
	return r.escalate(ctx)
}

// escalate asks for an exclusive turn when a call that was let go as safe is not.
func (r *run) escalate(ctx context.Context) *Result {
	if !r.pre.Safe || r.exclusive || r.pre.tool.Behaviour.Safe(r.pre.input) {
		return nil
	}
	r.exclusive = true
	r.trace(trace.Escalate{})
	if err := r.control.Alone(ctx); err != nil {
		return r.stopped(err)
	}
	return nil
}

// unfill drops from a rewritten input the derived members that were only added for observers and came back unchanged.
func unfill(raw, seen, own json.RawMessage) json.RawMessage {
	var got, shown, sent map[string]json.RawMessage
	if json.Unmarshal(raw, &got) != nil || json.Unmarshal(seen, &shown) != nil || json.Unmarshal(own, &sent) != nil {
		return raw
	}
	before := len(got)
	maps.DeleteFunc(got, func(name string, value json.RawMessage) bool {
		_, own := sent[name]
		return !own && bytes.Equal(shown[name], value)
	})
	if len(got) == before {
		return raw
	}
	clean, err := json.Marshal(got)
	if err != nil {
		return raw
	}
	return clean
}

// unknownText names the nearest tools, so that a model that made a name up can find the one it meant (C4).
func unknownText(name string, env *Env) string {
	text := fmt.Sprintf("There is no tool named %q.", message.Excerpt(name, 201))
	if env.Gone != nil {
		if why := env.Gone(name); why != "" {
			text += " " + why
		}
	}
	if env.Nearest == nil {
		return text
	}
	if near := env.Nearest(name); len(near) > 0 {
		text += " The nearest are: " + strings.Join(near, ", ") + "."
	}
	return text
}

// hintFor words, for a model that called a deferred tool blindly how to load it (E7).
func hintFor(t *tool.Tool, env *Env) string {
	if !env.Snapshot.HintDue(t) {
		return ""
	}
	return fmt.Sprintf("\nThe schema of %s has not been sent yet. Load it first: call ToolSearch with the query \"select:%s\", then call %s again.",
		t.Name, t.Name, t.Name)
}
