package draft

import "fmt"

// Smallest is the text of the smallest scenario worth having: a file, an edit that
// waits for a read, and a read that sees what was edited.
func Smallest(name string) string {
	return fmt.Sprintf(smallest, name)
}

const smallest = `# Run it with: toolbench run %[1]s.yaml
# What may stand in it: toolbench schema scenario
name: %[1]s
about: An edit waits for the read before it, and the next read sees what it wrote.
world:
  files: {/repo/hello.txt: "hello\n"}
  permissions: {mode: acceptEdits}
stream:
  turns: # what the model says; at is when a call's block is complete
    - calls:
        - {id: read, tool: Read, input: {file_path: /repo/hello.txt}, at: 500ms}
        - {id: edit, tool: Edit, input: {file_path: /repo/hello.txt, old_string: hello, new_string: goodbye}, at: 1s}
        - {id: again, tool: Read, input: {file_path: /repo/hello.txt}, at: 1500ms}
      end: 2s
    - text: Done.
durations: {Read: 1s, Edit: 500ms}
expect: # what is not named is not checked
  batches: [[Read], [Edit], [Read]]
  starts: {read: 500ms, edit: 1500ms, again: 2s}
  results: {again: {status: ok, contains: goodbye}}
  files: {/repo/hello.txt: {equals: "goodbye\n"}}
  makespan: 3s
`
