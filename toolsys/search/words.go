package search

import (
	"slices"
	"strings"

	"toolbench/toolsys/search/terms"
)

// wordsOf are the words of a text, in lower case, each once.
func wordsOf(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !terms.IsWord(r) })
	return unique(words)
}

// segmentsOf are the pieces of a name between underscores and hyphens. An MCP
// tool's prefix is left out: it tells no two of them apart.
func segmentsOf(name string, mcp bool) []string {
	if mcp {
		name = strings.TrimPrefix(name, mcpPrefix)
	}
	return strings.FieldsFunc(name, func(r rune) bool { return !terms.IsWord(r) })
}

// partsOf are the words of a name: its segments, cut where the case changes.
func partsOf(name string, mcp bool) []string {
	var parts []string
	for _, segment := range segmentsOf(name, mcp) {
		parts = append(parts, terms.Parts(segment)...)
	}
	return unique(parts)
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

// stopWords carry no meaning of their own. Counted, "a" would be contained in
// most names.
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

// telling are the words that mean something, or all where none does.
func telling(words []string) []string {
	kept := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return stopWords[w] })
	if len(kept) == 0 {
		return words
	}
	return kept
}
