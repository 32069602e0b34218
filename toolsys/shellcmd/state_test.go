package shellcmd_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What the reading holds a variable, a function or the directory to be has to be so in every run of Bash. Each of
// these scripts makes a file, or runs a program of the repository's, where that is not so; the forms behind them,
// which read, are what must not be lost.
func TestStateIsWhatBashHas(t *testing.T) {
	for _, script := range []string{
		// An assignment that is never made.
		"x=-oPWN\necho $((1/0)); x=f\nsort $x",
		"x=-oPWN\ny=$((n%m)) x=f\nsort $x",
		"x=-oPWN\necho ${x:0:-99}; x=f\nsort $x",
		"x=-oPWN\nreadonly x\nx=f\nsort $x",
		"declare -r x=-oPWN\nx=f\nsort $x",
		"x=-oPWN\nlocal x=f\nsort $x",
		"x=-oPWN; { x=f; } < gone; sort $x",
		"x=-oPWN; { x=f; } 2>&9; sort $x",
		"x=-oPWN; { x=f; } > /dev/tty; sort $x",
		"x='a[$(touch PWN)]'; : $((0 && (x=5))); echo $((x))",
		"x='a[$(touch PWN)]'; : $((1 ? 2 : (x=5))); echo $((x))",
		"x='a[$(touch PWN)]'; [[ a == b && -n $((x=5)) ]]; echo $((x))",
		"x='a[$(touch PWN)]'; case a in a) ;; $((x=5))) ;; esac; echo $((x))",
		"x='a[$(touch PWN)]'; y=1; : ${y:-$((x=5))}; echo $((x))",
		"x='a[$(touch PWN)]'; : ${y#$((x=5))}; echo $((x))",
		"x='a[$(touch PWN)]'; : ${y:(x=5)}; echo $((x))",
		"x='a[$(touch PWN)]'; n=08; [[ $n -eq 1 && -n $((x=5)) ]]; echo $((x))",
		// One that is made unseen.
		"x=f; while sort $x; do read 'x'; done <<< -oPWN",
		"x=f; while sort $x; do \\read x; done <<< -oPWN",
		"x=f; while sort $x; do command read x; done <<< -oPWN",
		"x=f; while sort $x; do {read,x}; done <<< -oPWN",
		"while git status; do command cd vendor; done",
		"while git status; do {cd,vendor}; done",
		"printf '0123456789%n' PATH; ls",
		"printf -v x '%5n' PATH",
		"printf \"$y\" PATH",
		"printf a* PATH",
		// One that is made between the definition of a function and its call.
		"x=ls; f() { $x f; }; x=./evil.sh; f",
		"x=f; f() { sort $x; }; x=-oPWN; f",
		"x=/dev/null; f() { ls > $x; }; x=PWN; f",
		"x=/dev/null; f() { tee \"$x\"; }; x=PWN; f",
		"x=5; f() { echo $((x)); }; x='a[$(touch PWN)]'; f",
		"x=5; f() { [[ $x -gt 3 ]]; }; x='a[$(touch PWN)]'; f",
		"x=1; f() { env -u $x cat ./evil.sh; }; x=; f",
		"f() { env -u $! cat ./evil.sh; }; f; ls & f",
		"printf -v x -v PATH %s bin; ls",
		"printf -v x -vPATH %s bin; ls",
		// A number that is no word where it is empty.
		"env -u $! cat ./evil.sh",
		"env -u ${!} cat ./evil.sh",
		"(ls & ); env -u $! cat ./evil.sh",
		"[ a = b ] && { ls & }; env -u $! cat ./evil.sh",
		"find . ! -name $! -path -delete",
		"sh -c 'env -u $UID cat ./evil.sh'",
		// Text that is evaluated.
		"declare -a x='($(touch PWN))'",
		"declare -A x=\"([a]=$y)\"",
		"declare -a x; declare x='($(touch PWN))'",
		"x=(a); declare x=$y",
		"readonly -a x='($(touch PWN))'",
		"read -a x; declare x=\"$y\"",
		// A function that is not what runs.
		"task() { :; }; env task test",
		"task() { :; }; command task test",
		"task() { :; }; echo test | xargs task",
		"task() { :; }; find . -exec task {} +",
		"task() { :; }; unset task; task test",
		"task() { :; }; f() { task test; }; unset task; f",
		"g() { unset task; }; task() { :; }; g; task test",
		"{ task() { :; }; } < gone; task test",
		"echo $((1/0)); task() { :; }\ntask test",
	} {
		assert.Falsef(t, read(script).ReadOnly, "%q", script)
	}
	for _, script := range []string{
		"x=f\necho $((7/2)); x=g\nsort $x",
		"x=f; readonly y=1; sort $x",
		"f() { local x=$1; echo \"$x\"; }; f a",
		"x=f; echo a 2>&1 >/dev/null; sort $x",
		"x=5; : $((x > 3 && x < 9)); echo $((x+1))",
		"n=0; while [[ $n -lt 3 ]]; do n=$((n+1)); done",
		"printf '%s\\n' PATH", "printf '%d%%\\n' 5", "printf '%n' count",
		"declare -a x=(a b); echo \"${x[@]}\"", "declare x=$y", "x=(a b); y=$(ls); echo $y", "declare -r x=a; echo $x",
		"f() { ls; }; f; (f)", "ls & wait $!", "d=sub; f() { ls \"$d\"; }; f", "f() { echo $((1+2)); }; f",
		"find . -exec grep x {} +", "find . -type f -exec uniq {} ';'",
	} {
		assert.Truef(t, read(script).ReadOnly, "%q: %s", script, read(script).Doubt)
	}
}

