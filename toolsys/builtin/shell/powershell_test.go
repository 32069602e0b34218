package shell

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestPowerShellThatIsProvedToRead(t *testing.T) {
	for _, script := range []string{
		"Get-ChildItem", "get-childitem -Recurse src", "Get-Content 'it''s here.txt' -TotalCount 5", `Get-Content "a b.txt"`,
		"Get-Content a.txt,b.txt\nGet-Date", "Get-ChildItem *.go | Measure-Object | Format-List", "Select-String -Pattern 'a|b;c' a.txt",
		"git status", "git log --oneline -5 HEAD~2..HEAD", "git log | Select-Object -First 3", "git diff main feature; whoami", "node --version", "rg -n x src/a.go",
		`Test-Path sub\a.txt; Get-FileHash a.txt;`, "Write-Output 'a; rm b > c $d'",
		"Get-Content a | Select-String x", "Get-Content a | Sort-Object | Get-Unique | Select-String x -CaseSensitive", "docker ps -a; pip show requests", "Get-Service -Name x | Format-Wide",
		"ls", "gci -Recurse src", "cat a 2>$null", "Get-ChildItem -Recurse 2> $null | Select-Object Name; pwd", "dir | measure", "GC a | select -First 3", "sls x a.go 2>$null\ngit status",
		"Get-ChildItem | Get-Member; Test-Path a -PathType Leaf", "Import-Csv a | Select-Object -First 3", "Get-ChildItem sub -ErrorAction SilentlyContinue",
	} {
		assert.True(t, powershellReads(script), script)
	}
}

func TestPowerShellThatIsNot(t *testing.T) {
	for _, script := range []string{
		"", " ", ";", "Get-Date |", "| Get-Date", "Get-Date || Remove-Item a", "Get-Date && ri a", "Get-Content a > b", "Get-Content a 2>$nulls", "Get-Content a2>$null", "2>$null", "Get-Content a 2>$null.x", "Get-Content a 2>$null:x", "Get-Content a 2>$null[0]", "Get-Content a 3>$null", "Get-Content a 2>$null$x",
		"Get-Content $x", `Get-Content "$x"`, `Get-Content "a$(ri b)"`, "Get-Content (ri b)", "Get-Content @x", "Get-Content {ri b}", "Get-Content a`\nb",
		"Get-Content a # b", "& Get-Date", ". Get-Date", "'Get-Date'", "Get-Content 'a", "Get-Content 'a'b", "Get-Content a'b'", "$x = 1", "1 + 1", "[int] 1",
		"Get-Content Env:PATH", "Get-Content C:/a", "Get-Content ~/a", "Get-Content -Path:a", "Get-Content -Stream a b", "Get-Content -OutVariable x a",
		"ls | sort", "write a", "gsv", "ls -o a", "cp a b", "cat -n a", "ls ~", "curl a", "sort -o a b", "Get-ChildItem | Get-Content", "Get-ChildItem | Select-String x", "Get-Content a | Get-Item | Select-String x", "Write-Output a | Select-String x", "docker rm x", "docker ps --config x", "Get-Module | Import-Module", "Sort-Object a", "Format-List",
		"Get-ChildItem | ForEach-Object Delete", "Get-ChildItem | Where-Object Name", "Remove-Item a", "git commit", "Git status", "git.exe status", "git push", "git log a,--output=b", "git log 'a\" --output=b'", "git log -a:--output=b", "git log -a.--output=b",
		"git log ''", "git log -- a", "git log --output=b", "git diff *", "git log ~/a", "Get-Date | git status", "git -c a=b log", "fd -x rm", "npm test", "python a.py", "hostname b", "find a", "Get-Help -Online x",
		"Get–ChildItem", "Get-Content ‘a", "Get-Content 'a’; ri b; ‘'", "Get-Content \u2019", "Get-Content \"a”; ri b\"", "Get-Date\x00", "Get-Date --% x",
		"Get-Content '-file'", "Tee-Object a", "Get-Date | Tee-Object a", "Get-Date | Out-File a", "Get-Date -Format ${x}", "Get-Date\rRemove-Item a", "Get-Date\u2028ri a", "Get-Date\u00a0; ri a",
	} {
		assert.False(t, powershellReads(script), script)
	}
}

// Whatever else stands in a script that is proved to read, no sign in it begins an
// expression, a block, a redirection or a call outside of single quotes.
func TestPowerShellThatReadsHasNoOtherSigns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"Get-Content", "Get-Date", "Sort-Object", "a.txt", "-Path", "'", `"`, "|", ";", " ", "\n", "$x", "(", "{", "`", "&", ">", "@", "#", "%", "''", "ri", "\u2018", "--%", "=", " 2>$null"})
		script := ""
		for range rapid.IntRange(1, 12).Draw(t, "words") {
			script += word.Draw(t, "word")
		}
		if !powershellReads(script) {
			return
		}
		script = strings.ReplaceAll(script, " 2>$null", "")
		quote := rune(0)
		for _, r := range script {
			switch {
			case quote == 0 && (r == '\'' || r == '"'):
				quote = r
			case quote == r:
				quote = 0
			case quote == 0:
				assert.NotContains(t, "$({`&>@#%\u2018", string(r), script)
			case quote == '"':
				assert.NotContains(t, "$`\u2018", string(r), script)
			}
		}
	})
}

// A comma in quotes is part of a name, and a name with .. behind it leads where it leads.
func TestPowerShellNamesFilesWithCommas(t *testing.T) {
	commands, ok := readPowerShell("Get-Content '/repo/a,b/../../../etc/passwd'; Get-ChildItem -Depth 2 sub")
	assert.True(t, ok)
	files := commands[0].files("/repo/x/y/z")
	assert.Equal(t, "/etc/passwd", path.Clean(files[len(files)-1].Path))
	assert.True(t, commands[1].files("/repo")[1].Tree)
}

// Rules see a command under each of its names, with and without its parameters.
func TestPowerShellIsReadAsRulesMayNameIt(t *testing.T) {
	commands, ok := readPowerShell("Get-Date; RI -Path a.txt")
	assert.True(t, ok)
	assert.Subset(t, commands[1].readings(), []string{"Remove-Item a.txt", "rm -Path a.txt", "RI -Path a.txt", "Remove-Item -path a.txt"})
	assert.Empty(t, commands[1].opaque())
	for script, want := range map[string]string{"iex x": "Invoke-Expression runs", "Remove-Mine a": "no command of that name", "GIT push": "no command of that name", "git push": ""} {
		commands, ok := readPowerShell(script)
		assert.True(t, ok, script)
		if want == "" {
			assert.Empty(t, commands[0].opaque(), script)
		}
		assert.Contains(t, commands[0].opaque(), want, script)
	}
}
