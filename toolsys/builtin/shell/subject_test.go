package shell_test

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/host"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// decide resolves a call in default mode as the permission layer would, links
// followed, with nobody to ask: what is not allowed is denied.
func decide(t testing.TB, text string, allow ...string) permission.Behaviour {
	t.Helper()
	fs := afero.NewMemMapFs()
	for _, file := range []string{"/repo/a.go", "/repo/b.go", "/repo/out/link.txt", "/repo/sub/c.go", "/repo/odd/b /etc/shadow", "/etc/shadow"} {
		require.NoError(t, afero.WriteFile(fs, file, nil, 0o644))
	}
	b := shell.Bash(shell.Deps{FS: fs, Resolve: func(p string) string {
		if rest, is := strings.CutPrefix(p, "/repo/up/"); is { // a link to a folder
			return path.Join("/etc/ssl", rest)
		}
		return strings.Replace(p, "/repo/out/link.txt", "/etc/shadow", 1)
	}})
	in, c := command(t, b, text), inRepo()
	s := b.Subject(in, c)
	q := permission.Query{
		Subject: permission.Subject{Tool: "Bash"}, Shell: s.Shell, Content: s.Content, PathsUnknown: s.PathsUnknown,
		Dir: "/repo", Home: c.Home, Roots: c.Roots,
	}
	var err error
	q.ReadOnly = b.Behaviour.ReadOnly(in)
	q.Destructive = b.Behaviour.Destructive(in)
	q.OpenWorld = b.Behaviour.OpenWorld(in)
	rules, err := permission.Rules{}.Parse(permission.User, permission.Allow, allow...)
	require.NoError(t, err)
	return permission.Resolve(permission.Inputs{Rules: rules, Query: q, Check: b.Permit(in, c)}).Behaviour
}

func TestReadingWithinTheRootsRuns(t *testing.T) {
	for _, text := range []string{
		"ls", "ls -la sub", "cat a.go", "cat ./sub/../a.go", "cat /repo/a.go", "cat *.go", "cat < a.go",
		"grep -rn x .", "grep -rne /etc/x .", "grep '/etc/shadow' a.go", "grep -A 3 -- -x a.go", "grep -c x a.go 2>/dev/null",
		"find . -name '*.go'", "head -n 5 a.go", "sort -t / -k 2 a.go", "cut -d/ -f1 a.go", "cut -d / -f 1 a.go",
		"sed -n '/func/,/^}/p' a.go", "sed 's|/a/|/b/|g' a.go", "awk -F/ '{print $1}' a.go", "jq .a/2 a.go",
		"cat a.go | grep x | wc -l", "cd sub && cat c.go", "echo /etc/shadow", "echo $HOME", "git status", "git -C sub status",
		"for i in 1 2; do echo \"$i\"; done", "echo \"$(cat a.go)\"", "grep '/etc/*' a.go", "cat a\\.go", "for f in *.go; do echo \"$f\"; done", "echo *",
	} {
		assert.Equal(t, permission.Allow, decide(t, text), text)
	}
}

func TestReadingElsewhereDoesNotRunUnasked(t *testing.T) {
	for _, text := range []string{
		"cat /etc/shadow", "cat ../x", "cat ~/x", "cat ~root/x", "ls /", "cat sub/../../x", "cat //host/share/x",
		"cat < /etc/shadow", "cat < $X", "cat $X", "cat \"$(echo /etc/shadow)\"", "cat a.go /etc/shadow",
		"cd /etc && cat shadow", "cd .. && ls", "cd && ls", "cd - && ls", "(cd sub; cd ..; cat ../x)", "cd $X && ls",
		"cat out/link.txt", "git status /etc/*", "set -- /etc/*", "f() { ls; }; f /etc/*", "nice -n /etc/* ls", "ls | xargs cat < a.go", "cd a.go; cat ../x", "(cd sub) && cat ../x", "cd sub || cat ../x", "! cd sub && cat ../x", "cd $(cd sub && pwd) && cat ../x", "if cd sub; then ls; fi; cat ../x", "cat out/*", "cat /etc/*", "cat {a.go,/etc/shadow}", "cat /repo*/x",
		"grep -f /etc/shadow a.go", "grep -f/etc/shadow a.go", "grep --file=/etc/shadow a.go", "grep -nf../x a.go",
		"grep x /etc/shadow", "grep -e x /etc/shadow", "grep -eC /etc/shadow", "grep -R x .", "rg --files /etc", "rg -L x",
		"find / -name x", "find -L . -name x", "find . -newer /etc/shadow", "xargs cat",
		"sed 'r /etc/shadow' a.go", "sed -n 'R x' a.go", "sed -e p -e 'r x' a.go", "sed -er\\ x a.go", "sed -f x a.go", "sed --expression='r x' a.go",
		"awk '{getline l < \"/etc/shadow\"}' a.go", "awk 'BEGIN{ARGV[1]=\"x\"}' a.go", "awk -f x a.go", "jq -n 'import \"x\" as $x; 1'", "jq -f x a.go",
		"cat up/../shadow", "cat < up/../shadow", "ls up/..", "cat up/../*", "cd up && cat ../shadow",
		"diff -r a b", "git -C /etc status", "git -C up/.. status", "HOME=/etc; cat ~/shadow", "X=1 cat a.go",
		"grep /etc/shado?", "grep *.go ../x", "grep {x,/etc/shadow}", "head -n /etc/* a.go", "echo /etc/*", "cat \\/etc/shadow", "cat $'/etc/shadow'", "cd -- && ls",
		"for f in /etc/*; do echo x; done", "for f in '/etc/*'; do echo $f; done", "echo $(echo '/etc/*')", "f() { echo $1; }; f '/etc/*'",
	} {
		assert.Equal(t, permission.Deny, decide(t, text), text)
	}
}

