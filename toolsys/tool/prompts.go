package tool

import (
	"embed"
	"strings"
)

// Prompts are the prompts of a family of tools, by the names of their files.
type Prompts map[string]string

// ReadPrompts reads the files NAME.md of a family.
func ReadPrompts(files embed.FS) Prompts {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // they are part of the program
	}
	all := Prompts{}
	for _, e := range entries {
		text, err := files.ReadFile(e.Name())
		if err != nil {
			panic(err)
		}
		all[strings.TrimSuffix(e.Name(), ".md")] = string(text)
	}
	return all
}

// Text is the prompt of a name. One that is not there is a programmer's mistake and panics.
func (p Prompts) Text(name string) string {
	text, ok := p[name]
	if !ok {
		panic("there is no prompt " + name + ".md")
	}
	return text
}

// Of is the prompt of a name, as one that depends on nothing.
func (p Prompts) Of(name string) func(PromptOptions) string { return Prompt(p.Text(name)) }
