package secret

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

//go:embed patterns.yaml
var patternsFile []byte

// table is the content of patterns.yaml, where its members are described.
type table struct {
	Keys      []vendor
	Labels    map[demand][]string
	Others    []string
	IDs       []string `yaml:"ids"`
	Words     []string
	Variables []string
	Examples  []string

	trusts   map[string]demand // by label
	examples map[string]bool
}

// data is the same for all finders.
var data = sync.OnceValue(func() *table {
	t := &table{trusts: map[string]demand{}, examples: map[string]bool{}}
	dec := yaml.NewDecoder(bytes.NewReader(patternsFile))
	dec.KnownFields(true)
	if err := dec.Decode(t); err != nil {
		panic("secret: patterns.yaml: " + err.Error()) // a test reads it
	}
	for trust, labels := range t.Labels {
		for _, label := range labels {
			t.trusts[label] = trust
		}
	}
	for _, key := range t.Examples {
		t.examples[key] = true
		for part := range strings.SplitSeq(key, ".") {
			t.examples[part] = true
		}
	}
	return t
})

// vendor is a kind of key that its beginning gives away.
type vendor struct {
	Kind     string
	Prefixes []string
	run      `yaml:",inline"`
	// Before stand in front of the prefix, within more of them if they are inside.
	Before *struct {
		run    `yaml:",inline"`
		Inside bool
	}
	When []condition
}

// run are signs in a row; a max of 0 is no bound.
type run struct {
	Signs    byteSet
	Min, Max int
}

// condition is what must hold beside a prefix that alone proves little.
type condition string

// The conditions that patterns.yaml describes.
const (
	random condition = "random"
	short  condition = "short"
	first  condition = "first"
	apart  condition = "apart"
)

// byteSet is a set of bytes.
type byteSet [256]bool

func signsOf(text string) (s byteSet) {
	for i := range len(text) {
		s[text[i]] = true
	}
	return s
}

const (
	lowers = "abcdefghijklmnopqrstuvwxyz"
	uppers = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
)

var (
	alnum   = signsOf(lowers + uppers + digits)
	letters = signsOf(lowers + uppers)
	dashed  = signsOf(lowers + uppers + digits + "_-")
	hexes   = signsOf("abcdef" + digits)
	numeric = signsOf(digits)
	base64s = signsOf(lowers + uppers + digits + "+/=_-")
)

// named are the sets that patterns.yaml names. Paths are the bytes of a webhook's address,
// of which all that follows the service is the secret.
var named = map[string]byteSet{
	"alnum": alnum, "dashed": dashed, "hexes": hexes, "numeric": numeric, "base64s": base64s,
	"dotted":  signsOf(lowers + uppers + digits + "_-."),
	"tildes":  signsOf(lowers + uppers + digits + "_~.-"),
	"capital": signsOf(uppers + digits),
	"small":   signsOf(lowers + digits),
	"crypts":  signsOf(lowers + uppers + digits + "./$=,-"),
	"paths":   signsOf(lowers + uppers + digits + "_-/@"),
}

// UnmarshalYAML reads the name of a set.
func (s *byteSet) UnmarshalYAML(n *yaml.Node) error {
	set, ok := named[n.Value]
	if !ok {
		return fmt.Errorf("line %d: there are no signs %q", n.Line, n.Value)
	}
	*s = set
	return nil
}

// vendorPatterns are the vendors' prefixes and the shapes of this file, each with a text
// that it cannot be without.
func vendorPatterns() []pattern {
	var all []pattern
	for _, v := range data().Keys {
		for _, prefix := range v.Prefixes {
			for _, text := range atLeast(headBytes, prefix, &v.Signs) {
				all = append(all, pattern{text, v.finder(prefix), v.Kind})
			}
		}
	}
	for _, scheme := range []string{"Bearer", "bearer", "BEARER", "Basic", "basic", "BASIC"} {
		all = append(all, pattern{scheme, credentials(len(scheme)), "credentials of " + strings.ToLower(scheme)})
	}
	return append(all,
		pattern{".eyJ", webToken, "JSON web token"},
		pattern{"-----BEGIN ", privateKey, "private key"},
		pattern{"LS0tLS1CRUdJTi", encodedKey, "private key"},
		pattern{"uthorization", authorization, "credentials of a header"},
		pattern{"UTHORIZATION", authorization, "credentials of a header"},
		pattern{"://", userinfo, "credentials in a URL"},
		pattern{"sig=", signature, "signature of a URL"},
		pattern{`sig"`, signature, "signature of a URL"},
		pattern{"Signature=", signature, "signature of a URL"},
		pattern{"machine", netrc, "password of a netrc"},
		pattern{"default", netrc, "password of a netrc"},
		pattern{":5432:", pgpass, "password of a pgpass"},
		pattern{":*:*:", pgpass, "password of a pgpass"},
		pattern{"curl ", command{"-u --user --proxy-user", afterColon}.password, "password of a command"},
		pattern{"mysql", command{"-p", glued}.password, "password of a command"},
		pattern{"sshpass ", command{"-p", nextWord}.password, "password of a command"},
		pattern{"redis-cli ", command{"-a", nextWord}.password, "password of a command"},
	)
}

// atLeast are the texts of n bytes or more that a prefix begins when one of the signs
// follows it.
func atLeast(n int, prefix string, follow *byteSet) []string {
	if len(prefix) >= n {
		return []string{prefix}
	}
	var all []string
	for c, ok := range follow {
		if ok {
			all = append(all, atLeast(n, prefix+string(rune(c)), follow)...)
		}
	}
	return all
}

// enough signs decide whether a run of them is long and mixed: a prefix that is repeated
// again and again must not have the same run read each time.
const enough = 128

// finder finds the vendor's keys of one prefix.
func (v vendor) finder(prefix string) func(string, int) (int, int, bool) {
	return func(text string, at int) (int, int, bool) {
		begin := at + len(prefix)
		to := runOf(&v.Signs, text, begin, cmp.Or(v.Max, enough))
		switch {
		case to-begin < v.Min,
			v.Max > 0 && to < len(text) && v.Signs[text[to]], // longer: something else
			slices.Contains(v.When, random) && !mixed(text[begin:to]),
			slices.Contains(v.When, first) && at > 0 && alnum[text[at-1]],
			slices.Contains(v.When, apart) && slices.Contains(data().Words, text[runBefore(&letters, text, at, longestLabel):at]+strings.TrimRight(prefix, "-")),
			slices.Contains(v.When, short) && inLongBase64(text, at):
			return 0, 0, false
		case v.Max == 0:
			to = runOf(&v.Signs, text, to, 0)
		}
		from, ok := v.before(text, at)
		return from, to, ok
	}
}

// before gives where the signs begin that belong to a key in front of its prefix.
func (v vendor) before(text string, at int) (from int, ok bool) {
	if v.Before == nil {
		return at, true
	}
	from = runBefore(&v.Before.Signs, text, at, v.Before.Max)
	more := from > 0 && v.Before.Signs[text[from-1]]
	return from, at-from >= v.Before.Min && (v.Before.Inside || !more)
}

// runOf gives where a run of signs ends that begins at a place; a max of 0 is no bound.
func runOf(s *byteSet, text string, from, max int) int {
	to := from
	for to < len(text) && s[text[to]] && (max == 0 || to-from < max) {
		to++
	}
	return to
}

// runBefore gives where a run of signs begins that ends at a place.
func runBefore(s *byteSet, text string, to, max int) int {
	from := to
	for from > 0 && s[text[from-1]] && to-from < max {
		from--
	}
	return from
}
