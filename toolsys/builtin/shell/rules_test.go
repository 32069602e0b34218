package shell_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// ruled are rules and a mode for commands in /repo.
type ruled struct {
	mode        permission.Mode
	allow, deny []string
}

// decide resolves a command as the permission layer would, with somebody to ask.
func (r ruled) decide(t testing.TB, text string) permission.Behaviour {
	t.Helper()
	fs := afero.NewMemMapFs()
	for _, file := range []string{"/repo/f", "/repo/.env", "/repo/.env.example", "/repo/bare/HEAD", "/repo/prod/x", "/etc/shadow"} {
		require.NoError(t, afero.WriteFile(fs, file, nil, 0o644))
	}
	return r.decideBy(t, shell.Bash(shell.Deps{FS: fs}), text)
}

// decideBy is decide for any tool that takes a command.
func (r ruled) decideBy(t testing.TB, b *tool.Tool, text string) permission.Behaviour {
	t.Helper()
	in, c := command(t, b, text), inRepo()
	q := permission.Query{Subject: permission.Subject{Tool: b.Name}, Shell: b.Subject(in, c).Shell, Dir: "/repo", Home: c.Home, Roots: c.Roots}
	q.ReadOnly = b.Behaviour.ReadOnly(in)
	q.Destructive = b.Behaviour.Destructive(in)
	q.OpenWorld = b.Behaviour.OpenWorld(in)
	rules, err := permission.Rules{}.Parse(permission.Project, permission.Allow, r.allow...)
	require.NoError(t, err)
	rules, err = rules.Parse(permission.Project, permission.Deny, r.deny...)
	require.NoError(t, err)
	return permission.Resolve(permission.Inputs{Rules: rules, Query: q, Mode: r.mode, Check: b.Permit(in, c), CanAsk: true}).Behaviour
}

// neverAllowed holds that commands run unasked neither in default nor in bypass mode.
func (r ruled) neverAllowed(t *testing.T, commands ...string) {
	t.Helper()
	for _, text := range commands {
		for _, r.mode = range []permission.Mode{permission.Default, permission.Bypass} {
			assert.NotEqual(t, permission.Allow, r.decide(t, text), "%s in %s", text, r.mode)
		}
	}
}

// What a program that is not known would have a shell do is forbidden as well, and asked about where it cannot be
// read. Nothing is asked where it can.
func TestATextForAShellIsReadBehindAnyProgram(t *testing.T) {
	r := ruled{mode: permission.Bypass, deny: []string{"Bash(rm *)"}}
	for text, want := range map[string]permission.Behaviour{
		"foo sh -c 'ls; rm x'": permission.Deny, "uv run --with y bash -ec 'r\\m x'": permission.Deny, "foo foo zsh -c ls": permission.Ask,
		"foo sh -c 'r$@m x'": permission.Ask, "./foo sh -c 'r${z}m x'": permission.Ask, "foo --shell=/bin/sh -- -c 'r$@m x'": permission.Ask,
		"mise exec -- python3 -c 'import os'": permission.Ask, "foo python sh -c 'r$@m x'": permission.Ask, "flock f -c 'r$@m x'": permission.Ask,
		"watch 'r$@m x'": permission.Ask, "npx -c 'r$@m x'": permission.Ask, "foo bash -c 'bar sh -c \"r\\$@m x\"'": permission.Ask,
		"foo sh -c 'ls x'": permission.Allow, "uv run pytest -c f": permission.Allow, "apt-get install python3 -y": permission.Allow,
		"poetry run bash -c 'pytest && ls'": permission.Allow, "gcc -c f": permission.Allow, "kubectl logs x -c sh": permission.Allow,
	} {
		assert.Equal(t, want, r.decide(t, text), text)
	}
}

// A rule that forbids a command forbids it with its options in any order, apart, together or by their other names, and
// with others between its words.
func TestARuleThatForbidsKnowsOptionsInAnyOrder(t *testing.T) {
	for rule, texts := range map[string][]string{
		"Bash(rm -rf *)": {
			"rm -rf x", "rm -fr x", "rm -r -f x", "rm -f -r x", "rm x -rf", "rm -r x -f", "rm -rfv x", "rm -Rf x", "rm --force --recursive x", "rm -r --force x",
			"rm --rec --fo x", "find . -exec rm -fr {} +", "env rm -fr x", "echo x | xargs rm -fr", "sudo -u me rm -r -f x",
		},
		"Bash(rm --recursive *)":         {"rm -r x", "rm -vR x", "rm --recursive x", "rm x --recursive"},
		"Bash(git push --force *)":       {"git push origin --force", "git push -f", "git push -v origin main --force", "git -C x push -v --force", "git push -vf", "git push --forc", "git push --force=x"},
		"Bash(git push -f:*)":            {"git push --force", "git push -vf origin", "git push origin main -f"},
		"Bash(git push *--force*)":       {"git push origin main --force", "git push -f", "git push --force-with-lease"},
		"Bash(git push * --force)":       {"git push origin main --force -v", "git push -f origin"},
		"Bash(git commit * --no-verify)": {"git commit -m x --no-verify", "git commit --no-verify -m x", "git commit -nm x"},
		"Bash(npm run deploy)":           {"npm run --silent deploy", "npm --prefix x run deploy", "npm run -- deploy"},
		"Bash(npm run deploy:*)":         {"npm run deploy", "npm --silent run deploy", "npm --prefix x run deploy"},
		"Bash(curl -X POST *)":           {"curl -X POST u", "curl u -X POST", "curl -s u -X POST", "curl --request POST u", "curl -XPOST u", "curl u --request=POST"},
		"Bash(curl -X DELETE *)":         {"curl -XDELETE u", "curl -s u -X DELETE"},
		"Bash(git branch -D *)":          {"git branch -D x", "git branch -d -f x", "git branch -fd x", "git branch x --force --delete", "git branch -Dr x"},
		"Bash(git branch -d *)":          {"git branch -D x", "git branch --delete x"},
		"Bash(git -c *)":                 {"git -c a=b log", "git --no-pager -c a=b status"},
		"Bash(npm run build *)":          {"npm run-script build", "npm rum build x", "npm --silent run-script build"},
		"Bash(npm install *)":            {"npm i x", "npm add x", "npm isntall x"},
		"Bash(kubectl delete pod *)":     {"kubectl delete po x", "kubectl -n x delete pods y"},
		"Bash(docker push *)":            {"docker " + strings.Repeat("-D ", 100) + "push x", "foo sh -c 'docker -H h push x'"},
		"Bash(docker rm -f *)":           {"docker rm -vf x", "docker rm x -f", "docker rm --force x", "docker container rm -f x", "docker -D container remove x --force"},
		"Bash(git push -f *)":            {"git --git-dir .git push --force", "git --work-tree . push x -f", "git --namespace n push -uf", "git push origin +main", "git push -u origin -- +HEAD:main", "git push --mirror x"},
		"Bash(git push --delete *)":      {"git push origin :main", "git push -d origin main", "git push --mirror x"},
		"Bash(git push origin main)":     {"git push origin HEAD:main", "git push origin +main", "git push -u origin x:refs/heads/main", "git push origin refs/heads/main"},
		"Bash(chmod 777 *)":              {"chmod a+rwx f", "chmod -R 0777 f"},
		"Bash(chmod +x *)":               {"chmod u+x f", "chmod -v a+x f"},
		"Bash(kill -9 *)":                {"kill -sKILL 1", "kill -SIGKILL 1", "kill -n9 1"},
		"Bash(git fetch --force *)":      {"git fetch origin +a:b"},
		"Bash(tar -x *)":                 {"tar xf f", "tar fx f", "tar xzf f", "tar --get -f f", "gtar -xf f"},
		"Bash(sed -i *)":                 {"sed -i.bak s/a/b/ f", "sed -Ei.bak s/a/b/ f", "sed --in-place=.b x f", "gsed -i x f", "sed -n -i~ p f"},
		"Bash(make deploy *)":            {"make x deploy", "make VAR=1 deploy", "make -j4 clean deploy", "gmake -C x deploy"},
		"Bash(make deploy)":              {"make x deploy", "make VAR=1 deploy", "make deploy VAR=1"},
		"Bash(mvn deploy *)":             {"mvn clean deploy", "mvn -q -DskipTests clean deploy"},
		"Bash(gradle publish *)":         {"gradle clean publish", "gradle -q clean test publish"},
		"Bash(cargo publish *)":          {"cargo +nightly publish", "cargo +1.80 publish x"},
		"Bash(pip install *)":            {"pip3 install x", "pip3 -q install x"},
		"Bash(awk *)":                    {"gawk x f", "mawk x f", "nawk x f"},
		"Bash(grep *)":                   {"egrep x f", "fgrep x f"},
	} {
		for _, text := range texts {
			assert.Equal(t, permission.Deny, ruled{mode: permission.Bypass, deny: []string{rule}}.decide(t, text), "%s: %s", rule, text)
		}
	}
}