// What a program is given may be more than one word, begin with a dash, or be a file of further words.
func TestWordsThatProgramsAreGiven(t *testing.T) {
	for _, script := range []string{
		"find . -type f -exec uniq {} +", // the second file is written
		"find . -type f -execdir sort {} ';'",
		"git ls-files -z | xargs -0 -I{} sort {}",
		"rg --files -0 | xargs -0 -I{} sort {}",
		"ls | xargs -0 -I{} sort {}",
		"find . -print0 | sort | xargs -0 -I{} sort {}", // a name may hold a line feed
		"sed -e 'a\\\\' -e 'w PWN' f",                   // the text may end at the line, and a command follow
		"zgrep x 'f\n;e touch PWN'",
		"git diff -U --output=PWN", "git log -U --output=PWN", "git shortlog -n --output=PWN", "git diff -L --output=PWN", "git log -L -- --output=PWN",
		"git log --format=%GK", "git show -s --pretty=format:%GS HEAD", "git for-each-ref --format='%(signature)'", "git for-each-ref --sort=-signature:grade", "git for-each-ref --sort signature",
		"git branch --list --format='%(*signature)'", "git log --format=\"$x\"", "git log --format \"$x\"",
		"file -p f", "git config user.name x", "git config --add a.b c", "git config -l -e",
	} {
		assert.Falsef(t, read(script).ReadOnly, "%q", script)
	}
	for _, script := range []string{
		"find . -print0 | xargs -0 -I{} sort {}", "git log -L1,5:f", "git log -Sfoo", "git log -S foo", "git diff -M90", "git diff -U5", "git shortlog -n",
		"git log -n 5", "date -d '-1 day' +%F", "git config user.name", "git config --global --list", "git config --get-regexp user", "git reflog -5",
		"seq 3 | xargs -n1 echo", "npm --version", "ss -tlnp", "rg --multiline --multiline-dotall x", "git diff -- f",
		"git log --format='%h %s' --grep=%G", "git log --format=%b -S signature", "git for-each-ref --sort=-creatordate --format='%(refname)'",
	} {
		assert.Truef(t, read(script).ReadOnly, "%q: %s", script, read(script).Doubt)
	}

	for script, names := range map[string]bool{
		"cat /dev/fd/3": false, "cat /dev/fd/../cwd/f": true, "cat < /dev/fd/../environ": true,
		"cat /dev/stdin": false, "cat /dev/stdin/../x": true,
	} {
		assert.Equalf(t, names, len(read(script).Steps[0].Files) > 0, "%s", script)
	}
	for _, script := range []string{"strings @list", "strings *", `jq "$x" f`, `jq "imp$x" f`, "jq --run-tests f", "jq --slurpfile a f .", "gawk 'BEGIN{SYMTAB[\"A\" \"RGV\"][1]=\"/etc/x\"}1' f"} {
		assert.Truef(t, read(script).Steps[0].FilesUnknown, "%s", script)
	}
	for _, script := range []string{"strings f", `jq ".a$x" f`, "jq --slurp . f", "awk 1 f"} {
		assert.Falsef(t, read(script).Steps[0].FilesUnknown, "%s", script)
	}
	assert.Equal(t, "/etc/x", read("go version /etc/x").Steps[0].Files[0].Path)
}
