package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// ErrRootNotObject means that a tool's schema does not have `"type": "object"`
// at its root, which the API demands of every tool (SPEC A1, A2).
var ErrRootNotObject = errors.New("the root of a tool's schema must have type object")

// ErrRemoteReference means that a schema refers to another document. Nothing is
// ever fetched, so such a schema cannot be resolved.
var ErrRemoteReference = errors.New("a schema may not refer to another document")

// mostParts bounds the schemas in one, as to resolve them takes the square of their number, and several times
// that of references; mostSought those that are followed to find why one does not resolve, each as a whole.
const mostParts, partsOfReference, mostSought = 6_000, 4, 8

// here is the address that references inside a schema are resolved against; it
// is absolute, or the validator would ask the disk for the working directory.
const here = "schema:///root"

// Schema is a resolved JSON Schema. What it says never changes, and it may be used by many goroutines at once.
type Schema struct {
	raw  json.RawMessage
	full *jsonschema.Schema
	fast *node
	// refers: it may refer to itself in parts, so that its cost is no longer that of its text.
	refers bool
	// types has what is kept of each type that inputs were decoded into (typed).
	types sync.Map
}

// reference matches what may be the keyword of a reference, be it written with escapes.
var reference = regexp.MustCompile(`(?i)ref"|\\u`)

// Compile resolves a tool's input schema of any draft (4 to 2020-12, by its
// `$schema`; the latest without one). The bytes are kept as they are.
//
// Errors: not JSON, not a valid schema, more than mostParts, [ErrRootNotObject], [ErrRemoteReference]. For a server's
// tool the caller reports the error and loads the tool unvalidated; for a built-in it is an error at build (A2).
func Compile(raw json.RawMessage) (*Schema, error) {
	doc, r, err := read(raw)
	count := func(what string) int { return bytes.Count(raw, []byte(what)) }
	switch parts := count("{") + count("true") + count("false") + partsOfReference*count(`ef"`); {
	case err != nil:
		return nil, fmt.Errorf("schema is not JSON: %w", err)
	case r.unfit:
		return nil, fmt.Errorf("schema: %s", r.found[0].Message)
	case parts > mostParts:
		return nil, fmt.Errorf("schema has about %d parts; at most %d are taken", parts, mostParts)
	}
	root, ok := doc.(map[string]any)
	if !ok || root["type"] != "object" {
		return nil, ErrRootNotObject
	}
	full, err := resolveAt(doc, here)
	if err != nil {
		return nil, unresolved(doc, err)
	}
	return &Schema{raw: raw, full: full, fast: plan(doc), refers: reference.Match(raw)}, nil
}

// Raw is the schema as it was given to [Compile]; it must not be changed.
func (s *Schema) Raw() json.RawMessage { return s.raw }

func resolveAt(doc any, place string) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(pattern)
	if err := c.AddResource(here, doc); err != nil {
		return nil, err
	}
	return c.Compile(place)
}

// noLoader is the loader of a compiler that must not load.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, ErrRemoteReference }

// ecmaToken matches a pattern's escapes, two at once for the surrogates of one code point, and the ends of its classes.
var ecmaToken = regexp.MustCompile(`\\u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}|\\u[[:xdigit:]]{4}|\\u\{[[:xdigit:]]+\}|(?s:\\.)|[][]`)

// ecmaSpaces are the escapes that RE2 takes for five bytes and ECMAScript for all spaces of Unicode, outside of a class
// and within one, where each ends so that a hyphen after it stands for itself.
var ecmaSpaces = map[string][2]string{
	`\s`: {`[\t-\r\x{feff}\pZ]`, `\t-\r\x{feff}\pZ`},
	`\S`: {`[^\t-\r\x{feff}\pZ]`, `\x00-\x08\x0e-\x1f!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}` +
		`\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}\d`},
}