// What does the same in a program's other words is forbidden with it.
func TestARuleThatForbidsKnowsWhatDoesTheSame(t *testing.T) {
	for rule, texts := range map[string][]string{
		"Bash(docker rm *)":             {"docker container rm x", "docker -D container rm -v x"},
		"Bash(docker container rm *)":   {"docker rm x"},
		"Bash(docker compose down *)":   {"docker-compose down -v", "docker-compose --ansi=never down"},
		"Bash(docker-compose down *)":   {"docker compose down -v", "docker-compose -f x down"},
		"Bash(kill -9 *)":               {"kill -s KILL 1", "kill -n 9 1", "kill -SIGKILL 1"},
		"Bash(kill -s KILL *)":          {"kill -9 1"},
		"Bash(npm run test *)":          {"npm test", "npm t -- x"},
		"Bash(yarn run deploy *)":       {"yarn deploy", "yarn deploy --prod"},
		"Bash(yarn deploy *)":           {"yarn run deploy x"},
		"Bash(git push --force *)":      {"git push origin +main", "git push +main:main", "git push --mirror x", "git -C x push -u origin +HEAD"},
		"Bash(cargo publish *)":         {"cargo +nightly publish", "cargo +stable publish --dry-run"},
		"Bash(gcloud sql delete *)":     {"gcloud beta sql delete x", "gcloud --project p alpha sql delete x"},
		"Bash(kubectl delete pod *)":    {"kubectl delete po/x", "kubectl -n y delete pods/x"},
		"Bash(terraform destroy *)":     {"terraform apply -destroy", "terraform apply -auto-approve -destroy", "terraform -chdir=x apply -destroy", "terraform apply --destroy"},
		"Bash(chmod 777 *)":             {"chmod 0777 x", "chmod 00777 x", "chmod u=rwx,g=rwx,o=rwx x", "chmod a+rwx x", "chmod -v ugo=rwx x"},
		"Bash(make deploy *)":           {"make build deploy", "make -j 4 -C x deploy", "gmake deploy"},
		"Bash(pip install *)":           {"pip3 install x", "pip3 -q install x", "python3 -m pip -q install x", "python -m pip --no-cache-dir install x", "pip3.11 install x", "pip-3.11 -q install x"},
		"Bash(pip3 install *)":          {"python3 -m pip -q install x", "python3.12 -m pip --quiet install x"},
		"Bash(go run *)":                {"go1.21 run x", "go1.21.5 -C x run ."},
		"Bash(gcc *)":                   {"gcc-12 x", "/usr/bin/gcc-12.2 -o x y"},
		"Bash(yarn publish *)":          {"yarn npm publish x", "yarnpkg publish x", "yarnpkg --silent npm publish", "yarn workspace a publish", "yarn workspaces foreach -A npm publish"},
		"Bash(pnpm publish *)":          {"pnpm recursive publish", "pnpm m publish --no-git-checks", "pnpm -F a publish"},
		"Bash(pnpm run deploy *)":       {"pnpm deploy", "pnpm -r deploy --prod"},
		"Bash(python manage.py *)":      {"python3 manage.py flush", "py manage.py flush", "python3.12 manage.py flush"},
		"Bash(python3 *)":               {"python a.py", "py a.py"},
		"Bash(gradle publish *)":        {"./gradlew publish", "./gradlew :a:publish", "gradlew.bat -q :publish"},
		"Bash(mvn deploy *)":            {"./mvnw -B deploy"},
		"Bash(npm config set *)":        {"npm set a=b", "npm c set a b"},
		"Bash(npm version *)":           {"npm verison major"},
		"Bash(npm rebuild *)":           {"npm rb"},
		"Bash(npm dedupe *)":            {"npm ddp"},
		"Bash(gh codespace delete *)":   {"gh cs delete x"},
		"Bash(gh extension install *)":  {"gh ext install a/b", "gh extensions install a/b"},
		"Bash(gh pr checkout *)":        {"gh pr co 1"},
		"Bash(gh auth token)":           {"gh auth status --show-token", "gh auth status -t"},
		"Bash(kubectl delete job *)":    {"kubectl delete jobs x", "kubectl -n y delete job/x"},
		"Bash(kubectl delete pvc *)":    {"kubectl delete persistentvolumeclaim x"},
		"Bash(kubectl delete sts *)":    {"kubectl delete statefulset x", "kubectl delete statefulsets -l x"},
		"Bash(git branch -m *)":         {"git branch -M x", "git branch --move x"},
		"Bash(git checkout -b *)":       {"git switch -c x", "git switch --create x"},
		"Bash(pnpm dlx *)":              {"pnpx x"},
		"Bash(yarn add *)":              {"yarn global add x"},
		"Bash(dnf install *)":           {"yum -y install x", "dnf in x"},
		"Bash(dpkg -i *)":               {"dpkg --install x"},
		"Bash(apt-get install *)":       {"aptitude -y install x"},
		"Bash(npm login)":               {"npm adduser"},
		"Bash(apt-get remove *)":        {"apt remove x", "apt -y remove x"},
		"Bash(helm uninstall *)":        {"helm delete x", "helm -n y un x"},
		"Bash(gh pr create *)":          {"gh pr new --fill"},
		"Bash(npx *)":                   {"npm exec x"},
		"Bash(git remote remove *)":     {"git remote rm x"},
		"Bash(docker volume remove *)":  {"docker volume rm x"},
		"Bash(composer require *)":      {"composer r x"},
		"Bash(docker image build -t *)": {"docker build -t x ."},
		"Bash(docker push *)":           {"docker build --push .", "docker buildx build -t x --push .", "docker compose push"},
		"Bash(docker exec *)":           {"docker-compose exec web ls"},
		"Bash(terraform destroy*)":      {"terraform apply -destroy", "terraform apply -destroy=true"},
		"Bash(gh auth token*)":          {"gh auth status -t", "gh config get oauth_token"},
		"Bash(gh repo delete*)":         {"gh api -X DELETE repos/a/b", "gh api repos/a/b -XDELETE", "gh api --method DELETE repos/a/b"},
		"Bash(gh pr merge:*)":           {"gh api -X PUT repos/a/b/pulls/1/merge"},
		"Bash(git checkout -- *)":       {"git checkout -q -- f", "git checkout HEAD -- f", "git -C . checkout -f -- f", "git restore f", "git restore -W -S f"},
		"Bash(git checkout -- .)":       {"git checkout HEAD -- .", "git checkout -- ./", "git checkout -- :/", "git restore .", "git restore --source=x ."},
		"Bash(git rebase:*)":            {"git pull --rebase", "git pull -r origin main", "git pull --rebase=merges"},
		"Bash(git branch -D:*)":         {"git update-ref -d refs/heads/x"},
		"Bash(git add .)":               {"git add ./", "git add :/", "git add ':(top)'", "git add '*'"},
		"Bash(git push * main)":         {"git push origin HEAD:main", "git push origin +main", "git push origin x:refs/heads/main"},
		"Bash(git push origin main*)":   {"git push origin dev main", "git push origin heads/main"},
		"Bash(kill -9:*)":               {"kill -kill 1", "kill -s kill 1", "kill -s sigkill 1"},
		"Bash(chmod +x*)":               {"chmod 755 f", "chmod -R 0775 f", "chmod +rx f"},
		"Bash(chmod 777*)":              {"chmod 1777 f", "chmod +rwx f", "chmod a+xwr f"},
		"Bash(dd if=*)":                 {"dd of=/dev/sda if=x", "dd bs=1 if=x of=y", "gdd of=x if=y"},
		"Bash(rm -rf *)":                {"grm -R --force x"},
		"Bash(rm -rf ~/*)":              {`rm -rf "$HOME"/x`, "rm -rf /home/me/x", "rm -r -f ~/x"},
		"Bash(rm -rf $HOME*)":           {`rm -rf "$HOME"`, "rm -rf ~", "rm -rf ${HOME}/x"},
		"Bash(sudo *)":                  {"doas ls", "sudo-rs ls", "run0 ls"},
		"Bash(rails db:drop*)":          {"rails db:create db:drop"},
		"Bash(find * -exec rm*)":        {"find . -execdir rm {} +", "find . -ok rm {} ';'", "find . -exec /bin/rm {} +"},
		"Bash(aws s3 rm*)":              {"aws s3 rb --force s3://x", "aws --profile p s3api delete-object --bucket x"},
		"Bash(vercel --prod*)":          {"vercel --target production", "vc --target=production"},
		"Bash(printenv*)":               {"env", "env -0", "set"},
		"Bash(env)":                     {"printenv", "declare -x", "export -p"},
		"Bash(shutdown:*)":              {"poweroff", "init 0", "systemctl poweroff", "/sbin/halt"},
		"Bash(reboot*)":                 {"shutdown -r now", "init 6"},
		"Bash(* > *)":                   {"echo x > f", "echo x >| f", "echo x &> f", "> f", "{ ls; } 2> f"},
		"Bash(* A=prod*)":               {"A=prod ls"},
		"Bash(npm install:*)":           {"npm it", "npm install-test"},
	} {
		for _, text := range texts {
			assert.Equal(t, permission.Deny, ruled{mode: permission.Bypass, deny: []string{rule}}.decide(t, text), "%s: %s", rule, text)
		}
	}
	for rule, texts := range map[string][]string{
		"Bash(docker rm *)":           {"docker container $x y", `docker "$x" rm y`, "docker container $@ y"},
		"Bash(docker-compose down *)": {`docker "$x" down`},
		"Bash(gh repo delete *)":      {"gh alias set p 'repo delete'", "gh alias import f"},
		"Bash(./deploy.sh *)":         {"$PWD/deploy.sh", "/repo/deploy.sh x", "bash deploy.sh", "cd .. && repo/deploy.sh"},
		"Bash(./scripts/a.sh *)":      {"scripts/a.sh", "cd scripts && ./a.sh", "sh scripts/a.sh"},
		"Bash(bash a.sh *)":           {"./a.sh", "sh ./a.sh x", "/repo/a.sh"},
		"Bash(python a.py flush *)":   {"./a.py flush", "uv run a.py flush", "uv run ./a.py flush"},
		"Bash(./a.py flush)":          {"python a.py flush", "uv run a.py flush"},
		"Bash(php artisan down *)":    {"./artisan down", "php ./artisan down", "sail artisan down"},
		"Bash(./gradlew publish *)":   {"gradle publish", "./gradlew :a:publish"},
		"Bash(bin/rails db:drop *)":   {"rails db:drop", "bundle exec rails db:drop"},
		"Bash(/bin/rm x)":             {"rm x", "rm -f x"},
		"Bash(git checkout -- .)":     {"git checkout .", "git checkout HEAD ."},
		"Bash(git checkout -- *)":     {"git checkout .", "git checkout f.go", "git checkout ./f", "git checkout 'src/*'", "git checkout --pathspec-from-file=f"},
		"Bash(git push origin main*)": {"git push --all origin", "git push --all", "git push origin :", "git push origin 'refs/heads/*'", "git push --mirr", "git push https://h/a/b main", "git push git@h:a/b HEAD:main"},
		"Bash(docker exec *)":         {"docker compose -f x exec web ls"},
		"Bash(pip install:*)":         {"uv run pip -q install x", "poetry run pip --no-cache-dir install x", "foo bar -- pip3 -q install x"},
		"Bash(rm -rf:*)":              {"npx rm -r -f x", "direnv exec . rm --recursive --force x", "adb shell rm -f -r x"},
		"Bash(git push --force*)":     {"cross-env A=1 git push origin -f", "rtk git -C x push x --force", "mise exec -- git push origin +main"},
		"Bash(prisma db drop*)":       {"npx prisma --schema x db drop", "pnpm exec prisma -v db drop"},
		"Bash(npx prisma db drop*)":   {"prisma db drop", "pnpm prisma db drop", "bunx prisma db drop", "node_modules/.bin/prisma db drop"},
		"Bash(uv run x.py drop*)":     {"poetry run x.py drop"},
		"Bash(cat *.env*)":            {"head .env", "cat < .env", "cp .env x", "tac .env.example"},
		"Bash(kill -9 *)":             {`kill -s "$x" 1`},
	} {
		for _, text := range texts {
			assert.Equal(t, permission.Ask, ruled{mode: permission.Bypass, deny: []string{rule}}.decide(t, text), "%s: %s", rule, text)
		}
	}
	for rule, texts := range map[string][]string{
		"Bash(docker rm *)":           {"docker container ls", "docker volume rm x", "docker compose rm x"},
		"Bash(git checkout -- .)":     {"git restore --staged .", "git restore -S .", "git checkout main", "git checkout -b x"},
		"Bash(git rebase:*)":          {"git pull", "git pull --ff-only"},
		"Bash(git push origin main*)": {"git push -u origin dev", "git push origin v1", "git push --tags origin dev"},
		"Bash(gh pr merge:*)":         {"gh api repos/a/b", "gh api -X POST repos/a/b/issues"},
		"Bash(printenv*)":             {"env A=1 ls", "set -e", "export A=1", "declare -A x"},
		"Bash(env)":                   {"set -euo pipefail"},
		"Bash(shutdown:*)":            {"init x", "systemctl status x"},
		"Bash(chmod +x*)":             {"chmod 644 f", "chmod -x f"},
		"Bash(cat *.env*)":            {"cat f", "ls", "ls *", "wc -l f"},
		"Bash(prisma db drop*)":       {"npx prisma --schema x generate", "npx prisma db push"},
		"Bash(pip install:*)":         {"uv run pytest -q install", "uv run pip -q list"},
		"Bash(* > *)":                 {"ls 2>/dev/null", "ls 2>&1"},
		"Bash(docker compose down *)": {"docker-compose up -d", "docker compose up down"},
		"Bash(kill -9 *)":             {"kill -s TERM 1", "kill 9", "kill -15 9"},
		"Bash(git push --force *)":    {"git push -u origin feature/x+y", "git push origin main", "git log +x"},
		"Bash(git commit -n *)":       {`git commit -m"note: x"`, "git commit -m 'a -n'"},
		"Bash(terraform destroy *)":   {"terraform plan -destroy", "terraform apply"},
		"Bash(make deploy *)":         {"make build", "make -j4 test", "make deploys"},
		"Bash(sed -i *)":              {"sed -n 1,5p f", "sed -e s/-i/x/ f"},
		"Bash(npm run test *)":        {"npm run build", "npm install test"},
	} {
		for _, text := range texts {
			assert.Equal(t, permission.Allow, ruled{mode: permission.Bypass, deny: []string{rule}}.decide(t, text), "%s: %s", rule, text)
		}
	}
}

