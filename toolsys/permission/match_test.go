package permission_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/toolsys/permission"
)

// rules makes rules of one behaviour, from the project.
func rules(t require.TestingT, b permission.Behaviour, texts ...string) permission.Rules {
	rs, err := permission.Rules{}.Parse(permission.Project, b, texts...)
	require.NoError(t, err)
	return rs
}

// reading is a call of Read from /repo.
func reading(paths ...string) permission.Query {
	return permission.Query{
		Subject: permission.Subject{Tool: "Read"}, Paths: paths, ReadOnly: true,
		Dir: "/repo", Home: "/home/me", Roots: []string{"/repo"},
	}
}

// running is a call of Bash whose command was taken apart.
func running(parts ...string) permission.Query {
	shell := permission.Shell{Known: true}
	for _, p := range parts {
		shell.Command += p + "; "
		shell.Parts = append(shell.Parts, permission.Part{Text: p})
	}
	return permission.Query{Subject: permission.Subject{Tool: "Bash"}, Shell: &shell, Dir: "/repo", Roots: []string{"/repo"}}
}

// decides reports whether one rule, with one behaviour, matches a call.
func decides(t require.TestingT, b permission.Behaviour, text string, q permission.Query) bool {
	return rules(t, b, text).Match(q) != nil
}

func TestAPermittingPathRuleIsReadNarrow(t *testing.T) {
	for _, c := range []struct {
		rule, path string
		want       bool
	}{
		{"Read", "/anything", true},
		{"Read(*)", "/anything", true},
		{"Read(/src/**)", "/src/a/b.go", true},
		{"Read(/src/**)", "/srcs/a.go", false},
		{"Read(/src/**)", "/repo/src/a.go", false},
		{"Read(//src/**)", "/src/a.go", true},
		{"Read(/src/*)", "/src/a.go", true},
		{"Read(/src/*)", "/src/a/b.go", false},
		{"Read(/src)", "/src/a.go", false},
		{"Read(/src/**)", "/src/../etc/passwd", false},
		{"Read(/src/../etc/*)", "/etc/passwd", true},
		{"Read(~)", "/home/me", true},
		{"Read(~/x)", "/home/me/x", true},
		{"Read(~/**)", "/home/you/x", false},
		{"Read(docs/**)", "/repo/docs/a.md", true},
		{"Read(./docs/**)", "/repo/docs/a.md", true},
		{"Read(docs/**)", "/docs/a.md", false},
		{"Read(*.go)", "/repo/a.go", true},
		{"Read(*.go)", "/repo/sub/a.go", false},
		{"Read(**/*.{go,mod})", "/repo/sub/go.mod", true},
		{"Read([abc)", "/repo/[abc", true},
		{"Write(/src/**)", "/src/a.go", false},
		{`Read(\\host\share\**)`, `\\host\share\a`, true},
		{`Read(\\host\share\**)`, `//HOST/share/a`, true},
		{`Read(\\host\share\**)`, `\\host\other\a`, false},
		{`Read(\\host\share\**)`, `\\host\share\..\other\a`, false},
		{"Read(//etc/**)", "//etc/passwd", false},
		{"Read(/**)", `\\host\share\a`, false},
		{"Read(**)", "/etc/passwd", false},
		{"Read(**/.env)", "/other/.env", false},
		{`Read(docs\a.key)`, "/repo/docs/a.key", false},
	} {
		assert.Equal(t, c.want, decides(t, permission.Allow, c.rule, reading(c.path)), "%s on %s", c.rule, c.path)
	}
}

func TestAForbiddingPathRuleIsReadWide(t *testing.T) {
	for _, c := range []struct {
		rule, path string
		want       bool
	}{
		{"Read(.env)", "/repo/sub/.env", true},
		{"Read(.env)", "/repo/sub/deeper/.env", true},
		{"Read(.env)", "/repo/sub/deeper/down/.env", true},
		{"Read(.env)", "/other/.env", false},
		{"Read(/secrets)", "/secrets/deep/key", true},
		{"Read(/secrets)", "/secretsmith", false},
		{"Read(/)", "/any/thing", true},
		{"Read(secrets/**)", "/repo/secrets/a", true},
		{"Read(./secrets/**)", "/repo/.worktrees/fix/secrets/a", true},
		{"Read(./secrets/**)", "/repo/.claude/Worktrees/fix/secrets/a", true},
		{"Read(./secrets/**)", "/repo/.worktrees/secrets/a", false},
		{"Read(./secrets/**)", "/repo/.worktrees/fix/src/secrets/a", false},
		{"Read(//repo/secrets/**)", "/repo/.worktrees/fix/secrets/a", true},
		{"Read(/app/[id]/**)", "/app/[id]/page", true},
		{"Read(/app/[id]/**)", "/app/i/page", true},
		{"Read(/app/[id/**)", "/app/[id/page", true},
		{"Read(/app/{id/*.key)", "/app/{id/a.key", true},
		{"Read(/app/*/[id)", "/app/b/[id", true},
		{"Read(/app/{id/*.key)", "/app/{id/a.pem", false},
		{"Read(/etc/**)", "//etc/passwd", true},
		{"Read(//host/**)", `\\host\share`, true},
		{"Read(/etc/**)", "/etc/../etc/passwd", true},
		{"Read(/secrets/**)", "/repo/secrets/key", true},
		{"Read(/secrets/**)", "/repo/sub/secrets/key", false},
		{"Read(/secrets/**)", "/other/secrets/key", false},
		{"Read(/etc/**)", "/repo/etc/hosts", false},
		{"Read(/repo/a/**)", "/repo/repo/a/b", false},
		{"Read(//secrets/**)", "/repo/secrets/key", false},
		{"Read(**/.env)", "/other/.env", true},
		{"Read(**/.env)", "/.env", true},
		{"Read(**)", "/etc/passwd", true},
		{"Read(**/.env)", "/other/.env.d", false},
		{`Read(C:\Users\me\.env)`, `/repo/C:\Users\me\.env`, true},
		{`Read(C:\Users\me\.ssh\**)`, `/repo/c:\users\me\.ssh\id`, true},
		{`Read(C:\Users\me\.ssh\**)`, `/repo/C:/Users/me/.ssh/id`, true},
		{`Read(docs\*.key)`, `/repo/docs/a.key`, true},
		{`Read(docs\*.key)`, `/repo/docs/a.pem`, false},
	} {
		assert.Equal(t, c.want, decides(t, permission.Deny, c.rule, reading(c.path)), "%s on %s", c.rule, c.path)
	}
	elsewhere := reading("/repo/.env")
	elsewhere.Dir = "/repo/sub"
	assert.True(t, decides(t, permission.Deny, "Read(.env)", elsewhere), "changing the directory does not shake a rule off")
	assert.False(t, decides(t, permission.Allow, "Read(.env)", elsewhere))
}

