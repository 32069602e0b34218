package shell

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// runCut is cut (-b LIST | -c LIST | -f LIST) [-d CHAR] [-s] [FILE...]
func runCut(p *proc, o options) int {
	mode := o.last("b", "c", "f")
	if mode == "" {
		return p.fail(exitFailure, "you must specify a list of bytes, characters, or fields")
	}
	list, err := parseRanges(o.get(mode, ""))
	if err != nil {
		return p.fail(exitFailure, "%v", err)
	}
	delimiter := o.get("d", "\t")
	if len(delimiter) != 1 || mode != "f" && o.has("d", "s") {
		return p.fail(exitFailure, "the delimiter must be a single character, and like -s is for fields")
	}
	return p.inputs(o.rest, func(_ string, in *bufio.Reader) error {
		return eachLine(in, func(line string, _ bool) error {
			switch {
			case mode != "f":
				line = cutBytes(line, list)
			case strings.Contains(line, delimiter):
				line = cutFields(line, delimiter, list)
			case o.has("s"):
				return nil
			}
			return p.print(line + "\n")
		})
	})
}

// cutBytes keeps the chosen bytes: in the C locale a character is one.
func cutBytes(line string, list positions) string {
	var b strings.Builder
	for i := range len(line) {
		if list.contains(i + 1) {
			b.WriteByte(line[i])
		}
	}
	return b.String()
}

func cutFields(line, delimiter string, list positions) string {
	var kept []string
	for i, field := range strings.Split(line, delimiter) {
		if list.contains(i + 1) {
			kept = append(kept, field)
		}
	}
	return strings.Join(kept, delimiter)
}

type positions [][2]int

func (r positions) contains(i int) bool {
	return slices.ContainsFunc(r, func(x [2]int) bool { return i >= x[0] && i <= x[1] })
}

// parseRanges reads N, N-, N-M and -M, separated by commas.
func parseRanges(s string) (positions, error) {
	var out positions
	for part := range strings.SplitSeq(s, ",") {
		low, high, isRange := strings.Cut(part, "-")
		a, okA := natural(low)
		b, okB := natural(high)
		switch {
		case !isRange:
			b, okB = a, okA
		case low == "" && okB:
			a, okA = 1, true
		case high == "" && okA:
			b, okB = math.MaxInt32, true
		}
		switch {
		case !okA || !okB:
			return nil, fmt.Errorf("invalid field value '%s'", part)
		case a == 0:
			return nil, errors.New("fields are numbered from 1")
		case b < a:
			return nil, errors.New("invalid decreasing range")
		}
		out = append(out, [2]int{a, b})
	}
	return out, nil
}

// runUniq is uniq [-cdiu] [INPUT [OUTPUT]]
func runUniq(p *proc, o options) int {
	if len(o.rest) > 2 {
		return p.usage("extra operand '%s'", o.rest[2])
	}
	lines, code := p.lines(o.rest[:min(1, len(o.rest))])
	if code != 0 {
		return code
	}
	key := func(line string) string { return line }
	if o.has("i") {
		key = capitals
	}
	var out strings.Builder
	for i, n := 0, 0; i < len(lines); i += n {
		n = 1
		for i+n < len(lines) && key(lines[i+n]) == key(lines[i]) {
			n++
		}
		if o.has("d") && n == 1 || o.has("u") && n > 1 {
			continue
		}
		if o.has("c") {
			fmt.Fprintf(&out, "%7d ", n)
		}
		out.WriteString(lines[i] + "\n")
	}
	if len(o.rest) < 2 || o.rest[1] == "-" {
		return p.printed(out.String())
	}
	if err := p.Files.WriteFile(o.rest[1], []byte(out.String())); err != nil {
		return p.failure(o.rest[1], err)
	}
	return 0
}

// toCapitals has the letters of the C locale, which are those of ASCII.
var toCapitals, _ = build(options{}, []byte("abcdefghijklmnopqrstuvwxyz"), []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))

func capitals(s string) string { return string(toCapitals.apply([]byte(s))) }

// runTr is tr [-cds] SET1 [SET2]; works on bytes, as in the C locale.
func runTr(p *proc, o options) int {
	t, err := newTranslation(o)
	if err != nil {
		return p.fail(exitFailure, "%v", err)
	}
	in, err := io.ReadAll(p.Stdin)
	if err != nil {
		return p.failure("-", err)
	}
	return p.printed(string(t.apply(in)))
}

type translation struct {
	remove, squeeze [256]bool
	to              [256]byte
}

func newTranslation(o options) (*translation, error) {
	needs := 2
	if o.has("d") != o.has("s") {
		needs = 1
	}
	if len(o.rest) < needs || len(o.rest) > 2 || o.has("d") && !o.has("s") && len(o.rest) > 1 {
		return nil, fmt.Errorf("missing or extra operand: %s", strings.Join(o.rest, " "))
	}
	set1, err := trSet(o.rest[0], -1)
	if err != nil {
		return nil, err
	}
	if o.has("c") {
		set1 = complement(set1)
	}
	var set2 []byte
	if len(o.rest) == 2 {
		if set2, err = trSet(o.rest[1], len(set1)); err != nil {
			return nil, err
		}
	}
	return build(o, set1, set2)
}

