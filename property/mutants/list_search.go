package main

// Slips in the decisions on deferral (E).
var search = []mutant{
	{
		name: "automatic deferral begins at its threshold",
		file: "toolsys/search/mode.go",
		old:  "on := in.DeferredTokens > threshold",
		new:  "on := in.DeferredTokens >= threshold",
	},
	{
		name: "an address that begins like the first party's is it",
		file: "toolsys/search/mode.go",
		old:  "strings.EqualFold(strings.TrimSuffix(u.Hostname(), \".\"), \"api.anthropic.com\")",
		new:  "strings.HasPrefix(u.Hostname(), \"api.anthropic.com\")",
	},
	{
		name: "every model takes tool references",
		file: "toolsys/search/mode.go",
		old:  "return !strings.Contains(strings.ToLower(model), \"haiku\")",
		new:  "return model != \"\"",
	},
	{
		name: "forbidden betas do not switch deferral off",
		file: "toolsys/settings/env.go",
		old:  "if s.BetasDisabled {",
		new:  "if s.BetasDisabled && s.Simple {",
	},
}