// onDisk is Bash with the links of the disk.
func onDisk() *tool.Tool {
	return shell.Bash(shell.Deps{FS: afero.NewOsFs(), Resolve: func(p string) string {
		if to, err := filepath.EvalSymlinks(p); err == nil {
			return to
		}
		return p
	}})
}

// What find, ls or git names below a folder of the roots may be a link that leads out of them, and xargs takes a
// name with blanks in it for others. Both are looked for on the disk.
func TestNamesBelowARootLeadNowhereElse(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, dir := range []string{"plain/sub", "linked/sub", "odd/x /etc", "within"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	for _, file := range []string{"plain/sub/f", "plain/f", "linked/f", "odd/x /etc/passwd", "within/f"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, file), nil, 0o644))
	}
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(root, "linked/sub/f")))
	require.NoError(t, os.Symlink("f", filepath.Join(root, "within/g")))
	b := onDisk()
	runs := func(text, dir string) bool {
		in, c := command(t, b, text), inRepo()
		c.State = c.State.WithDir(filepath.Join(root, dir))
		c.Roots = []string{c.State.Dir}
		q := permission.Query{Subject: permission.Subject{Tool: "Bash"}, Shell: b.Subject(in, c).Shell, Dir: c.State.Dir, Roots: c.Roots, ReadOnly: b.Behaviour.ReadOnly(in)}
		return permission.Resolve(permission.Inputs{Query: q, CanAsk: true}).Behaviour == permission.Allow
	}
	for _, text := range []string{
		"find . -name '*' -exec cat {} +", "find . | xargs cat", "find . -print0 | xargs -0 cat", "ls -R | xargs cat", "find s* -exec cat {} +",
		"find . -type f -o -name f -exec cat {} +", "diff sub .", "diff f sub",
	} {
		assert.False(t, runs(text, "linked"), text)
		assert.True(t, runs(text, "plain"), text)
		assert.True(t, runs(text, "within"), text)
	}
	for _, text := range []string{"find . | xargs cat", "find . -type f | xargs cat", "ls | xargs -I{} cat {}"} {
		assert.False(t, runs(text, "odd"), text)
	}
	assert.True(t, runs("find . -type f -exec cat {} +", "linked"), "no link is a plain file")
	assert.True(t, runs("find . -print0 | xargs -0 cat", "odd"), "nothing splits the names")
}

// What a pattern stands for may be a link, also where folders are read whole, and where the pattern is the last
// word, which is written to otherwise.
func TestLinksThatAPatternStandsForAreFollowed(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	secret := filepath.Join(root, ".env")
	require.NoError(t, os.WriteFile(secret, nil, 0o644))
	require.NoError(t, os.Symlink(".env", filepath.Join(root, "link")))
	b := onDisk()
	for _, text := range []string{"cat l*", "grep -r x l*", "cp l* x", "cp x l*", "cp ./*", "mv l*", "install ./l*", "cat [!a]ink", "cat [^a]ink", "cat ?[!a]n[!b]", "cat [[!]ink*", `for f in [!a]*; do cat "$f"; done`} {
		in, c := command(t, b, text), inRepo()
		c.State = c.State.WithDir(root)
		c.Roots = []string{root}
		parts := b.Subject(in, c).Shell.Parts
		assert.True(t, slices.ContainsFunc(parts[len(parts)-1].Files, func(f permission.File) bool { return f.Path == secret && !f.Write }), text)
	}
}

