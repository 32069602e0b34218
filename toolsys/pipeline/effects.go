package pipeline

import (
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// Effects says what a prepared call will read and write (J8), given the state in
// env.Context. Where anybody but the tool has a say in the call - a person, a hook, a
// classifier, somebody who rewrites its input - it is everything, so that they are
// heard in call order. A call that already failed touches nothing. It is pure.
func (p *Pipeline) Effects(pre *Prepared, env *Env) (e tool.Effects) {
	defer func() {
		if recover() != nil {
			e = tool.Effects{Everything: true}
		}
	}()
	switch {
	case pre.failure != nil:
		return tool.Effects{}
	case p.Doors.Hooks.Listens(pre.tool.Name, pre.tool.Aliases) || p.othersSpeak(pre, env):
		return tool.Effects{Everything: true}
	}
	return pre.tool.Behaviour.Effects(pre.input, &env.Context)
}

// othersSpeak: what becomes of the call does not follow from its input and the state.
func (p *Pipeline) othersSpeak(pre *Prepared, env *Env) bool {
	if _, internal := without(pre.input.Raw, pre.tool.Internal); internal {
		return true
	}
	quiet := Pipeline{Doors: p.Doors}
	quiet.Doors.Trace = nil // nothing happens yet
	r := &run{p: &quiet, pre: pre, call: pre.Call, tool: pre.tool, input: pre.input, context: &env.Context}
	in := r.inputs()
	if in.Query.Interactive || in.Check.UpdatedInput != nil {
		return true
	}
	if in.Mode == permission.Auto {
		return p.judged(pre) || !certain(in)
	}
	return permission.Resolve(in).Behaviour == permission.Ask
}

func (p *Pipeline) judged(pre *Prepared) bool {
	return p.Doors.Classify != nil && pre.tool.Shape.Classifier(pre.input) != ""
}

// certain: the decision is the same however many calls were denied before, and nobody
// is asked. No classifier has a say in it (judged).
func certain(in permission.Inputs) bool {
	in.Denials = permission.Denials{}
	fresh := permission.Resolve(in).Behaviour
	in.Denials = permission.Denials{InRow: permission.MaxDenialsInRow, Total: permission.MaxDenials}
	return fresh != permission.Ask && permission.Resolve(in).Behaviour == fresh
}