func TestADirectoryWithGlobSignsIsItself(t *testing.T) {
	q := reading("/r[ab]/x.go")
	q.Dir = "/r[ab]"
	assert.True(t, decides(t, permission.Allow, "Read(*.go)", q))
	q.Paths = []string{"/ra/x.go"}
	assert.False(t, decides(t, permission.Allow, "Read(*.go)", q))
}

func TestAClassOfSignsLeadsIntoNoFolder(t *testing.T) {
	for glob, paths := range map[string][2]string{
		"Read(file[!0-9]*)": {"/repo/file.txt", "/repo/file/key"}, "Read(a[^b][!c]d)": {"/repo/axyd", "/repo/a/yd"}, "Read(a[x[!]b)": {"/repo/a[b", "/repo/a/b"},
		"Read(src/**/[!.]*)": {"/repo/src/a/b", "/repo/src/.a"},
	} {
		assert.True(t, decides(t, permission.Allow, glob, reading(paths[0])), glob)
		assert.False(t, decides(t, permission.Allow, glob, reading(paths[1])), glob)
	}
	assert.True(t, decides(t, permission.Deny, "Read(file[!0-9]*)", reading("/repo/file/key")), "what is forbidden stays so")
}

// A folder may be called as globs are written. Brackets of a rule beside it are still taken as they stand, and links followed.
func TestRulesForbidInADirectoryWithGlobSigns(t *testing.T) {
	escaped := strings.NewReplacer("[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`, "*", `\*`, "?", `\?`, `\`, `\\`)
	for _, dir := range []string{"/r[ab]", "/r{a,b}", "/r*", "/r?", `/r\a`, "/r[a", "/plain"} {
		for text, p := range map[string]string{
			"Read(app/[id]/**)": "/app/[id]/page", "Read(link)": "/real/key", "Read(link/**)": "/real/key", "Read(link/[id]/*.go)": "/real/[id]/a.go",
			"Read(//DIR/link)": "/real/key",
		} {
			q := reading(dir + p)
			q.Dir, q.Roots = dir, []string{dir}
			rs := rules(t, permission.Deny, strings.ReplaceAll(text, "/DIR", escaped.Replace(dir)))
			q.Links = rs.Links(&q, func(p string) string { return strings.Replace(p, dir+"/link", dir+"/real", 1) })
			assert.NotNil(t, rs.Match(q), "%s in %s", text, dir)
		}
	}
}

// A search is about all below a folder, as a rule that allows the files in it to be read is not, and a hook's condition may be.
func TestARuleAboutFilesIsHeldAgainstAllThatIsSearched(t *testing.T) {
	for _, search := range []string{"Grep", "Glob"} {
		q := reading("/data/sub")
		q.Tool, q.Kin, q.Tree = search, []string{"Read"}, true
		for text, allows := range map[string]bool{
			"Read(/data/*)": false, "Read(/data/sub)": false, "Read(/data/{*,*/*,*/*/*})": false, "Read(/data/sub/*.log)": false, "Read(//data/s*)": false,
			"Read(/data/**)": true, "Read(/data/sub/**)": true, "Read(/**)": true, search: true, search + "(/data/sub)": true, search + "(/data/*)": true,
		} {
			assert.Equal(t, allows, decides(t, permission.Allow, text, q), "%s by %s", search, text)
			rule, err := permission.ParseRule(text)
			require.NoError(t, err)
			assert.True(t, rule.MayCover(q), "%s and %s", search, text)
		}
		for text, may := range map[string]bool{"Read(**/.env)": true, "Read(/data/sub/x/key)": true, "Read(/data/other/**)": false, "Read(.env)": false, "Edit(/data/**)": false, "Read(/etc/**)": false} {
			rule, err := permission.ParseRule(text)
			require.NoError(t, err)
			assert.Equal(t, may, rule.MayCover(q), "%s and %s", search, text)
		}
		q.Tree = false
		assert.True(t, decides(t, permission.Allow, "Read(/data/*)", q), "a file is what it is")
	}
}

// Who forbids a link forbids what it leads to, also where the link is one of several names, or may lie deeper.
func TestWhatARuleNamesByALinkIsForbidden(t *testing.T) {
	q := reading("/repo/real/key")
	resolve := func(p string) string { return strings.Replace(p, "/repo/link", "/repo/real", 1) }
	for _, text := range []string{
		"link", "link/**", "{a,link}/**", "{a,{b,link}}/k*", "**/link", "**/link/*", "{x/**,link}/key", "//repo/{link,a}/**", "/link/key", "~/../../repo/link", "{,li}{nk,x}",
	} {
		rs := rules(t, permission.Deny, "Read("+text+")")
		q.Links = rs.Links(&q, resolve)
		assert.NotNil(t, rs.Match(q), text)
	}
	for _, text := range []string{"{a,b}/**", "link/other", `\{a,link\}/**`, "{a,link}/other", "{{a,b},link}x"} {
		rs := rules(t, permission.Deny, "Read("+text+")")
		q.Links = rs.Links(&q, resolve)
		assert.Nil(t, rs.Match(q), text)
	}
	began := time.Now()
	many := rules(t, permission.Deny, "Read("+strings.Repeat("{a,b}", 1000)+")", "Read({"+strings.Repeat("a,", 10_000)+"b})")
	assert.Empty(t, many.Links(&q, resolve))
	assert.Less(t, time.Since(began), 10*time.Second)
}

func TestEveryPathMustBeAllowedAndNoneDenied(t *testing.T) {
	both := reading("/repo/link", "/etc/passwd")
	assert.False(t, decides(t, permission.Allow, "Read(/repo/**)", both))
	assert.True(t, decides(t, permission.Deny, "Read(/etc/**)", both))
	assert.NotNil(t, rules(t, permission.Allow, "Read(/repo/**)", "Read(/etc/*)").Match(both), "several rules may share the work")
}

func TestARuleForOneToolCoversItsKinByContentOnly(t *testing.T) {
	write := reading("/repo/a")
	write.Tool, write.Kin = "Write", []string{"Edit"}
	assert.True(t, decides(t, permission.Deny, "Edit(/repo/**)", write))
	assert.True(t, decides(t, permission.Allow, "Edit(/repo/**)", write))
	assert.False(t, decides(t, permission.Deny, "Edit", write))
	assert.False(t, decides(t, permission.Allow, "Edit", write))
}

func TestARuleForABoundToolForbidsAndNeverAllows(t *testing.T) {
	q := permission.Query{Subject: permission.Subject{Tool: "WebBrowser"}, Content: "domain:x.org", Bound: []string{"WebFetch"}}
	assert.True(t, decides(t, permission.Deny, "WebFetch(domain:x.org)", q))
	assert.True(t, decides(t, permission.Ask, "WebFetch(domain:*.org)", q))
	assert.False(t, decides(t, permission.Deny, "WebFetch", q))
	assert.False(t, decides(t, permission.Allow, "WebFetch(domain:x.org)", q))
	in := permission.Inputs{Rules: rules(t, permission.Deny, "WebFetch(domain:x.org)"), Query: q, Mode: permission.Bypass}
	assert.Equal(t, permission.Deny, permission.Resolve(in).Behaviour)
}

func TestARuleThatForbidsAServerBindsWhatIsTakenFromIt(t *testing.T) {
	taken := permission.Query{Subject: permission.Subject{Tool: "ReadMcpResource"}, Servers: []string{"my Files"}}
	of := permission.Query{Subject: permission.Subject{Tool: "mcp__my_Files__get", MCP: &permission.Origin{Server: "my Files", Tool: "get"}}}
	for text, want := range map[string][2]bool{
		"mcp__my_Files": {true, true}, "mcp__my_Files__*": {true, true}, "mcp__*": {true, true}, "mcp__my*": {true, true},
		"mcp__MY_files": {true, true}, "mcp__my_Files__get": {false, true}, "mcp__MY_files__GET": {false, true},
		"mcp__my": {false, false}, "mcp__my_Files__put": {false, false}, "my_Files": {false, false}, "MCP__my_files": {false, false},
	} {
		assert.Equal(t, want[0], decides(t, permission.Deny, text, taken), text)
		assert.Equal(t, want[1], decides(t, permission.Deny, text, of), text)
		_, hides := rules(t, permission.Deny, text).Hides(of.Subject)
		assert.Equal(t, want[1], hides, text)
		assert.False(t, decides(t, permission.Allow, text, taken), text)
	}
	assert.False(t, decides(t, permission.Allow, "mcp__MY_files", of), "a rule that permits is read narrow")
	assert.True(t, decides(t, permission.Allow, "mcp__my_Files", of))
}

func TestAPermittingShellRuleIsReadNarrow(t *testing.T) {
	for _, c := range []struct {
		rule, part string
		want       bool
	}{
		{"Bash(git *)", "git status", true},
		{"Bash(git *)", "git", true},
		{"Bash(git *)", "gitk", false},
		{"Bash(git*)", "gitk", true},
		{"Bash(git:*)", "git status", true},
		{"Bash(git:*)", "git", true},
		{"Bash(git:*)", "gitk", false},
		{"Bash(git :*)", "git status", true},
		{"Bash(git :*)", "git", true},
		{"Bash(git :*)", "gitk", false},
		{"Bash(npm run test:*)", "npm run test:unit", true},
		{"Bash(npm run test:*)", "npm run test -- -v", true},
		{"Bash(npm run test:*)", "npm run testing", false},
		{"Bash(git * main)", "git push origin main", true},
		{"Bash(git * main)", "git push origin dev", false},
		{"Bash(ls)", "ls", true},
		{"Bash(ls)", "ls -la", false},
		{`Bash(echo \*)`, "echo *", true},
		{`Bash(echo \*)`, "echo x", false},
		{"Bash(git *)", "LD_PRELOAD=/tmp/x git status", false},
		{"Bash(git *)", "/tmp/git status", false},
		{"Bash(git *)", "sudo git status", false},
	} {
		assert.Equal(t, c.want, decides(t, permission.Allow, c.rule, running(c.part)), "%s on %s", c.rule, c.part)
	}
}

func TestAForbiddingShellRuleMatchesEveryReading(t *testing.T) {
	q := running("r''m x")
	q.Shell.Parts[0].Readings = []string{"rm x"}
	assert.True(t, decides(t, permission.Deny, "Bash(rm *)", q))
	assert.False(t, decides(t, permission.Allow, "Bash(rm *)", q), "a permitting rule sees the text alone")
	for _, part := range []string{"echo rm x", "rmdir x", "git rm x"} {
		assert.False(t, decides(t, permission.Deny, "Bash(rm *)", running(part)), part)
	}
}

// bypassing is what becomes of a command in bypass mode.
func bypassing(rs permission.Rules, part permission.Part) permission.Decision {
	q := running()
	q.Shell = &permission.Shell{Known: true, Parts: []permission.Part{part}}
	return permission.Resolve(permission.Inputs{Rules: rs, Query: q, Mode: permission.Bypass, CanAsk: true})
}

// F6: where it cannot be known whether a forbidding rule is about a command, bypass
// asks too; without such a rule it does not.
func TestWhatMayGetPastAForbiddingRuleIsAskedAbout(t *testing.T) {
	denied := rules(t, permission.Deny, "Bash(rm *)")
	for name, part := range map[string]permission.Part{
		"what runs is not known":      {Text: "$x f", Opaque: "the name is not literal"},
		"a program told to run it":    {Text: "mise exec -- rm f"},
		"a program that is given it":  {Text: "runner", Input: "rm f"},
		"a construct nobody reads":    {Text: "let x", Construct: true, Opaque: "let"},
		"an opaque part behind quote": {Text: "sh -c \"$x\"", Leaf: true, Opaque: "not literal"},
	} {
		d := bypassing(denied, part)
		assert.Equal(t, permission.Ask, d.Behaviour, name)
		assert.Contains(t, d.Reason.String(), "deny rule Bash(rm *)", name)
		assert.Equal(t, permission.Allow, bypassing(permission.Rules{}, part).Behaviour, name)
	}
	assert.Equal(t, permission.Allow, bypassing(denied, permission.Part{Text: "echo rm f", Leaf: true}).Behaviour)
	assert.Equal(t, permission.Allow, bypassing(denied, permission.Part{Text: "make test"}).Behaviour)

	exact := permission.Part{Text: "make -f x", Opaque: "make runs what it is told to"}
	vouched := denied.With(permission.User, permission.Allow, rule(t, "Bash(make -f x)"))
	assert.Equal(t, permission.Allow, bypassing(vouched, exact).Behaviour, "an allow rule for just this command")
	starred := denied.With(permission.User, permission.Allow, rule(t, "Bash(make *)"))
	assert.Equal(t, permission.Ask, bypassing(starred, exact).Behaviour, "but none with a star")
}

// The words of a rule are looked for among those of a command, where nobody knows what the
// command does with them: a word is all of its signs, and a rule that begins with a star has
// none.
func TestTheWordsOfARuleAreFoundWholeInACommand(t *testing.T) {
	const word = "azAZ09_-.é"
	for command, found := range map[string]bool{
		"run " + word + " f":     true,
		"run '" + word + "' f":   true,
		"run f;" + word + " f":   true,
		"run " + word:            false,
		"run " + word + "x f":    false,
		"run x" + word + " f":    false,
		"run " + word[1:] + " f": false,
	} {
		d := bypassing(rules(t, permission.Deny, "Bash("+word+" f *)"), permission.Part{Text: command})
		assert.Equal(t, found, d.Behaviour == permission.Ask, command)
	}
	two := rules(t, permission.Deny, "Bash(a b *)")
	for between, found := range map[string]bool{"a": false, "z": false, "A": false, "Z": false, "0": false, "9": false, "_": false,
		"-": false, ".": false, "é": false, "/": true, ":": true, "@": true, "[": true, "`": true, "{": true, "\x7f": true} {
		d := bypassing(two, permission.Part{Text: "run a" + between + "b"})
		assert.Equal(t, found, d.Behaviour == permission.Ask, "a%sb", between)
	}
	for _, content := range []string{"* f", "*f"} {
		d := bypassing(rules(t, permission.Deny, "Bash("+content+")"), permission.Part{Text: "run f g"})
		assert.Equal(t, permission.Allow, d.Behaviour, content)
	}
	assert.True(t, decides(t, permission.Allow, `Bash(echo x\\)`, running(`echo x\`)), "a backslash at the end is itself")
}

// F5: a rule about files is about the files that commands touch.
func TestARuleAboutFilesBindsCommands(t *testing.T) {
	read := func(f permission.File) permission.Part {
		return permission.Part{Text: "cat", ReadOnly: true, Leaf: true, Files: []permission.File{f}}
	}
	denied := rules(t, permission.Deny, "Read(.env)", "Edit(/repo/prod/**)")
	for want, parts := range map[permission.Behaviour][]permission.Part{
		permission.Deny: {
			read(permission.File{Path: "/repo/.env"}), read(permission.File{Path: "/repo/sub/.env"}),
			{Text: "> prod/x", Files: []permission.File{{Path: "/repo/prod/x", Write: true}}},
		},
		permission.Ask: {
			read(permission.File{Path: "/repo", Tree: true}), read(permission.File{Path: "/repo/*", Glob: true}), read(permission.File{Path: "/repo/.e*", Glob: true}),
			{Text: "cat $x", ReadOnly: true, Leaf: true, FilesUnknown: true}, {Text: "make", FilesUnknown: true},
			{Text: "rm -r .", Files: []permission.File{{Path: "/repo", Write: true, Tree: true}}},
		},
		permission.Allow: {
			read(permission.File{Path: "/repo/.env.example"}), read(permission.File{Path: "/repo/prod/x"}), read(permission.File{Path: "/repo/*.go", Glob: true}),
			{Text: "touch x", Leaf: true, Files: []permission.File{{Path: "/repo/.env", Write: true}}},
		},
	} {
		for _, part := range parts {
			assert.Equal(t, want, bypassing(denied, part).Behaviour, "%+v", part)
		}
	}
	vouched := denied.With(permission.User, permission.Allow, rule(t, "Bash(make)"))
	assert.Equal(t, permission.Allow, bypassing(vouched, permission.Part{Text: "make", FilesUnknown: true}).Behaviour, "who allows a program by name vouches for it")
	assert.Equal(t, permission.Ask, bypassing(rules(t, permission.Deny, "Bash(cat .env)"), permission.Part{
		Text: "grep x .env", ReadOnly: true, Leaf: true, Files: []permission.File{{Path: "/repo/.env"}},
	}).Behaviour, "a rule for a command that prints a file means the file")
	assert.Equal(t, permission.Ask, bypassing(rules(t, permission.Deny, "Bash(cat f .env)"), permission.Part{
		Text: "grep x .env", ReadOnly: true, Leaf: true, Files: []permission.File{{Path: "/repo/.env"}},
	}).Behaviour, "a rule for a command that prints a file means the file")
}

// Where a path matches the glob of a command and that of a rule, the command is not let run.
func TestPropertyAGlobThatMayReachAForbiddenFileIsAskedAbout(t *testing.T) {
	widened := func(t *rapid.T, path []string, trees bool) string {
		var out []string
		for _, name := range path {
			at := rapid.IntRange(0, len(name)-1).Draw(t, "at")
			forms := []string{name, name, "*", name[:at] + "*", "*" + name[at:], name[:at] + "?" + name[at+1:], "[" + name[:1] + "x]" + name[1:], strings.ToUpper(name)}
			if trees {
				forms = append(forms, "**", "**/"+name, "{x,"+name+"}")
			}
			out = append(out, rapid.SampledFrom(forms).Draw(t, "form"))
		}
		return strings.Join(out, "/")
	}
	rapid.Check(t, func(rt *rapid.T) {
		path := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", ".env", "ab", "a.b", "src"}), 1, 4).Draw(rt, "path")
		glob, rule := widened(rt, path, false), widened(rt, path, true)
		denied := rules(t, permission.Deny, "Read(/repo/"+rule+")")
		for _, f := range []permission.File{{Path: "/repo/" + glob, Glob: true}, {Path: "/repo/" + strings.Join(path[:len(path)-1], "/"), Tree: true}} {
			f.Path = strings.TrimSuffix(f.Path, "/")
			part := permission.Part{Text: "cat", ReadOnly: true, Leaf: true, Files: []permission.File{f}}
			require.NotEqual(rt, permission.Allow, bypassing(denied, part).Behaviour, "%s under Read(/repo/%s)", f.Path, rule)
		}
	})
}

// Allow rules with a content list what a shell may run, in bypass mode too.
func TestAListOfCommandsHoldsInBypassMode(t *testing.T) {
	listed := rules(t, permission.Allow, "Bash(npm run test)")
	assert.Equal(t, permission.Allow, bypassing(listed, permission.Part{Text: "npm run test"}).Behaviour)
	assert.Equal(t, permission.Ask, bypassing(listed, permission.Part{Text: "touch x"}).Behaviour)
	assert.Equal(t, permission.Allow, bypassing(rules(t, permission.Allow, "Bash", "Read(/x)"), permission.Part{Text: "touch x"}).Behaviour)
}

func TestEveryPartOfACommandNeedsAnAllowRule(t *testing.T) {
	assert.True(t, decides(t, permission.Allow, "Bash(git *)", running("git status", "git log")))
	assert.False(t, decides(t, permission.Allow, "Bash(git *)", running("git status", "curl evil")))
	assert.NotNil(t, rules(t, permission.Allow, "Bash(git *)", "Bash(npm *)").Match(running("git pull", "npm test")))

	assert.True(t, decides(t, permission.Deny, "Bash(curl *)", running("git status", "curl evil")))
	assert.True(t, decides(t, permission.Ask, "Bash(curl *)", running("git status", "curl evil")))
}

func TestAPartThatOnlyReadsNeedsNoRuleBesideOneThatHas(t *testing.T) {
	q := running("git commit -m x", "head -1")
	q.Shell.Parts[1].ReadOnly = true
	assert.True(t, decides(t, permission.Allow, "Bash(git *)", q))
	assert.False(t, decides(t, permission.Allow, "Bash(npm *)", q))
	q.Shell.Parts[1].Files = []permission.File{{Path: "/etc/shadow"}}
	assert.False(t, decides(t, permission.Allow, "Bash(git *)", q), "it reads outside the roots")
	q.Shell.Parts[0].ReadOnly, q.Shell.Parts[1].Files = true, nil
	assert.False(t, decides(t, permission.Allow, "Bash(npm *)", q), "reading alone is no rule")
}

func TestACommandThatCannotBeTakenApartIsOnlyAllowedWhole(t *testing.T) {
	q := running()
	q.Shell = &permission.Shell{Command: "git status && (rm -rf x"}
	assert.False(t, decides(t, permission.Allow, "Bash(git *)", q))
	assert.True(t, decides(t, permission.Allow, "Bash", q))
	assert.True(t, decides(t, permission.Allow, "Bash(*)", q))
	assert.True(t, decides(t, permission.Deny, "Bash(rm *)", q))
	assert.True(t, decides(t, permission.Ask, "Bash(git status)", q))
	assert.False(t, decides(t, permission.Deny, "Bash(curl *)", q))
	q.Shell = &permission.Shell{Command: `"/bin/rm" -rf x && (`}
	assert.True(t, decides(t, permission.Deny, "Bash(rm *)", q), "by the program's name, without its folder and quotes")

	q.Shell = &permission.Shell{Known: true}
	assert.False(t, decides(t, permission.Allow, "Bash(git *)", q), "nothing to run is nothing allowed")
}

func TestAHugeCommandIsNoBurden(t *testing.T) {
	huge := strings.Repeat("xargs a ", 20_000)
	for _, q := range []permission.Query{running(huge), running()} {
		q.Shell.Command = huge
		start := time.Now()
		assert.False(t, decides(t, permission.Deny, "Bash(rm *)", q))
		assert.Less(t, time.Since(start), 5*time.Second)
	}
}

func TestContentIsMatchedAsTheToolNamesIt(t *testing.T) {
	fetch := permission.Query{Subject: permission.Subject{Tool: "WebFetch"}, Content: "domain:Docs.Example.com."}
	for text, want := range map[string]bool{
		"WebFetch(domain:docs.example.com)": true,
		"WebFetch(domain:*.example.com)":    true,
		"WebFetch(domain:*)":                true,
		"WebFetch(domain:example.com)":      false,
		"WebFetch(domain:docs.example.co)":  false,
	} {
		assert.Equal(t, want, decides(t, permission.Allow, text, fetch), text)
	}
	fetch.Content = "domain:example.com.evil.net"
	assert.False(t, decides(t, permission.Allow, "WebFetch(domain:example.com)", fetch))
	fetch.Content = ""
	assert.False(t, decides(t, permission.Allow, "WebFetch(domain:*)", fetch), "a call that names nothing needs a blanket rule")
	assert.True(t, decides(t, permission.Allow, "WebFetch", fetch))
	skill := permission.Query{Subject: permission.Subject{Tool: "Skill"}, Content: "é"}
	assert.False(t, decides(t, permission.Deny, "Skill(domain:example.com)", skill), "what is no host is compared with none")
}

// What a rule forbids it forbids in any case, as services and disks take names; a rule that allows is about its own.
func TestAContentIsForbiddenInAnyCase(t *testing.T) {
	for text, content := range map[string]string{
		"SubscribePR(me/thing)": "Me/Thing", "SubscribePR(Me/*)": "me/thing", "Skill(deploy)": "Deploy", "Agent(Explore)": "explore", "Workflow(release:*)": "RELEASE",
	} {
		tool, _, _ := strings.Cut(text, "(")
		q := permission.Query{Subject: permission.Subject{Tool: tool}, Content: content}
		assert.True(t, decides(t, permission.Deny, text, q), text)
		assert.True(t, decides(t, permission.Ask, text, q), text)
		assert.False(t, decides(t, permission.Allow, text, q), text)
		q.Content = "other"
		assert.False(t, decides(t, permission.Deny, text, q), text)
	}
}

func TestAnOldToolNameKeepsWorking(t *testing.T) {
	q := running("git status")
	q.Aliases = []string{"Shell"}
	assert.True(t, decides(t, permission.Allow, "Shell(git *)", q))
	assert.True(t, decides(t, permission.Deny, "Shell(git *)", q))
	hit, ok := rules(t, permission.Deny, "Shell").Hides(q.Subject)
	assert.True(t, ok)
	assert.Equal(t, "deny rule Shell of project", hit.String())
}

// A server is known by its name as its tools' names have it: letters, digits, hyphens and
// underscores are themselves, and whatever else there is becomes an underscore.
func TestAServersNameIsWrittenAsInItsToolsNames(t *testing.T) {
	for sign, same := range map[string]bool{".": true, " ": true, "é": true, "@": true, "_": true,
		"a": false, "z": false, "A": false, "Z": false, "0": false, "9": false, "-": false} {
		q := permission.Query{Subject: permission.Subject{Tool: "mcp__x__t", MCP: &permission.Origin{Server: "x" + sign + "y", Tool: "t"}}}
		assert.Equal(t, same, decides(t, permission.Deny, "mcp__x_y", q), sign)
		assert.True(t, decides(t, permission.Deny, "mcp__*y", q), sign)
	}
}

// A rule that forbids a file knows it in each spelling that some disk opens it by; one that allows does not.
func TestAFileIsForbiddenInEachSpelling(t *testing.T) {
	for text, paths := range map[string][]string{
		"Read(.env)":     {"/repo/.env.", "/repo/.env ", "/repo/.env. .", "/repo/.ENV::$DATA", "/repo/.env:x", "/repo/.e\u200bnv", `/repo/sub\..\.env`, `/repo/.\.env`, "/repo/a/.env./b"},
		"Read(café.txt)": {"/repo/cafe\u0301.txt", "/repo/CAFE\u0301.txt"}, "Read(cafe\u0301.txt)": {"/repo/café.txt"},
	} {
		for _, p := range paths {
			q := permission.Query{Subject: permission.Subject{Tool: "Read"}, Paths: []string{p}, Dir: "/repo", Roots: []string{"/repo"}, ReadOnly: true}
			assert.True(t, decides(t, permission.Deny, text, q), "%s of %s", text, p)
			assert.False(t, decides(t, permission.Allow, text, q), "%s of %s", text, p)
		}
	}
	for text, p := range map[string]string{"Read(é.txt)": "/repo/è.txt", "Read(.env)": "/repo/...", "Read(a:b)": "/repo/a", "Read(日本)": "/repo/中国"} {
		assert.False(t, decides(t, permission.Deny, text, permission.Query{Subject: permission.Subject{Tool: "Read"}, Paths: []string{p}, Dir: "/repo"}), text)
	}
}

// A rule that forbids all tools, or some by a star, forbids those of servers too, and one that allows does not.
func TestAStarForbidsTheToolsOfServers(t *testing.T) {
	q := permission.Query{Subject: permission.Subject{Tool: "mcp__git__log", MCP: &permission.Origin{Server: "git", Tool: "log"}}}
	for text, forbids := range map[string]bool{"*": true, "m*": true, "*log": true, "*__git": false, "Cron*": false, "Bash": false, "mcp__git*": true} {
		assert.Equal(t, forbids, decides(t, permission.Deny, text, q), text)
		assert.Equal(t, forbids, decides(t, permission.Ask, text, q), text)
		assert.Equal(t, text == "mcp__git*", decides(t, permission.Allow, text, q), text)
	}
}

// A server's tool whose name is cut short or taken already is forbidden by that name too, which is the one that people see; a
// rule that allows takes it by its origin alone. One that keeps a bare name may stand in the place of a forbidden tool.
func TestAServersToolIsForbiddenByTheNameThatIsShown(t *testing.T) {
	const shown = "mcp__git__log_1a2b3c4d"
	q := permission.Query{Subject: permission.Subject{Tool: shown, MCP: &permission.Origin{Server: "git", Tool: "log"}}}
	assert.True(t, decides(t, permission.Deny, shown, q))
	assert.True(t, decides(t, permission.Ask, shown, q))
	assert.False(t, decides(t, permission.Allow, shown, q))
	assert.False(t, decides(t, permission.Deny, shown+"x", q))
	q.Tool = "Read"
	assert.False(t, decides(t, permission.Deny, "Read", q))
}

func TestABlanketDenyHidesTools(t *testing.T) {
	builtin := func(name string) permission.Subject { return permission.Subject{Tool: name} }
	mcp := func(server, tool string) permission.Subject {
		return permission.Subject{Tool: "mcp__" + server + "__" + tool, MCP: &permission.Origin{Server: server, Tool: tool}}
	}
	bare := mcp("shell", "Bash")
	bare.Tool = "Bash"
	for _, c := range []struct {
		rule    string
		subject permission.Subject
		want    bool
	}{
		{"Bash", builtin("Bash"), true},
		{"Bash(*)", builtin("Bash"), true},
		{"Bash(rm *)", builtin("Bash"), false},
		{"bash", builtin("Bash"), false},
		{"Bash", bare, false},
		{"*", builtin("Bash"), true},
		{"*", mcp("git", "log"), false},
		{"Cron*", builtin("CronList"), true},
		{"mcp__shell__Bash", bare, true},
		{"mcp__shell", bare, true},
		{"mcp__Bash", builtin("Bash"), false},
		{"mcp__git", mcp("git", "log"), true},
		{"mcp__git__*", mcp("git", "log"), true},
		{"mcp__git__log", mcp("git", "log"), true},
		{"mcp__git__lo", mcp("git", "log"), false},
		{"mcp__git__l*", mcp("git", "log"), true},
		{"mcp__git", mcp("github", "log"), false},
		{"mcp__git__*", mcp("github", "log"), false},
		{"mcp__git", mcp("git__hub", "log"), false},
		{"mcp__git__*", mcp("git__hub", "log"), false},
		{"mcp__git__hub", mcp("git__hub", "log"), true},
		{"mcp__git__hub__*", mcp("git__hub", "log"), true},
		{"mcp__git__hub__log", mcp("git__hub", "log"), true},
		{"mcp__git__a__b", mcp("git", "a__b"), true},
		{"mcp__git__a", mcp("git", "a__b"), false},
		{"mcp__*", mcp("git", "log"), true},
		{"mcp__git*", mcp("github", "log"), true},
		{"mcp__*__log", mcp("git", "log"), true},
		{"mcp__*__log", mcp("git", "push"), false},
		{"mcp__my_server", mcp("my server", "log"), true},
		{"mcp__my.server", mcp("my_server", "log"), true},
	} {
		_, got := rules(t, permission.Deny, c.rule).Hides(c.subject)
		assert.Equal(t, c.want, got, "%s on %+v", c.rule, c.subject)
		_, got = rules(t, permission.Ask, c.rule).Hides(c.subject)
		assert.False(t, got, "only a deny rule hides")
	}
}

func TestTheFirstSourcesRuleIsTheOneNamed(t *testing.T) {
	rs := permission.Rules{}.
		With(permission.User, permission.Deny, rule(t, "Bash")).
		With(permission.Policy, permission.Deny, rule(t, "Bash(rm *)")).
		With(permission.Policy, permission.Allow, rule(t, "Bash"))
	hit := rs.Match(running("ls", "rm x"))
	require.NotNil(t, hit)
	assert.Equal(t, `deny rule Bash(rm *) of policy, for "rm x"`, hit.String())
	hit = rs.Match(running("ls"))
	require.NotNil(t, hit)
	assert.Equal(t, permission.User, hit.Source, "a deny rule of the last source beats an allow rule of the first")
}

func TestRulesAreValues(t *testing.T) {
	base := rules(t, permission.Allow, "Read")
	one := base.With(permission.User, permission.Allow, rule(t, "Bash"))
	two := base.With(permission.User, permission.Deny, rule(t, "Edit"))
	assert.Len(t, base.All(), 1)
	assert.Equal(t, "Bash", one.All()[1].Rule.String())
	assert.Equal(t, "Edit", two.All()[1].Rule.String())
	one.All()[0].Source = permission.Policy
	assert.Equal(t, permission.Project, one.All()[0].Source)

	three := rules(t, permission.Allow, "A", "B", "C")
	three = three.With(permission.User, permission.Allow, rule(t, "D"), rule(t, "E")) // leaves room to append in place
	before := three.All()
	three.With(permission.Policy, permission.Deny, rule(t, "F"))
	assert.Equal(t, before, three.All())

	same, err := base.Parse(permission.User, permission.Deny, "Bash(", "Edit", ")")
	assert.ErrorContains(t, err, "Bash(")
	assert.ErrorContains(t, err, `")"`)
	assert.Equal(t, base, same, "all or none")
}

func TestWithinKnowsDotsPrefixesAndShares(t *testing.T) {
	roots := []string{"/repo", "/extra/", "/a/../b"}
	for p, want := range map[string]bool{
		"/repo": true, "/repo/x": true, "/repo/./x/../y": true, "/extra/x": true, "/b/x": true,
		"/repository": false, "/repo/../etc": false, "/": false, "repo/x": false, "": false,
		"//repo/x": false, `\\repo\x`: false, `/\repo`: false,
	} {
		assert.Equal(t, want, permission.Within(p, roots), p)
	}
	assert.True(t, permission.Within("/x", []string{"/"}))
	assert.False(t, permission.Within("//h/x", []string{"/", "//h"}))
	assert.False(t, permission.Within("/h/x", []string{"//h"}), "a share is no root")
	assert.False(t, permission.Within("/x", nil))
	assert.True(t, permission.IsUNC("//") && permission.IsUNC(`\\`), "the slashes alone are a share already")
	assert.True(t, permission.IsUNC(`\\h`) && permission.IsUNC("//h") && permission.IsUNC(`/\h`))
	assert.False(t, permission.IsUNC("/h") || permission.IsUNC("") || permission.IsUNC(`h\\x`))
}

func TestAnEscapeFromTheRootsIsNeverWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOf(rapid.SampledFrom([]string{"..", ".", "a", "b", "repo", ""})).Draw(t, "steps")
		p, depth := "/repo", 1
		for _, s := range steps {
			p += "/" + s
			switch s {
			case "..":
				depth = max(0, depth-1)
			case ".", "":
			default:
				depth++
			}
			if depth == 0 {
				t.Skip("climbed out; the way back in may be legal")
			}
		}
		assert.True(t, permission.Within(p, []string{"/repo"}))
		assert.False(t, permission.Within("/other"+p[len("/repo"):], []string{"/repo"}))
	})
}

func BenchmarkMatchACompoundCommandWithAHundredRules(b *testing.B) {
	rs := permission.Rules{}
	for range 50 {
		rs = rs.With(permission.User, permission.Deny, rule(b, "Bash(never * this)"))
		rs = rs.With(permission.User, permission.Allow, rule(b, "Bash(git commit *)"))
	}
	q := running("git commit -m x", "git commit -m y", "git commit -m z")
	for b.Loop() {
		if rs.Match(q) == nil {
			b.Fatal("not allowed")
		}
	}
}

// Who works in a copy of the tree is still bound by what the rules forbid in the tree itself.
func TestRulesForbidInWhatWasLeft(t *testing.T) {
	for rule, want := range map[string]bool{"Read(.env)": true, "Read(sub/.env)": true, "Read(*.env)": true, "Read(/sub/.env)": true, "Read(other/.env)": false} {
		q := permission.Query{Subject: permission.Subject{Tool: "Read"}, Dir: "/copy", Roots: []string{"/copy"}, Left: []string{"/repo"}, Paths: []string{"/repo/sub/.env"}}
		assert.Equal(t, want, decides(t, permission.Deny, rule, q), rule)
		assert.False(t, decides(t, permission.Allow, rule, q), rule)
	}
}