func TestWhatDoesNotOnlyReadNeedsARule(t *testing.T) {
	for _, text := range []string{"make", "ls > x", "git push", "curl https://e.org", "rm a.go", "ls; make", "ls ('"} {
		assert.Equal(t, permission.Deny, decide(t, text), text)
	}
}

// F4: every part needs its permission, and neither a redirection nor an
// assignment slips in with one.
func TestARuleForACommandPermitsNothingBesideIt(t *testing.T) {
	const rule = "Bash(git *)"
	for _, text := range []string{"git push", "git push && git commit", "git push 2>&1", "git push >/dev/null", "git commit -m x && cat a.go"} {
		assert.Equal(t, permission.Allow, decide(t, text, rule), text)
	}
	for _, text := range []string{
		"git push > /repo/x", "git push >> x", "git push &> x", "git push && make", "GIT_SSH=x git push", "git push && cat /etc/shadow",
		"git log | tee x", "git push; export X=1", "echo $(make) && git push",
	} {
		assert.Equal(t, permission.Deny, decide(t, text, rule), text)
	}
	assert.Equal(t, permission.Allow, decide(t, "git push > out.txt", rule, "Bash(> out.txt)"))
}

func TestTraitsFollowTheParsedCommand(t *testing.T) {
	b := shell.Bash(shell.Deps{FS: afero.NewMemMapFs()})
	type traits struct{ Safe, ReadOnly, Destructive, OpenWorld bool }
	for text, want := range map[string]traits{
		"ls":                      {Safe: true, ReadOnly: true},
		"cd sub":                  {ReadOnly: true},
		"make":                    {},
		"rm -rf sub":              {Destructive: true},
		"git reset --hard HEAD~1": {Destructive: true},
		"git reset HEAD":          {},
		"curl https://e.org":      {OpenWorld: true},
		"ls ('":                   {},
	} {
		in := command(t, b, text)
		var got traits
		got.Safe = b.Behaviour.Safe(in)
		got.ReadOnly = b.Behaviour.ReadOnly(in)
		got.Destructive = b.Behaviour.Destructive(in)
		got.OpenWorld = b.Behaviour.OpenWorld(in)
		assert.Equal(t, want, got, text)
		assert.Equal(t, text, b.Shape.Classifier(in), "the safety classifier sees the command")
	}
	beside := command(t, b, "ls")
	beside.Value = shell.BashIn{Command: "ls", DisableSandbox: true}
	assert.Equal(t, "ls", b.Shape.Classifier(beside), "there is no sandbox")
	confined := shell.Bash(shell.Deps{FS: afero.NewMemMapFs(), Sandbox: func(string) string { return "" }})
	assert.Equal(t, "outside the sandbox: ls", confined.Shape.Classifier(beside))
	assert.Equal(t, "ls", confined.Shape.Classifier(command(t, b, "ls")))
	assert.Equal(t, tool.Class{Search: true}, b.Behaviour.Class(command(t, b, "grep x a.go")))
	assert.Equal(t, tool.Class{Read: true}, b.Behaviour.Class(command(t, b, "cat a.go")))
	assert.Equal(t, tool.Class{List: true}, b.Behaviour.Class(command(t, b, "ls")))
}

func FuzzCommand(f *testing.F) {
	for _, seed := range []string{"ls", "cat <<X\ny\nX", "a=1 b > c", "cd ~ && cat *", "sed -e", "grep -- -e", "${x:-$(y)}", "for i in *; do cat $i; done"} {
		f.Add(seed)
	}
	b := shell.Bash(shell.Deps{FS: afero.NewMemMapFs()})
	f.Fuzz(func(t *testing.T, text string) {
		in := tool.Input{Value: shell.BashIn{Command: text}}.Reporting(func(member string, err error) { t.Error(member, err) })
		s := b.Subject(in, inRepo())
		readOnly, safe := b.Behaviour.ReadOnly(in), b.Behaviour.Safe(in)
		assert.False(t, safe && !readOnly, "what may run beside others only reads")
		assert.False(t, readOnly && !s.Shell.Known, "what does not parse is no reader")
		b.Behaviour.Effects(in, inRepo())
	})
}

