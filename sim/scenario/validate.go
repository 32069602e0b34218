package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/schedule"
)

var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// validate looks at what the types of the format cannot hold.
func (sc *Scenario) validate() error {
	fail := func(key, remedy, format string, args ...any) error {
		return sc.ErrorAt(key, fmt.Sprintf(format, args...), remedy)
	}
	switch {
	case sc.Format < 0 || sc.Format > FormatVersion:
		return fail("format", "this program reads up to format "+fmt.Sprint(FormatVersion), "format %d is not known", sc.Format)
	case sc.Name == "":
		return fail("name", "add `name: what-it-shows`", "the scenario has no name")
	case !validName.MatchString(sc.Name):
		return fail("name", "use small letters, digits, hyphens and dots", "%q is no name", sc.Name)
	case strings.TrimSpace(sc.About) == "":
		return fail("about", "add `about:` with a sentence on what it guards", "the scenario has no sentence on what it guards")
	case sc.Stream.Cassette == "" && len(sc.Stream.Turns) == 0:
		return fail("stream", "name a cassette or script turns", "there is no stream")
	case sc.Stream.Requests != "" && sc.Stream.Requests != "strict" && sc.Stream.Requests != "lenient":
		return fail("stream.requests", "write strict or lenient", "%q is no way of matching requests", sc.Stream.Requests)
	case sc.Stream.Chunk < 0:
		return fail("stream.chunk", "write a positive number of bytes", "a chunk of %d bytes", sc.Stream.Chunk)
	}
	if sc.Policy != "" {
		if _, err := schedule.ParsePolicy(sc.Policy); err != nil {
			return fail("policy", "", "%s", err)
		}
	}
	if sc.emptyExpect() {
		return fail("expect", "name what must come of the run, or leave expect out", "expect is empty")
	}
	return sc.validateRest()
}

// emptyExpect reports whether the file has an expect that holds nothing.
func (sc *Scenario) emptyExpect() bool {
	pl, ok := sc.places["expect"]
	if !ok {
		return false
	}
	m, isMapping := pl.value.(*ast.MappingNode)
	_, isNull := pl.value.(*ast.NullNode)
	return isNull || isMapping && len(m.Values) == 0
}

func (sc *Scenario) validateRest() error {
	if m := sc.World.Permissions.Mode; m != "" {
		if _, err := permission.ParseMode(m); err != nil {
			return sc.ErrorAt("world.permissions.mode", err.Error(), "")
		}
	}
	if err := sc.validateRules(); err != nil {
		return err
	}
	if err := sc.validateServers(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i, t := range sc.Stream.Turns {
		for j, c := range t.Calls {
			key := fmt.Sprintf("stream.turns.%d.calls.%d", i, j)
			switch {
			case c.ID == "":
				return sc.ErrorAt(key, "the call has no id", "add `id: call_1`")
			case c.Tool == "":
				return sc.ErrorAt(key, "the call has no tool", "add `tool: Read`")
			case seen[c.ID] && t.For == "" && !c.SameID:
				return sc.ErrorAt(key, fmt.Sprintf("the id %q is used twice", c.ID), "ids are unique within a scenario")
			case c.Raw != "" && c.Input != nil:
				return sc.ErrorAt(key, "input and raw exclude each other", "keep one")
			}
			seen[c.ID] = true
		}
	}
	if s := sc.World.Style; s != "" && !slices.Contains([]string{"names", "hints", "api"}, s) {
		return sc.ErrorAt("world.style", fmt.Sprintf("%q is no style", s), "write names, hints or api")
	}
	return nil
}

func (sc *Scenario) validateRules() error {
	p := sc.World.Permissions
	for _, list := range []struct {
		key   string
		rules []string
	}{{"allow", p.Allow}, {"ask", p.Ask}, {"deny", p.Deny}} {
		for i, text := range list.rules {
			if _, err := permission.ParseRule(text); err != nil {
				return sc.ErrorAt(fmt.Sprintf("world.permissions.%s.%d", list.key, i), err.Error(), "")
			}
		}
	}
	return nil
}

// validateServers looks at what the types of the format cannot hold of servers.
func (sc *Scenario) validateServers() error {
	for i, a := range sc.User.Elicits {
		if !slices.Contains([]string{"accept", "decline", "cancel"}, a.Action) {
			return sc.ErrorAt(fmt.Sprintf("user.elicits.%d", i), fmt.Sprintf("%q is no answer to a server", a.Action), "write `action: accept`, decline or cancel")
		}
	}
	for i, spec := range sc.World.MCP {
		for j, f := range spec.Faults {
			key := fmt.Sprintf("world.mcp.%d.faults.%d", i, j)
			switch {
			case (f.Call == "" && f.Tool == "") == (f.Connect < 1):
				return sc.ErrorAt(key, "the fault has no place, or two", "write call, tool or connect (from 1)")
			case f.List != "" && f.List != "fails" && f.List != "hangs":
				return sc.ErrorAt(key+".list", fmt.Sprintf("%q is nothing that becomes of a list", f.List), "write fails or hangs")
			case f.Connect > 0 && !f.Refused && f.List == "":
				return sc.ErrorAt(key, "the fault does nothing to the connection", "write refused: true, or list: fails or hangs")
			}
		}
		for j, l := range spec.Lists {
			if l.List != "" && l.List != "fails" && l.List != "hangs" {
				return sc.ErrorAt(fmt.Sprintf("world.mcp.%d.lists.%d.list", i, j), fmt.Sprintf("%q is nothing that becomes of a list", l.List), "write fails or hangs")
			}
			if l.Turn < 2 {
				return sc.ErrorAt(fmt.Sprintf("world.mcp.%d.lists.%d", i, j), "a list changes before the second request or later", "write `turn: 2` or more")
			}
		}
	}
	return nil
}