// Where a word that is not literal, or one that is cut short, may be one of a rule's, the call is asked about.
// A star in front of a rule's program or options, or glued to them, takes nothing from what they forbid.
func TestAStarBesideARulesWordsLeavesThemWhatTheyAre(t *testing.T) {
	for rule, commands := range map[string][]string{
		"Bash(*git push*)": {"git --no-pager push x", "git -C . push x", "git -c a=b 'push'", "env git -C . push", "cp /usr/bin/git x", "bash -c 'git -C . push x'"},
		"Bash(*rm -rf *)":  {"rm -fr x", "rm x -r -f", "rm --recursive --force x"},
		"Bash(*--force*)":  {"git push -f", "git push --forc x", "git push -uf x", `git push "$x"`, "git push $x", "xargs git push < f", "rm -f x"},
		"Bash(* --force*)": {"git push -f x", `npm install "$1"`},
		"Bash(* --force)":  {"git push --force origin", "git push --fo''rce x", "sh -c 'git push --force x'", "git push {--force,x}"},
		"Bash(* -rf *)":    {"rm -fr x", "rm -r x -f"}, "Bash(git push*--force*)": {"git push -f", "git push --forc x", `git push "$x"`, "git -C . push x --force"},
	} {
		ruled{deny: []string{rule}}.neverAllowed(t, commands...)
	}
	for rule, commands := range map[string][]string{
		"Bash(*git push*)": {"git status", "git stash", "gitk", "git commit -m push", "git pull x"},
		"Bash(*--force*)":  {"git push x", "ls -f", "rm x", "git push origin 'for ce'", `ls "$x"`, "git status"},
		"Bash(* -rf *)":    {"rm -r x", "rm -f x"}, "Bash(git push*--force*)": {"git push x", "git fetch -f", "rm -f x"},
	} {
		for _, text := range commands {
			assert.Equal(t, permission.Allow, ruled{mode: permission.Bypass, deny: []string{rule}}.decide(t, text), "%s beside %s", text, rule)
		}
	}
}

func TestAWordThatMayBeWhatARuleForbidsIsAskedAbout(t *testing.T) {
	for rule, texts := range map[string][]string{
		"Bash(npm publish *)": {
			"npm $x", `npm "$x"`, `npm "$x" --tag y`, `npm pub"$x"`, "npm pub$x", "npm $(echo publish)", "npm pub*", "npm pub?ish", "npm [p]ublish", "echo publish | xargs npm",
			`f() { npm "$@"; }; f publish`, `sh -c 'npm "$0"' publish`, "read a <<< publish; npm $a", "npm ${x:-publish}", "npm pub", "npm publis", "npm --silent $x", "find publish -exec npm {} ';'",
		},
		"Bash(npm publish)":          {`npm "$x"`, "npm $x", "npm pub", `npm "$x" publish`},
		"Bash(npm run deploy)":       {`npm run "$x"`, "npm run $(echo deploy)", "npm run dep*", `npm run -s "$x"`, "npm run --prefix x deploy", `npm "$x" deploy`, "npm $x"},
		"Bash(kubectl delete pod *)": {"kubectl delete -n prod pod x", "kubectl delete $x", `kubectl delete -n prod "$x" y`},
		"Bash(rm -rf *)":             {"rm $x", `rm "$x" y`, `rm -r "$x" y`, `rm y "-r$x"`, `rm y "-$x"`, "echo x | xargs rm", "find . -print0 | xargs -0 rm"},
		"Bash(git push --force *)":   {"git push $x", `git push "$x" origin`, `git push origin "--$x"`, `git push -u origin "$x"`},
		"Bash(cat .env)":             {`cat "$1"`, "cat .e*", "cat *", "cat .[e]nv"},
	} {
		for _, text := range texts {
			assert.Equal(t, permission.Ask, ruled{mode: permission.Bypass, deny: []string{rule}}.decide(t, text), "%s: %s", rule, text)
			allowed := ruled{allow: []string{"Bash", "Bash(npm *)", "Bash(rm *)", "Bash(git *)"}, deny: []string{rule}}
			assert.Equal(t, permission.Ask, allowed.decide(t, text), "%s: %s", rule, text)
		}
	}
}

// Words are gone through once, however many options there are: with a pass for each of them, these took more than a minute.
func TestManyOptionsAreNoBurden(t *testing.T) {
	many := func(words string) string {
		return words + strings.Repeat(words[strings.LastIndex(words, " -"):], 20_000)
	}
	for text, want := range map[string]permission.Behaviour{
		many("docker -D"): permission.Allow, many("kill -s"): permission.Allow, "docker" + strings.Repeat(" container", 20_000): permission.Allow,
		many("git branch -d"): permission.Allow, many("git branch -f -d"): permission.Deny, many("git -x"): permission.Allow, many("rm -v"): permission.Allow, many("rm -f -r"): permission.Deny,
	} {
		decided := make(chan permission.Behaviour, 1)
		go func() {
			decided <- ruled{mode: permission.Bypass, deny: []string{"Bash(git branch -D *)", "Bash(rm -rf *)"}}.decide(t, text)
		}()
		select {
		case got := <-decided:
			assert.Equal(t, want, got, text[:16])
		case <-time.After(30 * time.Second):
			t.Fatal("it is still read: " + text[:16])
		}
	}
}

// A star behind a folder in a rule that permits is for what is in the folder.
func TestARuleThatPermitsAFolderEndsAtIt(t *testing.T) {
	for rule, texts := range map[string][]string{
		"Bash(./scripts/*)":       {"./scripts/../x", "./scripts/a/../../x y", `./scripts/".."/x`, "./scripts/.?/x", `./scripts/.\./x`},
		"Bash(node scripts/*)":    {"node scripts/../x.js", "node scripts/a ./b/../../c"},
		"Bash(bash .claude/x/*)":  {"bash .claude/x/../../y.sh"},
		"Bash(rm -rf ./build/*)":  {"rm -rf ./build/../src", "rm -rf ./build/{a,..}"},
		"Bash(mkdir -p /tmp/x/*)": {"mkdir -p /tmp/x/../y"},
	} {
		ruled{allow: []string{rule}}.neverAllowed(t, texts...)
	}
	for rule, text := range map[string]string{
		"Bash(./scripts/*)": "./scripts/a.sh ../x", "Bash(node scripts/*)": "node scripts/a.js -f ../../x", "Bash(./scripts/../*)": "./scripts/../x",
		"Bash(npm run x *)": "npm run x a/../b", "Bash(./gradlew *)": "./gradlew a/../b",
	} {
		assert.Equal(t, permission.Allow, ruled{allow: []string{rule}}.decide(t, text), "%s: %s", rule, text)
	}
}

