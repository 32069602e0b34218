package shellcmd_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"toolbench/toolsys/shellcmd"
)

// Where a quote or a here-document ends has to be where it ends in Bash: each of these scripts makes a file
// there, behind what looks like text.
func TestTextEndsWhereBashEndsIt(t *testing.T) {
	for _, script := range []string{
		`echo "${x:-'$(touch PWN)'}"`,
		"echo \"${x:-'`touch PWN`'}\"",
		`x=a; echo "${x:+'$(touch PWN)'}"`,
		`echo "${x:-$'\x27$(touch PWN)\x27'}"`,
		`echo "${x:-${y:-'$(touch PWN)'}}"`,
		`echo ${x:-"${y:-'$(touch PWN)'}"}`,
		`echo "${@:-'$(touch PWN)'}"`,
		`cat <<< "${x:-'$(touch PWN)'}"`,
		`x="${y:-'$(touch PWN)'}"`,
		`[[ "${y:-'$(touch PWN)'}" == a ]]`,
		`case "${y:-'$(touch PWN)'}" in a) ls ;; esac`,
		`for i in "${y:-'$(touch PWN)'}"; do :; done`,
		`x=a; echo "${x//a/'$(touch PWN)'}"`, // so in older Bashes
		`echo "${x:-'a}"; touch PWN #'}"`,
		`echo "${x:-'"$(touch PWN)"'}"`,
		"echo \"$(true ${1:?$'`touch PWN`'} *)\"",
		`echo "$(echo ${x:-$'$(touch PWN)'})"`,
		"cat <<EOF\n${x:-'$(touch PWN)'}\nEOF",
		"cat <<EOF\n${x:-'}\nEOF\ntouch PWN #'}\nEOF",
		"cat <<EOF\nE\\\nOF\ntouch PWN\nEOF",
		"cat <<EOF\nE\\\n\\\nOF\ntouch PWN\nEOF",
		"cat <<-EOF\n\tE\\\nOF\ntouch PWN\nEOF",
		"cat <<\"\"E\n\\$\nE\ntouch PWN\nE",
		"cat <<''E\n\\$\nE\ntouch PWN\nE",
		"cat <<\"E\\\"OF\"\nE\"OF\ntouch PWN\nE\\\"OF",
		"cat <<$'E\\x4fF'\nEOF\ntouch PWN\nE\\x4fF",
		"cat <<EOF\n${x:-'\nEOF\ntouch PWN #'}\nEOF",
		"cat <<EOF\n${x:-\"\nEOF\ntouch PWN #\"}\nEOF",
		"cat <<EOF\n${x:-a\nEOF\ntouch PWN #}\nEOF",
		"cat <<EOF\n$(echo\nEOF\nls #)\nEOF",
		"( printf ) <<E\\\n\n${x:-'\nE\ntouch PWN #'}\nE",
		"echo \"$(cat <<'EOF'\nEOF$(touch PWN)\nEOF\n)\"",
		"echo $( (cat <<-'EOF'\n\tEOF a $(touch PWN)\n\tEOF\n) )",
		"x=$(cat <<'EOF'\nEOFx)\ntouch PWN\nEOF\n)",
		"echo \"`echo 'x`$(touch PWN)`'`\"",
		"echo `echo 'x`; touch PWN; echo `'`",
		"echo `[ a = '` $(touch PWN) `' ]`",
		`echo "${x:-"$\(touch PWN)"}"`,
		`echo "${x:-"$"(touch PWN)}"`,
		`echo "${x:-${y:-"$""(touch PWN)"}}"`,
		"cat <<E\n${x:-\"$\\(touch PWN)\"}\nE",
		"cat <<E; a=(\nx '\nE\n$(touch PWN) )\necho '\n)\nE\n",
		"cat <<E | (\ncat '\nE\ntouch PWN )\necho '\n)\nE\n",
		"cat <<E; (\necho '\nE\ntouch PWN )\necho '\n)\nx\nE\n",
		"x=$(cat <<'E'\nx)$(touch PWN)\nE\n); echo \"$x\"",
		"x=$(cat <<'E'\nit's\nE\n); echo '$(touch PWN)'",
		"diff f <(cat <<E\n\"\nE\n) '$(touch PWN)' '\"'",
		"cat <<A\nx${x}A\necho '$(touch PWN)'\n",
		"cat <<A <<'B'\n$@A\n$(touch PWN)\nB",
		"cat <<-A <<'B'\n\t${x}A\n$(touch PWN)\nB",
	} {
		assert.Falsef(t, read(script).ReadOnly, "%q", script)
	}
	assert.False(t, read(strings.Repeat("\n", 300_000)+"cat <<E\nx\nE").ReadOnly, "the parser counts no more lines")
	assert.False(t, read("cat <<E\n"+strings.Repeat("\n", 300_000)+"${x:-\nE\ntouch PWN #}\nE").ReadOnly, "nor within a text")
	for _, script := range []string{
		`echo "${x:-'none'}" "it's ${x:-here}"`,
		`echo ${x:-'$(none)'}`,
		`echo "${x#'a'}" "$(echo '$x')" "${x:-$(echo '$y')}"`,
		"cat <<EOF\nan end \\\nof a line: ${x:-'a b'} \\EOF\nEOF",
		"cat <<'E O F'\n$(touch PWN)\nE O F",
		"cat <<\\EOF\n`touch PWN`\nEOF",
		`echo "${x:-"a $(echo '$y') b"}" ${x:-"$"} "${x:-"it's"}"`,
		"echo `echo '$x' \"a\"` '`'",
		"cat <<A <<'B'\nx\nA\n\ny\nB",
		"cat <<A |\\\n wc -l\nx\nA",
		"cat <<A\nA\nx=$(cat <<-B | wc -l\n\tB\n)",
		"(cat <<A; ls)\nx\nA",
		"cat <<\"EOF\" <<-X\nE\\\nO\nEOF\n\tx\n\tX",
	} {
		assert.Truef(t, read(script).ReadOnly, "%q: %s", script, read(script).Doubt)
	}
}

// Escapes that shells read differently give a word that is not known.
func TestEscapesAreReadAsBashReadsThem(t *testing.T) {
	for script, want := range map[string]string{
		`cat $'\x2eenv'`: ".env", `cat $'\056en\x76'`: ".env", `cat $'a\tb\'\\'`: "a\tb'\\", `cat $'.\e'`: ".\x1b",
	} {
		assert.Equal(t, shellcmd.Word{Text: want, Source: read(script).Steps[0].Words[1].Source}, read(script).Steps[0].Words[1], script)
	}
	for _, script := range []string{`cat $'.env\0x'`, `cat $'.\545nv'`, `cat $'.\x{65}nv'`, `cat $'.\u65nv'`, `cat $'\cA'`, `cat $'\x00'`, `cat $'\xff'`, `cat $'\?'`} {
		assert.True(t, read(script).Steps[0].FilesUnknown, script)
	}
	assert.NotEmpty(t, read(`$'rm\0x' f`).Steps[0].Opaque)
}