// asRE2 writes a pattern's escapes of code points and of spaces as RE2 has them.
func asRE2(pattern string) string {
	within := 0
	return ecmaToken.ReplaceAllStringFunc(pattern, func(m string) string {
		switch {
		case m == "[":
			within = 1
		case m == "]":
			within = 0
		case ecmaSpaces[m][0] != "":
			return ecmaSpaces[m][within]
		case len(m) == 12 && m[2] != '{':
			return fmt.Sprintf(`\x{%x}`, []rune(unquote([]byte(m), false))[0])
		case len(m) > 2 && m[1] == 'u':
			return `\x{` + strings.Trim(m[2:], "{}") + `}`
		}
		return m
	})
}

// pattern compiles a schema's ECMAScript pattern as RE2, which cannot be driven into exponential time by a server's
// schema. Some escapes are rewritten, and looks ahead from the start of the text are asked one by one: schemas that
// are derived from types begin with them for decimals, addresses and passwords. What else RE2 lacks is an error.
func pattern(s string) (jsonschema.Regexp, error) {
	rewritten := asRE2(s)
	p, rest := &ecma{written: s}, rewritten
	ends := strings.Count(rest, ")") + strings.Count(rest, "|")
	for len(rest)*ends < mostAhead && (strings.HasPrefix(rest, "^(?=") || strings.HasPrefix(rest, "^(?!")) {
		re, end := partUpTo(')', rest[4:])
		if re == nil || strings.IndexAny(rest[4+end+1:], "*+?{") == 0 {
			break
		}
		p.ahead = append(p.ahead, lookAhead{re, rest[3] == '='})
		rest = "^" + rest[4+end+1:]
	}
	if choice, _ := partUpTo('|', rest[min(len(rest), 1):]); len(p.ahead) > 0 && choice != nil {
		rest = rewritten // they hold for the first choice alone
	}
	var err error
	p.Regexp, err = regexp.Compile(rest)
	return p, err
}

// mostAhead bounds a pattern that looks ahead, in bytes to be read: all of it for each byte that may end a part of it.
const mostAhead = 20_000

// partUpTo compiles the shortest begin of a pattern before the byte end that is a pattern by itself, so that neither a
// group nor a class is open and the byte is not escaped. It matches from the start of a text. Without one it is nil.
func partUpTo(end byte, pattern string) (*regexp.Regexp, int) {
	for i := range len(pattern) {
		if pattern[i] == end {
			if re, err := regexp.Compile("^(?:" + pattern[:i] + ")"); err == nil {
				return re, i
			}
		}
	}
	return nil, 0
}

// ecma is a pattern that is shown as its schema has it.
type ecma struct {
	*regexp.Regexp
	ahead   []lookAhead
	written string
}

// lookAhead is what must follow the start of a text, or must not.
type lookAhead struct {
	*regexp.Regexp
	must bool
}

// MatchString reports whether the pattern matches anywhere in s.
func (e *ecma) MatchString(s string) bool {
	return !slices.ContainsFunc(e.ahead, func(l lookAhead) bool { return l.MatchString(s) != l.must }) && e.Regexp.MatchString(s)
}

func (e *ecma) String() string { return e.written }

// Lazy is a schema that is built on first use and kept (SPEC A1): start-up
// should not pay for tools that are never called. It is safe for concurrent use.
type Lazy struct {
	raw      func() (json.RawMessage, error)
	compiled func() (*Schema, error)
}

// NewLazy keeps build, which is called at most once, on first use.
func NewLazy(build func() (json.RawMessage, error)) *Lazy {
	raw := sync.OnceValues(build)
	return &Lazy{raw: raw, compiled: sync.OnceValues(func() (*Schema, error) {
		bytes, err := raw()
		if err != nil {
			return nil, err
		}
		return compiled.of(bytes)
	})}
}

// compiled are the schemas that tools were found to have.
var compiled compiledSchemas

// compiledSchemas keeps schemas by their bytes, since a server lists the same ones at every connection and compiling
// one takes as long as to validate hundreds of inputs. It holds those that were asked for lately.
type compiledSchemas struct {
	mu             sync.Mutex
	latest, before map[string]*Schema
	size           int // of the latest, in bytes of their text
}

// mostKnown is how many bytes of text one half of compiledSchemas may have.
const mostKnown = 1 << 20