// Git reads the configuration of the repository that it finds from where a link leads, and of a folder that is
// itself a bare repository.
func TestRepositoriesAreFoundBehindLinks(t *testing.T) {
	reads := func(text string, files ...string) bool {
		fs := afero.NewMemMapFs()
		for _, file := range files {
			require.NoError(t, afero.WriteFile(fs, file, nil, 0o644))
		}
		b := shell.Bash(shell.Deps{FS: fs, Resolve: func(p string) string {
			return path.Clean(strings.Replace(p, "/repo/link", "/repo/vendor/hooks", 1))
		}})
		in, c := command(t, b, text), inRepo()
		for _, p := range b.Subject(in, c).Shell.Parts {
			if !p.ReadOnly {
				return false
			}
		}
		return true
	}
	bare := []string{"/repo/.git/HEAD", "/repo/vendor/HEAD", "/repo/vendor/hooks/x", "/repo/sub/x"}
	for _, text := range []string{"git status", "git -C sub status", "cd sub && git -C .. status", "git -C sub/.. status"} {
		assert.True(t, reads(text, bare...), text)
	}
	for _, text := range []string{"git -C link status", "cd link && git status", "git -C link/.. status", "git -C vendor status"} {
		assert.False(t, reads(text, bare...), text)
	}
	assert.False(t, reads("git status", "/repo/HEAD", "/repo/config"), "the root is no work tree")
}

// The HEAD of a bare repository may be a link to a branch that is not there, and may lead there by any way.
func TestARepositoryIsFoundByALinkThatLeadsNowhere(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, name := range []string{".git", "plain", "bare", "away"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	require.NoError(t, os.Symlink("refs/heads/none", filepath.Join(dir, "bare/HEAD")))
	require.NoError(t, os.Symlink("refs/heads/none", filepath.Join(dir, "away/HEAD")))
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(dir, "away/refs")))
	disk, err := host.Open(host.Config{Root: dir, Write: true})
	require.NoError(t, err)
	defer disk.Close()
	b, c := shell.Bash(shell.Deps{FS: disk.FS, Resolve: disk.Resolve}), inRepo()
	c.State.Dir, c.State.Root, c.Roots = dir, dir, []string{dir}
	for folder, reads := range map[string]bool{".": true, "plain": true, "bare": false, "away": false} {
		for _, text := range []string{"git -C " + folder + " status", "cd " + folder + " && git status"} {
			parts := b.Subject(command(t, b, text), c).Shell.Parts
			assert.Equal(t, reads, !slices.ContainsFunc(parts, func(p permission.Part) bool { return !p.ReadOnly }), text)
		}
	}
	require.NoError(t, os.Remove(filepath.Join(dir, ".git")))
	require.NoError(t, os.Symlink("refs/heads/none", filepath.Join(dir, "HEAD")))
	require.NoError(t, os.Symlink("none", filepath.Join(dir, ".git")))
	assert.False(t, b.Subject(command(t, b, "git status"), c).Shell.Parts[0].ReadOnly, "a .git that leads nowhere is no repository")
}

// Where another shell than Bash may run commands, what such a shell would write is asked about.
func TestAPlainShellIsAskedAboutWhatItWrites(t *testing.T) {
	for plain, want := range map[bool]bool{false: true, true: false} {
		b := shell.Bash(shell.Deps{FS: afero.NewMemMapFs(), Plain: plain})
		in, c := command(t, b, "[[ a > f ]]"), inRepo()
		assert.Equal(t, want, b.Behaviour.ReadOnly(in))
		s := b.Subject(in, c).Shell
		assert.Equal(t, plain, slices.ContainsFunc(s.Parts, func(p permission.Part) bool { return !p.ReadOnly }))
	}
}

