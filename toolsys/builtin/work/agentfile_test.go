package work_test

import (
	"fmt"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

func agentFile(t *testing.T, fs afero.Fs, file, text string) {
	t.Helper()
	require.NoError(t, afero.WriteFile(fs, file, []byte(text), 0o644))
}

func TestTypesOfAgentsAreReadFromFiles(t *testing.T) {
	fs := afero.NewMemMapFs()
	agentFile(t, fs, "/own/a.md", "\uFEFF---\r\nname: reader\r\ndescription: >\r\n  Reads\r\n  much.\r\ntools: Read, Grep, mcp__docs\r\ndisallowedTools: Bash(git push:*), Edit\r\nmodel: inherit\r\npermissionMode: plan\r\nmcpServers: [docs]\r\ncolor: red\r\n---\r\nYou read.\r\n")
	agentFile(t, fs, "/own/notes.txt", "not an agent")
	agentFile(t, fs, "/other/b.md", "---\nname: reader\ndescription: Another.\n---\nx")
	agentFile(t, fs, "/other/c.md", "---\nname: all\ndescription: Does all.\ntools: \"*\"\nmodel: fast\n---\nYou do.")
	got, err := work.AgentTypes(fs, []string{"/nosuch", "/own", "/other"})
	require.NoError(t, err)
	require.Len(t, got, 2)
	assert.Equal(t, work.AgentType{Name: "all", When: "Does all.", Model: "fast", Kind: tool.AgentKind{System: "You do."}}, got[0])
	plan := permission.Plan
	push, _ := permission.ParseRule("Bash(git push:*)")
	edit, _ := permission.ParseRule("Edit")
	assert.Equal(t, work.AgentType{Name: "reader", When: "Reads much.", Kind: tool.AgentKind{
		System: "You read.", Tools: []string{"Read", "Grep", "mcp__docs"}, Without: []permission.Rule{push, edit}, Servers: []string{"docs"}, Mode: &plan,
	}}, got[1])
}

// Files have descriptions without the quotes that YAML wants. Such a line is read as the text it is.
func TestADescriptionNeedsNoQuotes(t *testing.T) {
	for text, want := range map[string]string{
		"Use it when: you must. Examples: <example>user: \"it's late\"</example>": `Use it when: you must. Examples: <example>user: "it's late"</example>`,
		"@reviewer looks": "@reviewer looks", "`x` is: y": "`x` is: y", "100% sure: yes": "100% sure: yes",
	} {
		fs := afero.NewMemMapFs()
		agentFile(t, fs, "/a/a.md", "---\nname: a\ndescription: "+text+"\ndisallowedTools: Bash(git: push), Edit\n---\nx")
		got, err := work.AgentTypes(fs, []string{"/a"})
		require.NoError(t, err)
		require.Len(t, got, 1)
		assert.Equal(t, want, got[0].When)
		assert.Len(t, got[0].Kind.Without, 2)
	}
}

func TestBrokenFilesOfAgentsAreReported(t *testing.T) {
	for head, want := range map[string]string{
		"---\nname: a":         "the front matter has no closing line of dashes",
		"":                     `name ""; use a letter`,
		"---\nname: [\n---\nx": "front matter: ",
		"---\nname: ../a\ndescription: d\n---\nx":                             `name "../a"; use a letter`,
		"---\nname: a\n---\nx":                                                "no description",
		"---\nname: a\ndescription: d\n---\n":                                 "no text behind the front matter",
		"---\nname: a\ndescription: d\ntools: [Bash(ls)]\n---\nx":             `"Bash(ls)" is no tool's name; what a tool may do is narrowed by disallowedTools`,
		"---\nname: a\ndescription: d\ntools: 7\n---\nx":                      "tools: 7 is neither a list nor a text",
		"---\nname: a\ndescription: d\ntools: [7]\n---\nx":                    "tools: 7 is no text",
		"---\nname: a\ndescription: d\ndisallowedTools: \"Bash(\"\n---\nx":    "the parenthesis at byte 4 is never closed",
		"---\nname: a\ndescription: d\npermissionMode: free\n---\nx":          `no mode "free"`,
		"---\nname: a\ndescription: d\nmcpServers: {s: {command: x}}\n---\nx": "name servers that the conversation has",
	} {
		fs := afero.NewMemMapFs()
		agentFile(t, fs, "/a/broken.md", head)
		agentFile(t, fs, "/a/sound.md", "---\nname: sound\ndescription: d\n---\nx")
		got, err := work.AgentTypes(fs, []string{"/a"})
		if assert.ErrorContains(t, err, want, head) {
			assert.ErrorContains(t, err, "/a/broken.md: ")
		}
		assert.Len(t, got, 1, head)
	}
	fs := afero.NewMemMapFs()
	for _, name := range []string{"a", "b"} {
		agentFile(t, fs, fmt.Sprintf("/a/%s.md", name), "---\nname: same\ndescription: d\n---\nx")
	}
	_, err := work.AgentTypes(fs, []string{"/a"})
	assert.ErrorContains(t, err, "/a/b.md: /a/a.md has an agent of the name same already")
}
