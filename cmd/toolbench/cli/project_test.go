package cli_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"toolbench/cmd/toolbench/cli"
)

// On a terminal init asks, and what it writes runs.
func TestInitAsksForAProject(t *testing.T) {
	d := newWorkdir(t)
	d.stdin = "mine\nown\ngithub\n"
	assert.Equal(t, cli.ExitHeld, d.run(t.Context(), "init"), d.errs)
	assert.Contains(t, d.errs, "Folder for scenarios [scenarios]: ")
	assert.Contains(t, d.out, "wrote lookup.sh\n")
	assert.Equal(t, cli.ExitHeld, d.run(t.Context(), "run", "--trust", "--quiet"), d.out+d.errs)
	d.stdin = "mine\nothers\n"
	assert.Equal(t, cli.ExitUsage, d.run(t.Context(), "init", "--force"))
	assert.Contains(t, d.errs, `"others" is no answer; write built-in or own`)
	d.stdin = "../x\n\n\n"
	assert.Equal(t, cli.ExitUsage, d.run(t.Context(), "init", "--force"))
	assert.Contains(t, d.errs, "the folder ../x leads out of the project")
	d.stdin = "mine\n"
	assert.Equal(t, cli.ExitUsage, d.run(t.Context(), "init", "--force"))
	assert.Contains(t, d.errs, "init was not answered")
}