// A loop's variable without quotes is split at the blanks in a name, and its parts may be names elsewhere.
func TestANameWithBlanksIsSplitWithoutQuotes(t *testing.T) {
	for _, script := range []string{
		`for f in "x /etc"/*; do cat $f; done`, `for f in "x /etc"/*; do cat < $f; done`, "for f in 'x ../..'/*; do ls $f; done", "for f in x\\ /etc/*; do head -1 $f; done",
		"for f in odd/*; do cat $f; done", "for f in odd/*/*; do grep -r x $f; done", `for f in odd/*; do for g in $f; do cat "$g"; done; done`,
		`find "odd/b /etc" -type f | xargs cat`, `find "odd/b /etc" | xargs -I{} cat {}`, `find "odd/b /etc" -type f | sort | xargs head -1`,
		"for f in odd/*; do ls $f; done", "for f in odd/*/*; do echo $f; done", "for f in *; do for g in $f/*; do cat $g; done; done",
	} {
		assert.NotEqual(t, permission.Allow, decide(t, script), script)
	}
	for _, script := range []string{
		"for f in *.go; do cat $f; done", `for f in odd/*; do cat "$f"; done`, "for f in sub/*.go; do wc -l $f; done", "for f in *.go; do echo $f; done",
		`for f in "x y"/*; do cat "$f"; done`, `find "odd/b /etc" -type f -print0 | xargs -0 cat`, `find "odd/b /etc" -exec cat {} +`, "for f in sub/*; do ls $f; done",
	} {
		assert.Equal(t, permission.Allow, decide(t, script), script)
	}
}

// A sign of a pattern that is quoted is a character: the files that it names are not those that it would match.
func TestAQuotedSignIsNoPattern(t *testing.T) {
	for _, script := range []string{`cat ["o"]ut/link.txt`, `cat ['o'u]ut/link.txt`, `cat [""o]ut/link.txt`, `cat < ["o"]ut/link.txt`, `cd ["u"]p && cat ../x`, `cat [$'/']etc/shadow`, `for f in ["o"]ut/*; do cat "$f"; done`, `cat "odd/[ab]"/*`, `cat odd/\[ab]/*`, `cat 'odd/['ab]/l*`, `for f in "odd/[ab]"/*; do cat "$f"; done`, `x='odd/[ab]'; cat "$x"/*`, `cat 'odd\'/*`} {
		assert.NotEqual(t, permission.Allow, decide(t, script), script)
	}
	for _, script := range []string{"cat [ab].go", "cat sub/[a-z]*", `cat "sub"/*.go`, `cat "odd/x*"/l*`, `cat "odd/[ab]/l"`} {
		assert.Equal(t, permission.Allow, decide(t, script), script)
	}
}

// Names that end in NUL are cut at a line feed by what works line by line, and names are cut wherever xargs is told to.
func TestNamesAreCutByWhatKnowsNoNUL(t *testing.T) {
	for _, script := range []string{
		"find odd -print0 | sort | xargs -0 cat", "find odd -print0 | tail -1 | xargs -0 cat", "find odd -print0 | grep -av x | xargs -0 -I{} cat {}",
		"find sub -print0 | xargs -dx cat", "find sub | xargs -d x cat", "find sub -type f | xargs --delimiter=x head -1", "find sub | xargs -dx -I{} cat {}",
	} {
		assert.NotEqual(t, permission.Allow, decide(t, script), script)
	}
	for _, script := range []string{
		"find odd -type f -print0 | xargs -0 cat", "find sub -print0 | sort -z | xargs -0 cat", "find sub | sort | xargs -d '\\n' cat", "echo a,b | xargs -d, -n1 echo", "find sub -print0 | xargs -d '\\0' cat",
	} {
		assert.Equal(t, permission.Allow, decide(t, script), script)
	}
}

// What stands beside a loop's variable within quotes is part of the name: "$f/../.." is not in the folder of $f.
func TestANameIsAllThatStandsBesideALoopsVariable(t *testing.T) {
	for _, script := range []string{
		`for f in sub/*; do cat "$f/../../../etc/passwd"; done`, `for f in sub/*; do cat "/etc/$f"; done`, `for f in s*; do cat "../$f"; done`, `for f in sub/*; do cat "$f$g"; done`,
		`for f in sub/*; do cat "$g$f"; done`, `for f in sub/*; do cat < "$f/../../../x"; done`, `for f in sub/*; do grep -r x "$f/../../.."; done`, `for f in sub/*; do cat "$f"/../../../*; done`,
		`for f in sub/*; do cat "$f/"$'\x2e./../..'; done`, `for f in sub/*; do cat "$f"$"/../../.."; done`, `for f in sub/*; do echo "/etc/$f"/*; done`, `for f in sub/*; do for g in "$f/../../.."/*; do head -1 "$g"; done; done`,
		`for f in s*; do cat ~"$f"; done`, `for f in .*; do cat "$f/x"; done`, `for f in .*; do cat "sub/.$f/x"; done`, `for f in sub/*; do cat */"$f"; done`, `for f in sub/*; do cat $f/../../../x; done`,
		`for f in *; do sed -n p "$f"; done`, `for f in [-a]*; do sort "$f"; done`, `for f in +*; do less "$f"; done`, `for f in sub/*; do wait "$f"; done`, `for f in sub/*; do jq "$f; import \"x\" as y; ." a.go; done`,
	} {
		assert.NotEqual(t, permission.Allow, decide(t, script), script)
	}
	for _, script := range []string{
		`for f in s*; do cat "$f/c.go"; done`, `for f in sub/*; do sed -n 1,5p "$f"; done`, `for f in ./*.go; do sort "$f"; done`, `for f in */; do head -3 "${f}c.go"; done`, `for f in s*; do cat "./$f/c.go"; done`,
		`for f in s*; do cat "$f"/*.go; done`, `for f in s*; do for g in "$f"/*.go; do awk 'NR < 3' "$g"; done; done`, `for f in s*; do for g in c*; do cat "$f/$g.go"; done; done`, `for f in sub/*; do echo "== $f"; done`,
		`for f in s*; do diff "$f/c.go" a.go; done`, `for f in s*; do wc -l < "$f/c.go"; done`, `for f in "s"*; do cat "$f/[x]"; done`,
	} {
		assert.Equal(t, permission.Allow, decide(t, script), script)
	}
}