// What a rule's words do not describe runs beside it.
func TestARuleThatForbidsLeavesOtherCommandsAlone(t *testing.T) {
	for rule, texts := range map[string][]string{
		"Bash(npm publish *)":            {`npm run "$x"`, "npm install $x", "npm test", "npm run publish", `npx tsc "$x"`, "npm --silent install"},
		"Bash(git branch -D *)":          {"git branch -d x", "git branch -f x y", "git branch -a", "git branch x"},
		"Bash(npm exec *)":               {"npm install xstate", "npm view express", "npm run executor"},
		"Bash(docker run *)":             {"docker logs runner", "docker inspect executor", "docker ps"},
		"Bash(git -c *)":                 {"git switch -c x", "git log -c", "git commit -c HEAD"},
		"Bash(rm -r f)":                  {"rm -r f g", "rm f", "rm -r g"},
		"Bash(npm run deploy)":           {`npm run test "$x"`, "npm run deploy2", "npm run"},
		"Bash(rm -rf *)":                 {"rm f", "rm -r f", "rm -f f", "rm -rv f", "rm -f -- -r", `rm "./$x"`, "find . -exec rm {} +", "find . -exec rm -f {} ';'", `for i in *.log; do rm "$i"; done`, "rm -f *.log"},
		"Bash(git push --force *)":       {"git push", "git push origin main", "git push -u origin main", "git push --force-with-lease", `git commit -m "$x"`, "git status"},
		"Bash(git commit *--no-verify*)": {`git commit -m "$(cat f)"`, `git commit -am "$x"`, "git commit --amend --no-edit"},
		"Bash(cat .env)":                 {"cat *.go", "cat f", "cat .env.example", `for f in *.go; do cat "$f"; done`},
		"Bash(go test -exec *)":          {"go test -race -count=1 ./...", "go vet -x ./..."},
		"Bash(docker run --privileged*)": {`docker build -t "$x" .`, "docker ps"},
		"Bash(git push -f *)":            {"git push origin main", "git push origin a:b", "git --git-dir .git push", "git commit -m +x"},
		"Bash(git push origin main)":     {"git push origin", "git push origin dev", "git push origin main:dev", "git push origin HEAD:mainly", "git push origin refs/tags/main"},
		"Bash(chmod 777 *)":              {"chmod 755 f", "chmod u+x f", "chmod go-w f"},
		"Bash(kill -9 *)":                {"kill 1", "kill -15 1", "kill -TERM 1", "kill -s TERM 1"},
		"Bash(make deploy *)":            {"make", "make test", "make -C x test", "make deployed"},
		"Bash(cargo publish *)":          {"cargo +nightly build", "cargo run publish", "cargo add +x publish"},
		"Bash(tar -x *)":                 {"tar cf x f", "tar tf x", "tar -cf x f"},
		"Bash(sed -i *)":                 {"sed -n s/i/j/ f", "sed -e i.bak f"},
		"Bash(pip install *)":            {"pip3 list", "pipx list", "python3 -m pip list", "python3 -m pytest install"},
		"Bash(go run *)":                 {"go1.21 test ./...", "go-1.21 version"},
		"Bash(sha *)":                    {"sha256sum f", "base64 f"},
		"Bash(./a.sh *)":                 {"git add a.sh", "cat a.sh", "chmod +x a.sh", "./b.sh", "shellcheck a.sh"},
		"Bash(python a.py flush *)":      {"python3 a.py migrate", "./a.py migrate", "git add a.py"},
		"Bash(yarn publish *)":           {"yarn workspace a build", "yarn add publish", "yarn workspaces list"},
		"Bash(./gradlew publish *)":      {"gradle build", "./gradlew :a:build"},
		"Bash(git checkout -- *)":        {"git checkout main", "git checkout -b x"},
		"Bash(find * -delete*)":          {`find . -name "$x"`, "find . -type d -newer f -empty"},
	} {
		for _, text := range texts {
			assert.Equal(t, permission.Allow, ruled{mode: permission.Bypass, deny: []string{rule}}.decide(t, text), "%s: %s", rule, text)
		}
	}
}

// A program that is given another name, by which it would run unseen, is asked about, as is one whose name is made when
// a launcher runs it.
func TestAForbiddenProgramIsFoundBehindOtherNames(t *testing.T) {
	r := ruled{mode: permission.Bypass, deny: []string{"Bash(npm publish *)"}}
	for text, want := range map[string]permission.Behaviour{
		"cp /usr/bin/npm y; ./y publish": permission.Ask, "ln -s /usr/bin/npm y && ./y publish": permission.Ask, "mv /usr/bin/npm y; ./y publish": permission.Ask,
		`ln -s "$(command -v npm)" y; ./y publish`: permission.Ask, "install $(which npm) y; ./y publish": permission.Ask, "dd if=/usr/bin/npm of=y; ./y publish": permission.Ask,
		"cat /usr/bin/npm > y; ./y publish": permission.Ask, "cat < /bin/npm >> y": permission.Ask, "tee y < /usr/local/bin/npm": permission.Ask,
		"cp /usr/bin/np? y": permission.Ask, "cat /usr/bin/[n]pm | dd of=y": permission.Ask, "cd /usr && cat bin/npm > /tmp/y": permission.Ask,
		"cat $(which npm) > y": permission.Ask, "f=npm; base64 /usr/bin/$f | base64 -d > y": permission.Ask, "PATH=/usr/bin:/bin npm ci": permission.Allow,
		"cat /usr/bin/npm": permission.Allow, "[ -x /usr/bin/npm ] && npm ci": permission.Allow, "test -x /usr/bin/npm && npm ci": permission.Allow,
		"[[ -x /usr/bin/npm ]] && npm ci": permission.Allow, "which npm && npm ci": permission.Allow, "command -v npm > /dev/null && npm ci": permission.Allow,
		"ls -l /usr/bin/npm > y": permission.Allow, "cat npm sub/npm > y": permission.Allow, "cat /usr/bin/npmx > y": permission.Allow, "grep -rn x /usr > y": permission.Allow,
		"rsync /usr/bin/npm y": permission.Ask, "ls -l /usr/bin/npm": permission.Allow, "which npm": permission.Allow, "rm -r bin/npm.old": permission.Allow,
		"npx npm@9 publish": permission.Ask, "npx -y npm@latest publish": permission.Ask,
		`fakeroot "$(printf 'np%s' m)" publish`: permission.Ask, `xvfb-run -a "$x" publish`: permission.Ask, "fakeroot npm publish": permission.Deny, "prlimit --nofile=9 npm publish": permission.Deny,
		"faketime now npm publish": permission.Deny, "numactl -C 0 npm publish": permission.Deny, "gosu me npm publish": permission.Deny, "dumb-init npm --silent publish": permission.Deny,
		"corepack npm -- publish": permission.Ask, "launch npm -- publish": permission.Ask, "bash -c +e 'npm publish'": permission.Deny, "sh -c +x 'npm publish'": permission.Deny, "bash -c -e 'npm publish'": permission.Deny,
		"wait -p 'a[$(npm publish)]' -n": permission.Ask, `wait -np "$x"`: permission.Ask,
		"NODE_OPTIONS='--import data:text/javascript,x' node y.js": permission.Ask, "NODE_OPTIONS=--max-old-space-size=4096 npm test": permission.Allow,
		"cp npm-debug.log x": permission.Allow, "mv a b": permission.Allow, "fakeroot make": permission.Allow, "xvfb-run -a npm test": permission.Allow, "wait -n": permission.Allow,
		"ls > npm.txt": permission.Allow, "tar -cf x.tar node_modules": permission.Allow,
	} {
		assert.Equal(t, want, r.decide(t, text), text)
	}
}

// What a command writes and then runs is a text like any other that it gives a shell: it is asked about beside rules
// that forbid, also where it is put together, and so is what other programs may run of it. So is a copy of all programs.
func TestWhatACommandWritesAndRunsIsAskedAbout(t *testing.T) {
	r := ruled{mode: permission.Bypass, deny: []string{"Bash(rm *)"}}
	for text, want := range map[string]permission.Behaviour{
		"echo 'rm f' > x.sh && chmod +x x.sh && ./x.sh": permission.Ask, "printf '%s' r 'm f' > x.sh; chmod +x x.sh; /repo/x.sh": permission.Ask,
		"tee d/x <<< 'r''m f'; d/x": permission.Ask, "sed -i '1s/^/r/' x.sh; ./x.sh": permission.Ask, "echo x > a; cp a d/; ./d/a": permission.Ask,
		"echo x > a; mv a b; ./b": permission.Ask, "echo x > a; ln -s a b; ./b": permission.Ask, "cd d && echo x > y && ../d/y": permission.Ask,
		"cat > x.py <<'E'\nimport os; os.unlink('f')\nE\npython3 x.py": permission.Ask, `cd "$d" && echo x > y.js && node y.js`: permission.Ask,
		"echo 'a: ; rm f' > Makefile; make a": permission.Ask, `echo '{"scripts":{"a":"rm f"}}' > package.json && npm run a`: permission.Ask,
		"cat > x.go <<'E'\nexec.Command(`rm`, `f`)\nE\ngo run x.go": permission.Ask,
		"find /bin -name 'r?' -exec cp {} x ';'":                    permission.Ask, "find / -path '/bin/r?' -exec ln -s {} x ';'": permission.Ask, "find /usr -name 'r[m]' | xargs -I{} cp {} x": permission.Ask,
		"ls /bin/r? | xargs -I{} cp {} x": permission.Ask, "ls /bin | grep '^r.$' | xargs -I{} ln -s /bin/{} x": permission.Ask,
		"git ls-files | xargs -I{} cp {} x/": permission.Allow, `cp "$x" "$y"`: permission.Allow,
		"rsync -a /bin/ b/": permission.Ask, "tar cf x.tar -C /usr/bin .": permission.Ask, "tar cf - /bin | tar xf -": permission.Ask, "zip -r x.zip /usr/local/bin": permission.Ask,
		"tar cf x.tar bin src": permission.Allow, "rsync -a bin/ b/": permission.Allow,
		"echo x > log; ./x.sh": permission.Allow, "./x.sh > log": permission.Allow, "chmod +x x.sh && ./x.sh": permission.Allow, "echo x > a; python3 b.py": permission.Allow,
		"echo x > Makefile; make a": permission.Allow, "python3 x.py > y.py": permission.Allow, "mkdir -p d && ./d/x": permission.Allow, "find . -name x -exec cp {} y ';'": permission.Allow,
		"cp -r /usr/share/x y": permission.Allow, "npm test 2>&1 > log": permission.Allow,
	} {
		assert.Equal(t, want, r.decide(t, text), text)
	}
}

