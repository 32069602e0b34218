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

// Texts are a tool's words for models, as its file has them.
type Texts struct{ Hint, Description, Prompt string }

// Of are the texts of a name: the hint and the description between the lines that begin its file, and the
// prompt below.
func (p Prompts) Of(name string) Texts {
	head, prompt, _ := strings.Cut(strings.TrimPrefix(p.Text(name), "---\n"), "---\n")
	member := func(key string) string {
		_, text, _ := strings.Cut("\n"+head, "\n"+key+": ")
		text, _, _ = strings.Cut(text, "\n")
		return text
	}
	return Texts{member("hint"), member("description"), prompt}
}