// A cd to .. behind a link leads up from where the link leads, wherever the folder that is spelled does not exist.
func TestACdBehindALinkLeadsUpFromWhereItLeads(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, dir := range []string{"sub/deep", "sub/x", "plain/x", "plain/y"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "sub/x/f"), []byte("secret"), 0o644))
	require.NoError(t, os.Symlink("sub/deep", filepath.Join(root, "up")))
	b := onDisk()
	decides := func(text string) permission.Behaviour {
		in, c := command(t, b, text), inRepo()
		c.State = c.State.WithDir(root)
		c.Roots = []string{root}
		rules, err := permission.Rules{}.Parse(permission.Project, permission.Deny, "Read(./sub/x/f)")
		require.NoError(t, err)
		q := permission.Query{Subject: permission.Subject{Tool: "Bash"}, Shell: b.Subject(in, c).Shell, Dir: root, Roots: c.Roots, ReadOnly: b.Behaviour.ReadOnly(in)}
		return permission.Resolve(permission.Inputs{Rules: rules, Query: q, CanAsk: true}).Behaviour
	}
	for _, text := range []string{
		"cd up/../x && cat f", "cd up/../x; head -1 f", "cd up && cd ../x && cat f", "cd ./up/.././x && sort f", "cd up/../x/ && grep secret f", "(cd up/../x; cat < f)", "cd up/..; cat x/f",
		"cd up && cat ../x/f", "cd sub && cd ../up/../x && cat f",
	} {
		assert.Equal(t, permission.Deny, decides(text), text)
	}
	for _, text := range []string{"cd up/../x && cat *", "cd up/../x && grep -r secret ."} {
		assert.NotEqual(t, permission.Allow, decides(text), text)
	}
	for _, text := range []string{"cd plain/../plain/x && ls *", "cd plain/x && cd ../y && ls .", "cd plain && cat x/../y/*", "cd plain/x && ls && cd ../y && ls && cd ../.. && ls plain"} {
		assert.Equal(t, permission.Allow, decides(text), text)
	}
}

