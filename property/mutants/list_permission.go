package main

// Slips in who may do what (F).
var permission = []mutant{
	{
		name: "a hook's allow overrides the tool's own refusal",
		file: "toolsys/permission/resolve.go",
		old:  "denyRule, hookDenies, checkDenies, hookAllows, checkAllows,",
		new:  "denyRule, hookDenies, hookAllows, checkDenies, checkAllows,",
	},
	{
		name: "an allow rule lets a write run in plan mode",
		file: "toolsys/permission/resolve.go",
		old:  "modeRefuses, bypasses, checkAsks, allowRule, modePermits,",
		new:  "allowRule, modeRefuses, bypasses, checkAsks, modePermits,",
	},
	{
		name: "what nobody can be asked is allowed",
		file: "toolsys/permission/resolve.go",
		old:  "return Decision{Behaviour: Deny, Reason: unanswered(d.Reason)}",
		new:  "return Decision{Behaviour: Allow, Reason: unanswered(d.Reason)}",
	},
	{
		name: "an ask rule makes no question of what was allowed",
		file: "toolsys/permission/resolve.go",
		old:  "if d.Behaviour != Deny {\n\t\td = in.questioned(d)",
		new:  "if d.Behaviour == Ask {\n\t\td = in.questioned(d)",
	},
	{
		name: "three denials in a row change nothing",
		file: "toolsys/permission/denials.go",
		old:  "return d.InRow >= MaxDenialsInRow || d.Total >= MaxDenials",
		new:  "return d.Total >= MaxDenials",
	},
	{
		name: "an allowed call does not end the row of denials",
		file: "toolsys/permission/denials.go",
		old:  "return Denials{0, d.Total}",
		new:  "return d",
	},
	{
		name: "a wrapper hides a forbidden command",
		file: "toolsys/permission/shell.go",
		old:  "if len(words) > 0 && wrappers[program(words[0])] {",
		new:  "if false {",
	},
	{
		name: "what could not be taken apart is permitted by a rule for its beginning",
		file: "toolsys/permission/shell.go",
		old:  "return wide && (whole.covered(content, true) ||",
		new:  "return (!wide && whole.covered(content, false)) || wide && (whole.covered(content, true) ||",
	},
	{
		name: "a blanket deny rule leaves the tool in sight",
		file: "toolsys/permission/rules.go",
		old:  "if h.Behaviour == Deny && h.Rule.Blanket() && h.Rule.names(s) {",
		new:  "if h.Behaviour == Deny && !h.Rule.Blanket() && h.Rule.names(s) {",
	},
}
