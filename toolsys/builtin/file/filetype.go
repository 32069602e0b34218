package file

import (
	"maps"
	"slices"
	"strings"

	"toolbench/toolsys/tool"
)

// fileTypes gives the name globs of the file types that Grep takes, under the
// names that ripgrep gives them.
func fileTypes() map[string][]string {
	types := map[string][]string{}
	for line := range strings.Lines(typeTable) {
		words := strings.Fields(line)
		if len(words) > 1 {
			types[words[0]] = words[1:]
		}
	}
	return types
}

const typeTable = `
asm        *.asm *.s *.S
awk        *.awk
bazel      *.bazel *.bzl BUILD WORKSPACE
c          *.c *.h *.C *.H *.cats
clojure    *.clj *.cljc *.cljs *.cljx
cmake      *.cmake CMakeLists.txt
config     *.cfg *.conf *.config *.ini
cpp        *.cpp *.cc *.cxx *.hpp *.hh *.hxx *.h *.inl *.C *.H
cs         *.cs
css        *.css *.scss
csv        *.csv
cuda       *.cu *.cuh
dart       *.dart
docker     *Dockerfile* Containerfile
elixir     *.ex *.eex *.exs *.heex *.leex *.livemd
elm        *.elm
erlang     *.erl *.hrl
fish       *.fish
fortran    *.f *.F *.f77 *.f90 *.f95 *.F90
fsharp     *.fs *.fsx *.fsi
go         *.go
gradle     *.gradle *.gradle.kts
graphql    *.graphql *.graphqls
groovy     *.groovy *.gradle
h          *.h *.hh *.hpp
haskell    *.hs *.lhs *.cabal
html       *.htm *.html *.ejs
java       *.java *.jsp *.jspx *.properties
jl         *.jl
js         *.js *.jsx *.vue *.cjs *.mjs
json       *.json composer.lock *.sarif
jsonl      *.jsonl
julia      *.jl
jupyter    *.ipynb *.jpynb
kotlin     *.kt *.kts
less       *.less
lisp       *.el *.jl *.lisp *.lsp *.sc *.scm
log        *.log
lua        *.lua
make       [Gg][Nn][Uu]makefile [Mm]akefile *.mak *.mk
markdown   *.markdown *.md *.mdown *.mdwn *.mdx *.mkd *.mkdn
md         *.markdown *.md *.mdown *.mdwn *.mdx *.mkd *.mkdn
nix        *.nix
objc       *.h *.m
ocaml      *.ml *.mli *.mll *.mly
perl       *.perl *.pl *.PL *.plh *.plx *.pm *.t
php        *.php *.php3 *.php4 *.php5 *.php7 *.php8 *.phtml
proto      *.proto
protobuf   *.proto
ps         *.ps1 *.psm1 *.psd1 *.ps1xml
py         *.py *.pyi
python     *.py *.pyi
r          *.R *.r *.Rmd *.Rnw *.rmd
rb         *.gemspec *.rb *.rbw Gemfile Rakefile config.ru
ruby       *.gemspec *.rb *.rbw Gemfile Rakefile config.ru
rust       *.rs
sass       *.sass *.scss
scala      *.scala *.sbt
sh         *.bash *.sh *.zsh *.ksh *.csh .bashrc .bash_profile .profile .zshrc
sql        *.sql *.psql
svelte     *.svelte
svg        *.svg
swift      *.swift
tcl        *.tcl
terraform  *.tf *.tf.json *.tfvars *.tfvars.json
tex        *.tex *.ltx *.cls *.sty *.bib *.dtx *.ins
tf         *.tf *.tf.json *.tfvars *.tfvars.json
thrift     *.thrift
toml       *.toml Cargo.lock
ts         *.ts *.tsx *.cts *.mts
txt        *.txt
typescript *.ts *.tsx *.cts *.mts
vim        *.vim .vimrc
vue        *.vue
wasm       *.wat *.wast
xml        *.xml *.dtd *.xsl *.xslt *.xsd *.xjb *.rng *.sch *.xhtml
yaml       *.yaml *.yml
zig        *.zig
zsh        *.zsh .zshenv .zshrc .zprofile .zlogin
`

// checkType refuses a type that is not in the table.
func checkType(name string) *tool.Refusal {
	types := fileTypes()
	if _, exists := types[name]; exists || name == "" {
		return nil
	}
	names := slices.Sorted(maps.Keys(types))
	if near := nearest(name, names); len(near) > 0 {
		return refuse(CodeType, "There is no file type %q. Did you mean %s? Or use glob.", name, strings.Join(near, " or "))
	}
	return refuse(CodeType, "There is no file type %q. The types are: %s. Or use glob.", name, strings.Join(names, ", "))
}