// What names the folder that a script is in is read as that folder, and so is the one that it was in before.
func TestAFolderIsKnownByItsVariable(t *testing.T) {
	deny := ruled{mode: permission.Bypass, allow: []string{"Bash(cat:*)"}, deny: []string{"Read(./.env)"}}
	for _, text := range []string{
		"cat $PWD/.env", `cat "${PWD}/.env"`, "cat ~+/.env", "cat $(pwd)/.env", "cat `pwd`/.env", `cat "$(pwd)"/.env`, "cd prod && cat $OLDPWD/.env", "cd prod && cat ~-/.env",
		"cd prod && cd - && cat .env", "cd prod && cd .. && cat $PWD/.env", `x=$PWD; cat "$x/.env"`, "cd prod && cat $PWD/../.env", "(cd prod); cat $PWD/.env", "head $PWD/.env", "cat $PWD/*",
		"bash -c 'cat $PWD/.env'", "cd / && cd - && cat .env",
	} {
		assert.Equal(t, permission.Deny, deny.decide(t, text), text)
	}
	for _, text := range []string{
		"cat $PWD/f", `head -1 "$PWD"/prod/x`, "cd prod && cat ~-/f", "cd prod && cd - && cat f", "cat $(pwd)/f", "cd ~+/prod && cat x", "ls $PWD/prod", "grep -r x $PWD/prod",
	} {
		assert.Equal(t, permission.Allow, ruled{}.decide(t, text), text)
	}
	for _, text := range []string{
		"PWD=/etc; cat $PWD/shadow", "for PWD in /etc; do cat $PWD/shadow; done", "cd $x; cat $PWD/f", "cd $x; cat $OLDPWD/f", "cat $OLDPWD/f", "cat ~-/f", "cd - && cat f", "cd prod; cat $PWD/f",
		"cd prod; cd -; cat f", "cd prod && bash -c 'cat $OLDPWD/f'", "cd prod && env -i bash -c 'cat $OLDPWD/etc/shadow'", "f() { cd prod; }; f; cat $PWD/f", "for f in a b; do cat $PWD/f; cd prod; done",
		"sh -c 'cat ~+/f'", "dash -c 'cat ~-/f'", "cat $PWD/../etc/shadow", `cd -P prod && eval "ls $PWD"`, "cd $(pwd)/../etc && cat shadow", `cat "~+/f"/../../etc/shadow`,
	} {
		assert.NotEqual(t, permission.Allow, ruled{}.decide(t, text), text)
	}
}

// decidesIn gives what is decided of a command in a repository on the disk, with no rules.
func decidesIn(t *testing.T, root string) func(text string) permission.Behaviour {
	b := onDisk()
	return func(text string) permission.Behaviour {
		in, c := command(t, b, text), inRepo()
		c.State = c.State.WithDir(root)
		c.Roots = []string{root}
		q := permission.Query{Subject: permission.Subject{Tool: "Bash"}, Shell: b.Subject(in, c).Shell, Dir: root, Roots: c.Roots, ReadOnly: b.Behaviour.ReadOnly(in)}
		return permission.Resolve(permission.Inputs{Query: q, CanAsk: true}).Behaviour
	}
}

// Bash expands ~ behind = and : in a word that has the form of an assignment, wherever the word stands, and the name in front
// may be that of a link.
func TestAHomeBehindAnEqualsSignIsExpanded(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, name := range []string{"x=", "x=a:", "x+=", "x[0]=", "x=b"} {
		require.NoError(t, os.Symlink("/", filepath.Join(root, name)))
	}
	decides := decidesIn(t, root)
	for _, text := range []string{"cat x=~/.profile", "ls x=~", "cat x=a:~/.profile", "cat x+=~/f", "cat x[0]=~/f", `cat x=""a:~/f`, "cat {x=,y}~/f", "sh -c 'cat x=~/f'"} {
		assert.NotEqual(t, permission.Allow, decides(text), text)
	}
	for _, text := range []string{"cat x~/f", "cat --x=~/f", "cat a.x=~/f", "cat 1x=~/f", `cat x=\~/f`, `cat "x=~/f"`, "cat 'x'=~/f", "cat a:~", "grep -r x=~ ."} {
		assert.Equal(t, permission.Allow, decides(text), text)
	}
}

// A plain shell takes braces for a part of the name, which may be that of a link.
func TestAPlainShellHasNoBraces(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, name := range []string{"{a,b}", "{1..2}", "x{,.bak}"} {
		require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(root, name)))
	}
	for _, name := range []string{"a", "b", "c", "1", "2", "x", "x.bak"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), nil, 0o644))
	}
	decides := decidesIn(t, root)
	for _, text := range []string{"sh -c 'cat {a,b}'", "dash -c 'cat {1..2}'", "sh -c 'cat x{,.bak}'", "sh -c 'for f in {a,b}; do cat $f; done'", "sh -c 'cat {a,[b]}'"} {
		assert.NotEqual(t, permission.Allow, decides(text), text)
	}
	for _, text := range []string{"cat {a,b}", "bash -c 'cat {1..2}'", "sh -c 'cat {a,c}'", "sh -c 'cat a b'"} {
		assert.Equal(t, permission.Allow, decides(text), text)
	}
}

