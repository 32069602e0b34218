package tokens

import (
	"toolbench/toolsys"
	"toolbench/toolsys/builtin"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/search"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

// Builtins gives the built-in tools of a pool under s, without ToolSearch, and
// ToolSearch by itself, which only deferral needs. An error is the system's.
func Builtins(s settings.Settings) (tools []Tool, searcher Tool, err error) {
	system, err := toolsys.New(toolsys.Config{Builtins: builtin.All(builtin.Deps{})})
	if err != nil {
		return nil, Tool{}, err
	}
	p := system.Catalogue.Assemble(pool.Inputs{Settings: s, Conditions: pool.Conditions{Search: true}})
	names := p.Names()
	for _, t := range p.Tools {
		one := Tool{
			Name: t.Name, Hint: t.Hint, Schema: string(pool.SchemaOf(t)), Whole: !pool.Deferred(t, s),
			Description: t.Prompt(tool.PromptOptions{Settings: s, Tools: names}),
		}
		if t.Name == search.ToolName {
			searcher = one
			continue
		}
		tools = append(tools, one)
	}
	return tools, searcher, nil
}
