package search

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// wordsOf are the words of a text, in lower case, each once.
func wordsOf(text string) []string { return unique(segmentsOf(strings.ToLower(text), false)) }

// segmentsOf are the pieces of a name between underscores and hyphens. An MCP
// tool's prefix is left out: all of them have it.
func segmentsOf(name string, mcp bool) []string {
	if mcp {
		name = strings.TrimPrefix(name, mcpPrefix)
	}
	return strings.FieldsFunc(name, func(r rune) bool { return !isWord(r) })
}

// partsOf are the words of a name: its segments, cut where the case changes.
func partsOf(name string, mcp bool) []string {
	var parts []string
	for _, segment := range segmentsOf(name, mcp) {
		parts = append(parts, caseParts(segment)...)
	}
	return unique(parts)
}

// each puts what f makes of each word in its place.
func each(words []string, f func(string) string) []string {
	for i, w := range words {
		words[i] = f(w)
	}
	return words
}

// unique drops repeated words and keeps the order of the rest.
func unique(words []string) []string {
	seen := make(map[string]bool, len(words))
	return slices.DeleteFunc(words, func(w string) bool {
		again := seen[w]
		seen[w] = true
		return again
	})
}

// stopWords carry no meaning of their own. Counted, "a" would be contained in most names.
var stopWords = func() map[string]bool {
	words := strings.Fields(`a an and any are as at be by can could do does for from get give has have how i if in into
		is it its let like me my need of on or our please show some tell that the their them then there these this to us
		use using want was we what when where which who will with would you your`)
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[w] = true
	}
	return set
}()

// contentWords are the words that mean something, or all where none does.
func contentWords(words []string) []string {
	kept := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return stopWords[w] })
	if len(kept) == 0 {
		return words
	}
	return kept
}

// The fields of a tool, each of which lexicon weighs by itself.
const (
	fieldName = iota
	fieldServer
	fieldHint
	fieldText      // the description
	fieldParam     // names of parameters
	fieldParamText // their descriptions
	fieldCount
)

// fields are the texts of a tool, by field.
func (d *Doc) fields() [fieldCount]string {
	names, texts := make([]string, len(d.Params)), make([]string, len(d.Params))
	for i, p := range d.Params {
		names[i], texts[i], _ = strings.Cut(p, ":")
	}
	return [fieldCount]string{
		fieldName: d.ownName(), fieldServer: d.Server, fieldHint: d.Hint, fieldText: d.Description,
		fieldParam: strings.Join(names, "\n"), fieldParamText: strings.Join(texts, "\n"),
	}
}

// ownName is an MCP tool's name without its server, else the name.
func (d *Doc) ownName() string {
	if !d.MCP {
		return d.Name
	}
	rest := strings.TrimPrefix(d.Name, mcpPrefix)
	n := len(d.server)
	if n > 0 && len(rest) > n+2 && normal(rest[:n]) == d.server && rest[n:n+2] == "__" {
		return rest[n+2:]
	}
	return rest
}

// token is a word of a query.
type token struct {
	text   string // folded
	root   string
	weight float64
	kept   bool // counts although it is a stop word
}

// asides are parts of a query that are values and not what to do with them: placeholders and addresses.
var asides = regexp.MustCompile(`<[^<>\s]{1,64}>|\S+://\S+|\S+@\S+`)

// tokenize takes a query apart: words, at most maxWords of them, and what has no
// blanks. What is beyond maxText is not read.
func (l *lexicon) tokenize(text string) (words []token, sentences []string) {
	text = nfkc(strings.ToValidUTF8(text[:min(len(text), maxText)], ""))
	aside := asides.FindAllStringIndex(text, -1)
	for _, run := range runsOf(text) {
		for len(aside) > 0 && aside[0][1] <= run.Start {
			aside = aside[1:]
		}
		switch {
		case len(words)+len(sentences) >= maxWords:
			return words, sentences
		case run.Unbroken:
			sentences = append(sentences, run.Text)
		case len(aside) > 0 && aside[0][0] <= run.Start:
			words = l.appendWord(words, run.Text, weightAside)
		default:
			words = l.appendWord(words, run.Text, 1)
		}
	}
	return words, sentences
}

// appendWord adds a word, by its parts where no tool has it as it is.
func (l *lexicon) appendWord(words []token, text string, weight float64) []token {
	whole := fold(text)
	parts := []string{whole}
	if _, known := l.word(rootOf(whole)); !known {
		parts = caseParts(text)
	}
	for _, p := range parts {
		p = fold(p)
		words = append(words, token{text: p, root: rootOf(p), weight: weight})
	}
	return words
}

// textsOf are words as texts.
func textsOf(words []token) []string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
	}
	return texts
}

// maxDepth is how far down a schema parameters are looked for.
const maxDepth = 12

// schemaNode is the part of a JSON Schema that names and describes values.
type schemaNode struct {
	Description string                     `json:"description"`
	Properties  map[string]json.RawMessage `json:"properties"`
	Items       json.RawMessage            `json:"items"`
	Prefix      []json.RawMessage          `json:"prefixItems"`
	Values      json.RawMessage            `json:"additionalProperties"`
	AllOf       []json.RawMessage          `json:"allOf"`
	AnyOf       []json.RawMessage          `json:"anyOf"`
	OneOf       []json.RawMessage          `json:"oneOf"`
	Defs        map[string]json.RawMessage `json:"$defs"`
	Definitions map[string]json.RawMessage `json:"definitions"`
}