// Beside a rule that forbids a file, other files are compared and listed unasked. What is not there is no folder.
func TestWhatDoesNotReachAForbiddenFileIsNotAskedAbout(t *testing.T) {
	r := ruled{mode: permission.Default, deny: []string{"Read(.env)"}}
	for _, text := range []string{"diff a b", "diff -u f g", "ls *.go", "git cat-file -t HEAD", "git cat-file -s HEAD:f", "bash -n f"} {
		assert.Equal(t, permission.Allow, r.decide(t, text), text)
	}
	r.neverAllowed(t, "diff . prod", "diff prod f", `diff "$x" f`, "diff ../a b", "diff f .", "diff .en* f", "diff -r prod bare", "ls -R .e*", "cat *.go .e*", "git cat-file -p HEAD", "git cat-file --batch -s", "git cat-file -t --batch", "bash -n .env",
		"ln -s . a; diff a f", "mkdir a; cp .e* a; diff a f")
}

// Npm 8 makes the folders that a project's .npmrc names, even where it only tells its version.
func TestTheVersionOfNpmIsAskedForBesideSettings(t *testing.T) {
	version := func(text string, files ...string) permission.Behaviour {
		fs := afero.NewMemMapFs()
		for _, file := range append(files, "/repo/f") {
			require.NoError(t, afero.WriteFile(fs, file, nil, 0o644))
		}
		return ruled{}.decideBy(t, shell.Bash(shell.Deps{FS: fs}), text)
	}
	assert.Equal(t, permission.Allow, version("npm -v"))
	assert.Equal(t, permission.Allow, version("node -v && npm --version", inRepo().Home+"/.npmrc"))
	assert.Equal(t, permission.Ask, version("npm -v", "/repo/.npmrc"))
	assert.Equal(t, permission.Ask, version("node -v; npm --version", "/.npmrc", "/repo/.npmrc"))
	assert.Equal(t, permission.Ask, version("cd sub && npm -v", "/repo/sub/.npmrc"))
	assert.Equal(t, permission.Allow, version("node -v", "/repo/.npmrc"))
}

// The name of a host is looked up on the network, which carries what stands in it away.
func TestANameOfAHostIsAskedAbout(t *testing.T) {
	for text, want := range map[string]permission.Behaviour{
		`lsof -i "@$(cat f).example"`: permission.Ask, "lsof -i @a.example": permission.Ask, "lsof -iTCP@a.example:80": permission.Ask, "lsof -i a.example": permission.Ask,
		"ss dst a.example": permission.Ask, "ss -t dst a.example:80": permission.Ask, "ss dst face": permission.Ask, "netstat -r a.example": permission.Ask,
		"lsof -nP -iTCP:80 -sTCP:LISTEN": permission.Allow, "lsof -ti :80": permission.Allow, "lsof f": permission.Allow,
		"ss -tulnp": permission.Allow, "netstat -tulpn": permission.Allow, "netstat -p tcp": permission.Allow, "ss -t state established dst 10.0.0.1:ssh": permission.Allow,
	} {
		assert.Equal(t, want, ruled{mode: permission.Default}.decide(t, text), text)
	}
}

// A file that a variable names to a program is one that it may read.
func TestAVariableNamesAFileToItsProgram(t *testing.T) {
	r := ruled{mode: permission.Bypass, deny: []string{"Read(./.env)", "Read(./prod/**)"}}
	for text, want := range map[string]permission.Behaviour{
		"GIT_CONFIG_GLOBAL=.env git config -l": permission.Deny, "env GIT_CONFIG_GLOBAL=./.env git config -l": permission.Deny,
		"GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=include.path GIT_CONFIG_VALUE_0=.env git config -l": permission.Deny,
		"GREP_OPTIONS=-f.env grep x f": permission.Deny, "TZ=:/repo/.env date": permission.Deny, "GIT_DIR=prod git status": permission.Deny,
		"HOME=. git config -l": permission.Ask, `A="$x" git config -l`: permission.Ask, "f=.env; A=$f git config -l": permission.Deny,
		"A=f git config -l": permission.Allow, "A=$((1+1)) git config -l": permission.Allow, "CI=1 LC_ALL=C GIT_PAGER=cat git config -l": permission.Allow,
	} {
		assert.Equal(t, want, r.decide(t, text), text)
	}
}

// An option that has a value on one system and none on another leaves open which word is a file, as do those that few
// know to name one.
func TestAFileBehindAnOptionIsBoundByRules(t *testing.T) {
	ruled{mode: permission.Bypass, deny: []string{"Read(./.env)"}}.neverAllowed(t, "join -i .env f", "gofmt -s .env", "pgrep -F .env",
		"pgrep --pidfile=.env", "pgrep -F.env x", "grep --context K .env", "fmt -p .env", "locate -d .env x", "locate -d x:.env y", "locate --database .env x",
		"iconv -f ./.env f", "iconv --to-code=./.env f", "grep --binary x .env", "jq -1 .env", "jq -1.5 .env", "column -iN .env", "column -i -s .env", "column --tree-id -s .env", "git diff -sO .env", "git log -wO.env", "nl -dw .env", "cat <> .env", "tee y 0<> .env", "head f -n .env", "awk 1 f -v .env", "POSIXLY_CORRECT=1 sort f -k .env", "strings -Tn .env", "sed -i.bak p .env", "sed -i p .env", "sed --in-place=b p f", "sed -i'x/*' p f")
	ruled{mode: permission.Bypass, deny: []string{"Edit(./b/**)"}}.neverAllowed(t, "sed -i'b/*' p f", "uniq f b/x", "uniq -c f b/x", "uniq $x", "git symbolic-ref ../b/x -", "uniq b/*", "uniq -c b/x*", "cat f | uniq - b/x")
	ruled{mode: permission.Bypass, deny: []string{"Read(.env)"}}.neverAllowed(t, "head -5c .env", "tail -5c .env", "head -5qc .env f", "head -12n .env f", "fold -1w .env f", "tac -s .env f", "tac --separator=.env f", "rg x -f=.env f", "rg -if=.env f")
	for _, text := range []string{"head -5c /etc/shadow", "tail -5n /etc/shadow", "rg -f=/etc/shadow f", "ls -w /etc", "ls -T /etc", "ls -I /etc", "pgrep -F /etc/shadow", "fmt -p /etc/shadow", "grep --context K /etc/shadow", "iconv -f /etc/shadow f", "cut f -d /etc/shadow", "column -iN /etc/shadow"} {
		assert.Equal(t, permission.Ask, ruled{}.decide(t, text), text)
	}
	for _, text := range []string{"join -i f g", "gofmt -s -d .", "pgrep -f x", "grep -rn --context 3 x .", "grep --context=3 x f", "fmt -p '>' f", "ls -w 80", "locate x"} {
		assert.Equal(t, permission.Allow, ruled{}.decide(t, text), text)
	}
}

// An allow rule covers everything a script does, or nothing of it.
func TestAnAllowRuleAllowsNothingBesideItsCommand(t *testing.T) {
	r := ruled{allow: []string{"Bash(npm run test)"}}
	r.neverAllowed(t,
		"[[ -v 'a[$(touch PWN)]' ]]; npm run test", "let 'a[$(touch PWN)]=1'; npm run test", `(( "a[\$(touch PWN)]" )); npm run test`,
		"for PATH in ./bin; do npm run test; done", "((PATH=1)); npm run test", "select x in a; do npm run test; done",
		"read x <<< 'a[$(touch PWN)]'; echo $((x)); npm run test", "printf -v x 'a[$(touch PWN)]'; [[ x -eq 0 ]]; npm run test",
		"for LD_PRELOAD in ./evil.so; do npm run test; done", "npm run test < /etc/shadow", "npm run test < /dev/tcp/127.0.0.1/9",
		"function npm { touch PWN; }; npm run test", "npm run test > PWN", "npm run test; touch PWN",
		"BASH_CMDS[npm]=./bin/npm; npm run test", "export PATH=./bin; npm run test", "npm run test & touch PWN", "npm run test; cat /etc/shadow",
		"set -k; npm run test PATH=./bin", "alias npm='touch PWN'; npm run test", "npm run test <(touch PWN)", "FOO_OPTIONS=x npm run test",
		"for npm_config_script_shell in ./evil.sh; do npm run test; done", ": {PATH}</dev/null; npm run test", "npm run test; coproc touch PWN",
	)
	for _, text := range []string{
		"npm run test", "npm  run   test", " npm run test ", "time npm run test", "npm run test; cat f", "cat f | npm run test",
		"npm run test 2>&1 | tail -5", "[ -f f ] && npm run test", "npm run test >/dev/null",
	} {
		assert.Equal(t, permission.Allow, r.decide(t, text), text)
	}
}

