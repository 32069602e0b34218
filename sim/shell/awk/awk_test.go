package awk_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/shell/awk"
)

func run(t testing.TB, program, in string, args ...string) (string, int, error) {
	t.Helper()
	p, err := awk.Parse(program)
	require.NoError(t, err, program)
	var out bytes.Buffer
	code, err := p.Run(context.Background(), awk.Options{Args: args, Stdin: strings.NewReader(in), Stdout: &out, Stderr: io.Discard})
	return out.String(), code, err
}

func TestPrograms(t *testing.T) {
	const table = "ann 3 x\nbob 10 y\ncat 7 x\n"
	for _, c := range []struct{ about, program, in, want string }{
		{"prints a field", `{print $2}`, table, "3\n10\n7\n"},
		{"compares input as numbers", `$2 > 5 {print $1}`, table, "bob\ncat\n"},
		{"counts distinct lines", `!seen[$3]++`, table, "ann 3 x\nbob 10 y\n"},
		{"sums in END", `{s += $2} END {print s, NR, s/NR}`, table, "20 3 6.66667\n"},
		{"walks arrays in a fixed order", `{n[$3] += $2} END {for (k in n) print k, n[k]}`, table, "x 10\ny 10\n"},
		{"walks numbers first, ascending", `BEGIN {a[10]; a[9]; a["b"]; a["a"]; for (k in a) printf "%s ", k}`, "", "9 10 a b "},
		{"rebuilds the record", `{$2 = "-"; print; print NF}`, "a b c\n", "a - c\n3\n"},
		{"grows the record", `{$5 = "e"; print}`, "a b\n", "a b   e\n"},
		{"NF can be cut", `{NF = 2; print}`, "a b c\n", "a b\n"},
		{"concatenates before comparing", `BEGIN {print 1 " " 2 < 3}`, "", "1\n"},
		{"substitutes", `{n = gsub(/o/, "[&]"); print n, $0}`, "foo boo\n", "4 f[o][o] b[o][o]\n"},
		{"ranges", `/b/,/c/`, "a\nb\nx\nc\nd\n", "b\nx\nc\n"},
		{"functions with array arguments", `function add(a, k) { a[k]++ } {add(n, $1)} END {print n["x"], length(n)}`, "x\nx\ny\n", "2 2\n"},
		{"recursion", `function f(n) { return n < 2 ? 1 : n * f(n-1) } BEGIN {print f(10)}`, "", "3628800\n"},
		{"exit from a function", `function f() { exit 3 } BEGIN {f(); print "no"} END {print "end"}`, "", "end\n"},
		{"printf", `BEGIN {printf "%5d|%-5s|%05.1f|%x|%c|%c|%%|%s\n", 42, "ab", 3.14159, 255, 65, "zed", 1e6}`, "", "   42|ab   |003.1|ff|A|z|%|1000000\n"},
		{"numbers print as C prints them", `BEGIN {print 0.1 + 0.2, 1e20, 100000 * 100000, 1/3, -0.5}`, "", "0.3 100000000000000000000 10000000000 0.333333 -0.5\n"},
		{"split, substr, index, match", `BEGIN {n = split("a:b:c", p, ":"); print n, p[3], substr("hello", 2, 3), index("abc", "c"), match("xxab", /ab/), RSTART, RLENGTH}`, "", "3 c ell 3 3 3 2\n"},
		{"getline in the middle", `NR == 1 {getline; print "got " $0}`, "a\nb\n", "got b\n"},
		{"paragraphs", `BEGIN {RS = ""} {print NR ": " $1 "-" $NF}`, "a b\nc\n\n\nd\ne\n", "1: a-c\n2: d-e\n"},
		{"regular expression separators", `BEGIN {FS = "[,;]+"} {print $2}`, "a,;b;c\n", "b\n"},
		{"do, while, continue", `BEGIN {do {i++; if (i == 2) continue; printf i} while (i < 4); while (i --> 0) printf i; print ""}`, "", "1343210\n"},
		{"ternary and power", `BEGIN {print 2^3^2, -2^2, (1 > 2 ? "a" : "b")}`, "", "512 -4 b\n"},
		{"in and delete", `BEGIN {a[1,2] = 3; print ((1,2) in a); delete a[1,2]; print length(a)}`, "", "1\n0\n"},
		{"escaped brackets", `{gsub(/[\/\]]/, "_"); print}`, "a/b]c\n", "a_b_c\n"},
		{"string escapes", `BEGIN {print "a\tb\\c\"\101"}`, "", "a\tb\\c\"A\n"},
		{"unset is empty and zero", `BEGIN {print x "" x + 0, length(x)}`, "", "0 0\n"},
		{"else after a semicolon", `{if ($1 > 1) print "big"; else print "small"}`, "1\n2\n", "small\nbig\n"},
		{"semicolons and newlines", "BEGIN {\n  x = 1 # one\n\n  if (x &&\n      x) { print \"ok\" }\n}\n", "", "ok\n"},
		{"uninitialised as number in comparison", `$3 == 0 {print NR}`, "a b\n", ""},
		{"division after a parenthesis is no pattern", `{print ($1 + $2) / 2 / 1}`, "4 6\n", "5\n"},
		{"gensub", `{print gensub(/(a)(b)/, "\\2\\1", "g")}`, "abab\n", "baba\n"},
	} {
		t.Run(c.about, func(t *testing.T) {
			got, _, err := run(t, c.program, c.in)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestWritingFailsWhereItIsNotProvided(t *testing.T) {
	for _, program := range []string{`BEGIN {print > "f"}`, `BEGIN {system("x")}`} {
		_, code, err := run(t, program, "")
		assert.Error(t, err)
		assert.Equal(t, 2, code)
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	for program, want := range map[string]string{
		"{print":            "unexpected end",
		"BEGIN {\n x = (1}": "line 2",
		"{f(1)}":            "never defined",
		"BEGIN { \"abc }":   "unterminated string",
		"{substr(1)}":       "wrong number of arguments",
	} {
		_, err := awk.Parse(program)
		require.Error(t, err, program)
		assert.Contains(t, err.Error(), want)
	}
}

func TestEndlessLoopStopsWithItsContext(t *testing.T) {
	p, err := awk.Parse("BEGIN {while (1) x++}")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = p.Run(ctx, awk.Options{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard})
	assert.ErrorIs(t, err, context.Canceled)
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{print $1}`, `BEGIN{for(i in a) delete a[i]}`, `function f(x){return x} /a/,/b/{getline y<"f"}`, `{a[$1,$2]++;print -x^2 y}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := awk.Parse(s)
		if err == nil && p == nil {
			t.Fatal("neither program nor error")
		}
	})
}