func build(o options, set1, set2 []byte) (*translation, error) {
	t := &translation{}
	for i := range t.to {
		t.to[i] = byte(i)
	}
	if o.has("d") {
		mark(&t.remove, set1)
	} else if set2 != nil {
		if len(set2) == 0 {
			return nil, fmt.Errorf("when not truncating set1, string2 must be non-empty")
		}
		for i, c := range set1 {
			t.to[c] = set2[min(i, len(set2)-1)]
		}
	}
	if o.has("s") {
		if set2 == nil {
			set2 = set1
		}
		mark(&t.squeeze, set2)
	}
	return t, nil
}

func mark(set *[256]bool, list []byte) {
	for _, c := range list {
		set[c] = true
	}
}

func (t *translation) apply(in []byte) []byte {
	out := make([]byte, 0, len(in))
	for _, c := range in {
		if t.remove[c] {
			continue
		}
		c = t.to[c]
		if t.squeeze[c] && len(out) > 0 && out[len(out)-1] == c {
			continue
		}
		out = append(out, c)
	}
	return out
}

func complement(set []byte) (out []byte) {
	for i := range 256 {
		if !slices.Contains(set, byte(i)) {
			out = append(out, byte(i))
		}
	}
	return out
}

// trRepeat matches [c*n].
var trRepeat = regexp.MustCompile(`(?s)^\[(\\[0-7]{1,3}|\\.|[^\\])\*([0-9]{0,4})\]`)

// trSet expands ranges, classes, escapes and, in a second set, [c*n]; [c*] makes it as long as the first.
func trSet(s string, first int) ([]byte, error) {
	out := []byte{} // not nil: a set that is given and empty
	for i := 0; i < len(s); {
		if m := trRepeat.FindStringSubmatch(s[i:]); m != nil {
			i += len(m[0])
			c, _ := trChar(m[1])
			n, _ := strconv.Atoi(m[2])
			if first < 0 || n == 0 && i < len(s) {
				return nil, errors.New("only string2 may repeat a character, and at its end as often as needed")
			}
			if n == 0 {
				n = max(first-len(out), 0)
			}
			out = append(out, bytes.Repeat([]byte{c}, n)...)
			continue
		}
		if class, n := trClass(s[i:]); n > 0 {
			if class == nil {
				return nil, fmt.Errorf("invalid character class '%s'", s[i+2:i+n-2])
			}
			out = append(out, class...)
			i += n
			continue
		}
		c, n := trChar(s[i:])
		i += n
		if i+1 < len(s) && s[i] == '-' {
			d, m := trChar(s[i+1:])
			if d < c {
				return nil, fmt.Errorf("range-endpoints of '%s' are in reverse collating sequence order", s[i-n:i+1+m])
			}
			for x := int(c); x <= int(d); x++ {
				out = append(out, byte(x))
			}
			i += 1 + m
			continue
		}
		out = append(out, c)
	}
	return out, nil
}

func trChar(s string) (c byte, n int) {
	if s[0] != '\\' || len(s) == 1 {
		return s[0], 1
	}
	if i := strings.IndexByte(`abfnrtv\`, s[1]); i >= 0 {
		return "\a\b\f\n\r\t\v\\"[i], 2
	}
	n = 1
	for n < 4 && n < len(s) && s[n] >= '0' && s[n] <= '7' {
		c = c*8 + s[n] - '0'
		n++
	}
	if n == 1 {
		return s[1], 2
	}
	return c, n
}

// trClass reads [:name:]; n is 0 if there is none, the set nil if it is unknown.
func trClass(s string) (set []byte, n int) {
	if !strings.HasPrefix(s, "[:") {
		return nil, 0
	}
	end := strings.Index(s, ":]")
	if end < 2 {
		return nil, 0
	}
	in, ok := charClasses[s[2:end]]
	if !ok {
		return nil, end + 2
	}
	for c := range rune(128) {
		if in(c) {
			set = append(set, byte(c))
		}
	}
	return set, end + 2
}

// charClasses are the POSIX classes of the C locale. It is read only.
var charClasses = map[string]func(rune) bool{
	"alpha": unicode.IsLetter, "digit": unicode.IsDigit, "lower": unicode.IsLower, "upper": unicode.IsUpper,
	"alnum":  func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) },
	"space":  unicode.IsSpace,
	"blank":  func(r rune) bool { return r == ' ' || r == '\t' },
	"punct":  func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) },
	"print":  unicode.IsPrint,
	"graph":  func(r rune) bool { return unicode.IsPrint(r) && r != ' ' },
	"cntrl":  unicode.IsControl,
	"xdigit": func(r rune) bool { return unicode.Is(unicode.ASCII_Hex_Digit, r) },
}