// What is not proved to only read does not run unasked, in default and plan mode.
func TestWhatIsNotProvedDoesNotRunUnasked(t *testing.T) {
	for _, text := range []string{
		"jobs -x touch PWN", "printf -v RANDOM 'a[$(touch PWN)]'", "for SECONDS in 'a[$(touch PWN)]'; do :; done", "read OPTIND <<< 'a[$(touch PWN)]'",
		"mapfile RANDOM < f", "select x in a; do :; done", "echo 'b[$(touch PWN)]'; echo $((_))", "read <<< 'b[$(touch PWN)]'; echo $((REPLY))",
		"mapfile <<< 'b[$(touch PWN)]'; echo $((MAPFILE))", "[[ 'b[$(touch PWN)]' =~ .* ]]; echo $((BASH_REMATCH))", "echo $((PWD))",
		"set -k; git diff GIT_EXTERNAL_DIFF=./evil.sh", "git -C bare status", "cd bare && git status", "(cd bare; git status)", "yarn -v", "cargo -V",
		"xxd f p", "tree -Lo 1 PWN", `find . "-$(echo delete)"`, `git log "--$(echo output=PWN)"`, `find . -name ""$(echo x -delete)`, "sort {'-o',PWN} f",
		`find -exec echo "$(echo \;)" -exec touch PWN \;`, "xargs --replace touch", "x=(['a[$(touch PWN)]']=1)", "BASH_CMDS[ls]=./evil.sh",
		"h=/dev/tcp/127.0.0.1/9; cat < $h", "XDG_CONFIG_HOME=./x git diff", "JAVA_TOOL_OPTIONS=-javaagent:x java -version", "NODE_OPTIONS=-r./x node -v",
		"git diff f /etc/shadow", "git diff /etc/shadow f", "git diff -- f /etc/shadow", "git diff --stat f ../etc/shadow", "git -C prod diff f ../../etc/shadow", "git diff f ~/.netrc",
		"ip addr add 10.0.0.1 dev lo", "ip -b f", "man ./f", "man -P ./p ls", "man -l f", "man --html=./p ls", "man \"$x\"", "mount f prod", "sysctl -w a=b", "sysctl a=b", "stty -echo", "dmesg -C",
		"jq --indent --arg . /etc/shadow", "jq --argfile --arg /etc/shadow . f", "jq . -- --arg /etc/shadow x", "jq \"$x\" --arg . /etc/shadow", "python3 -m json.tool f", "cargo --version", "tput reset", "docker ps -a x",
		"bat --pager='touch PWN' f", "bat --pager ./p f", "bat cache --build", "bat /etc/shadow", "yq -i .a=1 f", "yq eval -i .a=1 f", "yq .a=1 -i f", "yq 'load(\"/etc/shadow\")' f",
		"yq 'system(\"touch PWN\")' f", "yq . /etc/shadow", "yq $(echo -i) f", "yq -s .a f", "shuf -o PWN f", "shuf --output=PWN f", "nm --plugin=./x.so f", "nm @f", "objdump -d @f", "objdump -S f",
		"gzip f", "gzip -d f.gz", "gunzip f.gz", "gunzip -k f.gz", "gzip -cr .", "gzip -c /etc/shadow", "unzip a.zip", "unzip -lo a.zip", "unzip -p a.zip", "unzip -l '*.zip'", "docker inspect --type=x y", "docker logs ../x",
		"terraform version", "docker -H tcp://x ps", "pip show --log=x y", "pip list --log x", "systemctl status -H h", "systemctl restart x", "dpkg -i x", "getent hosts x", "apt-cache show -o x", "terraform -chdir=x version", "tokei -o json",
		"x=$(whoami)*; ls $x", "x=$(pwd)*; ls $x", "cat $(pwd)/../x", "pwd() { echo '/etc/*'; }; echo $(pwd)", "echo $(git rev-parse $x)", "DOCKER_CONFIG=. docker ps", "CI='a b' ls",
		"more -p '!touch PWN' f", "base64 *", "zgrep -r x prod", "ack x",
		"journalctl --cursor-file=PWN", "journalctl -n --cursor-file=PWN", "journalctl -b --rotate", "journalctl --vacuum-size=1M", "journalctl --file=/etc/shadow",
		"tar -t -f h:f", "tar --list -F ./evil.sh -f f", "gzip --decompress f", "gunzip --stdout /etc/shadow", "unzip -t x:y", "fd -x touch PWN", "dmesg --console-off",
		"dmesg --clear", "ip route add default", "ifconfig eth0 down", "sysctl vm.swappiness=1", "sort --compress-program=./evil.sh f", "docker diff ../x",
		"GIT_CONFIG_COUNT=1 git diff", "ls\rtouch PWN", "ls\u00a0x", "sed 'w PWN' f", "awk 'BEGIN{print 1>\"PWN\"}'", "echo x > PWN", "sh -c '[[ a > PWN ]]'",
	} {
		for _, mode := range []permission.Mode{permission.Default, permission.Plan} {
			assert.NotEqual(t, permission.Allow, ruled{mode: mode}.decide(t, text), "%s in %s", text, mode)
		}
	}
	plan := ruled{mode: permission.Plan, allow: []string{"Bash(touch *)"}}
	assert.Equal(t, permission.Deny, plan.decide(t, "touch PWN"), "plan mode writes nothing, whatever is allowed")
	for _, text := range []string{
		"[ -f x ]", "[ -f x ] && cat f", "basename $(pwd)", "ls $(pwd)", "echo in $(pwd)", "test -f x", "grep -rl x . | head -n 5 | xargs cat", "ls | grep -v 5 | tail -5 | xargs cat", "git ls-files | xargs cat", "[[ a =~ \\<(b|c)\\> ]]",
		"git diff main feature", "git diff HEAD~1 HEAD -- f", "git diff prod/x f", "git -C prod log", "git -C prod diff x ../f", "base64 -d f", "base64 -w0 f", "hexdump -C f", "hexdump --format='\"%d\"' f", "zcat f.gz", "zgrep -n x f.gz",
	} {
		assert.Equal(t, permission.Allow, ruled{}.decide(t, text), text)
	}
}

// A rule for a command of git does not let a repository that came with the files name programs; one that
// names its folder does, and one that lets git be configured anyhow.
func TestAnAllowRuleForGitIsForARepositoryThatIsTrusted(t *testing.T) {
	narrow := ruled{allow: []string{"Bash(git status:*)", "Bash(git log)", "Bash(git diff *)"}}
	for _, text := range []string{"cd bare && git status", "(cd bare; git log)", "cd bare; git diff f", `cd "$x" && git status`, "pushd bare; git status -s"} {
		assert.Equal(t, permission.Ask, narrow.decide(t, text), text)
	}
	for rule, text := range map[string]string{
		"Bash(git status:*)": "git status -s", "Bash(git commit:*)": "cd prod && git commit -m x", "Bash(git *)": "cd bare && git status", "Bash(git:*)": "cd bare && git log",
		"Bash(git -C bare status)": "git -C bare status", "Bash(git * -s)": "cd bare && git log -s", "Bash": "cd bare && git status",
	} {
		assert.Equal(t, permission.Allow, ruled{allow: []string{rule}}.decide(t, text), rule)
	}
}

// A deny rule binds what runs, not how it is spelt.
func TestADenyRuleIsNotGotRoundByItsSpelling(t *testing.T) {
	ruled{allow: []string{"Bash(git *)"}, deny: []string{"Bash(git push *)"}}.neverAllowed(t,
		"git 'push'", `git pu\sh`, "git p{us,}h", "git ${y:-push}", "git -C . push", "git --no-pager push", "git -c a=b push", "x=push; git $x",
		"git --git-dir=. push origin", "git -c alias.x='!git push' x",
	)
	ruled{allow: []string{"Bash(npm run *)"}, deny: []string{"Bash(npm run deploy)"}}.neverAllowed(t, "npm run 'deploy'", `npm run dep\loy`, "npm run deploy")
	ruled{deny: []string{"Bash(rm *)"}}.neverAllowed(t,
		"rm f", "$'rm' f", "{rm,-f,x}", "x=rm; $x f", "/bin/r? x", "env -S'rm x'", "bash -lc 'rm x'", "echo 'rm x' | sh", "sh <<< 'rm x'",
		"find . -exec sh -c 'rm x' \\;", "find . -ok rm {} \\;", "ls | xargs -I{} rm {}", "mise exec -- rm x", "awk 'BEGIN{system(\"rm x\")}'",
		"sudo rm x", "/bin/rm x", "FOO=1 rm x", "timeout 5 nice rm x", "arch -x86_64 rm x", "env A=1 rm x", "eval 'rm x'", "bash -c 'rm x'", "python3 -c 'import os'",
		"git grep -O'rm x' y", "git grep -nO'rm x' y", "git grep -nO./p y", "patch -e f <<< '!rm x'", "wget --conf=<(echo use_askpass=rm) u", "foo -nrm x", "foo -z/bin/rm x", "make -f - <<< 'a: ; rm x'", "npx rm x", "ls (; rm x", "rm\u00a0x", "(rm x)", "echo $(rm x)", "$\"rm\" x", "r$@m x", "source ./f", "unset 'a[$(rm x)]'",
	)
	ruled{deny: []string{"Bash(git add -A)"}}.neverAllowed(t, "git -C x add -A", "git add '-A'")
	ruled{deny: []string{"Bash(pip install *)"}}.neverAllowed(t, "python3 -m pip install x", "/usr/bin/python3.12 -m pip 'install' x")
	bypass := ruled{mode: permission.Bypass, deny: []string{"Bash(rm *)"}}
	for _, text := range []string{"touch x", "echo rm x", "git commit -m 'rm x'", "grep rm f", "go test ./...", "npm run build", "git rm f"} {
		assert.Equal(t, permission.Allow, bypass.decide(t, text), text)
	}
}

