// Package support is a tool set of another trade than programming, customer service, on the
// public packages of toolsys alone (SPEC P): it shows what a program of that kind needs of
// its own, which is a member or two of a tool and who may use it.
//
// A clerk works in a channel and has a role. A tool names the channels and roles that may
// use it, and which of its calls the clerk has to confirm: all, unless it declares others.
// Both are looked at twice: what a clerk may not use is not offered to the model, and a call
// is checked again when it runs, since a clerk's rights may have changed meanwhile and
// nothing that a model asks for was ever offered for sure.
package support

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// Channel is how a customer reaches the clerk.
type Channel string

// The channels.
const (
	Online Channel = "online"
	Phone  Channel = "phone"
	Ticket Channel = "ticket"
)

// Role is what a clerk is.
type Role string

// The roles.
const (
	Junior Role = "junior"
	Senior Role = "senior"
)

// Clerk is who a conversation works for.
type Clerk struct {
	Channel Channel
	Role    Role
}

// Def is what the author of a tool writes. What is left out has the strict value: the call
// changes something and is confirmed.
type Def[In, Out any] struct {
	Name, Description string
	Call              func(context.Context, In) (Out, error)
	// Reads marks a tool that only looks something up.
	Reads bool
	// Confirmed reports which calls the clerk confirms; nil: all.
	Confirmed func(In) bool
	// Channels and Roles may use the tool; nil: all.
	Channels []Channel
	Roles    []Role
	// Refuse gives the reason why an input that fits its schema cannot be done, or "".
	Refuse func(In) string
}

// Tool is a tool with who may use it.
type Tool struct {
	*tool.Tool
	channels []Channel
	roles    []Role
}

// codeRefused is the code of an input that cannot be done, codeForbidden that of a clerk who may
// not have it done.
const (
	codeRefused = iota + 1
	codeForbidden
)

// Build makes the tool.
func Build[In, Out any](d Def[In, Out]) (Tool, error) {
	confirmed := d.Confirmed
	if confirmed == nil {
		confirmed = tool.Always[In]
	}
	def := tool.Def[In, Out]{
		Name: d.Name, Description: d.Description,
		Permit: func(in In, _ *tool.Context) permission.Opinion {
			if confirmed(in) {
				return permission.Opinion{Behaviour: permission.Ask, Text: "the clerk confirms " + d.Name}
			}
			return permission.Opinion{Behaviour: permission.Allow, Text: "nothing to confirm"}
		},
		// A call that is confirmed is so whatever the mode lets run.
		Traits: tool.Traits[In]{NeedsUser: confirmed},
	}
	if d.Reads {
		def.Traits.Safe, def.Traits.ReadOnly = tool.Always[In], tool.Always[In]
	}
	if d.Refuse != nil {
		def.Validate = func(in In, _ *tool.Context) *tool.Refusal {
			if why := d.Refuse(in); why != "" {
				return &tool.Refusal{Message: why, Code: codeRefused}
			}
			return nil
		}
	}
	if d.Call != nil {
		def.Call = tool.Data(func(ctx context.Context, in In, _ *tool.Context) (Out, error) { return d.Call(ctx, in) })
	}
	t, err := tool.Build(def)
	return Tool{t, d.Channels, d.Roles}, err
}

// forbidden gives the reason why a clerk may not use the tool, or "".
func (t Tool) forbidden(c Clerk) string {
	switch {
	case t.channels != nil && !slices.Contains(t.channels, c.Channel):
		return fmt.Sprintf("%s is not for the channel %s", t.Name, c.Channel)
	case t.roles != nil && !slices.Contains(t.roles, c.Role):
		return fmt.Sprintf("%s is not for the role %s", t.Name, c.Role)
	}
	return ""
}

// Registry is the tools of a service, which may grow while conversations run. It is safe for
// concurrent use.
type Registry struct {
	mu      sync.Mutex
	tools   []Tool
	version int
}

// ErrName is wrapped by Add's error for a name that is taken.
var ErrName = errors.New("the name is taken")

// Add adds tools, all or none. Conversations that run have them in their next request.
func (r *Registry) Add(tools ...Tool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Clone(r.tools)
	for _, t := range tools {
		if slices.ContainsFunc(all, func(o Tool) bool { return o.Matches(t.Name) }) {
			return fmt.Errorf("%w: %s", ErrName, t.Name)
		}
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	r.tools, r.version = all, r.version+1
	return nil
}

// For gives what a conversation of a clerk asks for its tools (loop.Config.Served). clerk is
// asked before each request and again before each call.
func (r *Registry) For(clerk func() Clerk) func(context.Context) tool.Served {
	bound := map[*tool.Tool]*tool.Tool{} // a tool stays the same one from request to request
	return func(context.Context) tool.Served {
		r.mu.Lock()
		defer r.mu.Unlock()
		served := tool.Served{Version: r.version, Gone: func(name string) string { return r.hidden(name, clerk()) }}
		for _, t := range r.tools {
			if t.forbidden(clerk()) != "" {
				continue
			}
			if bound[t.Tool] == nil {
				bound[t.Tool] = t.boundTo(clerk)
			}
			served.Tools = append(served.Tools, bound[t.Tool])
		}
		return served
	}
}

// hidden gives the reason why a clerk has not a tool that there is.
func (r *Registry) hidden(name string, c Clerk) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.tools {
		if why := t.forbidden(c); why != "" && t.Matches(name) {
			return why + "."
		}
	}
	return ""
}

// boundTo is the tool with the clerk's rights checked when it runs: before permission is
// asked, and again before the work, since asking takes time.
func (t Tool) boundTo(clerk func() Clerk) *tool.Tool {
	own := *t.Tool
	own.Validate = func(in tool.Input, c *tool.Context) *tool.Refusal {
		if why := t.forbidden(clerk()); why != "" {
			return &tool.Refusal{Message: why, Code: codeForbidden}
		}
		return t.Tool.Validate(in, c)
	}
	own.Call = func(ctx context.Context, in tool.Input, c *tool.Context) (tool.Output, error) {
		if refusal := own.Validate(in, c); refusal != nil {
			return tool.Output{}, errors.New(refusal.Message)
		}
		return t.Tool.Call(ctx, in, c)
	}
	return &own
}