// A program that is started without the environment, or as somebody else, has another home, and some start elsewhere.
func TestAnotherHomeIsNotOurs(t *testing.T) {
	deny := ruled{mode: permission.Bypass, deny: []string{"Read(//etc/shadow)"}}
	for _, text := range []string{
		"env -i bash -c 'cat $HOME/etc/shadow'", "env -u HOME bash -c 'cat $HOME/etc/shadow'", "env --ignore-environment sh -c 'cat ~/etc/shadow'", "sudo bash -c 'cat ~/etc/shadow'", "sudo -i cat etc/shadow",
		"systemd-run -P cat etc/shadow", "sudo bash -c 'cd && cat etc/shadow'", "HOME=/; cd; cat etc/shadow", "gosu daemon sh -c 'cat ~/../etc/shadow'", "find . -execdir cat etc/shadow ';'",
	} {
		assert.NotEqual(t, permission.Allow, deny.decide(t, text), text)
	}
	for _, text := range []string{"env -i cat f", "env -u X bash -c 'cat f'", "bash -c 'cat $HOME/f'", "nice cat ~/f", "env -i cat f; cat ~/f", "systemd-run --scope cat f", "sudo cat f"} {
		assert.Equal(t, permission.Allow, deny.decide(t, text), text)
	}
}

// What find runs with -execdir runs in the folder of what was found.
func TestAnExecdirIsElsewhere(t *testing.T) {
	for _, script := range []string{`find sub -execdir cat c.go \;`, `find . -execdir head -1 link.txt \;`, `find sub -execdir ls .. \;`, `find sub -execdir git status \;`, `find sub -execdir grep -r x . +`} {
		assert.NotEqual(t, permission.Allow, decide(t, script), script)
	}
	for _, script := range []string{`find sub -exec cat a.go \;`, `find sub -execdir echo {} \;`, `find sub -execdir cat /repo/a.go \;`, `find sub -execdir pwd \; ; cat a.go`} {
		assert.Equal(t, permission.Allow, decide(t, script), script)
	}
}

// Before Bash 5.2 .* matches the folder above as well, and in other shells still.
func TestAPatternMayMatchTheFolderAbove(t *testing.T) {
	for _, script := range []string{
		"grep -r x .*", "cat .*/x", "ls .*", "du -sh .*", "cat .?/x", "cat .[!a]/x", "find .* -name x", `for f in .*; do ls "$f"; done`, "cat sub/.*/.*/x", "head -1 ..*/x", "cat .*/*",
		"grep -r x */..", "du sub/*/..", "find s*/.. -name x", "tree sub/?/../sub", `for f in */; do find "$f.." -name x; done`,
	} {
		assert.NotEqual(t, permission.Allow, decide(t, script), script)
	}
	for _, script := range []string{"cat .*", "cat .*rc", "du -sh .[!.]*", "ls -la .??*", "grep -r x .g*", "cat sub/.*/c.go", "ls */.*", "cat ./*/c.go", "cat .git*/*.md"} {
		assert.Equal(t, permission.Allow, decide(t, script), script)
	}
}

// What stands beside a variable is read once, however long it is: it took the square of it, minutes for a name of 100 kB.
func TestALongNameBesideAVariableIsReadOnce(t *testing.T) {
	for _, name := range []string{`"$f"` + strings.Repeat("/x", 100_000), `"` + strings.Repeat("$f/", 50_000) + `"`, `"$f"` + strings.Repeat("/.x*", 50_000)} {
		assert.NotEqual(t, permission.Allow, decide(t, "for f in sub/*; do cat "+name+"; done"))
	}
}

// Names that a command prints are bounded, but not what its errors quote where they are passed on as well, nor a count.
func TestWhatIsPassedOnBesideNamesIsNoName(t *testing.T) {
	for _, script := range []string{
		"LC_ALL=C find sub -user /etc/shadow 2>&1 | xargs cat", "find sub -user /etc/shadow |& xargs cat", "find sub -size /etc/shadow 2>/dev/stdout | xargs cat", "find sub -newermt /etc/shadow &>/dev/fd/1 | xargs cat",
		"rg --files --type=/etc/shadow 2>&1 | xargs cat", "ls sub 2>&1 | xargs -I{} cat {}", "find sub | sort |& xargs cat", "find sub |& sort | xargs cat", "find sub | uniq -c | xargs cat", "find sub | uniq -dc | xargs -I{} cat {}",
		"find sub | grep *.go | xargs cat", "find sub | grep [ab].go | xargs cat",
	} {
		assert.NotEqual(t, permission.Allow, decide(t, script), script)
	}
	for _, script := range []string{"find sub 2>/dev/null | xargs cat", "find sub | sort | xargs cat", "find sub | uniq -d | xargs cat", "find sub | grep '.*go' | xargs cat", "find sub 2>&1 | sort"} {
		assert.Equal(t, permission.Allow, decide(t, script), script)
	}
}