// A rule about files binds commands (F5).
func TestARuleAboutFilesBindsWhatCommandsTouch(t *testing.T) {
	ruled{deny: []string{"Read(/repo/.env)"}}.neverAllowed(t,
		"cat .env", "grep -r x .", "rg x", `echo "$(<.env)"`, "git show HEAD:.env", "cat *", "cat .en?", "cat sub/../.env", `cat "$(echo .env)"`, "cp .env x", "cat {.env,f}",
		"while read l; do echo $l; done < .env", "source .env", "diff f .env", "find . -name x -exec cat {} +", "wc -l --files0-from=.env", "x=.env; cat $x", "make",
	)
	ruled{deny: []string{"Edit(/repo/prod/**)"}}.neverAllowed(t,
		"echo > prod/n", "sed -i s/a/b/ prod/x", "cp f prod/", "cp f prod", "tee prod/x", "mv f prod/y", "rm prod/x", "rm -r prod", "ln -s f prod/l", "touch prod/n", "cd prod && touch n", "install f prod/x",
	)
	// Names that a pattern, an escape, an option cut short or a folder stands for, and what git prints of files.
	ruled{deny: []string{"Read(/repo/.env)"}}.neverAllowed(t,
		"sh -c 'x=a; x=nv :; cat .e$x'", "dash -c 'x=a; x=nv set --; cat .e$x'", "sh -c 'x=a; x=nv unset y; cat .e$x'",
		"cat .e[[:alpha:]]v", "cat .[[.e.]]nv", "cat $'.env\\0x'", "cat $'.\\545nv'", "cat //proc/self/cwd/.env", "cat //repo/link", "cat /dev/fd/3/.env 3< .", "cat /dev/fd/?/.env 3< .",
		"date -f .env", "git tag -F .env x", "git branch --foo=.env", "grep -d recurse x .", "grep -drecurse x", "grep --directories=recurse x", "grep --dir=recurse x .", "grep --rec x", "grep --fil=.env f",
		"grep --fi .env f", "wc --files0-f=.env", "du --files0=.env", "diff . sub", "diff f .", "diff . f", "diff s* .", "git status -v", "git status --verbose", "git reflog show -p",
		"git log --binary", "git log --check", "hexdump --format-file=.env f", "hexdump --format-fi=.env f", "base64 -i.env", "base64 -Di.env", "base64 --inp=.env", "cat .ENV", "cat .eN?",
	)
	ruled{deny: []string{"Read(/repo/Prod/**)", "Read(s.gz)"}}.neverAllowed(t, // from each of its folders git shows the files of all others
		"cd sub && git show HEAD:prod/x", "(cd sub; git log -p)", "git -C sub grep x -- ..", "git -C sub -C deep cat-file -p HEAD:prod/x", "cd sub && git status -v", "cd sub && git reflog show -p",
		"git -C prod diff --no-index x /repo/f", "zcat s", "zgrep x s", "zcat < s.gz", "cat PROD/x", "gzip -l s", "gzip --list s", "xxd s.gz", "tar tf prod/x",
	)
	ruled{mode: permission.Bypass, deny: []string{"Read(.env)", "Edit(/repo/prod/**)"}}.neverAllowed(t, "sed -i 'r .env' f", "sed -i -e '1r .env' f", "sed -i ':a w prod/x' f",
		`export x=.e{nv,f}; cat "$x"`, `declare x={.envf,.env}; cat "$x"`, `readonly x={.env,}; cat "$x"`, `typeset x=a{.,/../.}env; cat "$x"`, `x={.env,.env}; export x; cat $x`,
		"cat .env\\", "cat 'x\n' .env\\",
		"cp ./*", "cp f ./*", "cp lin* sub", "grep -r x lin*", "cp -r l?nk x", "mv ./*", "install ./*", "ln ./*", "cd sub && ln ../.env", "cd sub; ln -s ../.env", "cd prod; ln -sf /repo/f/x")
	ruled{deny: []string{"Read(/repo/sub/g)"}}.neverAllowed(t, "grep -r *", "egrep -rb -E * x", "rg s*")
	ruled{deny: []string{"Edit(/repo/prod/**)"}}.neverAllowed(t, "cp --parents ../prod/x sub/l", "ln -s prod l && echo > l/x", "ln prod/x y; echo > y", "ln -s . l; touch l/prod/x")
	both := ruled{mode: permission.Bypass, deny: []string{"Read(.env)", "Edit(/repo/prod/**)"}}
	for _, text := range []string{
		"cat f", "cat .env.example", "touch x", "echo hi > x", "cat prod/x", "rm -r other", "git status", "diff f .env.example", "diff -u prod/x f", "cp f g", "grep --inc='*.go' x f",
		"git reflog show", "git log --stat", "cat $'f\\x2ego'", "date -d now", "gzip -l f", "xxd -s 1 f", "tar tf f", "sum f",
	} {
		assert.Equal(t, permission.Allow, both.decide(t, text), text)
	}
	assert.Equal(t, permission.Deny, both.decide(t, "cat .env"), "a file that is named is denied, not asked about")
}

// A pattern is no file that it cannot match.
func TestAPatternIsNoFileThatItCannotMatch(t *testing.T) {
	r := ruled{mode: permission.Default, deny: []string{"Read(./.env)", "Read(./.env.*)", "Read(./secrets/**)"}}
	for _, text := range []string{"cat s?b/*.md", "head sub/*.go", "cat prod/[a-z]*", "grep -rn x sub", "find sub -name '*.go' | xargs wc -l", "for f in prod/*; do cat $f; done"} {
		assert.Equal(t, permission.Allow, r.decide(t, text), text)
	}
	r.neverAllowed(t, "cat *", "cat .*", "cat .e*", "cat */*", "cat s*/x", "cat ?e*/x", "cat {s,t}*/x", "cat **/x", "cat sub*/../.env", "cat [.]env", "cat ENV~1", "cat *~1/x", "grep -r x s*",
		"cat prod/../.e*", "shopt -s dotglob; cat *", "cat s[e/]*", "cat **/**/**/**/**/x", "cat *c*r*t*/x")
}

// What git shows of names alone, or of the paths behind -- alone, is no forbidden file's.
func TestGitShowsNoFileBesideItsPaths(t *testing.T) {
	r := ruled{mode: permission.Default, deny: []string{"Read(.env)", "Read(./prod/**)"}}
	for _, text := range []string{"git diff --stat", "git diff --name-only HEAD", "git diff --cached --numstat", "git diff -- f", "git diff HEAD -- f .env.example", "git diff --cached -- f"} {
		assert.Equal(t, permission.Allow, r.decide(t, text), text)
	}
	r.neverAllowed(t, "git diff", "git diff f", "git diff --stat -p", "git diff --stat --patch-with-stat", "git diff --stat --cc", "git diff -- .", "git diff -- ':(top)'", "git diff -- ':!f'", "git diff -- '*'",
		"git diff -- f .env", "git diff -- sub", "git diff -- prod/x", "git diff HEAD:.env f -- f", "git diff --no-index --stat f .env", "git diff --no-index -- f .env", "git show --stat HEAD:.env", "git diff -S -- main",
		"git diff --output -- f", "git log -p", "git log -p --", "git log -p --follow -- f", "git diff -- $x", "git diff -- sub/../.env", "git -C prod diff -- x", "git show -- f", "git diff --stat -O.env")
}

// Who lists a folder reads no file in it. What a folder has that is forbidden as a whole is not shown.
func TestAListOfNamesReadsNoForbiddenFile(t *testing.T) {
	named := ruled{mode: permission.Default, deny: []string{"Read(.env)", "Read(./.env.*)"}}
	whole := ruled{mode: permission.Default, deny: []string{"Read(./prod/**)"}}
	for _, text := range []string{"ls", "ls -la", "ls -R", "ls . | head", "find . -name '*.go' -type f", "tree -a", "du -sh .", "fd go"} {
		assert.Equal(t, permission.Allow, named.decide(t, text), text)
	}
	for _, text := range []string{"ls", "ls -la .", "ls | wc -l"} {
		assert.Equal(t, permission.Allow, whole.decide(t, text), text)
	}
	named.neverAllowed(t, "ls .env", "ls *", "find . -exec cat {} +", "find . -type f | xargs cat", "ls -A | xargs cat", "cat $(ls -A)", "ls -A | while read f; do cat $f; done",
		"find . -newer .env", "du -X .env", "du --exclude-f=.env", "fd . -X cat", "eza f .env", "for f in $(find .); do cat $f; done")
	whole.neverAllowed(t, "ls prod", "ls -R", "ls --recurs", "find .", "tree", "du -a", "fd x", "ls PROD", "cd prod && ls", "ls ./sub/../prod/", "ls /repo/*", "ls PROD~1", "find sub/.. -ls")
}

// A deny rule finds its program behind options that run one, cut short or not, in variables that programs run, behind
// git's aliases, under another name of the same program, and given a new one.
func TestADenyRuleFindsWhatOtherProgramsRun(t *testing.T) {
	ruled{deny: []string{"Bash(rm:*)"}}.neverAllowed(t,
		"sort --compress-program=rm f", "sort --compress-prog=rm f", "sort --compress-p rm f", "rg --hostname-bin rm x", "ag --page=rm x",
		"split --filter='rm $FILE' f", "apt-get update -o APT::Update::Pre-Invoke::='rm x'", "ip netns exec n rm x", "pip --python rm x",
		"wget --use-ask=rm u", "mount -t fuse 'rm#x' /mnt", "git grep --open=rm x", "git fetch --upload-pa=rm .", "git merge-index rm -a",
		"git rebase -ix 'rm f' HEAD", "git clone -u rm .", "git config alias.x '!rm f'",
		"git config core.fsmonitor $'r\\x6d f' user.email; git status", "git config set core.pager $'r\\x6d f' user.name", "git log --format=%GK",
		"foo -a "+strings.Repeat("-a ", 100)+"rm f", "git config core.pager ./p", "git x", "git remote-ext x 'rm f'",
		"GIT_SSH_COMMAND='rm x' git fetch", "LESSOPEN='|rm %s' less f", "GIT_EXTERNAL_DIFF=rm git diff", "EDITOR='rm x' git commit",
		"env PAGER=./p git -p log", "env EDITOR=$'r\\x6d f' git commit", "VISUAL=$'r\\x6d f' crontab", "OWN=$'r\\x6d' ./run", "watch $'r\\x6d' f", "watch r{m,} f",
		"ln -s /bin/rm ./y", "cp /bin/rm y; ./y f", "mv /usr/bin/rm y", "install /bin/rm y", "RM f", "rm.exe f", "/bin/Rm f",
		// Interpreters by a release, by a name in other letters, and of a script that is no file; sed likewise.
		"python3.12 -c $'r\\x6d'", "python3.13t -c x", "python3 -m timeit -s x", "python3 -m $X", "python3 -m pytest <<< x", "python3 -m pip --python ./e x", "python -m pylint --init-hook x", "/usr/bin/perl5.36.0 -e x", "lua5.4 -e x", "bash-5.2 -c x", "Python.exe -c x", "echo x | ash", "echo x | busybox.static sh", "ts-node -e x",
		"cat f | python /dev/stdin", "cat f | node //dev/../proc/self/fd/0", "cat f | ruby ../../dev/fd/0", "cat f | sed -f - g", "cat f | sed -nf /dev/stdin g", "sed --file=<(cat f) g", "sed -f x -f - g < f", "sed -f \"$x\" g",
		// Addresses that git reaches by a command.
		"git fetch 'ext::sh -c r% m'", "git ls-remote ext::x", "git archive --remote=ext::x HEAD", "git remote add o ext::x; git fetch o", "git pull foo::x",
	)
	ruled{deny: []string{"Bash(git push:*)"}}.neverAllowed(t,
		"git x", "git-push", "/usr/lib/git-core/git-push", "git.exe push", "GIT push", "git send-pack .", "git subtree push", "git http-push u",
		"git config alias.x push", "git config --global alias.x push", "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0=push git x",
		// Programs and interpreters by folders of their own, also as Windows writes them, and in other letters.
		`'C:\Git\bin\git.exe' push`, `C:\\Git\\git push`, `'.\git' push`, `env '/c/Git\git.exe' push`, "/opt/bin/git x", "Git x", "git.exe -c alias.x=y x",
		"/opt/bin/bash -c 'y=push; git $y'", "/opt/bin/bash x.sh", ".venv/bin/python -c x", "/opt/bin/node -e x", "/opt/bin/find . -exec git x ';'",
		"/c/Windows/System32/cmd.exe //c 'git p^ush'", `'C:\Windows\System32\cmd.exe' /c x.bat`, "/opt/bin/pwsh -enc eA==", "/opt/bin/gawk 'BEGIN { system(\"git pu\" \"sh\") }'",
		// Programs that run a text of their words, in which the command's name need not stand.
		`rpm --eval '%("$(printf gi)"t push)'`, `fzf --preview 'eval "$y"'`, `certbot certonly --pre-hook 'eval "$y"'`, `openvpn --up 'eval "$y"'`, `bat --pager 'eval "$y"' f`,
		`dbus-send --session 'array:string:gi""t'`, `busctl call a b c d 'gi""t'`, `bpftrace -e 'BEGIN { system("g" "it") }'`, `schtasks.exe /run /tn a`, `/opt/bin/fzf --bind 'start:execute(eval "$y")'`,
		"make --eval=$y", "rg --pre=$(cat f) x", "docker exec$y", "make --e$y",
	)
	ruled{deny: []string{"Read(.env)"}}.neverAllowed(t, "mv .env y", "cat /dev/fd/../cwd/.env", "cat /proc/self/cwd/.env", "cat /proc/1/root/repo/.env", "cd /proc/self; cat cwd/.env", "strings @list", "install .env y")
	r := ruled{mode: permission.Bypass, deny: []string{"Bash(rm:*)", "Bash(git push:*)"}}
	for _, text := range []string{
		"git commit -m 'say rm'", "git config user.name x", "git config set user.name x", "git config -f c user.name x", "git pull --rebase", "git checkout -b x", "git stash push", "git clone u", "git status",
		"git config --get x.y", "FOO=1 npm test", "NODE_ENV=test npm run test", "cp a b", "mv a b", "ln -s a b", "sort -u f", "split -l 5 f", "pip install x",
		"apt-get install -y x", "rg rm src", "PAGER=cat git log", "docker ps", "systemctl status x", "python3.12 x.py", "python3 -m pytest -q", "python -m unittest a.b", "python ./dev/x.py", ".venv/bin/python x.py", "./gradlew build", "node_modules/.bin/eslint .", "/opt/bin/git status", "./run git status", "rpm -q git", "fzf -m", "make x", "certbot renew", "bat f", "sed -f x.sed f", "git log -S std::x", "git fetch origin a:b",
	} {
		assert.Equal(t, permission.Allow, r.decide(t, text), text)
	}
}