// Parameters lists what a tool's input schema names, nested values too, as an [Entry] holds it: "name" or "name:
// description". A parameter comes before what is in it, neighbours go by name. What is no schema has none.
func Parameters(schema json.RawMessage) []string {
	var found []string
	var node schemaNode
	if json.Unmarshal(schema, &node) == nil {
		node.list(&found, 0)
	}
	return found
}

// list appends the parameters below a node.
func (n schemaNode) list(found *[]string, depth int) {
	if depth > maxDepth {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(n.Properties)) {
		visit(n.Properties[name], name, found, depth)
	}
	for _, defs := range []map[string]json.RawMessage{n.Defs, n.Definitions} {
		for _, name := range slices.Sorted(maps.Keys(defs)) {
			visit(defs[name], "", found, depth)
		}
	}
	for _, raw := range slices.Concat([]json.RawMessage{n.Items, n.Values}, n.Prefix, n.AllOf, n.AnyOf, n.OneOf) {
		visit(raw, "", found, depth)
	}
}

// visit lists one value and what is in it. Booleans stand for schemas too, and name nothing.
func visit(raw json.RawMessage, name string, found *[]string, depth int) {
	if len(raw) == 0 {
		return
	}
	var node schemaNode
	if json.Unmarshal(raw, &node) != nil {
		node = schemaNode{}
	}
	switch {
	case name != "" && node.Description != "":
		*found = append(*found, name+": "+node.Description)
	case name != "" || node.Description != "":
		*found = append(*found, name+node.Description)
	}
	node.list(found, depth+1)
}

// unbroken are scripts that set no blanks between words, and Hangul, which glues
// particles to them: there, pairs of neighbouring characters stand for words.
var unbroken = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// isWord reports whether a sign belongs to a word: letters, digits and the marks on them.
func isWord(r rune) bool {
	if r < 0x80 {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}

// run is a stretch of letters of one kind.
type run struct {
	Text string
	// Unbroken is set for a script without blanks: a sentence, or a word with what is glued to it.
	Unbroken bool
	// Start and End are where it stands, in bytes of the text that [nfkc] gives.
	Start, End int
}

// nfkc writes characters that differ in width or composition only alike.
func nfkc(text string) string { return norm.NFKC.String(text) }

// perRun is about how many bytes of a text there are for each run.
const perRun = 6

// runsOf cuts a text, made [nfkc], where no word goes on and where the kind of script changes.
func runsOf(text string) []run {
	text = nfkc(text)
	runs := make([]run, 0, 1+len(text)/perRun)
	start, kind := -1, false
	for i, r := range text {
		word, grams := isWord(r), r >= 0x0e00 && (unicode.In(r, unbroken...) || r == 'ー') // which belongs to no script of its own
		if r >= 0x80 && start >= 0 && unicode.Is(unicode.M, r) {
			grams = kind
		}
		if start >= 0 && (!word || grams != kind) {
			runs = append(runs, run{text[start:i], kind, start, i})
			start = -1
		}
		if word && start < 0 {
			start, kind = i, grams
		}
	}
	if start >= 0 {
		runs = append(runs, run{text[start:], kind, start, len(text)})
	}
	return runs
}

// gramsOf are the pairs of neighbours in an unbroken run, or the run itself where it is a single character.
func gramsOf(text string) []string {
	runes := []rune(text)
	if len(runes) < 2 {
		return []string{text}
	}
	grams := make([]string, len(runes)-1)
	for i := range grams {
		grams[i] = string(runes[i : i+2])
	}
	return grams
}

// caseParts cuts a name where its case changes, in lower case: createPRComment is
// create, pr and comment. Most words have one part.
func caseParts(name string) []string {
	if strings.LastIndexFunc(name, unicode.IsUpper) <= 0 { // as nearly all words of a text
		return []string{strings.ToLower(name)}
	}
	runes := []rune(name)
	var parts []string
	start := 0
	for i := 1; i < len(runes); i++ {
		// A capital after what is none begins a word, and so does the last one of a run that a small letter follows.
		if unicode.IsUpper(runes[i]) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			parts = append(parts, strings.ToLower(string(runes[start:i])))
			start = i
		}
	}
	return append(parts, strings.ToLower(string(runes[start:])))
}

// fold writes a word in lower case and, in scripts with letters that few write out in full, without accents.
func fold(word string) string {
	word = strings.ToLower(word)
	if !strings.ContainsFunc(word, func(r rune) bool { return r >= 0x80 }) {
		return word
	}
	var b strings.Builder
	accented := false
	for _, r := range norm.NFD.String(word) {
		if unicode.Is(unicode.Mn, r) && (accented || r == diaeresis) {
			continue
		}
		accented = unicode.In(r, unicode.Latin, unicode.Arabic)
		if plain, ok := ligatures[r]; ok {
			b.WriteString(plain)
		} else {
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// diaeresis stands on the one Russian letter that most people write without.
const diaeresis = '\u0308'

// ligatures are letters that do not come apart by themselves.
var ligatures = map[rune]string{'ة': "ه", 'ى': "ي", 'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ı': "i"}
