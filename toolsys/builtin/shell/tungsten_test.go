package shell_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// typist is a terminal that notes what is typed.
type typist struct {
	typed  string
	within time.Duration
	screen shell.Screen
	closed bool
}

func (t *typist) Type(_ context.Context, keys string) error { t.typed += keys; return nil }
func (t *typist) Close() error                              { t.closed = true; return nil }
func (t *typist) Screen(_ context.Context, within time.Duration) (shell.Screen, error) {
	t.within = within
	return t.screen, nil
}

func TestKeysAreSentAsAKeyboardSendsThem(t *testing.T) {
	term := &typist{}
	opened := 0
	tl := shell.Tungsten(func(context.Context, shell.TerminalRequest) (shell.Terminal, error) { opened++; return term, nil })
	call := func(members map[string]any) (tool.Output, error) {
		in := parse(t, tl, members)
		require.Nil(t, tl.Validate(in, inRepo()))
		return tl.Call(t.Context(), in, inRepo())
	}
	_, err := call(map[string]any{"text": "a\nb", "keys": []string{"Enter", "C-c", "Up", "C-z"}, "wait_ms": 500})
	require.NoError(t, err)
	assert.Equal(t, "a\rb\r\x03\x1b[A\x1a", term.typed)
	assert.Equal(t, 500*time.Millisecond, term.within)
	_, err = call(map[string]any{})
	require.NoError(t, err)
	assert.Equal(t, shell.TerminalWait, term.within)
	assert.Equal(t, 1, opened, "the terminal is kept")

	_, err = call(map[string]any{"close": true})
	require.NoError(t, err)
	assert.True(t, term.closed)
	_, err = call(map[string]any{"close": true})
	assert.ErrorContains(t, err, "no terminal is open")
	term.screen.Ended = true
	for range 2 {
		_, err = call(map[string]any{"text": "x"})
		require.NoError(t, err)
	}
	assert.Equal(t, 3, opened, "one that ended is opened anew")
}

func TestTerminalsThatCannotBeUsedAreRefused(t *testing.T) {
	none := shell.Tungsten(nil)
	refusal := none.Validate(parse(t, none, map[string]any{"text": "x"}), inRepo())
	require.NotNil(t, refusal)
	assert.Equal(t, shell.CodeNoTerminal, refusal.Code)
	broken := shell.Tungsten(func(context.Context, shell.TerminalRequest) (shell.Terminal, error) {
		return nil, errors.New("no pseudo-terminal")
	})
	for _, text := range []string{"\x03", "\x1b[A", "a\x00", "\x7f"} {
		refusal := broken.Validate(parse(t, broken, map[string]any{"text": text}), inRepo())
		if assert.NotNil(t, refusal, "%q", text) {
			assert.Equal(t, shell.CodeControl, refusal.Code)
		}
	}
	_, err := broken.Call(t.Context(), parse(t, broken, map[string]any{"text": "x"}), inRepo())
	assert.ErrorContains(t, err, "did not open: no pseudo-terminal")
	_, problems := broken.Parse([]byte(`{"keys":["Meta-x"]}`))
	assert.NotEmpty(t, problems)
	assert.True(t, broken.Behaviour.ReadOnly(parse(t, broken, map[string]any{})))
	assert.False(t, broken.Behaviour.ReadOnly(parse(t, broken, map[string]any{"keys": []string{"Enter"}})))
}

// What is typed in parts, or called back with a key, gets past no rule about commands: nobody can see what it
// makes of the line, so it is asked about in bypass mode too.
func TestTypingInPartsGetsPastNoRule(t *testing.T) {
	w := shell.Tungsten(nil)
	for _, in := range []map[string]any{{"text": "r"}, {"text": "m -rf x\n"}, {"keys": []string{"Up", "Enter"}}, {"keys": []string{"C-r"}}} {
		q := permission.Query{Subject: permission.Subject{Tool: w.Name}, Destructive: true, OpenWorld: true}
		s := w.Subject(parse(t, w, in), inRepo())
		q.Shell, q.Kin = s.Shell, s.Kin
		for rule, want := range map[string]permission.Behaviour{"Bash(rm *)": permission.Ask, "Read(.env)": permission.Ask, "WebFetch(domain:x)": permission.Allow} {
			rules, err := permission.Rules{}.Parse(permission.Project, permission.Deny, rule)
			require.NoError(t, err)
			d := permission.Resolve(permission.Inputs{Rules: rules, Query: q, Mode: permission.Bypass, CanAsk: true})
			assert.Equal(t, want, d.Behaviour, "%v %s", in, rule)
		}
	}
}