func (k *compiledSchemas) of(raw json.RawMessage) (*Schema, error) {
	k.mu.Lock()
	s := cmp.Or(k.latest[string(raw)], k.before[string(raw)])
	k.mu.Unlock()
	if s == nil {
		var err error
		if s, err = Compile(raw); err != nil {
			return nil, err
		}
	}
	k.keep(s)
	return s, nil
}

func (k *compiledSchemas) keep(s *Schema) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.latest[string(s.raw)] != nil {
		return
	}
	if k.size += len(s.raw); k.latest == nil || k.size > mostKnown {
		k.latest, k.before, k.size = map[string]*Schema{}, k.latest, len(s.raw)
	}
	k.latest[string(s.raw)] = s
}

// LazyOf is [For] the type t, delayed. It is derived and compiled once in a program, however many systems use it.
func LazyOf(t reflect.Type) *Lazy {
	kept, known := ofTypes.Load(t)
	if !known {
		kept, _ = ofTypes.LoadOrStore(t, NewLazy(func() (json.RawMessage, error) { return derive(t) }))
	}
	return kept.(*Lazy)
}

// ofTypes are the schemas of types: *Lazy by reflect.Type.
var ofTypes sync.Map

// Raw gives the schema's bytes, deriving but not compiling it.
func (l *Lazy) Raw() (json.RawMessage, error) { return l.raw() }

// Schema gives the compiled schema, or the error of building or compiling it, the same each time.
func (l *Lazy) Schema() (*Schema, error) { return l.compiled() }

// unresolved is why a schema does not resolve. The library stops at whatever its walk over maps meets first and
// its texts run over pages; a report of a tool that is loaded unvalidated must be the same each time, so this
// looks for the causes itself and lists them in order.
func unresolved(doc any, err error) error {
	if invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		return invalidAt(doc, invalid)
	}
	b := failing{doc: doc}
	b.walk(doc)
	switch {
	case len(b.remote) > 0:
		return fmt.Errorf("%w: %s", ErrRemoteReference, inOrder(b.remote))
	case len(b.broken) > 0:
		return fmt.Errorf("schema does not resolve: %s", inOrder(b.broken))
	case b.sought > mostSought:
		return fmt.Errorf("schema does not resolve, and of its references only %d were followed to find out why", mostSought)
	}
	return fmt.Errorf("schema does not resolve: %w", err)
}

// invalidAt names the places where a schema breaks its own draft's rules.
func invalidAt(doc any, e *jsonschema.SchemaValidationError) error {
	broken, is := errors.AsType[*jsonschema.ValidationError](e.Err)
	if !is {
		return fmt.Errorf("schema does not resolve: %w", e)
	}
	w := wording{doc: doc}
	var places []string
	for _, p := range w.of(broken).arranged() {
		places = append(places, cmp.Or(p.Path, "its root"))
	}
	return fmt.Errorf("schema does not resolve: it is not valid at %s", strings.Join(slices.Compact(places), ", "))
}

// failing collects the references of a schema that fail by themselves.
type failing struct {
	doc            any
	sought         int
	remote, broken []string
}

func (c *failing) walk(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			c.walk(item)
		}
	case map[string]any:
		for _, keyword := range slices.Sorted(maps.Keys(v)) {
			if ref, ok := v[keyword].(string); ok && (keyword == "$ref" || keyword == "$dynamicRef" || keyword == "$schema") {
				c.check(ref)
			}
			c.walk(v[keyword])
		}
	}
}

func (c *failing) check(ref string) {
	local := strings.HasPrefix(ref, "#")
	target := ref
	if local {
		target = here + ref
	} else if !strings.Contains(ref, ":") {
		target = strings.TrimSuffix(here, "root") + ref
	}
	if strings.HasPrefix(target, here) {
		if c.sought++; c.sought > mostSought {
			return
		}
	}
	_, err := resolveAt(c.doc, target)
	switch _, unloaded := errors.AsType[*jsonschema.LoadURLError](err); {
	case err == nil:
	case !local && unloaded:
		c.remote = append(c.remote, ref)
	default:
		c.broken = append(c.broken, "the reference "+ref+" leads nowhere")
	}
}

func inOrder(list []string) string {
	slices.Sort(list)
	return strings.Join(slices.Compact(list), ", ")
}
