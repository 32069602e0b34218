// Package work holds the built-in tools by which work is planned, handed on and
// followed: the to-do list and plan mode, questions to the person, sub-agents and
// their coordination, workflows, the background tasks, and Sleep; and those by which
// a model finds out what else it can work with: tools that were sent by name only,
// skills that lie in folders, resources of servers.
//
// None of them has a way of its own to that person. A question goes through the
// context's AskUser, a consent through the permission system, so that a run without
// anybody there refuses both in one place. How a sub-agent is run comes with each
// call, in its context (Spawn), since the child descends from the caller.
package work

import (
	"embed"
	"slices"

	"github.com/spf13/afero"

	"toolbench/toolsys/tool"
)

//go:embed *.md
var promptFiles embed.FS

var prompts = tool.ReadPrompts(promptFiles)

// Deps is what the tools need beside their call's context.
type Deps struct {
	// Tasks are the session's background tasks; nil where there are none.
	Tasks *tool.Tasks
	// Inbox has the session's agents and their messages; SendMessage needs it.
	Inbox *tool.Inbox
	// Work is the task list that agents share; the tools about it need it.
	Work *tool.WorkList
	// Agents are the kinds of sub-agent on offer, the first being the default.
	// Without any, a call may not name one.
	Agents []AgentType
	// AgentDirs are folders with files of further types, the more important first, in FS.
	FS        afero.Fs
	AgentDirs []string
	// MaxDepth is how deep agents may start agents: 0 and 1 mean that only the
	// main conversation does.
	MaxDepth int
}

// AgentType is one kind of sub-agent.
type AgentType struct {
	Name string
	// When is what to use it for, worded for the model.
	When string
	// Model is the model it uses unless a call names another; "" is the conversation's.
	Model string
	Kind  tool.AgentKind
}

// types are the kinds on offer, and what is wrong with files of others. Those of the program
// come before those of files.
func (d Deps) types() ([]AgentType, error) {
	if d.FS == nil || len(d.AgentDirs) == 0 {
		return d.Agents, nil
	}
	read, err := AgentTypes(d.FS, d.AgentDirs)
	others := slices.DeleteFunc(read, func(t AgentType) bool {
		return slices.ContainsFunc(d.Agents, func(own AgentType) bool { return own.Name == t.Name })
	})
	return slices.Concat(d.Agents, others), err
}

// Nothing is what a tool takes that has no input.
type Nothing struct{}

// writes gives the effects of calls that change a thing of the session and do not look at it.
func writes[In any](what string) func(In, *tool.Context) tool.Effects {
	return func(In, *tool.Context) tool.Effects { return tool.Effects{Writes: []string{what}} }
}

// changes gives the effects of calls that look at a thing of the session and change it.
func changes[In any](what string) func(In, *tool.Context) tool.Effects {
	return func(In, *tool.Context) tool.Effects {
		return tool.Effects{Reads: []string{what}, Writes: []string{what}}
	}
}