// A program that PowerShell passes its words on to reads as it does for Bash, and is bound by the same rules.
func TestRulesBindProgramsOfPowerShell(t *testing.T) {
	pwsh := shell.PowerShell(shell.Deps{FS: afero.NewMemMapFs()})
	for _, script := range []string{"git status", "git log --oneline -5", "git diff main | Select-Object -First 3", "node --version; whoami", "rg -n x f"} {
		assert.Equal(t, permission.Allow, ruled{}.decideBy(t, pwsh, script), script)
	}
	assert.Equal(t, permission.Deny, ruled{deny: []string{"PowerShell(git log *)"}}.decideBy(t, pwsh, "git log -1"))
	for _, script := range []string{"git -C bare status", "git diff f /etc/shadow", "rg x /etc", "git show HEAD:f --output=x", "git push", "jq . /etc/shadow"} {
		assert.Equal(t, permission.Ask, ruled{}.decideBy(t, pwsh, script), script)
	}
	for _, script := range []string{"git show HEAD:.env", "rg x", "jq . .env", "git log -p"} {
		assert.NotEqual(t, permission.Allow, ruled{mode: permission.Bypass, deny: []string{"Read(.env)"}}.decideBy(t, pwsh, script), script)
	}
}

// A rule against a cmdlet binds it in any case, by any alias and with its parameters in any order and length, and
// whatever may run it by another program or name is asked about. Other commands are not held up.
func TestRulesBindPowerShellHoweverItIsWritten(t *testing.T) {
	pwsh := shell.PowerShell(shell.Deps{FS: afero.NewMemMapFs()})
	for deny, wanted := range map[string]map[permission.Behaviour][]string{
		"PowerShell(remove-Item *)": {
			permission.Deny: {"REMOVE-ITEM x", "ri x", "RM x", "rm.exe x", "sudo rm x", "env rm x", "nohup rm x", "bash -c 'rm x'", "Get-Date; del x"},
			permission.Ask: {"nal zz ri; zz x", "ipal a.txt", "Set-Item alias:zz ri; zz x", "New-Item -Path Alias: -Name zz -Value ri", "sc function:zz 'ri x'", "r 1",
				"pwsh -c 'ri x'", "pwsh -EncodedCommand cgBpACAAeAA=", "PowerShell.exe x", "cmd /c 'del x'", "x.ps1", "x.bat", "python -c x", "& ri x", "$x = 'ri'; & $x y",
				"return ri x", "THROW ri x", "Get-Date; exit del x", "return Remove-Item x"},
			permission.Allow: {"Get-Date", "git status", "npm test", "Clear-Item x", "New-Item x", "gci | select Name", "git log | sort"},
		},
		"PowerShell(Remove-Item -Recurse *)": {
			permission.Deny:  {"Remove-Item x -Recu -Fo", "rm -force -r x", "Remove-Item -Path x -RECURSE", "ri -Recurse:1 x"},
			permission.Allow: {"Remove-Item x", "Remove-Item -Force x"},
		},
		"PowerShell(Remove-Item x)":       {permission.Ask: {"gci | ri", "Get-Content a | Remove-Item"}, permission.Allow: {"ri y"}},
		"PowerShell(Get-Content *)":       {permission.Deny: {"content x", "Content -Path x", "gc x"}, permission.Allow: {"item x", "contents x"}},
		"Read(f*)":                        {permission.Deny: {"gc f"}, permission.Ask: {"gc '`f*'", "gc 'x,`f?'", "content f"}, permission.Allow: {"gc 'x'"}},
		"PowerShell(Set-ItemProperty *)":  {permission.Deny: {"sp x y z", "Set-itemproperty x"}},
		"PowerShell(Invoke-WebRequest *)": {permission.Deny: {"curl x", "IWR x", "wget x"}},
	} {
		for want, scripts := range wanted {
			for _, script := range scripts {
				assert.Equal(t, want, ruled{mode: permission.Bypass, deny: []string{deny}}.decideBy(t, pwsh, script), "%s: %s", deny, script)
			}
		}
	}
}

// Who allows a builtin that changes the shell has not allowed what is read where that has led, or by the name that it has set.
func TestAnAllowedBuiltinLeavesLessKnown(t *testing.T) {
	r := ruled{allow: []string{"Bash(pushd *)", "Bash(popd *)", "Bash(shopt *)", "Bash(printf *)", "Bash(getopts *)"}, deny: []string{"Read(./prod/x)"}}
	r.neverAllowed(t,
		"pushd prod; cat x", "pushd prod && cat x", "(pushd prod; cat x)", "cd prod; pushd ..; popd; cat x", "command pushd prod; cat x", "builtin pushd prod; cat x", "pushd prod >/dev/null; cat x",
		`f=f; printf -vf prod/x; cat "$f"`, `f=f; o=$(echo -vf); printf $o prod/x; cat "$f"`, `f=f; g() { cat "$f"; }; printf -vf prod/x; g`, `f=f; shopt -s lastpipe; echo prod/x | read f; cat "$f"`,
		"shopt -so posix; ls", "shopt -s expand_aliases; ls", "shopt -s cdable_vars; f=prod; cd f; cat x", `f=prod/x; shopt -s failglob; echo q*; f=f; cat "$f"`, `shopt -s $x; ls`, `f=f; getopts ab f; cat "$f"`, `f=f; getopts "$x" $y; cat "$f"`,
	)
	for _, script := range []string{"pushd prod; echo x; popd", "pushd prod; cat /repo/f", "shopt -s nullglob; ls", "shopt -s globstar nullglob; cat f", "printf %s x; cat f", `f=f; getopts ab g; cat "$f"`} {
		r.mode = permission.Bypass
		assert.Equal(t, permission.Allow, r.decide(t, script), script)
	}
}

// Who allows find has not allowed what it runs, whatever else stands among its words.
func TestAnAllowedFindRunsNothingUnasked(t *testing.T) {
	ruled{allow: []string{"Bash(find *)"}}.neverAllowed(t,
		`find . -exec rm {} \;`, `find ./$d -exec rm {} \;`, `find . -name $x -exec rm {} \;`, `find . -foo -exec rm {} \;`, `find . -delete -exec touch y \;`, `find . -fprint z -exec rm {} +`,
		`find . -exec echo $x {} \; -exec rm {} \;`, `find . -exec "$x" \; -exec rm {} \;`, `find $d -ok rm {} \;`, `find ./$d -exec head -1 {} \;`,
	)
	ruled{allow: []string{"Bash(find *)"}, deny: []string{"Read(/etc/**)"}}.neverAllowed(t, `d=$(echo ../etc); find "sub/$d" -exec cat {} \;`, `find sub/$d -exec cat {} +`, `find -files0-from f -exec cat {} +`, `find -exec cat {} + -files0-from f`, `find -f /etc -exec cat {} +`, `find . -follow -type f -exec cat {} +`)
	ruled{deny: []string{"Read(./prod/**)"}}.neverAllowed(t, `for f in d*; do find "pro$f" -exec cat {} \;; done`, `for f in d*; do find "pro$f" -type f -exec head -1 {} +; done`)
	for _, text := range []string{`find . -delete`, `find . -name "$x" -exec cat {} \;`, `find ./$d -name x`, `find prod -fprint z -exec cat f \;`} {
		assert.Equal(t, permission.Allow, ruled{allow: []string{"Bash(find *)"}}.decide(t, text), text)
	}
}
